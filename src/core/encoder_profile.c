/*
 * Multimodal profiling: engines push the largest images that their budget of tokens admits through
 * the tower, keep pixels and embeddings, and then profile the language model.
 * github.com/vllm-project/vllm, vllm/v1/worker/gpu_model_runner.py profile_run.
 * docs/serving.md#encoders
 */
#include "encoder_profile.h"

#include "sat.h"
#include "shard.h"

#include <string.h>

/* The largest item by family. Qwen-VL: max_pixels 12,845,056 of 28 x 28 pixels a token
 * (preprocessor_config.json), rotary embeddings in 32 bits beside queries, keys and values: 3
 * fused, 3 apart, 2 joined, 4 and 4 in 32 bits and rotated, 2 back in 16 bits, 2 around. Gemma 3:
 * 896 x 896 pixels, 4096 patches pooled to 256 tokens. Llama 3.2 Vision: four tiles of 1601
 * patches, padded to 1608, five intermediate layers kept beside the feed-forward part. */
struct item_size {
	const char *family;
	uint64_t tokens, patches, patch_elements;
	uint64_t hidden_sizes; /* alive per patch; 0: the feed-forward part decides */
	bool mrope, cross_attention, square_mask;
	uint64_t positions; /* max_position_embeddings of all published sizes; 0: they differ */
};

#define QWEN_VL(name, elements, most)                                                              \
	{                                                                                          \
		.family = (name), .tokens = 16384, .patches = 65536, .patch_elements = (elements), \
		.hidden_sizes = 20, .mrope = true, .positions = (most)                             \
	}

static const struct item_size item_sizes[] = {
	QWEN_VL("qwen2_vl", 1176, 0),
	QWEN_VL("qwen2_5_vl", 1176, 128000),
	QWEN_VL("qwen2_5_omni", 1176, 0),
	QWEN_VL("qwen3_vl", 1536, 0),
	QWEN_VL("qwen3_vl_moe", 1536, 0),
	{ .family = "gemma3", .tokens = 256, .patches = 4096, .patch_elements = 588 },
	{ .family = "mllama",
	  .tokens = 6404,
	  .patches = 6432,
	  .patch_elements = 588,
	  .hidden_sizes = 13,
	  .cross_attention = true,
	  .square_mask = true },
};

/* Other towers: as many tokens as patches, 14 x 14 pixels of three colours. */
static const struct item_size plain_item = {
	.family = "", .tokens = 576, .patches = 576, .patch_elements = 588
};

static const struct item_size *item_size(const char *family)
{
	for (size_t i = 0; i < sizeof item_sizes / sizeof *item_sizes; i++) {
		if (strcmp(item_sizes[i].family, family) == 0) {
			return &item_sizes[i];
		}
	}
	return &plain_item;
}

bool family_has_mrope(const char *family)
{
	return item_size(family)->mrope;
}

uint64_t family_positions(const char *family)
{
	return item_size(family)->positions;
}

static const struct vc_stack *tower(const struct vc_model *model)
{
	for (uint32_t i = 0; i < model->stack_count; i++) {
		if (model->stacks[i].role == VC_STACK_VISION && model->stacks[i].layers > 0) {
			return &model->stacks[i];
		}
	}
	return NULL;
}

/* Elements alive per patch in the widest moment. */
static uint64_t patch_width(const struct vc_model *model, const struct vc_stack *stack,
                            uint64_t hidden_sizes)
{
	const struct vc_ffn *ffn = &model->kinds[stack->pattern[0]].ffns[0];
	uint64_t dense = sat_add(sat_mul(ffn->type == VC_FFN_GATED ? 3 : 2, ffn->size),
	                         sat_mul(4, stack->hidden_size));
	uint64_t known = sat_mul(hidden_sizes, stack->hidden_size);

	return dense > known ? dense : known;
}

struct encoder_profile encoder_profile(const struct vc_request *request, uint64_t tokens)
{
	const struct vc_model *model = request->model;
	const struct vc_stack *stack = tower(model);
	const struct item_size *size = item_size(model->family);
	struct encoder_profile profile = { 0 };
	uint64_t patches;

	if (!stack) {
		return profile;
	}
	profile.known = true;
	profile.item_tokens = size->tokens;
	profile.items = tokens > size->tokens ? tokens / size->tokens : 1;
	profile.cross_attention = size->cross_attention;
	patches = sat_mul(profile.items, size->patches);
	profile.input_bytes = sat_mul3(patches, size->patch_elements, 2);
	profile.output_bytes = sat_mul3(tokens > size->tokens ? tokens : size->tokens,
	                                model->stacks[model_main_stack(model)].hidden_size, 2);
	profile.peak_bytes =
	        sat_add(profile.input_bytes,
	                sat_mul3(patches, patch_width(model, stack, size->hidden_sizes), 2));
	if (size->square_mask) {
		profile.peak_bytes =
		        sat_add(profile.peak_bytes, sat_mul3(patches, size->patches, 2));
	}
	return profile;
}
