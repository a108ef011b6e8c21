/*
 * Tables of results: a list of columns that terminal, CSV, Markdown and JSON all walk. What a row
 * is, only the columns' getters know.
 */
#ifndef VC_CLI_TABLE_H
#define VC_CLI_TABLE_H

#include "json_writer.h"
#include "output.h"

enum cell_type {
	CELL_TEXT,
	CELL_COUNT,    /* an exact number */
	CELL_PARAMS,   /* a number that people read as 6.74B */
	CELL_BYTES,    /* rounded to the nearest */
	CELL_NEED,     /* bytes, rounded up */
	CELL_HEADROOM, /* bytes with a sign, rounded down */
	CELL_CHANGE,   /* bytes with a sign, rounded to the nearest */
	CELL_RATIO,    /* value / divisor */
	CELL_SHARE,    /* value / divisor as percent; for people only */
	CELL_BAR,      /* the same as a bar; on terminals only */
	CELL_MONEY,    /* millionths; text is the currency */
	CELL_FLAG      /* yes or no */
};

struct cell {
	bool known; /* false: an empty cell, null in JSON */
	bool negative;
	enum tone tone;
	size_t index; /* the column's, for the getter */
	uint64_t value, divisor;
	const char *text; /* NULL: what buffer holds */
	char buffer[160];
};

enum column_use {
	COLUMN_ALWAYS,
	COLUMN_DATA,  /* in CSV and JSON only */
	COLUMN_PEOPLE /* on terminals and in Markdown only */
};

struct column {
	const char *id; /* of CSV and JSON; "price.per_hour" is price_per_hour in CSV */
	const char *heading;
	enum cell_type type;
	enum column_use use;
	bool may_be_cut;   /* a long text that a narrow terminal may shorten */
	unsigned priority; /* what a narrow terminal leaves out first; 0: never */
	size_t index;      /* tells apart columns that share a getter */
	void (*get)(const void *row, struct cell *cell);
};

enum {
	TABLE_COLUMNS = 128 /* at most */
};

struct table {
	const char *id; /* "gpus": the key of its rows in JSON */
	const struct column *columns;
	size_t column_count;
	const void *rows;
	size_t row_count, row_size;
	size_t rule_before; /* a row that a line sets apart; 0: none */
};

/* As out->format wants it; for JSON see table_json(). */
void table_print(struct output *out, const struct table *table);

/* CSV in two steps, so that several tables share one heading and a stream needs no table. */
void table_csv_heading(FILE *file, const struct table *table);
void table_csv_rows(FILE *file, const struct table *table);

/* The rows as an array under the table's id. */
void table_json(struct json_writer *json, const struct table *table);

/* A cell as people read it, in cell->buffer. */
void table_cell_text(const struct output *out, const struct column *column, const void *row,
                     struct cell *cell);
/* What a column holds in a row. */
struct cell table_cell(const struct column *column, const void *row);

/* Digits behind the point of its sizes: as many as the largest asks for; a cell has more where it
 * would look like nothing. Belongs in out->decimals before cells are made text. */
unsigned table_decimals(const struct output *out, const struct table *table);

bool table_holds_bytes(const struct column *column);

/* "need (GB)" */
void table_heading(const struct output *out, const struct column *column, char *to, size_t size);
/* For people: not when every cell is empty. */
bool table_column_is_shown(const struct table *table, const struct column *column);
const void *table_row(const struct table *table, size_t index);

/* Implemented with libsmartcols in table_terminal.c. */
void table_terminal(struct output *out, const struct table *table);

#endif
