/* `plan --html`: the section of a page that is about one plan. */
#include "chart.h"
#include "format.h"
#include "markup.h"
#include "names.h"
#include "note.h"
#include "picture_table.h"
#include "plan_instances.h"
#include "plan_layouts.h"
#include "plan_slices.h"
#include "plan_table.h"
#include "print_text.h"
#include "table_html.h"

#include <stdlib.h>
#include <string.h>

/* ---- Parts of a section ---- */

static void heading(FILE *file, const struct picture *picture, const char *text)
{
	int level = picture->alone ? 2 : 3;

	fprintf(file, "<h%d>", level);
	markup_text(file, text);
	fprintf(file, "</h%d>\n", level);
}

static void paragraph(FILE *file, const char *class, const char *text)
{
	fprintf(file, *class ? "<p class=\"%s\">" : "<p>", class);
	markup_text(file, text);
	fputs("</p>\n", file);
}

/* A drawing with its name, and what it says for those who do not see it. */
static void open_drawing(FILE *file, const char *id, int height, const char *title,
                         const char *description)
{
	fprintf(file,
	        "<svg width=\"100%%\" height=\"%d\" role=\"img\" aria-labelledby=\"%s-t\" "
	        "aria-describedby=\"%s-d\">\n<title id=\"%s-t\">",
	        height, id, id, id);
	markup_text(file, title);
	fprintf(file, "</title>\n<desc id=\"%s-d\">", id);
	markup_text(file, description);
	fputs("</desc>\n", file);
}

static void table(FILE *file, const struct picture *picture, const struct table *rows,
                  const char *caption)
{
	struct output out = { .file = file, .unit = picture->unit, .utf8 = true };

	table_html(&out, rows, caption);
}

static void list(FILE *file, const struct picture *picture, plan_list *listed, const char *caption)
{
	struct table rows;

	if (!listed(picture->plan, &rows)) {
		return;
	}
	if (rows.row_count) {
		table(file, picture, &rows, caption);
	} else {
		paragraph(file, "", "None holds it.");
	}
	free((void *)rows.rows);
}

static void open_details(FILE *file, const char *summary)
{
	fputs("<details>\n<summary>", file);
	markup_text(file, summary);
	fputs("</summary>\n", file);
}

/* ---- The top ---- */

static const char *verdict_of(const struct plan *plan)
{
	return plan->count == 0 ? "no" : vc_verdict_name(plan->candidates[0].verdict);
}

static void top(FILE *file, const struct picture *picture)
{
	const struct plan *plan = picture->plan;
	const char *name = picture_name(plan);
	char text[PLAN_TEXT], more[PLAN_TEXT];
	int level = picture->alone ? 1 : 2;

	fprintf(file, "<section class=\"job\" id=\"job-%u\">\n<h%d>", picture->number, level);
	markup_text(file, name);
	fprintf(file, "</h%d>\n", level);
	plan_title(plan, text);
	/* the title says the name first, which stands above it already */
	paragraph(file, "lead", strlen(text) > strlen(name) + 2 ? text + strlen(name) + 2 : text);
	plan_verdict(plan, picture->unit, text);
	plan_dominant(plan, more);
	text_append(text, sizeof text, " %s", more);
	fprintf(file, "<p class=\"verdict %s\"><strong>%s</strong> ", verdict_of(plan),
	        plan_best(plan)                          ? "✓ Fits."
	        : strcmp(verdict_of(plan), "tight") == 0 ? "≈ Tight."
	                                                 : "✗ Does not fit.");
	markup_text(file, text);
	fputs("</p>\n", file);
}

void html_contents(FILE *file, const struct picture *picture)
{
	fprintf(file, "<li><a href=\"#job-%u\">", picture->number);
	markup_text(file, picture_name(picture->plan));
	/* several files may hold one model */
	fputs("</a> (", file);
	markup_text(file, picture->plan->spec->source);
	fprintf(file, "): %s</li>\n", verdict_of(picture->plan));
}

/* ---- The GPUs as bars ---- */

static void legend(FILE *file, const struct legend_item *items, size_t count)
{
	fputs("<ul class=\"legend\">\n", file);
	for (size_t i = 0; i < count; i++) {
		fprintf(file, "<li><svg width=\"%d\" height=\"%d\" aria-hidden=\"true\">",
		        SWATCH_WIDTH, SWATCH_HEIGHT);
		chart_swatch(file, &items[i]);
		fprintf(file, "</svg>%s</li>\n", items[i].text);
	}
	fputs("</ul>\n", file);
}

static void bar_table(FILE *file, const struct picture *picture)
{
	struct bar_row rows[PICTURE_GPUS];
	struct table bars = { .columns = bar_columns,
		              .column_count = bar_column_count,
		              .rows = rows,
		              .row_count = picture->shown,
		              .row_size = sizeof *rows };

	for (size_t i = 0; i < picture->shown; i++) {
		rows[i] = (struct bar_row){ &picture->plan->candidates[i], &picture->ledgers[i] };
	}
	open_details(file, "The bars as numbers");
	table(file, picture, &bars,
	      "Parts of the memory on one GPU of each kind; the table of GPUs below has what "
	      "each offers and must offer");
	fputs("</details>\n", file);
}

static void bars(FILE *file, const struct picture *picture)
{
	const struct plan *plan = picture->plan;
	struct legend_item items[LEGEND_ITEMS];
	char id[32], title[128], text[PLAN_TEXT] = "";

	if (picture->shown == 0) {
		return;
	}
	heading(file, picture, "Memory on each GPU");
	text_append(text, sizeof text,
	            "By the %s method, the best first. The mark shows what a GPU must offer, "
	            "reserve included.",
	            name_of_method(plan->request.method));
	if (picture->shown < plan->count) {
		text_append(text, sizeof text,
		            " Drawn are the first %zu of %zu; the table of GPUs has all.",
		            picture->shown, plan->count);
	}
	paragraph(file, "hint", text);
	snprintf(id, sizeof id, "gpus-%u", picture->number);
	snprintf(title, sizeof title, "Memory on each kind of GPU, by the %s method",
	         name_of_method(plan->request.method));
	plan_verdict(plan, picture->unit, text);
	text_append(text, sizeof text, " The numbers of every bar are in the table that follows.");
	fputs("<figure class=\"bars\">\n", file);
	open_drawing(file, id, chart_gpus_height(picture), title, text);
	chart_gpus(file, picture);
	fputs("</svg>\n", file);
	legend(file, items, chart_gpus_legend(picture, items));
	fputs("</figure>\n", file);
	bar_table(file, picture);
}

/* ---- The ledger ---- */

static void formulas(FILE *file, const struct picture *picture)
{
	const struct vc_ledger *ledger = plan_ledger(picture->plan);
	char text[PLAN_TEXT], names[512];

	open_details(file, "How each line is computed");
	fputs("<ul>\n", file);
	for (uint32_t i = 0; i < ledger->line_count + ledger->host.line_count; i++) {
		const struct vc_line *line = i < ledger->line_count
		                                     ? &ledger->lines[i]
		                                     : &ledger->host.lines[i - ledger->line_count];

		plan_formula(line, picture->unit, text);
		formula_legend(names, sizeof names, line);
		fputs("<li>", file);
		markup_text(file, text);
		if (*names) {
			fputs("<br><span class=\"hint\">", file);
			markup_text(file, names);
			fputs("</span>", file);
		}
		fputs("</li>\n", file);
	}
	fputs("</ul>\n</details>\n", file);
}

static void phases(FILE *file, const struct picture *picture)
{
	const struct vc_ledger *ledger = picture_phases(picture->plan);
	char id[32], title[160], text[PLAN_TEXT] = "", quantity[64];

	if (!ledger) {
		return;
	}
	snprintf(id, sizeof id, "phases-%u", picture->number);
	snprintf(title, sizeof title, "Phases by the %s method", name_of_method(ledger->method));
	for (uint32_t i = 0; i < ledger->phase_count; i++) {
		format_quantity(quantity, sizeof quantity, ledger->phases[i].total_bytes,
		                picture->unit, ROUND_NEAREST);
		text_append(text, sizeof text, "%s%s %s", i ? ", " : "", ledger->phases[i].name,
		            quantity);
	}
	text_append(text, sizeof text, ".");
	heading(file, picture, title);
	paragraph(file, "hint",
	          "What is alive at the same time is added up; the greatest phase counts.");
	fputs("<figure>\n", file);
	open_drawing(file, id, chart_phases_height(picture), title, text);
	chart_phases(file, picture);
	fputs("</svg>\n</figure>\n", file);
}

static void ledger(FILE *file, const struct picture *picture)
{
	char text[PLAN_TEXT];

	heading(file, picture, "What it is made of");
	list(file, picture, plan_lines, "The estimate line by line");
	for (size_t i = 0; plan_remark(picture->plan, picture->unit, i, text); i++) {
		paragraph(file, "", text);
	}
	formulas(file, picture);
	list(file, picture, plan_methods, "By both methods");
	phases(file, picture);
}

/* ---- How it grows ---- */

static void growth_table(FILE *file, const struct picture *picture, const struct growth *growth,
                         const char *caption)
{
	struct point_row rows[GROWTH_POINTS];
	struct table points = { .columns = point_columns,
		                .column_count = point_column_count,
		                .rows = rows,
		                .row_count = growth->count,
		                .row_size = sizeof *rows };

	for (size_t i = 0; i < growth->count; i++) {
		rows[i] = (struct point_row){ growth, &growth->points[i] };
	}
	open_details(file, "The line as numbers");
	table(file, picture, &points, caption);
	fputs("</details>\n", file);
}

static void growth(FILE *file, const struct picture *picture, const struct growth *growth)
{
	const struct growth_words *words = &growth_words[growth->field];
	char id[32], title[64], text[PLAN_TEXT];

	growth_sentence(growth, picture->plan, text);
	if (growth->flat) {
		paragraph(file, "", text);
		return;
	}
	snprintf(id, sizeof id, "%s-%u", words->id, picture->number);
	snprintf(title, sizeof title, "Memory by %s", words->axis);
	fputs("<div>\n<figure>\n<figcaption>", file);
	markup_text(file, text);
	fputs("</figcaption>\n", file);
	open_drawing(file, id, CHART_GROWTH_HEIGHT, title, text);
	chart_growth(file, picture, growth);
	fputs("</svg>\n</figure>\n", file);
	growth_table(file, picture, growth, title);
	fputs("</div>\n", file);
}

static void grows(FILE *file, const struct picture *picture)
{
	struct legend_item items[LEGEND_ITEMS];

	if (picture->load.count == 0 || picture->length.count == 0) {
		return;
	}
	heading(file, picture, "How it grows");
	fputs("<div class=\"pair\">\n", file);
	growth(file, picture, &picture->load);
	growth(file, picture, &picture->length);
	fputs("</div>\n", file);
	legend(file, items, chart_growth_legend(picture, items));
}

/* ---- GPUs and notes ---- */

static void gpus(FILE *file, const struct picture *picture)
{
	char caption[128];

	plan_gpus_heading(picture->plan, caption, sizeof caption);
	heading(file, picture, "GPUs");
	list(file, picture, plan_gpus, caption);
}

/* What --layouts, --mig and --instances ask for. */
static void lists(FILE *file, const struct picture *picture)
{
	const struct arguments *arguments = picture->plan->arguments;
	const struct {
		bool asked;
		plan_list *list;
		const char *heading, *caption;
	} wanted[] = {
		{ arguments->layouts, plan_layouts, "Layouts",
		  "Layouts of the first GPU, and why each was taken or not" },
		{ arguments->mig, plan_slices, "MIG slices", "Slices that hold it alone" },
		{ arguments->instances, plan_instances, "Instances",
		  "Instance types that hold it" },
	};

	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		if (wanted[i].asked && picture->shown) {
			heading(file, picture, wanted[i].heading);
			list(file, picture, wanted[i].list, wanted[i].caption);
		}
	}
}

static void notes(FILE *file, const struct picture *picture)
{
	char text[PLAN_TEXT];

	heading(file, picture, "What is assumed");
	fputs("<ul>\n", file);
	for (size_t i = 0; plan_note(picture->plan, picture->unit, i, text); i++) {
		fputs("<li>", file);
		markup_text(file, text);
		fputs("</li>\n", file);
	}
	fputs("</ul>\n", file);
}

void html_picture(FILE *file, const struct picture *picture)
{
	top(file, picture);
	bars(file, picture);
	ledger(file, picture);
	grows(file, picture);
	gpus(file, picture);
	lists(file, picture);
	notes(file, picture);
	fputs("</section>\n", file);
}
