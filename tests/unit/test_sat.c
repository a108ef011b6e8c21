#include "sat.h"
#include "test.h"

static void overflow_sticks(void **state)
{
	(void)state;
	assert_u64(sat_add(UINT64_MAX - 1, 1), UINT64_MAX);
	assert_u64(sat_add(UINT64_MAX, 5), UINT64_MAX);
	assert_u64(sat_mul(1ull << 32, 1ull << 32), UINT64_MAX);
	assert_u64(sat_mul(1ull << 32, (1ull << 31) - 1), ((1ull << 31) - 1) << 32);
	assert_u64(sat_mul(0, UINT64_MAX), 0);
	assert_u64(sat_mul3(1ull << 40, 1ull << 40, 0), 0);
	assert_u64(sat_sub(UINT64_MAX, 5), UINT64_MAX);
	assert_u64(sat_div_up(UINT64_MAX, 2), UINT64_MAX);
	assert_u64(sat_scale_up(UINT64_MAX, 1, 2), UINT64_MAX);
	assert_u64(sat_round_up(UINT64_MAX - 3, 256), UINT64_MAX);
	assert_false(sat_ok(UINT64_MAX));
	assert_false(sat_ok(1ull << 63));
	assert_true(sat_ok((1ull << 63) - 1));
}

static void quotients_round_up(void **state)
{
	(void)state;
	assert_u64(sat_div_up(7, 2), 4);
	assert_u64(sat_div_up(8, 2), 4);
	assert_u64(sat_div_up(0, 9), 0);
	assert_u64(sat_sub(3, 5), 0);
	/* 16,000,000,001 x 1.2 = 19,200,000,001.2 */
	assert_u64(sat_scale_up(16000000001, 1200000, 1000000), 19200000002);
	/* near 2^63 the product with a million would not fit, the result does:
	 * 9e18 x 0.35 = 3.15e18 */
	assert_u64(sat_scale_up(9000000000000000000u, 350000, 1000000), 3150000000000000000u);
	assert_u64(sat_round_up(130, 64), 192);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(overflow_sticks),
		cmocka_unit_test(quotients_round_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
