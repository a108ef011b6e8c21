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

	while (low < high) {
		double pivot = values[low + (high - low) / 2];
		uint32_t i = low, j = high;

		for (;;) {
			while (values[i] < pivot) {
				i++;
			}
			while (values[j] > pivot) {
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

struct vc_trend vc_series_trend(const struct vc_series *series)
{
	const double one_percent = 2.576 * 2.576; /* two-sided */
	/* Half the samples have a weaker test: 5 %, one-sided, is asked of them. */
	const double five_percent = 1.645 * 1.645;
	uint32_t half = series->count / 2;
	struct vc_trend trend = { 0 };
	struct slope whole, late;
	double level;

	if (series->count < VC_TREND_LEAST_SAMPLES) {
		return trend;
	}
	whole = theil_sen(series->samples, series->count);
	late = theil_sen(series->samples + half, series->count - half);
	level = (double)series->samples[half] + 1;
	trend.kind = VC_TREND_FLAT;
	trend.slope_bytes_per_sample = (int64_t)(whole.bytes_per_sample / (double)series->stride);
	/* What does not add a hundredth over the whole series matters to nobody. */
	if (whole.z_squared < one_percent || whole.bytes_per_sample * series->count < level / 100) {
		uint64_t first = series->samples[0];

		if ((double)first < level * 0.9 &&
		    magnitude(late.bytes_per_sample) * half < level / 100) {
			trend.kind = VC_TREND_PLATEAU;
		}
		return trend;
	}
	if (late.z_squared >= five_percent && late.bytes_per_sample >= whole.bytes_per_sample / 4) {
		trend.kind = VC_TREND_RISING;
		trend.slope_bytes_per_sample =
		        (int64_t)(late.bytes_per_sample / (double)series->stride);
	} else {
		trend.kind = VC_TREND_PLATEAU;
	}
	return trend;
}
