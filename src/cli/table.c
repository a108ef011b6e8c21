#include "table.h"

#include "print_text.h"

#include <inttypes.h>
#include <string.h>

struct cell table_cell(const struct column *column, const void *row)
{
	struct cell cell = { .index = column->index };

	column->get(row, &cell);
	return cell;
}

const void *table_row(const struct table *table, size_t index)
{
	return (const char *)table->rows + index * table->row_size;
}

bool table_holds_bytes(const struct column *column)
{
	return column->type == CELL_BYTES || column->type == CELL_NEED ||
	       column->type == CELL_HEADROOM || column->type == CELL_CHANGE;
}

void table_heading(const struct output *out, const struct column *column, char *to, size_t size)
{
	text_copy(to, size, column->heading, out->utf8);
	if (table_holds_bytes(column)) {
		text_append(to, size, " (%s)", format_unit_name(out->unit));
	}
}

static bool for_programs(const struct column *column)
{
	return column->use != COLUMN_PEOPLE && column->type != CELL_BAR &&
	       column->type != CELL_SHARE;
}

static void share_text(struct cell *cell)
{
	uint64_t value = cell->value, divisor = cell->divisor ? cell->divisor : 1;

	while (value > UINT64_MAX / 200) {
		value /= 2;
		divisor = divisor / 2 ? divisor / 2 : 1;
	}
	snprintf(cell->buffer, sizeof cell->buffer, "%" PRIu64 " %%",
	         (value * 100 + divisor / 2) / divisor);
}

static void bytes_text(const struct output *out, struct cell *cell, enum rounding rounding)
{
	char number[64];

	format_bytes(
	        number, sizeof number, cell->value,
	        (struct byte_style){ out->unit,
	                             format_visible_decimals(cell->value, out->unit, out->decimals),
	                             rounding });
	snprintf(cell->buffer, sizeof cell->buffer, "%s%s", cell->negative ? "-" : "", number);
}

unsigned table_decimals(const struct output *out, const struct table *table)
{
	uint64_t largest = 0;

	for (size_t i = 0; i < table->column_count; i++) {
		const struct column *column = &table->columns[i];

		for (size_t r = 0; table_holds_bytes(column) && r < table->row_count; r++) {
			struct cell cell = table_cell(column, table_row(table, r));

			largest = cell.known && cell.value > largest ? cell.value : largest;
		}
	}
	return format_decimals(largest, out->unit);
}

static void convert(const struct output *out, enum cell_type type, struct cell *cell)
{
	char *to = cell->buffer;
	size_t size = sizeof cell->buffer;

	switch (type) {
	case CELL_TEXT:
	case CELL_BAR:
		break;
	case CELL_COUNT:
		snprintf(to, size, "%" PRIu64, cell->value);
		break;
	case CELL_PARAMS:
		format_count(to, size, cell->value);
		break;
	case CELL_BYTES:
	case CELL_CHANGE:
		bytes_text(out, cell, ROUND_NEAREST);
		break;
	case CELL_NEED:
		bytes_text(out, cell, ROUND_UP);
		break;
	case CELL_HEADROOM:
		bytes_text(out, cell, cell->negative ? ROUND_UP : ROUND_DOWN);
		break;
	case CELL_RATIO:
		format_ratio(to, size, cell->value, cell->divisor);
		break;
	case CELL_SHARE:
		share_text(cell);
		break;
	case CELL_MONEY:
		format_price(to, size, cell->value, cell->text ? cell->text : "");
		cell->text = NULL;
		break;
	case CELL_FLAG:
		snprintf(to, size, "%s", cell->value ? "yes" : "no");
		break;
	}
}

void table_cell_text(const struct output *out, const struct column *column, const void *row,
                     struct cell *cell)
{
	char shown[sizeof cell->buffer];

	*cell = table_cell(column, row);
	if (!cell->known) {
		cell->buffer[0] = '\0';
	} else {
		convert(out, column->type, cell);
	}
	text_copy(shown, sizeof shown, cell->known && cell->text ? cell->text : cell->buffer,
	          out->utf8);
	memcpy(cell->buffer, shown, sizeof shown);
	cell->text = NULL;
}

/* ---- CSV, as RFC 4180 has it but with plain newlines ---- */

/* Names in files may hold anything: what would drive a terminal is written as it is in tables. */
static void csv_text(FILE *file, const char *text)
{
	bool quoted = text[strcspn(text, ",\"")] != '\0';
	char shown[8];

	fputs(quoted ? "\"" : "", file);
	while (*text) {
		text += text_copy_character(shown, text, true);
		fputs(strcmp(shown, "\"") == 0 ? "\"\"" : shown, file);
	}
	fputs(quoted ? "\"" : "", file);
}

static void csv_cell(FILE *file, const struct column *column, const void *row)
{
	struct cell cell = table_cell(column, row);
	char number[64];

	if (!cell.known) {
		return;
	}
	switch (column->type) {
	case CELL_TEXT:
		csv_text(file, cell.text ? cell.text : cell.buffer);
		break;
	case CELL_FLAG:
		fputs(cell.value ? "true" : "false", file);
		break;
	case CELL_MONEY:
		format_ratio(number, sizeof number, cell.value, 1000000);
		fputs(number, file);
		break;
	case CELL_RATIO:
		format_ratio(number, sizeof number, cell.value, cell.divisor);
		fputs(number, file);
		break;
	default:
		fprintf(file, "%s%" PRIu64, cell.negative ? "-" : "", cell.value);
		break;
	}
}

void table_csv_heading(FILE *file, const struct table *table)
{
	bool first = true;

	for (size_t i = 0; i < table->column_count; i++) {
		if (!for_programs(&table->columns[i])) {
			continue;
		}
		fputs(first ? "" : ",", file);
		for (const char *c = table->columns[i].id; *c; c++) {
			putc(*c == '.' ? '_' : *c, file);
		}
		first = false;
	}
	putc('\n', file);
}

void table_csv_rows(FILE *file, const struct table *table)
{
	for (size_t r = 0; r < table->row_count; r++) {
		bool first = true;

		for (size_t i = 0; i < table->column_count; i++) {
			if (!for_programs(&table->columns[i])) {
				continue;
			}
			fputs(first ? "" : ",", file);
			csv_cell(file, &table->columns[i], table_row(table, r));
			first = false;
		}
		putc('\n', file);
	}
}

/* ---- Markdown ---- */

bool table_column_is_shown(const struct table *table, const struct column *column)
{
	if (column->use == COLUMN_DATA) {
		return false;
	}
	for (size_t r = 0; r < table->row_count; r++) {
		struct cell cell = table_cell(column, table_row(table, r));

		if (cell.known) {
			return true;
		}
	}
	return false;
}

static void markdown_text(FILE *file, const char *text)
{
	for (; *text; text++) {
		if (strchr("\\|`*_<", *text)) {
			putc('\\', file);
		}
		putc(*text, file);
	}
}

static void markdown_row(struct output *out, const struct table *table, const bool *shown,
                         const void *row)
{
	putc('|', out->file);
	for (size_t i = 0; i < table->column_count; i++) {
		struct cell cell;

		if (!shown[i]) {
			continue;
		}
		table_cell_text(out, &table->columns[i], row, &cell);
		putc(' ', out->file);
		markdown_text(out->file, cell.buffer);
		fputs(*cell.buffer ? " |" : "|", out->file);
	}
	putc('\n', out->file);
}

static void markdown(struct output *out, const struct table *table)
{
	bool shown[TABLE_COLUMNS] = { false };

	for (size_t i = 0; i < table->column_count; i++) {
		shown[i] = table->columns[i].type != CELL_BAR &&
		           table_column_is_shown(table, &table->columns[i]);
	}
	putc('|', out->file);
	for (size_t i = 0; i < table->column_count; i++) {
		char heading[64];

		if (shown[i]) {
			table_heading(out, &table->columns[i], heading, sizeof heading);
			fprintf(out->file, " %s |", heading);
		}
	}
	fputs("\n|", out->file);
	for (size_t i = 0; i < table->column_count; i++) {
		if (shown[i]) {
			fputs(table->columns[i].type == CELL_TEXT ? " --- |" : " ---: |",
			      out->file);
		}
	}
	putc('\n', out->file);
	for (size_t r = 0; r < table->row_count; r++) {
		markdown_row(out, table, shown, table_row(table, r));
	}
}

/* ---- JSON ---- */

static void json_cell(struct json_writer *json, const struct column *column, const char *key,
                      const struct cell *cell)
{
	if (!cell->known) {
		json_null(json, key);
		return;
	}
	switch (column->type) {
	case CELL_TEXT:
		json_text(json, key, cell->text ? cell->text : cell->buffer);
		break;
	case CELL_FLAG:
		json_bool(json, key, cell->value != 0);
		break;
	case CELL_MONEY:
		json_ratio(json, key, cell->value, 1000000);
		break;
	case CELL_RATIO:
		json_ratio(json, key, cell->value, cell->divisor);
		break;
	case CELL_HEADROOM:
	case CELL_CHANGE:
		json_i64(json, key, cell->negative ? -(int64_t)cell->value : (int64_t)cell->value);
		break;
	default:
		json_u64(json, key, cell->value);
		break;
	}
}

/* Length of "price." in "price.per_hour". */
static size_t prefix_length(const char *id)
{
	const char *dot = strchr(id, '.');

	return dot ? (size_t)(dot - id) + 1 : 0;
}

static bool is_of(const struct column *column, const char *id, size_t prefix)
{
	return strncmp(column->id, id, prefix) == 0;
}

/* Columns "price.per_hour", "price.offer", ... are one object, where the first of them stands; null
 * where none is known. */
static void json_object(struct json_writer *json, const struct table *table, size_t first,
                        const void *row)
{
	const char *id = table->columns[first].id;
	size_t prefix = prefix_length(id);
	bool known = false;
	char key[64];

	for (size_t i = 0; i < table->column_count; i++) {
		known = known || (is_of(&table->columns[i], id, prefix) &&
		                  table_cell(&table->columns[i], row).known);
	}
	snprintf(key, sizeof key, "%.*s", (int)prefix - 1, id);
	if (!known) {
		json_null(json, key);
		return;
	}
	json_open(json, key, '{');
	for (size_t i = first; i < table->column_count; i++) {
		if (is_of(&table->columns[i], id, prefix)) {
			struct cell cell = table_cell(&table->columns[i], row);

			json_cell(json, &table->columns[i], table->columns[i].id + prefix, &cell);
		}
	}
	json_close(json, '}');
}

static bool is_first(const struct table *table, size_t column, size_t prefix)
{
	for (size_t i = 0; i < column; i++) {
		if (is_of(&table->columns[i], table->columns[column].id, prefix)) {
			return false;
		}
	}
	return true;
}

static void json_row(struct json_writer *json, const struct table *table, const void *row)
{
	json_open(json, NULL, '{');
	for (size_t i = 0; i < table->column_count; i++) {
		const struct column *column = &table->columns[i];
		size_t prefix = prefix_length(column->id);

		if (for_programs(column) && !prefix) {
			struct cell cell = table_cell(column, row);

			json_cell(json, column, column->id, &cell);
		} else if (for_programs(column) && is_first(table, i, prefix)) {
			json_object(json, table, i, row);
		}
	}
	json_close(json, '}');
}

void table_json(struct json_writer *json, const struct table *table)
{
	json_open(json, table->id, '[');
	for (size_t r = 0; r < table->row_count; r++) {
		json_row(json, table, table_row(table, r));
	}
	json_close(json, ']');
}

void table_print(struct output *out, const struct table *table)
{
	out->decimals = table_decimals(out, table);
	switch (out->format) {
	case FORMAT_TEXT:
		table_terminal(out, table);
		break;
	case FORMAT_MARKDOWN:
		markdown(out, table);
		break;
	case FORMAT_CSV:
		table_csv_heading(out->file, table);
		table_csv_rows(out->file, table);
		break;
	case FORMAT_JSON:
		table_json(&(struct json_writer){ .out = out->file }, table);
		break;
	}
}
