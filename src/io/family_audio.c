/*
 * Models of speech: wav2vec 2.0 and its kin, and the towers of models that hear. Shapes from
 * huggingface/transformers, src/transformers/models/; docs/architectures.md.
 */
#include "tower.h"

#include <string.h>

/* ---- wav2vec 2.0: convolutions over samples, a convolution for positions, an encoder */

struct wav2vec_traits {
	bool relative; /* WavLM: gates in each layer, a table of relative positions in the first */
};

struct front {
	uint32_t stack;
	uint64_t channels; /* of the last convolution */
};

static void put_convolutions(struct config *config, struct front *front)
{
	const cJSON *dims = config_list(config, "conv_dim", 0);
	uint64_t count = dims ? (uint64_t)cJSON_GetArraySize(dims) : 0;
	const cJSON *kernels = config_list(config, "conv_kernel", count);
	bool every = strcmp(config_text_or(config, "feat_extract_norm", "group"), "layer") == 0;
	uint64_t in = 1;

	if (!dims || !kernels) {
		config_fail(config, "conv_dim", "is missing (expected the convolutions' widths)");
		return;
	}
	for (uint64_t i = 0; i < count && i < 32; i++) {
		uint64_t out = config_element(config, "conv_dim", dims, i);
		uint64_t kernel = config_element(config, "conv_kernel", kernels, i);

		config_linear(config, front->stack, VC_MODULE_CONV, in * kernel, out,
		              config_flag_or(config, "conv_bias", false));
		if (every || i == 0) {
			config_elements(config, front->stack, VC_MODULE_NORM, 2 * out);
		}
		in = out;
	}
	front->channels = in;
}

/* A convolution over 128 frames in 16 groups, its weights normalized per frame */
static void put_position_convolution(struct config *config, uint32_t stack, uint64_t hidden)
{
	uint64_t kernel = config_count_or(config, "num_conv_pos_embeddings", 128);
	uint64_t groups = config_count_or(config, "num_conv_pos_embedding_groups", 16);

	config_linear(config, stack, VC_MODULE_CONV, quotient(hidden, groups) * kernel, hidden,
	              true);
	config_elements(config, stack, VC_MODULE_CONV, kernel);
}

static bool for_ctc(const struct config *config)
{
	const cJSON *name = cJSON_GetArrayItem(config_item(config, "architectures"), 0);

	return cJSON_IsString(name) && strstr(name->valuestring, "ForCTC") != NULL;
}

static void put_ctc_head(struct config *config, uint32_t stack, uint64_t hidden)
{
	if (for_ctc(config)) {
		config_linear(config, stack, VC_MODULE_LM_HEAD, hidden,
		              config_count(config, KEY_VOCAB), true)
		        ->last = true;
	}
}

static void read_wav2vec(struct config *config, const struct family *family)
{
	const struct wav2vec_traits *traits = family->traits;
	uint64_t hidden = config_count(config, KEY_HIDDEN);
	struct block block = { BLOCK_ALL_BIASES, .hidden = hidden,
		               .heads = config_count(config, KEY_HEADS),
		               .ffn = config_count(config, KEY_FFN), .norm = NORM_LAYER };
	struct front front = { .stack = config_stack(config, VC_STACK_AUDIO, hidden) };

	put_convolutions(config, &front);
	config_elements(config, front.stack, VC_MODULE_OTHER, hidden);
	config_elements(config, front.stack, VC_MODULE_NORM, 2 * front.channels);
	config_linear(config, front.stack, VC_MODULE_PROJECTOR, front.channels, hidden, true);
	put_position_convolution(config, front.stack, hidden);
	config_elements(config, front.stack, VC_MODULE_NORM, 2 * hidden);
	if (traits->relative && !config_failed(config)) {
		block.odd = block.heads + linear_elements(quotient(hidden, block.heads), 8);
		config_extra(config, front.stack, VC_MODULE_POSITION,
		             config_count_or(config, "num_buckets", 320), block.heads);
	}
	config_blocks(config, front.stack, &block, config_count(config, KEY_LAYERS));
	put_ctc_head(config, front.stack, hidden);
}

/* ---- Qwen's towers: Whisper's layers, positions computed, a projection to the language model */

static uint32_t qwen_audio_layers(struct config *config)
{
	uint64_t width = config_count(config, "d_model");
	struct block block = { BLOCK_ALL_BIASES, .hidden = width,
		               .heads = config_count(config, "encoder_attention_heads"),
		               .ffn = config_count(config, "encoder_ffn_dim"), .norm = NORM_LAYER };
	uint32_t stack = config_stack(config, VC_STACK_AUDIO, width);

	config->model->stacks[stack].fixed_tokens =
	        config_count_or(config, "max_source_positions", 1500);
	config_blocks(config, stack, &block, config_count(config, "encoder_layers"));
	config_elements(config, stack, VC_MODULE_NORM, 2 * width)->last = true;
	return stack;
}

static void read_qwen2_5_audio(struct config *config, const struct family *family)
{
	uint64_t width = config_count(config, "d_model");
	uint64_t out = config_count_or(config, "output_dim", 3584);
	uint32_t stack = qwen_audio_layers(config);
	struct vc_layer_kind *kind = &config->model->kinds[config->model->kind_count - 1];

	(void)family;
	if (config_failed(config)) {
		return;
	}
	kind->mixers[0].k_bias = false;
	config_linear(config, stack, VC_MODULE_CONV, 3 * config_count(config, "num_mel_bins"),
	              width, true);
	config_linear(config, stack, VC_MODULE_CONV, 3 * width, width, true);
	config_extra(config, stack, VC_MODULE_EMBEDDING, 2, out);
	config_linear(config, stack, VC_MODULE_PROJECTOR, width, out, true)->last = true;
}

/* Three strided convolutions over the spectrogram as an image */
static void read_qwen3_audio(struct config *config, const struct family *family)
{
	uint64_t width = config_count(config, "d_model");
	uint64_t channels = config_count_or(config, "downsample_hidden_size", 480);
	uint64_t bins = (config_count(config, "num_mel_bins") + 7) / 8;
	uint32_t stack = qwen_audio_layers(config);

	(void)family;
	config_linear(config, stack, VC_MODULE_CONV, 9, channels, true);
	config_linear(config, stack, VC_MODULE_CONV, 9 * channels, channels, true);
	config_linear(config, stack, VC_MODULE_CONV, 9 * channels, channels, true);
	config_linear(config, stack, VC_MODULE_PROJECTOR, channels * bins, width, false);
	config_linear(config, stack, VC_MODULE_PROJECTOR, width, width, true)->last = true;
	config_linear(config, stack, VC_MODULE_PROJECTOR, width,
	              config_count_or(config, "output_dim", 3584), true)
	        ->last = true;
}

static const struct wav2vec_traits wav2vec2 = { .relative = false }, wavlm = { .relative = true };

const struct family audio_families[] = {
	{ "hubert", read_wav2vec, .traits = &wav2vec2 },
	{ "qwen2_5_omni_audio_encoder", read_qwen2_5_audio, .traits = NULL },
	{ "qwen3_omni_moe_audio_encoder", read_qwen3_audio, .traits = NULL },
	{ "unispeech", read_wav2vec, .traits = &wav2vec2 },
	{ "unispeech-sat", read_wav2vec, .traits = &wav2vec2 },
	{ "wav2vec2", read_wav2vec, .traits = &wav2vec2 },
	{ "wavlm", read_wav2vec, .traits = &wavlm },
	{ .model_type = NULL },
};
