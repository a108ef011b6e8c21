/*
 * Encoder-decoders: T5, BART and their kin. Shapes from huggingface/transformers,
 * src/transformers/models/; docs/architectures.md. The decoder is the model's first stack; its
 * cross-attention reads what the encoder, the second, has made of the input.
 */
#include "block.h"

#include <string.h>

static bool has_class(const struct config *config, const char *suffix)
{
	const cJSON *name = cJSON_GetArrayItem(config_item(config, "architectures"), 0);
	const char *at = cJSON_IsString(name) ? strstr(name->valuestring, suffix) : NULL;

	return at && strcmp(at, suffix) == 0;
}

static void put_tied_head(struct config *config, uint32_t stack, uint64_t vocab, uint64_t hidden,
                          bool tied)
{
	struct vc_extra *head = config_extra_last(config, stack, VC_MODULE_LM_HEAD, vocab, hidden);

	head->tied = tied;
	config->model->vocab_size = vocab;
	config->model->tied_embeddings = tied;
}

/* Layer `i` of a stack in which every step-th has experts instead of one feed-forward part. */
static void set_experts(struct config *config, struct vc_layer_kind *kind, bool bias)
{
	struct vc_ffn *ffn = &kind->ffns[0];

	ffn->type = VC_FFN_MOE;
	ffn->gated = false;
	ffn->up_bias = bias;
	ffn->down_bias = bias;
	ffn->experts = (uint32_t)config_count(config, "num_experts");
	ffn->experts_per_token = bias && ffn->experts > 1 ? 2 : 1;
	ffn->router_bias = config_flag_or(config, "router_bias", false);
}

/* ---- BART */

struct bart_traits {
	uint8_t position_offset;
	bool no_positions, embedding_norm, final_norm;
	bool experts; /* every encoder_sparse_step-th layer */
};

struct bart_half {
	const char *layers, *heads, *ffn, *positions, *sparse_step;
	bool decoder;
};

static const struct bart_half bart_encoder = {
	"encoder_layers num_hidden_layers num_layers",
	"encoder_attention_heads num_attention_heads",
	"encoder_ffn_dim",
	"max_position_embeddings max_encoder_position_embeddings",
	"encoder_sparse_step",
	false
};
static const struct bart_half bart_decoder = {
	"decoder_layers num_hidden_layers num_layers",
	"decoder_attention_heads num_attention_heads",
	"decoder_ffn_dim",
	"max_position_embeddings max_decoder_position_embeddings",
	"decoder_sparse_step",
	true
};

static struct block bart_block(struct config *config, const struct bart_half *half)
{
	return (struct block){
		BLOCK_ALL_BIASES,
		.hidden = config_count(config, KEY_HIDDEN),
		.heads = config_count(config, half->heads),
		.ffn = config_count(config, half->ffn),
		.norm = NORM_LAYER,
		.causal = half->decoder,
		.cross = half->decoder,
	};
}

static void bart_layers(struct config *config, const struct bart_half *half, uint32_t stack,
                        const struct block *block, bool experts)
{
	uint64_t layers = config_count(config, half->layers);
	uint64_t step = experts ? config_number_or(config, half->sparse_step, 0) : 0;
	struct vc_layer_kind kind;

	for (uint64_t i = 0; i < layers && !config_failed(config); i++) {
		block_kind(block, &kind);
		if (step > 0 && (i + 1) % step == 0) {
			set_experts(config, &kind, true);
		}
		config_layer(config, stack, &kind);
	}
}

static uint32_t bart_stack(struct config *config, const struct bart_traits *traits,
                           const struct bart_half *half)
{
	struct block block = bart_block(config, half);
	uint32_t stack = config_stack(config, half->decoder ? VC_STACK_DECODER : VC_STACK_ENCODER,
	                              block.hidden);

	if (!traits->no_positions) {
		config_extra(config, stack, VC_MODULE_POSITION,
		             config_count(config, half->positions) + traits->position_offset,
		             block.hidden);
	}
	if (traits->embedding_norm) {
		config_elements(config, stack, VC_MODULE_NORM, 2 * block.hidden);
	}
	bart_layers(config, half, stack, &block, traits->experts);
	if (traits->final_norm) {
		config_elements(config, stack, VC_MODULE_NORM, 2 * block.hidden)->last = true;
	}
	return stack;
}

static void read_bart(struct config *config, const struct family *family)
{
	uint64_t hidden = config_count(config, KEY_HIDDEN);
	uint64_t vocab = config_count(config, KEY_VOCAB);
	uint32_t stack = bart_stack(config, family->traits, &bart_decoder);

	config_extra(config, stack, VC_MODULE_EMBEDDING, vocab, hidden);
	bart_stack(config, family->traits, &bart_encoder);
	config->model->max_position_embeddings = config_count_or(config, bart_decoder.positions, 0);
	if (config_head(config) == HEAD_SEQUENCE) {
		config_linear(config, stack, VC_MODULE_OTHER, hidden, hidden, true)->last = true;
		config_linear(config, stack, VC_MODULE_OTHER, hidden, config_labels(config), true)
		        ->last = true;
		config->model->vocab_size = vocab;
	} else {
		put_tied_head(config, stack, vocab, hidden,
		              config_flag_or(config, "tie_word_embeddings", true));
	}
}

/* ---- Whisper: BART's layers without the keys' bias, on two convolutions over mel bins */

static uint32_t whisper_stack(struct config *config, const struct bart_half *half)
{
	struct block block = bart_block(config, half);
	uint32_t stack = config_stack(config, half->decoder ? VC_STACK_DECODER : VC_STACK_AUDIO,
	                              block.hidden);

	block.k_bias = false;
	config_extra(config, stack, VC_MODULE_POSITION, config_count(config, half->positions),
	             block.hidden);
	config_blocks(config, stack, &block, config_count(config, half->layers));
	config_elements(config, stack, VC_MODULE_NORM, 2 * block.hidden)->last = true;
	return stack;
}

static void whisper_front(struct config *config, uint32_t stack)
{
	uint64_t hidden = config_count(config, KEY_HIDDEN);
	uint64_t frames = config_count(config, "max_source_positions");

	config_linear(config, stack, VC_MODULE_CONV, 3 * config_count(config, "num_mel_bins"),
	              hidden, true);
	config_linear(config, stack, VC_MODULE_CONV, 3 * hidden, hidden, true);
	config->model->stacks[stack].fixed_tokens = frames;
}

static const struct bart_half whisper_encoder = { "encoder_layers num_hidden_layers",
	                                          "encoder_attention_heads num_attention_heads",
	                                          "encoder_ffn_dim intermediate_size",
	                                          "max_source_positions",
	                                          "",
	                                          false },
                              whisper_decoder = { "decoder_layers",
	                                          "decoder_attention_heads",
	                                          "decoder_ffn_dim",
	                                          "max_target_positions",
	                                          "",
	                                          true };

static void read_whisper(struct config *config, const struct family *family)
{
	uint64_t hidden = config_count(config, KEY_HIDDEN);
	uint64_t vocab = config_count(config, KEY_VOCAB);
	uint32_t stack = whisper_stack(config, &whisper_decoder);

	(void)family;
	config_extra(config, stack, VC_MODULE_EMBEDDING, vocab, hidden);
	whisper_front(config, whisper_stack(config, &whisper_encoder));
	config->model->max_position_embeddings = config_count(config, whisper_decoder.positions);
	put_tied_head(config, stack, vocab, hidden,
	              config_flag_or(config, "tie_word_embeddings", true));
}

/* Qwen2-Audio's and others' tower: Whisper's encoder alone */
static void read_whisper_encoder(struct config *config, const struct family *family)
{
	(void)family;
	whisper_front(config, whisper_stack(config, &whisper_encoder));
}

/* Speech2Text: each convolution halves its channels by a gate; positions are computed */
static void read_speech_to_text(struct config *config, const struct family *family)
{
	uint64_t hidden = config_count(config, KEY_HIDDEN);
	uint64_t vocab = config_count(config, KEY_VOCAB);
	uint64_t channels = config_count_or(config, "conv_channels", 1024);
	const cJSON *kernels = config_list(config, "conv_kernel_sizes", 0);
	uint64_t count = kernels ? (uint64_t)cJSON_GetArraySize(kernels) : 0;
	uint32_t stack = bart_stack(config, family->traits, &bart_decoder);
	uint32_t encoder;

	config_extra(config, stack, VC_MODULE_EMBEDDING, vocab, hidden);
	encoder = bart_stack(config, family->traits, &bart_encoder);
	for (uint64_t i = 0; i < count && !config_failed(config); i++) {
		uint64_t kernel = config_element(config, "conv_kernel_sizes", kernels, i);
		uint64_t in = i ? channels / 2
		                : config_count(config, "input_feat_per_channel") *
		                              config_count_or(config, "input_channels", 1);

		config_linear(config, encoder, VC_MODULE_CONV, times(kernel, in),
		              i + 1 < count ? channels : 2 * hidden, true);
	}
	put_tied_head(config, stack, vocab, hidden,
	              config_flag_or(config, "tie_word_embeddings", true));
}

/* ---- T5 */

struct t5_traits {
	bool gated;       /* where feed_forward_proj is absent */
	bool every_layer; /* has its own table of relative positions, not only the first */
	bool experts;
};

struct t5 {
	const struct t5_traits *traits;
	struct block block;
	uint64_t table; /* of relative positions, one stack's */
};

static void t5_layers(struct config *config, const struct t5 *t5, uint32_t stack, bool decoder)
{
	const char *step_key = decoder ? "decoder_sparse_step" : "encoder_sparse_step";
	uint64_t encoder_layers = config_count(config, "num_layers num_hidden_layers");
	uint64_t layers = decoder ? config_count_or(config, "num_decoder_layers", encoder_layers)
	                          : encoder_layers;
	uint64_t step = t5->traits->experts ? config_number_or(config, step_key, 0) : 0;
	struct block block = t5->block;
	struct vc_layer_kind kind;

	block.causal = decoder;
	block.cross = decoder;
	for (uint64_t i = 0; i < layers && !config_failed(config); i++) {
		block_kind(&block, &kind);
		if (step > 0 && (step == 1 || i % step == 1)) {
			set_experts(config, &kind, false);
		}
		config_layer(config, stack, &kind);
	}
	if (!t5->traits->every_layer) {
		config_elements(config, stack, VC_MODULE_POSITION, t5->table);
	}
	config_elements(config, stack, VC_MODULE_NORM, t5->block.hidden)->last = true;
}

/* LongT5 summarizes blocks of the input: a norm in each layer, one more table */
static void t5_global(struct config *config, struct t5 *t5, uint32_t stack)
{
	const char *type = config_text_or(config, "encoder_attention_type", "local");

	if (strcmp(type, "transient-global") == 0) {
		t5->block.odd += t5->block.hidden;
		config_elements(config, stack, VC_MODULE_POSITION, t5->table);
	}
}

static void t5_facts(struct config *config, struct t5 *t5)
{
	const char *ffn =
	        config_text_or(config, "feed_forward_proj", t5->traits->gated ? "gated" : "relu");

	t5->block = (struct block){
		.hidden = config_count(config, KEY_HIDDEN),
		.heads = config_count(config, KEY_HEADS),
		.head_dim = config_count(config, "d_kv"),
		.ffn = config_count(config, KEY_FFN),
		.norm = NORM_RMS,
		.gated = strncmp(ffn, "gated", 5) == 0,
	};
	t5->table = t5->block.heads * config_count_or(config, "relative_attention_num_buckets", 32);
	t5->block.odd = t5->traits->every_layer ? t5->table : 0;
}

static void read_t5(struct config *config, const struct family *family)
{
	struct t5 t5 = { .traits = family->traits };
	bool encoder_only = has_class(config, "EncoderModel");
	uint64_t vocab = config_count(config, KEY_VOCAB);
	uint32_t stack, encoder;

	t5_facts(config, &t5);
	config->model->vocab_size = vocab;
	if (encoder_only) {
		stack = config_stack(config, VC_STACK_DECODER, t5.block.hidden);
		config_extra(config, stack, VC_MODULE_EMBEDDING, vocab, t5.block.hidden);
		t5_layers(config, &t5, stack, false);
		return;
	}
	stack = config_stack(config, VC_STACK_DECODER, t5.block.hidden);
	config_extra(config, stack, VC_MODULE_EMBEDDING, vocab, t5.block.hidden);
	t5_layers(config, &t5, stack, true);
	encoder = config_stack(config, VC_STACK_ENCODER, t5.block.hidden);
	t5_global(config, &t5, encoder);
	t5_layers(config, &t5, encoder, false);
	put_tied_head(config, stack, vocab, t5.block.hidden,
	              config_flag_or(config, "tie_word_embeddings", true));
}

static const struct bart_traits bart = { .position_offset = 2, .embedding_norm = true },
                                mbart = { .position_offset = 2,
	                                  .embedding_norm = true,
	                                  .final_norm = true },
                                blenderbot_small = { .embedding_norm = true },
                                pegasus = { .final_norm = true }, marian = { .position_offset = 0 },
                                m2m_100 = { .no_positions = true, .final_norm = true },
                                nllb_moe = { .no_positions = true,
	                                     .final_norm = true,
	                                     .experts = true };
static const struct t5_traits t5_plain = { .gated = false }, mt5 = { .gated = true },
                              umt5 = { .gated = true, .every_layer = true },
                              switch_transformers = { .experts = true };

const struct family seq2seq_families[] = {
	{ "bart", read_bart, .traits = &bart },
	{ "blenderbot", read_bart, .traits = &pegasus },
	{ "blenderbot-small", read_bart, .traits = &blenderbot_small },
	{ "longt5", read_t5, .traits = &t5_plain },
	{ "m2m_100", read_bart, .traits = &m2m_100 },
	{ "marian", read_bart, .traits = &marian },
	{ "mbart", read_bart, .traits = &mbart },
	{ "mt5", read_t5, .traits = &mt5 },
	{ "mvp", read_bart, .traits = &bart },
	{ "nllb-moe", read_bart, .traits = &nllb_moe },
	{ "pegasus", read_bart, .traits = &pegasus },
	{ "plbart", read_bart, .traits = &bart },
	{ "qwen2_audio_encoder", read_whisper_encoder, .traits = NULL },
	{ "speech_to_text", read_speech_to_text, .traits = &m2m_100 },
	{ "switch_transformers", read_t5, .traits = &switch_transformers },
	{ "t5", read_t5, .traits = &t5_plain },
	{ "umt5", read_t5, .traits = &umt5 },
	{ "whisper", read_whisper, .traits = NULL },
	{ .model_type = NULL },
};
