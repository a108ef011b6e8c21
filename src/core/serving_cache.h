/* The cache of a paged engine on one rank: blocks of a pool, shared by groups of layers. */
#ifndef VC_SERVING_CACHE_H
#define VC_SERVING_CACHE_H

#include "serving_weights.h"

enum {
	MAX_CACHE_SPECS = VC_MAX_KINDS * VC_MAX_MIXERS
};

/* Where an encoder's tokens are kept. */
enum encoder_place {
	ENCODER_APART,   /* cross-attention layers cache them, and nothing else */
	ENCODER_IN_POOL, /* in slots of the pool, which every layer has */
	ENCODER_OUTSIDE  /* not cached: keys and values are made anew in each step */
};

/* How an engine pages. */
struct cache_traits {
	uint32_t block_tokens;    /* 16 in vLLM, 1 in SGLang */
	bool hybrid;              /* sliding and recurrent layers get pools of their own size */
	uint32_t latent_multiple; /* latent entries are padded to so many elements; 1: not */
	uint32_t sliding_ppm;     /* share of a pool's tokens that sliding layers hold; 0: all */
	enum encoder_place encoder;
	bool latent_expanded;                /* keys and values of every head are cached instead */
	uint32_t draft_layers, draft_tokens; /* speculative decoding */
	uint64_t max_num_batched_tokens;     /* a sliding layer also holds a step's new tokens */
};

/* Layers of the same cache shape. */
struct cache_spec {
	uint64_t layers;
	uint64_t token_bytes; /* of one layer */
	uint64_t window;      /* 0: all tokens */
	bool chunked;
	uint64_t encoder_tokens; /* cross-attention keeps these instead; 0: the sequence's */
	uint64_t state_bytes;    /* of one layer and sequence; then token_bytes is 0 */
};

struct serving_cache {
	struct cache_traits traits;
	uint32_t spec_count;
	struct cache_spec specs[MAX_CACHE_SPECS];
	uint64_t token_bytes;    /* over all layers, windows ignored */
	uint64_t encoder_tokens; /* of a sequence, where they are not kept apart */
	uint64_t pool_tokens;    /* of them, in the pool beside each sequence's own */
	uint64_t group_layers;   /* layers that one block of the pool serves */
	uint64_t page_bytes;     /* of one layer's block */
	uint64_t page_tokens;    /* of a full-attention layer's block */
};

void serving_cache_init(struct serving_cache *cache, const struct vc_request *request,
                        struct layer_range range, const struct cache_traits *traits);

/* Takes the states out of the paged cache, for engines that keep them elsewhere: what they take per
 * sequence. */
uint64_t serving_cache_remove_states(struct serving_cache *cache);

/* What `sequences` of `length` tokens take. */
uint64_t serving_cache_bytes(const struct serving_cache *cache, uint64_t length,
                             uint64_t sequences);

/* Tokens that a pool holds, as the engine counts them for requests of `length`. */
uint64_t serving_cache_tokens(const struct serving_cache *cache, uint64_t pool_bytes,
                              uint64_t length);

/* Thousandths of a request of `length` tokens that the pool holds. */
uint64_t serving_cache_concurrency_milli(const struct serving_cache *cache, uint64_t pool_bytes,
                                         uint64_t length);

#endif
