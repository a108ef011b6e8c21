/*
 * Convolutional nets: ResNet (huggingface/transformers, src/transformers/models/resnet), YOLOv5
 * (github.com/ultralytics/yolov5, models/yolov5s.yaml, models/common.py, release 6) and ConvNeXt.
 * A layer is a block of convolutions; each is followed by a batch norm's weights and biases.
 *
 * For backward a batch norm keeps its input, a convolution too, and an activation what its
 * derivative needs: ReLU its output, which is the next convolution's input, SiLU its input.
 */
#include "block.h"
#include "tower.h"

#include <string.h>

/* A side of the square image. At most 2^24 pixels: times 2^31 channels, a few times, that is below
 * 2^63. */
static uint64_t image_side(struct config *config, uint64_t fallback)
{
	uint64_t side = config_side(config, "image_size", fallback, 0);

	if (side < 32 || side > 4096) {
		config_fail(config, "image_size", "is out of range (expected 32 to 4096 pixels)");
		return fallback;
	}
	return side;
}

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
	uint64_t side; /* of what comes in, in pixels */
};

/* Both tensors of a convolution that ReLU follows, one of the others, and the block's output. */
static uint64_t resnet_saved(const struct resnet *net, uint64_t out, uint64_t side, bool shortcut)
{
	uint64_t middle = out / 4, before = net->side * net->side, after = side * side;
	uint64_t inner = net->bottleneck ? 2 * middle * (before + after) : 2 * out * after;

	return inner + (shortcut ? 3 : 2) * out * after;
}

static void resnet_block(struct config *config, uint32_t stack, struct resnet *net, uint64_t out,
                         bool strided)
{
	struct vc_layer_kind kind;
	uint64_t middle = out / 4, side = strided ? (net->side + 1) / 2 : net->side;
	bool shortcut = net->in != out || strided;

	memset(&kind, 0, sizeof kind);
	kind.saved.elements = resnet_saved(net, out, side, shortcut);
	if (shortcut) {
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
	net->side = side;
}

/* The image, a convolution with stride 2 and its ReLU, and of the pooling that halves again its
 * output, and where each maximum was: eight bytes. */
static struct vc_saved resnet_stem(const struct resnet *net, uint64_t channels, uint64_t image)
{
	uint64_t half = (image + 1) / 2, pooled = net->in * net->side * net->side;

	return (struct vc_saved){ channels * image * image + 2 * net->in * half * half + pooled,
		                  8 * pooled };
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
	uint64_t image = image_side(config, 224);
	uint64_t channels = config_count_or(config, "num_channels", 3);

	(void)family;
	net.side = (image + 3) / 4;
	config->model->stacks[stack].saved = resnet_stem(&net, channels, image);
	if (!depths) {
		config_fail(config, "depths", "is missing (expected the blocks of each stage)");
		return;
	}
	config_linear(config, stack, VC_MODULE_CONV, 49 * channels, net.in, false);
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

/* How often the image's sides are halved where each layer's output is. */
static const uint8_t yolo_halvings[] = { 1, 2, 2, 3, 3, 4, 4, 5, 5, 5, 5, 4, 4, 3, 4, 4, 5, 5 };

struct yolo {
	uint64_t depth, width; /* in thousandths */
	uint64_t image;        /* a side */
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

/*
 * A convolution's output: for its batch norm, for SiLU, which works in place and keeps a copy, and
 * once more where a convolution reads it. C3 joins two halves before its last convolution, SPPF
 * four; of a bottleneck the sum with its input is kept for the next. Three poolings keep their
 * inputs, and positions of eight bytes. A layer that reads a join keeps it, for those before it do
 * not.
 */
static struct vc_saved yolo_saved(const struct yolo *yolo, size_t index, uint64_t in)
{
	const struct yolo_layer *layer = &yolo_layers[index];
	bool last = index + 1 == sizeof yolo_layers / sizeof yolo_layers[0];
	bool joins = !last && yolo_layers[index + 1].extra_channels > 0;
	uint64_t side = yolo->image >> yolo_halvings[index], pixels = side * side;
	uint64_t out = yolo_channels(yolo, layer->channels);
	uint64_t half = (layer->type == YOLO_SPPF ? in : out) / 2;
	uint64_t repeats = yolo_repeats(yolo, layer->repeats_or_kernel);
	uint64_t joined = layer->extra_channels ? in : 0;

	if (layer->type == YOLO_CONV) {
		return (struct vc_saved){ (joins ? 2 : 3) * out * pixels, 0 };
	}
	if (layer->type == YOLO_SPPF) {
		return (struct vc_saved){ (9 * half + 3 * out) * pixels, 24 * half * pixels };
	}
	return (struct vc_saved){ ((6 * repeats + 6) * half + 3 * out + joined) * pixels, 0 };
}

static void read_yolov5(struct config *config, const struct family *family)
{
	struct yolo yolo = { yolo_multiple(config, "depth_multiple"),
		             yolo_multiple(config, "width_multiple"), image_side(config, 640) };
	uint64_t in = config_count_or(config, "num_channels", 3);
	uint64_t outputs = config_count_or(config, "num_anchors", 3) *
	                   (5 + config_count_or(config, "num_classes", 80));
	uint32_t stack = config_stack(config, VC_STACK_VISION, yolo_channels(&yolo, 1024));
	struct vc_layer_kind kind;

	(void)family;
	config->model->stacks[stack].saved.elements = in * yolo.image * yolo.image;
	for (size_t i = 0; i < sizeof yolo_layers / sizeof yolo_layers[0]; i++) {
		const struct yolo_layer *layer = &yolo_layers[i];

		in += layer->extra_channels ? yolo_channels(&yolo, layer->extra_channels) : 0;
		yolo_block(&yolo, layer, in, &kind);
		kind.saved = yolo_saved(&yolo, i, in);
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
