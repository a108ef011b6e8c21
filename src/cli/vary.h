/* --vary FIELD=V1,V2,...: all combinations of a few fields' values. */
#ifndef VC_CLI_VARY_H
#define VC_CLI_VARY_H

#include "arguments.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
	VARY_FIELDS = 8,
	VARY_VALUES = 4096 /* of one field */
};

struct variation {
	const char *field; /* "workload.batch_size" */
	char **settings;   /* "workload.batch_size=8", as --set takes it */
	size_t count;
};

struct variations {
	struct variation fields[VARY_FIELDS];
	size_t count;
	uint64_t combinations; /* their product; 1 without any */
	char *storage;         /* the fields' names */
};

/*
 * Values stand between commas; A..B counts up from A to B, A..B+S in steps of S, A..B*F by a
 * factor. False with a line on `errors` when something is wrong. variations_free() is due either
 * way.
 */
bool variations_parse(struct variations *variations, const struct text_list *words, FILE *errors);
void variations_free(struct variations *variations);

/* The setting of each field in a combination; the last field changes fastest. */
void variations_at(const struct variations *variations, uint64_t combination,
                   const char *settings[VARY_FIELDS]);

/* "8", behind the field of a setting. */
const char *setting_value(const char *setting);

#endif
