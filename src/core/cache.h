/* Bytes of keys, values and recurrent states that one rank holds. */
#ifndef VC_CACHE_H
#define VC_CACHE_H

#include "shard.h"

enum latent_cache {
	LATENT_ABSORBED, /* the latent and the rotary key, once for all heads (vLLM, SGLang) */
	LATENT_EXPANDED, /* keys and values of every head (transformers) */
	LATENT_FP8_DS    /* vLLM's fp8_ds_mla: fp8 latent, fp32 scales per 128, bf16 rotary key */
};

enum cache_scales {
	CACHE_SCALES_NONE, /* or inside the element type, as ggml has them */
	CACHE_SCALES_HEAD, /* fp16 scale and zero per token and head (LMDeploy) */
	CACHE_SCALES_GROUP /* fp16 scale and zero per 64 elements (transformers' QuantizedCache) */
};

struct cache_format {
	uint64_t tokens, sequences;
	uint64_t encoder_tokens;   /* that cross-attention reads; 0: the encoder's own, or tokens */
	enum vc_dtype dtype;       /* of keys and values */
	enum vc_dtype state_dtype; /* of states, where the model does not say */
	enum vc_dtype v_dtype;     /* of values alone; NONE: dtype */
	uint64_t block;            /* tokens of a page; 0: none */
	uint64_t batched_tokens;   /* a paged engine keeps a window and one step's tokens; 0: no */
	bool windows_ignored;      /* sliding layers keep every token */
	bool whole_conv_window;    /* convolution states keep all columns, not one less (HF) */
	enum latent_cache latent;
	enum cache_scales scales;
};

struct cache {
	uint64_t kv_bytes;    /* keys and values, latents, indexer keys */
	uint64_t state_bytes; /* recurrent and convolution states: constant in tokens */
	uint64_t token_bytes; /* what one more token of one sequence takes when windows are full */
	uint32_t kv_layers, state_layers; /* of this rank */
};

/* `out` saturates at UINT64_MAX on overflow: check with sat_ok(). */
void cache_bytes(const struct vc_model *model, const struct cache_format *format,
                 const struct rank *rank, struct cache *out);

/* Of one layer, for `tokens` of one sequence, on a rank; pages and windows left out. */
uint64_t layer_token_bytes(const struct vc_mixer *mixer, const struct cache_format *format,
                           uint32_t tensor, uint64_t tokens);

/* Recurrent and convolution state of one layer and sequence on a rank. */
uint64_t layer_state_bytes(const struct vc_mixer *mixer, uint64_t hidden,
                           const struct cache_format *format, uint32_t tensor);

/* Tokens of an encoder whose keys and values cross-attention keeps. */
uint64_t cache_encoder_tokens(const struct vc_model *model, const struct cache_format *format);

/* Tokens for which a layer keeps keys and values, whole pages. */
uint64_t layer_tokens(const struct vc_mixer *mixer, const struct cache_format *format);

#endif
