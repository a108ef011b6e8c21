/* Specs from standard input, one in JSON per line, in flat memory. */
#ifndef VC_CLI_COMPARE_STREAM_H
#define VC_CLI_COMPARE_STREAM_H

#include "compare.h"

struct compare_output {
	const struct comparison *comparison;
	FILE *file, *errors;
	bool collects;        /* rows are kept and printed in the end: tables, --sort */
	bool failed;          /* some spec was wrong */
	struct vc_error last; /* reported: combinations of one spec repeat themselves */
	struct compare_row *rows;
	size_t row_count, row_room;
};

/* All rows of one spec. False when it makes no sense to go on. */
bool compare_put(struct compare_output *to, const struct compare_source *source);

/*
 * All rows of all lines of standard input; what was written is flushed before each wait. With
 * --jobs several threads make the rows; they come out in the same order.
 */
bool compare_stream(struct compare_output *to);

/* Lines of a file descriptor; a line stays where it was read until the next one is asked for. */
struct line_reader {
	char *buffer;
	size_t room, begin, end;
	uint32_t line; /* the number of the last one */
	bool ended;    /* nothing more can be read */
	bool too_long; /* the next line is */
};

/* The next line that is not blank, without its end. Flushes `out` before it waits for input. */
bool line_next(struct line_reader *reader, FILE *out, struct compare_source *source);
/* Whether another line can be had without waiting. */
bool line_is_ready(const struct line_reader *reader);

/* compare_parallel.c */
bool compare_parallel(struct compare_output *to, struct line_reader *reader, unsigned jobs);
void compare_progress(const struct line_reader *reader, bool last);

#endif
