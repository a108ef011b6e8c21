#include "block.h"

#include <string.h>

static void set_attention(const struct block *block, struct vc_mixer *mixer)
{
	mixer->type = VC_MIXER_ATTENTION;
	mixer->heads = (uint32_t)block->heads;
	mixer->kv_heads = (uint32_t)(block->kv_heads ? block->kv_heads : block->heads);
	mixer->head_dim = (uint32_t)block->head_dim;
	if (block->head_dim == 0 && block->heads > 0) {
		mixer->head_dim = (uint32_t)(block->hidden / block->heads);
	}
	mixer->q_bias = block->q_bias;
	mixer->k_bias = block->k_bias;
	mixer->v_bias = block->v_bias;
	mixer->o_bias = block->o_bias;
	mixer->causal = block->causal;
}

void block_kind(const struct block *block, struct vc_layer_kind *kind)
{
	struct vc_mixer *self = &kind->mixers[0], *cross = &kind->mixers[1];
	struct vc_ffn *ffn = &kind->ffns[0];

	memset(kind, 0, sizeof *kind);
	set_attention(block, self);
	self->fused_qkv = block->fused_qkv;
	self->window = block->window;
	self->inner_norm_elements = block->inner_norms;
	kind->mixer_count = 1;
	if (block->cross) {
		set_attention(block, cross);
		cross->type = VC_MIXER_CROSS_ATTENTION;
		cross->kv_input_size = block->cross_size;
		kind->mixer_count = 2;
	}
	ffn->type = block->gated ? VC_FFN_GATED : VC_FFN_DENSE;
	ffn->size = block->ffn;
	ffn->up_bias = block->ffn_bias && !block->no_up_bias;
	ffn->down_bias = block->ffn_bias;
	ffn->fused_gate_up = block->fused_gate_up;
	kind->ffn_count = block->ffn > 0;
	kind->norms = block->norms ? block->norms : (block->cross ? 3 : 2);
	kind->norm_elements = kind->norms * norm_size(block->norm, block->hidden);
	if (block->odd > 0) {
		kind->odd[0].module = VC_MODULE_OTHER;
		kind->odd[0].out = block->odd;
		kind->odd[0].in = 1;
		kind->odd[0].count = 1;
		kind->odd_count = 1;
	}
}

void config_blocks(struct config *config, uint32_t stack, const struct block *block,
                   uint64_t layers)
{
	struct vc_layer_kind kind;

	block_kind(block, &kind);
	for (uint64_t i = 0; i < layers && !config_failed(config); i++) {
		config_layer(config, stack, &kind);
	}
}

uint64_t times(uint64_t a, uint64_t b)
{
	return b > 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

uint64_t plus(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

uint64_t quotient(uint64_t a, uint64_t b)
{
	return b > 0 ? a / b : 0;
}

uint64_t linear_elements(uint64_t in, uint64_t out)
{
	return plus(times(in, out), out);
}

struct vc_extra *config_linear(struct config *config, uint32_t stack, enum vc_module module,
                               uint64_t in, uint64_t out, bool bias)
{
	struct vc_extra *extra = config_extra(config, stack, module, out, in);

	extra->tensor.bias = bias ? out : 0;
	return extra;
}

struct vc_extra *config_elements(struct config *config, uint32_t stack, enum vc_module module,
                                 uint64_t elements)
{
	return config_extra(config, stack, module, elements, 1);
}
