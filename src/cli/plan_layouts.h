/* `plan --layouts`: every layout of the first GPU, and why it was taken or not. */
#ifndef VC_CLI_PLAN_LAYOUTS_H
#define VC_CLI_PLAN_LAYOUTS_H

#include "plan.h"
#include "table.h"

/* Rows for table_print() and table_json(), to be freed; NULL without memory, which is reported. */
struct layout_list {
	struct layout_row *rows;
	size_t count, room;
	bool failed;
};

/* The layouts of the GPU that ranks first. False when the search failed. */
bool plan_layouts(const struct plan *plan, struct layout_list *list, struct table *table);

#endif
