/*
 * Loading, and the three phases of a step; the greatest wins: the loss, whose logits live while all
 * activations do; backward of the layer that is recomputed, or of the last; the optimizer's step,
 * when activations are gone. Held against 219 runs of the fms-acceleration suite: docs/accuracy.md.
 * docs/formulas.md#training
 */
#include "train_phase.h"

#include "device.h"
#include "sat.h"
#include "train_reserve.h"

#include <string.h>

#define GIB 1073741824ull

/* A process's context with lazily loaded kernels, and NCCL's first communicator beside it, both
 * outside the allocator (stas00/ml-engineering, training/tools and debug: 0.5 to 0.9 GiB, and
 * +1.45 GiB at the first barrier). */
static const uint64_t context_bytes = GIB * 3 / 4;
static const uint64_t collective_bytes = GIB * 145 / 100;

void train_job(const struct vc_request *request, uint32_t stage, struct train_job *job)
{
	const struct vc_parallelism *layout = &request->parallelism;

	memset(job, 0, sizeof *job);
	job->request = request;
	job->policy = train_policy(request->engine.name);
	job->rank = (struct rank){ .tensor = layout->tensor,
		                   .pipeline = layout->pipeline,
		                   .stage = stage,
		                   .expert = layout->expert };
	train_size(request, &job->rank, job->policy->unties_head, &job->size);
	train_static(request, job->policy, &job->size, &job->held);
	train_activation(request, job->policy, &job->rank, &job->activation);
	job->workspaces.handles = 2;
	job->workspaces.blas = job->policy->blas_workspace_bytes > 0
	                               ? job->policy->blas_workspace_bytes
	                               : device_blas_workspace_bytes(request->gpu);
	if (job->policy->transformer_engine) {
		job->workspaces.transformer_engine =
		        device_transformer_engine_workspace_bytes(request->gpu);
	}
}

uint64_t train_gathered_bytes(const struct train_gathered *gathered)
{
	return sat_add(gathered->kept, sat_mul(gathered->units, gathered->unit));
}

uint64_t train_bucket_bytes(const struct train_buckets *buckets)
{
	return sat_mul(buckets->elements, buckets->bytes);
}

uint64_t train_workspace_bytes(const struct train_job *job)
{
	return sat_add(sat_mul(job->workspaces.handles, job->workspaces.blas),
	               job->workspaces.transformer_engine);
}

/* Logits, their shifted copy, log-softmax and gradients as stock PyTorch has them. */
enum {
	STOCK_LOGIT_BYTES = 14
};

static uint64_t max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static bool is_full(const struct train_job *job)
{
	return job->request->training.method == VC_TRAINING_FULL;
}

static bool is_checkpointed(const struct train_job *job)
{
	return job->request->training.gradient_checkpointing == VC_CHECKPOINTING_FULL;
}

static bool is_sharded(const struct train_job *job)
{
	return job->request->parallelism.zero_stage == 3;
}

static bool is_fused(const struct train_job *job)
{
	return job->policy->style == TRAIN_STYLE_FUSED;
}

bool train_loss_is_plain(const struct train_job *job)
{
	enum vc_engine engine = job->request->engine.name;

	return (engine == VC_ENGINE_TRANSFORMERS || engine == VC_ENGINE_FSDP) &&
	       train_plain_loss(job->request->model);
}

/* Families that leave logits in 16 bits need 6 to 8 bytes; under autocast cross-entropy raises
 * them all the same, and keeps more copies (14 to 18, GPTBigCode in the fms-acceleration runs). */
static uint64_t logit_bytes(const struct train_job *job)
{
	const struct train_logits *logits = &job->policy->logits;

	if (job->request->training.loss_implementation != VC_LOSS_EAGER) {
		return 0;
	}
	if (train_loss_is_plain(job)) {
		return is_full(job) ? 7 : 16;
	}
	if (train_is_raised(job->request)) {
		return STOCK_LOGIT_BYTES;
	}
	if (job->request->training.compile && logits->compiled > 0) {
		return logits->compiled;
	}
	if (train_precision_bytes(job->request) == 4) {
		return 20;
	}
	return is_full(job) ? logits->full : logits->adapters;
}

uint64_t train_logits(const struct train_job *job, uint64_t bytes)
{
	const struct vc_parallelism *layout = &job->request->parallelism;

	if (layout->pipeline > 1 && job->rank.stage + 1 < layout->pipeline) {
		return 0;
	}
	if (job->request->training.loss_implementation == VC_LOSS_EAGER) {
		return sat_mul3(bytes, job->size.vocabulary, job->activation.tokens);
	}
	/* Fused with the head, in chunks: the gradient of the hidden states. */
	return job->activation.boundary_bytes;
}

static bool frozen_gathered(const struct train_job *job)
{
	return is_sharded(job) && job->policy->frozen_gathered && !is_full(job);
}

/*
 * Autograd saves a linear layer's weight, and with it the gathered copy that ZeRO 3 swapped in,
 * until backward. Models built under zero.Init() have their linears replaced by ones that save an
 * identifier instead (DeepSpeed, runtime/zero/linear.py), and checkpointing saves no weights.
 */
static bool saves_gathered(const struct train_job *job)
{
	return is_sharded(job) && job->policy->saves_gathered &&
	       job->request->training.gradient_checkpointing == VC_CHECKPOINTING_NONE;
}

/* Embedding and head form FSDP's root unit, gathered for the whole of forward and backward. */
static uint64_t root_bytes(const struct train_job *job)
{
	uint64_t tables = sat_add(job->size.embedding, job->size.head);
	uint64_t bytes = sat_mul(2, is_full(job) ? tables : sat_add(tables, job->size.saved));

	/* DeepSpeed releases what exceeds stage3_max_live_parameters, 1e9 by default. */
	return train_is_zero(job->request) ? min(bytes, 2000000000) : bytes;
}

static uint64_t unit_bytes(const struct train_job *job)
{
	const struct train_size *size = &job->size;

	if (is_full(job) || !train_scheme(job->request)) {
		return sat_mul(2, size->unit);
	}
	return sat_add(size->unit_quantized_bytes,
	               sat_mul(2, sat_sub(size->unit, size->unit_linears)));
}

/* Parameters gathered while one layer runs; `loss`: before the first layer's backward. Where frozen
 * weights and adapters share a unit, its gradient is as long as the unit: LitGPT's runs hold four
 * units more (Lightning-AI/litgpt, issue 1538). */
static struct train_gathered gathered(const struct train_job *job, bool loss)
{
	bool offloaded = job->request->parallelism.offload_parameters != VC_OFFLOAD_NONE;
	uint64_t whole = sat_mul(sat_add(job->held.weights, job->held.host_weights),
	                         train_sharding(job->request, job->policy).weights);
	struct train_gathered all = { whole, 0, unit_bytes(job) };

	if (!is_sharded(job) && !offloaded) {
		return (struct train_gathered){ 0 };
	}
	if (saves_gathered(job)) {
		return all;
	}
	if (frozen_gathered(job)) {
		all.units = loss ? 0 : 4;
		return all;
	}
	all.kept = root_bytes(job);
	if (!loss) {
		all.units =
		        offloaded || train_is_zero(job->request) ? 2 : job->policy->gathered_units;
	}
	return all;
}

struct train_gathered train_gathered(const struct train_job *job)
{
	return gathered(job, false);
}

/* Micro-batches whose activations a stage keeps: 1F1B, arxiv.org/abs/2104.04473 section 2.2. */
static uint64_t in_flight(const struct train_job *job, uint64_t bytes)
{
	const struct vc_parallelism *layout = &job->request->parallelism;
	uint64_t left = layout->pipeline - job->rank.stage;
	uint64_t batches = job->request->training.gradient_accumulation;
	uint64_t chunks = layout->virtual_pipeline;

	if (!job->policy->pipelines || layout->pipeline == 1) {
		return bytes;
	}
	if (chunks > 1) {
		/* (v - 1) p chunks more than without interleaving, of 1 / v of the stage each */
		uint64_t more = sat_mul(chunks - 1, layout->pipeline);
		uint64_t warm = sat_add(more, sat_sub(sat_mul(2, left), 1));

		return sat_scale_up(bytes, min(warm, sat_mul(chunks, layout->pipeline * 2ull)),
		                    chunks);
	}
	return sat_mul(bytes, batches > 1 ? min(batches, left) : left);
}

/* FSDP with PEFT adapters holds a second copy of the checkpoints in backward: every slope of the
 * fms-acceleration FSDP runs with adapters is 4 h L, that of the loss phase 2 h L. */
static uint64_t checkpoints_in_backward(const struct train_job *job, uint64_t saved)
{
	bool doubled = !is_full(job) && is_sharded(job) && job->policy->autocasts &&
	               !train_is_zero(job->request) &&
	               job->request->parallelism.offload_parameters == VC_OFFLOAD_NONE;

	return doubled ? sat_mul(2, saved) : saved;
}

/* FSDP keeps the gradients of adapters from step to step (measured: 16 bytes per adapter weight
 * between steps); those of a whole model are freed before the next forward. */
static bool gradients_before_loss(const struct train_job *job)
{
	if (!is_full(job) && is_sharded(job)) {
		return true;
	}
	return job->policy->keeps_gradients || train_is_zero(job->request) ||
	       job->request->training.gradient_accumulation > 1;
}

/* DataParallel gathers the outputs of all replicas, logits among them, on the first card. */
static uint64_t gathered_outputs(const struct train_job *job)
{
	const struct vc_parallelism *layout = &job->request->parallelism;

	if (layout->data_parallel != VC_DATA_PARALLEL_DP ||
	    job->request->training.loss_implementation != VC_LOSS_EAGER) {
		return 0;
	}
	return sat_mul(layout->data - 1, train_logits(job, train_precision_bytes(job->request)));
}

/* Weights come layer by layer: quantized as they arrive in 16 bits, or cut into shards. */
static void load_phase(const struct train_job *job, struct train_phase *phase)
{
	phase->exists = true;
	if (is_sharded(job) || (!is_full(job) && train_scheme(job->request))) {
		phase->gathered.units = 1;
		phase->gathered.unit = sat_mul(train_precision_bytes(job->request), job->size.unit);
	}
	phase->total = sat_add(
	        sat_add(job->held.weights, sat_add(job->held.adapters, job->held.saved)),
	        sat_add(train_workspace_bytes(job), train_gathered_bytes(&phase->gathered)));
}

static void loss_phase(const struct train_job *job, uint64_t bytes, struct train_phase *phase)
{
	phase->exists = true;
	phase->gradients = gradients_before_loss(job);
	phase->saved = in_flight(job, job->activation.saved_bytes);
	phase->working = sat_mul(2, job->activation.boundary_bytes);
	phase->logits = train_logits(job, bytes);
	phase->outputs = gathered_outputs(job);
	phase->gathered = gathered(job, true);
}

/* FSDP2 reduces the root unit's gradients, in fp32 where weights are, when backward is over. */
static uint64_t root_gradients(const struct train_job *job)
{
	uint64_t e = job->request->training.mixed_precision == VC_MIXED_NONE ? 2 : 4;

	if (!job->policy->root_gradients || !is_sharded(job) || !is_full(job)) {
		return 0;
	}
	return sat_mul(e, sat_add(job->size.embedding, job->size.head));
}

/* Backward of the last layer, when all checkpoints are there, or of the first, when all gradients
 * are: whichever holds more. */
static void backward_phase(const struct train_job *job, struct train_phase *phase)
{
	const struct train_activation *activation = &job->activation;
	uint64_t gradients = gradients_before_loss(job) ? 0 : job->held.gradients;
	uint64_t saved = checkpoints_in_backward(job, in_flight(job, activation->saved_bytes));

	phase->exists = true;
	phase->gradients = true;
	phase->gathered = gathered(job, false);
	if (is_fused(job)) {
		phase->saved = in_flight(job, activation->saved_bytes);
		phase->working = is_checkpointed(job) ? activation->layer_bytes : 0;
	} else if (!is_checkpointed(job)) {
		phase->working = sat_add(activation->boundary_bytes, root_gradients(job));
	} else {
		phase->working = frozen_gathered(job) ? 0 : activation->working_bytes;
		if (saved > gradients) {
			phase->saved = saved;
			phase->gradients = gradients_before_loss(job);
		}
	}
}

/* Reduction and gathering buffers of ZeRO 1 and 2 (reduce_bucket_size and allgather_bucket_size,
 * 5e8 elements of 2 bytes); DDP's buckets, a second copy of the gradients unless they are views. */
static struct train_buckets buckets(const struct train_job *job)
{
	const uint64_t zero_elements = 500000000;
	const struct vc_parallelism *layout = &job->request->parallelism;

	if (train_is_zero(job->request)) {
		bool reduces = layout->zero_stage == 1 || layout->zero_stage == 2;

		return (struct train_buckets){ reduces ? zero_elements : 0, is_full(job) ? 2 : 4 };
	}
	if (layout->data > 1 && layout->zero_stage == 0 && !is_fused(job) &&
	    layout->data_parallel == VC_DATA_PARALLEL_DDP && job->held.trained > 0) {
		return (struct train_buckets){ job->held.trained,
			                       job->held.gradients / job->held.trained };
	}
	return (struct train_buckets){ 0 };
}

static void sum_phase(const struct train_job *job, const struct train_peak *peak,
                      struct train_phase *phase)
{
	uint64_t fixed = sat_add(peak->base, sat_add(train_bucket_bytes(&peak->buckets),
	                                             train_workspace_bytes(job)));
	uint64_t more = sat_add(sat_add(phase->saved, phase->working),
	                        sat_add(sat_add(phase->logits, phase->outputs),
	                                train_gathered_bytes(&phase->gathered)));

	phase->total = sat_add(fixed, sat_add(more, phase->copy));
	if (phase->gradients) {
		phase->total = sat_add(phase->total, job->held.gradients);
	}
}

static void find_peak(const struct train_job *job, struct train_peak *peak)
{
	const struct train_static *held = &job->held;

	peak->base = sat_add(sat_add(held->weights, sat_add(held->adapters, held->saved)),
	                     sat_add(held->master, held->states));
	peak->buckets = buckets(job);
	peak->logit_bytes = logit_bytes(job);
	load_phase(job, &peak->phases[TRAIN_PHASE_LOAD]);
	loss_phase(job, peak->logit_bytes, &peak->phases[TRAIN_PHASE_LOSS]);
	backward_phase(job, &peak->phases[TRAIN_PHASE_BACKWARD]);
	if (held->steps) {
		peak->phases[TRAIN_PHASE_STEP] = (struct train_phase){ .exists = true,
			                                               .gradients = true,
			                                               .copy = held->step_copy };
	}
	for (int i = 0; i < TRAIN_PHASE_COUNT; i++) {
		struct train_phase *phase = &peak->phases[i];

		if (phase->exists && i != TRAIN_PHASE_LOAD) {
			sum_phase(job, peak, phase);
		}
		if (phase->total > peak->allocated) {
			peak->allocated = phase->total;
			peak->name = (enum train_phase_name)i;
		}
	}
	peak->transient = sat_sub(
	        max(peak->phases[TRAIN_PHASE_LOSS].total, peak->phases[TRAIN_PHASE_BACKWARD].total),
	        sat_add(peak->base,
	                sat_add(train_bucket_bytes(&peak->buckets), train_workspace_bytes(job))));
}

void train_peak(const struct train_job *job, struct train_peak *peak)
{
	const struct vc_parallelism *layout = &job->request->parallelism;
	bool naive = layout->pipeline > 1 && !job->policy->pipelines;

	memset(peak, 0, sizeof *peak);
	find_peak(job, peak);
	peak->context = context_bytes;
	if (vc_layout_gpus(layout) > 1 && !(naive && layout->data == 1)) {
		peak->collectives = collective_bytes;
	}
	train_reserve(job, peak);
}
