#include "calibration.h"

#include "ledger.h"
#include "sat.h"

#include <string.h>

enum {
	MILLION = 1000000,
	ENOUGH = 5 /* measurements, to say something of the range */
};

/* What was moved, and how sure that is. */
struct shift {
	uint64_t up, down;     /* of lines whose sum counts */
	uint64_t deviation;    /* of all shifted lines together */
	uint64_t shifted;      /* bytes of lines that have enough measurements */
	uint32_t measurements; /* the fewest behind a line; 0: none was shifted */
};

/* The GPU's own residual before that of any GPU. */
static const struct vc_residual *residual_of(const struct vc_request *request,
                                             enum vc_component component)
{
	const struct vc_calibration *calibration = request->calibration;
	const struct vc_residual *any = NULL;

	for (size_t i = 0; i < calibration->count; i++) {
		const struct vc_residual *residual = &calibration->residuals[i];

		if (residual->engine != request->engine.name || residual->component != component) {
			continue;
		}
		if (strcmp(residual->gpu, request->gpu->id) == 0) {
			return residual;
		}
		any = *residual->gpu ? any : residual;
	}
	return any;
}

/* Logits and activations are one figure in every log. */
static enum vc_component measured_as(enum vc_component component)
{
	return component == VC_COMPONENT_LOGITS ? VC_COMPONENT_ACTIVATIONS : component;
}

static uint64_t magnitude(int64_t value)
{
	return value < 0 ? (uint64_t)0 - (uint64_t)value : (uint64_t)value;
}

static void move_line(struct vc_line *line, const struct vc_residual *residual)
{
	uint64_t said = line->bytes, by = magnitude(residual->shift_bytes);

	line->input_count = 0;
	if (residual->component == VC_COMPONENT_FRAMEWORK) {
		bool more = residual->shift_bytes >= 0;

		line->bytes = more ? sat_add(said, by) : sat_sub(said, by);
		by = more ? by : sat_sub(said, line->bytes);
		line->formula = more ? "said + residual" : "said - residual";
		vc_line_input(line, "said", said);
		vc_line_input(line, "residual", by);
		return;
	}
	line->bytes = sat_scale_up(said, residual->ratio_ppm, MILLION);
	line->formula = "said × residual";
	vc_line_input(line, "said", said);
	vc_line_ratio(line, "residual", residual->ratio_ppm, MILLION);
}

static void note_line(struct shift *shift, const struct vc_residual *residual, uint64_t said,
                      uint64_t now)
{
	shift->up = sat_add(shift->up, sat_sub(now, said));
	shift->down = sat_add(shift->down, sat_sub(said, now));
	shift->deviation =
	        sat_add(shift->deviation, sat_scale_up(now, residual->deviation_ppm, MILLION));
	if (residual->measurements >= ENOUGH) {
		shift->shifted = sat_add(shift->shifted, now);
	}
	if (shift->measurements == 0 || residual->measurements < shift->measurements) {
		shift->measurements = residual->measurements;
	}
}

static uint64_t moved(uint64_t bytes, const struct shift *shift)
{
	return sat_sub(sat_add(bytes, shift->up), shift->down);
}

/* The pool is what the others leave: it gives way, tokens and all. */
static void move_pool(struct vc_ledger *ledger, struct vc_line *pool, const struct shift *inside)
{
	struct vc_serving *serving = &ledger->serving;
	uint64_t said = pool->bytes, now = sat_sub(sat_add(said, inside->down), inside->up);
	uint64_t ppm = said > 0 ? now / sat_div_up(said, MILLION) : MILLION;

	if (now == said) {
		return;
	}
	pool->bytes = now;
	pool->input_count = 0;
	pool->formula = now < said ? "said - residuals" : "said + residuals";
	vc_line_input(pool, "said", said);
	vc_line_input(pool, "residuals", now < said ? said - now : now - said);
	serving->kv_bytes_available = now;
	serving->kv_tokens = sat_mul(serving->kv_tokens, ppm) / MILLION;
	serving->max_concurrency_milli = sat_mul(serving->max_concurrency_milli, ppm) / MILLION;
}

/* Lines that an engine takes off its budget; graphs and what it does not count lie outside. */
static bool is_inside(const struct vc_line *line)
{
	return line->component != VC_COMPONENT_CUDA_GRAPHS &&
	       line->component != VC_COMPONENT_FRAGMENTATION;
}

static uint64_t total_of(const struct vc_ledger *ledger)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < ledger->line_count; i++) {
		total = sat_add(total, ledger->lines[i].bytes);
	}
	return total;
}

static void note_range(const struct shift *all, uint64_t before, struct vc_ledger *ledger)
{
	uint64_t total = total_of(ledger), low = sat_sub(before, ledger->low_bytes),
	         high = sat_sub(ledger->high_bytes, before);
	/* Of a pool nothing is certain but what it leaves. */
	uint64_t open = sat_sub(total, vc_ledger_component(ledger, VC_COMPONENT_KV_CACHE));
	bool enough = all->shifted >= (ledger->serving.known ? open : total) / 10 * 9;

	if (enough) {
		uint64_t half = all->deviation > high / 4 ? all->deviation : high / 4;

		low = half < low ? half : low;
		high = half;
	}
	ledger->low_bytes = sat_sub(total, low);
	ledger->high_bytes = sat_add(total, high);
	vc_ledger_note(
	        ledger, "calibrated",
	        enough ? "Shifted by the median residuals of own runs, at least {0} "
	                 "measurement{0s} of a component: {1B} more and {2B} less; the range is "
	                 "what they leave."
	               : "Shifted by the median residuals of own runs, at least {0} "
	                 "measurement{0s} of a component: {1B} more and {2B} less; they are too "
	                 "few or too partial to narrow the range.",
	        (const uint64_t[3]){ all->measurements, all->up, all->down });
}

/* The lines are those of the largest phase. */
static void move_phases(struct vc_ledger *ledger, uint64_t before)
{
	for (uint32_t i = 0; i < ledger->phase_count; i++) {
		if (ledger->phases[i].total_bytes == before) {
			ledger->phases[i].total_bytes = total_of(ledger);
		}
	}
}

/* A share of the GPU holds what is inside: the GPU has to be larger by more than that. */
static uint64_t need_of(const struct vc_request *request, const struct vc_ledger *ledger,
                        uint64_t need, const struct shift *inside)
{
	uint32_t ppm = request->engine.gpu_memory_utilization_ppm;
	struct shift scaled = *inside;

	if (ledger->serving.known && ppm > 0) {
		scaled.up = sat_scale_up(inside->up, MILLION, ppm);
		scaled.down = inside->down;
	}
	return moved(need, &scaled);
}

void calibrate(const struct vc_request *request, struct vc_ledger *ledger)
{
	uint64_t before = total_of(ledger);
	struct shift all = { .up = 0 }, inside = { .up = 0 };
	struct vc_line *pool = NULL;

	if (!request->calibration) {
		return;
	}
	for (uint32_t i = 0; i < ledger->line_count; i++) {
		struct vc_line *line = &ledger->lines[i];
		const struct vc_residual *residual;
		uint64_t said = line->bytes;

		if (line->component == VC_COMPONENT_KV_CACHE && ledger->serving.known) {
			pool = line;
			continue;
		}
		residual = residual_of(request, measured_as(line->component));
		if (!residual) {
			continue;
		}
		move_line(line, residual);
		note_line(&all, residual, said, line->bytes);
		if (is_inside(line)) {
			note_line(&inside, residual, said, line->bytes);
		}
	}
	if (all.measurements == 0) {
		vc_ledger_note(
		        ledger, "calibration-unused",
		        "The own runs of --calibration are of other engines or GPUs: nothing "
		        "is shifted.",
		        NULL);
		return;
	}
	if (pool) {
		move_pool(ledger, pool, &inside);
	}
	if (ledger->need_bytes > 0) {
		ledger->need_bytes = need_of(request, ledger, ledger->need_bytes, &all);
		ledger->need_expected_bytes =
		        need_of(request, ledger, ledger->need_expected_bytes, &all);
	}
	move_phases(ledger, before);
	note_range(&all, before, ledger);
}
