/*
 * Bytes per trained element by precision mode: ZeRO (arxiv.org/abs/1910.02054, section 3.1),
 * NVIDIA/Megatron-LM docs/source/api-guide/dist_optimizer.md, torch.optim.
 * docs/formulas.md#training
 */
#include "train_static.h"

#include "sat.h"

#include <string.h>

/* Bytes of one trained element. */
struct mode {
	uint32_t weight, gradient, master, state; /* `state`: of the elements that states follow */
	uint32_t step;                            /* copies at the step */
};

uint32_t train_precision_bytes(const struct vc_request *request)
{
	const struct vc_dtype_info *dtype = vc_dtype_info(request->workload.precision);

	return dtype->block_elements == 1 && dtype->block_bytes >= 4 ? 4 : 2;
}

bool train_is_raised(const struct vc_request *request)
{
	return request->training.kbit_preparation && train_scheme(request) &&
	       request->training.method != VC_TRAINING_FULL;
}

uint32_t train_rest_bytes(const struct vc_request *request)
{
	return train_is_raised(request) ? 4 : train_precision_bytes(request);
}

static bool foreach (const struct vc_request *request)
{
	return request->training.optimizer_implementation == VC_OPTIMIZER_IMPL_FOREACH;
}

static uint32_t dtype_bytes(enum vc_dtype dtype, uint32_t fallback)
{
	return dtype == VC_DTYPE_NONE ? fallback : (uint32_t)vc_dtype_bytes(dtype, 1);
}

static struct mode full_mode(const struct vc_request *request, const struct train_policy *policy)
{
	const struct vc_training *training = &request->training;
	uint32_t e = train_precision_bytes(request);
	struct mode mode = { e, e, 0, e, foreach (request) ? e : 0 };

	if (training->mixed_precision == VC_MIXED_AMP) {
		mode = (struct mode){ 4, 4, 0, 4, foreach (request) ? 4 : 0 };
	} else if (training->mixed_precision == VC_MIXED_MASTER && e < 4) {
		/* The step raises gradients to fp32: of a ZeRO partition, or of all. */
		mode = (struct mode){ e, e, 4, 4, 4 };
		mode.step += request->parallelism.zero_stage == 0 && foreach (request) ? 4 : 0;
	} else if (policy->bf16_master) {
		mode.master = e;
	}
	if (policy->fp32_gradients) {
		mode = (struct mode){ e, 4, 4, 4, 0 };
	}
	mode.gradient = dtype_bytes(training->gradient_precision, mode.gradient);
	return mode;
}

static struct mode adapter_mode(const struct vc_request *request, const struct train_policy *policy)
{
	uint32_t e = dtype_bytes(request->training.adapter_precision, policy->adapter_bytes);
	uint32_t g = dtype_bytes(request->training.gradient_precision, e);

	if (train_is_zero(request)) {
		return (struct mode){ 2, 2, 4, 4, 4 };
	}
	return (struct mode){ e, g, 0, e, 0 };
}

/* Copies in the precision of their originals, huggingface/peft, utils/other.py,
 * ModulesToSaveWrapper: unlike adapters they are not raised to fp32. */
static struct mode saved_mode(const struct vc_request *request)
{
	uint32_t e = train_rest_bytes(request);

	if (train_is_zero(request)) {
		return (struct mode){ 2, 2, 4, 4, 4 };
	}
	return (struct mode){ e, e, 0, e, foreach (request) ? e : 0 };
}

/* States of what the optimizer treats one by one: Adafactor's sums of rows and columns, Muon's
 * momentum on matrices beside Adam on the rest, GaLore's projections. */
static uint64_t shaped_states(const struct vc_request *request, const struct train_size *size,
                              uint32_t e)
{
	uint64_t tables = sat_add(size->embedding, size->head);

	switch (request->training.optimizer) {
	case VC_OPTIMIZER_ADAFACTOR:
		return sat_mul(4, sat_add(size->factors, size->vectors));
	case VC_OPTIMIZER_MUON:
		return sat_add(sat_mul(e, size->linears),
		               sat_mul3(2, e, sat_sub(size->params, size->linears)));
	case VC_OPTIMIZER_GALORE_ADAMW:
		return sat_mul(e, sat_add(size->low_rank, sat_mul(2, size->vectors)));
	case VC_OPTIMIZER_ADAMW_8BIT:
	case VC_OPTIMIZER_PAGED_ADAMW_8BIT:
		/* transformers/trainer.py keeps 32-bit states for embedding tables. */
		return request->engine.name == VC_ENGINE_TRANSFORMERS ? sat_mul(6, tables) : 0;
	default:
		return 0;
	}
}

static uint64_t state_bytes(const struct vc_request *request, const struct train_size *size,
                            uint64_t trained, uint32_t e)
{
	const struct vc_optimizer_info *info = vc_optimizer_info(request->training.optimizer);
	enum vc_optimizer optimizer = request->training.optimizer;
	uint64_t bytes = sat_scale_up(trained, info->state_bytes, info->state_elements);
	bool full = request->training.method == VC_TRAINING_FULL;

	if (full && (optimizer == VC_OPTIMIZER_MUON || optimizer == VC_OPTIMIZER_GALORE_ADAMW)) {
		return shaped_states(request, size, e);
	}
	bytes = info->follows_dtype ? sat_scale_up(bytes, e, 4) : bytes;
	return full ? sat_add(bytes, shaped_states(request, size, e)) : bytes;
}

/* 8-bit and 4-bit optimizers update in place, a kernel at a time. */
static bool copies(const struct vc_request *request)
{
	const struct vc_optimizer_info *info = vc_optimizer_info(request->training.optimizer);

	return info->state_elements == 1 && !info->paged && info->states > 0;
}

static uint64_t frozen_bytes(const struct vc_request *request, const struct train_size *size)
{
	uint64_t e = train_rest_bytes(request);

	if (!train_scheme(request)) {
		return sat_mul(e, size->params);
	}
	return sat_add(size->quantized_bytes, sat_mul(e, sat_sub(size->params, size->linears)));
}

static void add_saved(const struct vc_request *request, const struct train_policy *policy,
                      const struct train_size *size, struct train_static *out)
{
	struct train_groups groups = train_sharding(request, policy);
	struct mode mode = saved_mode(request);
	uint64_t states = state_bytes(request, size, size->saved, mode.state);
	uint64_t copy = copies(request) ? sat_mul(mode.step, size->saved) : 0;
	uint64_t gradients = sat_mul(mode.gradient, size->saved);

	out->trained = sat_add(out->trained, size->saved);
	out->saved = sat_div_up(sat_mul(mode.weight, size->saved), groups.weights);
	out->gradients = sat_add(out->gradients, sat_div_up(gradients, groups.gradients));
	out->master =
	        sat_add(out->master, sat_div_up(sat_mul(mode.master, size->saved), groups.states));
	out->states = sat_add(out->states, sat_div_up(states, groups.states));
	out->step_copy = sat_add(out->step_copy, sat_div_up(copy, groups.states));
}

/* FSDP shards what is a parameter; bitsandbytes' scales are not, every rank keeps them all. */
static uint64_t replicated_scales(const struct vc_request *request, const struct train_size *size)
{
	const struct vc_quantization *scheme = train_scheme(request);

	return scheme && scheme->quantizer == VC_QUANTIZER_BNB_4BIT ? size->scale_bytes : 0;
}

/* Moves what is offloaded to the host. */
static void offload(const struct vc_request *request, struct train_static *s)
{
	const struct vc_parallelism *layout = &request->parallelism;
	bool parameters = layout->offload_parameters != VC_OFFLOAD_NONE;
	bool optimizer = parameters || layout->offload_optimizer != VC_OFFLOAD_NONE;
	bool paged = vc_optimizer_info(request->training.optimizer)->paged;

	if (optimizer || paged) {
		s->host_states = s->states;
		s->states = 0;
	}
	if (!optimizer) {
		return;
	}
	s->steps = false;
	s->host_master = s->master;
	s->master = 0;
	s->host_gradients = sat_div_up(sat_mul(4, s->trained), layout->data);
	/* ZeRO-Offload (arxiv.org/abs/2101.06840) moves gradients as they come: buckets remain. */
	s->gradients = train_is_zero(request) ? 0 : s->gradients;
	if (!parameters || layout->zero_stage < 3) {
		return;
	}
	s->host_weights = s->weights;
	s->weights = 0;
	if (request->training.method == VC_TRAINING_FULL) {
		s->gradients = 0;
	}
}

struct train_groups train_sharding(const struct vc_request *request,
                                   const struct train_policy *policy)
{
	const struct vc_parallelism *layout = &request->parallelism;
	uint32_t stage = layout->zero_stage, ranks = layout->shard ? layout->shard : layout->data;
	struct train_groups groups = { stage >= 3 ? ranks : 1, stage >= 2 ? ranks : 1,
		                       stage >= 1 ? ranks : 1 };

	/* Megatron shards by its own switch; gradients stay whole up to its FSDP. */
	if (policy->style == TRAIN_STYLE_FUSED) {
		groups.gradients = groups.weights;
		groups.states = request->training.distributed_optimizer
		                        ? sat_mul(layout->data, layout->context)
		                        : groups.weights;
	}
	return groups;
}

void train_static(const struct vc_request *request, const struct train_policy *policy,
                  const struct train_size *size, struct train_static *out)
{
	bool full = request->training.method == VC_TRAINING_FULL;
	struct mode mode = full ? full_mode(request, policy) : adapter_mode(request, policy);
	struct train_groups groups = train_sharding(request, policy);

	memset(out, 0, sizeof *out);
	out->scales = full ? 0 : replicated_scales(request, size);
	out->trained = full ? size->params : size->adapters;
	out->weights = full ? sat_mul(mode.weight, size->params) : frozen_bytes(request, size);
	out->weights = sat_add(sat_div_up(sat_sub(out->weights, out->scales), groups.weights),
	                       out->scales);
	if (!full) {
		out->adapters = sat_div_up(sat_mul(mode.weight, out->trained), groups.weights);
	}
	out->gradients = sat_div_up(sat_mul(mode.gradient, out->trained), groups.gradients);
	out->master = sat_div_up(sat_mul(mode.master, out->trained), groups.states);
	out->states =
	        sat_div_up(state_bytes(request, size, out->trained, mode.state), groups.states);
	out->step_copy = sat_div_up(sat_mul(mode.step, out->trained), groups.states);
	out->step_copy = copies(request) ? out->step_copy : 0;
	if (full && policy->steps_in_place) {
		out->spared_copy = out->step_copy;
		out->step_copy = 0;
	}
	if (!full) {
		add_saved(request, policy, size, out);
	}
	out->gradients_stay = policy->keeps_gradients || train_is_zero(request) ||
	                      request->parallelism.zero_stage == 3;
	out->steps = !request->training.optimizer_in_backward;
	if (request->training.optimizer_in_backward) {
		out->gradients = out->step_copy = out->spared_copy = 0;
	}
	offload(request, out);
}
