/* The axis of the charts: marks at 1, 2 or 5 times a power of ten of the unit. */
#include "test.h"

#include "chart.h"

static uint64_t step(enum byte_unit unit, uint64_t top, unsigned marks)
{
	return chart_step(&(struct chart){ .unit = unit, .top_bytes = top }, marks);
}

static void marks_are_round_and_few(void **state)
{
	(void)state;
	assert_u64(step(UNIT_GB, 94000000000, 5), 20000000000);
	assert_u64(step(UNIT_GB, 16000000000, 5), 5000000000);
	assert_u64(step(UNIT_GB, 5000000000, 5), 1000000000);
	assert_u64(step(UNIT_GB, 6000000000, 5), 2000000000);
	assert_u64(step(UNIT_GIB, 80ull << 30, 5), 20ull << 30);
	assert_u64(step(UNIT_MIB, 15360ull << 20, 5), 5000ull << 20);
	assert_u64(step(UNIT_B, 32000000000, 2), 20000000000);
	assert_u64(step(UNIT_GB, 1, 5), 1000000000);
	assert_true(step(UNIT_GB, INT64_MAX, 5) >= INT64_MAX / 6);
}

static void percents_are_of_the_axis(void **state)
{
	struct chart chart = { .top_bytes = 80000000000 };

	(void)state;
	assert_true(chart_percent(&chart, 20000000000) == 25);
	assert_true(chart_percent(&chart, 80000000000) == 100);
	chart.top_bytes = 0;
	assert_true(chart_percent(&chart, 1) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(marks_are_round_and_few),
		cmocka_unit_test(percents_are_of_the_axis),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
