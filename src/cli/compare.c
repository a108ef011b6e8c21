/* `compare`: walks specs and combinations; see compare_row.c for a row, compare_stream.c for -. */
#include "compare.h"

#include "commands.h"
#include "compare_stream.h"
#include "errors.h"
#include "origin.h"
#include "spec_list.h"

#include <stdlib.h>
#include <string.h>

/* ---- Rows ---- */

static bool is_same(const struct vc_error *a, const struct vc_error *b)
{
	return a->line == b->line && a->column == b->column && strcmp(a->file, b->file) == 0 &&
	       strcmp(a->field, b->field) == 0 && strcmp(a->message, b->message) == 0;
}

/* Where rows are for programs, they say themselves what is wrong. */
static void report(struct compare_output *to, const struct vc_error_list *errors)
{
	if (to->comparison->arguments->json || errors->count == 0) {
		return;
	}
	if (!is_same(&errors->errors[0], &to->last)) {
		report_errors_to(to->errors, errors);
	}
	to->last = errors->errors[0];
}

static bool keep(struct compare_output *to, const struct compare_row *row)
{
	if (to->row_count == to->row_room) {
		size_t room = to->row_room ? 2 * to->row_room : 64;
		struct compare_row *rows = realloc(to->rows, room * sizeof *rows);

		if (!rows) {
			return false;
		}
		to->rows = rows;
		to->row_room = room;
	}
	to->rows[to->row_count++] = *row;
	return true;
}

bool compare_put(struct compare_output *to, const struct compare_source *source)
{
	const struct comparison *comparison = to->comparison;
	struct compare_row row;

	for (uint64_t i = 0; i < comparison->variations.combinations; i++) {
		struct vc_error_list errors; /* large: only what is counted is ever read */

		errors.count = 0;
		compare_fill(comparison, source, i, &row, &errors);
		to->failed = to->failed || row.failed;
		report(to, &errors);
		if (to->collects) {
			if (!keep(to, &row)) {
				report_no_memory();
				return false;
			}
		} else if (comparison->arguments->json) {
			compare_json(to->file, &row);
		} else {
			struct table table = { .columns = comparison->columns,
				               .column_count = comparison->column_count,
				               .rows = &row,
				               .row_count = 1,
				               .row_size = sizeof row };

			table_csv_rows(to->file, &table);
		}
	}
	return true;
}

/* ---- Sources ---- */

static bool put_name(struct compare_output *to, const char *name)
{
	bool good = compare_put(to, &(struct compare_source){ .name = name });

	/* Files come slowly enough: a reader need not wait for the next one. */
	return good && (to->collects || fflush(to->file) == 0);
}

/* ---- The command ---- */

static bool prepare_gpus(struct comparison *comparison)
{
	const struct vc_gpu *reference[4];
	const struct text_list *named = &comparison->arguments->gpus;
	bool all_known = true;

	comparison->gpus.gpus =
	        malloc((comparison->session.catalog.count + 1) * sizeof(struct vc_gpu *));
	if (!comparison->gpus.gpus) {
		report_no_memory();
		return false;
	}
	for (size_t i = 0; i < named->count; i++) {
		all_known = report_gpu(&comparison->session.catalog, named->items[i],
		                       &(struct name_place){ "vramcalc compare", "--gpu" },
		                       &comparison->gpus) &&
		            all_known;
	}
	if (comparison->gpus.count > COMPARE_GPUS) {
		fprintf(stderr, "vramcalc compare: --gpu: too many GPUs (expected at most %d)\n",
		        COMPARE_GPUS);
		return false;
	}
	/* What the detailed estimate is for when nobody says. */
	if (vc_catalog_find(&comparison->session.catalog, "a100-80gb-sxm", reference, 4)) {
		comparison->reference = reference[0];
	}
	if (comparison->gpus.count) {
		comparison->reference = comparison->gpus.gpus[0];
	}
	return all_known;
}

static bool prepare(struct comparison *comparison)
{
	const struct arguments *arguments = comparison->arguments;
	bool rule_only = arguments->method.given && arguments->method.index == VC_METHOD_RULE;

	if (!variations_parse(&comparison->variations, &arguments->vary, stderr) ||
	    !session_catalog(&comparison->session, "USD") || !prepare_gpus(comparison)) {
		return false;
	}
	comparison->with_detailed = !rule_only && comparison->reference;
	return compare_columns(comparison);
}

static void print_collected(struct output *out, const struct comparison *comparison,
                            const struct compare_output *to)
{
	struct table table = { .id = "rows",
		               .columns = comparison->columns,
		               .column_count = comparison->column_count,
		               .rows = to->rows,
		               .row_count = to->row_count,
		               .row_size = sizeof *to->rows };

	struct origin_note note = { .count = 0 };

	if (out->format == FORMAT_JSON) {
		for (size_t i = 0; i < to->row_count; i++) {
			compare_json(out->file, &to->rows[i]);
		}
		return;
	}
	table_print(out, &table);
	for (size_t i = 0; i < comparison->gpus.count; i++) {
		origin_add(&note, comparison->gpus.gpus[i], false);
	}
	origin_print(out, &note);
}

static bool run(struct comparison *comparison, struct output *out, struct compare_output *to)
{
	struct spec_list specs;
	bool good = true;

	/* What names no spec is said; the others are compared all the same. */
	to->failed = !spec_list_open(&specs, &comparison->arguments->operands);

	if (out->format == FORMAT_CSV && !to->collects) {
		table_csv_heading(out->file,
		                  &(struct table){ .columns = comparison->columns,
		                                   .column_count = comparison->column_count });
	}
	for (size_t i = 0; i < specs.count && good; i++) {
		good = strcmp(specs.names[i], "-") == 0 ? compare_stream(to)
		                                        : put_name(to, specs.names[i]);
	}
	spec_list_close(&specs);
	good = good && (!to->collects || compare_sort(comparison, to->rows, to->row_count));
	if (good && to->collects) {
		print_collected(out, comparison, to);
	}
	return good && !to->failed;
}

int compare_command(struct arguments *arguments)
{
	struct comparison *comparison = calloc(1, sizeof *comparison);
	struct compare_output to = { .comparison = comparison };
	bool good = false;
	struct output out;

	if (!comparison) {
		report_no_memory();
		return EXIT_WRONG_INPUT;
	}
	comparison->arguments = arguments;
	comparison->session.arguments = arguments;
	output_open(&out, arguments);
	to.file = out.file;
	to.errors = stderr;
	to.collects = arguments->sort_column || out.format == FORMAT_TEXT ||
	              out.format == FORMAT_MARKDOWN;
	if (prepare(comparison)) {
		good = run(comparison, &out, &to);
	}
	free(to.rows);
	free(comparison->gpus.gpus);
	variations_free(&comparison->variations);
	session_close(&comparison->session);
	free(comparison);
	return good ? EXIT_FITS : EXIT_WRONG_INPUT;
}
