#include "run_price.h"

enum {
	MILLION = 1000000
};

/* a x b / 10^6, rounded to the nearest; saturates. */
static uint64_t scale(uint64_t a, uint64_t b)
{
	if (b && a > (UINT64_MAX - MILLION / 2) / b) {
		return UINT64_MAX;
	}
	return (a * b + MILLION / 2) / MILLION;
}

uint64_t vc_run_spot_factor(const struct vc_run *run)
{
	uint64_t lost = run->checkpoint_micros / 2 + run->restart_micros;

	if (lost > UINT64_MAX / MILLION / 2) {
		return UINT64_MAX;
	}
	return MILLION + (lost * MILLION + run->interval_micros / 2) / run->interval_micros;
}

uint64_t vc_run_interruptions(const struct vc_run *run, uint64_t interval_micros)
{
	return run->hours_micros > UINT64_MAX / MILLION
	               ? UINT64_MAX
	               : run->hours_micros * MILLION / interval_micros;
}

uint64_t vc_run_price(uint64_t per_hour_micros, uint64_t hours_micros, uint64_t factor_ppm)
{
	return scale(scale(per_hour_micros, hours_micros), factor_ppm);
}
