/*
 * The tensors of one layer, from its kind. Shapes are those of huggingface/transformers,
 * src/transformers/models/; which way each divides over tensor-parallel ranks is as vLLM 0.11 does
 * it (github.com/vllm-project/vllm, vllm/model_executor/models/). docs/formulas.md#parameters
 */
#include "sat.h"
#include "vramcalc/vramcalc.h"

struct list {
	struct vc_tensor *tensors;
	size_t count;
	uint64_t hidden; /* of the stack */
};

static struct vc_tensor *put(struct list *list, enum vc_module module, enum vc_split split,
                             uint64_t out, uint64_t in)
{
	struct vc_tensor *tensor = &list->tensors[list->count++];

	*tensor = (struct vc_tensor){
		.module = module, .split = split, .out = out, .in = in, .count = 1, .linear = true
	};
	return tensor;
}

/* A vector or a table that no matrix multiplication reads. */
static void put_vector(struct list *list, enum vc_module module, enum vc_split split, uint64_t size)
{
	if (size > 0) {
		put(list, module, split, size, 1)->linear = false;
	}
}

static uint64_t either(uint64_t value, uint64_t fallback)
{
	return value ? value : fallback;
}

static uint64_t if_biased(bool bias, uint64_t elements)
{
	return bias ? elements : 0;
}

static void put_kv(struct list *list, enum vc_module module, const struct vc_mixer *m, uint64_t out,
                   bool bias)
{
	uint64_t in = either(m->kv_input_size, either(m->input_size, list->hidden));
	struct vc_tensor *tensor = put(list, module, VC_SPLIT_KV, out, in);

	tensor->bias = if_biased(bias, out);
	tensor->kv_out = out;
	tensor->kv_heads = m->kv_heads;
}

static void put_attention(struct list *list, const struct vc_mixer *m)
{
	uint64_t v_dim = either(m->v_head_dim, m->head_dim);
	uint64_t in = either(m->input_size, list->hidden);
	uint64_t q = sat_mul3(m->heads, m->head_dim, m->gated ? 2 : 1);
	uint64_t k = sat_mul(m->kv_heads, m->head_dim);
	uint64_t v = m->k_is_v ? 0 : sat_mul(m->kv_heads, v_dim);
	struct vc_tensor *tensor;

	if (m->fused_qkv) {
		tensor = put(list, VC_MODULE_QKV, VC_SPLIT_KV, sat_add(q, sat_add(k, v)), in);
		tensor->bias = sat_add(if_biased(m->q_bias, q),
		                       sat_add(if_biased(m->k_bias, k), if_biased(m->v_bias, v)));
		tensor->kv_out = sat_add(k, v);
		tensor->kv_heads = m->kv_heads;
	} else {
		tensor = put(list, VC_MODULE_Q, VC_SPLIT_COLUMN, q, in);
		tensor->bias = if_biased(m->q_bias, q);
		if (!m->no_kv_projection) {
			put_kv(list, VC_MODULE_K, m, k, m->k_bias);
		}
		if (!m->no_kv_projection && !m->k_is_v) {
			put_kv(list, VC_MODULE_V, m, v, m->v_bias);
		}
	}
	tensor = put(list, VC_MODULE_O, VC_SPLIT_ROW, list->hidden, sat_mul(m->heads, v_dim));
	tensor->bias = if_biased(m->o_bias, list->hidden);
	put_vector(list, VC_MODULE_NORM, VC_SPLIT_NONE, m->inner_norm_elements);
	put_vector(list, VC_MODULE_OTHER, VC_SPLIT_COLUMN, m->sinks);
}

/* DeepSeek-V3.2's lightning indexer: query heads from the query latent, one key head, its norm. */
static void put_indexer(struct list *list, const struct vc_mixer *m)
{
	uint64_t in = either(m->q_lora_rank, list->hidden);

	put(list, VC_MODULE_INDEXER, VC_SPLIT_NONE, sat_mul(m->index_heads, m->index_head_dim), in);
	put(list, VC_MODULE_INDEXER, VC_SPLIT_NONE, m->index_head_dim, list->hidden);
	put(list, VC_MODULE_INDEXER, VC_SPLIT_NONE, m->index_heads, list->hidden)->linear = false;
	put_vector(list, VC_MODULE_NORM, VC_SPLIT_NONE, sat_mul(2, m->index_head_dim));
}

/* DeepSeek-V2, arXiv 2405.04434: queries and keys-values go through low-rank latents, which every
 * tensor rank holds whole. */
static void put_latent(struct list *list, const struct vc_mixer *m)
{
	uint64_t qk = sat_add(m->qk_nope_head_dim, m->qk_rope_head_dim);
	uint64_t down = sat_add(m->kv_lora_rank, m->qk_rope_head_dim);
	struct vc_tensor *tensor;

	if (m->q_lora_rank > 0) {
		tensor = put(list, VC_MODULE_Q_DOWN, VC_SPLIT_NONE, m->q_lora_rank, list->hidden);
		tensor->bias = if_biased(m->q_bias, m->q_lora_rank);
		put(list, VC_MODULE_Q_UP, VC_SPLIT_COLUMN, sat_mul(m->heads, qk), m->q_lora_rank);
	} else {
		put(list, VC_MODULE_Q, VC_SPLIT_COLUMN, sat_mul(m->heads, qk), list->hidden);
	}
	tensor = put(list, VC_MODULE_KV_DOWN, VC_SPLIT_NONE, down, list->hidden);
	tensor->bias = if_biased(m->k_bias, down);
	put(list, VC_MODULE_KV_UP, VC_SPLIT_COLUMN,
	    sat_mul(m->heads, sat_add(m->qk_nope_head_dim, m->v_head_dim)), m->kv_lora_rank);
	tensor = put(list, VC_MODULE_O, VC_SPLIT_ROW, list->hidden,
	             sat_mul(m->heads, m->v_head_dim));
	tensor->bias = if_biased(m->o_bias, list->hidden);
	put_vector(list, VC_MODULE_NORM, VC_SPLIT_NONE, m->inner_norm_elements);
	if (m->index_heads > 0) {
		put_indexer(list, m);
	}
}

static void put_conv(struct list *list, const struct vc_mixer *m, uint64_t channels)
{
	struct vc_tensor *tensor =
	        put(list, VC_MODULE_CONV, VC_SPLIT_COLUMN, channels, m->conv_kernel);

	tensor->linear = false;
	tensor->bias = if_biased(m->conv_bias, channels);
}

static void put_in_out(struct list *list, const struct vc_mixer *m, uint64_t in_width)
{
	uint64_t in = either(m->input_size, list->hidden);
	struct vc_tensor *tensor;

	tensor = put(list, VC_MODULE_SSM_IN, VC_SPLIT_COLUMN, in_width, in);
	tensor->bias = if_biased(m->proj_bias, in_width);
	tensor = put(list, VC_MODULE_SSM_OUT, VC_SPLIT_ROW, list->hidden, m->inner_size);
	tensor->bias = if_biased(m->proj_bias, list->hidden);
}

/* Mamba, arXiv 2312.00752 */
static void put_mamba(struct list *list, const struct vc_mixer *m)
{
	uint64_t selected = sat_add(m->dt_rank, sat_mul(2, m->state_size));

	put_in_out(list, m, sat_mul(2, m->inner_size));
	put_conv(list, m, m->inner_size);
	put(list, VC_MODULE_SSM_OTHER, VC_SPLIT_ROW, selected, m->inner_size);
	put(list, VC_MODULE_SSM_OTHER, VC_SPLIT_COLUMN, m->inner_size, m->dt_rank)->bias =
	        m->inner_size;
	put_vector(list, VC_MODULE_SSM_OTHER, VC_SPLIT_COLUMN,
	           sat_mul(m->inner_size, m->state_size));
	put_vector(list, VC_MODULE_SSM_OTHER, VC_SPLIT_COLUMN, m->inner_size);
	put_vector(list, VC_MODULE_NORM, VC_SPLIT_NONE, m->inner_norm_elements);
}

/* Mamba-2, arXiv 2405.21060: gate, x, B, C and dt from one projection; dt's bias, A and D per
 * head. */
static void put_mamba2(struct list *list, const struct vc_mixer *m)
{
	uint64_t conv = sat_add(m->inner_size, sat_mul3(2, m->groups, m->state_size));

	put_in_out(list, m, sat_add(sat_add(m->inner_size, conv), m->heads));
	put_conv(list, m, conv);
	put_vector(list, VC_MODULE_SSM_OTHER, VC_SPLIT_COLUMN, sat_mul(3, m->heads));
	put_vector(list, VC_MODULE_NORM, VC_SPLIT_COLUMN, m->inner_norm_elements);
}

/* Gated DeltaNet, arXiv 2412.06464, as Qwen3-Next has it: q, k, v and gate from one projection,
 * beta and alpha per value head. */
static void put_deltanet(struct list *list, const struct vc_mixer *m)
{
	uint64_t key = sat_mul(m->key_heads, m->key_head_dim);
	uint64_t value = sat_mul(m->value_heads, m->value_head_dim);
	struct vc_mixer shape = *m;

	shape.inner_size = value;
	put_in_out(list, &shape, sat_add(sat_mul(2, key), sat_mul(2, value)));
	put(list, VC_MODULE_SSM_OTHER, VC_SPLIT_COLUMN, sat_mul(2, m->value_heads), list->hidden);
	put_conv(list, m, sat_add(sat_mul(2, key), value));
	put_vector(list, VC_MODULE_SSM_OTHER, VC_SPLIT_COLUMN, sat_mul(2, m->value_heads));
	put_vector(list, VC_MODULE_NORM, VC_SPLIT_NONE, m->inner_norm_elements);
}

/* LFM2's gated short convolution. */
static void put_short_conv(struct list *list, const struct vc_mixer *m)
{
	struct vc_mixer shape = *m;

	shape.inner_size = list->hidden;
	put_in_out(list, &shape, sat_mul(3, list->hidden));
	put_conv(list, m, list->hidden);
}

/* MiniMax-01's linear attention, arXiv 2501.08313: fused q, k, v and an output gate. */
static void put_lightning(struct list *list, const struct vc_mixer *m)
{
	uint64_t width = sat_mul(m->heads, m->head_dim);

	put(list, VC_MODULE_QKV, VC_SPLIT_COLUMN, sat_mul(3, width), list->hidden);
	put(list, VC_MODULE_SSM_IN, VC_SPLIT_COLUMN, width, list->hidden);
	put(list, VC_MODULE_O, VC_SPLIT_ROW, list->hidden, width);
	put_vector(list, VC_MODULE_NORM, VC_SPLIT_COLUMN, m->inner_norm_elements);
}

/* Kimi Delta Attention, arXiv 2510.26692: q, k, v each with a short convolution; low-rank decay
 * and output gates through the head size; beta, A and dt's bias. */
static void put_kimi_delta(struct list *list, const struct vc_mixer *m)
{
	uint64_t width = sat_mul(m->heads, m->head_dim);

	put(list, VC_MODULE_Q, VC_SPLIT_COLUMN, width, list->hidden);
	put(list, VC_MODULE_K, VC_SPLIT_COLUMN, width, list->hidden);
	put(list, VC_MODULE_V, VC_SPLIT_COLUMN, width, list->hidden);
	put_conv(list, m, sat_mul(3, width));
	put(list, VC_MODULE_SSM_OTHER, VC_SPLIT_NONE, m->head_dim, list->hidden)->count = 2;
	put(list, VC_MODULE_SSM_OTHER, VC_SPLIT_COLUMN, width, m->head_dim)->count = 2;
	put(list, VC_MODULE_SSM_OTHER, VC_SPLIT_COLUMN, m->heads, list->hidden);
	put_vector(list, VC_MODULE_SSM_OTHER, VC_SPLIT_COLUMN, sat_add(m->heads, width));
	put_vector(list, VC_MODULE_NORM, VC_SPLIT_NONE, m->inner_norm_elements);
	put(list, VC_MODULE_O, VC_SPLIT_ROW, list->hidden, width);
}

typedef void put_mixer(struct list *list, const struct vc_mixer *mixer);

static put_mixer *const mixers[] = {
	[VC_MIXER_ATTENTION] = put_attention,
	[VC_MIXER_LATENT] = put_latent,
	[VC_MIXER_CROSS_ATTENTION] = put_attention,
	[VC_MIXER_MAMBA] = put_mamba,
	[VC_MIXER_MAMBA2] = put_mamba2,
	[VC_MIXER_GATED_DELTANET] = put_deltanet,
	[VC_MIXER_KIMI_DELTA] = put_kimi_delta,
	[VC_MIXER_SHORT_CONV] = put_short_conv,
	[VC_MIXER_LIGHTNING] = put_lightning,
	[VC_MIXER_RECURRENT] = NULL,
};

static void put_dense(struct list *list, const struct vc_ffn *f)
{
	uint64_t in = either(f->input_size, list->hidden);
	struct vc_tensor *tensor;

	if (f->type == VC_FFN_GATED && f->fused_gate_up) {
		tensor = put(list, VC_MODULE_GATE_UP, VC_SPLIT_COLUMN, sat_mul(2, f->size), in);
		tensor->bias = if_biased(f->up_bias, sat_mul(2, f->size));
	} else {
		tensor = put(list, VC_MODULE_UP, VC_SPLIT_COLUMN, f->size, in);
		tensor->bias = if_biased(f->up_bias, f->size);
		if (f->type == VC_FFN_GATED) {
			struct vc_tensor *gate =
			        put(list, VC_MODULE_GATE, VC_SPLIT_COLUMN, f->size, in);

			gate->bias = if_biased(f->up_bias, f->size);
		}
	}
	tensor = put(list, VC_MODULE_DOWN, VC_SPLIT_ROW, in, f->size);
	tensor->bias = if_biased(f->down_bias, in);
}

static void put_expert(struct list *list, const struct vc_ffn *f, enum vc_module module)
{
	bool down = module == VC_MODULE_EXPERT_DOWN;
	uint64_t in = either(f->input_size, list->hidden);
	uint64_t out = down ? in : f->size;
	struct vc_tensor *tensor =
	        put(list, module, down ? VC_SPLIT_EXPERT_ROW : VC_SPLIT_EXPERT_COLUMN, out,
	            down ? f->size : in);

	tensor->count = f->experts;
	tensor->active = f->experts_per_token;
	tensor->bias = if_biased(down ? f->down_bias : f->up_bias, out);
}

static void put_moe(struct list *list, const struct vc_ffn *f)
{
	struct vc_tensor *tensor =
	        put(list, VC_MODULE_ROUTER, VC_SPLIT_NONE, f->experts, list->hidden);

	tensor->linear = false;
	tensor->bias = if_biased(f->router_bias, f->experts);
	put_expert(list, f, VC_MODULE_EXPERT_UP);
	if (f->gated) {
		put_expert(list, f, VC_MODULE_EXPERT_GATE);
	}
	put_expert(list, f, VC_MODULE_EXPERT_DOWN);
	if (f->shared_size == 0) {
		return;
	}
	put(list, VC_MODULE_SHARED_UP, VC_SPLIT_COLUMN, f->shared_size, list->hidden);
	if (f->gated) {
		put(list, VC_MODULE_SHARED_GATE, VC_SPLIT_COLUMN, f->shared_size, list->hidden);
	}
	put(list, VC_MODULE_SHARED_DOWN, VC_SPLIT_ROW, list->hidden, f->shared_size);
	if (f->shared_gate) {
		put(list, VC_MODULE_ROUTER, VC_SPLIT_NONE, 1, list->hidden)->linear = false;
	}
}

static void put_norms(struct list *list, const struct vc_layer_kind *kind)
{
	uint64_t each = kind->norms ? kind->norm_elements / kind->norms : 0;

	if (each > 0 && each * kind->norms == kind->norm_elements) {
		put_vector(list, VC_MODULE_NORM, VC_SPLIT_NONE, each);
		list->tensors[list->count - 1].count = kind->norms;
	} else {
		put_vector(list, VC_MODULE_NORM, VC_SPLIT_NONE, kind->norm_elements);
	}
}

size_t vc_layer_tensors(const struct vc_layer_kind *kind, uint64_t hidden_size,
                        struct vc_tensor *tensors)
{
	struct list list = { .tensors = tensors, .hidden = hidden_size };

	for (uint32_t i = 0; i < kind->mixer_count; i++) {
		const struct vc_mixer *mixer = &kind->mixers[i];

		if (!mixer->weights_elsewhere && mixers[mixer->type]) {
			mixers[mixer->type](&list, mixer);
		}
	}
	for (uint32_t i = 0; i < kind->ffn_count; i++) {
		const struct vc_ffn *ffn = &kind->ffns[i];

		if (ffn->weights_elsewhere || ffn->type == VC_FFN_NONE) {
			continue;
		}
		if (ffn->type == VC_FFN_MOE) {
			put_moe(&list, ffn);
		} else {
			put_dense(&list, ffn);
		}
	}
	for (uint32_t i = 0; i < kind->odd_count; i++) {
		tensors[list.count++] = kind->odd[i];
	}
	put_norms(&list, kind);
	return list.count;
}
