/* What a run costs, by the hour and on instances that may be taken away. */
#ifndef VC_RUN_PRICE_H
#define VC_RUN_PRICE_H

#include <stdint.h>

/* Hours in millionths. */
struct vc_run {
	uint64_t hours_micros;
	uint64_t interval_micros;   /* mean time between interruptions; above 0 */
	uint64_t checkpoint_micros; /* time between checkpoints */
	uint64_t restart_micros;
};

/*
 * 1 + (c/2 + r)/m in millionths: each interruption loses half a checkpoint interval on average, and
 * the restart.
 */
uint64_t vc_run_spot_factor(const struct vc_run *run);

/* Expected interruptions in millionths, when they come every `interval_micros`. */
uint64_t vc_run_interruptions(const struct vc_run *run, uint64_t interval_micros);

/* A price per hour times hours times a factor, all in millionths; saturates. */
uint64_t vc_run_price(uint64_t per_hour_micros, uint64_t hours_micros, uint64_t factor_ppm);

#endif
