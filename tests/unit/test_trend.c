#include "test.h"
#include "vramcalc/vramcalc.h"

static const uint64_t gb = 1000000000;

static struct vc_trend trend_of(const double *gigabytes, size_t count)
{
	struct vc_series series = { 0 };

	for (size_t i = 0; i < count; i++) {
		vc_series_add(&series, gigabytes[i] > 0 ? (uint64_t)(gigabytes[i] * 1e9) : 0);
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

/* ---- Many series of known kinds ------------------------------------------------------------ */

static uint64_t seed;

static double uniform(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (double)(seed >> 11) / 9007199254740992.0;
}

/* Twelve uniforms less their mean: variance 1. */
static double normal(void)
{
	double sum = -6;

	for (int i = 0; i < 12; i++) {
		sum += uniform();
	}
	return sum;
}

/* A wave of this period between -1 and 1. */
static double wave(int i, int period)
{
	int phase = i % period;

	return phase < period / 2 ? 4.0 * phase / period - 1 : 3 - 4.0 * phase / period;
}

/* Gigabytes of `count` samples. */
typedef void make_series(double *gigabytes, int count);

static void noise(double *x, int count)
{
	for (int i = 0; i < count; i++) {
		x[i] = 20 + 0.3 * normal();
	}
}

/* towards 20 GB, faster or slower: within the first tenth to the first half */
static void warm_up(double *x, int count)
{
	double left = 20, keep = 1 - 1 / (3 + uniform() * count / 6);

	for (int i = 0; i < count; i++) {
		left *= keep;
		x[i] = 20 - left + 0.1 * normal();
	}
}

static void one_step(double *x, int count)
{
	int where = (int)(count * (0.2 + 0.6 * uniform()));

	for (int i = 0; i < count; i++) {
		x[i] = 20 + (i >= where ? 3 : 0) + 0.1 * normal();
	}
}

static void two_steps(double *x, int count)
{
	for (int i = 0; i < count; i++) {
		x[i] = 20 + (i >= count / 3) * 1.5 + (i >= 2 * count / 3) * 1.5 + 0.05 * normal();
	}
}

/* each sample remembers nine tenths of the one before */
static void correlated(double *x, int count)
{
	double drift = 0;

	for (int i = 0; i < count; i++) {
		drift = 0.9 * drift + 0.3 * normal();
		x[i] = 20 + drift;
	}
}

/* What a caching allocator holds when batches differ: the most that any of them took so far. */
static void largest_batch(double *x, int count)
{
	double most = 0;

	for (int i = 0; i < count; i++) {
		double batch = 8 + 3 * normal();

		most = batch > most ? batch : most;
		x[i] = most;
	}
}

static void periodic(double *x, int count)
{
	for (int i = 0; i < count; i++) {
		x[i] = 20 + 2 * wave(i, 9) + 0.1 * normal();
	}
}

static void spikes(double *x, int count)
{
	for (int i = 0; i < count; i++) {
		x[i] = 20 + (uniform() < 0.05) * 8 + 0.05 * normal();
	}
}

static void falling(double *x, int count)
{
	for (int i = 0; i < count; i++) {
		x[i] = 40 - 0.02 * i + 0.1 * normal();
	}
}

/* loading takes the first quarter */
static void ramp(double *x, int count)
{
	for (int i = 0; i < count; i++) {
		x[i] = 10 + 10 * (i < count / 4 ? 4.0 * i / count : 1) + 0.02 * normal();
	}
}

static void exact_leak(double *x, int count)
{
	for (int i = 0; i < count; i++) {
		x[i] = 10 + 0.1 * i;
	}
}

static void noisy_leak(double *x, int count)
{
	for (int i = 0; i < count; i++) {
		x[i] = 10 + 0.1 * i + 0.5 * normal();
	}
}

static void leak_behind_warm_up(double *x, int count)
{
	double warm = 3 + uniform() * count / 5;

	for (int i = 0; i < count; i++) {
		x[i] = (i < warm ? 10 * i / warm : 10) + 0.05 * i + 0.1 * normal();
	}
}

static void leak_each_epoch(double *x, int count)
{
	for (int i = 0; i < count; i++) {
		int epoch = i / 20;

		x[i] = 10 + 0.5 * epoch + 0.02 * normal();
	}
}

static void leak_with_spikes(double *x, int count)
{
	for (int i = 0; i < count; i++) {
		x[i] = 10 + 0.05 * i + (uniform() < 0.05) * 8;
	}
}

enum {
	ROUNDS = 200
};
static const int lengths[] = { 10, 15, 30, 60, 200 };

struct kind {
	const char *name;
	make_series *make;
	/* Of 200 series of each length, how many may be (of leaks: must be) found rising. */
	int bounds[5];
};

static int rising_of(const struct kind *kind, int count)
{
	int rising = 0;

	for (int round = 0; round < ROUNDS; round++) {
		double gigabytes[200];

		kind->make(gigabytes, count);
		rising += trend_of(gigabytes, (size_t)count).kind == VC_TREND_RISING;
	}
	return rising;
}

/* docs/diagnose.md states what this counts. */
static void false_alarms_are_rare(void **state)
{
	static const struct kind kinds[] = {
		{ "noise", noise, { 2, 2, 2, 2, 2 } },
		{ "warm-up", warm_up, { 2, 2, 2, 2, 2 } },
		{ "one step", one_step, { 2, 2, 2, 2, 2 } },
		{ "two steps", two_steps, { 4, 10, 4, 2, 2 } },
		{ "correlated noise", correlated, { 10, 14, 10, 10, 6 } },
		{ "largest batch so far", largest_batch, { 6, 6, 4, 4, 4 } },
		{ "periodic", periodic, { 2, 2, 2, 2, 2 } },
		{ "spikes", spikes, { 2, 2, 2, 2, 2 } },
		{ "falling", falling, { 0, 0, 0, 0, 0 } },
		{ "ramp", ramp, { 2, 2, 2, 2, 2 } },
	};
	int alarms = 0, wrong = 0;

	(void)state;
	seed = 1;
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
		for (int l = 0; l < 5; l++) {
			int rising = rising_of(&kinds[k], lengths[l]);

			alarms += rising;
			if (rising > kinds[k].bounds[l]) {
				print_error("%s, %d samples: %d of %d rise\n", kinds[k].name,
				            lengths[l], rising, ROUNDS);
				wrong++;
			}
		}
	}
	print_message("%d false alarms in %zu series\n", alarms,
	              sizeof kinds / sizeof *kinds * 5 * ROUNDS);
	assert_int_equal(wrong, 0);
}

static void leaks_are_found(void **state)
{
	static const struct kind kinds[] = {
		{ "exact", exact_leak, { 200, 200, 200, 200, 200 } },
		{ "noisy", noisy_leak, { 0, 10, 110, 190, 200 } },
		{ "behind a warm-up", leak_behind_warm_up, { 0, 5, 160, 195, 200 } },
		{ "each epoch", leak_each_epoch, { 0, 0, 0, 0, 195 } },
		{ "with spikes", leak_with_spikes, { 100, 100, 170, 190, 200 } },
	};
	int wrong = 0;

	(void)state;
	seed = 2;
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
		for (int l = 0; l < 5; l++) {
			int rising = rising_of(&kinds[k], lengths[l]);

			print_message("%s, %d samples: %d of %d\n", kinds[k].name, lengths[l],
			              rising, ROUNDS);
			if (rising < kinds[k].bounds[l]) {
				print_error("%s, %d samples: only %d of %d found\n", kinds[k].name,
				            lengths[l], rising, ROUNDS);
				wrong++;
			}
		}
	}
	assert_int_equal(wrong, 0);
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
		cmocka_unit_test(false_alarms_are_rare),
		cmocka_unit_test(leaks_are_found),
		cmocka_unit_test(few_samples_say_nothing),
		cmocka_unit_test(long_series_are_thinned),
		cmocka_unit_test(a_falling_series_is_flat),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
