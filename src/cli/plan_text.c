/* `plan` for people: terminal, plain pipe, Markdown. */
#include "names.h"
#include "note.h"
#include "plan.h"
#include "plan_checklist.h"
#include "plan_instances.h"
#include "plan_layouts.h"
#include "plan_slices.h"
#include "plan_table.h"
#include "print_text.h"
#include "tensors.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An empty line between blocks. */
static void block(const struct output *out)
{
	putc('\n', out->file);
}

/* A paragraph that stands under a table. */
static void remark(struct output *out, const char *text)
{
	if (out->format == FORMAT_TEXT) {
		fputs("  ", out->file);
	}
	output_paragraph(out, TONE_PLAIN, text, out->format == FORMAT_TEXT ? 2 : 0);
}

/* ---- The ledger ---- */

static void print_list(struct output *out, const struct plan *plan, plan_list *list)
{
	struct table table;

	if (list(plan, &table)) {
		table_print(out, &table);
		free((void *)table.rows);
	}
}

/* ---- Formulas ---- */

static void explain_line(struct output *out, const struct vc_line *line)
{
	char legend[512], text[PLAN_TEXT];

	plan_formula(line, out->unit, text);
	formula_legend(legend, sizeof legend, line);
	if (out->format == FORMAT_MARKDOWN) {
		fputs("- ", out->file);
	} else {
		fputs("  ", out->file);
	}
	output_paragraph(out, TONE_PLAIN, text, 6);
	if (*legend && out->format == FORMAT_TEXT) {
		fprintf(out->file, "%6s", "");
		output_paragraph(out, TONE_FAINT, legend, 6);
	}
}

static void print_formulas(struct output *out, const struct vc_ledger *ledger)
{
	char heading[128];

	block(out);
	snprintf(heading, sizeof heading, "Formulas of the %s method",
	         name_of_method(ledger->method));
	output_heading(out, heading);
	for (uint32_t i = 0; i < ledger->line_count; i++) {
		explain_line(out, &ledger->lines[i]);
	}
	for (uint32_t i = 0; i < ledger->host.line_count; i++) {
		explain_line(out, &ledger->host.lines[i]);
	}
}

static void print_tensors(struct output *out, const struct plan *plan)
{
	size_t count;
	struct tensor_row *rows = tensor_rows(plan->request.model, &count);
	struct table table = { .id = "tensors",
		               .columns = tensor_columns,
		               .column_count = tensor_column_count,
		               .rows = rows,
		               .row_count = count,
		               .row_size = sizeof *rows,
		               .rule_before = count ? count - 1 : 0 };

	if (rows) {
		block(out);
		output_heading(out, "Parameters by kind of layer");
		table_print(out, &table);
	}
	free(rows);
}

/* ---- Both methods, GPUs, notes ---- */

static void print_methods(struct output *out, const struct plan *plan)
{
	block(out);
	output_heading(out, "Both methods");
	print_list(out, plan, plan_methods);
}

static void print_gpus(struct output *out, const struct plan *plan)
{
	char heading[128];

	block(out);
	plan_gpus_heading(plan, heading, sizeof heading);
	output_heading(out, heading);
	print_list(out, plan, plan_gpus);
}

static void print_layouts(struct output *out, const struct plan *plan)
{
	char heading[160];
	struct table table;

	if (plan->count && plan_layouts(plan, &table)) {
		block(out);
		snprintf(heading, sizeof heading, "Layouts of up to %" PRIu32 " × %s",
		         plan->request.parallelism.stated ? plan->candidates[0].gpus
		                                          : plan->options.max_gpus,
		         plan->candidates[0].gpu->name);
		output_heading(out, heading);
		table_print(out, &table);
		free((void *)table.rows);
	}
}

static void print_slices(struct output *out, const struct plan *plan)
{
	struct table table;

	if (!plan_slices(plan, &table)) {
		return;
	}
	block(out);
	if (table.row_count) {
		output_heading(out, "MIG slices that hold it alone, the cheapest share first");
		table_print(out, &table);
		remark(out, "The share of a price is what a slice costs where all of the GPU is "
		            "used; alone it costs the whole GPU, unless the platform rents slices. "
		            "Slices do not reach each other: no model lies across them.");
	} else {
		output_paragraph(out, TONE_PLAIN,
		                 "No MIG slice of these GPUs holds it, and no model lies across "
		                 "slices.",
		                 0);
	}
	free((void *)table.rows);
}

static void print_instances(struct output *out, const struct plan *plan)
{
	struct offer_search search = offer_search(plan->arguments);
	struct offer_note notes[OFFER_NOTES];
	size_t count = offer_run_notes(&search, notes);
	struct table table;

	if (!plan_instances(plan, &table)) {
		return;
	}
	block(out);
	if (table.row_count) {
		output_heading(out,
		               plan->arguments->spot
		                       ? "Instances that hold it, the cheapest spot price first"
		                       : "Instances that hold it, cheapest first");
		table_print(out, &table);
		for (size_t i = 0; i < count; i++) {
			remark(out, notes[i].text);
		}
	} else {
		output_paragraph(out, TONE_PLAIN, "No instance type that was asked for holds it.",
		                 0);
	}
	free((void *)table.rows);
}

static void print_notes(struct output *out, const struct plan *plan)
{
	char text[PLAN_TEXT], more[PLAN_TEXT];

	block(out);
	plan_verdict(plan, out->unit, text);
	plan_dominant(plan, more);
	text_append(text, sizeof text, " %s", more);
	output_paragraph(out, TONE_PLAIN, text, 0);
	for (size_t i = 0; plan_note(plan, out->unit, i, text); i++) {
		if (i == 0 && out->format == FORMAT_MARKDOWN) {
			block(out);
		}
		fputs("- ", out->file);
		output_paragraph(out, TONE_PLAIN, text, 2);
	}
}

void plan_print_text(struct output *out, const struct plan *plan)
{
	char text[PLAN_TEXT];

	plan_title(plan, text);
	output_heading(out, text);
	if (out->format == FORMAT_TEXT) {
		block(out);
	}
	print_list(out, plan, plan_lines);
	block(out);
	for (size_t i = 0; plan_remark(plan, out->unit, i, text); i++) {
		remark(out, text);
	}
	if (plan->arguments->explain) {
		print_formulas(out, plan_ledger(plan));
		print_tensors(out, plan);
	}
	if (plan->has_detailed) {
		print_methods(out, plan);
	}
	print_gpus(out, plan);
	if (plan->arguments->layouts) {
		print_layouts(out, plan);
	}
	if (plan->arguments->mig) {
		print_slices(out, plan);
	}
	if (plan->arguments->instances) {
		print_instances(out, plan);
	}
	print_notes(out, plan);
	if (plan->arguments->explain) {
		block(out);
		plan_print_checklist(out);
	}
}
