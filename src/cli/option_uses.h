/* The options that one command line gives, and whether they go together. */
#ifndef VC_CLI_OPTION_USES_H
#define VC_CLI_OPTION_USES_H

#include "arguments.h"

struct option_uses {
	const struct arguments *arguments;
	const char *prefix; /* of messages: "vramcalc plan" */
	const struct option_row *const *rows;
	const bool *given; /* for each row */
	size_t count;
};

/* Holds them against option_rules; false with one line on `errors`. */
bool option_uses_agree(const struct option_uses *uses, FILE *errors);

#endif
