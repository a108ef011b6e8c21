/* `plan --svg`: the pictures of all plans below each other, 800 pixels wide. */
#include "chart.h"
#include "format.h"
#include "markup.h"
#include "names.h"
#include "print_text.h"

#include "vramcalc/vramcalc.h"

#include <string.h>

enum {
	WIDTH = 800,
	MARGIN = 24,
	INNER = WIDTH - 2 * MARGIN,
	GAP = 32 /* between the two charts of growth */
};

static const char style[] = ".page{fill:#fff}.title{font-size:20px;font-weight:700}\n"
                            ".lead{font-size:14px}.head{font-size:15px;font-weight:600}\n"
                            ".narrow{display:none}\n"
                            "@media screen and (prefers-color-scheme:dark){.page{fill:#1b1b1b}}\n";

/* ---- Running text ---- */

/* A style of text, with how much room it takes; characters are taken to be of one width. */
struct face {
	const char *class;
	int line;        /* height in pixels */
	double per_char; /* width in pixels */
};

static const struct face title_face = { "title", 26, 12 }, lead_face = { "lead", 20, 7.6 },
                         head_face = { "head", 22, 9 }, note_face = { "soft", 17, 6.5 };

/* As much of the text as goes on one line; at least a word. */
static size_t line_length(const char *text, size_t columns)
{
	size_t length = 0;

	while (text[length]) {
		size_t next = length + strspn(text + length, " ");
		char word[PLAN_TEXT];

		next += strcspn(text + next, " ");
		snprintf(word, sizeof word, "%.*s", (int)next, text);
		if (length && text_width(word) > columns) {
			break;
		}
		length = next;
	}
	return length;
}

/* Returns where the next line goes. */
static int paragraph(FILE *file, const struct face *face, int x, int y, const char *text)
{
	size_t columns = (size_t)((WIDTH - MARGIN - x) / face->per_char);

	while (*text) {
		size_t length = line_length(text, columns);
		char line[PLAN_TEXT];

		snprintf(line, sizeof line, "%.*s", (int)length, text);
		fprintf(file, "<text class=\"%s\" x=\"%d\" y=\"%d\">", face->class, x,
		        y + face->line - 6);
		markup_text(file, line);
		fputs("</text>\n", file);
		y += face->line;
		text += length + strspn(text + length, " ");
	}
	return y;
}

/* ---- The parts of a picture; each returns where the next one goes ---- */

static int open_drawing(FILE *file, int x, int y, int width, int height)
{
	fprintf(file, "<svg x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" overflow=\"visible\">\n",
	        x, y, width, height);
	return y + height;
}

static int top(FILE *file, const struct picture *picture, int y)
{
	const struct plan *plan = picture->plan;
	const char *name = picture_name(plan);
	char text[PLAN_TEXT], shown[80];

	text_copy(shown, sizeof shown, name, true);
	y = paragraph(file, &title_face, MARGIN, y, shown);
	plan_title(plan, text);
	y = paragraph(file, &lead_face, MARGIN, y,
	              strlen(text) > strlen(name) + 2 ? text + strlen(name) + 2 : text);
	plan_verdict(plan, picture->unit, text);
	return paragraph(file, &lead_face, MARGIN, y + 4, text);
}

static int legend(FILE *file, const struct legend_item *items, size_t count, int y)
{
	int x = MARGIN;

	for (size_t i = 0; i < count; i++) {
		int width = SWATCH_WIDTH + 6 + (int)(6.8 * (double)text_width(items[i].text)) + 18;

		if (x > MARGIN && x + width > WIDTH - MARGIN) {
			x = MARGIN;
			y += SWATCH_HEIGHT + 6;
		}
		fprintf(file, "<g transform=\"translate(%d %d)\">", x, y);
		chart_swatch(file, &items[i]);
		fprintf(file, "<text x=\"%d\" y=\"12\">%s</text></g>\n", SWATCH_WIDTH + 6,
		        items[i].text);
		x += width;
	}
	return y + (count ? SWATCH_HEIGHT + 12 : 0);
}

static int bars(FILE *file, const struct picture *picture, int y)
{
	struct legend_item items[LEGEND_ITEMS];
	char text[PLAN_TEXT] = "";

	if (picture->shown == 0) {
		return y;
	}
	text_append(text, sizeof text, "Memory on each GPU, by the %s method",
	            name_of_method(picture->plan->request.method));
	if (picture->shown < picture->plan->count) {
		text_append(text, sizeof text, "; the first %zu of %zu", picture->shown,
		            picture->plan->count);
	}
	y = paragraph(file, &head_face, MARGIN, y + 12, text) + 4;
	y = legend(file, items, chart_gpus_legend(picture, items), y);
	y = open_drawing(file, MARGIN, y, INNER, chart_gpus_height(picture));
	chart_gpus(file, picture);
	fputs("</svg>\n", file);
	return y;
}

static int phases(FILE *file, const struct picture *picture, int y)
{
	const struct vc_ledger *ledger = picture_phases(picture->plan);
	char text[96] = "";

	if (!ledger) {
		return y;
	}
	text_append(text, sizeof text, "Phases by the %s method", name_of_method(ledger->method));
	y = paragraph(file, &head_face, MARGIN, y + 12, text) + 4;
	y = open_drawing(file, MARGIN, y, INNER, chart_phases_height(picture));
	chart_phases(file, picture);
	fputs("</svg>\n", file);
	return y;
}

static int grows(FILE *file, const struct picture *picture, int y)
{
	const struct growth *both[] = { &picture->load, &picture->length };
	struct legend_item items[LEGEND_ITEMS];
	int width = (INNER - GAP) / 2, x = MARGIN, bottom;
	char text[PLAN_TEXT];

	if (both[0]->count == 0 || both[1]->count == 0) {
		return y;
	}
	y = bottom = paragraph(file, &head_face, MARGIN, y + 12, "How it grows") + 4;
	for (size_t i = 0; i < 2; i++) {
		if (!both[i]->flat) {
			bottom = open_drawing(file, x, y, width, CHART_GROWTH_HEIGHT);
			chart_growth(file, picture, both[i]);
			fputs("</svg>\n", file);
			x += width + GAP;
		}
	}
	y = legend(file, items, chart_growth_legend(picture, items), bottom);
	for (size_t i = 0; i < 2; i++) {
		growth_sentence(both[i], picture->plan, text);
		y = paragraph(file, &note_face, MARGIN, y, text);
	}
	return y;
}

/* ---- The same in words: who cannot see the picture has it read out ---- */

static void about(FILE *file, const struct picture *picture)
{
	const struct vc_ledger *ledger = plan_ledger(picture->plan);
	char text[PLAN_TEXT], quantity[64];

	plan_title(picture->plan, text);
	markup_format(file, "%s. ", text);
	for (uint32_t i = 0; i < ledger->line_count; i++) {
		format_quantity(quantity, sizeof quantity, ledger->lines[i].bytes, picture->unit,
		                ROUND_NEAREST);
		markup_format(file, "%s%s %s", i ? ", " : "",
		              name_of_component(ledger->lines[i].component), quantity);
	}
	fputs(".\n", file);
	for (size_t i = 0; plan_remark(picture->plan, picture->unit, i, text); i++) {
		markup_format(file, "%s", text);
		putc('\n', file);
	}
	for (size_t i = 0; i < picture->shown; i++) {
		const struct vc_candidate *candidate = &picture->plan->candidates[i];
		char have[64];

		format_quantity(quantity, sizeof quantity, candidate->need_bytes, picture->unit,
		                ROUND_UP);
		format_quantity(have, sizeof have, candidate->have_bytes, picture->unit,
		                ROUND_NEAREST);
		markup_format(file, "%s × %u: needs %s of %s, %s.", candidate->gpu->name,
		              (unsigned)candidate->gpus, quantity, have,
		              vc_verdict_name(candidate->verdict));
		putc('\n', file);
	}
	plan_verdict(picture->plan, picture->unit, text);
	markup_format(file, "%s", text);
	putc('\n', file);
}

void svg_picture(struct picture_files *files, const struct picture *picture)
{
	FILE *file = files->svg.file;
	int y = files->svg_height + MARGIN;

	if (files->svg_height) {
		fprintf(file,
		        "<line class=\"low-high\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n",
		        MARGIN, files->svg_height, WIDTH - MARGIN, files->svg_height);
	}
	y = top(file, picture, y);
	y = bars(file, picture, y);
	y = phases(file, picture, y);
	files->svg_height = grows(file, picture, y) + MARGIN / 2;
	about(files->about.file, picture);
}

void svg_file(FILE *file, const struct picture_files *files)
{
	int height = files->svg_height + MARGIN;

	fprintf(file,
	        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
	        "height=\"%d\" role=\"img\" aria-labelledby=\"title about\">\n<title "
	        "id=\"title\">",
	        WIDTH, height, WIDTH, height);
	markup_format(file, "GPU memory: %s", files->title);
	fputs("</title>\n<desc id=\"about\">", file);
	fwrite(files->about.text, 1, files->about.size, file);
	fputs("</desc>\n<style>\n", file);
	chart_style(file);
	fputs(style, file);
	fputs("</style>\n", file);
	chart_patterns(file);
	fprintf(file, "<rect class=\"page\" width=\"%d\" height=\"%d\"/>\n", WIDTH, height);
	fwrite(files->svg.text, 1, files->svg.size, file);
	fprintf(file,
	        "<text class=\"soft\" x=\"%d\" y=\"%d\" "
	        "text-anchor=\"end\">vramcalc " VC_VERSION_STRING "</text>\n</svg>\n",
	        WIDTH - MARGIN, height - 12);
}
