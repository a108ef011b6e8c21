/*
 * Language models that see or hear: a decoder, towers, and what joins them. Shapes from
 * huggingface/transformers, src/transformers/models/; docs/architectures.md.
 */
#include "decoder.h"
#include "tower.h"

#include <string.h>

struct join {
	uint32_t text_stack, stack; /* of the language model, of the tower */
	uint64_t text, width;       /* their hidden sizes */
};

typedef void put_join(struct config *config, const struct join *join);

struct multimodal_traits {
	const char *text, *vision; /* read as these where the parts do not say */
	put_join *join;
	const char *vision_names; /* where the tower's config is; NULL: KEY_VISION_CONFIG */
};

static void projector(struct config *config, const struct join *join, uint64_t in, uint64_t out,
                      bool bias)
{
	config_linear(config, join->stack, VC_MODULE_PROJECTOR, in, out, bias)->last = true;
}

static void projector_elements(struct config *config, const struct join *join, uint64_t elements)
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

static void read_multimodal(struct config *config, const struct family *family)
{
	const struct multimodal_traits *traits = family->traits;
	const char *names = traits->vision_names ? traits->vision_names : KEY_VISION_CONFIG;
	struct join join = { .text_stack = config->model->stack_count };

	read_text(config, traits->text);
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

static void join_llava(struct config *config, const struct join *join)
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

	projector_elements(config, join, 2 * in);
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

static void join_mistral3(struct config *config, const struct join *join)
{
	uint64_t side = config_count_or(config, "spatial_merge_size", 2);

	projector_elements(config, join, join->width);
	projector(config, join, join->width * side * side, join->width, false);
	projector(config, join, join->width, join->text,
	          config_flag_or(config, "multimodal_projector_bias", false));
	projector(config, join, join->text, join->text,
	          config_flag_or(config, "multimodal_projector_bias", false));
}

static void join_idefics3(struct config *config, const struct join *join)
{
	uint64_t scale = config_count_or(config, "scale_factor", 2);

	projector(config, join, join->width * scale * scale, join->text, false);
}

/* 2 x 2 patches become one, by default */
static void join_internvl(struct config *config, const struct join *join)
{
	const cJSON *ratio = config_item(config, "downsample_ratio");
	double side =
	        cJSON_IsNumber(ratio) && ratio->valuedouble >= 0.05 ? 1 / ratio->valuedouble : 2;
	uint64_t in = join->width * (uint64_t)(side * side + 0.5);

	projector_elements(config, join, 2 * in);
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
	uint64_t in = join->width * factor * factor;
	uint64_t middle = config_count_or(config, "projector_hidden_size", 2560);
	bool bias = config_flag_or(config, "projector_bias", true);

	if (config_flag_or(config, "projector_use_layernorm", true)) {
		projector_elements(config, join, 2 * in);
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
        llava = { "llama", "clip_vision_model", join_llava, NULL },
        llava_next = { "llama", "clip_vision_model", join_llava_next, NULL },
        llava_onevision = { "qwen2", "siglip_vision_model", join_llava_next, NULL },
        vipllava = { "llama", "clip_vision_model", join_vipllava, NULL },
        paligemma = { "gemma", "siglip_vision_model", join_paligemma, NULL },
        gemma3 = { "gemma3_text", "siglip_vision_model", join_gemma3, NULL },
        mistral3 = { "mistral", "pixtral", join_mistral3, NULL },
        idefics3 = { "llama", "idefics3_vision", join_idefics3, NULL },
        smolvlm = { "llama", "smolvlm_vision", join_idefics3, NULL },
        internvl = { "qwen2", "internvl_vision", join_internvl, NULL },
        llama4 = { "llama4_text", "llama4_vision_model", join_llama4, NULL },
        mllama = { "mllama_text_model", "mllama_vision_model", join_mllama, NULL },
        lfm2_vl = { "lfm2", "siglip2_vision_model", join_lfm2, NULL },
        qwen2_vl = { "qwen2_vl_text", "qwen2_vl_vision", NULL, NULL },
        qwen2_5_vl = { "qwen2_5_vl_text", "qwen2_5_vl_vision", NULL, NULL },
        qwen3_vl = { "qwen3_vl_text", "qwen3_vl_vision", NULL, NULL },
        qwen3_vl_moe = { "qwen3_vl_moe_text", "qwen3_vl_moe_vision", NULL, NULL },
        glm4v = { "glm4v_text", "glm4v_vision", NULL, NULL },
        glm4v_moe = { "glm4v_moe_text", "glm4v_moe_vision", NULL, NULL },
        qwen2_audio = { "qwen2", "qwen2_audio_encoder", join_one_linear, "audio_config" },
        unknown = { NULL, "siglip_vision_model", join_llava, NULL };

const struct family unknown_multimodal = { "unknown", read_multimodal, .traits = &unknown };

const struct family multimodal_families[] = {
	{ "gemma3", read_multimodal, .traits = &gemma3 },
	{ "glm4v", read_multimodal, .traits = &glm4v },
	{ "glm4v_moe", read_multimodal, .traits = &glm4v_moe },
	{ "idefics3", read_multimodal, .traits = &idefics3 },
	{ "internvl", read_multimodal, .traits = &internvl },
	{ "lfm2_vl", read_multimodal, .traits = &lfm2_vl },
	{ "llama4", read_multimodal, .traits = &llama4 },
	{ "llava", read_multimodal, .traits = &llava },
	{ "llava_next", read_multimodal, .traits = &llava_next },
	{ "llava_next_video", read_multimodal, .traits = &llava_next },
	{ "llava_onevision", read_multimodal, .traits = &llava_onevision },
	{ "mistral3", read_multimodal, .traits = &mistral3 },
	{ "mllama", read_multimodal, .traits = &mllama },
	{ "mllama_text_model", .decoder = { .layer = mllama_layer, .extras = mllama_extras } },
	{ "paligemma", read_multimodal, .traits = &paligemma },
	{ "qwen2_5_vl", read_multimodal, .traits = &qwen2_5_vl },
	{ "qwen2_5_vl_text", .decoder = { .qkv_bias = true } },
	{ "qwen2_audio", read_multimodal, .traits = &qwen2_audio },
	{ "qwen2_vl", read_multimodal, .traits = &qwen2_vl },
	{ "qwen2_vl_text", .decoder = { .qkv_bias = true } },
	{ "qwen3_vl", read_multimodal, .traits = &qwen3_vl },
	{ "qwen3_vl_moe", read_multimodal, .traits = &qwen3_vl_moe },
	{ "qwen3_vl_moe_text",
	  .decoder = { .qk_norm = QK_NORM_HEAD, .qkv_bias_key = "attention_bias" } },
	{ "qwen3_vl_text",
	  .decoder = { .qk_norm = QK_NORM_HEAD, .qkv_bias_key = "attention_bias" } },
	{ "smolvlm", read_multimodal, .traits = &smolvlm },
	{ "vipllava", read_multimodal, .traits = &vipllava },
	{ .model_type = NULL },
};
