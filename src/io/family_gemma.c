/*
 * Gemma 3n and Gemma 4: per-layer embeddings, layers that share keys and values, wider heads in
 * global layers. Shapes from huggingface/transformers, src/transformers/models/gemma3n and gemma4.
 */
#include "decoder.h"

#include <string.h>

/* A small embedding of its own for every layer, from one wide table. */
static void per_layer_inputs(struct config *config, const struct decoder *d, uint64_t width)
{
	uint64_t rows = config_count_or(config, "vocab_size_per_layer_input", d->vocab);

	config_extra(config, d->stack, VC_MODULE_EMBEDDING, rows, d->layers * width);
	config_extra(config, d->stack, VC_MODULE_OTHER, d->layers * width, d->hidden);
	config_extra(config, d->stack, VC_MODULE_NORM, width, 1);
}

static void per_layer_gate(const struct decoder *d, uint64_t width, struct vc_layer_kind *kind)
{
	config_odd(kind, VC_MODULE_OTHER, VC_SPLIT_NONE, width, d->hidden);
	config_odd(kind, VC_MODULE_OTHER, VC_SPLIT_NONE, d->hidden, width);
	kind->norms++;
	kind->norm_elements += d->hidden;
}

/* The last layers read the keys and values of earlier ones. */
static bool share_kv(struct config *config, const struct decoder *d, uint32_t layer,
                     struct vc_mixer *m)
{
	uint64_t shared = config_number_or(config, "num_kv_shared_layers", 0);
	bool shares = shared < d->layers && layer >= d->layers - shared;

	if (shares) {
		m->shares_kv = true;
		m->no_kv_projection = true;
		m->inner_norm_elements = m->head_dim;
	}
	return shares;
}

/* ---- Gemma 3n (MatFormer with AltUp and LAuReL) */

static void layer_gemma3n(struct config *config, const struct decoder *d, uint32_t layer,
                          struct vc_layer_kind *kind)
{
	uint64_t rank = config_count_or(config, "laurel_rank", 64);
	uint64_t streams = config_count_or(config, "altup_num_inputs", 4);
	uint64_t width = config_count_or(config, "hidden_size_per_layer_input", 256);
	uint64_t scales = 2 * d->hidden + streams * streams + streams * streams * streams;

	share_kv(config, d, layer, &kind->mixers[0]);
	config_odd(kind, VC_MODULE_OTHER, VC_SPLIT_NONE, rank, d->hidden);
	config_odd(kind, VC_MODULE_OTHER, VC_SPLIT_NONE, d->hidden, rank);
	config_odd(kind, VC_MODULE_OTHER, VC_SPLIT_NONE, streams, d->hidden)->linear = false;
	config_odd(kind, VC_MODULE_OTHER, VC_SPLIT_NONE, scales, 1)->linear = false;
	kind->norms++;
	kind->norm_elements += d->hidden;
	per_layer_gate(d, width, kind);
}

static void extras_gemma3n(struct config *config, const struct decoder *d)
{
	uint64_t streams = config_count_or(config, "altup_num_inputs", 4);
	uint64_t width = config_count_or(config, "hidden_size_per_layer_input", 256);
	struct vc_extra *join;

	per_layer_inputs(config, d, width);
	join = config_extra(config, d->stack, VC_MODULE_OTHER, d->hidden, d->hidden);
	join->tensor.count = streams > 0 ? streams - 1 : 0;
	join = config_extra_last(config, d->stack, VC_MODULE_OTHER, d->hidden, d->hidden);
	join->tensor.count = streams > 0 ? streams - 1 : 0;
	config->model->rotary_tables = 2;
}

/* ---- Gemma 4 */

/* Before transformers 5 the wider heads of global layers stood in keys of their own. */
static void global_heads(struct config *config, const struct decoder *d, struct vc_mixer *m)
{
	bool k_is_v = config_flag_or(config, "attention_k_eq_v", false);

	m->k_is_v = k_is_v;
	if (config_item(config, "per_layer_config")) {
		return;
	}
	m->head_dim = (uint32_t)config_count_or(config, "global_head_dim", 2 * d->head_dim);
	m->inner_norm_elements = 2 * (uint64_t)m->head_dim;
	if (k_is_v) {
		m->kv_heads = (uint32_t)config_count_or(config, "num_global_key_value_heads",
		                                        d->kv_heads);
	}
}

/* Experts beside the dense part, each with norms of its own. */
static void gemma4_experts(const struct decoder *d, struct vc_layer_kind *kind)
{
	memcpy(&kind->ffns[0], &d->base.ffns[0], sizeof kind->ffns[0]);
	memcpy(&kind->ffns[1], &d->expert_ffn, sizeof kind->ffns[1]);
	kind->ffn_count = 2;
	kind->norms += 3;
	kind->norm_elements += 3 * d->hidden;
	config_odd(kind, VC_MODULE_ROUTER, VC_SPLIT_NONE, d->hidden + d->experts, 1)->linear =
	        false;
}

static void layer_gemma4(struct config *config, const struct decoder *d, uint32_t layer,
                         struct vc_layer_kind *kind)
{
	uint64_t width = config_number_or(config, "hidden_size_per_layer_input", 0);
	bool wide = config_flag_or(config, "use_double_wide_mlp", false);

	if (d->types[layer] == LAYER_FULL) {
		global_heads(config, d, &kind->mixers[0]);
	}
	if (d->moe[layer]) {
		gemma4_experts(d, kind);
	}
	if (share_kv(config, d, layer, &kind->mixers[0]) && wide) {
		kind->ffns[0].size *= 2;
	}
	if (width > 0) {
		per_layer_gate(d, width, kind);
	}
}

static void extras_gemma4(struct config *config, const struct decoder *d)
{
	uint64_t width = config_number_or(config, "hidden_size_per_layer_input", 0);

	if (width > 0) {
		per_layer_inputs(config, d, width);
	}
	config->model->rotary_tables = 2;
}

const struct family gemma_families[] = {
	{ "gemma3n_text", .decoder = { .tied = true,
	                               .norms = 4,
	                               .qk_norm = QK_NORM_HEAD,
	                               .period = 5,
	                               .slides = slides_but_every_nth,
	                               .layer = layer_gemma3n,
	                               .extras = extras_gemma3n } },
	{ "gemma4_text", .decoder = { .tied = true,
	                              .norms = 4,
	                              .qk_norm = QK_NORM_HEAD,
	                              .period = 6,
	                              .slides = slides_but_every_nth,
	                              .layer = layer_gemma4,
	                              .extras = extras_gemma4 } },
	{ "gemma4_unified_text", .decoder = { .tied = true,
	                                      .norms = 4,
	                                      .qk_norm = QK_NORM_HEAD,
	                                      .period = 6,
	                                      .slides = slides_but_every_nth,
	                                      .layer = layer_gemma4,
	                                      .extras = extras_gemma4 } },
	{ .model_type = NULL },
};
