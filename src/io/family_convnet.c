/*
 * Convolutional nets: ResNet (huggingface/transformers, src/transformers/models/resnet), YOLOv5
 * (github.com/ultralytics/yolov5, models/yolov5s.yaml, models/common.py, release 6) and ConvNeXt.
 * A layer is a block of convolutions; each is followed by a batch norm's weights and biases.
 */
#include "block.h"

#include <string.h>

/* `count` convolutions of kernel x kernel and their batch norms, without biases of their own */
static void put_conv(struct vc_layer_kind *kind, uint64_t in, uint64_t out, uint64_t kernel,
                     uint64_t count)
{
	struct vc_tensor *tensor = &kind->odd[kind->odd_count];

	if (count == 0 || kind->odd_count == VC_MAX_ODD_TENSORS) {
		return;
	}
	kind->odd_count++;
	tensor->module = VC_MODULE_CONV;
	tensor->out = out;
	tensor->in = in * kernel * kernel;
	tensor->count = count;
	kind->norms = 1;
	kind->norm_elements += 2 * out * count;
}

/* ---- ResNet */

struct resnet {
	bool bottleneck;
	uint64_t in;
};

static void resnet_block(struct config *config, uint32_t stack, const struct resnet *net,
                         uint64_t out, bool strided)
{
	struct vc_layer_kind kind;
	uint64_t middle = out / 4;

	memset(&kind, 0, sizeof kind);
	if (net->in != out || strided) {
		put_conv(&kind, net->in, out, 1, 1);
	}
	if (net->bottleneck) {
		put_conv(&kind, net->in, middle, 1, 1);
		put_conv(&kind, middle, middle, 3, 1);
		put_conv(&kind, middle, out, 1, 1);
	} else {
		put_conv(&kind, net->in, out, 3, 1);
		put_conv(&kind, out, out, 3, 1);
	}
	config_layer(config, stack, &kind);
}

static void resnet_stages(struct config *config, uint32_t stack, struct resnet *net,
                          const cJSON *depths)
{
	const cJSON *sizes = config_list(config, "hidden_sizes",
	                                 depths ? (uint64_t)cJSON_GetArraySize(depths) : 0);
	int stages = depths ? cJSON_GetArraySize(depths) : 0;

	for (int s = 0; s < stages && s < 16; s++) {
		uint64_t blocks = config_element(config, "depths", depths, (uint64_t)s);
		uint64_t width = (net->bottleneck ? 256u : 64u) << s;

		if (sizes) {
			width = config_element(config, "hidden_sizes", sizes, (uint64_t)s);
		}
		for (uint64_t i = 0; i < blocks && !config_failed(config); i++) {
			resnet_block(config, stack, net, width, s > 0 && i == 0);
			net->in = width;
		}
	}
}

static void read_resnet(struct config *config, const struct family *family)
{
	const char *type = config_text_or(config, "layer_type", "bottleneck");
	const cJSON *depths = config_list(config, "depths", 0);
	struct resnet net = { .bottleneck = strcmp(type, "basic") != 0,
		              .in = config_count_or(config, "embedding_size", 64) };
	uint32_t stack = config_stack(config, VC_STACK_VISION, net.in);

	(void)family;
	if (!depths) {
		config_fail(config, "depths", "is missing (expected the blocks of each stage)");
		return;
	}
	config_linear(config, stack, VC_MODULE_CONV,
	              49 * config_count_or(config, "num_channels", 3), net.in, false);
	config_elements(config, stack, VC_MODULE_NORM, 2 * net.in);
	resnet_stages(config, stack, &net, depths);
	if (config_head(config) == HEAD_IMAGE) {
		config_linear(config, stack, VC_MODULE_OTHER, net.in, config_labels(config), true)
		        ->last = true;
	}
}

/* ---- YOLOv5 */

enum yolo_type {
	YOLO_CONV,
	YOLO_C3,
	YOLO_SPPF
};

/* `from` further input channels are concatenated: those of an earlier layer, 0: none */
struct yolo_layer {
	enum yolo_type type;
	uint16_t channels;
	uint8_t repeats_or_kernel;
	uint16_t extra_channels;
};

static const struct yolo_layer yolo_layers[] = {
	{ YOLO_CONV, 64, 6, 0 },   { YOLO_CONV, 128, 3, 0 },  { YOLO_C3, 128, 3, 0 },
	{ YOLO_CONV, 256, 3, 0 },  { YOLO_C3, 256, 6, 0 },    { YOLO_CONV, 512, 3, 0 },
	{ YOLO_C3, 512, 9, 0 },    { YOLO_CONV, 1024, 3, 0 }, { YOLO_C3, 1024, 3, 0 },
	{ YOLO_SPPF, 1024, 5, 0 }, { YOLO_CONV, 512, 1, 0 },  { YOLO_C3, 512, 3, 512 },
	{ YOLO_CONV, 256, 1, 0 },  { YOLO_C3, 256, 3, 256 },  { YOLO_CONV, 256, 3, 0 },
	{ YOLO_C3, 512, 3, 256 },  { YOLO_CONV, 512, 3, 0 },  { YOLO_C3, 1024, 3, 512 },
};
/* Where boxes are predicted: after layers of these widths */
static const uint16_t yolo_detect[] = { 256, 512, 1024 };

/* In thousandths */
struct yolo {
	uint64_t depth, width;
};

static uint64_t yolo_multiple(struct config *config, const char *name)
{
	const cJSON *item = config_item(config, name);

	if (!item) {
		return 1000;
	}
	if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0.001 && item->valuedouble <= 16)) {
		config_fail(config, name, "is out of range (expected a multiple up to 16)");
		return 1000;
	}
	return (uint64_t)(item->valuedouble * 1000 + 0.5);
}

/* Channels scale in whole eights. */
static uint64_t yolo_channels(const struct yolo *yolo, uint64_t channels)
{
	return (channels * yolo->width + 7999) / 8000 * 8;
}

static uint64_t yolo_repeats(const struct yolo *yolo, uint64_t repeats)
{
	uint64_t scaled = (repeats * yolo->depth + 500) / 1000;

	return scaled > 0 ? scaled : 1;
}

static void yolo_block(const struct yolo *yolo, const struct yolo_layer *layer, uint64_t in,
                       struct vc_layer_kind *kind)
{
	uint64_t out = yolo_channels(yolo, layer->channels);
	uint64_t half = (layer->type == YOLO_SPPF ? in : out) / 2;
	uint64_t repeats = yolo_repeats(yolo, layer->repeats_or_kernel);

	memset(kind, 0, sizeof *kind);
	if (layer->type == YOLO_CONV) {
		put_conv(kind, in, out, layer->repeats_or_kernel, 1);
	} else if (layer->type == YOLO_SPPF) {
		put_conv(kind, in, half, 1, 1);
		put_conv(kind, 4 * half, out, 1, 1);
	} else {
		put_conv(kind, in, half, 1, 2);
		put_conv(kind, half, half, 1, repeats);
		put_conv(kind, half, half, 3, repeats);
		put_conv(kind, 2 * half, out, 1, 1);
	}
}

static void read_yolov5(struct config *config, const struct family *family)
{
	struct yolo yolo = { yolo_multiple(config, "depth_multiple"),
		             yolo_multiple(config, "width_multiple") };
	uint64_t in = config_count_or(config, "num_channels", 3);
	uint64_t outputs = config_count_or(config, "num_anchors", 3) *
	                   (5 + config_count_or(config, "num_classes", 80));
	uint32_t stack = config_stack(config, VC_STACK_VISION, yolo_channels(&yolo, 1024));
	struct vc_layer_kind kind;

	(void)family;
	for (size_t i = 0; i < sizeof yolo_layers / sizeof yolo_layers[0]; i++) {
		const struct yolo_layer *layer = &yolo_layers[i];

		in += layer->extra_channels ? yolo_channels(&yolo, layer->extra_channels) : 0;
		yolo_block(&yolo, layer, in, &kind);
		config_layer(config, stack, &kind);
		in = yolo_channels(&yolo, layer->channels);
	}
	for (size_t i = 0; i < sizeof yolo_detect / sizeof yolo_detect[0]; i++) {
		config_linear(config, stack, VC_MODULE_OTHER, yolo_channels(&yolo, yolo_detect[i]),
		              outputs, true)
		        ->last = true;
	}
}

const struct family convnet_families[] = {
	{ "resnet", read_resnet, .traits = NULL },
	{ "yolov5", read_yolov5, .traits = NULL },
	{ .model_type = NULL },
};
