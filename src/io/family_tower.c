/*
 * Vision towers that are no plain vision transformer: Qwen's, GLM's, Llama's. Shapes from
 * huggingface/transformers, src/transformers/models/; docs/architectures.md.
 */
#include "tower.h"

#include <string.h>

/* ---- Qwen2-VL and after: patches over two frames, and a merger of 2 x 2 of them at the end */

struct qwen_traits {
	bool rms_gated; /* Qwen2.5-VL */
	bool deepstack; /* Qwen3-VL: positions, and mergers after some layers too */
};

struct merger {
	uint32_t stack;
	uint64_t width, merged, out; /* of a patch, of merged patches, of the language model */
};

/* Two linear layers with biases behind a norm of `norm` elements */
static void put_merger(struct config *config, const struct merger *merger, uint64_t norm,
                       uint64_t count)
{
	uint64_t elements = plus(norm, plus(linear_elements(merger->merged, merger->merged),
	                                    linear_elements(merger->merged, merger->out)));

	if (count > 0) {
		struct vc_extra *extra =
		        config_elements(config, merger->stack, VC_MODULE_PROJECTOR, elements);

		extra->tensor.count = count;
		extra->last = true;
	}
}

static void qwen_mergers(struct config *config, const struct qwen_traits *traits,
                         struct merger *merger)
{
	uint64_t side = config_count_or(config, "spatial_merge_size", 2);
	const cJSON *list = config_list(config, "deepstack_visual_indexes", 0);

	merger->merged = times(merger->width, times(side, side));
	put_merger(config, merger, traits->rms_gated ? merger->width : 2 * merger->width, 1);
	if (traits->deepstack && list) {
		put_merger(config, merger, times(2, merger->merged),
		           (uint64_t)cJSON_GetArraySize(list));
	}
}

static void read_qwen_tower(struct config *config, const struct family *family)
{
	const struct qwen_traits *traits = family->traits;
	uint64_t width = config_count(config, "embed_dim hidden_size");
	struct block block = { BLOCK_ALL_BIASES,
		               .fused_qkv = true,
		               .hidden = width,
		               .heads = config_count(config, "num_heads num_attention_heads"),
		               .kv_heads = config_count_or(config, "num_key_value_heads", 0),
		               .norm = traits->rms_gated ? NORM_RMS : NORM_LAYER,
		               .gated = traits->rms_gated };
	struct merger merger = { .width = width };

	block.ffn = config_ffn(config, width, 4);
	merger.out =
	        config_count_or(config, "out_hidden_size", config_count(config, "hidden_size"));
	merger.stack = config_stack(config, VC_STACK_VISION, width);
	config_linear(
	        config, merger.stack, VC_MODULE_CONV,
	        times(config_patch_size(config), config_count_or(config, "temporal_patch_size", 2)),
	        width, traits->deepstack);
	if (traits->deepstack) {
		config_extra(config, merger.stack, VC_MODULE_POSITION,
		             config_count(config, "num_position_embeddings"), width);
	}
	config_blocks(config, merger.stack, &block,
	              config_count(config, "depth num_hidden_layers"));
	qwen_mergers(config, traits, &merger);
}

/* ---- GLM-4V: merges by a convolution, then a gated part as wide as the language model's */

static void put_glm_merger(struct config *config, uint32_t stack, uint64_t width, uint64_t middle)
{
	uint64_t side = config_count_or(config, "spatial_merge_size", 2);
	uint64_t out = config_count(config, "out_hidden_size");

	config_linear(config, stack, VC_MODULE_CONV, times(width, times(side, side)), out, true)
	        ->last = true;
	config_elements(config, stack, VC_MODULE_PROJECTOR,
	                plus(plus(times(out, out), 2 * out), times(3 * out, middle)))
	        ->last = true;
}

static void read_glm_tower(struct config *config, const struct family *family)
{
	uint64_t width = config_count(config, "hidden_size");
	bool bias = config_flag_or(config, "attention_bias", false);
	struct block block = { .fused_qkv = true,
		               .q_bias = bias,
		               .k_bias = bias,
		               .v_bias = bias,
		               .hidden = width,
		               .heads = config_count(config, "num_heads num_attention_heads"),
		               .ffn = config_count(config, "out_hidden_size"),
		               .norm = NORM_RMS,
		               .gated = true };
	uint32_t stack = config_stack(config, VC_STACK_VISION, width);

	(void)family;
	config_linear(
	        config, stack, VC_MODULE_CONV,
	        times(config_patch_size(config), config_count_or(config, "temporal_patch_size", 2)),
	        width, true);
	config_extra(config, stack, VC_MODULE_POSITION, config_patches(config), width);
	config_elements(config, stack, VC_MODULE_NORM, width);
	config_blocks(config, stack, &block, config_count(config, "depth num_hidden_layers"));
	config_elements(config, stack, VC_MODULE_NORM, width)->last = true;
	put_glm_merger(config, stack, width, config_count(config, "intermediate_size"));
}

/* GLM-OCR: biases everywhere, norms on the heads, no table of positions */
static void read_glm_ocr_tower(struct config *config, const struct family *family)
{
	uint64_t width = config_count(config, "hidden_size");
	struct block block = { BLOCK_ALL_BIASES,
		               .fused_qkv = true,
		               .hidden = width,
		               .heads = config_count(config, "num_heads num_attention_heads"),
		               .ffn = config_count(config, "intermediate_size"),
		               .norm = NORM_RMS,
		               .gated = true };
	uint32_t stack = config_stack(config, VC_STACK_VISION, width);

	(void)family;
	if (!config_failed(config)) {
		block.inner_norms = 2 * quotient(width, block.heads);
	}
	config_linear(
	        config, stack, VC_MODULE_CONV,
	        times(config_patch_size(config), config_count_or(config, "temporal_patch_size", 2)),
	        width, true);
	config_blocks(config, stack, &block, config_count(config, "depth num_hidden_layers"));
	config_elements(config, stack, VC_MODULE_NORM, width)->last = true;
	put_glm_merger(config, stack, width, 3 * config_count(config, "out_hidden_size"));
}

/* ---- Llama 4: shuffled pixels go through an adapter of two layers */

static void read_llama4_tower(struct config *config, const struct family *family)
{
	uint64_t width = config_count(config, "hidden_size");
	struct block block = { BLOCK_ALL_BIASES, .hidden = width,
		               .heads = config_count(config, KEY_HEADS),
		               .ffn = config_count(config, KEY_FFN), .norm = NORM_LAYER };
	uint64_t in = config_count(config, "projector_input_dim");
	uint64_t out = config_count(config, "projector_output_dim");
	uint64_t patches = config_patches(config);
	uint32_t stack = config_stack(config, VC_STACK_VISION, width);

	(void)family;
	config_linear(config, stack, VC_MODULE_CONV, config_patch_size(config), width, false);
	config_elements(config, stack, VC_MODULE_OTHER, width);
	config_extra(config, stack, VC_MODULE_POSITION, patches + 1, width);
	config_elements(config, stack, VC_MODULE_NORM, 2 * width);
	config_blocks(config, stack, &block, config_count(config, KEY_LAYERS));
	config_elements(config, stack, VC_MODULE_NORM, 2 * width)->last = true;
	config_linear(config, stack, VC_MODULE_PROJECTOR, block.ffn, in, false)->last = true;
	config_linear(config, stack, VC_MODULE_PROJECTOR, in, out, false)->last = true;
}

/* ---- Llama 3.2 Vision: tiles, and global layers behind the local ones */

static void mllama_positions(struct config *config, uint32_t stack, uint64_t width)
{
	const cJSON *ratios = config_list(config, "supported_aspect_ratios", 0);
	uint64_t kinds = 1 + (ratios ? (uint64_t)cJSON_GetArraySize(ratios) : 8);
	uint64_t tiles = config_count(config, "max_num_tiles");
	uint64_t positions = config_patches(config) + 1;

	config_extra(config, stack, VC_MODULE_POSITION, positions, width);
	config_extra(config, stack, VC_MODULE_POSITION, kinds,
	             times(times(tiles, positions), width));
	config_extra(config, stack, VC_MODULE_POSITION, 2 * kinds, times(tiles, width));
	config_elements(config, stack, VC_MODULE_OTHER, 3);
	config->model->stacks[stack].fixed_tokens = times(tiles, positions);
}

static void read_mllama_tower(struct config *config, const struct family *family)
{
	uint64_t width = config_count(config, "hidden_size");
	struct block block = { .ffn_bias = true,
		               .hidden = width,
		               .heads = config_count(config, "attention_heads"),
		               .ffn = config_count(config, KEY_FFN),
		               .norm = NORM_LAYER };
	uint32_t stack = config_stack(config, VC_STACK_VISION, width);

	(void)family;
	config_linear(config, stack, VC_MODULE_CONV, config_patch_size(config), width, false);
	config_elements(config, stack, VC_MODULE_OTHER, width);
	mllama_positions(config, stack, width);
	config_elements(config, stack, VC_MODULE_NORM, 4 * width);
	config_blocks(config, stack, &block, config_count(config, KEY_LAYERS));
	block.odd = 2;
	config_blocks(config, stack, &block, config_count(config, "num_global_layers"));
}

/* InternVL: BEiT's layers; scales on both halves of each */
static void read_internvl_tower(struct config *config, const struct family *family)
{
	uint64_t width = config_count(config, KEY_HIDDEN);
	bool bias = config_flag_or(config, "attention_bias qkv_bias", false);
	struct block block = { .q_bias = bias,
		               .k_bias = bias,
		               .v_bias = bias,
		               .o_bias = true,
		               .ffn_bias = true,
		               .hidden = width,
		               .heads = config_count(config, KEY_HEADS),
		               .ffn = config_count(config, KEY_FFN),
		               .norm = NORM_LAYER,
		               .odd = 2 * width };
	uint64_t patches = config_patches(config);
	uint32_t stack = config_stack(config, VC_STACK_VISION, width);
	const char *norm = config_text_or(config, "norm_type", "layer_norm");

	(void)family;
	if (strcmp(norm, "rms_norm") == 0) {
		block.norm = NORM_RMS;
	}
	if (config_flag_or(config, "use_qk_norm qk_normalization", false)) {
		block.inner_norms = 2 * width;
	}
	config_linear(config, stack, VC_MODULE_CONV, config_patch_size(config), width, true);
	config_elements(config, stack, VC_MODULE_OTHER, width);
	config_extra(config, stack, VC_MODULE_POSITION, patches + 1, width);
	config->model->stacks[stack].fixed_tokens = patches + 1;
	config_blocks(config, stack, &block, config_count(config, KEY_LAYERS));
	if (!config_flag_or(config, "use_mean_pooling", true)) {
		config_elements(config, stack, VC_MODULE_NORM, 2 * width)->last = true;
	}
}

static const struct qwen_traits qwen2_vl = { .rms_gated = false },
                                qwen2_5_vl = { .rms_gated = true },
                                qwen3_vl = { .deepstack = true };

const struct family tower_families[] = {
	{ "exaone4_5_vision", read_qwen_tower, .traits = &qwen2_5_vl },
	{ "glm_ocr_vision", read_glm_ocr_tower, .traits = NULL },
	{ "glm4v_moe_vision", read_glm_tower, .traits = NULL },
	{ "glm4v_vision", read_glm_tower, .traits = NULL },
	{ "internvl_vision", read_internvl_tower, .traits = NULL },
	{ "llama4_vision_model", read_llama4_tower, .traits = NULL },
	{ "mllama_vision_model", read_mllama_tower, .traits = NULL },
	{ "qwen2_5_vl_vision", read_qwen_tower, .traits = &qwen2_5_vl },
	{ "qwen2_vl_vision", read_qwen_tower, .traits = &qwen2_vl },
	{ "qwen3_5_moe_vision", read_qwen_tower, .traits = &qwen3_vl },
	{ "qwen3_5_vision", read_qwen_tower, .traits = &qwen3_vl },
	{ "qwen3_vl_moe_vision", read_qwen_tower, .traits = &qwen3_vl },
	{ "qwen3_vl_vision", read_qwen_tower, .traits = &qwen3_vl },
	{ .model_type = NULL },
};
