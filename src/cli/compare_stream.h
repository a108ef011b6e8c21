/* Specs from standard input, one in JSON per line, in flat memory. */
#ifndef VC_CLI_COMPARE_STREAM_H
#define VC_CLI_COMPARE_STREAM_H

#include "compare.h"

struct compare_output {
	const struct comparison *comparison;
	FILE *file;
	bool collects;        /* rows are kept and printed in the end: tables, --sort */
	bool failed;          /* some spec was wrong */
	struct vc_error last; /* reported: combinations of one spec repeat themselves */
	struct compare_row *rows;
	size_t row_count, row_room;
};

/* All rows of one spec. False when it makes no sense to go on. */
bool compare_put(struct compare_output *to, const struct compare_source *source);

/* All rows of all lines of standard input; what was written is flushed before each wait. */
bool compare_stream(struct compare_output *to);

#endif
