/* Which layer attends to what, which has experts, and what single layers have otherwise. */
#include "decoder.h"

#include <stdlib.h>
#include <string.h>

bool slides_always(const struct decoder *d, uint32_t layer)
{
	(void)d;
	(void)layer;
	return true;
}

bool slides_but_every_nth(const struct decoder *d, uint32_t layer)
{
	return d->period == 0 || (layer + 1) % d->period != 0;
}

static enum layer_type layer_type(struct config *config, const cJSON *item)
{
	static const struct {
		const char *name;
		enum layer_type type;
	} names[] = {
		{ "full_attention", LAYER_FULL },
		{ "attention", LAYER_FULL },
		{ "global_attention", LAYER_FULL },
		{ "global", LAYER_FULL },
		{ "full", LAYER_FULL },
		{ "sliding_attention", LAYER_SLIDING },
		{ "local_attention", LAYER_SLIDING },
		{ "local", LAYER_SLIDING },
		{ "chunked_attention", LAYER_CHUNKED },
		{ "linear_attention", LAYER_LINEAR },
		{ "mamba", LAYER_LINEAR },
		{ "mamba2", LAYER_LINEAR },
		{ "conv", LAYER_LINEAR },
		{ "recurrent", LAYER_LINEAR },
		{ "kda", LAYER_LINEAR },
		{ "hybrid", LAYER_HYBRID },
		{ "mlp", LAYER_FFN },
		{ "moe", LAYER_MOE },
		{ "indexed_attention", LAYER_FULL },
		{ "compressed_sparse_attention", LAYER_FULL },
		{ "heavily_compressed_attention", LAYER_FULL },
	};

	if (!cJSON_IsString(item)) {
		config_fail(config, KEY_LAYER_TYPES, "has an entry that is not a string");
		return LAYER_FULL;
	}
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		if (strcmp(item->valuestring, names[i].name) == 0) {
			return names[i].type;
		}
	}
	config->model->known_family = false;
	return LAYER_FULL;
}

void decoder_read_types(struct config *config, struct decoder *d)
{
	const struct decoder_traits *traits = &d->family->decoder;
	const cJSON *list = config_list(config, KEY_LAYER_TYPES, d->layers), *item;
	uint32_t i = 0;

	if (list) {
		cJSON_ArrayForEach(item, list)
		{
			d->types[i++] = (uint8_t)layer_type(config, item);
		}
		return;
	}
	for (i = 0; i < d->layers && d->window > 0 && traits->slides; i++) {
		d->types[i] = traits->slides(d, i) ? LAYER_SLIDING : LAYER_FULL;
	}
}

static bool in_list(const cJSON *list, uint32_t value)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, list)
	{
		if (cJSON_IsNumber(item) && item->valuedouble == value) {
			return true;
		}
	}
	return false;
}

/* "mlp_layer_types": ["dense", "sparse", ...], or a list of 0 and 1. */
static bool read_moe_list(struct config *config, struct decoder *d, const char *key)
{
	const cJSON *list = config_list(config, key, d->layers), *item;
	uint32_t i = 0;

	cJSON_ArrayForEach(item, list)
	{
		bool sparse = cJSON_IsString(item) ? strcmp(item->valuestring, "dense") != 0
		                                   : item->valuedouble > 0;

		d->moe[i++] = sparse;
	}
	return list != NULL;
}

/* Which layers have experts, by every key that a family may state it with. */
void decoder_read_moe(struct config *config, struct decoder *d)
{
	const char *freq = "moe_layer_freq";
	bool listed = cJSON_IsArray(config_item(config, freq));
	uint64_t step = config_count_or(config, "decoder_sparse_step", 1);
	uint64_t first = config_number_or(config, KEY_FIRST_DENSE, 0);
	uint64_t every = listed ? 1 : config_count_or(config, freq, 1);
	const cJSON *dense = config_list(config, "mlp_only_layers", 0);

	if (config_failed(config) || d->experts == 0 ||
	    read_moe_list(config, d, "mlp_layer_types") ||
	    (listed && read_moe_list(config, d, freq))) {
		return;
	}
	for (uint32_t i = 0; i < d->layers; i++) {
		d->moe[i] =
		        i >= first && i % every == 0 && (i + 1) % step == 0 && !in_list(dense, i);
	}
	if (d->family->decoder.has_experts) {
		for (uint32_t i = 0; i < d->layers; i++) {
			d->moe[i] = d->family->decoder.has_experts(config, d, i);
		}
	}
}

/* ---- Numbers that differ by layer */

uint64_t config_count_by_layer(struct config *config, const char *names, uint64_t layers,
                               const cJSON **list)
{
	const cJSON *item = config_item(config, names);

	*list = NULL;
	if (!cJSON_IsArray(item)) {
		return config_count(config, names);
	}
	*list = config_list(config, names, layers);
	return *list ? config_element(config, names, *list, 0) : 0;
}

/* "per_layer_config": {"05": {"head_dim": 512}} of transformers 5. */
static struct config overrides(struct config *config, uint32_t layer)
{
	struct config child = *config;
	const cJSON *all = config_item(config, "per_layer_config"), *item;

	child.root = NULL;
	if (!cJSON_IsObject(all)) {
		return child;
	}
	cJSON_ArrayForEach(item, all)
	{
		char *end;

		if (strtoul(item->string, &end, 10) == layer && *end == '\0') {
			child.root = item;
		}
	}
	return child;
}

static void override_attention(struct config *config, struct vc_mixer *m)
{
	uint32_t head_dim = m->head_dim;

	m->heads = (uint32_t)config_count_or(config, KEY_HEADS, m->heads);
	m->kv_heads = (uint32_t)config_count_or(config, KEY_KV_HEADS, m->kv_heads);
	m->head_dim = (uint32_t)config_count_or(config, KEY_HEAD_DIM, m->head_dim);
	if (head_dim > 0 && m->inner_norm_elements == 2 * (uint64_t)head_dim) {
		m->inner_norm_elements = 2 * (uint64_t)m->head_dim;
	}
}

static uint64_t listed(struct config *config, const char *names, const cJSON *list, uint32_t layer,
                       uint64_t fallback)
{
	uint64_t value = list ? config_element(config, names, list, layer) : fallback;

	if (list && value == 0) {
		config_fail(config, names, "has a 0 for layer %d (expected at least 1)",
		            (int)layer);
		return fallback;
	}
	return value;
}

void decoder_by_layer(struct config *config, const struct decoder *d, uint32_t layer,
                      struct vc_layer_kind *kind)
{
	struct config child = overrides(config, layer);
	struct vc_mixer *m = &kind->mixers[0];

	m->heads = (uint32_t)listed(config, KEY_HEADS, d->heads_list, layer, m->heads);
	m->kv_heads = (uint32_t)listed(config, KEY_KV_HEADS, d->kv_heads_list, layer, m->kv_heads);
	if (kind->ffns[0].type == VC_FFN_DENSE || kind->ffns[0].type == VC_FFN_GATED) {
		kind->ffns[0].size =
		        listed(config, KEY_FFN, d->ffn_list, layer, kind->ffns[0].size);
	}
	if (child.root && m->type == VC_MIXER_ATTENTION) {
		override_attention(&child, m);
	}
}
