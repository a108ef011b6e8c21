/*
 * Linear attention and short convolutions beside ordinary attention. Shapes from
 * huggingface/transformers, src/transformers/models/, and from the modeling files beside the
 * weights of MiniMax-01 and Kimi-Linear on the Hub.
 */
#include "decoder.h"

#include <string.h>

/* ---- Qwen3-Next, Qwen3.5: three layers of Gated DeltaNet, one of gated attention */

static void facts_interval(struct config *config, struct decoder *d)
{
	uint64_t interval = config_count_or(config, "full_attention_interval", 4);

	for (uint32_t i = 0; i < d->layers && interval > 0; i++) {
		d->types[i] = (i + 1) % interval == 0 ? LAYER_FULL : LAYER_LINEAR;
	}
}

static void base_output_gate(struct config *config, struct decoder *d)
{
	d->base.mixers[0].gated = config_flag_or(config, "attn_output_gate", true);
}

static void deltanet_mixer(struct config *config, struct vc_mixer *m)
{
	const char *dtype = config_text_or(config, "mamba_ssm_dtype", "");

	memset(m, 0, sizeof *m);
	m->type = VC_MIXER_GATED_DELTANET;
	m->causal = true;
	m->key_heads = (uint32_t)config_count(config, "linear_num_key_heads");
	m->key_head_dim = (uint32_t)config_count(config, "linear_key_head_dim");
	m->value_heads = (uint32_t)config_count(config, "linear_num_value_heads");
	m->value_head_dim = (uint32_t)config_count(config, "linear_value_head_dim");
	m->conv_kernel = (uint32_t)config_count_or(config, "linear_conv_kernel_dim", 4);
	m->inner_norm_elements = m->value_head_dim;
	m->state_dtype = strcmp(dtype, "float32") == 0 ? VC_DTYPE_FP32 : VC_DTYPE_NONE;
}

static void layer_deltanet(struct config *config, const struct decoder *d, uint32_t layer,
                           struct vc_layer_kind *kind)
{
	if (d->types[layer] == LAYER_LINEAR) {
		deltanet_mixer(config, &kind->mixers[0]);
	}
}

/* OLMo-hybrid: norms behind attention and feed-forward, before and behind linear attention. */
static void layer_olmo_hybrid(struct config *config, const struct decoder *d, uint32_t layer,
                              struct vc_layer_kind *kind)
{
	layer_deltanet(config, d, layer, kind);
}

/* ---- Kimi-Linear: Kimi Delta Attention, every fourth layer latent attention */

static void facts_kimi(struct config *config, struct decoder *d)
{
	const char *key = "linear_attn_config.full_attn_layers";
	const cJSON *list = config_list(config, key, 0), *item;

	memset(d->types, LAYER_LINEAR, sizeof d->types);
	cJSON_ArrayForEach(item, list)
	{
		uint64_t layer; /* from 1 */

		if (!json_count(item, &layer) || layer < 1 || layer > d->layers) {
			config_fail(config, key, "has an entry that is no layer (expected 1 to %d)",
			            (int)d->layers);
			return;
		}
		d->types[layer - 1] = LAYER_FULL;
	}
}

static void layer_kimi(struct config *config, const struct decoder *d, uint32_t layer,
                       struct vc_layer_kind *kind)
{
	struct vc_mixer *m = &kind->mixers[0];

	if (d->types[layer] != LAYER_LINEAR) {
		return;
	}
	memset(m, 0, sizeof *m);
	m->type = VC_MIXER_KIMI_DELTA;
	m->causal = true;
	m->heads = (uint32_t)config_count(config, "linear_attn_config.num_heads linear_num_heads");
	m->head_dim = (uint32_t)config_count(config, "linear_attn_config.head_dim linear_head_dim");
	m->conv_kernel = (uint32_t)config_count_or(
	        config, "linear_attn_config.short_conv_kernel_size linear_conv_kernel_dim", 4);
	m->inner_norm_elements = m->head_dim;
	m->state_dtype = VC_DTYPE_FP32;
}

/* ---- MiniMax-01: lightning attention, every eighth layer ordinary */

static void facts_minimax(struct config *config, struct decoder *d)
{
	const cJSON *list = config_list(config, "attn_type_list", d->layers);

	for (uint32_t i = 0; list && i < d->layers; i++) {
		d->types[i] = config_element(config, "attn_type_list", list, i) == 0 ? LAYER_LINEAR
		                                                                     : LAYER_FULL;
	}
}

static void layer_minimax(struct config *config, const struct decoder *d, uint32_t layer,
                          struct vc_layer_kind *kind)
{
	struct vc_mixer *m = &kind->mixers[0];

	(void)config;
	if (d->types[layer] != LAYER_LINEAR) {
		return;
	}
	memset(m, 0, sizeof *m);
	m->type = VC_MIXER_LIGHTNING;
	m->causal = true;
	m->heads = (uint32_t)d->heads;
	m->head_dim = (uint32_t)d->head_dim;
	m->inner_norm_elements = d->heads * d->head_dim;
}

/* ---- LFM2: gated short convolutions, some layers of attention */

/* block_ff_dim counts up to a third more than the width that comes out. */
static void facts_lfm2(struct config *config, struct decoder *d)
{
	const cJSON *list = config_list(config, "full_attn_idxs", 0), *item;
	uint64_t multiple = config_count_or(config, "block_multiple_of", 256);
	uint64_t size = config_count_or(config, "block_ff_dim", d->ffn_size);

	memset(d->types, LAYER_LINEAR, sizeof d->types);
	cJSON_ArrayForEach(item, list)
	{
		uint64_t layer;

		if (json_count(item, &layer) && layer < d->layers) {
			d->types[layer] = LAYER_FULL;
		}
	}
	if (config_flag_or(config, "block_auto_adjust_ff_dim", d->experts == 0) && multiple > 0) {
		const cJSON *factor = config_item(config, "block_ffn_dim_multiplier");
		double scale = cJSON_IsNumber(factor) && factor->valuedouble > 0 &&
		                               factor->valuedouble < 64
		                       ? factor->valuedouble
		                       : 1.0;

		size = 2 * size / 3;
		size = (uint64_t)(scale * (double)size);
		size = (size + multiple - 1) / multiple * multiple;
	}
	d->ffn_size = size;
}

static void layer_lfm2(struct config *config, const struct decoder *d, uint32_t layer,
                       struct vc_layer_kind *kind)
{
	struct vc_mixer *m = &kind->mixers[0];

	if (d->types[layer] != LAYER_LINEAR) {
		return;
	}
	memset(m, 0, sizeof *m);
	m->type = VC_MIXER_SHORT_CONV;
	m->causal = true;
	m->conv_kernel = (uint32_t)config_count_or(config, "conv_L_cache", 3);
	m->conv_bias = config_flag_or(config, "conv_bias", false);
	m->proj_bias = m->conv_bias;
}

/* ---- RecurrentGemma (Griffin, arXiv 2402.19427): a gated linear recurrence, two layers of three
 */

static void facts_griffin(struct config *config, struct decoder *d)
{
	const cJSON *list = config_list(config, "block_types _block_types", 0);
	int length = list ? cJSON_GetArraySize(list) : 0;

	d->ffn_size /= 2; /* gate and up together */
	for (uint32_t i = 0; i < d->layers && length > 0; i++) {
		const cJSON *item = cJSON_GetArrayItem(list, (int)i % length);

		d->types[i] = cJSON_IsString(item) && strcmp(item->valuestring, "attention") == 0
		                      ? LAYER_SLIDING
		                      : LAYER_LINEAR;
	}
}

static void layer_griffin(struct config *config, const struct decoder *d, uint32_t layer,
                          struct vc_layer_kind *kind)
{
	struct vc_mixer *m = &kind->mixers[0];
	uint64_t width = config_count_or(config, "lru_width", d->hidden);
	uint64_t kernel = config_count_or(config, "conv1d_width", 4);
	uint64_t block = width / d->heads;
	struct vc_tensor *tensor;

	if (d->types[layer] != LAYER_LINEAR) {
		return;
	}
	memset(m, 0, sizeof *m);
	m->type = VC_MIXER_RECURRENT;
	m->causal = true;
	m->state_elements = width * kernel; /* the recurrence and the convolution's inputs */
	tensor = config_odd(kind, VC_MODULE_SSM_IN, VC_SPLIT_COLUMN, width, d->hidden);
	tensor->count = 2;
	tensor->bias = width;
	tensor = config_odd(kind, VC_MODULE_CONV, VC_SPLIT_COLUMN, width, kernel);
	tensor->linear = false;
	tensor->bias = width;
	tensor = config_odd(kind, VC_MODULE_SSM_OTHER, VC_SPLIT_COLUMN, width, block);
	tensor->count = 2;
	tensor->bias = width;
	config_odd(kind, VC_MODULE_SSM_OTHER, VC_SPLIT_COLUMN, width, 1)->linear = false;
	tensor = config_odd(kind, VC_MODULE_SSM_OUT, VC_SPLIT_ROW, d->hidden, width);
	tensor->bias = d->hidden;
}

/* ---- RWKV-4 (arXiv 2305.13048) */

static void base_rwkv(struct config *config, struct decoder *d)
{
	struct vc_layer_kind *kind = &d->base;
	uint64_t h = d->hidden, width = config_count_or(config, "attention_hidden_size", h);
	uint64_t ffn = config_count_or(config, "intermediate_size", 4 * h);

	kind->mixer_count = 1;
	kind->mixers[0].type = VC_MIXER_RECURRENT;
	kind->mixers[0].state_elements = 2 * h + 3 * width; /* HF keeps five states a layer */
	kind->mixers[0].state_dtype = VC_DTYPE_FP32;
	config_odd(kind, VC_MODULE_SSM_IN, VC_SPLIT_COLUMN, width, h)->count = 3;
	config_odd(kind, VC_MODULE_SSM_OUT, VC_SPLIT_ROW, h, width);
	config_odd(kind, VC_MODULE_UP, VC_SPLIT_COLUMN, ffn, h);
	config_odd(kind, VC_MODULE_GATE, VC_SPLIT_COLUMN, h, h);
	config_odd(kind, VC_MODULE_DOWN, VC_SPLIT_ROW, h, ffn);
	config_odd(kind, VC_MODULE_SSM_OTHER, VC_SPLIT_NONE, 2 * width + 5 * h, 1)->linear = false;
	kind->norms = 2;
	kind->norm_elements = 4 * h;
}

const struct family linear_families[] = {
	{ "qwen3_next", .decoder = { .qk_norm = QK_NORM_HEAD,
	                             .qkv_bias_key = "attention_bias",
	                             .o_bias_key = "attention_bias",
	                             .shared_gate = true,
	                             .facts = facts_interval,
	                             .base = base_output_gate,
	                             .layer = layer_deltanet,
	                             .extras = extras_mtp } },
	{ "qwen3_5_text", .decoder = { .qk_norm = QK_NORM_HEAD,
	                               .qkv_bias_key = "attention_bias",
	                               .o_bias_key = "attention_bias",
	                               .facts = facts_interval,
	                               .base = base_output_gate,
	                               .layer = layer_deltanet,
	                               .extras = extras_mtp } },
	{ "qwen3_5_moe_text", .decoder = { .qk_norm = QK_NORM_HEAD,
	                                   .qkv_bias_key = "attention_bias",
	                                   .o_bias_key = "attention_bias",
	                                   .shared_gate = true,
	                                   .facts = facts_interval,
	                                   .base = base_output_gate,
	                                   .layer = layer_deltanet,
	                                   .extras = extras_mtp } },
	{ "olmo_hybrid", .decoder = { .qk_norm = QK_NORM_HEADS,
	                              .qkv_bias_key = "attention_bias",
	                              .o_bias_key = "attention_bias",
	                              .facts = facts_interval,
	                              .layer = layer_olmo_hybrid } },
	{ "kimi_linear", .decoder = { .router_bias = true,
	                              .no_rotary = true,
	                              .facts = facts_kimi,
	                              .layer = layer_kimi } },
	{ "minimax", .decoder = { .facts = facts_minimax, .layer = layer_minimax } },
	{ "minimax_text_01", .decoder = { .facts = facts_minimax, .layer = layer_minimax } },
	{ "minimax_m1", .decoder = { .facts = facts_minimax, .layer = layer_minimax } },
	{ "lfm2", .decoder = { .tied = true,
	                       .qk_norm = QK_NORM_HEAD,
	                       .facts = facts_lfm2,
	                       .layer = layer_lfm2 } },
	{ "lfm2_moe", .decoder = { .tied = true,
	                           .qk_norm = QK_NORM_HEAD,
	                           .router_bias = true,
	                           .facts = facts_lfm2,
	                           .layer = layer_lfm2 } },
	{ "recurrent_gemma", .decoder = { .tied = true,
	                                  .qkv_bias_key = "attention_bias",
	                                  .o_bias = true,
	                                  .ffn_bias = true,
	                                  .facts = facts_griffin,
	                                  .layer = layer_griffin } },
	{ "rwkv", .decoder = { .norm = NORM_LAYER,
	                       .no_attention = true,
	                       .no_ffn = true,
	                       .no_rotary = true,
	                       .embedding_norm = true,
	                       .base = base_rwkv } },
	{ .model_type = NULL },
};
