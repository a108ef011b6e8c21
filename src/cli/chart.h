/*
 * Charts as SVG without scripts. Along x everything is in percent of the drawing, so that a page
 * makes it as wide as it has room for while text keeps its size; along y it is in pixels. Nothing
 * is told by color alone: every component has a pattern too, and what matters has a label.
 */
#ifndef VC_CLI_CHART_H
#define VC_CLI_CHART_H

#include "picture.h"

#include <stdbool.h>
#include <stdio.h>

struct chart {
	FILE *file;
	enum byte_unit unit;
	uint64_t top_bytes; /* at the end of the axis */
};

/* The rules of all charts, for a <style>; and the patterns, for one <defs> in each file. */
void chart_style(FILE *file);
void chart_patterns(FILE *file);

/* Where bytes lie on the axis, 0 to 100. */
double chart_percent(const struct chart *chart, uint64_t bytes);
/* Between marks of the axis: 1, 2 or 5 times a power of ten of the unit, at most `marks` of them.
 */
uint64_t chart_step(const struct chart *chart, unsigned marks);

struct chart_place {
	double x; /* in percent */
	int y;
	char anchor; /* of the text: 's'tart, 'm'iddle or 'e'nd */
};
void chart_text(const struct chart *chart, const char *class, struct chart_place at,
                const char *text);
/* A path in pixels around a point: a mark that keeps its shape whatever the width. */
void chart_mark(const struct chart *chart, const char *class, struct chart_place at,
                const char *path);

/* ---- The charts. Each draws into an open <svg> of the height that its own function gives. ---- */

/* Memory on each GPU, and what it offers: one bar for each candidate shown. */
int chart_gpus_height(const struct picture *picture);
void chart_gpus(FILE *file, const struct picture *picture);

/* The moments between which memory peaks. */
int chart_phases_height(const struct picture *picture); /* 0: there is only one */
void chart_phases(FILE *file, const struct picture *picture);

enum {
	CHART_GROWTH_HEIGHT = 230
};
void chart_growth(FILE *file, const struct picture *picture, const struct growth *growth);

/* ---- Legends ---- */

struct legend_item {
	const char *class; /* of a rectangle that shows it; "" where a path does */
	const char *mark;  /* a path around the middle of the swatch */
	const char *text;
};

enum {
	LEGEND_ITEMS = VC_COMPONENT_COUNT + 5,
	SWATCH_WIDTH = 26,
	SWATCH_HEIGHT = 16
};

/* What the bars show, and what the lines do; returns how many items there are. */
size_t chart_gpus_legend(const struct picture *picture, struct legend_item items[LEGEND_ITEMS]);
size_t chart_growth_legend(const struct picture *picture, struct legend_item items[LEGEND_ITEMS]);
void chart_swatch(FILE *file, const struct legend_item *item);

#endif
