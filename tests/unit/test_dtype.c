#include "test.h"
#include "vramcalc/vramcalc.h"

static void names_are_found_again(void **state)
{
	(void)state;
	for (int i = VC_DTYPE_NONE + 1; i < VC_DTYPE_COUNT; i++) {
		const struct vc_dtype_info *info = vc_dtype_info((enum vc_dtype)i);

		assert_non_null(info->name);
		assert_true(info->block_elements > 0 && info->block_bytes > 0);
		assert_int_equal(vc_dtype_by_name(info->name), i);
	}
	assert_int_equal(vc_dtype_by_name("Q4_K"), VC_DTYPE_Q4_K);
	assert_int_equal(vc_dtype_by_name("fp17"), VC_DTYPE_NONE);
	assert_int_equal(vc_dtype_by_name("none"), VC_DTYPE_NONE);
}

static void whole_blocks_are_charged(void **state)
{
	(void)state;
	assert_u64(vc_dtype_bytes(VC_DTYPE_FP32, 7000000000), 28000000000);
	assert_u64(vc_dtype_bytes(VC_DTYPE_FP16, 7000000000), 14000000000);
	assert_u64(vc_dtype_bytes(VC_DTYPE_INT8, 7000000000), 7000000000);
	assert_u64(vc_dtype_bytes(VC_DTYPE_INT4, 7000000000), 3500000000);
	assert_u64(vc_dtype_bytes(VC_DTYPE_INT4, 5), 3);
	/* ggml: block_q4_K is 144 bytes for 256 weights, block_q6_K 210, block_iq4_xs 136 */
	assert_u64(vc_dtype_bytes(VC_DTYPE_Q4_K, 4096 * 4096), 4096 * 16 * 144);
	assert_u64(vc_dtype_bytes(VC_DTYPE_Q6_K, 4096 * 4096), 4096 * 16 * 210);
	assert_u64(vc_dtype_bytes(VC_DTYPE_FP32, UINT64_MAX / 2), UINT64_MAX);
	/* 2^63 elements of int4 are 2^62 bytes although 2^63 x 1 byte would be near the edge */
	assert_u64(vc_dtype_bytes(VC_DTYPE_INT4, 1ull << 63), 1ull << 62);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_found_again),
		cmocka_unit_test(whole_blocks_are_charged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
