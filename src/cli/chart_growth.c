/* Memory over powers of two of the batch, the requests or the length, with what the GPU offers as a
 * line. */
#include "chart.h"

#include "format.h"
#include "print_text.h"

#include <inttypes.h>

enum {
	TOP = 22, /* of the plot, in pixels */
	BOTTOM = 190,
	LABELS = 6 /* of the x axis, at most */
};

static const double left = 15, right = 96; /* of the plot, in percent */

struct plot {
	struct chart chart;
	const struct growth *growth;
	double first, last; /* places of the first and the last value */
};

/* Equal steps between powers of two, straight in between. */
static double place_of(uint64_t value)
{
	double steps = 0, part = (double)value;

	while (part >= 2) {
		part /= 2;
		steps++;
	}
	return steps + part - 1;
}

static double x_of(const struct plot *plot, uint64_t value)
{
	double length = plot->last - plot->first;

	return left + (length > 0 ? (place_of(value) - plot->first) / length * (right - left) : 0);
}

static double y_of(const struct plot *plot, uint64_t bytes)
{
	return BOTTOM - chart_percent(&plot->chart, bytes) / 100 * (BOTTOM - TOP);
}

static void line(const struct plot *plot, const char *class, const double from[2],
                 const double to[2])
{
	fprintf(plot->chart.file,
	        "<line class=\"%s\" x1=\"%.2f%%\" y1=\"%.1f\" x2=\"%.2f%%\" y2=\"%.1f\"/>\n", class,
	        from[0], from[1], to[0], to[1]);
}

static void level(const struct plot *plot, const char *class, uint64_t bytes)
{
	double y = y_of(plot, bytes);

	line(plot, class, (const double[]){ left, y }, (const double[]){ 100, y });
}

/* ---- Axes ---- */

static void y_axis(const struct plot *plot)
{
	uint64_t step = chart_step(&plot->chart, 4);

	for (uint64_t bytes = 0; bytes <= plot->chart.top_bytes; bytes += step) {
		char label[64];

		level(plot, "rule", bytes);
		format_quantity(label, sizeof label, bytes, plot->chart.unit, ROUND_NEAREST);
		chart_text(&plot->chart, "soft on",
		           (struct chart_place){ 0, (int)y_of(plot, bytes) + 4, 's' },
		           bytes ? label : "0");
		if (bytes > UINT64_MAX - step) {
			break;
		}
	}
}

/* "4096", "32Ki": the values are powers of two, or the spec's own. */
static void value_text(char to[40], uint64_t value)
{
	static const char *const suffixes[] = { "", "Ki", "Mi", "Gi", "Ti" };
	unsigned power = 0;

	while (value >= 16384 && value % 1024 == 0 && power < 4) {
		value /= 1024;
		power++;
	}
	snprintf(to, 40, "%" PRIu64 "%s", value, suffixes[power]);
}

static void x_axis(const struct plot *plot)
{
	const struct growth *growth = plot->growth;
	size_t every = (growth->count + LABELS - 1) / LABELS;

	for (size_t i = 0; i < growth->count; i += every) {
		uint64_t value = growth->points[i].value;
		char label[40];

		value_text(label, value);
		chart_text(&plot->chart, "soft",
		           (struct chart_place){ x_of(plot, value), BOTTOM + 18, 'm' }, label);
	}
	chart_text(&plot->chart, "soft", (struct chart_place){ 100, BOTTOM + 36, 'e' },
	           growth_words[growth->field].axis);
}

/* ---- Lines and marks ---- */

static void lines(const struct plot *plot)
{
	const struct growth_point *points = plot->growth->points;

	for (size_t i = 1; i < plot->growth->count; i++) {
		double from = x_of(plot, points[i - 1].value), to = x_of(plot, points[i].value);

		if (points[i].expected_bytes != points[i].need_bytes) {
			line(plot, "likely",
			     (const double[]){ from, y_of(plot, points[i - 1].expected_bytes) },
			     (const double[]){ to, y_of(plot, points[i].expected_bytes) });
		}
		line(plot, "grown", (const double[]){ from, y_of(plot, points[i - 1].need_bytes) },
		     (const double[]){ to, y_of(plot, points[i].need_bytes) });
	}
}

/* Whether the largest value that fits lies on the line. */
static bool shows_most(const struct growth *growth)
{
	return growth->bounded && growth->most >= growth->points[0].value &&
	       growth->most <= growth->points[growth->count - 1].value;
}

static const char dot[] = "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0", diamond[] = "M0-6 6 0 0 6-6 0z";

static void marks(const struct plot *plot)
{
	const struct growth *growth = plot->growth;
	const struct chart *chart = &plot->chart;

	if (shows_most(growth)) {
		chart_mark(chart, "most",
		           (struct chart_place){ .x = x_of(plot, growth->most),
		                                 .y = (int)y_of(plot, growth->limit_bytes) },
		           diamond);
	}
	for (size_t i = 0; i < growth->count; i++) {
		const struct growth_point *point = &growth->points[i];

		if (point->value == growth->now) {
			chart_mark(chart, "now",
			           (struct chart_place){ .x = x_of(plot, point->value),
			                                 .y = (int)y_of(plot, point->need_bytes) },
			           dot);
		}
	}
}

void chart_growth(FILE *file, const struct picture *picture, const struct growth *growth)
{
	struct plot plot = { .chart = { file, picture->unit, growth->limit_bytes },
		             .growth = growth };
	char label[96] = "offered: ", quantity[64];

	for (size_t i = 0; i < growth->count; i++) {
		if (growth->points[i].need_bytes > plot.chart.top_bytes) {
			plot.chart.top_bytes = growth->points[i].need_bytes;
		}
	}
	plot.first = place_of(growth->points[0].value);
	plot.last = place_of(growth->points[growth->count - 1].value);
	y_axis(&plot);
	x_axis(&plot);
	level(&plot, "limit", growth->limit_bytes);
	format_quantity(quantity, sizeof quantity, growth->limit_bytes, picture->unit,
	                ROUND_NEAREST);
	text_append(label, sizeof label, "%s", quantity);
	chart_text(&plot.chart, "on",
	           (struct chart_place){ left + 1, (int)y_of(&plot, growth->limit_bytes) - 6, 's' },
	           label);
	lines(&plot);
	marks(&plot);
}

static bool has_expected(const struct growth *growth)
{
	for (size_t i = 0; i < growth->count; i++) {
		if (growth->points[i].expected_bytes != growth->points[i].need_bytes) {
			return true;
		}
	}
	return false;
}

size_t chart_growth_legend(const struct picture *picture, struct legend_item items[LEGEND_ITEMS])
{
	const struct growth *drawn[] = { picture->load.flat ? NULL : &picture->load,
		                         picture->length.flat ? NULL : &picture->length };
	bool expected = false, most = false, any = false;
	size_t count = 0;

	for (size_t i = 0; i < 2; i++) {
		any = any || drawn[i];
		expected = expected || (drawn[i] && has_expected(drawn[i]));
		most = most || (drawn[i] && shows_most(drawn[i]));
	}
	if (!any) {
		return 0;
	}
	items[count++] = (struct legend_item){ "grown", "M-10 0H10", "what a GPU must offer" };
	if (expected) {
		items[count++] =
		        (struct legend_item){ "likely", "M-10 0H10", "the expected value" };
	}
	items[count++] = (struct legend_item){ "limit", "M-12 0H12", "what the GPU offers" };
	items[count++] = (struct legend_item){ "now", dot, "as asked" };
	if (most) {
		items[count++] = (struct legend_item){ "most", diamond, "the most that fits" };
	}
	return count;
}
