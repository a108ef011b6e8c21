/* Tables in HTML: text to the left, numbers to the right. */
#include "table_html.h"

#include "markup.h"

#include <string.h>

static void row(const struct output *out, const struct table *table, const bool *shown, size_t r)
{
	bool first = true;

	fputs(table->rule_before && r == table->rule_before ? "<tr class=\"sum\">" : "<tr>",
	      out->file);
	for (size_t i = 0; i < table->column_count; i++) {
		const struct column *column = &table->columns[i];
		const char *tag = first && column->type == CELL_TEXT ? "th scope=\"row\"" : "td";
		struct cell cell;

		if (!shown[i]) {
			continue;
		}
		table_cell_text(out, column, table_row(table, r), &cell);
		fprintf(out->file, "<%s%s>", tag, column->type == CELL_TEXT ? "" : " class=\"n\"");
		markup_text(out->file, cell.buffer);
		fprintf(out->file, "</%.2s>", tag);
		first = first && column->type != CELL_TEXT;
	}
	fputs("</tr>\n", out->file);
}

void table_html(struct output *out, const struct table *table, const char *caption)
{
	bool shown[TABLE_COLUMNS] = { false };

	out->decimals = table_decimals(out, table);
	fputs("<div class=\"scroll\" role=\"group\" tabindex=\"0\" aria-label=\"", out->file);
	markup_text(out->file, caption);
	fputs("\">\n<table>\n<caption>", out->file);
	markup_text(out->file, caption);
	fputs("</caption>\n<thead><tr>", out->file);
	for (size_t i = 0; i < table->column_count; i++) {
		const struct column *column = &table->columns[i];
		char heading[64];

		shown[i] = column->type != CELL_BAR && table_column_is_shown(table, column);
		if (shown[i]) {
			table_heading(out, column, heading, sizeof heading);
			fprintf(out->file, "<th scope=\"col\"%s>",
			        column->type == CELL_TEXT ? "" : " class=\"n\"");
			markup_text(out->file, heading);
			fputs("</th>", out->file);
		}
	}
	fputs("</tr></thead>\n<tbody>\n", out->file);
	for (size_t r = 0; r < table->row_count; r++) {
		row(out, table, shown, r);
	}
	fputs("</tbody>\n</table>\n</div>\n", out->file);
}
