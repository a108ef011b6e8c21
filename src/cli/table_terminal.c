/*
 * Tables on a terminal or in a plain pipe, by libsmartcols (from util-linux); the only file that
 * knows it.
 */
#include "table.h"

#include "print_text.h"

#include <libsmartcols.h>
#include <stdlib.h>
#include <string.h>

enum {
	INDENT = 2,
	LONGEST_BAR = 30,
	SHORTEST_BAR = 6,
	SHORTEST_CUT = 12 /* columns that are left of a text that may be cut */
};

struct layout {
	struct output *out;
	const struct table *table;
	bool shown[TABLE_COLUMNS];
	size_t width[TABLE_COLUMNS];
	size_t decimals[TABLE_COLUMNS]; /* of sizes: the most that a row has */
	size_t bar;                     /* columns for bars; 0: none */
};

/* ---- What fits ---- */

static size_t decimals_of(const char *number)
{
	const char *point = strchr(number, '.');

	return point ? strlen(point + 1) : 0;
}

/* A cell as it is shown: points of sizes stand under points. */
static void cell_text_at(const struct layout *l, size_t column, size_t row, struct cell *cell)
{
	size_t length, decimals;

	table_cell_text(l->out, &l->table->columns[column], table_row(l->table, row), cell);
	length = strlen(cell->buffer);
	decimals = decimals_of(cell->buffer);
	while (length && decimals < l->decimals[column] && length + 1 < sizeof cell->buffer) {
		cell->buffer[length++] = ' ';
		cell->buffer[length] = '\0';
		decimals++;
	}
}

static void measure_decimals(struct layout *l)
{
	for (size_t i = 0; i < l->table->column_count; i++) {
		for (size_t r = 0;
		     table_holds_bytes(&l->table->columns[i]) && r < l->table->row_count; r++) {
			struct cell cell;
			size_t decimals;

			table_cell_text(l->out, &l->table->columns[i], table_row(l->table, r),
			                &cell);
			decimals = decimals_of(cell.buffer);
			l->decimals[i] = decimals > l->decimals[i] ? decimals : l->decimals[i];
		}
	}
}

static size_t cell_width(const struct layout *l, size_t column, size_t row)
{
	struct cell cell;

	cell_text_at(l, column, row, &cell);
	return text_width(cell.buffer);
}

static void measure(struct layout *l)
{
	for (size_t i = 0; i < l->table->column_count; i++) {
		const struct column *column = &l->table->columns[i];
		char heading[64];

		l->shown[i] = table_column_is_shown(l->table, column) &&
		              (column->type != CELL_BAR || l->out->terminal);
		if (!l->shown[i] || column->type == CELL_BAR) {
			continue;
		}
		table_heading(l->out, column, heading, sizeof heading);
		l->width[i] = text_width(heading);
		for (size_t r = 0; r < l->table->row_count; r++) {
			size_t width = cell_width(l, i, r);

			l->width[i] = width > l->width[i] ? width : l->width[i];
		}
	}
}

/* Columns taken when texts that may be cut are cut. */
static size_t least_width(const struct layout *l)
{
	size_t sum = INDENT;

	for (size_t i = 0; i < l->table->column_count; i++) {
		bool cut = l->table->columns[i].may_be_cut && l->width[i] > SHORTEST_CUT;

		if (l->shown[i]) {
			sum += (cut ? SHORTEST_CUT : l->width[i]) + 2;
		}
	}
	return sum;
}

static bool drop_least_important(struct layout *l)
{
	size_t least = l->table->column_count;
	unsigned priority = 0;

	for (size_t i = 0; i < l->table->column_count; i++) {
		if (l->shown[i] && l->table->columns[i].priority > priority) {
			priority = l->table->columns[i].priority;
			least = i;
		}
	}
	if (least == l->table->column_count) {
		return false;
	}
	l->shown[least] = false;
	return true;
}

static void fit(struct layout *l)
{
	size_t used;

	if (!l->out->terminal) {
		return;
	}
	while (least_width(l) > l->out->width && drop_least_important(l)) {
	}
	used = least_width(l);
	l->bar = l->out->width > used + SHORTEST_BAR ? l->out->width - used : 0;
	l->bar = l->bar > LONGEST_BAR ? LONGEST_BAR : l->bar;
}

/* ---- Cells ---- */

/* value / divisor of `columns` columns, in eighths of a column where the terminal has such blocks.
 */
static void draw_bar(const struct layout *l, const struct cell *cell, char *to)
{
	static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	double share = cell->divisor ? (double)cell->value / (double)cell->divisor : 0;
	size_t length = (size_t)(share * (double)l->bar * 8 + 0.5);

	*to = '\0';
	length = length > l->bar * 8 ? l->bar * 8 : length;
	for (size_t i = 0; i < length / 8; i++) {
		strcat(to, l->out->utf8 ? "█" : "#");
	}
	if (l->out->utf8) {
		strcat(to, eighths[length % 8]);
	} else if (length % 8 >= 4) {
		strcat(to, "#");
	}
}

static const char *color_of(enum tone tone)
{
	static const char *const names[TONE_COUNT] = {
		[TONE_STRONG] = "bold",   [TONE_FAINT] = "halfbright", [TONE_GOOD] = "green",
		[TONE_CAREFUL] = "brown", [TONE_BAD] = "red",
	};

	return names[tone];
}

static void fill_cell(const struct layout *l, struct libscols_cell *to, size_t column, size_t row)
{
	char bar[LONGEST_BAR * 3 + 1];
	struct cell cell;

	cell_text_at(l, column, row, &cell);
	if (l->table->columns[column].type == CELL_BAR) {
		draw_bar(l, &cell, bar);
		memcpy(cell.buffer, bar, sizeof bar);
	}
	scols_cell_set_data(to, cell.buffer);
	if (l->out->color && color_of(cell.tone) && *cell.buffer) {
		scols_cell_set_color(to, color_of(cell.tone));
	}
}

static struct libscols_table *build(const struct layout *l)
{
	struct libscols_table *scols = scols_new_table();
	const struct column *columns = l->table->columns;

	if (!scols) {
		return NULL;
	}
	for (size_t i = 0; i < l->table->column_count; i++) {
		struct libscols_column *column;
		char heading[64];
		int flags = columns[i].type == CELL_TEXT || columns[i].type == CELL_BAR
		                    ? 0
		                    : SCOLS_FL_RIGHT;

		if (!l->shown[i] || (columns[i].type == CELL_BAR && !l->bar)) {
			continue;
		}
		table_heading(l->out, &columns[i], heading, sizeof heading);
		/* Where nothing helps, lines wrap; a text cut to nothing would tell less. */
		flags |= columns[i].may_be_cut && least_width(l) <= l->out->width ? SCOLS_FL_TRUNC
		                                                                  : 0;
		column = scols_table_new_column(scols, heading, (double)l->width[i], flags);
		if (column && l->out->color && *heading) {
			scols_cell_set_color(scols_column_get_header(column), "bold");
		}
	}
	for (size_t r = 0; r < l->table->row_count; r++) {
		struct libscols_line *line = scols_table_new_line(scols, NULL);
		size_t at = 0;

		for (size_t i = 0; line && i < l->table->column_count; i++) {
			if (l->shown[i] && (columns[i].type != CELL_BAR || l->bar)) {
				fill_cell(l, scols_line_get_cell(line, at++), i, r);
			}
		}
	}
	return scols;
}

/* ---- Printing ---- */

/* One line of the table, indented, without blanks at its end. Returns where the next begins. */
static const char *put_line(struct output *out, const char *line)
{
	size_t length = strcspn(line, "\n"), used = length;

	while (used && line[used - 1] == ' ') {
		used--;
	}
	fprintf(out->file, "%*s%.*s\n", INDENT, "", (int)used, line);
	return line + length + (line[length] == '\n');
}

static void put_rule(const struct layout *l)
{
	size_t width = 0;

	for (size_t i = 0; i < l->table->column_count; i++) {
		if (l->shown[i] && l->table->columns[i].type != CELL_BAR) {
			width += l->width[i] + (width ? 2 : 0);
		}
	}
	/* where a text is cut, the table is as wide as the terminal */
	if (l->out->terminal && least_width(l) <= l->out->width && width > l->out->width - INDENT) {
		width = l->out->width - INDENT;
	}
	fprintf(l->out->file, "%*s", INDENT, "");
	while (width--) {
		fputs(l->out->utf8 ? "─" : "-", l->out->file);
	}
	putc('\n', l->out->file);
}

void table_terminal(struct output *out, const struct table *table)
{
	struct layout layout = { .out = out, .table = table };
	struct libscols_table *scols;
	char *text = NULL;

	measure_decimals(&layout);
	measure(&layout);
	fit(&layout);
	scols = build(&layout);
	if (scols) {
		scols_table_set_column_separator(scols, "  ");
		scols_table_enable_colors(scols, out->color);
		scols_table_set_termforce(scols, out->terminal ? SCOLS_TERMFORCE_ALWAYS
		                                               : SCOLS_TERMFORCE_NEVER);
		scols_table_set_termwidth(scols, out->width - INDENT);
		scols_print_table_to_string(scols, &text);
	}
	if (text) {
		const char *line = put_line(out, text);

		for (size_t r = 0; *line; r++) {
			if (r && r == table->rule_before) {
				put_rule(&layout);
			}
			line = put_line(out, line);
		}
	}
	free(text);
	scols_unref_table(scols);
}
