/*
 * More language models with towers, whose joints are larger: resamplers with learned queries,
 * mergers, audio beside vision. Shapes from huggingface/transformers, src/transformers/models/;
 * docs/architectures.md.
 */
#include "multimodal.h"

/* ---- Voxtral: four frames side by side */

static void join_voxtral(struct config *config, const struct join *join)
{
	struct config audio = config_child(config, KEY_AUDIO_CONFIG);
	uint64_t in = config_count(&audio, "intermediate_size encoder_ffn_dim");

	projector(config, join, in, join->text, false);
	projector(config, join, join->text, join->text, false);
}

/* ---- Kimi and PaddleOCR: a norm, 2 x 2 patches merged, two linear layers */

static void join_merger(struct config *config, const struct join *join)
{
	uint64_t merged = 4 * join->width;

	projector_elements(config, join, 2 * join->width);
	projector(config, join, merged, merged, true);
	projector(config, join, merged, join->text, true);
}

/* ---- Command A Vision: a gated layer */

static void join_cohere2(struct config *config, const struct join *join)
{
	uint64_t factor = config_count_or(config, "downsample_factor", 2);
	uint64_t middle = config_count_or(config, "alignment_intermediate_size", 36864);

	projector(config, join, times(join->width, times(factor, factor)), middle, true);
	projector(config, join, middle / 2, join->text, true);
}

/* ---- Aria: cross-attention from learned queries, one per patch of the smallest grid */

static void join_aria(struct config *config, const struct join *join)
{
	uint64_t w = join->width;
	uint64_t queries = config_count_or(config, "max_value_projector_patch_to_query_dict", 256);
	const cJSON *counts = config_item(config, "projector_patch_to_query_dict"), *entry;

	cJSON_ArrayForEach(entry, counts)
	{
		uint64_t count = 0;

		if (json_count(entry, &count) && count > queries && count <= 65536) {
			queries = count;
		}
	}
	projector_elements(config, join, queries * w);
	projector_elements(config, join, plus(times(3 * w, w), times(4, linear_elements(w, w))));
	projector_elements(config, join, plus(linear_elements(w, w), 6 * w));
	projector(config, join, w, join->text, false);
	projector(config, join, join->text, join->text, false);
}

/* ---- Idefics2: a gated part, then a perceiver of a few latents */

static void put_perceiver(struct config *config, const struct join *join)
{
	struct config perceiver = config_child(config, "perceiver_config");
	uint64_t h = config_count_or(&perceiver, "hidden_size", join->text);
	uint64_t dim = config_count_or(&perceiver, "resampler_head_dim", 96);
	uint64_t q = dim * config_count_or(&perceiver, "resampler_n_heads", 16);
	uint64_t kv = dim * config_count_or(&perceiver, "num_key_value_heads", 4);
	uint64_t layer =
	        plus(plus(times(2 * h, q), times(2 * h, kv)), plus(times(12 * h, h), 3 * h));
	uint64_t layers = config_count_or(&perceiver, "resampler_depth", 3);

	projector_elements(config, join,
	                   h * config_count_or(&perceiver, "resampler_n_latents", 64) + h);
	for (uint64_t i = 0; i < layers && i < 16; i++) {
		projector_elements(config, join, layer);
	}
}

static void join_idefics2(struct config *config, const struct join *join)
{
	struct config text = config_child(config, KEY_TEXT_CONFIG);
	uint64_t middle = config_count_or(&text, KEY_FFN, 14336);

	projector_elements(config, join,
	                   plus(times(2 * join->width, middle), times(middle, join->text)));
	put_perceiver(config, join);
}

/* ---- BLIP-2: a Q-Former, BERT's layers, of which every second also reads the image */

static uint64_t bert_layer(uint64_t h, uint64_t f)
{
	return plus(plus(times(4, linear_elements(h, h)), 4 * h),
	            plus(linear_elements(h, f), linear_elements(f, h)));
}

static void put_qformer(struct config *config, const struct join *join, bool reads_text)
{
	struct config former = config_child(config, "qformer_config");
	uint64_t h = config_count_or(&former, "hidden_size", 768);
	uint64_t f = config_count_or(&former, "intermediate_size", 3072);
	uint64_t layers = config_count_or(&former, "num_hidden_layers", 12);
	uint64_t every = config_count_or(&former, "cross_attention_frequency", 2);
	uint64_t image = config_count_or(&former, "encoder_hidden_size", join->width);
	uint64_t cross = plus(
	        plus(times(2, linear_elements(h, h)), times(2, linear_elements(image, h))), 2 * h);
	uint64_t text =
	        reads_text ? plus(plus(linear_elements(h, f), linear_elements(f, h)), 2 * h) : 0;
	struct vc_extra *extra;

	projector_elements(config, join, h * config_count_or(config, "num_query_tokens", 32));
	projector_elements(config, join, 2 * h);
	if (reads_text) {
		projector_elements(config, join,
		                   h * (config_count_or(&former, "vocab_size", 30522) +
		                        config_count_or(&former, "max_position_embeddings", 512)));
	}
	extra = config_elements(config, join->stack, VC_MODULE_PROJECTOR,
	                        plus(bert_layer(h, f), text));
	extra->tensor.count = layers;
	extra->last = true;
	extra = config_elements(config, join->stack, VC_MODULE_PROJECTOR, cross);
	extra->tensor.count = quotient(layers + every - 1, every);
	extra->last = true;
	projector(config, join, h, join->text, true);
}

static void join_blip2(struct config *config, const struct join *join)
{
	put_qformer(config, join, false);
}

static void join_instructblip(struct config *config, const struct join *join)
{
	put_qformer(config, join, true);
}

/* BLIP's tower: one fused projection whose bias the keys do not have */
static void read_blip_tower(struct config *config, const struct family *family)
{
	uint64_t width = config_count_or(config, KEY_HIDDEN, 1408);
	bool bias = config_flag_or(config, "qkv_bias", true);
	struct block block = { .fused_qkv = true,
		               .q_bias = bias,
		               .k_bias = bias,
		               .v_bias = bias,
		               .o_bias = true,
		               .ffn_bias = true,
		               .hidden = width,
		               .heads = config_count_or(config, KEY_HEADS, 16),
		               .ffn = config_count_or(config, KEY_FFN, 6144),
		               .norm = NORM_LAYER };
	uint64_t patches = config_patches(config);
	uint32_t stack = config_stack(config, VC_STACK_VISION, width);

	(void)family;
	config->model->stacks[stack].fixed_tokens = patches + 1;
	config_linear(config, stack, VC_MODULE_CONV, config_patch_size(config), width, true);
	config_elements(config, stack, VC_MODULE_OTHER, width);
	config_extra(config, stack, VC_MODULE_POSITION, patches + 1, width);
	config_blocks(config, stack, &block, config_count_or(config, KEY_LAYERS, 39));
	config_elements(config, stack, VC_MODULE_NORM, 2 * width)->last = true;
}

/* MoonViT, Kimi's tower: positions on a fixed grid of 64 x 64 */
static void read_moonvit(struct config *config, const struct family *family)
{
	uint64_t width = config_count(config, KEY_HIDDEN);
	struct block block = { BLOCK_ALL_BIASES, .hidden = width,
		               .heads = config_count(config, KEY_HEADS),
		               .ffn = config_count(config, KEY_FFN), .norm = NORM_LAYER };
	uint32_t stack = config_stack(config, VC_STACK_VISION, width);
	uint64_t grid = config_count_or(config, "pos_emb_height init_pos_emb_height", 64) *
	                config_count_or(config, "pos_emb_width init_pos_emb_width", 64);

	(void)family;
	config_linear(config, stack, VC_MODULE_CONV, config_patch_size(config), width, true);
	config_extra(config, stack, VC_MODULE_POSITION, grid, width);
	config_blocks(config, stack, &block, config_count(config, KEY_LAYERS));
	config_elements(config, stack, VC_MODULE_NORM, 2 * width)->last = true;
}

/* ---- Phi-3.5 Vision: CLIP's large tower, whose sizes the config leaves unsaid */

static void read_phi3_vision(struct config *config, const struct family *family)
{
	struct config vision = { .root = config->root,
		                 .outer = config->root,
		                 .model = config->model,
		                 .error = config->error };
	struct join join = { .text_stack = config->model->stack_count };

	(void)family;
	config_read_as(config, "phi3");
	if (config_failed(config)) {
		return;
	}
	join.text = config->model->stacks[join.text_stack].hidden_size;
	vision.root = config_item(config, "img_processor");
	join.stack = config->model->stack_count;
	config_read_as(&vision, "phi3_v_clip");
	projector_elements(config, &join, 2 * 4 * 1024);
	projector(config, &join, 4 * 1024, join.text, true);
	projector(config, &join, join.text, join.text, true);
}

/* The thinker alone: engines serve it without the parts that speak, and so the count says less
 * than the files hold. */
static void read_omni(struct config *config, const struct family *family)
{
	read_multimodal(config, family);
	if (config_item(config, "talker_config")) {
		config->model->known_family = false;
	}
}

static const struct multimodal_traits
        voxtral = { .text = "llama",
	            .vision = "qwen2_audio_encoder",
	            .join = join_voxtral,
	            .vision_names = KEY_AUDIO_CONFIG },
        qwen2_5_omni = { .text = "qwen2_5_omni_text",
	                 .vision = "qwen2_5_omni_vision_encoder",
	                 .audio = "qwen2_5_omni_audio_encoder" },
        qwen3_omni = { .text = "qwen3_omni_moe_text",
	               .vision = "qwen3_omni_moe_vision_encoder",
	               .audio = "qwen3_omni_moe_audio_encoder" },
        kimi = { .text = "deepseek_v3", .vision = "kimi_k25_vision", .join = join_merger },
        paddleocr = { .text = "ernie4_5", .vision = "paddleocr_vl_vision", .join = join_merger },
        cohere2 = { .text = "cohere2", .vision = "siglip_vision_model", .join = join_cohere2 },
        aria = { .text = "aria_text", .vision = "idefics3_vision", .join = join_aria },
        idefics2 = { .text = "mistral", .vision = "idefics2_vision", .join = join_idefics2 },
        blip2 = { .text = "opt", .vision = "blip_2_vision_model", .join = join_blip2 },
        instructblip = { .text = "llama",
	                 .vision = "instructblip_vision_model",
	                 .join = join_instructblip };

const struct family joint_families[] = {
	{ "aria", read_multimodal, .traits = &aria },
	{ "blip-2", read_multimodal, .traits = &blip2 },
	{ "blip_2_vision_model", read_blip_tower, .traits = NULL },
	{ "cohere2_vision", read_multimodal, .traits = &cohere2 },
	{ "idefics2", read_multimodal, .traits = &idefics2 },
	{ "instructblip", read_multimodal, .traits = &instructblip },
	{ "instructblip_vision_model", read_blip_tower, .traits = NULL },
	{ "kimi_k25", read_multimodal, .traits = &kimi },
	{ "kimi_k25_vision", read_moonvit, .traits = NULL },
	{ "kimi_vl", read_multimodal, .traits = &kimi },
	{ "moonvit", read_moonvit, .traits = NULL },
	{ "paddleocr_vl", read_multimodal, .traits = &paddleocr },
	{ "phi3_v", read_phi3_vision, .traits = NULL },
	{ "qwen2_5_omni", read_omni, .traits = &qwen2_5_omni },
	{ "qwen2_5_omni_thinker", read_multimodal, .traits = &qwen2_5_omni },
	{ "qwen3_omni_moe", read_omni, .traits = &qwen3_omni },
	{ "qwen3_omni_moe_thinker", read_multimodal, .traits = &qwen3_omni },
	{ "voxtral", read_multimodal, .traits = &voxtral },
	{ .model_type = NULL },
};
