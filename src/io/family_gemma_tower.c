/*
 * Gemma 4's towers and T5Gemma. Shapes from huggingface/transformers,
 * src/transformers/models/gemma4 and t5gemma; docs/architectures.md.
 */
#include "multimodal.h"

/* Positions have a table for rows and one for columns */
static void read_gemma4_vision(struct config *config, const struct family *family)
{
	uint64_t width = config_count(config, KEY_HIDDEN);
	uint64_t heads = config_count(config, KEY_HEADS);
	struct block block = { .hidden = width,
		               .heads = heads,
		               .kv_heads = config_count_or(config, KEY_KV_HEADS, heads),
		               .head_dim = config_count_or(config, KEY_HEAD_DIM, 64),
		               .ffn = config_count(config, KEY_FFN),
		               .norm = NORM_RMS,
		               .norms = 4,
		               .gated = true };
	uint32_t stack = config_stack(config, VC_STACK_VISION, width);

	(void)family;
	block.inner_norms = 2 * block.head_dim;
	config_linear(config, stack, VC_MODULE_CONV, config_patch_size(config), width, false);
	config_extra(config, stack, VC_MODULE_POSITION,
	             2 * config_count_or(config, "position_embedding_size", 10240), width);
	config_blocks(config, stack, &block, config_count(config, KEY_LAYERS));
	if (config_flag_or(config, "standardize", false)) {
		config_elements(config, stack, VC_MODULE_NORM, 2 * width)->last = true;
	}
}

/* A conformer: half a feed-forward part, attention, a gated convolution, the other half */
static uint64_t conformer_layer(uint64_t h, uint64_t heads, uint64_t kernel)
{
	uint64_t halves = times(2, plus(times(8 * h, h), 2 * h));
	uint64_t attention = plus(times(5 * h, h), quotient(h, heads));
	uint64_t convolution = plus(times(3 * h, h), plus(times(kernel, h), 2 * h));

	return plus(plus(halves, attention), plus(convolution, 3 * h));
}

static void read_gemma4_audio(struct config *config, const struct family *family)
{
	uint64_t h = config_count(config, KEY_HIDDEN);
	uint64_t heads = config_count(config, KEY_HEADS);
	const cJSON *channels = config_list(config, "subsampling_conv_channels", 2);
	uint64_t first =
	        channels ? config_element(config, "subsampling_conv_channels", channels, 0) : 128;
	uint64_t second =
	        channels ? config_element(config, "subsampling_conv_channels", channels, 1) : 32;
	uint32_t stack = config_stack(config, VC_STACK_AUDIO, h);
	struct vc_layer_kind kind = { .odd_count = 1 };
	uint64_t layers = config_count(config, KEY_LAYERS);

	(void)family;
	config_elements(config, stack, VC_MODULE_CONV, 9 * first + first);
	config_elements(config, stack, VC_MODULE_CONV, plus(times(9 * first, second), second));
	config_linear(config, stack, VC_MODULE_PROJECTOR, 32 * second, h, false);
	if (!config_failed(config)) {
		kind.odd[0].module = VC_MODULE_OTHER;
		kind.odd[0].in = 1;
		kind.odd[0].count = 1;
		kind.odd[0].out =
		        conformer_layer(h, heads, config_count_or(config, "conv_kernel_size", 5));
	}
	for (uint64_t i = 0; i < layers && !config_failed(config); i++) {
		config_layer(config, stack, &kind);
	}
	config_linear(config, stack, VC_MODULE_PROJECTOR, h,
	              config_count_or(config, "output_proj_dims", 1536), true)
	        ->last = true;
}

static void join_gemma4(struct config *config, const struct join *join)
{
	projector(config, join, join->width, join->text, false);
}

static const struct multimodal_traits gemma4 = { .text = "gemma4_text",
	                                         .vision = "gemma4_vision",
	                                         .join = join_gemma4,
	                                         .audio = "gemma4_audio" };

static void read_gemma4(struct config *config, const struct family *family)
{
	struct config audio;

	read_multimodal(config, family);
	if (!config_failed(config) && config_item(config, KEY_AUDIO_CONFIG)) {
		audio = config_child(config, KEY_AUDIO_CONFIG);
		config_linear(config, 0, VC_MODULE_PROJECTOR,
		              config_count_or(&audio, "output_proj_dims", 1536),
		              config->model->stacks[0].hidden_size, false);
	}
}

/* ---- T5Gemma: Gemma 2's layers in both halves, cross-attention between */

static uint32_t t5gemma_half(struct config *config, const char *name, bool decoder)
{
	struct config half = config_child(config, name);
	struct block block = { .norm = NORM_RMS,
		               .gated = true,
		               .causal = decoder,
		               .cross = decoder,
		               .norms = decoder ? 6 : 4 };
	uint32_t stack;

	block.hidden = config_count(&half, KEY_HIDDEN);
	block.heads = config_count(&half, KEY_HEADS);
	block.kv_heads = config_count_or(&half, KEY_KV_HEADS, block.heads);
	block.head_dim = config_count_or(&half, KEY_HEAD_DIM, 256);
	block.ffn = config_count(&half, KEY_FFN);
	block.cross_size = config_count_or(&half, "cross_attention_hidden_size", block.hidden);
	stack = config_stack(config, decoder ? VC_STACK_DECODER : VC_STACK_ENCODER, block.hidden);
	config_extra(config, stack, VC_MODULE_EMBEDDING, config_count(&half, KEY_VOCAB),
	             block.hidden);
	config_blocks(config, stack, &block, config_count(&half, KEY_LAYERS));
	config_elements(config, stack, VC_MODULE_NORM, block.hidden)->last = true;
	return stack;
}

static void read_t5gemma(struct config *config, const struct family *family)
{
	struct config decoder = config_child(config, "decoder");
	uint64_t vocab = config_count(&decoder, KEY_VOCAB);
	uint32_t stack = t5gemma_half(config, "decoder", true);

	(void)family;
	t5gemma_half(config, "encoder", false);
	config->model->vocab_size = vocab;
	config->model->tied_embeddings = config_flag_or(config, KEY_TIED, true);
	config_extra_last(config, stack, VC_MODULE_LM_HEAD, vocab,
	                  config->model->stacks[stack].hidden_size)
	        ->tied = config->model->tied_embeddings;
}

const struct family gemma_tower_families[] = {
	{ "gemma4", read_gemma4, .traits = &gemma4 },
	{ "gemma4_audio", read_gemma4_audio, .traits = NULL },
	{ "gemma4_vision", read_gemma4_vision, .traits = NULL },
	{ "t5gemma", read_t5gemma, .traits = NULL },
	{ .model_type = NULL },
};
