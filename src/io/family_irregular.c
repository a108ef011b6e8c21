/*
 * Decoders whose layers differ one by one. Shapes from nvidia/Llama-3_3-Nemotron-Super-49B-v1 and
 * apple/OpenELM (the modeling files beside the weights on the Hub), and from
 * huggingface/transformers, src/transformers/models/jetmoe and deepseek_v4.
 */
#include "decoder.h"

#include <string.h>

/* ---- DeciLM, Nemotron-NAS: a search has thinned out each block by itself */

static const cJSON *block_part(struct config *config, uint32_t layer, const char *part)
{
	const cJSON *list = config_list(config, "block_configs", 0);
	const cJSON *block = cJSON_GetArrayItem(list, (int)layer);

	return json_member(block, part, strlen(part));
}

static void facts_deci(struct config *config, struct decoder *d)
{
	config_list(config, "block_configs", d->layers);
	d->ffn_size = d->ffn_size ? d->ffn_size : 4 * d->hidden;
}

/* "ffn_mult": 2.625 of two thirds of the hidden size, whole 256s. */
static uint64_t deci_ffn_size(struct config *config, const struct decoder *d)
{
	const cJSON *mult = config_item(config, "ffn_mult");
	double size;

	if (config_item(config, "intermediate_size")) {
		return config_count(config, "intermediate_size");
	}
	if (!mult || !cJSON_IsNumber(mult) || !(mult->valuedouble > 0) || mult->valuedouble > 64) {
		config_fail(config, "ffn_mult", "is not a factor (expected a number up to 64)");
		return 0;
	}
	size = 2 * mult->valuedouble * (double)d->hidden / 3;
	return ((uint64_t)size + 255) / 256 * 256;
}

static void deci_attention(struct config *config, const struct decoder *d,
                           struct vc_layer_kind *kind)
{
	struct vc_mixer *m = &kind->mixers[0];
	uint64_t group = config_count_or(config, "n_heads_in_group", 1);
	bool linear = config_flag_or(config, "replace_with_linear", false);

	if (!linear && !config_flag_or(config, "no_op", false)) {
		m->kv_heads = (uint32_t)(group > 0 ? d->heads / group : 0);
		return;
	}
	memset(m, 0, sizeof *m);
	kind->mixer_count = 0;
	kind->norms -= !linear;
	kind->norm_elements -= linear ? 0 : d->hidden;
	if (linear) {
		config_odd(kind, VC_MODULE_OTHER, VC_SPLIT_COLUMN, d->hidden, d->hidden);
	}
}

static void deci_ffn(struct config *config, const struct decoder *d, struct vc_layer_kind *kind)
{
	bool linear = config_flag_or(config, "replace_with_linear", false);

	if (!linear && !config_flag_or(config, "no_op", false)) {
		kind->ffns[0].size = deci_ffn_size(config, d);
		return;
	}
	memset(&kind->ffns[0], 0, sizeof kind->ffns[0]);
	kind->ffn_count = 0;
	kind->norms -= !linear;
	kind->norm_elements -= linear ? 0 : d->hidden;
	if (linear) {
		config_odd(kind, VC_MODULE_OTHER, VC_SPLIT_COLUMN, d->hidden, d->hidden);
	}
}

static void layer_deci(struct config *config, const struct decoder *d, uint32_t layer,
                       struct vc_layer_kind *kind)
{
	struct config attention = *config, ffn = *config;

	attention.root = block_part(config, layer, "attention");
	ffn.root = block_part(config, layer, "ffn");
	if (!cJSON_IsObject(attention.root) || !cJSON_IsObject(ffn.root)) {
		config_fail(config, "block_configs",
		            "has no attention and ffn for layer %d (expected an object each)",
		            (int)layer);
		return;
	}
	deci_attention(&attention, d, kind);
	deci_ffn(&ffn, d, kind);
}

/* ---- OpenELM: heads and widths grow from layer to layer */

static void facts_openelm(struct config *config, struct decoder *d)
{
	d->tied = config_flag_or(config, "share_input_output_layers", true);
	d->ffn_size = d->hidden;
	config_list(config, "ffn_multipliers", d->layers);
}

static void layer_openelm(struct config *config, const struct decoder *d, uint32_t layer,
                          struct vc_layer_kind *kind)
{
	const cJSON *list = config_item(config, "ffn_multipliers");
	const cJSON *mult = cJSON_IsArray(list) ? cJSON_GetArrayItem(list, (int)layer) : NULL;
	uint64_t divisor = config_count_or(config, "ffn_dim_divisor", 256);
	double size;

	if (!mult || !cJSON_IsNumber(mult) || !(mult->valuedouble > 0) || mult->valuedouble > 64) {
		config_fail(config, "ffn_multipliers",
		            "has no factor for layer %d (expected a number up to 64)", (int)layer);
		return;
	}
	/* to the nearest multiple of the divisor, but not a tenth below */
	size = mult->valuedouble * (double)d->hidden;
	kind->ffns[0].size = ((uint64_t)size + divisor / 2) / divisor * divisor;
	if ((double)kind->ffns[0].size < 0.9 * size) {
		kind->ffns[0].size += divisor;
	}
}

/* ---- JetMoE: experts for queries and outputs too */

static void layer_jetmoe(struct config *config, const struct decoder *d, uint32_t layer,
                         struct vc_layer_kind *kind)
{
	uint64_t width = d->kv_heads * d->head_dim;
	struct vc_tensor *tensor;

	(void)config;
	(void)layer;
	kind->mixers[0].heads = kind->mixers[0].kv_heads;
	kind->mixers[0].weights_elsewhere = true;
	tensor = config_odd(kind, VC_MODULE_EXPERT_UP, VC_SPLIT_EXPERT_COLUMN, width, d->hidden);
	tensor->count = d->experts;
	tensor->active = d->experts_per_token;
	tensor = config_odd(kind, VC_MODULE_EXPERT_DOWN, VC_SPLIT_EXPERT_ROW, d->hidden, width);
	tensor->count = d->experts;
	tensor->active = d->experts_per_token;
	config_odd(kind, VC_MODULE_ROUTER, VC_SPLIT_NONE, d->experts, d->hidden)->linear = false;
	tensor = config_odd(kind, VC_MODULE_KV_DOWN, VC_SPLIT_KV, 2 * width, d->hidden);
	tensor->kv_out = 2 * width;
	tensor->kv_heads = (uint32_t)d->kv_heads;
	config_odd(kind, VC_MODULE_OTHER, VC_SPLIT_NONE, 2 * d->hidden, 1)->linear = false;
}

/* ---- DeepSeek-V4: a short window beside a compressed past, several residual streams */

/* Tokens that one compressed entry stands for; 0: the window alone. */
static uint64_t compress_rate(struct config *config, uint32_t layer, bool *sparse)
{
	const cJSON *ratios = config_list(config, "compress_ratios", 0);
	const cJSON *types = config_list(config, KEY_LAYER_TYPES, 0);
	const cJSON *type = cJSON_GetArrayItem(types, (int)layer);
	uint64_t rate;

	if (ratios) {
		rate = config_element(config, "compress_ratios", ratios, layer);
		*sparse = rate > 0 && rate < 32;
		return rate;
	}
	*sparse = cJSON_IsString(type) &&
	          strcmp(type->valuestring, "compressed_sparse_attention") == 0;
	return *sparse ? config_count_or(config, "compress_rates.compressed_sparse_attention", 4)
	               : config_count_or(config, "compress_rates.heavily_compressed_attention",
	                                 128);
}

static void v4_mixer(const struct decoder *d, uint64_t rope, struct vc_mixer *m)
{
	memset(m, 0, sizeof *m);
	m->type = VC_MIXER_LATENT;
	m->causal = true;
	m->weights_elsewhere = true;
	m->heads = (uint32_t)d->heads;
	m->kv_heads = (uint32_t)d->heads;
	m->head_dim = (uint32_t)d->head_dim;
	m->v_head_dim = (uint32_t)d->head_dim;
	m->kv_lora_rank = (uint32_t)(d->head_dim > rope ? d->head_dim - rope : d->head_dim);
	m->qk_rope_head_dim = (uint32_t)rope;
	m->qk_nope_head_dim = m->kv_lora_rank;
}

static void v4_projections(struct config *config, const struct decoder *d,
                           struct vc_layer_kind *kind)
{
	uint64_t q_rank = config_count(config, "q_lora_rank"), width = d->heads * d->head_dim;
	uint64_t groups = config_count_or(config, "o_groups", 1);
	uint64_t o_rank = groups * config_count(config, "o_lora_rank");
	uint64_t streams = config_count_or(config, "hc_mult", 4), mixes = (2 + streams) * streams;
	struct vc_tensor *tensor;

	config_odd(kind, VC_MODULE_Q_DOWN, VC_SPLIT_NONE, q_rank, d->hidden);
	config_odd(kind, VC_MODULE_Q_UP, VC_SPLIT_COLUMN, width, q_rank);
	config_odd(kind, VC_MODULE_KV_DOWN, VC_SPLIT_NONE, d->head_dim, d->hidden);
	config_odd(kind, VC_MODULE_O, VC_SPLIT_COLUMN, o_rank, width / groups);
	config_odd(kind, VC_MODULE_O, VC_SPLIT_ROW, d->hidden, o_rank);
	/* sinks, and norms of the two latents */
	config_odd(kind, VC_MODULE_OTHER, VC_SPLIT_NONE, d->heads + q_rank + d->head_dim, 1)
	        ->linear = false;
	/* hyper-connections before attention and feed-forward */
	tensor = config_odd(kind, VC_MODULE_OTHER, VC_SPLIT_NONE, mixes, streams * d->hidden);
	tensor->linear = false;
	tensor->count = 2;
	tensor->bias = mixes + 3;
}

static void v4_compressor(struct config *config, const struct decoder *d, uint64_t rate,
                          bool sparse, struct vc_layer_kind *kind)
{
	uint64_t width = sparse ? 2 * d->head_dim : d->head_dim, index = 0, vectors;
	struct vc_tensor *tensor;

	tensor = config_odd(kind, VC_MODULE_KV_DOWN, VC_SPLIT_NONE, width, d->hidden);
	tensor->count = 2; /* and its gate */
	vectors = rate * width + d->head_dim;
	if (sparse) {
		uint64_t heads = config_count(config, "index_n_heads");

		index = config_count(config, "index_head_dim");
		tensor = config_odd(kind, VC_MODULE_INDEXER, VC_SPLIT_NONE, 2 * index, d->hidden);
		tensor->count = 2;
		config_odd(kind, VC_MODULE_INDEXER, VC_SPLIT_NONE, heads * index,
		           config_count(config, "q_lora_rank"));
		config_odd(kind, VC_MODULE_INDEXER, VC_SPLIT_NONE, heads, d->hidden);
		vectors += rate * 2 * index + index;
		kind->mixers[1].index_heads = (uint32_t)heads;
		kind->mixers[1].index_head_dim = (uint32_t)index;
	}
	config_odd(kind, VC_MODULE_OTHER, VC_SPLIT_NONE, vectors, 1)->linear = false;
}

/* The first layers choose experts by a hash of the token: there is no bias to correct. */
static bool v4_hashes(struct config *config, uint32_t layer)
{
	const cJSON *types = config_list(config, "mlp_layer_types", 0);
	const cJSON *type = cJSON_GetArrayItem(types, (int)layer);

	if (types) {
		return cJSON_IsString(type) && strcmp(type->valuestring, "hash_moe") == 0;
	}
	return layer < config_number_or(config, "num_hash_layers", 0);
}

static void layer_v4(struct config *config, const struct decoder *d, uint32_t layer,
                     struct vc_layer_kind *kind)
{
	uint64_t rope = config_count_or(config, "qk_rope_head_dim", 64);
	bool sparse;
	uint64_t rate = compress_rate(config, layer, &sparse);

	v4_mixer(d, rope, &kind->mixers[0]);
	kind->mixers[0].window = d->window;
	kind->mixer_count = 1;
	v4_projections(config, d, kind);
	if (v4_hashes(config, layer)) {
		kind->ffns[0].router_bias = false;
	}
	if (rate > 0) {
		v4_mixer(d, rope, &kind->mixers[1]);
		kind->mixers[1].cache_stride = (uint32_t)rate;
		kind->mixer_count = 2;
		v4_compressor(config, d, rate, sparse, kind);
	}
}

static void extras_v4(struct config *config, const struct decoder *d)
{
	uint64_t streams = config_count_or(config, "hc_mult", 4);
	struct vc_extra *join =
	        config_extra_last(config, d->stack, VC_MODULE_OTHER, streams, streams * d->hidden);

	join->tensor.bias = streams + 1;
	extras_mtp(config, d);
}

const struct family irregular_families[] = {
	{ "deci", .decoder = { .facts = facts_deci, .layer = layer_deci } },
	{ "nemotron-nas", .decoder = { .facts = facts_deci, .layer = layer_deci } },
	{ "openelm", .decoder = { .tied = true,
	                          .fused_qkv = true,
	                          .fused_gate_up = true,
	                          .qk_norm = QK_NORM_HEAD,
	                          .qk_norm_key = "normalize_qk_projections",
	                          .facts = facts_openelm,
	                          .layer = layer_openelm } },
	{ "jetmoe", .decoder = { .tied = true, .layer = layer_jetmoe } },
	{ "deepseek_v4",
	  .decoder = { .router_bias = true, .layer = layer_v4, .extras = extras_v4 } },
	{ .model_type = NULL },
};
