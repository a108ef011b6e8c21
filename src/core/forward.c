/*
 * Working memory of a forward pass. A gated feed-forward part holds gate and up (2f) and their
 * product (f) beside the hidden states that are alive around it. docs/serving.md#forward-pass
 */
#include "forward.h"

#include "sat.h"
#include "shard.h"

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void widen_ffn(struct forward_widths *widths, const struct vc_ffn *ffn,
                      const struct vc_parallelism *layout)
{
	uint64_t t = layout->tensor;

	if (ffn->type != VC_FFN_MOE) {
		widths->ffn = max_u64(widths->ffn, sat_div_up(ffn->size, t));
		widths->gated |= ffn->type == VC_FFN_GATED;
		return;
	}
	widths->gated |= ffn->gated;
	widths->expert =
	        max_u64(widths->expert, layout->expert > 1 ? ffn->size : sat_div_up(ffn->size, t));
	widths->experts_per_token = max_u64(widths->experts_per_token, ffn->experts_per_token);
	widths->shared_expert |= ffn->shared_size > 0;
	widths->ffn = max_u64(widths->ffn, sat_div_up(ffn->shared_size, t));
}

static void widen_mixer(struct forward_widths *widths, const struct vc_mixer *m, uint32_t t)
{
	uint64_t q, kv, v_dim = m->v_head_dim ? m->v_head_dim : m->head_dim;

	if (m->type == VC_MIXER_LATENT) {
		q = sat_mul(m->heads, sat_add(m->qk_nope_head_dim, m->qk_rope_head_dim));
		/* queries, keys of the same width, values padded to it, output */
		widths->attention = max_u64(widths->attention, sat_div_up(sat_mul(4, q), t));
		return;
	}
	q = sat_mul(m->heads, m->head_dim);
	kv = sat_mul(shard_kv_heads(m->kv_heads, t), sat_add(m->head_dim, v_dim));
	widths->attention = max_u64(widths->attention, sat_add(sat_div_up(sat_mul(2, q), t), kv));
}

struct forward_widths forward_widths(const struct vc_request *request)
{
	const struct vc_model *model = request->model;
	const struct vc_stack *stack = &model->stacks[model_main_stack(model)];
	struct forward_widths widths = { .hidden = stack->hidden_size, .vocab = model->vocab_size };

	for (uint32_t i = 0; i < stack->layers; i++) {
		const struct vc_layer_kind *kind = &model->kinds[stack->pattern[i]];

		if (i > 0 && stack->pattern[i] == stack->pattern[i - 1]) {
			continue;
		}
		for (uint32_t f = 0; f < kind->ffn_count; f++) {
			widen_ffn(&widths, &kind->ffns[f], &request->parallelism);
		}
		for (uint32_t m = 0; m < kind->mixer_count; m++) {
			widen_mixer(&widths, &kind->mixers[m], request->parallelism.tensor);
		}
	}
	return widths;
}

static uint64_t dense_width(const struct forward_widths *widths)
{
	return sat_mul(widths->gated ? 3 : 2, widths->ffn);
}

/* Experts: inputs of every chosen expert (gate and up) or outputs in one buffer, products in
 * another. vllm/model_executor/layers/fused_moe/fused_moe.py fused_experts_impl */
static uint64_t expert_bytes(const struct forward_widths *widths,
                             const struct forward_traits *traits, uint64_t tokens)
{
	uint64_t chunk = traits->expert_chunk && tokens > traits->expert_chunk
	                         ? traits->expert_chunk
	                         : tokens;
	uint64_t inner = sat_mul(widths->gated ? 2 : 1, widths->expert);
	uint64_t first = traits->expert_caches_separate ? sat_add(inner, widths->hidden)
	                                                : max_u64(inner, widths->hidden);
	uint64_t around = sat_mul3(tokens, widths->hidden, widths->shared_expert ? 4 : 3);

	return sat_mul(sat_add(around, sat_mul3(chunk, widths->experts_per_token,
	                                        sat_add(first, widths->expert))),
	               traits->element_bytes);
}

uint64_t forward_block_bytes(const struct forward_widths *widths,
                             const struct forward_traits *traits, uint64_t tokens)
{
	uint64_t around = sat_mul(traits->hidden_copies, widths->hidden);
	uint64_t width = sat_add(around, max_u64(dense_width(widths), widths->attention));
	uint64_t bytes = sat_mul3(tokens, width, traits->element_bytes);

	if (widths->experts_per_token == 0) {
		return bytes;
	}
	return max_u64(bytes, expert_bytes(widths, traits, tokens));
}
