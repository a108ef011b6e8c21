#include "test.h"
#include "vramcalc/vramcalc.h"

static const uint64_t gb = 1000000000;

static struct vc_trend trend_of(const double *gigabytes, size_t count)
{
	struct vc_series series = { 0 };

	for (size_t i = 0; i < count; i++) {
		vc_series_add(&series, (uint64_t)(gigabytes[i] * 1e9));
	}
	return vc_series_trend(&series);
}

static void a_steady_rise_is_found(void **state)
{
	const double rise[] = { 10, 11, 12, 13, 14, 15, 16, 17, 18, 19 };
	/* the same with two spikes and two dips, which move a line's slope by a third */
	const double rough[] = { 10, 11, 20, 13, 14, 9, 16, 17, 12, 19, 20, 26, 22 };

	(void)state;
	assert_int_equal(trend_of(rise, 10).kind, VC_TREND_RISING);
	assert_true(trend_of(rise, 10).slope_bytes_per_sample == 1000000000);
	assert_int_equal(trend_of(rough, 13).kind, VC_TREND_RISING);
	assert_in_range(trend_of(rough, 13).slope_bytes_per_sample, 900000000, 1300000000);
}

static void a_warm_up_is_not_a_leak(void **state)
{
	const double warm[] = { 5, 9, 12, 12.1, 12, 12.1, 12.1, 12, 12.1, 12, 12.1, 12 };
	const double steps[] = { 4, 6, 8, 10, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12 };

	(void)state;
	assert_int_equal(trend_of(warm, 12).kind, VC_TREND_PLATEAU);
	assert_int_equal(trend_of(steps, 14).kind, VC_TREND_PLATEAU);
}

static void noise_is_flat(void **state)
{
	uint64_t seed = 1;
	int rising = 0;

	(void)state;
	for (int round = 0; round < 200; round++) {
		struct vc_series series = { 0 };

		for (int i = 0; i < 60; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			vc_series_add(&series, 20 * gb + (seed >> 34));
		}
		rising += vc_series_trend(&series).kind == VC_TREND_RISING;
	}
	/* at the 1 % level and with growth asked for as well: hardly ever */
	assert_true(rising <= 2);
}

static void few_samples_say_nothing(void **state)
{
	const double four[] = { 38, 39.5, 39.6, 39.6 };

	(void)state;
	assert_int_equal(trend_of(four, 4).kind, VC_TREND_UNKNOWN);
	assert_int_equal(trend_of(NULL, 0).kind, VC_TREND_UNKNOWN);
}

static void long_series_are_thinned(void **state)
{
	struct vc_series series = { 0 };
	struct vc_trend trend;

	(void)state;
	for (uint64_t i = 0; i < 100000; i++) {
		vc_series_add(&series, 10 * gb + i * 10000);
	}
	assert_true(series.count <= VC_SERIES_SAMPLES);
	assert_true(series.count > VC_SERIES_SAMPLES / 4);
	for (uint32_t i = 0; i < series.count; i++) {
		assert_u64(series.samples[i], 10 * gb + i * series.stride * 10000);
	}
	trend = vc_series_trend(&series);
	assert_int_equal(trend.kind, VC_TREND_RISING);
	assert_true(trend.slope_bytes_per_sample == 10000);
}

static void a_falling_series_is_flat(void **state)
{
	const double fall[] = { 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10 };

	(void)state;
	assert_int_equal(trend_of(fall, 11).kind, VC_TREND_FLAT);
	assert_true(trend_of(fall, 11).slope_bytes_per_sample < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_steady_rise_is_found),
		cmocka_unit_test(a_warm_up_is_not_a_leak),
		cmocka_unit_test(noise_is_flat),
		cmocka_unit_test(few_samples_say_nothing),
		cmocka_unit_test(long_series_are_thinned),
		cmocka_unit_test(a_falling_series_is_flat),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
