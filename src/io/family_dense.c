/*
 * Dense decoders. Shapes from huggingface/transformers, src/transformers/models/, and, for those
 * that bring their own code, from the modeling files beside their weights on the Hub.
 */
#include "decoder.h"

#include <string.h>

/* ---- What single families do differently */

/* GPT-2's later kin share one key and value head. */
static void facts_multi_query(struct config *config, struct decoder *d)
{
	if (config_flag_or(config, "multi_query", true)) {
		d->kv_heads = 1;
	}
}

/* Falcon-7B: one head; Falcon-40B: num_kv_heads; Falcon-RW: as many as queries. The 7B block is
 * parallel with one norm, the new one has two. */
static void facts_falcon(struct config *config, struct decoder *d)
{
	bool new_block = config_flag_or(config, "new_decoder_architecture",
	                                config_item(config, "n_head_kv") != NULL);

	if (!new_block) {
		d->kv_heads = config_flag_or(config, "multi_query", true) ? 1 : d->heads;
	}
}

static void base_falcon(struct config *config, struct decoder *d)
{
	bool new_block = config_flag_or(config, "new_decoder_architecture",
	                                config_item(config, "n_head_kv") != NULL);
	bool parallel = config_flag_or(config, "parallel_attn", true);
	bool two =
	        new_block ? config_number_or(config, "num_ln_in_parallel_attn", 2) == 2 : !parallel;

	d->base.norms = two ? 2 : 1;
	d->base.norm_elements = d->base.norms * 2 * d->hidden;
}

/* A block in which attention and feed-forward run side by side has one norm. */
static void base_parallel(struct config *config, struct decoder *d)
{
	if (config_flag_or(config, "use_parallel_residual", false)) {
		d->base.norms = 1;
		d->base.norm_elements = 2 * d->hidden;
	}
}

/* HyperCLOVA X: norms behind both sublayers too. */
static void base_post_norm(struct config *config, struct decoder *d)
{
	if (config_flag_or(config, "use_post_norm", false)) {
		d->base.norms = 4;
		d->base.norm_elements = 4 * d->hidden;
	}
}

/* Qwen2: the layers from max_window_layers on slide, once use_sliding_window says so. */
static void facts_qwen2(struct config *config, struct decoder *d)
{
	if (!config_flag_or(config, "use_sliding_window", false)) {
		d->window = 0;
	}
	d->period = config_number_or(config, "max_window_layers", d->layers);
}

static bool slides_from_period_on(const struct decoder *d, uint32_t layer)
{
	return layer >= d->period;
}

/* The layer that comes after those that `names` describe. */
static uint32_t append_types(struct decoder *d, uint32_t layer, const cJSON *names)
{
	const cJSON *name;

	cJSON_ArrayForEach(name, names)
	{
		bool local = cJSON_IsString(name) && strcmp(name->valuestring, "local") == 0;

		if (layer < d->layers) {
			d->types[layer++] = local ? LAYER_SLIDING : LAYER_FULL;
		}
	}
	return layer;
}

/* GPT-Neo: "attention_types": [[["global", "local"], 12]] */
static void facts_gpt_neo(struct config *config, struct decoder *d)
{
	const cJSON *run;
	uint32_t layer = 0;

	d->window = config_number_or(config, "window_size", 256);
	cJSON_ArrayForEach(run, config_list(config, "attention_types", 0))
	{
		const cJSON *times = cJSON_GetArrayItem(run, 1);
		uint64_t repeats;

		if (!json_count(times, &repeats) || repeats > d->layers) {
			config_fail(config, "attention_types",
			            "is not a list of [names, repeats] for %d layers",
			            (int)d->layers);
			return;
		}
		for (; repeats > 0; repeats--) {
			layer = append_types(d, layer, cJSON_GetArrayItem(run, 0));
		}
	}
}

/* OPT: word embeddings may be narrower, then two projections lead in and out. */
static void extras_opt(struct config *config, const struct decoder *d)
{
	struct vc_model *model = config->model;
	uint64_t width = config_count_or(config, "word_embed_proj_dim", d->hidden);

	if (width == d->hidden) {
		return;
	}
	for (uint32_t i = 0; i < model->extra_count; i++) {
		struct vc_tensor *tensor = &model->extras[i].tensor;

		if (tensor->module == VC_MODULE_EMBEDDING || tensor->module == VC_MODULE_LM_HEAD) {
			tensor->in = width;
		}
	}
	config_extra(config, d->stack, VC_MODULE_PROJECTOR, d->hidden, width);
	config_extra_last(config, d->stack, VC_MODULE_PROJECTOR, width, d->hidden);
}

/* OPT-350m norms after its sublayers and has no last norm. */
static void base_opt(struct config *config, struct decoder *d)
{
	if (!config_flag_or(config, "layer_norm_elementwise_affine", true)) {
		d->base.norms = 0;
		d->base.norm_elements = 0;
	}
}

static bool final_norm_opt(const struct config *config)
{
	struct config copy = *config;

	return config_flag_or(&copy, "do_layer_norm_before", true) &&
	       config_flag_or(&copy, "layer_norm_elementwise_affine", true);
}

static bool final_norm_never(const struct config *config)
{
	(void)config;
	return false;
}

static void facts_mpt(struct config *config, struct decoder *d)
{
	d->ffn_size = d->hidden * config_count_or(config, "expansion_ratio", 4);
}

/* ChatGLM2 and its kin: multi_query_group_num counts only with multi_query_attention. */
static void facts_chatglm(struct config *config, struct decoder *d)
{
	if (!config_flag_or(config, "multi_query_attention", false)) {
		d->kv_heads = d->heads;
	}
}

/* Qwen (the first): its intermediate_size spans gate and up. */
static void facts_qwen(struct config *config, struct decoder *d)
{
	(void)config;
	d->ffn_size /= 2;
}

const struct family dense_families[] = {
	/* gate-up-down, RMS norms, rotary positions */
	{ "llama", .decoder = { .qkv_bias_key = "attention_bias",
	                        .o_bias_key = "attention_bias",
	                        .ffn_bias_key = "mlp_bias" } },
	{ "mistral", .decoder = { .slides = slides_always } },
	{ "ministral", .decoder = { .slides = slides_always } },
	{ "ministral3", .decoder = { .slides = slides_always } },
	{ "Yi", .decoder = { .norm = NORM_RMS } },
	{ "yi", .decoder = { .norm = NORM_RMS } },
	{ "aquila", .decoder = { .norm = NORM_RMS } },
	{ "xverse", .decoder = { .norm = NORM_RMS } },
	{ "baichuan", .decoder = { .fused_qkv = true } },
	{ "internlm", .decoder = { .qkv_bias_key = "bias", .o_bias_key = "bias" } },
	{ "internlm2",
	  .decoder = { .fused_qkv = true, .qkv_bias_key = "bias", .o_bias_key = "bias" } },
	{ "internlm3",
	  .decoder = { .qkv_bias_key = "qkv_bias", .o_bias_key = "bias", .ffn_bias_key = "bias" } },
	{ "granite", .decoder = { .qkv_bias_key = "attention_bias",
	                          .o_bias_key = "attention_bias",
	                          .ffn_bias_key = "mlp_bias" } },
	{ "smollm3", .decoder = { .tied = true,
	                          .qkv_bias_key = "attention_bias",
	                          .o_bias_key = "attention_bias",
	                          .ffn_bias_key = "mlp_bias" } },
	{ "helium", .decoder = { .qkv_bias_key = "attention_bias", .ffn_bias_key = "mlp_bias" } },
	{ "hyperclovax", .decoder = { .qkv_bias_key = "attention_bias",
	                              .o_bias_key = "attention_bias",
	                              .ffn_bias_key = "mlp_bias",
	                              .base = base_post_norm } },
	{ "seed_oss", .decoder = { .qkv_bias_key = "attention_bias",
	                           .o_bias_key = "attention_out_bias",
	                           .ffn_bias_key = "mlp_bias" } },
	{ "ernie4_5", .decoder = { .tied = true,
	                           .qkv_bias_key = "use_bias",
	                           .o_bias_key = "use_bias",
	                           .ffn_bias_key = "use_bias" } },
	{ "hunyuan_v1_dense", .decoder = { .qk_norm = QK_NORM_HEAD,
	                                   .qkv_bias_key = "attention_bias",
	                                   .o_bias_key = "attention_bias" } },
	{ "minicpm", .decoder = { .tied = true } },
	{ "exaone", .decoder = { .norm = NORM_RMS } },
	{ "exaone4",
	  .decoder = { .qk_norm = QK_NORM_HEAD, .period = 4, .slides = slides_but_every_nth } },
	{ "qwen", .decoder = { .fused_qkv = true, .qkv_bias = true, .facts = facts_qwen } },
	{ "qwen2",
	  .decoder = { .qkv_bias = true, .facts = facts_qwen2, .slides = slides_from_period_on } },
	{ "qwen3", .decoder = { .qk_norm = QK_NORM_HEAD,
	                        .qkv_bias_key = "attention_bias",
	                        .o_bias_key = "attention_bias",
	                        .facts = facts_qwen2,
	                        .slides = slides_from_period_on } },
	{ "phi3",
	  .decoder = { .fused_qkv = true, .fused_gate_up = true, .slides = slides_always } },
	{ "gemma", .decoder = { .tied = true,
	                        .qkv_bias_key = "attention_bias",
	                        .o_bias_key = "attention_bias" } },
	{ "gemma2", .decoder = { .tied = true,
	                         .norms = 4,
	                         .qkv_bias_key = "attention_bias",
	                         .o_bias_key = "attention_bias",
	                         .period = 2,
	                         .slides = slides_but_every_nth } },
	{ "vaultgemma", .decoder = { .tied = true, .period = 2, .slides = slides_but_every_nth } },
	{ "gemma3_text", .decoder = { .tied = true,
	                              .norms = 4,
	                              .qk_norm = QK_NORM_HEAD,
	                              .qkv_bias_key = "attention_bias",
	                              .o_bias_key = "attention_bias",
	                              .period = 6,
	                              .slides = slides_but_every_nth } },
	{ "glm", .decoder = { .fused_gate_up = true,
	                      .qkv_bias = true,
	                      .qkv_bias_key = "attention_bias" } },
	{ "glm4", .decoder = { .norms = 4,
	                       .fused_gate_up = true,
	                       .qkv_bias = true,
	                       .qkv_bias_key = "attention_bias" } },
	{ "chatglm", .decoder = { .fused_qkv = true,
	                          .fused_gate_up = true,
	                          .qkv_bias_key = "add_qkv_bias",
	                          .o_bias_key = "add_bias_linear",
	                          .ffn_bias_key = "add_bias_linear",
	                          .facts = facts_chatglm } },
	{ "olmo", .decoder = { .norm = NORM_NONE,
	                       .qkv_bias_key = "attention_bias",
	                       .o_bias_key = "attention_bias" } },
	{ "olmo2", .decoder = { .qk_norm = QK_NORM_HEADS,
	                        .qkv_bias_key = "attention_bias",
	                        .o_bias_key = "attention_bias" } },
	{ "olmo3", .decoder = { .qk_norm = QK_NORM_HEADS,
	                        .qkv_bias_key = "attention_bias",
	                        .o_bias_key = "attention_bias",
	                        .period = 4,
	                        .slides = slides_but_every_nth } },
	{ "cwm", .decoder = { .slides = slides_but_every_nth, .period = 4 } },
	{ "nanochat", .decoder = { .norm = NORM_NONE, .plain_ffn = true } },
	/* gate-up-down, LayerNorm */
	{ "stablelm", .decoder = { .norm = NORM_LAYER,
	                           .qkv_bias_key = "use_qkv_bias",
	                           .qk_norm = QK_NORM_HEADS,
	                           .qk_norm_key = "qk_layernorm",
	                           .base = base_parallel } },
	{ "cohere", .decoder = { .norm = NORM_LAYER_PLAIN,
	                         .norms = 1,
	                         .tied = true,
	                         .qk_norm = QK_NORM_HEADS,
	                         .qk_norm_key = "use_qk_norm",
	                         .qkv_bias_key = "attention_bias",
	                         .o_bias_key = "attention_bias" } },
	{ "cohere2", .decoder = { .norm = NORM_LAYER_PLAIN,
	                          .norms = 1,
	                          .tied = true,
	                          .qkv_bias_key = "attention_bias",
	                          .o_bias_key = "attention_bias",
	                          .period = 4,
	                          .slides = slides_but_every_nth } },
	{ "orion", .decoder = { .norm = NORM_LAYER } },
	/* up-down */
	{ "arcee", .decoder = { .plain_ffn = true,
	                        .qkv_bias_key = "attention_bias",
	                        .o_bias_key = "attention_bias",
	                        .ffn_bias_key = "mlp_bias" } },
	{ "nemotron", .decoder = { .norm = NORM_LAYER,
	                           .plain_ffn = true,
	                           .qkv_bias_key = "attention_bias",
	                           .o_bias_key = "attention_bias",
	                           .ffn_bias_key = "mlp_bias" } },
	{ "jais2", .decoder = { .norm = NORM_LAYER,
	                        .plain_ffn = true,
	                        .qkv_bias_key = "attention_bias",
	                        .o_bias_key = "attention_bias",
	                        .ffn_bias_key = "mlp_bias" } },
	{ "phi", .decoder = { .norm = NORM_LAYER,
	                      .norms = 1,
	                      .plain_ffn = true,
	                      .qkv_bias = true,
	                      .o_bias = true,
	                      .ffn_bias = true,
	                      .head_bias = true,
	                      .qk_norm = QK_NORM_HEAD_BIAS,
	                      .qk_norm_key = "qk_layernorm" } },
	{ "falcon", .decoder = { .norm = NORM_LAYER,
	                         .plain_ffn = true,
	                         .tied = true,
	                         .fused_qkv = true,
	                         .qkv_bias_key = "bias",
	                         .o_bias_key = "bias",
	                         .ffn_bias_key = "bias",
	                         .facts = facts_falcon,
	                         .base = base_falcon } },
	{ "gpt2", .decoder = { .norm = NORM_LAYER,
	                       .plain_ffn = true,
	                       .tied = true,
	                       .qkv_bias = true,
	                       .o_bias = true,
	                       .ffn_bias = true,
	                       .fused_qkv = true,
	                       .learned_positions = true,
	                       .positions = 1024 } },
	{ "gpt_bigcode", .decoder = { .norm = NORM_LAYER,
	                              .plain_ffn = true,
	                              .tied = true,
	                              .qkv_bias = true,
	                              .o_bias = true,
	                              .ffn_bias = true,
	                              .fused_qkv = true,
	                              .learned_positions = true,
	                              .positions = 1024,
	                              .facts = facts_multi_query } },
	{ "gpt_neo", .decoder = { .norm = NORM_LAYER,
	                          .plain_ffn = true,
	                          .tied = true,
	                          .o_bias = true,
	                          .ffn_bias = true,
	                          .learned_positions = true,
	                          .positions = 2048,
	                          .facts = facts_gpt_neo } },
	{ "gptj", .decoder = { .norm = NORM_LAYER,
	                       .norms = 1,
	                       .plain_ffn = true,
	                       .ffn_bias = true,
	                       .head_bias = true } },
	{ "codegen", .decoder = { .norm = NORM_LAYER,
	                          .norms = 1,
	                          .plain_ffn = true,
	                          .fused_qkv = true,
	                          .ffn_bias = true,
	                          .head_bias = true } },
	{ "gpt_neox", .decoder = { .norm = NORM_LAYER,
	                           .plain_ffn = true,
	                           .fused_qkv = true,
	                           .qkv_bias = true,
	                           .qkv_bias_key = "attention_bias",
	                           .o_bias = true,
	                           .o_bias_key = "attention_bias",
	                           .ffn_bias = true } },
	{ "opt", .decoder = { .norm = NORM_LAYER,
	                      .plain_ffn = true,
	                      .tied = true,
	                      .qkv_bias = true,
	                      .qkv_bias_key = "enable_bias",
	                      .o_bias = true,
	                      .o_bias_key = "enable_bias",
	                      .ffn_bias = true,
	                      .ffn_bias_key = "enable_bias",
	                      .learned_positions = true,
	                      .positions = 2048,
	                      .position_offset = 2,
	                      .final_norm = final_norm_opt,
	                      .base = base_opt,
	                      .extras = extras_opt } },
	{ "bloom", .decoder = { .norm = NORM_LAYER,
	                        .plain_ffn = true,
	                        .tied = true,
	                        .fused_qkv = true,
	                        .qkv_bias = true,
	                        .o_bias = true,
	                        .ffn_bias = true,
	                        .no_rotary = true,
	                        .embedding_norm = true } },
	{ "mpt", .decoder = { .norm = NORM_LAYER_PLAIN,
	                      .plain_ffn = true,
	                      .tied = true,
	                      .fused_qkv = true,
	                      .no_rotary = true,
	                      .facts = facts_mpt } },
	{ "starcoder2", .decoder = { .norm = NORM_LAYER,
	                             .plain_ffn = true,
	                             .tied = true,
	                             .qkv_bias = true,
	                             .qkv_bias_key = "use_bias",
	                             .o_bias = true,
	                             .o_bias_key = "use_bias",
	                             .ffn_bias = true,
	                             .ffn_bias_key = "use_bias",
	                             .slides = slides_always } },
	{ "persimmon", .decoder = { .norm = NORM_LAYER,
	                            .plain_ffn = true,
	                            .fused_qkv = true,
	                            .qkv_bias = true,
	                            .o_bias = true,
	                            .ffn_bias = true,
	                            .qk_norm = QK_NORM_HEAD_BIAS,
	                            .qk_norm_key = "qk_layernorm" } },
	{ "biogpt", .decoder = { .norm = NORM_LAYER,
	                         .plain_ffn = true,
	                         .tied = true,
	                         .qkv_bias = true,
	                         .o_bias = true,
	                         .ffn_bias = true,
	                         .learned_positions = true,
	                         .positions = 1024,
	                         .position_offset = 2 } },
	{ "xglm", .decoder = { .norm = NORM_LAYER,
	                       .plain_ffn = true,
	                       .tied = true,
	                       .qkv_bias = true,
	                       .o_bias = true,
	                       .ffn_bias = true,
	                       .no_rotary = true } },
	{ "openai-gpt", .decoder = { .norm = NORM_LAYER,
	                             .plain_ffn = true,
	                             .tied = true,
	                             .qkv_bias = true,
	                             .o_bias = true,
	                             .ffn_bias = true,
	                             .fused_qkv = true,
	                             .learned_positions = true,
	                             .final_norm = final_norm_never } },
	{ .model_type = NULL },
};
