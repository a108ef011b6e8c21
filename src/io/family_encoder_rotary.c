/*
 * Encoders of text with rotary positions: ModernBERT, Nomic, GTE, Jina. Shapes from
 * huggingface/transformers, src/transformers/models/, and from the models' own repositories on
 * huggingface.co (nomic-ai/nomic-bert-2048, Alibaba-NLP/new-impl); docs/architectures.md.
 */
#include "encoder.h"

#include <string.h>

static void nomic_block(struct config *config, struct block *block)
{
	const char *activation = config_text_or(config, "activation_function", "swiglu");
	bool bias = config_flag_or(config, "qkv_proj_bias", false);

	block->q_bias = bias;
	block->k_bias = bias;
	block->v_bias = bias;
	block->o_bias = bias;
	block->ffn_bias = config_flag_or(config, "mlp_fc2_bias", false);
	block->no_up_bias = !config_flag_or(config, "mlp_fc1_bias", false);
	block->gated = strcmp(activation, "swiglu") == 0;
}

static void gte_block(struct config *config, struct block *block)
{
	(void)config;
	block->gated = true;
	block->no_up_bias = true;
}

/* ---- ModernBERT */

static uint64_t modernbert_window(struct config *config, uint64_t layer)
{
	uint64_t every = config_count_or(config, "global_attn_every_n_layers", 3);
	const cJSON *types = config_item(config, "layer_types");
	const cJSON *type = cJSON_GetArrayItem(types, (int)layer);
	bool local = every > 0 && layer % every != 0;

	if (cJSON_IsString(type)) {
		local = strcmp(type->valuestring, "sliding_attention") == 0;
	}
	return local ? config_count_or(config, "local_attention", 128) : 0;
}

/* The first layer's attention reads what the embeddings' norm has just normalized. */
static void modernbert_layers(struct config *config, uint32_t stack, struct block *block)
{
	uint64_t layers = config_count(config, KEY_LAYERS);
	struct vc_layer_kind kind;

	for (uint64_t i = 0; i < layers && !config_failed(config); i++) {
		block->norms = i == 0 ? 1 : 2;
		block->window = modernbert_window(config, i);
		block_kind(block, &kind);
		config_layer(config, stack, &kind);
	}
}

static void modernbert_head(struct config *config, uint32_t stack, const struct block *block,
                            uint64_t vocab)
{
	enum model_head head = config_head(config);
	bool bias = config_flag_or(config, "classifier_bias", false);
	bool masked = head == HEAD_MASKED_LM;

	if (head == HEAD_NONE || head == HEAD_UNSAID) {
		return;
	}
	config_linear(config, stack, VC_MODULE_OTHER, block->hidden, block->hidden, bias)->last =
	        true;
	config_elements(config, stack, VC_MODULE_NORM, norm_size(block->norm, block->hidden))
	        ->last = true;
	if (masked) {
		config_extra_last(config, stack, VC_MODULE_LM_HEAD, vocab, block->hidden)->tied =
		        true;
		config_elements(config, stack, VC_MODULE_LM_HEAD,
		                config_flag_or(config, "decoder_bias", true) ? vocab : 0)
		        ->last = true;
	} else {
		config_linear(config, stack, VC_MODULE_OTHER, block->hidden, config_labels(config),
		              true)
		        ->last = true;
	}
}

static void read_modernbert(struct config *config, const struct family *family)
{
	bool bias = config_flag_or(config, "attention_bias", false);
	struct block block = { .hidden = config_count(config, KEY_HIDDEN),
		               .heads = config_count(config, KEY_HEADS),
		               .ffn = config_count(config, KEY_FFN),
		               .norm = config_flag_or(config, "norm_bias", false)
		                               ? NORM_LAYER
		                               : NORM_LAYER_PLAIN,
		               .q_bias = bias,
		               .k_bias = bias,
		               .v_bias = bias,
		               .o_bias = bias,
		               .ffn_bias = config_flag_or(config, "mlp_bias", false),
		               .fused_qkv = true,
		               .gated = true,
		               .fused_gate_up = true };
	uint64_t vocab = config_count(config, KEY_VOCAB);
	uint32_t stack = config_stack(config, VC_STACK_DECODER, block.hidden);
	uint64_t norm = norm_size(block.norm, block.hidden);

	(void)family;
	config->model->vocab_size = vocab;
	config->model->tied_embeddings = true;
	config->model->max_position_embeddings = config_count_or(config, KEY_POSITIONS, 0);
	config_extra(config, stack, VC_MODULE_EMBEDDING, vocab, block.hidden);
	config_elements(config, stack, VC_MODULE_NORM, norm);
	modernbert_layers(config, stack, &block);
	config_elements(config, stack, VC_MODULE_NORM, norm)->last = true;
	modernbert_head(config, stack, &block, vocab);
}

static const struct encoder_traits nomic = { .no_positions = true, .block = nomic_block },
                                   gte = { .no_positions = true, .block = gte_block },
                                   jina = { .no_positions = true, .pooling = POOL_DENSE };

const struct family rotary_encoder_families[] = {
	{ "gte", read_encoder, .traits = &gte },
	{ "jina_embeddings_v3", read_encoder, .traits = &jina },
	{ "modernbert", read_modernbert, .traits = NULL },
	{ "new", read_encoder, .traits = &gte },
	{ "nomic_bert", read_encoder, .traits = &nomic },
	{ .model_type = NULL },
};
