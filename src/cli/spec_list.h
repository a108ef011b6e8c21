/*
 * The specs that operands name: a file, a bundled model or - as it is; a folder for the specs in
 * it; a quoted glob for what it matches. Sorted within an operand, so that output is stable.
 */
#ifndef VC_CLI_SPEC_LIST_H
#define VC_CLI_SPEC_LIST_H

#include "arguments.h"

struct spec_list {
	char **names;
	size_t count;
};

/* Says on standard error what is wrong (a glob without a match) and returns false; the rest is
 * in the list all the same. */
bool spec_list_open(struct spec_list *list, const struct text_list *operands);
void spec_list_close(struct spec_list *list);

#endif
