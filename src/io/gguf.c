#include "gguf.h"

#include "name_set.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names, block sizes and bytes: ggml's include/ggml.h and src/ggml-common.h. */
static const struct vc_gguf_type types[VC_GGUF_TYPES] = {
	[0] = { "F32", 1, 4 },         [1] = { "F16", 1, 2 },         [2] = { "Q4_0", 32, 18 },
	[3] = { "Q4_1", 32, 20 },      [6] = { "Q5_0", 32, 22 },      [7] = { "Q5_1", 32, 24 },
	[8] = { "Q8_0", 32, 34 },      [9] = { "Q8_1", 32, 36 },      [10] = { "Q2_K", 256, 84 },
	[11] = { "Q3_K", 256, 110 },   [12] = { "Q4_K", 256, 144 },   [13] = { "Q5_K", 256, 176 },
	[14] = { "Q6_K", 256, 210 },   [15] = { "Q8_K", 256, 292 },   [16] = { "IQ2_XXS", 256, 66 },
	[17] = { "IQ2_XS", 256, 74 },  [18] = { "IQ3_XXS", 256, 98 }, [19] = { "IQ1_S", 256, 50 },
	[20] = { "IQ4_NL", 32, 18 },   [21] = { "IQ3_S", 256, 110 },  [22] = { "IQ2_S", 256, 82 },
	[23] = { "IQ4_XS", 256, 136 }, [24] = { "I8", 1, 1 },         [25] = { "I16", 1, 2 },
	[26] = { "I32", 1, 4 },        [27] = { "I64", 1, 8 },        [28] = { "F64", 1, 8 },
	[29] = { "IQ1_M", 256, 56 },   [30] = { "BF16", 1, 2 },       [34] = { "TQ1_0", 256, 54 },
	[35] = { "TQ2_0", 256, 66 },   [39] = { "MXFP4", 32, 17 },    [40] = { "NVFP4", 64, 36 },
	[41] = { "Q1_0", 128, 18 },    [42] = { "Q2_0", 64, 18 },
};

const struct vc_gguf_type *vc_gguf_type(uint32_t id)
{
	static const struct vc_gguf_type none = { NULL, 1, 0 };

	return id < VC_GGUF_TYPES && types[id].name ? &types[id] : &none;
}

enum value_type {
	VALUE_U8,
	VALUE_I8,
	VALUE_U16,
	VALUE_I16,
	VALUE_U32,
	VALUE_I32,
	VALUE_F32,
	VALUE_BOOL,
	VALUE_STRING,
	VALUE_ARRAY,
	VALUE_U64,
	VALUE_I64,
	VALUE_F64,
	VALUE_TYPES
};

/* 0: of no fixed size */
static const uint8_t value_bytes[VALUE_TYPES] = { 1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8 };

enum {
	/* No file has nearly as many: the largest mixtures of experts, unmerged, have 10^5 tensors.
	 */
	MAX_KEYS = 1 << 16,
	MAX_TENSORS = 1 << 18,
	MAX_DIMENSIONS = 4,
	MAX_KEPT_KEYS = 1024
};

/* Strings and arrays of ggml's reader end at 2^30. */
#define MAX_LENGTH (UINT64_C(1) << 30)

struct reader {
	struct vc_stream *stream;
	struct vc_gguf *gguf;
	struct vc_error *error;
	struct vc_name_set names; /* first of keys, then of tensors */
	uint64_t expected_offset;
	uint32_t kept;
};

#ifdef __GNUC__
__attribute__((format(printf, 3, 4)))
#endif
static bool
fail_at(struct reader *reader, uint64_t offset, const char *format, ...)
{
	char what[200];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(what, sizeof what, format, arguments);
	va_end(arguments);
	*reader->error = (struct vc_error){ .status = VC_INVALID };
	(void)snprintf(reader->error->message, sizeof reader->error->message, "%s at byte %" PRIu64,
	               what, offset);
	return false;
}

/* The bytes have ended, or cannot be read. */
static bool fail_short(struct reader *reader, const char *what)
{
	if (reader->stream->failed) {
		(void)fail_at(reader, reader->stream->offset, "cannot be read");
		reader->error->status = VC_IO;
		return false;
	}
	return fail_at(reader, reader->stream->offset,
	               "ends within %s (a whole header is expected)", what);
}

static bool take_number(struct reader *reader, size_t size, uint64_t *value, const char *what)
{
	unsigned char bytes[8];

	if (!vc_stream_take(reader->stream, bytes, size)) {
		return fail_short(reader, what);
	}
	*value = 0;
	for (size_t i = 0; i < size; i++) {
		size_t place = reader->gguf->big_endian ? size - 1 - i : i;

		*value |= (uint64_t)bytes[i] << 8 * place;
	}
	return true;
}

/* Counts and lengths have 32 bits in version 1 and 64 since. */
static bool take_count(struct reader *reader, uint64_t *value, const char *what)
{
	return take_number(reader, reader->gguf->version == 1 ? 4 : 8, value, what);
}

/* A string's length, which the rest of the file must hold. */
static bool take_length(struct reader *reader, uint64_t *length, const char *what)
{
	uint64_t offset = reader->stream->offset;

	if (!take_count(reader, length, what)) {
		return false;
	}
	if (*length > MAX_LENGTH || *length > vc_stream_left(reader->stream)) {
		return fail_at(reader, offset,
		               "%s is %" PRIu64 " bytes long, past the end of the file", what,
		               *length);
	}
	return true;
}

/* ---- Metadata ---------------------------------------------------------------------------------
 */

static bool keep(struct reader *reader, const char *key, cJSON *item)
{
	if (item && reader->kept < MAX_KEPT_KEYS &&
	    cJSON_AddItemToObject(reader->gguf->metadata, key, item)) {
		reader->kept++;
		return true;
	}
	cJSON_Delete(item);
	return reader->kept >= MAX_KEPT_KEYS ||
	       fail_at(reader, reader->stream->offset, "memory ended");
}

static double as_float(uint64_t bits)
{
	uint32_t narrow = (uint32_t)bits;
	float value;

	memcpy(&value, &narrow, sizeof value);
	return (double)value;
}

static double as_double(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof value);
	return value;
}

static cJSON *make_number(enum value_type type, uint64_t bits)
{
	switch (type) {
	case VALUE_BOOL:
		return cJSON_CreateBool(bits != 0);
	case VALUE_F32:
		return cJSON_CreateNumber(as_float(bits));
	case VALUE_F64:
		return cJSON_CreateNumber(as_double(bits));
	case VALUE_I8:
		return cJSON_CreateNumber((int8_t)bits);
	case VALUE_I16:
		return cJSON_CreateNumber((int16_t)bits);
	case VALUE_I32:
		return cJSON_CreateNumber((int32_t)bits);
	case VALUE_I64:
		return cJSON_CreateNumber((double)(int64_t)bits);
	default:
		return cJSON_CreateNumber((double)bits);
	}
}

static bool take_string_value(struct reader *reader, const char *key)
{
	char text[VC_GGUF_STRING + 1];
	uint64_t length = 0;

	if (!take_length(reader, &length, "a string")) {
		return false;
	}
	if (length > VC_GGUF_STRING) {
		return vc_stream_skip(reader->stream, length) &&
		       keep(reader, key, cJSON_CreateNumber((double)length));
	}
	if (!vc_stream_take(reader->stream, text, (size_t)length)) {
		return fail_short(reader, "a string");
	}
	text[length] = '\0';
	return keep(reader, key, cJSON_CreateString(text));
}

/* Passes over as many of the strings as the buffer holds whole, and returns how many those are. A
 * vocabulary has half a million of them, nearly all of a header: this is where the time goes. */
static uint64_t skip_held_strings(struct reader *reader, uint64_t count)
{
	size_t held, at = 0;
	const unsigned char *bytes = vc_stream_held(reader->stream, &held);
	uint64_t skipped = 0;

	if (reader->gguf->version == 1 || reader->gguf->big_endian) {
		return 0;
	}
	while (skipped < count && held - at >= 8) {
		const unsigned char *p = bytes + at;
		uint64_t length = (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 |
		                  (uint64_t)p[3] << 24 | (uint64_t)p[4] << 32 |
		                  (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 |
		                  (uint64_t)p[7] << 56;

		if (length > held - at - 8) {
			break;
		}
		at += 8 + (size_t)length;
		skipped++;
	}
	vc_stream_advance(reader->stream, at);
	return skipped;
}

static bool skip_strings(struct reader *reader, uint64_t count)
{
	uint64_t length = 0;

	for (uint64_t i = skip_held_strings(reader, count); i < count;
	     i += 1 + skip_held_strings(reader, count - i - 1)) {
		if (!take_length(reader, &length, "a string of an array")) {
			return false;
		}
		if (!vc_stream_skip(reader->stream, length)) {
			return fail_short(reader, "a string of an array");
		}
	}
	return true;
}

static cJSON *take_numbers(struct reader *reader, enum value_type type, uint64_t count)
{
	cJSON *array = cJSON_CreateArray();
	uint64_t bits = 0;

	for (uint64_t i = 0; array && i < count; i++) {
		cJSON *item = NULL;

		if (take_number(reader, value_bytes[type], &bits, "an array")) {
			item = make_number(type, bits);
		}
		if (!item || !cJSON_AddItemToArray(array, item)) {
			cJSON_Delete(item);
			cJSON_Delete(array);
			return NULL;
		}
	}
	return array;
}

static bool take_array(struct reader *reader, const char *key)
{
	uint64_t offset = reader->stream->offset, type = 0, count = 0, least;

	if (!take_number(reader, 4, &type, "an array") || !take_count(reader, &count, "an array")) {
		return false;
	}
	if (type >= VALUE_TYPES || type == VALUE_ARRAY) {
		return fail_at(reader, offset,
		               type == VALUE_ARRAY ? "an array of arrays (numbers, flags or "
		                                     "strings are expected)"
		                                   : "an array of an unknown type");
	}
	least = type == VALUE_STRING ? reader->gguf->version == 1 ? 4u : 8u : value_bytes[type];
	if (count > MAX_LENGTH || count > vc_stream_left(reader->stream) / least) {
		return fail_at(reader, offset,
		               "an array of %" PRIu64 " entries, past the end of the file", count);
	}
	if (type == VALUE_STRING || count > VC_GGUF_ARRAY) {
		bool skipped = type == VALUE_STRING
		                       ? skip_strings(reader, count)
		                       : vc_stream_skip(reader->stream, count * least) ||
		                                 fail_short(reader, "an array");

		return skipped && keep(reader, key, cJSON_CreateNumber((double)count));
	}
	return keep(reader, key, take_numbers(reader, (enum value_type)type, count));
}

static bool take_value(struct reader *reader, const char *key)
{
	uint64_t offset = reader->stream->offset, type = 0, bits = 0;

	if (!take_number(reader, 4, &type, "a value")) {
		return false;
	}
	if (type >= VALUE_TYPES) {
		return fail_at(reader, offset, "'%.60s' has the unknown value type %" PRIu64, key,
		               type);
	}
	if (type == VALUE_STRING) {
		return take_string_value(reader, key);
	}
	if (type == VALUE_ARRAY) {
		return take_array(reader, key);
	}
	if (!take_number(reader, value_bytes[type], &bits, "a value")) {
		return false;
	}
	if (strcmp(key, "general.alignment") == 0) {
		if (type != VALUE_U32 || bits == 0 || (bits & (bits - 1)) != 0) {
			return fail_at(reader, offset,
			               "general.alignment is not a power of two in 32 bits");
		}
		reader->gguf->alignment = bits;
	}
	return keep(reader, key, make_number((enum value_type)type, bits));
}

/* A name of at most size - 1 bytes that has not been seen; text is cut at the first NUL. */
static bool take_name(struct reader *reader, char *name, size_t size, const char *what)
{
	uint64_t offset = reader->stream->offset, length = 0;
	enum vc_name_added added;

	if (!take_length(reader, &length, what)) {
		return false;
	}
	if (length == 0 || length >= size) {
		return fail_at(reader, offset, "%s of %" PRIu64 " bytes (1 to %zu are expected)",
		               what, length, size - 1);
	}
	if (!vc_stream_take(reader->stream, name, (size_t)length)) {
		return fail_short(reader, what);
	}
	name[length] = '\0';
	added = vc_name_set_add(&reader->names, name, (size_t)length);
	if (added == VC_NAME_SEEN) {
		return fail_at(reader, offset, "%s '%.64s' is there twice", what, name);
	}
	return added == VC_NAME_NEW || fail_at(reader, offset, "memory ended");
}

static bool take_keys(struct reader *reader)
{
	char key[512];

	for (uint64_t i = 0; i < reader->gguf->keys; i++) {
		if (!take_name(reader, key, sizeof key, "a key") || !take_value(reader, key)) {
			return false;
		}
	}
	return true;
}

/* ---- Tensors ----------------------------------------------------------------------------------
 */

static bool take_dimensions(struct reader *reader, struct vc_gguf_tensor *tensor)
{
	uint64_t offset = reader->stream->offset, count = 0;

	if (!take_number(reader, 4, &count, "a tensor")) {
		return false;
	}
	if (count > MAX_DIMENSIONS) {
		return fail_at(reader, offset,
		               "tensor '%s' has %" PRIu64 " dimensions (0 to 4 are "
		               "expected)",
		               tensor->name, count);
	}
	tensor->dimensions = (uint32_t)count;
	tensor->elements = 1;
	for (uint32_t i = 0; i < MAX_DIMENSIONS; i++) {
		uint64_t size = 1;

		offset = reader->stream->offset;
		if (i < count && !take_count(reader, &size, "a tensor")) {
			return false;
		}
		if (size > INT64_MAX || (size > 0 && tensor->elements > INT64_MAX / size)) {
			return fail_at(reader, offset,
			               "tensor '%s' has a negative size, or more "
			               "elements than 2^63",
			               tensor->name);
		}
		tensor->size[i] = size;
		tensor->elements *= size;
	}
	return true;
}

static bool take_type(struct reader *reader, struct vc_gguf_tensor *tensor)
{
	uint64_t offset = reader->stream->offset, id = 0, blocks;
	const struct vc_gguf_type *type;

	if (!take_number(reader, 4, &id, "a tensor")) {
		return false;
	}
	type = vc_gguf_type(id < VC_GGUF_TYPES ? (uint32_t)id : VC_GGUF_TYPES);
	if (!type->name) {
		return fail_at(reader, offset, "tensor '%s' has the unknown type %" PRIu64,
		               tensor->name, id);
	}
	if (tensor->size[0] % type->block_elements != 0) {
		return fail_at(reader, offset,
		               "tensor '%s' has rows of %" PRIu64
		               ", which are not whole blocks of %s",
		               tensor->name, tensor->size[0], type->name);
	}
	blocks = tensor->elements / type->block_elements;
	if (blocks > INT64_MAX / type->block_bytes) {
		return fail_at(reader, offset, "tensor '%s' has more bytes than 2^63",
		               tensor->name);
	}
	tensor->type = (uint32_t)id;
	tensor->bytes = blocks * type->block_bytes;
	return true;
}

/* Tensors are packed in the order of their table, each at the alignment. */
static bool take_offset(struct reader *reader, const struct vc_gguf_tensor *tensor)
{
	struct vc_gguf *gguf = reader->gguf;
	uint64_t offset = reader->stream->offset, place = 0, padded;

	if (!take_number(reader, 8, &place, "a tensor")) {
		return false;
	}
	if (place != reader->expected_offset) {
		return fail_at(reader, offset,
		               "tensor '%s' lies at %" PRIu64 " rather than at %" PRIu64,
		               tensor->name, place, reader->expected_offset);
	}
	padded = (tensor->bytes + gguf->alignment - 1) / gguf->alignment * gguf->alignment;
	if (padded > INT64_MAX - reader->expected_offset) {
		return fail_at(reader, offset, "the tensors have more bytes than 2^63");
	}
	reader->expected_offset += padded;
	return true;
}

static bool take_tensors(struct reader *reader, vc_gguf_visitor *visit, void *context)
{
	struct vc_gguf *gguf = reader->gguf;

	for (uint64_t i = 0; i < gguf->tensors; i++) {
		struct vc_gguf_tensor tensor = { 0 };

		if (!take_name(reader, tensor.name, sizeof tensor.name, "a tensor's name") ||
		    !take_dimensions(reader, &tensor) || !take_type(reader, &tensor) ||
		    !take_offset(reader, &tensor)) {
			return false;
		}
		if (tensor.elements > INT64_MAX - gguf->elements) {
			return fail_at(reader, reader->stream->offset,
			               "the tensors have more elements than 2^63");
		}
		gguf->elements += tensor.elements;
		gguf->tensor_bytes += tensor.bytes;
		gguf->type_tensors[tensor.type]++;
		if (visit) {
			visit(&tensor, context);
		}
	}
	return true;
}

/* ---- The file ---------------------------------------------------------------------------------
 */

static bool take_version(struct reader *reader)
{
	unsigned char magic[4];
	uint64_t version = 0;

	if (!vc_stream_take(reader->stream, magic, sizeof magic)) {
		return fail_short(reader, "the magic number");
	}
	if (memcmp(magic, "GGUF", sizeof magic) != 0) {
		return fail_at(reader, 0, "is no GGUF file (\"GGUF\" is expected)");
	}
	if (!take_number(reader, 4, &version, "the version")) {
		return false;
	}
	/* A file of the other byte order has its version in the upper half. */
	if (version != 0 && (version & 0xFFFF) == 0) {
		reader->gguf->big_endian = true;
		version = version >> 24 | (version >> 8 & 0xFF00);
	}
	if (version < 1 || version > 3) {
		return fail_at(reader, 4, "GGUF version %" PRIu64 " (1 to 3 are expected)",
		               version);
	}
	reader->gguf->version = (uint32_t)version;
	return true;
}

/* Both counts, against what the smallest key and the smallest tensor take. */
static bool take_counts(struct reader *reader)
{
	struct vc_gguf *gguf = reader->gguf;
	uint64_t offset = reader->stream->offset, left;
	uint64_t word = gguf->version == 1 ? 4 : 8;

	if (!take_count(reader, &gguf->tensors, "the counts") ||
	    !take_count(reader, &gguf->keys, "the counts")) {
		return false;
	}
	left = vc_stream_left(reader->stream);
	if (gguf->tensors > MAX_TENSORS || gguf->tensors > left / (word + 1 + 4 + 4 + 8)) {
		return fail_at(reader, offset, "%" PRIu64 " tensors are more than the file holds",
		               gguf->tensors);
	}
	if (gguf->keys > MAX_KEYS || gguf->keys > left / (word + 1 + 4 + 1)) {
		return fail_at(reader, offset + word,
		               "%" PRIu64 " keys are more than the file holds", gguf->keys);
	}
	return true;
}

enum vc_status vc_gguf_read(struct vc_stream *stream, vc_gguf_visitor *visit, void *context,
                            struct vc_gguf *gguf, struct vc_error *error)
{
	struct reader reader = { .stream = stream, .gguf = gguf, .error = error };
	bool good;

	*gguf = (struct vc_gguf){ .alignment = 32, .metadata = cJSON_CreateObject() };
	*error = (struct vc_error){ .status = VC_OK };
	good = gguf->metadata ? take_version(&reader) && take_counts(&reader) && take_keys(&reader)
	                      : fail_at(&reader, 0, "memory ended");
	vc_name_set_drop(&reader.names);
	good = good && take_tensors(&reader, visit, context);
	vc_name_set_drop(&reader.names);
	if (good) {
		gguf->header_bytes = stream->offset;
		if (gguf->tensors > 0) {
			gguf->header_bytes += gguf->alignment - 1;
			gguf->header_bytes -= gguf->header_bytes % gguf->alignment;
		}
		gguf->data_bytes = reader.expected_offset;
	}
	return error->status;
}

void vc_gguf_drop(struct vc_gguf *gguf)
{
	cJSON_Delete(gguf->metadata);
	gguf->metadata = NULL;
}
