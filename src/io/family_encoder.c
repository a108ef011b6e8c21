/*
 * Encoders of text: BERT and its kin. Shapes from huggingface/transformers,
 * src/transformers/models/; docs/architectures.md. Their attention sees all tokens at once and
 * keeps no cache.
 */
#include "encoder.h"

#include <string.h>

struct encoder {
	const struct encoder_traits *traits;
	struct block block;
	uint64_t layers, vocab, embedding;
	uint32_t stack;
};

static void read_facts(struct config *config, struct encoder *e)
{
	struct block *block = &e->block;

	*block = (struct block){ BLOCK_ALL_BIASES, .norm = NORM_LAYER };
	block->hidden = config_count(config, KEY_HIDDEN);
	block->heads = config_count(config, KEY_HEADS);
	block->ffn = config_count_or(config, KEY_FFN, 4 * block->hidden);
	block->norms = e->traits->norms;
	e->layers = config_count(config, KEY_LAYERS);
	e->vocab = config_count(config, KEY_VOCAB);
	e->embedding =
	        config_count_or(config, "embedding_size input_embedding_size", block->hidden);
	config->model->vocab_size = e->vocab;
	config->model->tied_embeddings = true;
	config->model->max_position_embeddings = config_count_or(config, KEY_POSITIONS, 0);
	if (e->traits->block) {
		e->traits->block(config, block);
	}
	if (block->heads > 0 && block->head_dim == 0 && block->hidden % block->heads != 0) {
		config_fail(config, KEY_HEADS, "does not divide hidden_size %d",
		            (int)block->hidden);
	}
}

static void put_embeddings(struct config *config, const struct encoder *e)
{
	const struct encoder_traits *traits = e->traits;
	uint64_t types = config_number_or(config, "type_vocab_size", traits->no_types ? 0 : 2);

	config_extra(config, e->stack, VC_MODULE_EMBEDDING, e->vocab, e->embedding);
	if (!traits->no_positions) {
		config_extra(config, e->stack, VC_MODULE_POSITION,
		             config_count(config, KEY_POSITIONS) + traits->position_offset,
		             e->embedding);
	}
	if (types > 0 && !traits->no_types) {
		config_extra(config, e->stack, VC_MODULE_POSITION, types, e->embedding);
	}
	if (!traits->no_embedding_norm) {
		config_elements(config, e->stack, VC_MODULE_NORM,
		                norm_size(e->block.norm, e->embedding));
	}
	if (e->embedding != e->block.hidden || traits->shared) {
		config_linear(config, e->stack, VC_MODULE_PROJECTOR, e->embedding, e->block.hidden,
		              traits->embedding_bias);
	}
}

/* dense, norm and the tied table's bias: the head of masked language models */
static void put_masked_lm(struct config *config, const struct encoder *e)
{
	uint64_t h = e->block.hidden;
	struct vc_extra *head;

	config_linear(config, e->stack, VC_MODULE_OTHER, h, e->embedding, true)->last = true;
	config_elements(config, e->stack, VC_MODULE_NORM, 2 * e->embedding)->last = true;
	head = config_extra_last(config, e->stack, VC_MODULE_LM_HEAD, e->vocab, e->embedding);
	head->tied = true;
	config_elements(config, e->stack, VC_MODULE_LM_HEAD, e->vocab)->last = true;
}

static void put_classifier(struct config *config, const struct encoder *e, uint64_t labels)
{
	config_linear(config, e->stack, VC_MODULE_OTHER, e->block.hidden, labels, true)->last =
	        true;
}

static void put_dense(struct config *config, const struct encoder *e)
{
	config_linear(config, e->stack, VC_MODULE_POOLER, e->block.hidden, e->block.hidden, true)
	        ->last = true;
}

static void put_head(struct config *config, const struct encoder *e)
{
	bool pooler = e->traits->pooling == POOL_DENSE;

	switch (config_head(config)) {
	case HEAD_MASKED_LM:
		put_masked_lm(config, e);
		break;
	case HEAD_PRETRAINING: /* ELECTRA's, without a pooler, tells replaced tokens apart */
		put_dense(config, e);
		put_classifier(config, e, pooler ? 2 : 1);
		if (pooler) {
			put_masked_lm(config, e);
		}
		break;
	case HEAD_SEQUENCE: /* a dense layer comes first, be it called pooler or not */
		put_dense(config, e);
		put_classifier(config, e, config_labels(config));
		break;
	case HEAD_TOKEN:
		put_classifier(config, e, config_labels(config));
		break;
	case HEAD_QUESTION:
		put_classifier(config, e, 2);
		break;
	default:
		if (pooler) {
			put_dense(config, e);
		}
	}
}

void read_encoder(struct config *config, const struct family *family)
{
	static const struct encoder_traits plain;
	struct encoder e = { .traits = family->traits ? family->traits : &plain };

	read_facts(config, &e);
	if (config_failed(config)) {
		return;
	}
	e.stack = config_stack(config, VC_STACK_DECODER, e.block.hidden);
	config->model->stacks[e.stack].shared_weights = e.traits->shared;
	put_embeddings(config, &e);
	config_blocks(config, e.stack, &e.block, e.layers);
	if (e.traits->final_norm) {
		config_elements(config, e.stack, VC_MODULE_NORM, 2 * e.block.hidden)->last = true;
	}
	if (e.traits->extras) {
		e.traits->extras(config, e.stack, &e.block);
	}
	put_head(config, &e);
}

/* MPNet and T5 alike: a bias per bucket of distance and head, for all layers */
static void mpnet_extras(struct config *config, uint32_t stack, const struct block *block)
{
	config_extra(config, stack, VC_MODULE_POSITION,
	             config_count_or(config, "relative_attention_num_buckets", 32), block->heads);
}

/* The positions that relative attention tells apart: both directions */
static uint64_t relative_positions(struct config *config)
{
	uint64_t buckets = config_number_or(config, "position_buckets", 0);
	const cJSON *reach = config_item(config, "max_relative_positions");

	if (buckets == 0 && cJSON_IsNumber(reach) && reach->valuedouble >= 1) {
		buckets = config_count(config, "max_relative_positions");
	}
	return 2 * (buckets ? buckets : config_count(config, KEY_POSITIONS));
}

static bool mentions(const struct config *config, const char *key, const char *word)
{
	const cJSON *item = config_item(config, key), *entry;

	if (cJSON_IsString(item)) {
		return strstr(item->valuestring, word) != NULL;
	}
	cJSON_ArrayForEach(entry, item)
	{
		if (cJSON_IsString(entry) && strcmp(entry->valuestring, word) == 0) {
			return true;
		}
	}
	return false;
}

/* DeBERTa: queries', keys' and values' projection is fused and has biases on the first and last;
 * each layer projects the relative positions again. */
static void deberta_block(struct config *config, struct block *block)
{
	uint64_t h = block->hidden;

	block->fused_qkv = true;
	block->k_bias = false;
	if (!config_flag_or(config, "relative_attention", false)) {
		return;
	}
	if (mentions(config, "pos_att_type", "c2p")) {
		block->odd += h * h;
	}
	if (mentions(config, "pos_att_type", "p2c")) {
		block->odd += linear_elements(h, h);
	}
}

static void deberta_extras(struct config *config, uint32_t stack, const struct block *block)
{
	if (config_flag_or(config, "relative_attention", false)) {
		config_extra(config, stack, VC_MODULE_POSITION, relative_positions(config),
		             block->hidden);
	}
}

static void deberta_v2_block(struct config *config, struct block *block)
{
	bool relative = config_flag_or(config, "relative_attention", false);
	uint64_t h = block->hidden;

	if (!relative || config_flag_or(config, "share_att_key", false)) {
		return;
	}
	block->odd += mentions(config, "pos_att_type", "c2p") ? linear_elements(h, h) : 0;
	block->odd += mentions(config, "pos_att_type", "p2c") ? linear_elements(h, h) : 0;
}

static void deberta_v2_extras(struct config *config, uint32_t stack, const struct block *block)
{
	uint64_t h = block->hidden;
	uint64_t kernel = config_number_or(config, "conv_kernel_size", 0);

	deberta_extras(config, stack, block);
	if (config_flag_or(config, "relative_attention", false) &&
	    mentions(config, "norm_rel_ebd", "layer_norm")) {
		config_elements(config, stack, VC_MODULE_NORM, 2 * h);
	}
	if (kernel > 0) {
		config_linear(config, stack, VC_MODULE_CONV,
		              quotient(kernel * h, config_count_or(config, "conv_groups", 1)), h,
		              true);
		config_elements(config, stack, VC_MODULE_NORM, 2 * h);
	}
}

/* Tables of a word's place on the page: left or right, top or bottom, height, width */
static void layoutlm_extras(struct config *config, uint32_t stack, const struct block *block)
{
	config_extra(config, stack, VC_MODULE_POSITION,
	             4 * config_count_or(config, "max_2d_position_embeddings", 1024),
	             block->hidden);
}

/* A convolution along the sequence, one filter per head */
static void nystromformer_block(struct config *config, struct block *block)
{
	block->odd = block->heads * config_number_or(config, "conv_kernel_size", 65);
}

static void yoso_block(struct config *config, struct block *block)
{
	block->odd = block->heads * config_number_or(config, "conv_window", 0);
}

static const struct encoder_traits
        rembert = { .pooling = POOL_DENSE, .embedding_bias = true },
        layoutlm = { .pooling = POOL_DENSE, .extras = layoutlm_extras },
        mra = { .position_offset = 2 },
        nystromformer = { .position_offset = 2, .block = nystromformer_block },
        yoso = { .position_offset = 2, .block = yoso_block }, bert = { .pooling = POOL_DENSE },
        distilbert = { .no_types = true },
        albert = { .pooling = POOL_DENSE, .embedding_bias = true, .shared = true },
        electra = { .embedding_bias = true },
        mpnet = { .pooling = POOL_DENSE, .no_types = true, .extras = mpnet_extras },
        prelayernorm = { .pooling = POOL_DENSE, .final_norm = true },
        pre_norm = { .pooling = POOL_DENSE, .final_norm = true, .no_embedding_norm = true };

/* Whether the inputs carry absolute positions is a flag in DeBERTa. */
static void read_deberta(struct config *config, const struct family *family)
{
	struct encoder_traits traits = { .block = deberta_block, .extras = deberta_extras };
	struct family row = *family;

	if (strcmp(family->model_type, "deberta-v2") == 0) {
		traits.block = deberta_v2_block;
		traits.extras = deberta_v2_extras;
	}
	traits.no_positions = !config_flag_or(config, "position_biased_input", true);
	traits.no_types = config_number_or(config, "type_vocab_size", 0) == 0;
	row.traits = &traits;
	read_encoder(config, &row);
}

const struct family encoder_families[] = {
	{ "albert", read_encoder, .traits = &albert },
	{ "big_bird", read_encoder, .traits = &bert },
	{ "bert", read_encoder, .traits = &bert },
	{ "camembert", read_encoder, .traits = &bert },
	{ "data2vec-text", read_encoder, .traits = &bert },
	{ "deberta", read_deberta, .traits = NULL },
	{ "deberta-v2", read_deberta, .traits = NULL },
	{ "distilbert", read_encoder, .traits = &distilbert },
	{ "electra", read_encoder, .traits = &electra },
	{ "ernie", read_encoder, .traits = &bert },
	{ "ibert", read_encoder, .traits = &bert },
	{ "layoutlm", read_encoder, .traits = &layoutlm },
	{ "megatron-bert", read_encoder, .traits = &pre_norm },
	{ "mpnet", read_encoder, .traits = &mpnet },
	{ "mra", read_encoder, .traits = &mra },
	{ "nystromformer", read_encoder, .traits = &nystromformer },
	{ "rembert", read_encoder, .traits = &rembert },
	{ "roberta", read_encoder, .traits = &bert },
	{ "roberta-prelayernorm", read_encoder, .traits = &prelayernorm },
	{ "splinter", read_encoder, .traits = NULL },
	{ "xlm-roberta", read_encoder, .traits = &bert },
	{ "xlm-roberta-xl", read_encoder, .traits = &pre_norm },
	{ "yoso", read_encoder, .traits = &yoso },
	{ .model_type = NULL },
};
