/*
 * Each part of the peak has its own spread, from the residuals in docs/accuracy.md; independent
 * parts add up as the root of the sum of their squares. docs/formulas.md#training-range
 */
#include "train_range.h"

#include "model.h"
#include "sat.h"

struct spread {
	uint64_t low, high; /* sums of squares, of KiB */
};

/* Thousandths of the part, below and above. */
struct shares {
	uint32_t low, high;
};

static uint64_t square(uint64_t bytes, uint32_t share)
{
	uint64_t kib = sat_mul(bytes / 1024, share) / 1000;

	return sat_mul(kib, kib);
}

static void add(struct spread *spread, uint64_t bytes, struct shares shares)
{
	spread->low = sat_add(spread->low, square(bytes, shares.low));
	spread->high = sat_add(spread->high, square(bytes, shares.high));
}

/* Rounded up; Newton's steps from above. */
static uint64_t root(uint64_t value)
{
	uint64_t x = 1ull << 32, next;

	if (value == 0) {
		return 0;
	}
	for (;;) {
		next = (x + value / x) / 2;
		if (next >= x) {
			break;
		}
		x = next;
	}
	return x * x < value ? x + 1 : x;
}

static bool is_adapter(const struct train_job *job)
{
	return job->request->training.method != VC_TRAINING_FULL;
}

static bool is_eager_loss(const struct train_job *job)
{
	return job->request->training.loss_implementation == VC_LOSS_EAGER;
}

static bool is_sharded(const struct train_job *job)
{
	return job->request->parallelism.zero_stage == 3;
}

static bool is_trainer(const struct train_job *job)
{
	return job->request->engine.name == VC_ENGINE_TRANSFORMERS;
}

static bool is_checkpointed(const struct train_job *job)
{
	return job->request->training.gradient_checkpointing != VC_CHECKPOINTING_NONE;
}

static bool has_experts(const struct train_job *job)
{
	return model_experts(job->request->model) > 0;
}

/* Above what is expected the hungriest implementation of the loss in use. */
static struct shares logit_shares(const struct train_job *job, const struct train_peak *peak)
{
	uint64_t most = job->policy->logits.most, expected = peak->logit_bytes;

	if (!is_eager_loss(job)) {
		return (struct shares){ 200, 1000 };
	}
	if (train_loss_is_plain(job)) {
		return (struct shares){ 150, 230 };
	}
	if (most > expected && expected > 0) {
		return (struct shares){ 50, (uint32_t)((most - expected) * 1000 / expected) };
	}
	return (struct shares){ 350, 150 };
}

static struct shares saved_shares(const struct train_job *job)
{
	bool quantized = train_scheme(job->request) != NULL;

	if (job->request->training.compile) {
		/* Thunder, LitGPT's other compiler, recomputes up to half */
		return job->policy->style == TRAIN_STYLE_LITGPT ? (struct shares){ 450, 140 }
		                                                : (struct shares){ 250, 300 };
	}
	if (job->request->training.gradient_checkpointing == VC_CHECKPOINTING_FULL) {
		return (struct shares){ 20, 50 };
	}
	switch (job->policy->style) {
	case TRAIN_STYLE_LITGPT:
		return quantized ? (struct shares){ 150, 220 } : (struct shares){ 40, 40 };
	case TRAIN_STYLE_FUSED:
		return (struct shares){ 30, 40 };
	default:
		return (struct shares){ 150, 120 };
	}
}

/* k-bit preparation raises what is not quantized, and with it the residual stream, to fp32
 * (huggingface/peft, prepare_model_for_kbit_training); not every trainer calls it. */
static uint64_t raised_bytes(const struct train_job *job)
{
	const struct train_size *size = &job->size;
	const struct vc_quantization *scheme = train_scheme(job->request);
	uint64_t logits = sat_mul3(8, size->vocabulary, job->activation.tokens);

	if (train_is_raised(job->request) || !is_adapter(job) || !is_trainer(job) ||
	    !is_eager_loss(job) || is_sharded(job) || !scheme ||
	    scheme->quantizer != VC_QUANTIZER_BNB_4BIT) {
		return 0;
	}
	return sat_add(sat_mul(2, sat_sub(size->params, size->linears)),
	               sat_add(job->activation.saved_bytes, logits));
}

static void add_phase(const struct train_job *job, const struct train_peak *peak,
                      struct spread *spread)
{
	const struct train_phase *phase = &peak->phases[peak->name];
	bool counted = is_trainer(job) && !has_experts(job);
	uint64_t step = sat_add(job->held.gradients, phase->copy);

	switch (peak->name) {
	case TRAIN_PHASE_LOSS:
		add(spread, phase->logits, logit_shares(job, peak));
		add(spread, phase->saved, saved_shares(job));
		add(spread, train_gathered_bytes(&phase->gathered), (struct shares){ 100, 300 });
		break;
	case TRAIN_PHASE_BACKWARD:
		add(spread, sat_sub(peak->allocated, peak->base),
		    counted ? (struct shares){ 40, 60 } : (struct shares){ 100, 120 });
		break;
	default:
		add(spread, step, (struct shares){ train_is_zero(job->request) ? 100 : 30, 60 });
		break;
	}
}

/* A loss phase that is not the peak may be, with a hungrier implementation. */
static void add_hidden_loss(const struct train_job *job, const struct train_peak *peak,
                            struct spread *spread)
{
	uint64_t logits = train_logits(job, sat_sub(job->policy->logits.most, peak->logit_bytes));

	if (peak->name != TRAIN_PHASE_LOSS && is_trainer(job) && is_eager_loss(job) &&
	    !is_sharded(job)) {
		add(spread,
		    sat_sub(sat_add(peak->phases[TRAIN_PHASE_LOSS].total, logits), peak->allocated),
		    (struct shares){ 0, 1000 });
	}
}

/* Trainers of adapters log with counters that they do not name; some include the context and more.
 */
static const uint64_t unstated_bytes = 2ull << 30;

/* DeepSpeed's buffers, and where the optimizer is offloaded how many gradients wait. */
static struct shares zero_shares(const struct train_job *job)
{
	if (job->request->parallelism.offload_optimizer != VC_OFFLOAD_NONE) {
		return (struct shares){ 150, 250 };
	}
	if (!is_adapter(job)) {
		return (struct shares){ 70, 95 };
	}
	return (struct shares){ 60, is_sharded(job) ? 220 : 125 };
}

/* Of what is not held between steps: how far trainers' estimates of one job lie from that of a
 * trainer without a name. */
static const struct shares unnamed_shares = { 250, 250 };

/* What no part accounts for, by engine. */
static void add_rest(const struct train_job *job, const struct train_peak *peak, uint64_t total,
                     struct spread *spread)
{
	bool adapters = is_adapter(job);

	if (has_experts(job)) {
		add(spread, total, (struct shares){ 40, is_sharded(job) ? 270 : 100 });
	}
	if (job->request->engine.name == VC_ENGINE_NONE) {
		add(spread, sat_sub(total, peak->base), unnamed_shares);
	}
	if (train_is_zero(job->request)) {
		add(spread, total, zero_shares(job));
	} else if (job->request->engine.name == VC_ENGINE_FSDP) {
		add(spread, total, (struct shares){ 30, adapters ? 100 : 125 });
	} else if (job->request->engine.name == VC_ENGINE_TORCHTUNE) {
		add(spread, total, (struct shares){ 100, 280 });
	} else if (is_trainer(job) && !is_eager_loss(job)) {
		add(spread, total,
		    (struct shares){ 45,
		                     train_scheme(job->request) && !is_sharded(job) ? 160 : 72 });
	} else if (is_trainer(job) && train_scheme(job->request) && is_sharded(job)) {
		/* the loss of models whose own code raises logits late is the hungriest */
		add(spread, total, (struct shares){ 0, 110 });
	} else if (is_trainer(job) && adapters && !is_sharded(job) && is_checkpointed(job)) {
		add(spread, total, (struct shares){ 55, 230 });
		add(spread, unstated_bytes, (struct shares){ 0, 1000 });
	}
	if (job->request->parallelism.pipeline > 1 && !job->policy->pipelines) {
		add(spread, total, (struct shares){ 60, 60 });
	}
}

static void add_allocated(const struct train_job *job, const struct train_peak *peak,
                          uint64_t total, struct spread *spread)
{
	bool megatron = job->policy->style == TRAIN_STYLE_FUSED;

	add(spread, peak->base, megatron ? (struct shares){ 20, 30 } : (struct shares){ 6, 12 });
	add_phase(job, peak, spread);
	add_hidden_loss(job, peak, spread);
	add(spread, raised_bytes(job), (struct shares){ 0, 1000 });
	add(spread, sat_add(peak->context, peak->collectives), (struct shares){ 180, 300 });
	add_rest(job, peak, total, spread);
}

static bool asks_for_more(const struct train_job *job)
{
	return is_adapter(job) && is_trainer(job) && is_eager_loss(job) && !is_sharded(job) &&
	       is_checkpointed(job);
}

bool train_mixes_lengths(const struct train_job *job)
{
	return asks_for_more(job) && !train_scheme(job->request) && !job->request->training.packing;
}

/*
 * Kernels in place of stock cross-entropy do not ask for what is counted. Samples of mixed lengths
 * leave blocks of every length behind: a PyTorch allocator replayed over a LoRA step of Yi-6B, with
 * lengths of 3234 +- 2547 tokens cut at 8192, ends with 2.5 times what one step needs;
 * ms-swift's runs (its benchmark) with up to 3; with one length 1.2. The card is the limit.
 */
static void add_idle(const struct train_job *job, const struct train_peak *peak, uint64_t total,
                     struct spread *spread)
{
	uint32_t less = peak->name == TRAIN_PHASE_STEP ? 380 : 300;

	if (peak->fills_the_card) {
		less = 900;
	} else if (asks_for_more(job)) {
		less = 600;
	}
	add(spread, peak->fragmentation.bytes, (struct shares){ less, 370 });
	if (train_mixes_lengths(job)) {
		uint64_t mixed = sat_scale_up(sat_add(peak->transient, peak->asked), 24, 10);
		uint64_t left =
		        sat_sub(vc_gpu_offers_bytes(job->request->gpu, VC_METHOD_DETAILED), total);

		add(spread, mixed < left ? mixed : left, (struct shares){ 0, 1000 });
	}
}

void train_range(const struct train_job *job, const struct train_peak *peak, uint64_t total_bytes,
                 struct vc_ledger *ledger)
{
	uint64_t squeezed = sat_scale_up(peak->allocated, 12, 100);
	struct spread spread = { 0 };
	uint64_t need;

	add_allocated(job, peak, total_bytes, &spread);
	/* Runs have failed with no less than 84 % of the card allocated: the allocator gives cached
	 * blocks back until then. */
	need = sat_sub(total_bytes, sat_sub(peak->fragmentation.bytes, squeezed));
	ledger->need_bytes = sat_add(need, sat_mul(1024, root(spread.high)));
	add_idle(job, peak, total_bytes, &spread);
	ledger->low_bytes = sat_sub(total_bytes, sat_mul(1024, root(spread.low)));
	ledger->high_bytes = sat_add(total_bytes, sat_mul(1024, root(spread.high)));
}
