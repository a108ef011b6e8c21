/*
 * Language models that see or hear: a decoder, towers, and what joins them. Shapes from
 * huggingface/transformers, src/transformers/models/; docs/architectures.md.
 */
#include "multimodal.h"

#include "decoder.h"

#include <string.h>

void projector(struct config *config, const struct join *join, uint64_t in, uint64_t out, bool bias)
{
	config_linear(config, join->stack, VC_MODULE_PROJECTOR, in, out, bias)->last = true;
}

void projector_elements(struct config *config, const struct join *join, uint64_t elements)
{
	config_elements(config, join->stack, VC_MODULE_PROJECTOR, elements)->last = true;
}

/* Qwen's text keys stood beside vision_config before transformers 4.52. */
static void read_text(struct config *config, const char *fallback)
{
	if (config_item(config, KEY_TEXT_CONFIG)) {
		config_part(config, KEY_TEXT_CONFIG, fallback);
	} else {
		config_read_as(config, fallback);
	}
}

void read_multimodal(struct config *config, const struct family *family)
{
	const struct multimodal_traits *traits = family->traits;
	const char *names = traits->vision_names ? traits->vision_names : KEY_VISION_CONFIG;
	struct join join = { .text_stack = config->model->stack_count };

	read_text(config, traits->text);
	if (traits->audio && config_item(config, KEY_AUDIO_CONFIG)) {
		config_tower(config, KEY_AUDIO_CONFIG, traits->audio);
	}
	if (config_failed(config) || !config_item(config, names)) {
		return;
	}
	join.stack = config_tower(config, names, traits->vision);
	join.text = config->model->stacks[join.text_stack].hidden_size;
	join.width = config->model->stacks[join.stack].hidden_size;
	if (!config_failed(config) && traits->join) {
		traits->join(config, &join);
	}
}

/* How many layers of the tower the projector sees side by side */
static uint64_t feature_layers(const struct config *config)
{
	const cJSON *item = config_item(config, "vision_feature_layer");

	return cJSON_IsArray(item) ? (uint64_t)cJSON_GetArraySize(item) : 1;
}

void join_llava(struct config *config, const struct join *join)
{
	bool bias = config_flag_or(config, "multimodal_projector_bias", true);

	projector(config, join, join->width * feature_layers(config), join->text, bias);
	projector(config, join, join->text, join->text, bias);
}

/* and a learned end of a row of an image's tiles */
static void join_llava_next(struct config *config, const struct join *join)
{
	join_llava(config, join);
	projector_elements(config, join, join->text);
}

static void join_vipllava(struct config *config, const struct join *join)
{
	uint64_t in = join->width * feature_layers(config);

	projector_elements(config, join, times(2, in));
	join_llava(config, join);
}

static void join_paligemma(struct config *config, const struct join *join)
{
	projector(config, join, join->width, config_count_or(config, "projection_dim", join->text),
	          true);
}

static void join_gemma3(struct config *config, const struct join *join)
{
	projector(config, join, join->width, join->text, false);
	projector_elements(config, join, join->width);
}

void join_mistral3(struct config *config, const struct join *join)
{
	uint64_t side = config_count_or(config, "spatial_merge_size", 2);

	projector_elements(config, join, join->width);
	projector(config, join, times(join->width, times(side, side)), join->width, false);
	projector(config, join, join->width, join->text,
	          config_flag_or(config, "multimodal_projector_bias", false));
	projector(config, join, join->text, join->text,
	          config_flag_or(config, "multimodal_projector_bias", false));
}

static void join_idefics3(struct config *config, const struct join *join)
{
	uint64_t scale = config_count_or(config, "scale_factor", 2);

	projector(config, join, times(join->width, times(scale, scale)), join->text, false);
}

/* 2 x 2 patches become one, by default */
static void join_internvl(struct config *config, const struct join *join)
{
	const cJSON *ratio = config_item(config, "downsample_ratio");
	double side =
	        cJSON_IsNumber(ratio) && ratio->valuedouble >= 0.05 ? 1 / ratio->valuedouble : 2;
	uint64_t in = join->width * (uint64_t)(side * side + 0.5);

	projector_elements(config, join, times(2, in));
	projector(config, join, in, join->text, true);
	projector(config, join, join->text, join->text, true);
}

static void join_llama4(struct config *config, const struct join *join)
{
	struct config vision = config_child(config, KEY_VISION_CONFIG);

	projector(config, join, config_count_or(&vision, "vision_output_dim", 4096), join->text,
	          config_flag_or(&vision, "multi_modal_projector_bias", false));
}

static void join_mllama(struct config *config, const struct join *join)
{
	struct config vision = config_child(config, KEY_VISION_CONFIG);

	projector(config, join, config_count_or(&vision, "vision_output_dim", 7680), join->text,
	          true);
}

static void join_lfm2(struct config *config, const struct join *join)
{
	uint64_t factor = config_count_or(config, "downsample_factor", 2);
	uint64_t in = times(join->width, times(factor, factor));
	uint64_t middle = config_count_or(config, "projector_hidden_size", 2560);
	bool bias = config_flag_or(config, "projector_bias", true);

	if (config_flag_or(config, "projector_use_layernorm", true)) {
		projector_elements(config, join, times(2, in));
	}
	projector(config, join, in, middle, bias);
	projector(config, join, middle, join->text, bias);
}

static void join_one_linear(struct config *config, const struct join *join)
{
	projector(config, join, join->width, join->text, true);
}

/* ---- Llama 3.2 Vision's decoder: some layers read the image instead of the text before them */

static bool listed(const struct config *config, const char *names, uint32_t layer)
{
	const cJSON *entry;

	cJSON_ArrayForEach(entry, config_item(config, names))
	{
		if (cJSON_IsNumber(entry) && entry->valuedouble == layer) {
			return true;
		}
	}
	return false;
}

static void mllama_layer(struct config *config, const struct decoder *d, uint32_t layer,
                         struct vc_layer_kind *kind)
{
	if (!config_item(config, "cross_attention_layers")
	            ? layer % 5 != 3
	            : !listed(config, "cross_attention_layers", layer)) {
		return;
	}
	kind->mixers[0].type = VC_MIXER_CROSS_ATTENTION;
	kind->mixers[0].inner_norm_elements = 2 * d->head_dim;
	kind->odd[0].module = VC_MODULE_OTHER;
	kind->odd[0].out = 2;
	kind->odd[0].in = 1;
	kind->odd[0].count = 1;
	kind->odd_count = 1;
}

/* eight more rows for the image tokens, which the head does not have */
static void mllama_extras(struct config *config, const struct decoder *d)
{
	config_extra(config, d->stack, VC_MODULE_EMBEDDING, 8, d->hidden);
}

static const struct multimodal_traits
        llava = { .text = "llama", .vision = "clip_vision_model", .join = join_llava },
        llava_next = { .text = "llama", .vision = "clip_vision_model", .join = join_llava_next },
        llava_onevision = { .text = "qwen2",
	                    .vision = "siglip_vision_model",
	                    .join = join_llava_next },
        vipllava = { .text = "llama", .vision = "clip_vision_model", .join = join_vipllava },
        paligemma = { .text = "gemma", .vision = "siglip_vision_model", .join = join_paligemma },
        gemma3 = { .text = "gemma3_text", .vision = "siglip_vision_model", .join = join_gemma3 },
        lighton_ocr = { .text = "qwen3", .vision = "pixtral", .join = join_mistral3 },
        deepseek_vl = { .text = "llama", .vision = "siglip_vision_model", .join = join_llava },
        qwen3_5 = { .text = "qwen3_5_text", .vision = "qwen3_5_vision" },
        qwen3_5_moe = { .text = "qwen3_5_moe_text", .vision = "qwen3_5_moe_vision" },
        exaone4_5 = { .text = "exaone4", .vision = "exaone4_5_vision" },
        glm_ocr = { .text = "glm_ocr_text", .vision = "glm_ocr_vision" },
        mistral3 = { .text = "mistral", .vision = "pixtral", .join = join_mistral3 },
        idefics3 = { .text = "llama", .vision = "idefics3_vision", .join = join_idefics3 },
        smolvlm = { .text = "llama", .vision = "smolvlm_vision", .join = join_idefics3 },
        internvl = { .text = "qwen2", .vision = "internvl_vision", .join = join_internvl },
        llama4 = { .text = "llama4_text", .vision = "llama4_vision_model", .join = join_llama4 },
        mllama = { .text = "mllama_text_model",
	           .vision = "mllama_vision_model",
	           .join = join_mllama },
        lfm2_vl = { .text = "lfm2", .vision = "siglip2_vision_model", .join = join_lfm2 },
        qwen2_vl = { .text = "qwen2_vl_text", .vision = "qwen2_vl_vision" },
        qwen2_5_vl = { .text = "qwen2_5_vl_text", .vision = "qwen2_5_vl_vision" },
        qwen3_vl = { .text = "qwen3_vl_text", .vision = "qwen3_vl_vision" },
        qwen3_vl_moe = { .text = "qwen3_vl_moe_text", .vision = "qwen3_vl_moe_vision" },
        glm4v = { .text = "glm4v_text", .vision = "glm4v_vision" },
        glm4v_moe = { .text = "glm4v_moe_text", .vision = "glm4v_moe_vision" },
        qwen2_audio = { .text = "qwen2",
	                .vision = "qwen2_audio_encoder",
	                .join = join_one_linear,
	                .vision_names = "audio_config" },
        unknown = { .vision = "siglip_vision_model", .join = join_llava };

const struct family unknown_multimodal = { "unknown", read_multimodal, .traits = &unknown };

const struct family multimodal_families[] = {
	{ "deepseek_vl", read_multimodal, .traits = &deepseek_vl },
	{ "exaone4_5", read_multimodal, .traits = &exaone4_5 },
	{ "glm_ocr", read_multimodal, .traits = &glm_ocr },
	{ "gemma3", read_multimodal, .traits = &gemma3 },
	{ "glm4v", read_multimodal, .traits = &glm4v },
	{ "glm4v_moe", read_multimodal, .traits = &glm4v_moe },
	{ "idefics3", read_multimodal, .traits = &idefics3 },
	{ "internvl", read_multimodal, .traits = &internvl },
	{ "internvl_chat", read_multimodal, .traits = &internvl },
	{ "lfm2_vl", read_multimodal, .traits = &lfm2_vl },
	{ "llama4", read_multimodal, .traits = &llama4 },
	{ "lighton_ocr", read_multimodal, .traits = &lighton_ocr },
	{ "llava", read_multimodal, .traits = &llava },
	{ "llava_next", read_multimodal, .traits = &llava_next },
	{ "llava_next_video", read_multimodal, .traits = &llava_next },
	{ "llava_onevision", read_multimodal, .traits = &llava_onevision },
	{ "mistral3", read_multimodal, .traits = &mistral3 },
	{ "mllama", read_multimodal, .traits = &mllama },
	{ "mllama_text_model", .decoder = { .layer = mllama_layer, .extras = mllama_extras } },
	{ "paligemma", read_multimodal, .traits = &paligemma },
	{ "qwen2_5_vl", read_multimodal, .traits = &qwen2_5_vl },
	{ "qwen2_audio", read_multimodal, .traits = &qwen2_audio },
	{ "qwen2_vl", read_multimodal, .traits = &qwen2_vl },
	{ "qwen3_5", read_multimodal, .traits = &qwen3_5 },
	{ "qwen3_5_moe", read_multimodal, .traits = &qwen3_5_moe },
	{ "qwen3_vl", read_multimodal, .traits = &qwen3_vl },
	{ "qwen3_vl_moe", read_multimodal, .traits = &qwen3_vl_moe },
	{ "smolvlm", read_multimodal, .traits = &smolvlm },
	{ "vipllava", read_multimodal, .traits = &vipllava },
	{ .model_type = NULL },
};
