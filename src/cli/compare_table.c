/* The columns of `compare`: fixed ones, one per varied field, one per GPU. */
#include "compare.h"
#include "list.h"
#include "nearest.h"
#include "print_text.h"
#include "quantity.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void get_spec(const void *data, struct cell *cell)
{
	cell_text(cell, ((const struct compare_row *)data)->spec);
}

static void get_varied(const void *data, struct cell *cell)
{
	const char *text = setting_value(((const struct compare_row *)data)->settings[cell->index]);

	cell_text(cell, text);
	/* so that 16 sorts behind 8 */
	if (vc_quantity_parse(VC_QUANTITY_COUNT, text, &cell->value) != VC_QUANTITY_OK) {
		cell->value = 0;
	}
}

static void get_params(const void *data, struct cell *cell)
{
	const struct compare_row *row = data;

	cell_number(cell, row->params);
	cell->known = !row->failed;
}

static void get_rule_total(const void *data, struct cell *cell)
{
	const struct compare_row *row = data;

	cell_number(cell, row->rule_total_bytes);
	cell->known = !row->failed;
}

static void get_recommended(const void *data, struct cell *cell)
{
	const struct compare_row *row = data;

	cell_number(cell, row->recommended_bytes);
	cell->known = !row->failed;
}

/* index: 0 expected, 1 low, 2 high */
static void get_detailed(const void *data, struct cell *cell)
{
	const struct compare_row *row = data;
	const uint64_t bytes[] = { row->total_bytes, row->low_bytes, row->high_bytes };

	cell_number(cell, bytes[cell->index]);
	cell->known = !row->failed && row->has_detailed;
}

static void get_fit(const void *data, struct cell *cell)
{
	static const enum tone tones[] = { [VC_VERDICT_FITS] = TONE_GOOD,
		                           [VC_VERDICT_TIGHT] = TONE_CAREFUL,
		                           [VC_VERDICT_NO] = TONE_BAD };
	const struct compare_row *row = data;
	const struct compare_fit *fit = &row->fits[cell->index];

	if (row->failed) {
		return;
	}
	text_append(cell->buffer, sizeof cell->buffer, "%s", vc_verdict_name(fit->verdict));
	if (fit->gpus_needed > 1) {
		text_append(cell->buffer, sizeof cell->buffer, " x%" PRIu32, fit->gpus_needed);
	}
	cell->known = true;
	cell->tone = tones[fit->verdict];
}

static void get_error(const void *data, struct cell *cell)
{
	const struct compare_row *row = data;

	cell_text(cell, row->failed ? row->error.message : NULL);
	cell->tone = TONE_BAD;
}

static void get_mark(const void *data, struct cell *cell)
{
	cell_text(cell, ((const struct compare_row *)data)->failed ? "error" : NULL);
	cell->tone = TONE_BAD;
}

static const struct column first_columns[] = {
	{ .id = "spec", .heading = "spec", .may_be_cut = true, .get = get_spec },
};

static const struct column estimate_columns[] = {
	{ .id = "parameters",
	  .heading = "parameters",
	  .type = CELL_PARAMS,
	  .priority = 3,
	  .get = get_params },
	{ .id = "rule_total_bytes",
	  .heading = "M, rule",
	  .type = CELL_BYTES,
	  .priority = 2,
	  .get = get_rule_total },
	{ .id = "rule_recommended_bytes",
	  .heading = "M_rec, rule",
	  .type = CELL_NEED,
	  .get = get_recommended },
	{ .id = "detailed_total_bytes",
	  .heading = "detailed",
	  .type = CELL_BYTES,
	  .get = get_detailed },
	{ .id = "detailed_low_bytes",
	  .heading = "low",
	  .type = CELL_BYTES,
	  .priority = 4,
	  .index = 1,
	  .get = get_detailed },
	{ .id = "detailed_high_bytes",
	  .heading = "high",
	  .type = CELL_BYTES,
	  .priority = 4,
	  .index = 2,
	  .get = get_detailed },
};

static const struct column last_columns[] = {
	/* people read the message on standard error */
	{ .id = "mark", .heading = "", .use = COLUMN_PEOPLE, .get = get_mark },
	{ .id = "error", .heading = "error", .use = COLUMN_DATA, .get = get_error },
};

static void append(struct comparison *comparison, const struct column *columns, size_t count)
{
	memcpy(comparison->columns + comparison->column_count, columns, count * sizeof *columns);
	comparison->column_count += count;
}

static void all_columns(struct comparison *comparison)
{
	append(comparison, first_columns, sizeof first_columns / sizeof *first_columns);
	for (size_t i = 0; i < comparison->variations.count; i++) {
		const char *field = comparison->variations.fields[i].field;
		const char *dot = strrchr(field, '.');

		append(comparison,
		       &(struct column){ .id = field,
		                         .heading = dot ? dot + 1 : field,
		                         .index = i,
		                         .get = get_varied },
		       1);
	}
	append(comparison, estimate_columns, sizeof estimate_columns / sizeof *estimate_columns);
	for (size_t i = 0; i < comparison->gpus.count; i++) {
		append(comparison,
		       &(struct column){ .id = comparison->gpus.gpus[i]->id,
		                         .heading = comparison->gpus.gpus[i]->id,
		                         .index = i,
		                         .get = get_fit },
		       1);
	}
	append(comparison, last_columns, sizeof last_columns / sizeof *last_columns);
}

static const struct column *column_by_id(const struct comparison *comparison, const char *id,
                                         size_t length)
{
	for (size_t i = 0; i < comparison->column_count; i++) {
		const struct column *column = &comparison->columns[i];

		if (strlen(column->id) == length && strncmp(column->id, id, length) == 0) {
			return column;
		}
	}
	return NULL;
}

static bool no_such_column(const struct comparison *comparison, const char *option, const char *id,
                           size_t length)
{
	char wanted[64], shown[160];
	struct vc_nearest nearest = { .wanted = wanted };

	snprintf(wanted, sizeof wanted, "%.*s", (int)length, id);
	text_copy(shown, sizeof shown, wanted, true);
	fprintf(stderr, "vramcalc compare: %s: no such column \"%s\"", option, shown);
	for (size_t i = 0; i < comparison->column_count; i++) {
		vc_nearest_offer(&nearest, comparison->columns[i].id);
	}
	if (nearest.best) {
		fprintf(stderr, " (did you mean %s?)\n", nearest.best);
		return false;
	}
	fprintf(stderr, " (expected one of");
	for (size_t i = 0; i < comparison->column_count; i++) {
		fprintf(stderr, " %s", comparison->columns[i].id);
	}
	fprintf(stderr, ")\n");
	return false;
}

bool compare_columns(struct comparison *comparison)
{
	const char *wanted = comparison->arguments->columns;
	struct column chosen[TABLE_COLUMNS];
	size_t count = 0;

	all_columns(comparison);
	while (wanted && *wanted) {
		size_t length = strcspn(wanted, ",");
		const struct column *column = column_by_id(comparison, wanted, length);

		if (!column || count == TABLE_COLUMNS) {
			return no_such_column(comparison, "--columns", wanted, length);
		}
		chosen[count++] = *column;
		wanted += length + (wanted[length] == ',');
	}
	if (count) {
		comparison->column_count = 0;
		append(comparison, chosen, count);
	}
	return true;
}

/* ---- Sorting ---- */

/* A row with what it is sorted by, since a comparison function gets nothing else. */
struct sorted {
	struct compare_row row;
	struct cell cell;
	size_t place; /* equal rows keep their order */
	bool descending;
};

static int compare_cells(const struct cell *a, const struct cell *b)
{
	const char *x = a->text ? a->text : a->buffer, *y = b->text ? b->text : b->buffer;
	int order;

	if (a->known != b->known) {
		return a->known ? -1 : 1;
	}
	order = (a->value > b->value) - (a->value < b->value);
	return order ? order : strcmp(x, y);
}

static int compare_rows(const void *a, const void *b)
{
	const struct sorted *x = a, *y = b;
	int order = compare_cells(&x->cell, &y->cell);

	order = x->descending && x->cell.known && y->cell.known ? -order : order;
	return order ? order : x->place < y->place ? -1 : 1;
}

bool compare_sort(const struct comparison *comparison, struct compare_row *rows, size_t count)
{
	const char *id = comparison->arguments->sort_column;
	bool descending = id && *id == '-';
	const struct column *column;
	struct sorted *sorted;

	if (!id) {
		return true;
	}
	id += descending;
	column = column_by_id(comparison, id, strlen(id));
	if (!column) {
		return no_such_column(comparison, "--sort", id, strlen(id));
	}
	sorted = malloc((count + 1) * sizeof *sorted);
	if (!sorted) {
		report_no_memory();
		return false;
	}
	for (size_t i = 0; i < count; i++) {
		sorted[i] = (struct sorted){ rows[i], { 0 }, i, descending };
		sorted[i].cell = table_cell(column, &rows[i]);
		if (sorted[i].cell.text) {
			snprintf(sorted[i].cell.buffer, sizeof sorted[i].cell.buffer, "%s",
			         sorted[i].cell.text);
			sorted[i].cell.text = NULL;
		}
	}
	qsort(sorted, count, sizeof *sorted, compare_rows);
	for (size_t i = 0; i < count; i++) {
		rows[i] = sorted[i].row;
	}
	free(sorted);
	return true;
}
