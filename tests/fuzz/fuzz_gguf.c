/* A GGUF header from arbitrary bytes, and the config that it becomes. */
#include "config.h"
#include "gguf.h"
#include "gguf_config.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct image {
	const uint8_t *data;
	size_t size;
};

static ptrdiff_t read_image(void *context, uint64_t offset, void *bytes, size_t size)
{
	const struct image *image = context;
	size_t left = offset < image->size ? image->size - (size_t)offset : 0;

	size = size < left ? size : left;
	memcpy(bytes, image->data + offset, size);
	return (ptrdiff_t)size;
}

static void visit(const struct vc_gguf_tensor *tensor, void *context)
{
	uint64_t *sum = context;

	/* What a program relies on: names end, sizes are in range. */
	if (strlen(tensor->name) >= VC_GGUF_NAME || tensor->elements > INT64_MAX ||
	    tensor->bytes > INT64_MAX) {
		abort();
	}
	*sum += tensor->bytes;
}

static void convert(struct vc_gguf *gguf)
{
	struct vc_weight_file *file = calloc(1, sizeof *file);
	struct vc_model *model = calloc(1, sizeof *model);
	struct vc_error error;
	cJSON *config;

	if (!file || !model) {
		abort();
	}
	file->metadata = gguf->metadata;
	config = vc_gguf_config(file);
	if (config) {
		(void)vc_config_to_model(config, model, &error);
	}
	(void)vc_gguf_quantization(file);
	cJSON_Delete(config);
	free(model);
	free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image image = { data, size };
	struct vc_stream *stream = vc_stream_of(read_image, &image, size);
	struct vc_gguf gguf;
	struct vc_error error;
	uint64_t sum = 0;

	if (!stream) {
		return 0;
	}
	if (vc_gguf_read(stream, visit, &sum, &gguf, &error) == VC_OK) {
		if (sum != gguf.tensor_bytes) {
			abort();
		}
		convert(&gguf);
	} else if (!error.message[0]) {
		abort();
	}
	vc_gguf_drop(&gguf);
	free(stream);
	return 0;
}
