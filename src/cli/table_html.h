#ifndef VC_CLI_TABLE_HTML_H
#define VC_CLI_TABLE_HTML_H

#include "table.h"

/* The table as people read it, within a region of that name that scrolls where it is too wide. */
void table_html(struct output *out, const struct table *table, const char *caption);

#endif
