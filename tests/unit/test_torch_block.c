#include "test.h"

#include "torch_block.h"

#define MIB (1u << 20)

/* Weights of google/gemma-2-2b in 16 bits: gate and up 2 x 9216 x 2304, down 9216 x 2304. */
static void test_rest_of_a_mebibyte_stays(void **state)
{
	(void)state;
	assert_u64(torch_block_bytes(81ull * MIB), 82ull * MIB);
	/* 40.5 of 42 MiB: 1.5 are split off again */
	assert_u64(torch_block_bytes(42467328), 42467328);
	assert_u64(torch_segment_bytes(42467328), 42ull * MIB);
	/* gemma-3-1b's down projection, 6912 x 1152: 15.1875 of 16 MiB */
	assert_u64(torch_block_bytes(15925248), 16ull * MIB);
}

static void test_small_requests_share(void **state)
{
	(void)state;
	assert_u64(torch_block_bytes(1), 512);
	assert_u64(torch_block_bytes(9ull * MIB), 9ull * MIB);
	assert_u64(torch_segment_bytes(9ull * MIB), 9ull * MIB);
	assert_u64(torch_block_bytes(10ull * MIB), 10ull * MIB);
}

static void test_overflow_sticks(void **state)
{
	(void)state;
	assert_false(sat_ok(torch_segment_bytes(UINT64_MAX)));
	assert_false(sat_ok(torch_block_bytes(UINT64_MAX)));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rest_of_a_mebibyte_stays),
		cmocka_unit_test(test_small_requests_share),
		cmocka_unit_test(test_overflow_sticks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
