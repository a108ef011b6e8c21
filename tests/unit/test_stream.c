#include "stream.h"
#include "test.h"

/* Byte i is i modulo 251, a prime: no buffer's size divides it. */
static ptrdiff_t read_numbers(void *context, uint64_t offset, void *bytes, size_t size)
{
	const uint64_t *end = context;
	size_t i = 0;

	for (; i < size && offset + i < *end; i++) {
		((unsigned char *)bytes)[i] = (unsigned char)((offset + i) % 251);
	}
	return (ptrdiff_t)i;
}

static ptrdiff_t read_nothing(void *context, uint64_t offset, void *bytes, size_t size)
{
	(void)context;
	(void)offset;
	(void)bytes;
	(void)size;
	return -1;
}

static void bytes_come_in_order(void **state)
{
	uint64_t end = 1000000;
	struct vc_stream *stream = vc_stream_of(read_numbers, &end, end);
	unsigned char bytes[1000];

	(void)state;
	assert_non_null(stream);
	/* 1000 taken, 333 passed over, in turn: over every edge of the buffer */
	while (vc_stream_left(stream) >= 1333) {
		uint64_t offset = stream->offset;

		assert_true(vc_stream_take(stream, bytes, sizeof bytes));
		for (size_t i = 0; i < sizeof bytes; i++) {
			assert_int_equal(bytes[i], (offset + i) % 251);
		}
		assert_true(vc_stream_skip(stream, 333));
		assert_int_equal(vc_stream_peek(stream), (offset + 1333) % 251);
	}
	assert_false(vc_stream_skip(stream, 1333));
	assert_false(vc_stream_take(stream, bytes, sizeof bytes));
	assert_false(stream->failed);
	free(stream);
}

static void a_far_skip_reads_nothing(void **state)
{
	uint64_t end = UINT64_C(1) << 60;
	struct vc_stream *stream = vc_stream_of(read_numbers, &end, end);
	unsigned char byte;

	(void)state;
	assert_true(vc_stream_skip(stream, end - 1));
	assert_true(vc_stream_take(stream, &byte, 1));
	assert_int_equal(byte, (end - 1) % 251);
	assert_int_equal(vc_stream_peek(stream), -1);
	assert_u64(vc_stream_left(stream), 0);
	free(stream);
}

static void failures_are_no_ends(void **state)
{
	struct vc_stream *stream = vc_stream_of(read_nothing, NULL, UINT64_MAX);
	unsigned char byte;

	(void)state;
	assert_false(vc_stream_take(stream, &byte, 1));
	assert_true(stream->failed);
	assert_u64(vc_stream_left(stream), UINT64_MAX);
	free(stream);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_come_in_order),
		cmocka_unit_test(a_far_skip_reads_nothing),
		cmocka_unit_test(failures_are_no_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
