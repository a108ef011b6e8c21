/* What the pictures show as numbers, so that nobody needs to see them. */
#ifndef VC_CLI_PICTURE_TABLE_H
#define VC_CLI_PICTURE_TABLE_H

#include "picture.h"
#include "table.h"

/* A bar: a GPU with the parts of what it would hold. */
struct bar_row {
	const struct vc_candidate *candidate;
	const struct vc_ledger *ledger;
};

/* A point of a line. */
struct point_row {
	const struct growth *growth;
	const struct growth_point *point;
};

extern const struct column bar_columns[], point_columns[];
extern const size_t bar_column_count, point_column_count;

#endif
