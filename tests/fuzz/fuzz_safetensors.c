/* A safetensors header, and an index, from arbitrary bytes. */
#include "safetensors.h"

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

static void read_header(struct image *image)
{
	struct vc_stream *stream = vc_stream_of(read_image, image, image->size);
	struct vc_weight_file *file = calloc(1, sizeof *file);
	struct vc_error error;

	if (!stream || !file) {
		abort();
	}
	if (vc_safetensors_read(stream, NULL, file, &error) != VC_OK && !error.message[0]) {
		abort();
	}
	vc_weight_file_drop(file);
	free(file);
	free(stream);
}

static void read_index(struct image *image)
{
	struct vc_stream *stream = vc_stream_of(read_image, image, image->size);
	struct vc_safetensors_shards shards = { 0 };
	struct vc_error error;

	if (!stream) {
		abort();
	}
	if (vc_safetensors_index(stream, &shards, &error) != VC_OK && !error.message[0]) {
		abort();
	}
	for (size_t i = 0; i < shards.count; i++) {
		if (strchr(shards.names[i], '/')) {
			abort();
		}
	}
	vc_safetensors_shards_drop(&shards);
	free(stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image image = { data, size };

	read_header(&image);
	read_index(&image);
	return 0;
}
