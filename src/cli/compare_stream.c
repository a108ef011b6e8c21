#include "compare_stream.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	ROOM = 1 << 18,
	LONGEST_LINE = 4 << 20, /* as long as a spec may be */
	EVERY = 4096            /* lines between two signs of progress */
};

/* More text behind buffer[end]; the reader of our output gets all there is before we wait. */
static bool refill(struct line_reader *reader, FILE *out)
{
	ssize_t length;

	if (reader->begin > 0) {
		memmove(reader->buffer, reader->buffer + reader->begin,
		        reader->end - reader->begin);
		reader->end -= reader->begin;
		reader->begin = 0;
	}
	if (reader->end == reader->room) {
		char *larger = reader->room <= LONGEST_LINE
		                       ? realloc(reader->buffer, 2 * reader->room)
		                       : NULL;

		if (!larger) {
			reader->too_long = true;
			return false;
		}
		reader->buffer = larger;
		reader->room *= 2;
	}
	if (fflush(out) != 0) {
		return false;
	}
	do {
		length = read(STDIN_FILENO, reader->buffer + reader->end,
		              reader->room - reader->end);
	} while (length < 0 && errno == EINTR);
	reader->ended = length <= 0;
	reader->end += length > 0 ? (size_t)length : 0;
	return true;
}

static bool next(struct line_reader *reader, FILE *out, struct compare_source *source)
{
	for (size_t seen = 0;;) {
		char *start = reader->buffer + reader->begin;
		size_t length = reader->end - reader->begin;
		char *newline = memchr(start + seen, '\n', length - seen);

		if (newline || (reader->ended && length > 0)) {
			source->text = start;
			source->length = newline ? (size_t)(newline - start) : length;
			reader->begin += source->length + (newline != NULL);
			source->line = ++reader->line;
			return true;
		}
		if (reader->ended || !refill(reader, out)) {
			return false;
		}
		seen = length;
	}
}

static bool is_blank(const struct compare_source *source)
{
	for (size_t i = 0; i < source->length; i++) {
		if (!memchr(" \t\r", source->text[i], 3)) {
			return false;
		}
	}
	return true;
}

bool line_next(struct line_reader *reader, FILE *out, struct compare_source *source)
{
	do {
		if (!next(reader, out, source)) {
			return false;
		}
	} while (is_blank(source));
	return true;
}

bool line_is_ready(const struct line_reader *reader)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	size_t length = reader->end - reader->begin;

	return memchr(reader->buffer + reader->begin, '\n', length) != NULL ||
	       (!reader->ended && poll(&input, 1, 0) > 0);
}

void compare_progress(const struct line_reader *reader, bool last)
{
	static uint32_t shown;

	if (isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO) &&
	    (last ? shown > 0 : reader->line - shown >= EVERY)) {
		fprintf(stderr, "\r%" PRIu32 " specs%s", reader->line, last ? "\n" : "");
		shown = reader->line;
	}
}

static bool one_by_one(struct compare_output *to, struct line_reader *reader)
{
	struct vc_spec_cache cache = { 0 };
	struct compare_source source = { .cache = &cache };
	bool good = true;

	while (good && line_next(reader, to->file, &source)) {
		char name[32];

		snprintf(name, sizeof name, "-:%" PRIu32, source.line);
		source.name = name;
		good = compare_put(to, &source);
		if (source.line % EVERY == 0) {
			compare_progress(reader, false);
		}
	}
	vc_spec_cache_free(&cache);
	return good;
}

bool compare_stream(struct compare_output *to)
{
	struct line_reader reader = { .buffer = calloc(1, ROOM), .room = ROOM };
	uint64_t jobs = to->comparison->arguments->jobs;
	bool good = reader.buffer != NULL;

	if (good && jobs > 1 && !to->collects) {
		good = compare_parallel(to, &reader, jobs > 256 ? 256 : (unsigned)jobs);
	} else if (good) {
		good = one_by_one(to, &reader);
	}
	compare_progress(&reader, true);
	if (good && reader.too_long) {
		fprintf(stderr, "-:%" PRIu32 ": the line is too long (expected at most 4 MiB)\n",
		        reader.line + 1);
		good = false;
	}
	free(reader.buffer);
	return good;
}
