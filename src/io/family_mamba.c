/*
 * State-space models and their hybrids with attention. Shapes from huggingface/transformers,
 * src/transformers/models/, and, where those differ, from ml-explore/mlx-lm, mlx_lm/models/.
 */
#include "decoder.h"

#include <string.h>

/* A count that may also read "auto". */
static uint64_t count_or_auto(struct config *config, const char *names, uint64_t automatic)
{
	const cJSON *item = config_item(config, names);

	return cJSON_IsString(item) && strcmp(item->valuestring, "auto") == 0
	               ? automatic
	               : config_count_or(config, names, automatic);
}

static enum vc_dtype state_dtype(struct config *config)
{
	const char *text = config_text_or(config, "mamba_ssm_cache_dtype mamba_ssm_dtype", "");

	return strcmp(text, "float32") == 0 ? VC_DTYPE_FP32 : VC_DTYPE_NONE;
}

static void common_mixer(struct config *config, struct vc_mixer *m)
{
	memset(m, 0, sizeof *m);
	m->causal = true;
	m->state_size = (uint32_t)config_count(config, KEY_STATE);
	m->conv_kernel = (uint32_t)config_count_or(config, KEY_CONV, 4);
	m->conv_bias = config_flag_or(config, "use_conv_bias mamba_conv_bias", true);
	m->proj_bias = config_flag_or(config, "use_bias mamba_proj_bias", false);
	m->state_dtype = state_dtype(config);
}

static void mamba_mixer(struct config *config, const struct decoder *d, struct vc_mixer *m)
{
	uint64_t expand = config_count_or(config, "expand mamba_expand", 2);

	common_mixer(config, m);
	m->type = VC_MIXER_MAMBA;
	m->inner_size = expand * d->hidden;
	m->dt_rank = (uint32_t)count_or_auto(config, "time_step_rank mamba_dt_rank dt_rank",
	                                     (d->hidden + 15) / 16);
}

static void mamba2_mixer(struct config *config, const struct decoder *d, struct vc_mixer *m)
{
	const char *head_dim = d->family->decoder.no_attention
	                               ? "mamba_d_head mamba_head_dim mamba_headdim head_dim"
	                               : "mamba_d_head mamba_head_dim mamba_headdim";
	uint64_t expand = config_count_or(config, "expand mamba_expand", 2);
	uint64_t inner = config_count_or(config, "mamba_d_ssm", expand * d->hidden);
	uint64_t heads =
	        config_count_or(config, "mamba_n_heads mamba_num_heads n_mamba_heads num_heads", 0);
	uint64_t dim = count_or_auto(config, head_dim, heads ? inner / heads : 0);

	common_mixer(config, m);
	if (dim == 0) {
		config_fail(config, "mamba_head_dim",
		            "is missing (expected the state heads' size)");
		return;
	}
	heads = heads ? heads : inner / dim;
	m->type = VC_MIXER_MAMBA2;
	m->heads = (uint32_t)heads;
	m->head_dim = (uint32_t)dim;
	m->inner_size = heads * dim;
	m->groups = (uint32_t)config_count_or(config, "n_groups mamba_n_groups mamba_ngroups", 1);
	if (config_flag_or(config, "mamba_rms_norm", !config_item(config, "mamba_d_ssm"))) {
		m->inner_norm_elements = m->inner_size;
	}
}

/* ---- Mamba, Mamba-2, Falcon-Mamba: a mixer and a norm */

static void only_mixer(struct decoder *d)
{
	d->base.mixer_count = 1;
	d->base.norms = 1;
	d->base.norm_elements = d->hidden;
}

static void base_mamba(struct config *config, struct decoder *d)
{
	mamba_mixer(config, d, &d->base.mixers[0]);
	only_mixer(d);
}

static void base_mamba2(struct config *config, struct decoder *d)
{
	mamba2_mixer(config, d, &d->base.mixers[0]);
	only_mixer(d);
}

/* ---- Jamba, Bamba, Granite-H: attention here and there */

static void facts_period(struct config *config, struct decoder *d)
{
	uint64_t period = config_count_or(config, "attn_layer_period", 8);
	uint64_t offset = config_number_or(config, "attn_layer_offset", 4);

	for (uint32_t i = 0; i < d->layers && period > 0; i++) {
		d->types[i] = i % period == offset ? LAYER_FULL : LAYER_LINEAR;
	}
}

static bool has_experts_jamba(struct config *config, const struct decoder *d, uint32_t layer)
{
	uint64_t period = config_count_or(config, "expert_layer_period", 2);

	(void)d;
	return period > 0 && layer % period == config_number_or(config, "expert_layer_offset", 1);
}

static void layer_jamba(struct config *config, const struct decoder *d, uint32_t layer,
                        struct vc_layer_kind *kind)
{
	struct vc_mixer *m = &kind->mixers[0];

	if (d->types[layer] == LAYER_LINEAR) {
		mamba_mixer(config, d, m);
		m->inner_norm_elements = m->dt_rank + 2 * (uint64_t)m->state_size;
	}
}

/* "attn_layer_indices" lists the few layers that attend. */
static void facts_indices(struct config *config, struct decoder *d)
{
	const cJSON *list = config_list(config, "attn_layer_indices", 0), *item;

	memset(d->types, LAYER_LINEAR, sizeof d->types);
	cJSON_ArrayForEach(item, list)
	{
		uint64_t layer;

		if (!json_count(item, &layer) || layer >= d->layers) {
			config_fail(config, "attn_layer_indices",
			            "has an entry that is no layer (expected 0 to %d)",
			            (int)d->layers - 1);
			return;
		}
		d->types[layer] = LAYER_FULL;
	}
}

static void layer_mamba2(struct config *config, const struct decoder *d, uint32_t layer,
                         struct vc_layer_kind *kind)
{
	if (d->types[layer] == LAYER_LINEAR) {
		mamba2_mixer(config, d, &kind->mixers[0]);
	}
}

/* Granite 4 without experts has its shared part alone. */
static void facts_granite(struct config *config, struct decoder *d)
{
	memset(d->types, LAYER_LINEAR, sizeof d->types);
	if (d->experts == 0) {
		d->ffn_size = config_count(config, "shared_intermediate_size");
	}
}

/* ---- Nemotron-H: each layer is one thing */

/* "hybrid_override_pattern": M mamba, * attention, - feed-forward, E experts. */
static void facts_nemotron(struct config *config, struct decoder *d)
{
	const char *key = "hybrid_override_pattern", *pattern = config_text_or(config, key, NULL);
	static const char letters[] = "*M-E";
	static const uint8_t types[] = { LAYER_FULL, LAYER_LINEAR, LAYER_FFN, LAYER_MOE };

	d->shared_size *= d->shared_size == d->expert_size
	                          ? 1
	                          : config_count_or(config, "n_shared_experts", 1);
	if (!pattern) {
		return;
	}
	if (strlen(pattern) != d->layers) {
		config_fail(config, key, "has %d letters (expected %d, one per layer)",
		            (int)strlen(pattern), (int)d->layers);
		return;
	}
	for (uint32_t i = 0; i < d->layers; i++) {
		const char *letter = strchr(letters, pattern[i]);

		if (!letter) {
			config_fail(config, key, "has the letter '%c' (expected M, *, - or E)",
			            pattern[i]);
			return;
		}
		d->types[i] = types[letter - letters];
	}
}

static void latent_experts(struct config *config, const struct decoder *d,
                           struct vc_layer_kind *kind)
{
	uint64_t latent = config_count_or(config, "moe_latent_size", 0);

	if (latent == 0) {
		return;
	}
	kind->ffns[0].input_size = latent;
	config_odd(kind, VC_MODULE_OTHER, VC_SPLIT_NONE, latent, d->hidden);
	config_odd(kind, VC_MODULE_OTHER, VC_SPLIT_NONE, d->hidden, latent);
}

static void layer_nemotron(struct config *config, const struct decoder *d, uint32_t layer,
                           struct vc_layer_kind *kind)
{
	enum layer_type type = (enum layer_type)d->types[layer];

	if (type == LAYER_LINEAR) {
		mamba2_mixer(config, d, &kind->mixers[0]);
	}
	if (type == LAYER_FFN || type == LAYER_MOE) {
		kind->mixer_count = 0;
		memset(&kind->mixers[0], 0, sizeof kind->mixers[0]);
	} else {
		kind->ffn_count = 0;
		memset(&kind->ffns[0], 0, sizeof kind->ffns[0]);
	}
	if (type == LAYER_MOE) {
		memcpy(&kind->ffns[0], &d->expert_ffn, sizeof d->expert_ffn);
		latent_experts(config, d, kind);
	} else if (type == LAYER_FFN) {
		memcpy(&kind->ffns[0], &d->base.ffns[0], sizeof d->base.ffns[0]);
	}
}

/* ---- Falcon-H1: both side by side in every layer */

static void base_falcon_h1(struct config *config, struct decoder *d)
{
	mamba2_mixer(config, d, &d->base.mixers[1]);
	d->base.mixer_count = 2;
}

/* ---- Zamba: a few attention blocks, shared by the layers that use them in turn */

static void facts_zamba(struct config *config, struct decoder *d)
{
	const cJSON *list = config_list(config, "hybrid_layer_ids", 0), *item;
	uint64_t period = config_count_or(config, "attn_layer_period", 6);
	uint64_t offset = config_number_or(config, "attn_layer_offset", 4);

	for (uint32_t i = 0; i < d->layers && period > 0; i++) {
		bool hybrid = i == 2 || (i > 2 && (i - 3) % period == offset);

		d->types[i] = hybrid && !list ? LAYER_HYBRID : LAYER_LINEAR;
	}
	cJSON_ArrayForEach(item, list)
	{
		uint64_t layer;

		if (!json_count(item, &layer) || layer >= d->layers) {
			config_fail(config, "hybrid_layer_ids",
			            "has an entry that is no layer (expected 0 to %d)",
			            (int)d->layers - 1);
			return;
		}
		d->types[layer] = LAYER_HYBRID;
	}
}

static uint32_t hybrids_before(const struct decoder *d, uint32_t layer)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < layer; i++) {
		count += d->types[i] == LAYER_HYBRID;
	}
	return count;
}

/* Low-rank adapters of this use of the block; the last one's outputs are gate and up. */
static void zamba_adapters(struct config *config, const struct decoder *d,
                           struct vc_layer_kind *kind)
{
	uint64_t rank = config_count_or(config, "adapter_rank", 128);
	struct vc_tensor *tensor;

	config_odd(kind, VC_MODULE_OTHER, VC_SPLIT_NONE, rank, d->hidden);
	config_odd(kind, VC_MODULE_OTHER, VC_SPLIT_COLUMN, 2 * d->ffn_size, rank);
	if (config_flag_or(config, "use_shared_attention_adapter", false)) {
		tensor = config_odd(kind, VC_MODULE_OTHER, VC_SPLIT_NONE, rank, 2 * d->hidden);
		tensor->count = 3;
		tensor = config_odd(kind, VC_MODULE_OTHER, VC_SPLIT_COLUMN, 2 * d->hidden, rank);
		tensor->count = 3;
	}
}

static void zamba_block(const struct decoder *d, bool owner, struct vc_layer_kind *kind)
{
	struct vc_mixer *m = &kind->mixers[1];

	memcpy(m, &d->base.mixers[0], sizeof *m);
	m->input_size = 2 * d->hidden;
	m->head_dim = (uint32_t)(2 * d->hidden / d->heads);
	m->weights_elsewhere = !owner;
	kind->mixer_count = 2;
	kind->ffn_count = 1;
	memcpy(&kind->ffns[0], &d->base.ffns[0], sizeof kind->ffns[0]);
	kind->ffns[0].weights_elsewhere = !owner;
	config_odd(kind, VC_MODULE_OTHER, VC_SPLIT_NONE, d->hidden, d->hidden);
	if (owner) { /* the block's norms: over both inputs, and before its feed-forward part */
		kind->norms += 2;
		kind->norm_elements += 3 * d->hidden;
	}
}

static void layer_zamba_common(const struct decoder *d, struct vc_layer_kind *kind)
{
	kind->mixer_count = 1;
	kind->ffn_count = 0;
	memset(&kind->ffns[0], 0, sizeof kind->ffns[0]);
	kind->norms = 1;
	kind->norm_elements = d->hidden;
}

static void layer_zamba(struct config *config, const struct decoder *d, uint32_t layer,
                        struct vc_layer_kind *kind)
{
	layer_zamba_common(d, kind);
	mamba_mixer(config, d, &kind->mixers[0]);
	if (d->types[layer] == LAYER_HYBRID) {
		zamba_block(d, hybrids_before(d, layer) == 0, kind);
	}
}

static void layer_zamba2(struct config *config, const struct decoder *d, uint32_t layer,
                         struct vc_layer_kind *kind)
{
	uint64_t blocks = config_count_or(config, "num_mem_blocks", 1);

	layer_zamba_common(d, kind);
	mamba2_mixer(config, d, &kind->mixers[0]);
	if (d->types[layer] == LAYER_HYBRID) {
		zamba_block(d, hybrids_before(d, layer) < blocks, kind);
		zamba_adapters(config, d, kind);
	}
}

const struct family mamba_families[] = {
	{ "mamba", .decoder = { .tied = true,
	                        .no_attention = true,
	                        .no_ffn = true,
	                        .no_rotary = true,
	                        .base = base_mamba } },
	{ "falcon_mamba", .decoder = { .tied = true,
	                               .no_attention = true,
	                               .no_ffn = true,
	                               .no_rotary = true,
	                               .base = base_mamba } },
	{ "mamba2", .decoder = { .no_attention = true,
	                         .no_ffn = true,
	                         .no_rotary = true,
	                         .base = base_mamba2 } },
	{ "jamba", .decoder = { .no_rotary = true,
	                        .facts = facts_period,
	                        .has_experts = has_experts_jamba,
	                        .layer = layer_jamba } },
	{ "bamba", .decoder = { .qkv_bias_key = "attention_bias",
	                        .o_bias_key = "attention_bias",
	                        .ffn_bias_key = "mlp_bias",
	                        .facts = facts_indices,
	                        .layer = layer_mamba2 } },
	{ "granitemoehybrid", .decoder = { .qkv_bias_key = "attention_bias",
	                                   .o_bias_key = "attention_bias",
	                                   .facts = facts_granite,
	                                   .layer = layer_mamba2 } },
	{ "nemotron_h", .decoder = { .norms = 1,
	                             .plain_ffn = true,
	                             .no_rotary = true,
	                             .qkv_bias_key = "attention_bias",
	                             .o_bias_key = "attention_bias",
	                             .ffn_bias_key = "mlp_bias",
	                             .facts = facts_nemotron,
	                             .layer = layer_nemotron } },
	{ "falcon_h1", .decoder = { .qkv_bias_key = "attention_bias",
	                            .o_bias_key = "attention_bias",
	                            .ffn_bias_key = "mlp_bias",
	                            .base = base_falcon_h1 } },
	{ "zamba", .decoder = { .tied = true, .facts = facts_zamba, .layer = layer_zamba } },
	{ "zamba2", .decoder = { .tied = true,
	                         .fused_gate_up = true,
	                         .facts = facts_zamba,
	                         .layer = layer_zamba2 } },
	{ .model_type = NULL },
};
