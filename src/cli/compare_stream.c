#include "compare_stream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	ROOM = 1 << 16,
	LONGEST_LINE = 4 << 20, /* as long as a spec may be */
	EVERY = 4096            /* lines between two signs of progress */
};

/* Lines of a file descriptor; the text stays where it was read. */
struct reader {
	char *buffer;
	size_t room, begin, end;
	uint32_t line;
	bool ended, shows_progress;
};

/* More text behind buffer[end]; the reader of our output gets all there is before we wait. */
static bool refill(struct reader *reader, FILE *out)
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

/* The next line, without its end; false at the end of the input or when it cannot go on. */
static bool next_line(struct reader *reader, FILE *out, struct compare_source *source)
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

static void show_progress(const struct reader *reader)
{
	if (reader->shows_progress && reader->line % EVERY == 0) {
		fprintf(stderr, "\r%" PRIu32 " specs", reader->line);
	}
}

bool compare_stream(struct compare_output *to)
{
	struct reader reader = { .buffer = calloc(1, ROOM),
		                 .room = ROOM,
		                 .shows_progress =
		                         isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO) };
	struct vc_spec_cache cache = { 0 };
	struct compare_source source = { .cache = &cache };
	bool good = reader.buffer != NULL;

	while (good && next_line(&reader, to->file, &source)) {
		char name[32];

		if (is_blank(&source)) {
			continue;
		}
		snprintf(name, sizeof name, "-:%" PRIu32, source.line);
		source.name = name;
		good = compare_put(to, &source);
		show_progress(&reader);
	}
	if (reader.shows_progress && reader.line >= EVERY) {
		fprintf(stderr, "\r%" PRIu32 " specs\n", reader.line);
	}
	if (good && !reader.ended && !ferror(to->file)) {
		fprintf(stderr, "-:%" PRIu32 ": the line is too long (expected at most 4 MiB)\n",
		        reader.line + 1);
		good = false;
	}
	vc_spec_cache_free(&cache);
	free(reader.buffer);
	return good;
}
