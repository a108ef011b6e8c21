/*
 * Is memory growing? One line through noise is fooled by a warm-up or a spike; the median of all
 * pairwise slopes (Sen 1968, doi.org/10.1080/01621459.1968.10480934) is not, and the count of
 * rising against falling pairs (Mann 1945, doi.org/10.2307/1907187) says whether it is more than
 * chance.
 */
#include "vramcalc/vramcalc.h"

enum {
	MOST_PAIRS = VC_SERIES_SAMPLES * (VC_SERIES_SAMPLES - 1) / 2
};

void vc_series_add(struct vc_series *series, uint64_t bytes)
{
	if (series->stride == 0) {
		series->stride = 1;
	}
	if (series->seen++ % series->stride != 0) {
		return;
	}
	if (series->count == VC_SERIES_SAMPLES) {
		for (uint32_t i = 0; i < VC_SERIES_SAMPLES / 2; i++) {
			series->samples[i] = series->samples[2 * i];
		}
		series->count = VC_SERIES_SAMPLES / 2;
		series->stride *= 2;
		if ((series->seen - 1) % series->stride != 0) {
			return;
		}
	}
	series->samples[series->count++] = bytes;
}

/* The k-th smallest, by Hoare's selection: sorting would cost more and qsort may allocate. */
static double kth_smallest(double *values, uint32_t count, uint32_t k)
{
	uint32_t low = 0, high = count - 1;

	if (count == 0) {
		return 0;
	}
	while (low < high) {
		double pivot = values[low + (high - low) / 2];
		uint32_t i = low, j = high;

		for (;;) {
			while (i < high && values[i] < pivot) {
				i++;
			}
			while (j > low && values[j] > pivot) {
				j--;
			}
			if (i >= j) {
				break;
			}
			double swapped = values[i];

			values[i++] = values[j];
			values[j--] = swapped;
		}
		if (k <= j) {
			high = j;
		} else {
			low = j + 1;
		}
	}
	return values[k];
}

struct slope {
	double bytes_per_sample;
	double z_squared; /* of Mann-Kendall's normal statistic; 0 when it does not rise */
};

static struct slope theil_sen(const uint64_t *samples, uint32_t count)
{
	static const struct slope none = { 0, 0 };
	double slopes[MOST_PAIRS];
	double variance = (double)count * (count - 1) * (2.0 * count + 5) / 18;
	uint32_t pairs = 0;
	int64_t s = 0;

	if (count < 3) {
		return none;
	}
	for (uint32_t i = 0; i < count; i++) {
		uint32_t ties = 0;
		bool first = true;

		for (uint32_t j = i + 1; j < count; j++) {
			double rise = (double)samples[j] - (double)samples[i];

			s += (rise > 0) - (rise < 0);
			ties += samples[j] == samples[i];
			slopes[pairs++] = rise / (j - i);
		}
		for (uint32_t j = 0; first && j < i; j++) {
			first = samples[j] != samples[i];
		}
		if (first && ties) {
			double t = ties + 1;

			variance -= t * (t - 1) * (2 * t + 5) / 18;
		}
	}
	return (struct slope){
		.bytes_per_sample = kth_smallest(slopes, pairs, pairs / 2),
		.z_squared =
		        variance > 0 && s > 0 ? (double)(s - 1) * (double)(s - 1) / variance : 0,
	};
}

static double magnitude(double value)
{
	return value < 0 ? -value : value;
}

/*
 * Neighbouring readings are alike, and then fewer of them are independent than the test supposes:
 * its variance grows by (1 + r) / (1 - r), r being the correlation of neighbours about the trend
 * (Hamed and Rao 1998, doi.org/10.1016/S0022-1694(97)00125-X, for the first lag), with Kendall's
 * correction for a short series.
 */
static double independence(const uint64_t *samples, uint32_t count, double slope)
{
	double residuals[VC_SERIES_SAMPLES], sorted[VC_SERIES_SAMPLES];
	double products = 0, squares = 0, middle, r;

	for (uint32_t i = 0; i < count; i++) {
		sorted[i] = residuals[i] = (double)samples[i] - slope * i;
	}
	middle = kth_smallest(sorted, count, count / 2);
	for (uint32_t i = 0; i < count; i++) {
		double here = residuals[i] - middle;

		squares += here * here;
		products += i + 1 < count ? here * (residuals[i + 1] - middle) : 0;
	}
	if (squares <= 0 || products <= 0) {
		return 1;
	}
	r = products / squares;
	r += (1 + 4 * r) / count;
	r = r < 0.97 ? r : 0.97;
	return (1 - r) / (1 + r);
}

static double median_of(const uint64_t *samples, uint32_t count)
{
	double values[VC_SERIES_SAMPLES];

	for (uint32_t i = 0; i < count; i++) {
		values[i] = (double)samples[i];
	}
	return kth_smallest(values, count, count / 2);
}

/*
 * A leak adds a little everywhere, a step of the program once or twice: of five parts of the later
 * two thirds most have to lie above the one before, and none far below.
 */
static bool rises_everywhere(const struct vc_series *series)
{
	enum {
		PARTS = 5
	};
	uint32_t first = series->count / 3, length = series->count - first;
	double medians[PARTS], net, rises = 0, deepest = 0;

	for (uint32_t i = 0; i < PARTS; i++) {
		uint32_t begin = first + length * i / PARTS, end = first + length * (i + 1) / PARTS;

		medians[i] = median_of(series->samples + begin, end - begin);
	}
	net = medians[PARTS - 1] - medians[0];
	for (uint32_t i = 1; i < PARTS; i++) {
		double rise = medians[i] - medians[i - 1];

		rises += rise > net / (PARTS - 1) / 5;
		deepest = -rise > deepest ? -rise : deepest;
	}
	return net > 0 && rises >= PARTS - 2 && deepest < net / 2;
}

/* A warm-up slows down; a leak goes on. Of the middle and the last third of the series. */
static bool slows_down(const struct vc_series *series)
{
	uint32_t third = series->count / 3;
	struct slope middle = theil_sen(series->samples + third, third);
	struct slope last = theil_sen(series->samples + series->count - third, third);

	return last.bytes_per_sample < middle.bytes_per_sample / 2;
}

/* Mann and Kendall's statistic, squared, of a part of the series. */
static double certainty(const struct vc_series *series, uint32_t first)
{
	const uint64_t *samples = series->samples + first;
	uint32_t count = series->count - first;
	struct slope slope = theil_sen(samples, count);

	return slope.z_squared * independence(samples, count, slope.bytes_per_sample);
}

struct vc_trend vc_series_trend(const struct vc_series *series)
{
	const double one_percent = 2.576 * 2.576; /* two-sided */
	uint32_t half = series->count / 2;
	struct vc_trend trend = { 0 };
	struct slope whole, late;
	double level, sure, settled;

	if (series->count < VC_TREND_LEAST_SAMPLES) {
		return trend;
	}
	whole = theil_sen(series->samples, series->count);
	late = theil_sen(series->samples + half, series->count - half);
	level = (double)series->samples[half] + 1;
	sure = certainty(series, 0);
	settled = certainty(series, series->count / 3); /* behind a warm-up */
	sure = settled > sure ? settled : sure;
	trend.kind = VC_TREND_FLAT;
	trend.slope_bytes_per_sample = (int64_t)(whole.bytes_per_sample / (double)series->stride);
	/* What does not add a hundredth over the whole series matters to nobody. */
	if (sure >= one_percent && whole.bytes_per_sample * series->count >= level / 100 &&
	    late.bytes_per_sample >= whole.bytes_per_sample / 3 && rises_everywhere(series) &&
	    !slows_down(series)) {
		trend.kind = VC_TREND_RISING;
		trend.slope_bytes_per_sample =
		        (int64_t)(late.bytes_per_sample / (double)series->stride);
	} else if ((double)series->samples[0] < level * 0.9 &&
	           magnitude(late.bytes_per_sample) * half < level / 20) {
		trend.kind = VC_TREND_PLATEAU;
	}
	return trend;
}
