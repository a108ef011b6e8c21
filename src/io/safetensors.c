#include "safetensors.h"

#include "json_scan.h"
#include "name_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_TENSORS = 1 << 18,
	MAX_NAME = 512,
	MAX_SHARDS = 4096
};

/* Of the header, as the format has it. */
#define MAX_HEADER 100000000u

struct element_type {
	const char *name;
	uint32_t bits;
	enum vc_dtype dtype; /* NONE: holds no weights */
};

static const struct element_type element_types[] = {
	{ "BOOL", 8, VC_DTYPE_NONE },       { "F4", 4, VC_DTYPE_FP4 },
	{ "F6_E2M3", 6, VC_DTYPE_FP6 },     { "F6_E3M2", 6, VC_DTYPE_FP6 },
	{ "U8", 8, VC_DTYPE_INT8 },         { "I8", 8, VC_DTYPE_INT8 },
	{ "F8_E5M2", 8, VC_DTYPE_FP8 },     { "F8_E4M3", 8, VC_DTYPE_FP8 },
	{ "F8_E8M0", 8, VC_DTYPE_NONE },    { "F8_E4M3FNUZ", 8, VC_DTYPE_FP8 },
	{ "F8_E5M2FNUZ", 8, VC_DTYPE_FP8 }, { "I16", 16, VC_DTYPE_NONE },
	{ "U16", 16, VC_DTYPE_NONE },       { "F16", 16, VC_DTYPE_FP16 },
	{ "BF16", 16, VC_DTYPE_BF16 },      { "I32", 32, VC_DTYPE_INT4 },
	{ "U32", 32, VC_DTYPE_INT4 },       { "F32", 32, VC_DTYPE_FP32 },
	{ "C64", 64, VC_DTYPE_NONE },       { "F64", 64, VC_DTYPE_FP64 },
	{ "I64", 64, VC_DTYPE_NONE },       { "U64", 64, VC_DTYPE_NONE },
};

static const struct element_type *type_by_name(const char *name)
{
	for (size_t i = 0; i < sizeof element_types / sizeof *element_types; i++) {
		if (strcmp(element_types[i].name, name) == 0) {
			return &element_types[i];
		}
	}
	return NULL;
}

struct tensor {
	char name[MAX_NAME];
	const struct element_type *type;
	uint64_t elements, rows, begin, end;
	bool shaped, placed;
};

struct range {
	uint64_t begin, end;
};

struct reader {
	struct vc_json_scan scan;
	const struct vc_weight_packing *packing;
	struct vc_weight_file *file;
	struct vc_name_set names;
	struct range *ranges;
	size_t count, room;
	uint64_t largest_end;
	uint64_t byte_elements; /* of weights held in plain bytes */
	bool halves;            /* a companion says that those bytes hold two weights each */
};

/* ---- What a tensor stands for -----------------------------------------------------------------
 */

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);

	return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* Beside the weights of a quantized layer: scales, zeros, shapes, maps. */
static bool is_companion(const char *name)
{
	static const char *const ends[] = {
		".qzeros",
		".scales",
		".g_idx",
		".weight_scale",
		".weight_scale_2",
		".input_scale",
		".weight_scale_inv",
		".weight_zero_point",
		".weight_shape",
		".weight_g_idx",
		".absmax",
		".quant_map",
		".nested_absmax",
		".nested_quant_map",
		".SCB",
		".weight_format",
		".k_scale",
		".v_scale",
		".input_global_scale",
		".weight_global_scale",
		"_scales",
		"_scale_inv",
		".zeros",
		".output_scale",
	};

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		if (ends_with(name, ends[i])) {
			return true;
		}
	}
	return strstr(name, ".quant_state.") != NULL;
}

/* Stored tables that the program computes: no parameters. */
static bool is_buffer(const char *name)
{
	return ends_with(name, ".inv_freq") || ends_with(name, ".masked_bias") ||
	       ends_with(name, ".attn.bias") || ends_with(name, ".position_ids") ||
	       ends_with(name, ".num_batches_tracked");
}

/* Companions of 4-bit weights in bytes: bitsandbytes, NVFP4. */
static bool tells_halves(const char *name)
{
	return ends_with(name, ".weight_scale_2") || ends_with(name, ".weight_global_scale") ||
	       ends_with(name, ".absmax");
}

/* How many parameters a tensor stands for. */
static uint64_t parameters_of(const struct reader *reader, const struct tensor *tensor)
{
	const char *name = tensor->name;
	uint32_t bits = reader->packing && reader->packing->bits ? reader->packing->bits : 4;

	if (is_companion(name) || is_buffer(name) || tensor->type->dtype == VC_DTYPE_NONE) {
		return 0;
	}
	if (tensor->type->bits == 32 && tensor->type->dtype == VC_DTYPE_INT4) {
		bool packed = ends_with(name, ".qweight") || ends_with(name, ".weight_packed");

		return packed ? tensor->elements / bits * 32 + tensor->elements % bits * 32 / bits
		              : 0;
	}
	if (strcmp(tensor->type->name, "U8") == 0) {
		bool halves = ends_with(name, "_blocks") || ends_with(name, ".weight_packed");

		return halves ? tensor->elements * 2 : tensor->elements;
	}
	return tensor->elements;
}

static void add_tensor(struct reader *reader, const struct tensor *tensor)
{
	struct vc_weight_tensor seen = {
		.name = tensor->name,
		.dtype = tensor->type->dtype,
		.parameters = parameters_of(reader, tensor),
		.buffers = is_buffer(tensor->name) ? tensor->elements : 0,
		.bytes = tensor->end - tensor->begin,
		.rows = tensor->rows,
	};

	reader->halves |= tells_halves(tensor->name);
	reader->file->weights.quantized |= is_companion(tensor->name);
	if (strcmp(tensor->type->name, "U8") == 0 && seen.parameters == tensor->elements) {
		reader->byte_elements += tensor->elements;
	}
	vc_weight_file_add(reader->file, &seen);
}

/* ---- The table --------------------------------------------------------------------------------
 */

static void take_dtype(struct reader *reader, struct tensor *tensor)
{
	uint64_t offset = reader->scan.stream->offset;
	char name[32], what[128];

	if (!vc_scan_string(&reader->scan, name, sizeof name)) {
		return;
	}
	tensor->type = type_by_name(name);
	if (!tensor->type) {
		(void)snprintf(what, sizeof what, "'%.60s' has the unknown dtype '%s'",
		               tensor->name, name);
		(void)vc_scan_fail(&reader->scan, offset, what);
	}
}

static void take_shape(struct reader *reader, struct tensor *tensor)
{
	bool first = true;
	uint64_t size;

	tensor->elements = 1;
	tensor->rows = 1;
	tensor->shaped = vc_scan_take(&reader->scan, '[');
	while (tensor->shaped && vc_scan_next(&reader->scan, ']', &first)) {
		bool outermost = tensor->elements == 1 && tensor->rows == 1;

		if (!vc_scan_count(&reader->scan, &size)) {
			return;
		}
		if (size > 0 && tensor->elements > INT64_MAX / size) {
			(void)vc_scan_fail(&reader->scan, reader->scan.stream->offset,
			                   "a shape has more elements than 2^63");
			return;
		}
		tensor->elements *= size;
		tensor->rows = outermost ? size : tensor->rows;
	}
}

static void take_offsets(struct reader *reader, struct tensor *tensor)
{
	struct vc_json_scan *scan = &reader->scan;

	tensor->placed = vc_scan_take(scan, '[') && vc_scan_count(scan, &tensor->begin) &&
	                 vc_scan_take(scan, ',') && vc_scan_count(scan, &tensor->end) &&
	                 vc_scan_take(scan, ']');
}

/* Whether type, shape and offsets say the same. */
static void check_tensor(struct reader *reader, const struct tensor *tensor, uint64_t offset)
{
	uint64_t size = tensor->end - tensor->begin;
	const char *problem = NULL;
	char what[MAX_NAME + 80];

	if (!tensor->type || !tensor->shaped || !tensor->placed) {
		problem = "lacks dtype, shape or data_offsets";
	} else if (tensor->end < tensor->begin) {
		problem = "ends before it begins";
	} else if (tensor->elements > INT64_MAX / 64 ||
	           tensor->elements * tensor->type->bits % 8 != 0 ||
	           tensor->elements * tensor->type->bits / 8 != size) {
		problem = "has another size by its shape than by its offsets";
	}
	if (problem) {
		(void)snprintf(what, sizeof what, "'%.100s' %s", tensor->name, problem);
		(void)vc_scan_fail(&reader->scan, offset, what);
	}
}

static void remember_range(struct reader *reader, const struct tensor *tensor)
{
	if (reader->count == reader->room) {
		size_t room = reader->room ? reader->room * 2 : 1024;
		struct range *larger = realloc(reader->ranges, room * sizeof *larger);

		if (!larger) {
			(void)vc_scan_fail(&reader->scan, reader->scan.stream->offset,
			                   "memory ended");
			return;
		}
		reader->ranges = larger;
		reader->room = room;
	}
	reader->ranges[reader->count++] = (struct range){ tensor->begin, tensor->end };
	if (tensor->end > reader->largest_end) {
		reader->largest_end = tensor->end;
	}
}

static void take_tensor(struct reader *reader, struct tensor *tensor)
{
	struct vc_json_scan *scan = &reader->scan;
	uint64_t offset = scan->stream->offset;
	bool first = true;
	char key[32];

	if (!vc_scan_take(scan, '{')) {
		return;
	}
	while (vc_scan_next(scan, '}', &first)) {
		if (!vc_scan_string(scan, key, sizeof key) || !vc_scan_take(scan, ':')) {
			return;
		}
		if (strcmp(key, "dtype") == 0) {
			take_dtype(reader, tensor);
		} else if (strcmp(key, "shape") == 0) {
			take_shape(reader, tensor);
		} else if (strcmp(key, "data_offsets") == 0) {
			take_offsets(reader, tensor);
		} else {
			(void)vc_scan_fail(scan, offset, "a tensor has an unknown member");
		}
	}
	if (vc_scan_good(scan)) {
		check_tensor(reader, tensor, offset);
	}
	if (vc_scan_good(scan)) {
		remember_range(reader, tensor);
	}
	if (vc_scan_good(scan)) {
		add_tensor(reader, tensor);
	}
}

static void take_member(struct reader *reader)
{
	struct vc_json_scan *scan = &reader->scan;
	struct tensor tensor = { .elements = 0 };
	uint64_t offset = scan->stream->offset;
	enum vc_name_added added;

	if (!vc_scan_string(scan, tensor.name, sizeof tensor.name) || !vc_scan_take(scan, ':')) {
		return;
	}
	added = vc_name_set_add(&reader->names, tensor.name, strlen(tensor.name));
	if (added != VC_NAME_NEW) {
		(void)vc_scan_fail(scan, offset,
		                   added == VC_NAME_SEEN ? "a tensor is there twice"
		                                         : "memory ended");
	} else if (strcmp(tensor.name, "__metadata__") == 0) {
		vc_scan_skip(scan);
	} else if (reader->count == MAX_TENSORS) {
		(void)vc_scan_fail(scan, offset, "more than 262144 tensors");
	} else {
		take_tensor(reader, &tensor);
	}
}

static int compare_ranges(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->begin != y->begin) {
		return x->begin < y->begin ? -1 : 1;
	}
	return x->end < y->end ? -1 : x->end > y->end;
}

/* The tensors cover the data from its first byte on, each byte once. */
static void check_cover(struct reader *reader)
{
	uint64_t at = 0;

	if (reader->count > 0) {
		qsort(reader->ranges, reader->count, sizeof *reader->ranges, compare_ranges);
	}
	for (size_t i = 0; i < reader->count; i++) {
		if (reader->ranges[i].begin != at) {
			(void)vc_scan_fail(&reader->scan, reader->scan.end + at,
			                   reader->ranges[i].begin > at
			                           ? "no tensor covers the data"
			                           : "two tensors overlap in the data");
			return;
		}
		at = reader->ranges[i].end;
	}
}

/* A file may end with its header (a part of a download); it may not go on behind its tensors. */
static void check_size(struct reader *reader)
{
	uint64_t size = reader->scan.stream->size, whole = reader->scan.end + reader->largest_end;

	if (size != UINT64_MAX && size > whole) {
		(void)vc_scan_fail(&reader->scan, whole, "the file goes on behind its last tensor");
		return;
	}
	reader->file->header_only |= size < whole;
	reader->file->file_bytes += whole;
	if (reader->halves) {
		reader->file->weights.params += reader->byte_elements;
		reader->file->dtype_params[VC_DTYPE_INT8] -= reader->byte_elements;
		reader->file->dtype_params[VC_DTYPE_FP4] += reader->byte_elements * 2;
	}
}

static bool take_header_size(struct reader *reader)
{
	struct vc_json_scan *scan = &reader->scan;
	unsigned char bytes[8];
	uint64_t size = 0;

	if (!vc_stream_take(scan->stream, bytes, sizeof bytes)) {
		return vc_scan_fail(scan, scan->stream->offset,
		                    "ends within the header's length (8 bytes are expected)");
	}
	for (size_t i = 0; i < sizeof bytes; i++) {
		size |= (uint64_t)bytes[i] << 8 * i;
	}
	if (size > MAX_HEADER) {
		return vc_scan_fail(scan, 0, "the header is longer than 100000000 bytes");
	}
	if (size > vc_stream_left(scan->stream)) {
		return vc_scan_fail(scan, 0, "the header is longer than the file");
	}
	scan->end = 8 + size;
	if (vc_stream_peek(scan->stream) != '{' || size == 0) {
		return vc_scan_fail(scan, 8, "the header does not begin with '{'");
	}
	return true;
}

enum vc_status vc_safetensors_read(struct vc_stream *stream,
                                   const struct vc_weight_packing *packing,
                                   struct vc_weight_file *file, struct vc_error *error)
{
	struct reader reader = { .packing = packing, .file = file };
	bool first = true;

	*error = (struct vc_error){ .status = VC_OK };
	reader.scan = (struct vc_json_scan){ .stream = stream, .error = error };
	if (take_header_size(&reader) && vc_scan_take(&reader.scan, '{')) {
		while (vc_scan_next(&reader.scan, '}', &first)) {
			take_member(&reader);
		}
		if (vc_scan_good(&reader.scan) && vc_scan_peek(&reader.scan) >= 0) {
			(void)vc_scan_fail(&reader.scan, stream->offset,
			                   "the header goes on behind its end");
		}
		if (vc_scan_good(&reader.scan)) {
			check_cover(&reader);
		}
		if (vc_scan_good(&reader.scan)) {
			check_size(&reader);
		}
	}
	free(reader.ranges);
	vc_name_set_drop(&reader.names);
	return error->status;
}

/* ---- The index --------------------------------------------------------------------------------
 */

static bool has_shard(const struct vc_safetensors_shards *shards, const char *name)
{
	/* neighbours in an index are mostly in one file */
	for (size_t i = shards->count; i-- > 0;) {
		if (strcmp(shards->names[i], name) == 0) {
			return true;
		}
	}
	return false;
}

static void add_shard(struct vc_json_scan *scan, struct vc_safetensors_shards *shards,
                      const char *name)
{
	uint64_t offset = scan->stream->offset;
	char **larger, *copy;

	if (!*name || strchr(name, '/') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
		(void)vc_scan_fail(scan, offset, "a shard is no plain file name");
		return;
	}
	if (shards->count == MAX_SHARDS) {
		(void)vc_scan_fail(scan, offset, "more than 4096 shards");
		return;
	}
	larger = realloc(shards->names, (shards->count + 1) * sizeof *larger);
	if (!larger) {
		(void)vc_scan_fail(scan, offset, "memory ended");
		return;
	}
	shards->names = larger;
	copy = strdup(name);
	if (!copy) {
		(void)vc_scan_fail(scan, offset, "memory ended");
		return;
	}
	shards->names[shards->count++] = copy;
}

static void take_weight_map(struct vc_json_scan *scan, struct vc_safetensors_shards *shards)
{
	char tensor[MAX_NAME], shard[256];
	bool first = true;

	if (!vc_scan_take(scan, '{')) {
		return;
	}
	while (vc_scan_next(scan, '}', &first)) {
		if (!vc_scan_string(scan, tensor, sizeof tensor) || !vc_scan_take(scan, ':') ||
		    !vc_scan_string(scan, shard, sizeof shard)) {
			return;
		}
		if (!has_shard(shards, shard)) {
			add_shard(scan, shards, shard);
		}
	}
}

enum vc_status vc_safetensors_index(struct vc_stream *stream, struct vc_safetensors_shards *shards,
                                    struct vc_error *error)
{
	struct vc_json_scan scan = { .stream = stream, .end = UINT64_MAX, .error = error };
	bool first = true;
	char key[64];

	*error = (struct vc_error){ .status = VC_OK };
	if (!vc_scan_take(&scan, '{')) {
		return error->status;
	}
	while (vc_scan_next(&scan, '}', &first)) {
		if (!vc_scan_string(&scan, key, sizeof key) || !vc_scan_take(&scan, ':')) {
			break;
		}
		if (strcmp(key, "weight_map") == 0) {
			take_weight_map(&scan, shards);
		} else {
			vc_scan_skip(&scan);
		}
	}
	if (vc_scan_good(&scan) && shards->count == 0) {
		(void)vc_scan_fail(&scan, stream->offset,
		                   "has no weight_map (an index is expected)");
	}
	return error->status;
}

void vc_safetensors_shards_drop(struct vc_safetensors_shards *shards)
{
	for (size_t i = 0; i < shards->count; i++) {
		free(shards->names[i]);
	}
	free(shards->names);
	*shards = (struct vc_safetensors_shards){ 0 };
}
