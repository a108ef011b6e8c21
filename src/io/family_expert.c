/*
 * Decoders with experts and ordinary attention. Shapes from huggingface/transformers,
 * src/transformers/models/. Correction biases of routers count: checkpoints hold them, although
 * some modules keep them as buffers.
 */
#include "decoder.h"

#include <string.h>

/* Llama 4: three layers of four attend within chunks; dense layers are wider than an expert. */
static void facts_llama4(struct config *config, struct decoder *d)
{
	d->expert_size = config_count(config, "intermediate_size");
	d->shared_size = d->expert_size;
	d->ffn_size = config_count_or(config, "intermediate_size_mlp", d->expert_size);
	for (uint32_t i = 0; i < d->layers && d->window > 0; i++) {
		d->types[i] = (i + 1) % 4 == 0 ? LAYER_FULL : LAYER_CHUNKED;
	}
}

static bool has_experts_llama4(struct config *config, const struct decoder *d, uint32_t layer)
{
	const cJSON *list = config_list(config, "moe_layers", 0), *item;
	uint64_t step = config_count_or(config, "interleave_moe_layer_step", 1);

	(void)d;
	cJSON_ArrayForEach(item, list)
	{
		if (item->valuedouble == layer) {
			return true;
		}
	}
	return !list && step > 0 && (layer + 1) % step == 0;
}

/* ERNIE 4.5: from a first to a last layer, every so many. */
static bool has_experts_ernie(struct config *config, const struct decoder *d, uint32_t layer)
{
	uint64_t first = config_number_or(config, "moe_layer_start_index", 0);
	uint64_t last = config_number_or(config, "moe_layer_end_index", d->layers - 1);
	uint64_t every = config_count_or(config, "moe_layer_interval", 1);

	return every > 0 && layer >= first && layer <= last && (layer + 1) % every == 0;
}

/* Snowflake Arctic: a dense part as wide as the hidden size beside the experts. */
static bool has_experts_arctic(struct config *config, const struct decoder *d, uint32_t layer)
{
	uint64_t every = config_count_or(config, "moe_layer_frequency", 2);

	(void)d;
	return (layer + 1) % every == 0;
}

static void layer_arctic(struct config *config, const struct decoder *d, uint32_t layer,
                         struct vc_layer_kind *kind)
{
	(void)config;
	if (!d->moe[layer]) {
		return;
	}
	memcpy(&kind->ffns[1], &d->base.ffns[0], sizeof kind->ffns[1]);
	kind->ffns[1].size = d->hidden;
	kind->ffn_count = 2;
}

/* gpt-oss: a learned sink per query head, biases in every expert and in the router. */
static void base_sinks(struct config *config, struct decoder *d)
{
	(void)config;
	d->base.mixers[0].sinks = (uint32_t)d->heads;
}

/* AFMoE: an output gate of its own beside the queries. */
static void base_gated(struct config *config, struct decoder *d)
{
	(void)config;
	d->base.mixers[0].gated = true;
}

/* MiMo-V2-Flash: sliding layers have sinks and other numbers of heads. */
static void layer_mimo(struct config *config, const struct decoder *d, uint32_t layer,
                       struct vc_layer_kind *kind)
{
	struct vc_mixer *m = &kind->mixers[0];

	m->v_head_dim = (uint32_t)config_count_or(config, "v_head_dim", d->head_dim);
	if (d->types[layer] != LAYER_SLIDING) {
		return;
	}
	m->kv_heads = (uint32_t)config_count_or(config, "swa_num_key_value_heads", 2 * d->kv_heads);
	m->sinks = config_flag_or(config, "add_swa_attention_sink_bias", true) ? m->heads : 0;
}

static void facts_qwen2_moe(struct config *config, struct decoder *d)
{
	if (!config_flag_or(config, "use_sliding_window", false)) {
		d->window = 0;
	}
}

const struct family expert_families[] = {
	{ "mixtral", .decoder = { .slides = slides_always } },
	{ "qwen2_moe", .decoder = { .qkv_bias = true,
	                            .qkv_bias_key = "qkv_bias",
	                            .shared_gate = true,
	                            .facts = facts_qwen2_moe } },
	{ "qwen3_moe", .decoder = { .qk_norm = QK_NORM_HEAD,
	                            .qkv_bias_key = "attention_bias",
	                            .o_bias_key = "attention_bias",
	                            .facts = facts_qwen2_moe } },
	{ "olmoe", .decoder = { .qk_norm = QK_NORM_HEADS,
	                        .qkv_bias_key = "attention_bias",
	                        .o_bias_key = "attention_bias" } },
	{ "flex_olmo", .decoder = { .qk_norm = QK_NORM_HEADS,
	                            .qkv_bias_key = "attention_bias",
	                            .o_bias_key = "attention_bias" } },
	{ "granitemoe",
	  .decoder = { .qkv_bias_key = "attention_bias", .o_bias_key = "attention_bias" } },
	{ "granitemoeshared",
	  .decoder = { .qkv_bias_key = "attention_bias", .o_bias_key = "attention_bias" } },
	{ "granitemoe_swa", .decoder = { .qkv_bias_key = "attention_bias",
	                                 .o_bias_key = "attention_bias",
	                                 .base = base_sinks } },
	{ "phimoe", .decoder = { .norm = NORM_LAYER,
	                         .qkv_bias_key = "attention_bias",
	                         .o_bias_key = "attention_bias",
	                         .head_bias_key = "lm_head_bias",
	                         .slides = slides_always } },
	{ "minimax_m2", .decoder = { .qk_norm = QK_NORM_HEADS, .router_bias = true } },
	{ "dbrx", .decoder = { .norm = NORM_LAYER_PLAIN, .fused_qkv = true } },
	{ "gpt_oss", .decoder = { .qkv_bias = true,
	                          .qkv_bias_key = "attention_bias",
	                          .o_bias = true,
	                          .o_bias_key = "attention_bias",
	                          .router_bias = true,
	                          .expert_bias = true,
	                          .period = 2,
	                          .slides = slides_but_every_nth,
	                          .base = base_sinks } },
	{ "llama4_text", .decoder = { .qkv_bias_key = "attention_bias",
	                              .o_bias_key = "attention_bias",
	                              .facts = facts_llama4,
	                              .has_experts = has_experts_llama4 } },
	{ "deepseek",
	  .decoder = { .qkv_bias_key = "attention_bias", .o_bias_key = "attention_bias" } },
	{ "glm4_moe", .decoder = { .qkv_bias_key = "attention_bias",
	                           .qk_norm = QK_NORM_HEAD,
	                           .qk_norm_key = "use_qk_norm",
	                           .router_bias = true,
	                           .extras = extras_mtp_copies } },
	{ "solar_open", .decoder = { .qkv_bias_key = "attention_bias", .router_bias = true } },
	{ "sarvam_moe", .decoder = { .qkv_bias_key = "attention_bias",
	                             .qk_norm = QK_NORM_HEAD,
	                             .qk_norm_key = "use_qk_norm",
	                             .router_bias = true } },
	{ "dots1", .decoder = { .qkv_bias_key = "attention_bias",
	                        .o_bias_key = "attention_bias",
	                        .qk_norm = QK_NORM_HEAD,
	                        .router_bias = true } },
	{ "ernie4_5_moe", .decoder = { .tied = true,
	                               .qkv_bias_key = "use_bias",
	                               .o_bias_key = "use_bias",
	                               .ffn_bias_key = "use_bias",
	                               .router_bias = true,
	                               .has_experts = has_experts_ernie } },
	{ "exaone_moe", .decoder = { .qk_norm = QK_NORM_HEAD,
	                             .router_bias = true,
	                             .period = 4,
	                             .slides = slides_but_every_nth } },
	{ "hunyuan_v1_moe", .decoder = { .qk_norm = QK_NORM_HEAD,
	                                 .qkv_bias_key = "attention_bias",
	                                 .o_bias_key = "attention_bias" } },
	{ "bailing_moe", .decoder = { .fused_qkv = true,
	                              .qkv_bias_key = "use_qkv_bias",
	                              .o_bias_key = "use_bias",
	                              .ffn_bias_key = "use_bias" } },
	{ "arctic",
	  .decoder = { .norms = 3, .has_experts = has_experts_arctic, .layer = layer_arctic } },
	{ "hy_v3", .decoder = { .qk_norm = QK_NORM_HEAD,
	                        .qkv_bias_key = "attention_bias",
	                        .o_bias_key = "attention_bias",
	                        .router_bias = true } },
	{ "afmoe", .decoder = { .norms = 4,
	                        .qk_norm = QK_NORM_HEAD,
	                        .router_bias = true,
	                        .period = 4,
	                        .slides = slides_but_every_nth,
	                        .base = base_gated } },
	{ "aria_text",
	  .decoder = { .qkv_bias_key = "attention_bias", .o_bias_key = "attention_bias" } },
	{ "cohere2_moe", .decoder = { .norm = NORM_LAYER_PLAIN,
	                              .norms = 1,
	                              .tied = true,
	                              .qkv_bias_key = "attention_bias",
	                              .o_bias_key = "attention_bias",
	                              .period = 4,
	                              .slides = slides_but_every_nth } },
	{ "mimo_v2_flash", .decoder = { .router_bias = true, .layer = layer_mimo } },
	{ .model_type = NULL },
};
