/* Dense decoders: shapes from huggingface/transformers, src/transformers/models/. */
#include "decoder.h"

const struct family dense_families[] = {
	{ "llama", .decoder = { .qkv_bias_key = "attention_bias",
	                        .o_bias_key = "attention_bias",
	                        .ffn_bias_key = "mlp_bias" } },
	{ "mistral", .decoder = { .slides = slides_always } },
	{ "qwen2", .decoder = { .qkv_bias = true } },
	{ "qwen3", .decoder = { .qk_norm = QK_NORM_HEAD, .qkv_bias_key = "attention_bias" } },
	{ .model_type = NULL },
};
