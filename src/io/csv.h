/* Comma-separated values (RFC 4180), row by row. A quoted value ends on the line it began on. */
#ifndef VC_CSV_H
#define VC_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	VC_CSV_VALUES = 64
};

struct vc_csv_row {
	uint32_t line;
	uint32_t count;
	char *values[VC_CSV_VALUES];
	uint32_t columns[VC_CSV_VALUES]; /* where each begins, in characters from 1 */
	uint32_t end_column;             /* behind the last */
};

/* Start with { .at = text, .end = text + length }; the text is changed as it is read. */
struct vc_csv {
	char *at, *end;
	uint32_t line;
	const char *problem; /* NULL while all is well */
	uint32_t problem_column;
};

/* The next row that is not empty; false at the end and at a problem. *end must be writable. */
bool vc_csv_next(struct vc_csv *csv, struct vc_csv_row *row);

#endif
