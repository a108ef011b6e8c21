/* Values are cut out of the text in place: quotes go, the byte after a value becomes its end. */
#include "csv.h"

#include <string.h>

/* Reads one value; returns what follows it, NULL where a quote is never closed. */
static char *take_value(char *at, const char *end, char **value)
{
	char *out = at;

	*value = at;
	if (at == end || *at != '"') {
		return at + strcspn(at, ",");
	}
	at++;
	while (at < end && !(at[0] == '"' && at[1] != '"')) {
		at += *at == '"';
		*out++ = *at++;
	}
	if (at >= end) {
		return NULL;
	}
	*out = 0;
	return at + 1;
}

static bool fail(struct vc_csv *csv, const char *problem, uint32_t column)
{
	csv->problem = problem;
	csv->problem_column = column;
	return false;
}

/* The line from `start` to `end`, which is a NUL. */
static bool split(struct vc_csv *csv, char *start, char *end, struct vc_csv_row *row)
{
	char *at = start;

	for (;;) {
		uint32_t column = (uint32_t)(at - start) + 1;
		char *value;

		if (row->count == VC_CSV_VALUES) {
			return fail(csv, "too many values in a row (64 at most)", column);
		}
		at = take_value(at, end, &value);
		if (!at) {
			return fail(csv, "a quote is not closed (on the same line)", column);
		}
		row->values[row->count] = value;
		row->columns[row->count++] = column;
		if (at == end) {
			return true;
		}
		if (*at != ',') {
			return fail(csv, "text after a closing quote (a comma)",
			            (uint32_t)(at - start) + 1);
		}
		*at++ = 0;
	}
}

bool vc_csv_next(struct vc_csv *csv, struct vc_csv_row *row)
{
	row->count = 0;
	while (csv->at < csv->end) {
		char *start = csv->at;
		char *newline = memchr(start, '\n', (size_t)(csv->end - start));
		char *end = newline ? newline : csv->end;

		csv->at = newline ? newline + 1 : csv->end;
		row->line = ++csv->line;
		if (memchr(start, 0, (size_t)(end - start))) {
			return fail(csv, "a NUL character (text)", (uint32_t)strlen(start) + 1);
		}
		if (end > start && end[-1] == '\r') {
			end--;
		}
		*end = 0;
		if (end > start && *start != '#') {
			return split(csv, start, end, row);
		}
	}
	return false;
}
