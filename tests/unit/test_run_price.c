/* Prices of runs against sums done by hand. */
#include "test.h"

#include "run_price.h"

static void spot_factor(void **state)
{
	/* 1 + (1/2 + 0.2)/6 = 1.11667 */
	const struct vc_run run = { 12000000, 6000000, 1000000, 200000 };

	(void)state;
	assert_int_equal(vc_run_spot_factor(&run), 1116667);
}

static void interruptions(void **state)
{
	const struct vc_run run = { 12000000, 6000000, 1000000, 200000 };

	(void)state; /* 12 h / 6 h = 2, 12 h / 48 h = 0.25 */
	assert_int_equal(vc_run_interruptions(&run, 6000000), 2000000);
	assert_int_equal(vc_run_interruptions(&run, 48000000), 250000);
}

static void price(void **state)
{
	(void)state; /* 12 h at 0.5 with 10 % more: 6.6 */
	assert_int_equal(vc_run_price(500000, 12000000, 1100000), 6600000);
	assert_true(vc_run_price(UINT64_MAX, 2000000, 1000000) > UINT64_MAX / 2000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spot_factor),
		cmocka_unit_test(interruptions),
		cmocka_unit_test(price),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
