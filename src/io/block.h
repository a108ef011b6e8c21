/* A plain transformer layer: what encoders, towers and encoder-decoders are stacks of. */
#ifndef VC_BLOCK_H
#define VC_BLOCK_H

#include "family.h"

struct block {
	uint64_t hidden, heads, kv_heads, head_dim, ffn; /* kv_heads 0: heads; head_dim 0: derive */
	enum norm_style norm;
	uint32_t norms; /* 0: 2, one more with cross-attention */
	bool q_bias, k_bias, v_bias, o_bias, ffn_bias;
	bool no_up_bias; /* ffn_bias is for the second layer only */
	bool fused_qkv, gated, fused_gate_up;
	bool causal, cross;
	uint64_t cross_size;  /* width of what cross-attention reads; 0: hidden */
	uint64_t window;      /* 0: all tokens */
	uint64_t inner_norms; /* elements of norms on queries and keys */
	uint64_t odd;         /* elements of further vectors: layer scales, gates, tables */
};

/* With biases on every projection, as most encoders have them. */
#define BLOCK_ALL_BIASES                                                                           \
	.q_bias = true, .k_bias = true, .v_bias = true, .o_bias = true, .ffn_bias = true

void block_kind(const struct block *block, struct vc_layer_kind *kind);
/* Appends `layers` equal ones. */
void config_blocks(struct config *config, uint32_t stack, const struct block *block,
                   uint64_t layers);
/* Saturating: what overflows is refused when the model is counted. */
uint64_t times(uint64_t a, uint64_t b);
uint64_t plus(uint64_t a, uint64_t b);
/* 0 for a divisor of 0, which an error has left behind. */
uint64_t quotient(uint64_t a, uint64_t b);
/* Elements of Linear(in, out) with a bias. */
uint64_t linear_elements(uint64_t in, uint64_t out);
/* A linear outside the layers, in x out with a bias or without. */
struct vc_extra *config_linear(struct config *config, uint32_t stack, enum vc_module module,
                               uint64_t in, uint64_t out, bool bias);
/* An extra of any number of elements: tokens, norms, scales, small heads. */
struct vc_extra *config_elements(struct config *config, uint32_t stack, enum vc_module module,
                                 uint64_t elements);

#endif
