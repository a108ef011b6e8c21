/* Working memory of a forward pass without gradients: what is alive at once in the widest part of a
 * block, in the experts' kernels, in a tower, and in a sampler. */
#ifndef VC_FORWARD_H
#define VC_FORWARD_H

#include "vramcalc/vramcalc.h"

/* Widths of a model as one tensor rank computes it. */
struct forward_widths {
	uint64_t hidden;
	uint64_t ffn;    /* widest dense feed-forward part, divided over ranks */
	uint64_t expert; /* width of one expert, divided; 0: no experts */
	uint64_t experts_per_token;
	bool shared_expert;
	bool gated;         /* gate and up beside each other */
	uint64_t attention; /* queries, keys, values and output of a token, divided */
	uint64_t vocab;
};

struct forward_widths forward_widths(const struct vc_request *request);

/* How a program keeps intermediate results. */
struct forward_traits {
	uint32_t hidden_copies;      /* residual, normed input, ...: alive in a feed-forward part */
	uint64_t expert_chunk;       /* tokens that the experts' kernel takes at once; 0: all */
	bool expert_caches_separate; /* both of its buffers at once */
	uint32_t element_bytes;
};

/* The widest moment of a block for `tokens` tokens, the BLAS workspace left out. */
uint64_t forward_block_bytes(const struct forward_widths *widths,
                             const struct forward_traits *traits, uint64_t tokens);

#endif
