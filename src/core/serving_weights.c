/*
 * Weights of a rank. Fusing and dividing as in github.com/vllm-project/vllm,
 * vllm/model_executor/layers/linear.py, vocab_parallel_embedding.py and fused_moe/layer.py;
 * quantized layouts as in layers/quantization/. docs/serving.md#serving-weights
 */
#include "serving_weights.h"

#include "quantized_linear.h"
#include "torch_block.h"
#include "weights.h"

#include <string.h>

/* Tensors that engines hold as one. */
enum slot {
	SLOT_QKV,
	SLOT_GATE_UP,
	SLOT_EXPERT_IN,
	SLOT_EXPERT_OUT,
	SLOT_SHARED_IN,
	SLOT_COUNT,
	SLOT_ALONE = SLOT_COUNT
};

static const enum slot slots[VC_MODULE_COUNT] = {
	[VC_MODULE_OTHER] = SLOT_ALONE,
	[VC_MODULE_EMBEDDING] = SLOT_ALONE,
	[VC_MODULE_POSITION] = SLOT_ALONE,
	[VC_MODULE_LM_HEAD] = SLOT_ALONE,
	[VC_MODULE_NORM] = SLOT_ALONE,
	[VC_MODULE_Q] = SLOT_QKV,
	[VC_MODULE_K] = SLOT_QKV,
	[VC_MODULE_V] = SLOT_QKV,
	[VC_MODULE_QKV] = SLOT_QKV,
	[VC_MODULE_O] = SLOT_ALONE,
	[VC_MODULE_Q_DOWN] = SLOT_ALONE,
	[VC_MODULE_KV_DOWN] = SLOT_ALONE,
	[VC_MODULE_Q_UP] = SLOT_ALONE,
	[VC_MODULE_KV_UP] = SLOT_ALONE,
	[VC_MODULE_INDEXER] = SLOT_ALONE,
	[VC_MODULE_GATE] = SLOT_GATE_UP,
	[VC_MODULE_UP] = SLOT_GATE_UP,
	[VC_MODULE_GATE_UP] = SLOT_GATE_UP,
	[VC_MODULE_DOWN] = SLOT_ALONE,
	[VC_MODULE_ROUTER] = SLOT_ALONE,
	[VC_MODULE_EXPERT_GATE] = SLOT_EXPERT_IN,
	[VC_MODULE_EXPERT_UP] = SLOT_EXPERT_IN,
	[VC_MODULE_EXPERT_DOWN] = SLOT_EXPERT_OUT,
	[VC_MODULE_SHARED_GATE] = SLOT_SHARED_IN,
	[VC_MODULE_SHARED_UP] = SLOT_SHARED_IN,
	[VC_MODULE_SHARED_DOWN] = SLOT_ALONE,
	[VC_MODULE_SSM_IN] = SLOT_ALONE,
	[VC_MODULE_SSM_OUT] = SLOT_ALONE,
	[VC_MODULE_SSM_OTHER] = SLOT_ALONE,
	[VC_MODULE_CONV] = SLOT_ALONE,
	[VC_MODULE_PROJECTOR] = SLOT_ALONE,
	[VC_MODULE_POOLER] = SLOT_ALONE,
};

struct walk {
	const struct vc_request *request;
	const struct weight_traits *traits;
	struct rank rank;
	const struct vc_layer_kind *kind;
	uint64_t layers; /* that have the kind whose slots are being filled */
	struct linear_parts slots[SLOT_COUNT];
	uint64_t own_segments, shared_segments, small_segments; /* reserved */
	struct serving_weights sum;
};

static void put_block(struct walk *walk, uint64_t bytes, uint64_t count)
{
	uint64_t rounded = torch_rounded_bytes(bytes);
	uint64_t *pool = rounded <= TORCH_SMALL_BYTES             ? &walk->small_segments
	                 : rounded < TORCH_OWN_SEGMENT_FROM_BYTES ? &walk->shared_segments
	                                                          : &walk->own_segments;

	walk->sum.tensor_bytes = sat_add(walk->sum.tensor_bytes, sat_mul(bytes, count));
	walk->sum.allocated_bytes =
	        sat_add(walk->sum.allocated_bytes, sat_mul(torch_block_bytes(bytes), count));
	*pool = sat_add(*pool, sat_mul(torch_segment_bytes(bytes), count));
}

static void put_parts(struct walk *walk, const struct linear_parts *parts, uint64_t count)
{
	for (size_t i = 0; i < sizeof parts->bytes / sizeof *parts->bytes; i++) {
		if (parts->bytes[i] > 0) {
			put_block(walk, parts->bytes[i], count);
		}
	}
}

static void flush(struct walk *walk)
{
	for (size_t i = 0; i < SLOT_COUNT; i++) {
		put_parts(walk, &walk->slots[i], walk->layers);
	}
	memset(walk->slots, 0, sizeof walk->slots);
}

static void pad_mxfp4(const struct weight_traits *traits, struct vc_tensor *tensor)
{
	bool down = tensor->module == VC_MODULE_EXPERT_DOWN;
	uint64_t *hidden = down ? &tensor->out : &tensor->in;
	uint64_t *width = down ? &tensor->in : &tensor->out;

	*hidden = sat_round_up(*hidden, traits->mxfp4_hidden_multiple);
	*width = sat_round_up(*width, traits->mxfp4_width_multiple);
	tensor->bias = tensor->bias ? tensor->out : 0;
}

static void put_tensor(struct walk *walk, const struct vc_visit *visit)
{
	struct vc_tensor rank = shard_tensor(visit->tensor, &walk->rank);
	struct vc_quantization scheme = linear_scheme(walk->request, visit, walk->traits->marlin);
	enum slot slot = visit->kind ? slots[rank.module] : SLOT_ALONE;
	struct linear_parts parts;

	walk->sum.elements =
	        sat_add(walk->sum.elements, sat_mul(tensor_elements(&rank), visit->layers));
	if (scheme.quantizer == VC_QUANTIZER_MXFP4) {
		pad_mxfp4(walk->traits, &rank);
	}
	parts = linear_parts(&scheme, &rank, walk->request->workload.precision);
	if (slot == SLOT_ALONE) {
		put_parts(walk, &parts, sat_mul(rank.count, visit->layers));
		return;
	}
	if (slot == SLOT_EXPERT_IN || slot == SLOT_EXPERT_OUT) {
		linear_parts_scale(&parts, rank.count); /* all experts of a layer are one tensor */
	}
	linear_parts_add(&walk->slots[slot], &parts);
}

static bool is_table(const struct vc_tensor *tensor)
{
	return tensor->module == VC_MODULE_EMBEDDING || tensor->module == VC_MODULE_LM_HEAD;
}

static void visit_tensor(const struct vc_visit *visit, void *context)
{
	struct walk *walk = context;

	if (visit->kind != walk->kind) {
		flush(walk);
		walk->kind = visit->kind;
		walk->layers = visit->layers;
	}
	if (visit->extra &&
	    (visit->extra->buffer || !rank_holds_extra(visit->extra, &walk->rank))) {
		return;
	}
	if (visit->stack->role == VC_STACK_MTP && is_table(visit->tensor)) {
		return; /* the model's own serve */
	}
	put_tensor(walk, visit);
}

/* Up to 0.6 the last stage took whatever did not divide; rank_layers() spreads it. */
static struct layer_range stage_layers(const struct rank *rank, uint32_t layers,
                                       bool remainder_on_last)
{
	uint32_t each = layers / rank->pipeline;
	struct layer_range range = { rank->stage * each, (rank->stage + 1) * each };

	if (!remainder_on_last) {
		return rank_layers(rank, layers);
	}
	range.end = rank->stage + 1 == rank->pipeline ? layers : range.end;
	return range;
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Rotary tables: cosines and sines of every position, once per distinct rope, in 16 bits. A config
 * that allows fewer positions than the spec uses is a stub. */
static void put_rotary(struct walk *walk)
{
	const struct weight_traits *traits = walk->traits;
	const struct vc_model *model = walk->request->model;
	uint64_t positions = max_u64(model->max_position_embeddings, traits->rotary_positions);
	uint64_t tables = max_u64(model->rotary_tables, max_u64(traits->rotary_tables, 1));

	if (model->rotary_dim == 0) {
		return;
	}
	positions = max_u64(positions, walk->request->workload.sequence_length);
	if (traits->rotary_factor > 1) {
		positions = sat_mul(positions, traits->rotary_factor);
	}
	if (traits->rotary_per_layer) {
		tables = walk->sum.range.end - walk->sum.range.begin;
	}
	if (traits->rotary_stretch > 1) {
		put_block(
		        walk,
		        sat_mul3(sat_mul(positions, traits->rotary_stretch), model->rotary_dim, 2),
		        1);
		tables--;
	}
	put_block(walk, sat_mul3(positions, model->rotary_dim, 2), tables);
}

/* Latent attention's extra copies: vllm/attention/backends/mla/utils.py in 0.7,
 * vllm/v1/attention/backends/mla/common.py from 0.8. */
static void put_latent_copies(struct walk *walk, const struct vc_stack *stack)
{
	bool fp8 = walk->request->workload.quantization &&
	           walk->request->workload.quantization->quantizer == VC_QUANTIZER_FP8;

	for (uint32_t i = walk->sum.range.begin; i < walk->sum.range.end; i++) {
		const struct vc_mixer *m =
		        &walk->request->model->kinds[stack->pattern[i]].mixers[0];
		uint64_t heads = sat_div_up(m->heads, walk->request->parallelism.tensor);
		uint64_t q = m->q_lora_rank ? m->q_lora_rank : stack->hidden_size;
		uint64_t up = sat_mul(heads, sat_add(m->qk_nope_head_dim, m->v_head_dim));

		if (m->type != VC_MIXER_LATENT) {
			continue;
		}
		if (walk->traits->latent_copies == LATENT_COPIES_SPLIT) {
			put_block(walk, sat_mul3(m->kv_lora_rank, up, 2), 1);
		} else if (walk->traits->latent_copies == LATENT_COPIES_ABSORBED) {
			uint64_t absorbed = sat_mul3(heads, m->kv_lora_rank, fp8 ? 1 : 2);

			put_block(walk, sat_mul(absorbed, q), 1);
			put_block(walk, sat_mul(absorbed, stack->hidden_size), 1);
			put_block(walk, sat_mul(sat_mul3(heads, m->qk_rope_head_dim, 2), q), 1);
		}
	}
}

/* A llama.cpp file's types depend on each tensor's place in it, so that its blocks are not 4.5 bits
 * throughout: what was summed up is then what this rank has of the file. */
static uint64_t share_of_file(const struct walk *walk)
{
	const struct vc_workload *workload = &walk->request->workload;
	struct weight_format format = { .dtype = workload->precision,
		                        .quantization = workload->quantization };
	struct weights mixed;

	if (!workload->quantization || workload->quantization->quantizer != VC_QUANTIZER_GGUF ||
	    walk->sum.tensor_bytes == 0) {
		return weights_file_share(walk->request->model, &format);
	}
	weight_bytes(walk->request->model, &format, &walk->rank, &mixed);
	return sat_div_up(sat_mul(mixed.total_bytes, WEIGHTS_SHARE), walk->sum.tensor_bytes);
}

static void scale_to_file(struct walk *walk)
{
	uint64_t *const sums[] = { &walk->sum.tensor_bytes, &walk->sum.allocated_bytes,
		                   &walk->own_segments, &walk->shared_segments,
		                   &walk->small_segments };
	uint64_t share = share_of_file(walk);

	if (share == WEIGHTS_SHARE) {
		return;
	}
	for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++) {
		*sums[i] = sat_scale_up(*sums[i], share, WEIGHTS_SHARE);
	}
}

/* A separate draft model divides over the same ranks. */
static void put_draft(struct walk *walk)
{
	const struct vc_engine_options *engine = &walk->request->engine;

	if (engine->speculative_tokens > 0 && walk->sum.last) {
		put_block(walk, sat_mul(2, sat_div_up(engine->draft_params, walk->rank.tensor)), 1);
	}
}

static struct serving_weights stage_weights(const struct vc_request *request,
                                            const struct weight_traits *traits, uint32_t stage)
{
	const struct vc_model *model = request->model;
	const struct vc_parallelism *layout = &request->parallelism;
	uint32_t main = model_main_stack(model);
	struct walk walk = { .request = request, .traits = traits };
	struct visitor visitor = { visit_tensor, &walk };

	walk.rank = (struct rank){ .tensor = layout->tensor,
		                   .pipeline = layout->pipeline,
		                   .stage = stage,
		                   .expert = layout->expert,
		                   .vocab_multiple = traits->vocab_multiple };
	walk.sum.last = stage + 1 == layout->pipeline;
	walk.sum.range = stage_layers(&walk.rank, model->stacks[main].layers,
	                              traits->remainder_on_last_stage);
	for (uint32_t i = 0; i < model->stack_count; i++) {
		if (model->stacks[i].role != VC_STACK_MTP || serving_drafts_itself(request)) {
			model_walk_range(model, i,
			                 i == main ? walk.sum.range
			                           : rank_range(model, i, &walk.rank),
			                 visitor);
		}
	}
	flush(&walk);
	scale_to_file(&walk);
	put_rotary(&walk);
	put_draft(&walk);
	if (traits->latent_copies != LATENT_COPIES_NONE) {
		put_latent_copies(&walk, &model->stacks[main]);
	}
	walk.sum.reserved_bytes =
	        sat_add(walk.own_segments,
	                sat_add(sat_round_up(walk.shared_segments, TORCH_SHARED_SEGMENT_BYTES),
	                        sat_round_up(walk.small_segments, TORCH_SMALL_SEGMENT_BYTES)));
	return walk.sum;
}

struct serving_weights serving_weights(const struct vc_request *request,
                                       const struct weight_traits *traits)
{
	struct serving_weights fullest = { 0 };

	for (uint32_t stage = 0; stage < request->parallelism.pipeline; stage++) {
		struct serving_weights weights = stage_weights(request, traits, stage);

		if (weights.allocated_bytes >= fullest.allocated_bytes) {
			fullest = weights;
		}
	}
	return fullest;
}
