#include "test.h"

#include "format.h"

static void assert_quantity(uint64_t bytes, enum byte_unit unit, enum rounding rounding,
                            const char *want)
{
	char got[64];

	format_quantity(got, sizeof got, bytes, unit, rounding);
	assert_string_equal(got, want);
}

static void units_are_decimal_and_binary(void **state)
{
	(void)state;
	assert_quantity(14000000000, UNIT_GB, ROUND_NEAREST, "14 GB");
	assert_quantity(19200000000, UNIT_GB, ROUND_UP, "19.2 GB");
	assert_quantity(2147483648, UNIT_GIB, ROUND_NEAREST, "2 GiB");
	assert_quantity(2147483648, UNIT_GB, ROUND_NEAREST, "2.15 GB"); /* 2.147483648 */
	assert_quantity(1572864, UNIT_MIB, ROUND_NEAREST, "1.5 MiB");
	assert_quantity(1u << 30, UNIT_MIB, ROUND_NEAREST, "1024 MiB");
	assert_quantity(18446744073709551615u, UNIT_B, ROUND_NEAREST, "18446744073709551615 B");
	assert_quantity(0, UNIT_GB, ROUND_NEAREST, "0 GB");
}

static void needs_round_up_and_rests_down(void **state)
{
	(void)state;
	assert_quantity(19200000001, UNIT_GB, ROUND_UP, "19.21 GB");
	assert_quantity(19209999999, UNIT_GB, ROUND_DOWN, "19.2 GB");
	assert_quantity(19205000000, UNIT_GB, ROUND_NEAREST, "19.21 GB");
	assert_quantity(19204999999, UNIT_GB, ROUND_NEAREST, "19.2 GB");
	assert_quantity(19999999999, UNIT_GB, ROUND_UP, "20 GB"); /* the carry reaches the front */
	assert_quantity(999999999, UNIT_GB, ROUND_NEAREST, "1 GB");
	assert_quantity(220000000, UNIT_GB, ROUND_NEAREST, "0.22 GB");
	assert_quantity(1234567, UNIT_GB, ROUND_NEAREST, "0.00123 GB");
}

/* Down to the byte, and in a table to a hundredth of what its digits show. */
static void small_sizes_are_seen(void **state)
{
	(void)state;
	assert_quantity(3000000, UNIT_GB, ROUND_NEAREST, "0.003 GB");
	assert_quantity(45678, UNIT_GB, ROUND_NEAREST, "0.0000457 GB");
	assert_quantity(1, UNIT_GB, ROUND_NEAREST, "0.000000001 GB");
	assert_quantity(1, UNIT_GIB, ROUND_NEAREST, "0.000000001 GiB");    /* 0.93 x 10^-9 */
	assert_quantity(1024, UNIT_MIB, ROUND_NEAREST, "0.001 MiB");       /* 0.00098 */
	assert_int_equal(format_visible_decimals(5000000, UNIT_GB, 2), 2); /* 0.01 */
	assert_int_equal(format_visible_decimals(4999999, UNIT_GB, 2), 3); /* 0.005 */
	assert_int_equal(format_visible_decimals(50000, UNIT_GB, 2), 4);   /* 0.0001 */
	assert_int_equal(format_visible_decimals(49999, UNIT_GB, 2), 2);
	assert_int_equal(format_visible_decimals(0, UNIT_GB, 2), 2);
	assert_int_equal(format_visible_decimals(1, UNIT_B, 0), 0);
}

static void counts_are_short(void **state)
{
	static const struct {
		uint64_t count;
		const char *want;
	} rows[] = {
		{ 0, "0" },
		{ 512, "512" },
		{ 999999, "999999" },
		{ 39000000, "39M" },
		{ 335141888, "335M" },
		{ 6738415616, "6.74B" },
		{ 13015864320, "13.02B" },
		{ 175000000000, "175B" },
		{ 1700000000000, "1.7T" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char got[64];

		format_count(got, sizeof got, rows[i].count);
		assert_string_equal(got, rows[i].want);
	}
}

static void assert_ratio(uint64_t value, uint64_t divisor, const char *want)
{
	char got[64];

	format_ratio(got, sizeof got, value, divisor);
	assert_string_equal(got, want);
}

static void ratios_are_exact_where_they_can_be(void **state)
{
	(void)state;
	assert_ratio(1, 2, "0.5");
	assert_ratio(144, 256, "0.5625"); /* ggml's q4_K */
	assert_ratio(7000000000, 1, "7000000000");
	assert_ratio(1200000, 1000000, "1.2");
	assert_ratio(1, 3, "0.333333333");
	assert_ratio(526000, 1000000, "0.526");
}

static void assert_price(uint64_t micros, const char *currency, const char *want)
{
	char got[64];

	format_price(got, sizeof got, micros, currency);
	assert_string_equal(got, want);
}

static void prices_name_their_currency(void **state)
{
	(void)state;
	assert_price(526000, "USD", "$0.53");
	assert_price(6880000, "USD", "$6.88");
	assert_price(3850000, "CNY", "3.85 CNY");
	assert_price(49900, "USD", "$0.050");
	assert_price(0, "USD", "$0.00");
}

static void short_rooms_cut(void **state)
{
	char got[4];

	(void)state;
	format_quantity(got, sizeof got, 14000000000, UNIT_GB, ROUND_NEAREST);
	assert_string_equal(got, "14 ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(units_are_decimal_and_binary),
		cmocka_unit_test(needs_round_up_and_rests_down),
		cmocka_unit_test(small_sizes_are_seen),
		cmocka_unit_test(counts_are_short),
		cmocka_unit_test(ratios_are_exact_where_they_can_be),
		cmocka_unit_test(prices_name_their_currency),
		cmocka_unit_test(short_rooms_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
