/* What the listing commands share. */
#ifndef VC_CLI_LIST_H
#define VC_CLI_LIST_H

#include "table.h"

/* Fills a cell in a getter; a text that is "" or NULL leaves the cell empty. */
void cell_text(struct cell *cell, const char *text);
void cell_number(struct cell *cell, uint64_t value);
void cell_number_or_none(struct cell *cell, uint64_t value); /* 0: not known */
void cell_flag(struct cell *cell, bool value);

/*
 * The tables one after the other; in JSON all in one object behind "schema":
 * "vramcalc/SCHEMA/v1". CSV holds the first table only, as a file of rows must.
 */
void list_print(struct output *out, const char *schema, const struct table *tables, size_t count);

#endif
