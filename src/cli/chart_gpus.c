/* One bar for each GPU: what the job takes of it, part by part, against what it offers. */
#include "chart.h"

#include "format.h"
#include "markup.h"
#include "names.h"
#include "origin.h"
#include "plan_table.h"
#include "print_text.h"

#include <inttypes.h>
#include <string.h>

enum {
	ROW = 80,
	BAR_TOP = 24, /* in a row */
	BAR_HEIGHT = 24,
	AXIS = 22,
	NARROW = 330, /* pixels that the narrowest page has for a bar */
	WIDE = 640,   /* from where labels of the class `wide` are shown */
	NAME_CUT = 26,
	PHASE_ROW = 40
};

static uint64_t at_least(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t longest(const struct picture *picture)
{
	uint64_t most = 0;

	for (size_t i = 0; i < picture->shown; i++) {
		const struct vc_candidate *candidate = &picture->plan->candidates[i];

		most = at_least(most, candidate->have_bytes);
		most = at_least(most, candidate->need_bytes);
		most = at_least(most, picture->ledgers[i].high_bytes);
		most = at_least(most, picture->ledgers[i].total_bytes);
	}
	return most;
}

/* ---- The axis ---- */

static void axis(const struct chart *chart, int height)
{
	uint64_t step = chart_step(chart, chart->unit == UNIT_B ? 2 : 5);

	for (uint64_t bytes = 0; bytes <= chart->top_bytes; bytes += step) {
		double x = chart_percent(chart, bytes);
		char label[64];

		fprintf(chart->file,
		        "<line class=\"rule\" x1=\"%.2f%%\" y1=\"0\" x2=\"%.2f%%\" y2=\"%d\"/>\n",
		        x, x, height - AXIS + 4);
		format_quantity(label, sizeof label, bytes, chart->unit, ROUND_NEAREST);
		chart_text(chart, "soft",
		           (struct chart_place){ x, height - 4,
		                                 bytes == 0 ? 's'
		                                 : x > 92   ? 'e'
		                                            : 'm' },
		           bytes ? label : "0");
		if (bytes > UINT64_MAX - step) {
			break;
		}
	}
}

/* ---- One GPU ---- */

/* The longest of the labels that the segment has room for, on a narrow page or on a wide one. */
static void label_segment(const struct chart *chart, const char *name, const char *quantity,
                          struct chart_place at, double percent)
{
	char both[128];
	double narrow = percent * NARROW / 100, wide = percent * WIDE / 100;
	double for_name = 7.0 * (double)strlen(name) + 8, for_both;

	snprintf(both, sizeof both, "%s %s", name, quantity);
	for_both = 7.0 * (double)strlen(both) + 8;
	if (for_both <= narrow) {
		chart_text(chart, "on", at, both);
	} else if (for_name <= narrow) {
		chart_text(chart, "on", at, name);
	} else if (for_name <= wide) {
		chart_text(chart, "on wide", at, for_both <= wide ? both : name);
	}
}

/* The parts from left to right: their areas, or their labels. */
static void parts(const struct chart *chart, const struct vc_ledger *ledger, int y, bool labels)
{
	uint64_t from = 0;

	for (int c = 0; c < VC_COMPONENT_COUNT; c++) {
		uint64_t bytes = vc_ledger_component(ledger, (enum vc_component)c);
		double x = chart_percent(chart, from), width = chart_percent(chart, bytes);
		char quantity[64];

		if (labels) {
			format_quantity(quantity, sizeof quantity, bytes, chart->unit,
			                ROUND_NEAREST);
			label_segment(chart, name_of_component((enum vc_component)c), quantity,
			              (struct chart_place){ x + width / 2, y + 16, 'm' }, width);
		} else if (width >= 0.01) {
			fprintf(chart->file,
			        "<rect class=\"%s edge\" x=\"%.2f%%\" y=\"%d\" width=\"%.2f%%\" "
			        "height=\"%d\"/>\n",
			        vc_component_name((enum vc_component)c), x, y, width, BAR_HEIGHT);
		}
		from += bytes;
	}
}

static void low_high(const struct chart *chart, const struct vc_ledger *ledger, int y)
{
	double low = chart_percent(chart, ledger->low_bytes);
	double high = chart_percent(chart, ledger->high_bytes);

	if (ledger->low_bytes == ledger->high_bytes) {
		return;
	}
	fprintf(chart->file,
	        "<line class=\"low-high\" x1=\"%.2f%%\" y1=\"%d\" x2=\"%.2f%%\" y2=\"%d\"/>\n", low,
	        y, high, y);
	chart_mark(chart, "low-high", (struct chart_place){ .x = low, .y = y }, "M0-3V3");
	chart_mark(chart, "low-high", (struct chart_place){ .x = high, .y = y }, "M0-3V3");
}

/* "needs 24.39 of 32 GB; tensor parallel" */
static void describe(const struct chart *chart, const struct vc_candidate *candidate,
                     char to[PLAN_TEXT])
{
	char need[64], have[64], layout[64];

	format_quantity(need, sizeof need, candidate->need_bytes, chart->unit, ROUND_UP);
	need[strcspn(need, " ")] = '\0';
	format_quantity(have, sizeof have, candidate->have_bytes, chart->unit, ROUND_NEAREST);
	plan_layout_text(layout, sizeof layout, &candidate->layout);
	snprintf(to, PLAN_TEXT, "needs %s of %s%s%s", need, have, *layout ? "; " : "", layout);
}

/* A long name is cut where the page is narrow. */
static void put_name(const struct chart *chart, const struct vc_candidate *candidate, int y)
{
	struct chart_place at = { 0, y + 12, 's' };
	char times[24] = "", cut[NAME_CUT], text[PLAN_TEXT];
	bool is_long = text_width(candidate->gpu->name) >= NAME_CUT;

	if (candidate->gpus > 1) {
		snprintf(times, sizeof times, " × %" PRIu32, candidate->gpus);
	}
	snprintf(text, sizeof text, "%.80s%s", candidate->gpu->name, times);
	chart_text(chart, is_long ? "name wide" : "name", at, text);
	if (is_long) {
		text_copy(cut, sizeof cut, candidate->gpu->name, true);
		snprintf(text, sizeof text, "%s…%s", cut, times);
		chart_text(chart, "name narrow", at, text);
	}
}

static void name_row(const struct chart *chart, const struct vc_candidate *candidate, int y)
{
	static const char *const signs[] = {
		[VC_VERDICT_FITS] = "✓ ", [VC_VERDICT_TIGHT] = "≈ ", [VC_VERDICT_NO] = "✗ "
	};
	const struct vc_price *price = &candidate->gpu->price;
	char text[PLAN_TEXT], hour[64];
	uint64_t all;

	put_name(chart, candidate, y);
	snprintf(text, sizeof text, "%s%s", signs[candidate->verdict],
	         vc_verdict_name(candidate->verdict));
	if (price_times(price, candidate->gpus, &all)) {
		format_price(hour, sizeof hour, all, price->currency);
		text_append(text, sizeof text, " · %s/h", hour);
	}
	chart_text(chart, "end", (struct chart_place){ 100, y + 12, 'e' }, text);
}

static void row(const struct chart *chart, const struct picture *picture, size_t index)
{
	const struct vc_candidate *candidate = &picture->plan->candidates[index];
	const struct vc_ledger *ledger = &picture->ledgers[index];
	int y = (int)index * ROW, bar = y + BAR_TOP;
	double need = chart_percent(chart, candidate->need_bytes);
	double have = chart_percent(chart, candidate->have_bytes);
	char text[PLAN_TEXT];

	name_row(chart, candidate, y);
	fprintf(chart->file,
	        "<rect class=\"room\" x=\"0\" y=\"%d\" width=\"%.2f%%\" height=\"%d\"/>\n", bar,
	        have, BAR_HEIGHT);
	parts(chart, ledger, bar, false);
	fprintf(chart->file,
	        "<line class=\"limit-edge\" x1=\"%.2f%%\" y1=\"%d\" x2=\"%.2f%%\" "
	        "y2=\"%d\"/>\n",
	        have, bar - 3, have, bar + BAR_HEIGHT + 3);
	parts(chart, ledger, bar, true);
	low_high(chart, ledger, bar + BAR_HEIGHT + 5);
	fprintf(chart->file,
	        "<line class=\"need\" x1=\"%.2f%%\" y1=\"%d\" x2=\"%.2f%%\" y2=\"%d\"/>\n", need,
	        bar - 2, need, bar + BAR_HEIGHT + 2);
	chart_mark(chart, "mark", (struct chart_place){ .x = need, .y = bar - 2 },
	           "M-4.5-5h9L0 2z");
	describe(chart, candidate, text);
	chart_text(chart, "soft on", (struct chart_place){ 0, y + 69, 's' }, text);
}

int chart_gpus_height(const struct picture *picture)
{
	return (int)picture->shown * ROW + AXIS;
}

void chart_gpus(FILE *file, const struct picture *picture)
{
	struct chart chart = { file, picture->unit, longest(picture) };

	axis(&chart, chart_gpus_height(picture));
	for (size_t i = 0; i < picture->shown; i++) {
		row(&chart, picture, i);
	}
}

/* ---- Phases ---- */

const struct vc_ledger *picture_phases(const struct plan *plan)
{
	const struct vc_ledger *ledger = plan_ledger(plan);

	if (ledger->phase_count < 2 && plan->has_detailed) {
		ledger = &plan->detailed;
	}
	return ledger->phase_count < 2 ? NULL : ledger;
}

int chart_phases_height(const struct picture *picture)
{
	const struct vc_ledger *ledger = picture_phases(picture->plan);

	return ledger ? (int)ledger->phase_count * PHASE_ROW : 0;
}

void chart_phases(FILE *file, const struct picture *picture)
{
	const struct vc_ledger *ledger = picture_phases(picture->plan);
	struct chart chart = { file, picture->unit, 0 };

	for (uint32_t i = 0; i < ledger->phase_count; i++) {
		chart.top_bytes = at_least(chart.top_bytes, ledger->phases[i].total_bytes);
	}
	for (uint32_t i = 0; i < ledger->phase_count; i++) {
		const struct vc_phase *phase = &ledger->phases[i];
		bool peak = phase->total_bytes == chart.top_bytes;
		int y = (int)i * PHASE_ROW;
		char text[96];

		chart_text(&chart, "name", (struct chart_place){ 0, y + 14, 's' }, phase->name);
		format_quantity(text, 64, phase->total_bytes, picture->unit, ROUND_NEAREST);
		text_append(text, sizeof text, "%s", peak ? ", the peak" : "");
		chart_text(&chart, "end", (struct chart_place){ 100, y + 14, 'e' }, text);
		fprintf(file,
		        "<rect class=\"phase%s\" x=\"0\" y=\"%d\" width=\"%.2f%%\" "
		        "height=\"12\"/>\n",
		        peak ? " peak" : "", y + 20, chart_percent(&chart, phase->total_bytes));
	}
}

/* ---- The legend ---- */

size_t chart_gpus_legend(const struct picture *picture, struct legend_item items[LEGEND_ITEMS])
{
	bool range = false;
	size_t count = 0;

	for (int c = 0; c < VC_COMPONENT_COUNT; c++) {
		bool present = false;

		for (size_t i = 0; i < picture->shown; i++) {
			present = present ||
			          vc_ledger_component(&picture->ledgers[i], (enum vc_component)c);
		}
		if (present) {
			items[count++] =
			        (struct legend_item){ vc_component_name((enum vc_component)c), "",
				                      name_of_component((enum vc_component)c) };
		}
	}
	for (size_t i = 0; i < picture->shown; i++) {
		range = range || picture->ledgers[i].low_bytes != picture->ledgers[i].high_bytes;
	}
	items[count++] = (struct legend_item){ "room", "", "left on the GPU" };
	items[count++] = (struct legend_item){ "limit-edge", "M0-8V8", "what the GPU offers" };
	items[count++] =
	        (struct legend_item){ "mark", "M-4.5-7h9L1 0v7h-2v-7z", "what a GPU must offer" };
	if (range) {
		items[count++] = (struct legend_item){ "low-high", "M-10-4V4M-10 0H10M10-4V4",
			                               "range of the sum" };
	}
	return count;
}

void chart_swatch(FILE *file, const struct legend_item *item)
{
	if (*item->mark) {
		fprintf(file, "<path class=\"%s\" transform=\"translate(13 8)\" d=\"%s\"/>",
		        item->class, item->mark);
	} else {
		fprintf(file,
		        "<rect class=\"%s edge\" x=\"1\" y=\"1\" width=\"%d\" height=\"%d\"/>",
		        item->class, SWATCH_WIDTH - 2, SWATCH_HEIGHT - 2);
	}
}
