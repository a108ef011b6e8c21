/*
 * Keys, values and states. Sizes are those of vLLM 0.11 (vllm/v1/kv_cache_interface.py,
 * vllm/model_executor/layers/mamba/mamba_utils.py) and of transformers' cache_utils.py.
 * docs/formulas.md#kv-cache
 */
#include "cache.h"
#include "sat.h"

static uint64_t either(uint64_t value, uint64_t fallback)
{
	return value ? value : fallback;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Keys or values of `heads` heads of `dim`. */
static uint64_t head_bytes(const struct cache_format *format, enum vc_dtype dtype, uint64_t vectors,
                           uint64_t dim)
{
	uint64_t bytes = vc_dtype_bytes(dtype, sat_mul(vectors, dim));

	if (format->scales == CACHE_SCALES_HEAD) {
		return sat_add(bytes, sat_mul(4, vectors));
	}
	if (format->scales == CACHE_SCALES_GROUP) {
		return sat_add(bytes, sat_mul(4, sat_div_up(sat_mul(vectors, dim), 64)));
	}
	return bytes;
}

static uint64_t latent_bytes(const struct vc_mixer *m, const struct cache_format *format,
                             uint32_t tensor, uint64_t tokens)
{
	uint64_t qk = sat_add(m->qk_nope_head_dim, m->qk_rope_head_dim);
	uint64_t heads = sat_div_up(m->heads, either(tensor, 1));
	uint64_t bytes;

	if (format->latent == LATENT_EXPANDED) {
		return vc_dtype_bytes(format->dtype,
		                      sat_mul3(tokens, heads, sat_add(qk, m->v_head_dim)));
	}
	if (format->latent == LATENT_FP8_DS) {
		bytes = sat_mul(tokens, m->kv_lora_rank + 4 * sat_div_up(m->kv_lora_rank, 128) +
		                                2 * (uint64_t)m->qk_rope_head_dim);
	} else {
		bytes = vc_dtype_bytes(format->dtype, sat_mul(tokens, (uint64_t)m->kv_lora_rank +
		                                                              m->qk_rope_head_dim));
	}
	if (m->index_heads > 0) { /* fp8 keys of the indexer with a scale each */
		bytes = sat_add(bytes, sat_mul(tokens, (uint64_t)m->index_head_dim + 4));
	}
	return bytes;
}

uint64_t layer_token_bytes(const struct vc_mixer *m, const struct cache_format *format,
                           uint32_t tensor, uint64_t tokens)
{
	uint64_t vectors = sat_mul(tokens, shard_kv_heads(m->kv_heads, tensor));
	enum vc_dtype v_dtype = format->v_dtype ? format->v_dtype : format->dtype;

	if (m->type == VC_MIXER_LATENT) {
		return latent_bytes(m, format, tensor, tokens);
	}
	return sat_add(head_bytes(format, format->dtype, vectors, m->head_dim),
	               head_bytes(format, v_dtype, vectors, either(m->v_head_dim, m->head_dim)));
}

static bool keeps_keys(const struct vc_mixer *m)
{
	bool attends = m->type == VC_MIXER_ATTENTION || m->type == VC_MIXER_LATENT;

	return (attends && m->causal && !m->shares_kv) || m->type == VC_MIXER_CROSS_ATTENTION;
}

uint64_t layer_tokens(const struct vc_mixer *m, const struct cache_format *format)
{
	uint64_t tokens = format->tokens, reach = m->window;
	bool slides = m->window > 0 && !format->windows_ignored;

	if (slides && format->batched_tokens > 0) {
		reach = sat_add(reach, format->batched_tokens - (m->window_is_chunk ? 0 : 1));
	}
	tokens = slides ? least(tokens, reach) : tokens;
	if (m->cache_stride > 0) {
		tokens = sat_div_up(tokens, m->cache_stride);
	}
	if (format->block == 0) {
		return tokens;
	}
	tokens = sat_round_up(tokens, format->block);
	if (slides && format->batched_tokens > 0 && !m->window_is_chunk) {
		tokens = sat_add(tokens, format->block);
	}
	return tokens;
}

uint64_t cache_encoder_tokens(const struct vc_model *model, const struct cache_format *format)
{
	for (uint32_t i = 0; i < model->stack_count; i++) {
		if (model->stacks[i].role != VC_STACK_DECODER &&
		    model->stacks[i].fixed_tokens > 0) {
			return model->stacks[i].fixed_tokens;
		}
	}
	return either(format->encoder_tokens, format->tokens);
}

/* Elements that hold the last inputs of a convolution, and those of the recurrent state. */
struct state {
	uint64_t conv_channels, elements;
};

static struct state state_of(const struct vc_mixer *m, uint64_t hidden)
{
	uint64_t key = sat_mul(m->key_heads, m->key_head_dim);
	uint64_t value = sat_mul(m->value_heads, m->value_head_dim);
	uint64_t width = sat_mul(m->heads, m->head_dim);

	switch (m->type) {
	case VC_MIXER_MAMBA:
		return (struct state){ m->inner_size, sat_mul(m->inner_size, m->state_size) };
	case VC_MIXER_MAMBA2:
		return (struct state){ sat_add(m->inner_size,
			                       sat_mul3(2, m->groups, m->state_size)),
			               sat_mul(width, m->state_size) };
	case VC_MIXER_GATED_DELTANET:
		return (struct state){ sat_add(sat_mul(2, key), value),
			               sat_mul3(m->value_heads, m->key_head_dim,
			                        m->value_head_dim) };
	case VC_MIXER_KIMI_DELTA:
		return (struct state){ sat_mul(3, width), sat_mul(width, m->head_dim) };
	case VC_MIXER_SHORT_CONV:
		return (struct state){ hidden, 0 };
	case VC_MIXER_LIGHTNING:
		return (struct state){ 0, sat_mul(width, m->head_dim) };
	case VC_MIXER_RECURRENT:
		return (struct state){ 0, m->state_elements };
	default:
		return (struct state){ 0, 0 };
	}
}

uint64_t layer_state_bytes(const struct vc_mixer *m, uint64_t hidden,
                           const struct cache_format *format, uint32_t tensor)
{
	enum vc_dtype dtype = m->state_dtype ? m->state_dtype : format->state_dtype;
	struct state state = state_of(m, hidden);
	uint64_t columns = m->conv_kernel;
	uint64_t ranks = either(tensor, 1);

	if (columns > 0 && !format->whole_conv_window) {
		columns--;
	}
	return sat_add(vc_dtype_bytes(format->state_dtype,
	                              sat_mul(sat_div_up(state.conv_channels, ranks), columns)),
	               vc_dtype_bytes(dtype, sat_div_up(state.elements, ranks)));
}

/* One mixer of `layers` layers. */
static void add_mixer(const struct vc_mixer *m, const struct cache_format *format, uint32_t tensor,
                      uint64_t tokens, struct cache *each)
{
	if (!keeps_keys(m)) {
		return;
	}
	each->kv_bytes = sat_add(each->kv_bytes, layer_token_bytes(m, format, tensor, tokens));
	each->kv_layers = 1;
	if (m->type != VC_MIXER_CROSS_ATTENTION && (m->window == 0 || format->windows_ignored)) {
		each->token_bytes = sat_add(each->token_bytes,
		                            sat_div_up(layer_token_bytes(m, format, tensor, 1),
		                                       either(m->cache_stride, 1)));
	}
}

/* One layer of a kind, one sequence. */
static struct cache layer_cache(const struct vc_model *model, const struct vc_layer_kind *kind,
                                uint64_t hidden, const struct cache_format *format, uint32_t tensor)
{
	struct cache each = { 0 };

	for (uint32_t i = 0; i < kind->mixer_count; i++) {
		const struct vc_mixer *m = &kind->mixers[i];
		bool cross = m->type == VC_MIXER_CROSS_ATTENTION;
		uint64_t state = layer_state_bytes(m, hidden, format, tensor);

		add_mixer(m, format, tensor,
		          cross ? cache_encoder_tokens(model, format) : layer_tokens(m, format),
		          &each);
		each.state_bytes = sat_add(each.state_bytes, state);
		each.state_layers |= state > 0;
	}
	return each;
}

void cache_bytes(const struct vc_model *model, const struct cache_format *format,
                 const struct rank *rank, struct cache *out)
{
	uint32_t main = model_main_stack(model);
	const struct vc_stack *stack = &model->stacks[main];
	uint32_t counts[VC_MAX_KINDS];
	uint32_t kinds = model_kind_layers(stack, rank_range(model, main, rank), counts);

	*out = (struct cache){ 0 };
	for (uint32_t i = 0; i < kinds; i++) {
		struct cache each;

		if (counts[i] == 0) {
			continue;
		}
		each = layer_cache(model, &model->kinds[i], stack->hidden_size, format,
		                   rank->tensor);
		out->kv_bytes = sat_add(out->kv_bytes,
		                        sat_mul3(each.kv_bytes, counts[i], format->sequences));
		out->state_bytes = sat_add(
		        out->state_bytes, sat_mul3(each.state_bytes, counts[i], format->sequences));
		out->token_bytes = sat_add(out->token_bytes, sat_mul(each.token_bytes, counts[i]));
		out->kv_layers += each.kv_layers * counts[i];
		out->state_layers += each.state_layers * counts[i];
	}
}
