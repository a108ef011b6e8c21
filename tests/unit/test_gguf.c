#include "gguf.h"
#include "test.h"

#include <cjson/cJSON.h>

/* A file built by hand, in either byte order. */
struct image {
	unsigned char bytes[8192];
	size_t length;
	bool big_endian;
};

static void put(struct image *image, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		size_t place = image->big_endian ? size - 1 - i : i;

		image->bytes[image->length + i] = (unsigned char)(value >> 8 * place);
	}
	image->length += size;
}

static void put_string(struct image *image, const char *text)
{
	put(image, strlen(text), 8);
	memcpy(image->bytes + image->length, text, strlen(text));
	image->length += strlen(text);
}

static void begin(struct image *image, uint64_t tensors, uint64_t keys)
{
	memcpy(image->bytes, "GGUF", 4);
	image->length = 4;
	put(image, 3, 4);
	put(image, tensors, 8);
	put(image, keys, 8);
}

static ptrdiff_t read_image(void *context, uint64_t offset, void *bytes, size_t size)
{
	const struct image *image = context;
	size_t left = offset < image->length ? image->length - (size_t)offset : 0;

	/* a few bytes at a time, so that every value is cut somewhere */
	size = size < 7 ? size : 7;
	size = size < left ? size : left;
	memcpy(bytes, image->bytes + offset, size);
	return (ptrdiff_t)size;
}

static enum vc_status read_gguf(struct image *image, struct vc_gguf *gguf, struct vc_error *error)
{
	struct vc_stream *stream = vc_stream_of(read_image, image, image->length);
	enum vc_status status;

	assert_non_null(stream);
	status = vc_gguf_read(stream, NULL, NULL, gguf, error);
	free(stream);
	return status;
}

/* One key of each value type, and one tensor of 2 x 32 elements in Q8_0. */
static void build(struct image *image)
{
	begin(image, 1, 15);
	put_string(image, "u8"), put(image, 0, 4), put(image, 200, 1);
	put_string(image, "i8"), put(image, 1, 4), put(image, (uint8_t)-5, 1);
	put_string(image, "u16"), put(image, 2, 4), put(image, 60000, 2);
	put_string(image, "i16"), put(image, 3, 4), put(image, (uint16_t)-6, 2);
	put_string(image, "u32"), put(image, 4, 4), put(image, 4000000000, 4);
	put_string(image, "i32"), put(image, 5, 4), put(image, (uint32_t)-7, 4);
	/* IEEE 754: 0.5 is 3F000000 and 3FE0000000000000 */
	put_string(image, "f32"), put(image, 6, 4), put(image, 0x3F000000, 4);
	put_string(image, "bool"), put(image, 7, 4), put(image, 1, 1);
	put_string(image, "string"), put(image, 8, 4), put_string(image, "llama");
	put_string(image, "array"), put(image, 9, 4), put(image, 5, 4), put(image, 3, 8);
	put(image, 8, 4), put(image, 0, 4), put(image, 2, 4);
	put_string(image, "u64"), put(image, 10, 4), put(image, 1ull << 40, 8);
	put_string(image, "i64"), put(image, 11, 4), put(image, (uint64_t)-8, 8);
	put_string(image, "f64"), put(image, 12, 4), put(image, 0x3FE0000000000000, 8);
	put_string(image, "tokens"), put(image, 9, 4), put(image, 8, 4), put(image, 2, 8);
	put_string(image, "<s>"), put_string(image, "</s>");
	put_string(image, "flags"), put(image, 9, 4), put(image, 7, 4), put(image, 2, 8);
	put(image, 1, 1), put(image, 0, 1);
	put_string(image, "blk.0.attn_q.weight");
	put(image, 2, 4), put(image, 32, 8), put(image, 2, 8), put(image, 8, 4), put(image, 0, 8);
}

static const char metadata[] =
        "{\"u8\":200,\"i8\":-5,\"u16\":60000,\"i16\":-6,\"u32\":4000000000,\"i32\":-7,\"f32\":0.5,"
        "\"bool\":true,\"string\":\"llama\",\"array\":[8,0,2],\"u64\":1099511627776,\"i64\":-8,"
        "\"f64\":0.5,\"tokens\":2,\"flags\":[true,false]}";

static void both_byte_orders_read_the_same(void **state)
{
	(void)state;
	for (int order = 0; order < 2; order++) {
		struct image image = { .big_endian = order == 1 };
		struct vc_gguf gguf;
		struct vc_error error;
		char *json;

		build(&image);
		assert_int_equal(read_gguf(&image, &gguf, &error), VC_OK);
		assert_int_equal(gguf.version, 3);
		assert_int_equal(gguf.big_endian, order == 1);
		assert_u64(gguf.elements, 64);
		assert_u64(gguf.tensor_bytes, 68);
		assert_u64(gguf.data_bytes, 96); /* padded to 32 */
		assert_u64(gguf.header_bytes, (image.length + 31) / 32 * 32);
		json = cJSON_PrintUnformatted(gguf.metadata);
		assert_string_equal(json, metadata);
		free(json);
		vc_gguf_drop(&gguf);
	}
}

/* However short, a file ends in an error that names its last byte. */
static void every_cut_is_noticed(void **state)
{
	struct image image = { .big_endian = false };
	size_t whole;

	(void)state;
	build(&image);
	whole = image.length;
	for (image.length = 0; image.length < whole; image.length++) {
		struct vc_gguf gguf;
		struct vc_error error;

		assert_int_not_equal(read_gguf(&image, &gguf, &error), VC_OK);
		assert_non_null(strstr(error.message, " at byte "));
		vc_gguf_drop(&gguf);
	}
}

static void expect_error(struct image *image, const char *message)
{
	struct vc_gguf gguf;
	struct vc_error error;

	assert_int_equal(read_gguf(image, &gguf, &error), VC_INVALID);
	assert_string_equal(error.message, message);
	vc_gguf_drop(&gguf);
}

static void what_cannot_be_is_refused(void **state)
{
	struct image image = { .big_endian = false };

	(void)state;
	begin(&image, 0, 1);
	put_string(&image, "a"), put(&image, 13, 4), put(&image, 0, 8);
	expect_error(&image, "'a' has the unknown value type 13 at byte 33");
	begin(&image, 0, 1);
	put_string(&image, "a"), put(&image, 9, 4), put(&image, 4, 4), put(&image, 1ull << 30, 8);
	expect_error(&image, "an array of 1073741824 entries, past the end of the file at byte 37");
	begin(&image, 0, 1);
	put_string(&image, "a"), put(&image, 9, 4), put(&image, 8, 4), put(&image, 1, 8);
	put(&image, UINT64_MAX, 8);
	expect_error(&image,
	             "a string of an array is 18446744073709551615 bytes long, past the end "
	             "of the file at byte 49");
	begin(&image, 0, 2);
	put_string(&image, "a"), put(&image, 0, 4), put(&image, 1, 1);
	put_string(&image, "a"), put(&image, 0, 4), put(&image, 1, 1);
	expect_error(&image, "a key 'a' is there twice at byte 38");
	/* type 4 was Q4_2, which ggml has removed */
	begin(&image, 1, 0);
	put_string(&image, "t"), put(&image, 1, 4), put(&image, 32, 8), put(&image, 4, 4);
	put(&image, 0, 8);
	expect_error(&image, "tensor 't' has the unknown type 4 at byte 45");
	begin(&image, 1, 0);
	put_string(&image, "t"), put(&image, 1, 4), put(&image, 33, 8), put(&image, 8, 4);
	put(&image, 0, 8);
	expect_error(&image,
	             "tensor 't' has rows of 33, which are not whole blocks of Q8_0 at byte "
	             "45");
	/* 2^62 elements of 4 bytes are 2^64 */
	begin(&image, 1, 0);
	put_string(&image, "t"), put(&image, 1, 4), put(&image, 1ull << 62, 8), put(&image, 0, 4);
	put(&image, 0, 8);
	expect_error(&image, "tensor 't' has more bytes than 2^63 at byte 45");
}

static void types_are_ggml_s(void **state)
{
	int known = 0;

	(void)state;
	for (uint32_t id = 0; id < 100; id++) {
		const struct vc_gguf_type *type = vc_gguf_type(id);
		enum vc_dtype dtype = type->name ? vc_dtype_by_name(type->name) : VC_DTYPE_NONE;

		known += type->name != NULL;
		/* the core's table says the same, where it has the type */
		if (dtype != VC_DTYPE_NONE) {
			assert_u64(
			        (uint64_t)type->block_bytes * vc_dtype_info(dtype)->block_elements,
			        (uint64_t)vc_dtype_info(dtype)->block_bytes * type->block_elements);
		}
	}
	/* ids 0 to 42, eight of them removed */
	assert_int_equal(known, 43 - 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_byte_orders_read_the_same),
		cmocka_unit_test(every_cut_is_noticed),
		cmocka_unit_test(what_cannot_be_is_refused),
		cmocka_unit_test(types_are_ggml_s),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
