/*
 * Reserved and not allocated: blocks that one phase left behind and another cannot use. Measured on
 * the runs that docs/accuracy.md lists; docs/formulas.md#training-memory
 */
#include "train_reserve.h"

#include "ledger.h"
#include "sat.h"

enum {
	PPM = 1000000,
	STEP_IDLE_PPM = 900000,
	STEP_MARGIN_PPM = 50000,
	LEAST_PPM = 20000
};

static uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static bool is_full(const struct train_job *job)
{
	return job->request->training.method == VC_TRAINING_FULL;
}

static bool is_eager_loss(const struct train_job *job)
{
	return job->request->training.loss_implementation == VC_LOSS_EAGER;
}

static bool is_checkpointed(const struct train_job *job)
{
	return job->request->training.gradient_checkpointing != VC_CHECKPOINTING_NONE;
}

/* share / 1,000,000 of one amount and another share of a second one */
static struct vc_line idle_line(const char *formula, const struct vc_input *one,
                                const struct vc_input *other)
{
	struct vc_line line = { .component = VC_COMPONENT_FRAGMENTATION, .formula = formula };
	const struct vc_input *const inputs[] = { one, other };

	for (int i = 0; i < 2; i++) {
		line.bytes = sat_add(line.bytes,
		                     sat_scale_up(inputs[i]->value, inputs[i]->divisor, PPM));
		if (inputs[i]->divisor != PPM) {
			vc_line_ratio(&line, i ? "g" : "f", inputs[i]->divisor, PPM);
		}
		vc_line_input(&line, inputs[i]->name, inputs[i]->value);
	}
	return line;
}

/*
 * Blocks that forward and backward left behind do not serve the optimizer's step, and the other
 * way round: nine tenths of the smaller stay reserved.
 */
static struct vc_line step_line(const struct train_job *job, const struct train_peak *peak)
{
	uint64_t step = sat_add(job->held.gradients, job->held.step_copy);
	uint64_t smaller = job->request->training.compile ? 0 : min(peak->transient, step);
	struct vc_input left_behind = { "smaller", smaller, STEP_IDLE_PPM };
	struct vc_input allocated = { "allocated", peak->allocated, STEP_MARGIN_PPM };

	return idle_line("f × smaller + g × allocated", &left_behind, &allocated);
}

static uint32_t share_of_transient(const struct train_job *job)
{
	const struct train_fragmentation *f = &job->policy->fragmentation;

	if (!is_checkpointed(job)) {
		return f->kept;
	}
	if (train_is_zero(job->request)) {
		f = &train_policy(VC_ENGINE_DEEPSPEED)->fragmentation;
		return is_full(job) ? f->eager : f->sharded_eager;
	}
	if (job->request->parallelism.zero_stage == 3) {
		return is_eager_loss(job) ? f->sharded_eager : f->sharded_fused;
	}
	return is_eager_loss(job) ? f->eager : f->fused;
}

/* Stock cross-entropy asks for more than the peak's implementation holds, and what it has asked
 * for stays reserved. */
static uint64_t asked_for(const struct train_job *job, const struct train_peak *peak)
{
	uint64_t asked = job->policy->logits.reserved;
	uint64_t logits;

	if (asked <= peak->logit_bytes || train_loss_is_plain(job) || train_is_zero(job->request) ||
	    !is_eager_loss(job) || !is_checkpointed(job)) {
		return 0;
	}
	logits = train_logits(job, asked - peak->logit_bytes);
	return sat_sub(sat_add(peak->phases[TRAIN_PHASE_LOSS].total, logits), peak->allocated);
}

static struct vc_line loss_line(const struct train_job *job, const struct train_peak *peak)
{
	struct vc_input transient = { "transient", sat_add(peak->transient, peak->asked),
		                      share_of_transient(job) };
	struct vc_input more = { "asked", peak->asked, PPM };

	return idle_line("f × transient + asked", &transient, &more);
}

static struct vc_line whole_line(const char *formula, const char *name, uint64_t value,
                                 uint32_t share)
{
	struct vc_line line = { .component = VC_COMPONENT_FRAGMENTATION,
		                .bytes = sat_scale_up(value, share, PPM),
		                .formula = formula };

	vc_line_ratio(&line, "f", share, PPM);
	vc_line_input(&line, name, value);
	return line;
}

/* Before it fails, the allocator gives cached blocks back. */
void train_reserve(const struct train_job *job, struct train_peak *peak)
{
	uint64_t capacity = vc_gpu_offers_bytes(job->request->gpu, VC_METHOD_DETAILED);
	uint64_t outside = sat_add(peak->context, peak->collectives);
	uint64_t left = sat_sub(capacity, sat_add(outside, peak->allocated));
	uint64_t least = sat_scale_up(peak->allocated, LEAST_PPM, PPM);
	uint64_t margin = sat_scale_up(peak->allocated, STEP_MARGIN_PPM, PPM);
	bool stepping = is_full(job) && job->policy->style != TRAIN_STYLE_FUSED && job->held.steps;

	peak->asked = asked_for(job, peak);
	peak->fragmentation = stepping ? step_line(job, peak) : loss_line(job, peak);
	peak->fills_the_card = peak->fragmentation.bytes > left;
	if (stepping && peak->name == TRAIN_PHASE_STEP && peak->fills_the_card) {
		peak->fragmentation = margin > left / 2
		                              ? whole_line("f × allocated", "allocated",
		                                           peak->allocated, STEP_MARGIN_PPM)
		                              : whole_line("f × left", "left", left, PPM / 2);
	}
	if (peak->fragmentation.bytes > left) {
		peak->fragmentation = whole_line("f × left", "left", left, PPM);
	}
	if (peak->fragmentation.bytes < least) {
		peak->fragmentation =
		        whole_line("f × allocated", "allocated", peak->allocated, LEAST_PPM);
	}
}
