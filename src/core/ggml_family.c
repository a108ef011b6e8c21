/*
 * What llama.cpp's graph of each architecture has that a model's shape does not tell: one row per
 * model_type, read in github.com/ggml-org/llama.cpp, src/models/.
 */
#include "ggml_block.h"

#include "text.h"

static const struct ggml_family families[] = {
	{ .model_type = "llama", .normalizes_chosen = true },
	{ .model_type = "mistral", .full_window = true },
	{ .model_type = "mixtral", .normalizes_chosen = true, .full_window = true },
	{ .model_type = "qwen2", .full_window = true },
	{ .model_type = "qwen2_moe", .full_window = true },
	{ .model_type = "qwen3", .full_window = true },
	{ .model_type = "qwen3_moe", .full_window = true, .normalizes_chosen = true },
	{ .model_type = "qwen3_next", .outputs = OUTPUTS_AFTER_NORM, .normalizes_chosen = true },
	{ .model_type = "qwen3_5", .outputs = OUTPUTS_AFTER_NORM },
	{ .model_type = "qwen3_5_text", .outputs = OUTPUTS_AFTER_NORM },
	{ .model_type = "qwen3_5_moe", .outputs = OUTPUTS_AFTER_NORM, .normalizes_chosen = true },
	{ .model_type = "qwen3_5_moe_text",
	  .outputs = OUTPUTS_AFTER_NORM,
	  .normalizes_chosen = true },
	{ .model_type = "gemma", .scales_embedding = true, .scales_queries = true },
	{ .model_type = "gemma2",
	  .post_norms = true,
	  .scales_embedding = true,
	  .scales_queries = true,
	  .caps_scores = true,
	  .caps_logits = true },
	{ .model_type = "gemma3",
	  .post_norms = true,
	  .scales_embedding = true,
	  .scales_queries = true },
	{ .model_type = "gemma3_text",
	  .post_norms = true,
	  .scales_embedding = true,
	  .scales_queries = true },
	{ .model_type = "phi",
	  .order = ORDER_PARALLEL_PHI,
	  .layer_norm = true,
	  .scales_queries = true },
	{ .model_type = "phi3",
	  .scales_queries = true,
	  .residual_first = true,
	  .full_window = true },
	{ .model_type = "gpt_neox", .order = ORDER_PARALLEL_NEOX, .layer_norm = true },
	{ .model_type = "falcon", .order = ORDER_PARALLEL_FALCON, .layer_norm = true },
	{ .model_type = "gpt2", .layer_norm = true },
	{ .model_type = "gpt_bigcode", .layer_norm = true },
	{ .model_type = "bloom", .layer_norm = true },
	{ .model_type = "mpt", .layer_norm = true },
	{ .model_type = "starcoder2", .layer_norm = true, .full_window = true },
	{ .model_type = "stablelm", .layer_norm = true },
	{ .model_type = "cohere",
	  .order = ORDER_PARALLEL,
	  .layer_norm = true,
	  .scales_logits = true },
	{ .model_type = "cohere2",
	  .order = ORDER_PARALLEL,
	  .layer_norm = true,
	  .scales_logits = true,
	  .rotary_in_windows = true },
	{ .model_type = "glm4", .post_norms = true },
	{ .model_type = "glm4_moe", .normalizes_chosen = true, .biases_choice = true },
	{ .model_type = "olmo2", .post_norms = true, .no_pre_norms = true, .norm_all_heads = true },
	{ .model_type = "olmo3", .post_norms = true, .no_pre_norms = true, .norm_all_heads = true },
	{ .model_type = "olmoe", .norm_all_heads = true },
	{ .model_type = "minimax_m2",
	  .norm_all_heads = true,
	  .normalizes_chosen = true,
	  .biases_choice = true },
	{ .model_type = "granite", .scales_embedding = true, .scales_logits = true },
	{ .model_type = "granitemoe",
	  .scales_embedding = true,
	  .scales_logits = true,
	  .normalizes_chosen = true },
	{ .model_type = "granitemoehybrid",
	  .scales_embedding = true,
	  .scales_logits = true,
	  .scales_residual = true,
	  .normalizes_chosen = true },
	{ .model_type = "nemotron_h", .scales_residual = true },
	/* published before llama.cpp stored latents (April 2025) */
	{ .model_type = "deepseek_v2", .expanded_latent = true },
	{ .model_type = "deepseek_v3", .normalizes_chosen = true, .biases_choice = true },
	{ .model_type = "kimi_k2", .normalizes_chosen = true, .biases_choice = true },
	{ .model_type = "gpt_oss",
	  .outputs = OUTPUTS_AFTER_LAYERS,
	  .softmax_chosen = true,
	  .mxfp4_experts = true },
};

const struct ggml_family *ggml_family_of(const struct vc_model *model)
{
	for (uint32_t i = 0; i < sizeof families / sizeof families[0]; i++) {
		if (vc_same_name(families[i].model_type, model->family)) {
			return &families[i];
		}
	}
	return &families[0];
}
