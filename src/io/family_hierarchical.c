/*
 * Vision nets that halve the image and widen stage by stage: Swin and ConvNeXt. Shapes from
 * huggingface/transformers, src/transformers/models/; docs/architectures.md.
 */
#include "tower.h"

#include <string.h>

static void put_odd(struct vc_layer_kind *kind, enum vc_module module, uint64_t out, uint64_t in,
                    uint64_t bias)
{
	struct vc_tensor *tensor = &kind->odd[kind->odd_count++];

	tensor->module = module;
	tensor->out = out;
	tensor->in = in;
	tensor->bias = bias;
	tensor->count = 1;
}

/* The depth of each stage; fails where there is none. */
static const cJSON *stage_depths(struct config *config, uint64_t *stages)
{
	const cJSON *depths = config_list(config, "depths", 0);

	*stages = depths ? (uint64_t)cJSON_GetArraySize(depths) : 0;
	if (!depths || *stages > 8) {
		config_fail(config, "depths", "is missing or too long (expected up to 8 stages)");
		*stages = 0;
	}
	return depths;
}

static void put_classifier(struct config *config, uint32_t stack, uint64_t width)
{
	if (config_head(config) == HEAD_IMAGE) {
		config_linear(config, stack, VC_MODULE_OTHER, width, config_labels(config), true)
		        ->last = true;
	}
}

/* ---- Swin: attention within windows, with a table of relative positions in each layer */

static uint64_t mlp_width(struct config *config, uint64_t width)
{
	const cJSON *ratio = config_item(config, "mlp_ratio");

	if (cJSON_IsNumber(ratio) && ratio->valuedouble >= 0.25 && ratio->valuedouble <= 16) {
		return (uint64_t)(ratio->valuedouble * (double)width);
	}
	return 4 * width;
}

static void swin_layer(struct config *config, uint32_t stack, uint64_t width, uint64_t heads)
{
	uint64_t window = config_side(config, "window_size", 7, 0);
	bool bias = config_flag_or(config, "qkv_bias", true);
	uint64_t ffn = mlp_width(config, width);
	uint64_t side = window > 0 ? 2 * window - 1 : 0;
	struct vc_layer_kind kind;

	memset(&kind, 0, sizeof kind);
	put_odd(&kind, VC_MODULE_QKV, 3 * width, width, bias ? 3 * width : 0);
	put_odd(&kind, VC_MODULE_O, width, width, width);
	put_odd(&kind, VC_MODULE_POSITION, times(side, side), heads, 0);
	put_odd(&kind, VC_MODULE_UP, ffn, width, ffn);
	put_odd(&kind, VC_MODULE_DOWN, width, ffn, width);
	kind.norms = 2;
	kind.norm_elements = 4 * width;
	config_layer(config, stack, &kind);
}

static void read_swin(struct config *config, const struct family *family)
{
	uint64_t width = config_count(config, "embed_dim"), stages = 0;
	const cJSON *depths = stage_depths(config, &stages);
	const cJSON *heads = config_list(config, "num_heads", stages);
	uint32_t stack = config_stack(config, VC_STACK_VISION, width);

	(void)family;
	config_linear(config, stack, VC_MODULE_CONV, config_patch_size(config), width, true);
	config_elements(config, stack, VC_MODULE_NORM, 2 * width);
	if (config_flag_or(config, "use_absolute_embeddings", false)) {
		config_extra(config, stack, VC_MODULE_POSITION, config_patches(config), width);
	}
	for (uint64_t s = 0; s < stages && !config_failed(config); s++) {
		uint64_t layers = config_element(config, "depths", depths, s);

		for (uint64_t i = 0; i < layers && !config_failed(config); i++) {
			swin_layer(config, stack, width,
			           heads ? config_element(config, "num_heads", heads, s) : 1);
		}
		if (s + 1 < stages) { /* 2 x 2 patches become one, twice as wide */
			config_elements(config, stack, VC_MODULE_NORM, 8 * width);
			config_linear(config, stack, VC_MODULE_OTHER, 4 * width, 2 * width, false);
			width *= 2;
		}
	}
	config_elements(config, stack, VC_MODULE_NORM, 2 * width)->last = true;
	put_classifier(config, stack, width);
}

/* ---- ConvNeXt */

struct convnext_traits {
	bool response_norm; /* version 2, instead of a scale */
};

static void convnext_layer(struct config *config, const struct convnext_traits *traits,
                           uint32_t stack, uint64_t width)
{
	struct vc_layer_kind kind;

	memset(&kind, 0, sizeof kind);
	put_odd(&kind, VC_MODULE_CONV, width, 49, width);
	put_odd(&kind, VC_MODULE_UP, 4 * width, width, 4 * width);
	put_odd(&kind, VC_MODULE_DOWN, width, 4 * width, width);
	put_odd(&kind, VC_MODULE_NORM, traits->response_norm ? 8 * width : width, 1, 0);
	kind.norms = 1;
	kind.norm_elements = 2 * width;
	config_layer(config, stack, &kind);
}

static void read_convnext(struct config *config, const struct family *family)
{
	uint64_t stages = 0, width = 0;
	const cJSON *depths = stage_depths(config, &stages);
	const cJSON *sizes = config_list(config, "hidden_sizes", stages);
	uint32_t stack = config_stack(config, VC_STACK_VISION,
	                              sizes ? config_element(config, "hidden_sizes", sizes, 0) : 0);

	if (!sizes) {
		config_fail(config, "hidden_sizes", "is missing (expected each stage's width)");
	}
	for (uint64_t s = 0; s < stages && !config_failed(config); s++) {
		uint64_t layers = config_element(config, "depths", depths, s);
		uint64_t next = config_element(config, "hidden_sizes", sizes, s);

		if (s == 0) {
			config_linear(config, stack, VC_MODULE_CONV, config_patch_size(config),
			              next, true);
			config_elements(config, stack, VC_MODULE_NORM, 2 * next);
		} else {
			config_elements(config, stack, VC_MODULE_NORM, 2 * width);
			config_linear(config, stack, VC_MODULE_CONV, 4 * width, next, true);
		}
		width = next;
		for (uint64_t i = 0; i < layers && !config_failed(config); i++) {
			convnext_layer(config, family->traits, stack, width);
		}
	}
	config_elements(config, stack, VC_MODULE_NORM, 2 * width)->last = true;
	put_classifier(config, stack, width);
}

static const struct convnext_traits convnext = { .response_norm = false },
                                    convnextv2 = { .response_norm = true };

const struct family hierarchical_families[] = {
	{ "convnext", read_convnext, .traits = &convnext },
	{ "convnextv2", read_convnext, .traits = &convnextv2 },
	{ "swin", read_swin, .traits = NULL },
	{ .model_type = NULL },
};
