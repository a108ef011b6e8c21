/*
 * Decoders with multi-head latent attention (DeepSeek-V2, arXiv 2405.04434). Shapes from
 * huggingface/transformers, src/transformers/models/, and deepseek-ai's own modeling files.
 */
#include "decoder.h"

#include <string.h>

/* LongCat-Flash: two attentions and two dense parts in a layer, experts beside them, some of them
 * empty ("zero experts", which the router knows all the same). */
static void facts_longcat(struct config *config, struct decoder *d)
{
	d->ffn_size = config_count(config, "ffn_hidden_size");
	d->expert_size = config_count(config, "expert_ffn_hidden_size");
	memset(d->moe, 0, sizeof d->moe);
}

static void layer_longcat(struct config *config, const struct decoder *d, uint32_t layer,
                          struct vc_layer_kind *kind)
{
	uint64_t empty = config_number_or(config, "zero_expert_num", 0);

	(void)layer;
	memcpy(&kind->mixers[1], &kind->mixers[0], sizeof kind->mixers[0]);
	kind->mixer_count = 2;
	memcpy(&kind->ffns[0], &d->base.ffns[0], sizeof kind->ffns[0]);
	memcpy(&kind->ffns[1], &d->expert_ffn, sizeof kind->ffns[1]);
	kind->ffn_count = 2;
	kind->norms = 4;
	kind->norm_elements = 4 * d->hidden;
	/* the second dense part, and the router's rows for empty experts with all its biases */
	config_odd(kind, VC_MODULE_GATE, VC_SPLIT_COLUMN, d->ffn_size, d->hidden);
	config_odd(kind, VC_MODULE_UP, VC_SPLIT_COLUMN, d->ffn_size, d->hidden);
	config_odd(kind, VC_MODULE_DOWN, VC_SPLIT_ROW, d->hidden, d->ffn_size);
	config_odd(kind, VC_MODULE_ROUTER, VC_SPLIT_NONE, empty, d->hidden)->linear = false;
	config_odd(kind, VC_MODULE_ROUTER, VC_SPLIT_NONE, d->experts + empty, 1)->linear = false;
}

/* A.X K1: a norm behind the experts. */
static void layer_axk1(struct config *config, const struct decoder *d, uint32_t layer,
                       struct vc_layer_kind *kind)
{
	(void)config;
	if (d->moe[layer]) {
		kind->norms++;
		kind->norm_elements += d->hidden;
	}
}

const struct family latent_families[] = {
	{ "deepseek_v2", .decoder = { .norm = NORM_RMS } },
	{ "deepseek_v3", .decoder = { .router_bias = true, .extras = extras_mtp_copies } },
	{ "deepseek_v32", .decoder = { .router_bias = true, .extras = extras_mtp_copies } },
	{ "kimi_k2", .decoder = { .router_bias = true, .extras = extras_mtp_copies } },
	{ "glm_moe_dsa", .decoder = { .router_bias = true, .extras = extras_mtp } },
	{ "glm4_moe_lite", .decoder = { .router_bias = true, .extras = extras_mtp } },
	{ "axk1", .decoder = { .router_bias = true, .layer = layer_axk1 } },
	{ "sarvam_mla", .decoder = { .router_bias = true } },
	{ "mistral4", .decoder = { .norm = NORM_RMS } },
	{ "youtu", .decoder = { .tied = true } },
	{ "minicpm3", .decoder = { .tied = true } },
	{ "longcat_flash", .decoder = { .facts = facts_longcat, .layer = layer_longcat } },
	{ .model_type = NULL },
};
