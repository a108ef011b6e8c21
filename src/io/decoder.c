/*
 * The common decoder: what nearly every language model is. Its keys are read once into struct
 * decoder; then each layer is the base kind with its window and its feed-forward part chosen, and
 * what the family's own function changes. docs/architectures.md
 */
#include "decoder.h"

#include <string.h>

static bool key_says(struct config *config, const char *key, bool otherwise)
{
	return key ? config_flag_or(config, key, otherwise) : otherwise;
}

static void read_experts(struct config *config, struct decoder *d)
{
	d->experts = config_flag_or(config, "is_moe", true)
	                     ? config_number_or(config, KEY_EXPERTS, 0)
	                     : 0;
	if (d->experts < 2) { /* phi-3-style files state one expert for a dense model */
		d->experts = 0;
		return;
	}
	d->experts_per_token = config_count(config, KEY_EXPERTS_PER_TOKEN);
	if (d->experts_per_token > d->experts) {
		config_fail(config, KEY_EXPERTS_PER_TOKEN, "exceeds the %d experts",
		            (int)d->experts);
	}
	d->expert_size = config_count_or(config, KEY_EXPERT_SIZE, d->ffn_size);
	d->shared_size = config_number_or(config, KEY_SHARED_SIZE, 0);
	if (d->shared_size == 0) {
		d->shared_size = d->expert_size * config_number_or(config, KEY_SHARED_EXPERTS, 0);
	}
	if (d->expert_size == 0) {
		config_fail(config, KEY_EXPERT_SIZE, "is missing (expected the experts' width)");
	}
}

static void read_heads(struct config *config, struct decoder *d)
{
	bool latent = config_item(config, "kv_lora_rank") != NULL;

	d->heads = config_count_by_layer(config, KEY_HEADS, d->layers, &d->heads_list);
	d->kv_heads = config_flag_or(config, "multi_query", false) ? 1 : d->heads;
	if (config_item(config, KEY_KV_HEADS)) {
		d->kv_heads =
		        config_count_by_layer(config, KEY_KV_HEADS, d->layers, &d->kv_heads_list);
	}
	d->head_dim = config_count_or(config, KEY_HEAD_DIM, d->heads ? d->hidden / d->heads : 0);
	if (config_failed(config) || latent) {
		return;
	}
	if (d->head_dim == 0 ||
	    (!config_item(config, KEY_HEAD_DIM) && d->head_dim * d->heads != d->hidden)) {
		config_fail(config, KEY_HEADS, "does not divide hidden_size %d (expected head_dim)",
		            (int)d->hidden);
	}
	if (d->kv_heads == 0 || d->heads % d->kv_heads != 0) {
		config_fail(config, KEY_KV_HEADS, "does not divide the %d attention heads",
		            (int)d->heads);
	}
}

/* A count of layers, or one letter for each of them: "LLLG". */
static uint64_t read_period(struct config *config, uint64_t fallback)
{
	static const char keys[] = "sliding_window_pattern _sliding_window_pattern";
	const cJSON *item = config_item(config, keys);

	if (cJSON_IsString(item)) {
		return strlen(item->valuestring);
	}
	return config_count_or(config, keys, fallback);
}

static void read_facts(struct config *config, struct decoder *d)
{
	const struct decoder_traits *traits = &d->family->decoder;
	const cJSON *types;

	d->hidden = config_count(config, KEY_HIDDEN);
	types = config_list(config, KEY_LAYER_TYPES, 0);
	d->layers = types && !config_item(config, KEY_LAYERS) ? (uint64_t)cJSON_GetArraySize(types)
	                                                      : config_count(config, KEY_LAYERS);
	if (d->layers == 0) {
		config_fail(config, KEY_LAYER_TYPES, "is empty (expected one entry per layer)");
	}
	if (d->layers > VC_MAX_LAYERS) {
		config_fail(config, KEY_LAYERS, "%d layers are too many (expected at most %d)",
		            (int)d->layers, VC_MAX_LAYERS);
	}
	if (!traits->no_attention) {
		read_heads(config, d);
	}
	d->vocab = config_count(config, KEY_VOCAB);
	d->positions = config_count_or(config, KEY_POSITIONS, 0);
	d->window = config_number_or(config, KEY_WINDOW, 0);
	d->period = read_period(config, traits->period);
	d->tied = config_tied(config, traits->tied);
	d->ffn_size = traits->plain_ffn ? 4 * d->hidden : 0;
	if (config_item(config, KEY_FFN)) {
		d->ffn_size = config_count_by_layer(config, KEY_FFN, d->layers, &d->ffn_list);
	}
	read_experts(config, d);
	if (traits->facts && !config_failed(config)) {
		traits->facts(config, d);
	}
	if (d->ffn_size == 0 && d->experts == 0 && !traits->no_ffn) {
		config_count(config, KEY_FFN);
	}
}

/* ---- The base layer */

static void base_latent(struct config *config, struct vc_mixer *m)
{
	bool bias = config_flag_or(config, "attention_bias", false);

	m->type = VC_MIXER_LATENT;
	m->kv_heads = m->heads;
	m->q_lora_rank = (uint32_t)config_number_or(config, "q_lora_rank", 0);
	m->kv_lora_rank = (uint32_t)config_count(config, "kv_lora_rank");
	m->qk_rope_head_dim = (uint32_t)config_count(config, "qk_rope_head_dim");
	m->qk_nope_head_dim = (uint32_t)config_count(config, "qk_nope_head_dim");
	m->v_head_dim = (uint32_t)config_count(config, "v_head_dim");
	m->q_bias = bias && m->q_lora_rank > 0;
	m->k_bias = bias;
	m->o_bias = bias;
	m->inner_norm_elements = m->q_lora_rank + (uint64_t)m->kv_lora_rank;
	m->index_heads = (uint32_t)config_number_or(config, "index_n_heads", 0);
	if (m->index_heads > 0) {
		m->index_head_dim = (uint32_t)config_count(config, "index_head_dim");
	}
	m->head_dim = m->qk_nope_head_dim + m->qk_rope_head_dim;
}

static uint64_t qk_norm_size(enum qk_norm style, const struct decoder *d)
{
	switch (style) {
	case QK_NORM_HEAD:
		return 2 * d->head_dim;
	case QK_NORM_HEAD_BIAS:
		return 4 * d->head_dim;
	case QK_NORM_HEADS:
		return (d->heads + d->kv_heads) * d->head_dim;
	default:
		return 0;
	}
}

static void base_attention(struct config *config, const struct decoder *d, struct vc_mixer *m)
{
	const struct decoder_traits *traits = &d->family->decoder;
	bool qkv_bias = key_says(config, traits->qkv_bias_key, traits->qkv_bias);

	m->type = VC_MIXER_ATTENTION;
	m->q_bias = qkv_bias;
	m->k_bias = qkv_bias;
	m->v_bias = qkv_bias;
	m->o_bias = key_says(config, traits->o_bias_key, traits->o_bias);
	m->fused_qkv = traits->fused_qkv;
	m->head_dim = (uint32_t)d->head_dim;
	if (key_says(config, traits->qk_norm_key, !traits->qk_norm_key)) {
		m->inner_norm_elements = qk_norm_size(traits->qk_norm, d);
	}
}

static void base_ffn(struct config *config, struct decoder *d)
{
	const struct decoder_traits *traits = &d->family->decoder;
	struct vc_ffn *dense = &d->base.ffns[0], *moe = &d->expert_ffn;
	bool bias = key_says(config, traits->ffn_bias_key, traits->ffn_bias);

	d->base.ffn_count = 1;
	dense->type = traits->plain_ffn ? VC_FFN_DENSE : VC_FFN_GATED;
	dense->size = d->ffn_size;
	dense->up_bias = bias;
	dense->down_bias = bias;
	dense->fused_gate_up = traits->fused_gate_up;
	moe->type = VC_FFN_MOE;
	moe->gated = !traits->plain_ffn;
	moe->size = d->expert_size;
	moe->experts = (uint32_t)d->experts;
	moe->experts_per_token = (uint32_t)d->experts_per_token;
	moe->shared_size = d->shared_size;
	moe->shared_gate = d->shared_size > 0 && traits->shared_gate;
	moe->router_bias = traits->router_bias;
	moe->up_bias = traits->expert_bias;
	moe->down_bias = traits->expert_bias;
}

static void read_base(struct config *config, struct decoder *d)
{
	const struct decoder_traits *traits = &d->family->decoder;
	struct vc_mixer *m = &d->base.mixers[0];

	m->causal = config_generates(config);
	m->heads = (uint32_t)d->heads;
	m->kv_heads = (uint32_t)d->kv_heads;
	if (!traits->no_attention) {
		d->base.mixer_count = 1;
	}
	if (config_item(config, "kv_lora_rank")) {
		base_latent(config, m);
	} else if (!traits->no_attention) {
		base_attention(config, d, m);
	}
	if (!traits->no_ffn) {
		base_ffn(config, d);
	}
	d->base.norms = traits->norms ? traits->norms : 2;
	d->base.norm_elements = d->base.norms * norm_size(traits->norm, d->hidden);
	if (traits->base) {
		traits->base(config, d);
	}
}

/* ---- Laying out */

void decoder_layer(struct config *config, const struct decoder *d, uint32_t layer,
                   struct vc_layer_kind *kind)
{
	const struct decoder_traits *traits = &d->family->decoder;
	enum layer_type type = (enum layer_type)d->types[layer];

	memcpy(kind, &d->base, sizeof *kind);
	if (type == LAYER_SLIDING || type == LAYER_CHUNKED) {
		kind->mixers[0].window = d->window;
		kind->mixers[0].window_is_chunk = type == LAYER_CHUNKED;
	}
	if (d->moe[layer]) {
		memcpy(&kind->ffns[0], &d->expert_ffn, sizeof d->expert_ffn);
	}
	decoder_by_layer(config, d, layer, kind);
	if (traits->layer) {
		traits->layer(config, d, layer, kind);
	}
}

static void before_layers(struct config *config, const struct decoder *d)
{
	const struct decoder_traits *traits = &d->family->decoder;

	config_extra(config, d->stack, VC_MODULE_EMBEDDING, d->vocab, d->hidden);
	if (traits->learned_positions && !config_flag_or(config, KEY_ALIBI, false)) {
		uint64_t positions = d->positions;

		if (positions == 0 && traits->positions) {
			positions = traits->positions;
			config->model->assumed_positions = positions;
		} else if (positions == 0) {
			positions = config_count(config, KEY_POSITIONS);
		}

		config_extra(config, d->stack, VC_MODULE_POSITION,
		             positions + traits->position_offset, d->hidden);
	}
	if (traits->embedding_norm) {
		config_extra(config, d->stack, VC_MODULE_NORM, norm_size(traits->norm, d->hidden),
		             1);
	}
}

static void after_layers(struct config *config, const struct decoder *d)
{
	const struct decoder_traits *traits = &d->family->decoder;
	struct vc_extra *head;

	if (traits->norm != NORM_NONE && (!traits->final_norm || traits->final_norm(config))) {
		config_extra_last(config, d->stack, VC_MODULE_NORM,
		                  norm_size(traits->norm, d->hidden), 1);
	}
	if (!config_generates(config)) {
		if (config_head(config) != HEAD_NONE) {
			config_extra_last(config, d->stack, VC_MODULE_OTHER, config_labels(config),
			                  d->hidden);
		}
		return;
	}
	head = config_extra_last(config, d->stack, VC_MODULE_LM_HEAD, d->vocab, d->hidden);
	head->tied = d->tied;
	if (!d->tied && key_says(config, traits->head_bias_key, traits->head_bias)) {
		head->tensor.bias = d->vocab;
	}
}

void decoder_mtp(struct config *config, const struct decoder *d, uint64_t layers, bool copies)
{
	struct vc_layer_kind kind;
	uint32_t stack;

	if (layers == 0) {
		return;
	}
	stack = config_stack(config, VC_STACK_MTP, d->hidden);
	decoder_layer(config, d, (uint32_t)d->layers - 1, &kind);
	for (uint64_t i = 0; i < layers && !config_failed(config); i++) {
		struct vc_extra *join =
		        config_extra(config, stack, VC_MODULE_OTHER, d->hidden, 2 * d->hidden);

		join->tensor.split = VC_SPLIT_NONE;
		config_extra(config, stack, VC_MODULE_NORM, 3 * d->hidden, 1);
		if (copies) {
			config_extra(config, stack, VC_MODULE_EMBEDDING, d->vocab, d->hidden);
			config_extra_last(config, stack, VC_MODULE_LM_HEAD, d->vocab, d->hidden);
		}
		config_layer(config, stack, &kind);
	}
}

void extras_mtp(struct config *config, const struct decoder *d)
{
	decoder_mtp(config, d, config_number_or(config, KEY_MTP, 0), false);
}

void extras_mtp_copies(struct config *config, const struct decoder *d)
{
	decoder_mtp(config, d, config_number_or(config, KEY_MTP, 0), true);
}

static void rotary(struct config *config, const struct decoder *d)
{
	struct vc_model *model = config->model;
	uint64_t dim = d->base.mixers[0].type == VC_MIXER_LATENT
	                       ? d->base.mixers[0].qk_rope_head_dim
	                       : d->head_dim;
	double factor = config_fraction_or(
	        config,
	        "partial_rotary_factor rotary_pct rope_pct rope_parameters.partial_rotary_factor",
	        1.0);

	if (d->family->decoder.learned_positions || d->family->decoder.no_rotary) {
		return;
	}
	model->rotary_dim = config_count_or(config, "rotary_dim", (uint64_t)((double)dim * factor));
	model->rotary_tables = 1;
}

void read_decoder(struct config *config, const struct family *family)
{
	struct decoder facts, *d = &facts;
	struct vc_layer_kind kind;

	memset(d, 0, sizeof *d);
	d->family = family;
	read_facts(config, d);
	if (!config_failed(config)) {
		decoder_read_types(config, d);
		decoder_read_moe(config, d);
		read_base(config, d);
	}
	if (!config_failed(config)) {
		config->model->vocab_size = d->vocab;
		config->model->max_position_embeddings = d->positions;
		config->model->tied_embeddings = d->tied;
		rotary(config, d);
		d->stack = config_stack(config, VC_STACK_DECODER, d->hidden);
		before_layers(config, d);
		for (uint32_t i = 0; i < d->layers && !config_failed(config); i++) {
			decoder_layer(config, d, i, &kind);
			config_layer(config, d->stack, &kind);
		}
		after_layers(config, d);
	}
	if (!config_failed(config) && family->decoder.extras) {
		family->decoder.extras(config, d);
	}
}
