/* Model types that are built exactly as another: most often the language model inside a larger
 * whole, which keeps its own name in huggingface/transformers. */
#include "family.h"

#include <string.h>

static const struct {
	const char *model_type, *same_as;
} aliases[] = {
	{ "MiniMaxM1", "minimax_m1" },
	{ "RefinedWeb", "falcon" },
	{ "RefinedWebModel", "falcon" },
	{ "glm_image_text", "glm4" },
	{ "granite_docling_text", "granite" },
	{ "iquestcoder", "llama" },
	{ "glm4v_moe_text", "glm4_moe" },
	{ "glm4v_text", "glm4" },
	{ "glm46v", "glm4v" },
	{ "intern_vit_6b", "internvl_vision" },
	{ "paddleocr_vl_text", "ernie4_5" },
	{ "phi3_v_clip", "clip_vision_model" },
	{ "qwen2_5_omni_text", "qwen2" },
	{ "qwen2_5_omni_vision_encoder", "qwen2_5_vl_vision" },
	{ "qwen2_5_vl_text", "qwen2" },
	{ "qwen2_vl_text", "qwen2" },
	{ "qwen3_omni_moe_text", "qwen3_moe" },
	{ "qwen3_omni_moe_vision_encoder", "qwen3_vl_vision" },
	{ "qwen3_vl_moe_text", "qwen3_moe" },
	{ "qwen3_vl_text", "qwen3" },
	{ "shieldgemma2", "gemma3" },
	{ "skywork", "llama" },
	{ "stablelm_epoch", "stablelm" },
	{ "voxtral_encoder", "qwen2_audio_encoder" },
	{ "xclip_text_model", "clip_text_model" },
};

const char *family_alias(const char *model_type)
{
	for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++) {
		if (strcmp(aliases[i].model_type, model_type) == 0) {
			return aliases[i].same_as;
		}
	}
	return model_type;
}
