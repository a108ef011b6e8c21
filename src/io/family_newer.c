/*
 * Decoders that add a little of their own to the common one: learned activations, sinks, gates on
 * heads. Shapes from huggingface/transformers, src/transformers/models/; docs/architectures.md.
 */
#include "decoder.h"

/* A vector that belongs to no mixer and no feed-forward part */
static void add_vector(struct vc_layer_kind *kind, uint64_t elements)
{
	struct vc_tensor *tensor = &kind->odd[kind->odd_count++];

	tensor->module = VC_MODULE_OTHER;
	tensor->out = elements;
	tensor->in = 1;
	tensor->count = 1;
}

/* xIELU: two learned numbers */
static void apertus_layer(struct config *config, const struct decoder *d, uint32_t layer,
                          struct vc_layer_kind *kind)
{
	(void)config;
	(void)d;
	(void)layer;
	add_vector(kind, 2);
}

/* Norms ahead of both output projections */
static void bitnet_layer(struct config *config, const struct decoder *d, uint32_t layer,
                         struct vc_layer_kind *kind)
{
	(void)config;
	(void)layer;
	add_vector(kind, d->hidden + d->ffn_size);
}

/* Differential attention, arXiv 2410.05258: four vectors that weigh the second map */
static void diffllama_layer(struct config *config, const struct decoder *d, uint32_t layer,
                            struct vc_layer_kind *kind)
{
	(void)config;
	(void)layer;
	add_vector(kind, 4 * d->head_dim);
}

static void sinks_base(struct config *config, struct decoder *d)
{
	(void)config;
	d->base.mixers[0].sinks = d->base.mixers[0].heads;
}

/* A gate per head on the attention's output */
static void laguna_layer(struct config *config, const struct decoder *d, uint32_t layer,
                         struct vc_layer_kind *kind)
{
	struct vc_tensor *tensor = &kind->odd[kind->odd_count++];

	(void)layer;
	if (!config_flag_or(config, "gating", true)) {
		kind->odd_count--;
		return;
	}
	tensor->module = VC_MODULE_OTHER;
	tensor->out = kind->mixers[0].heads;
	tensor->in = d->hidden;
	tensor->count = 1;
	tensor->linear = true;
}

const struct family newer_families[] = {
	{ "apertus", .decoder = { .plain_ffn = true,
	                          .qk_norm = QK_NORM_HEAD,
	                          .qkv_bias_key = "attention_bias",
	                          .o_bias_key = "attention_bias",
	                          .ffn_bias_key = "mlp_bias",
	                          .layer = apertus_layer } },
	{ "bitnet", .decoder = { .tied = true, .layer = bitnet_layer } },
	{ "diffllama", .decoder = { .qkv_bias_key = "attention_bias",
	                            .o_bias_key = "attention_bias",
	                            .layer = diffllama_layer } },
	{ "flint", .decoder = { .qk_norm = QK_NORM_HEAD, .base = sinks_base } },
	{ "glm_ocr_text", .decoder = { .norms = 4, .fused_gate_up = true } },
	{ "granite_swa", .decoder = { .tied = true, .base = sinks_base } },
	{ "kolibri1", .decoder = { .norms = 4, .qk_norm = QK_NORM_HEAD } },
	{ "laguna",
	  .decoder = { .qk_norm = QK_NORM_HEAD, .router_bias = true, .layer = laguna_layer } },
	{ "mellum", .decoder = { .qk_norm = QK_NORM_HEAD, .qkv_bias_key = "attention_bias" } },
	{ "minimax_m3_vl_text", .decoder = { .qk_norm = QK_NORM_HEAD } },
	{ .model_type = NULL },
};
