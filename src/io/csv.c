/* Values are cut out of the text in place: quotes go, the byte after a value becomes its end. */
#include "csv.h"

#include <string.h>

/* What follows the value at `at`; NULL where a quote is never closed. */
static char *value_end(char *at, const char *end)
{
	if (*at != '"') {
		return at + strcspn(at, ",");
	}
	for (at++; at < end; at++) {
		if (*at == '"' && *++at != '"') {
			return at;
		}
	}
	return NULL;
}

/* Takes the quotes off a value that ends at `end`, whose byte stays as it is. */
static char *unquote(char *value, const char *end)
{
	char *out = value;

	if (*value != '"') {
		return value;
	}
	for (const char *at = value + 1; at < end - 1; at++) {
		*out++ = *at;
		at += *at == '"';
	}
	*out = 0;
	return value;
}

static bool fail(struct vc_csv *csv, const char *problem, uint32_t column)
{
	csv->problem = problem;
	csv->problem_column = column;
	return false;
}

/* Characters of UTF-8: the bytes that continue one do not count. */
static uint32_t characters(const char *from, const char *to)
{
	uint32_t count = 0;

	while (from < to) {
		count += ((unsigned char)*from++ & 0xc0) != 0x80;
	}
	return count;
}

/* The line from `start` to `end`, which is a NUL. */
static bool split(struct vc_csv *csv, char *start, char *end, struct vc_csv_row *row)
{
	char *at = start;
	uint32_t column = 1;

	for (;;) {
		char *value = at;

		if (row->count == VC_CSV_VALUES) {
			return fail(csv, "too many values in a row (64 at most)", column);
		}
		at = value_end(value, end);
		if (!at) {
			return fail(csv, "a quote is not closed (on the same line)", column);
		}
		row->columns[row->count] = column;
		column += characters(value, at);
		row->values[row->count++] = unquote(value, at);
		if (at == end) {
			row->end_column = column;
			return true;
		}
		if (*at != ',') {
			return fail(csv, "text after a closing quote (a comma)", column);
		}
		*at++ = 0;
		column++;
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
