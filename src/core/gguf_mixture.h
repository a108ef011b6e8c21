/*
 * llama.cpp's quantization mixtures, tensor by tensor: "q4_k_m" is not a number of bits but a rule
 * that looks at each tensor's role, its layer and the model. docs/llamacpp.md#gguf
 */
#ifndef VC_GGUF_MIXTURE_H
#define VC_GGUF_MIXTURE_H

#include "vramcalc/vramcalc.h"

struct gguf_format {
	enum vc_dtype dtype;                        /* of matrices, where there is no mixture */
	const struct vc_quantization *quantization; /* a mixture; NULL: none */
	bool expanded_latent;                       /* kv_b in one tensor, as before April 2025 */
	/* Fused queries, keys and values get the values' type, as since March 2026
	 * (github.com/ggml-org/llama.cpp/pull/19770); most published files are older. */
	bool fused_as_values;
};

struct gguf_weights {
	/* every tensor of the language model's file, without its header */
	uint64_t total_bytes;
	uint64_t embedding_bytes; /* token table, positions: llama.cpp leaves them in host memory */
	uint64_t output_bytes;    /* head and last norms; of tied models the table once more */
	uint64_t experts_bytes;   /* routed experts of all layers */
	uint64_t largest_bytes;   /* the largest single tensor of the layers */
	uint64_t largest_expert_bytes;
	bool tied;
	uint32_t layers;
	uint64_t layer_bytes[VC_MAX_LAYERS];
	uint64_t layer_experts_bytes[VC_MAX_LAYERS]; /* part of the former */
};

/* False: the quantization is not a mixture that llama.cpp knows. `out` saturates. */
bool gguf_weights(const struct vc_model *model, const struct gguf_format *format,
                  struct gguf_weights *out);

/* How far files of this label differ between publishers, in millionths. */
struct gguf_spread {
	uint32_t below, above;
};
struct gguf_spread gguf_spread(const struct vc_model *model,
                               const struct vc_quantization *quantization);

/* Bytes of the file beside the language model's: vision tower and projector in 16 bits. */
uint64_t gguf_vision_bytes(const struct vc_model *model);

#endif
