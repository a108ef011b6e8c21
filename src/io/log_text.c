/*
 * From bytes to lines of plain text. Colors and other escape sequences go; carriage returns, as
 * progress bars write them, end a line; so do the "\n" of messages that stand in JSON or in
 * Python's quotes. NUL bytes go too, and with them the difference between UTF-16 and ASCII.
 */
#include "log.h"

#include <string.h>

enum {
	MOST_SKIPPED = 256 /* of an escape sequence that does not end */
};

static void end_line(struct log *log)
{
	if (log->text.length > 0) {
		log->text.line[log->text.length] = '\0';
		log->text.length = 0;
		log_line(log, log->text.line);
	}
}

/* A line that is too long is cut at its last comma or blank, so that no number is. */
static void cut_line(struct log *log)
{
	char *line = log->text.line;
	size_t length = log->text.length, keep = 0;

	while (keep < 256 && line[length - 1 - keep] != ',' && line[length - 1 - keep] != ' ') {
		keep++;
	}
	if (keep == 256) {
		keep = 0;
	}
	log->text.length -= keep;
	end_line(log);
	memmove(line, line + length - keep, keep);
	log->text.length = keep;
}

static void put(struct log *log, char c)
{
	if (log->text.length + 1 == sizeof log->text.line) {
		cut_line(log);
	}
	log->text.line[log->text.length++] = c;
}

/* Behind a backslash. */
static void put_escaped(struct log *log, char c)
{
	switch (c) {
	case 'n':
	case 'r':
		end_line(log);
		break;
	case 't':
		put(log, ' ');
		break;
	case '"':
	case '\'':
	case '/':
		put(log, c);
		break;
	default:
		put(log, '\\');
		put(log, c);
		break;
	}
}

/* An escape character that is itself escaped starts a sequence with the bracket behind it. */
static bool ends_written_escape(struct log *log)
{
	static const char *const forms[] = { "\\u001b", "\\u001B", "\\x1b", "\\x1B", "\\033" };

	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		size_t length = strlen(forms[i]);

		if (log->text.length >= length &&
		    memcmp(log->text.line + log->text.length - length, forms[i], length) == 0) {
			log->text.length -= length;
			return true;
		}
	}
	return false;
}

static void skip(struct log *log, char c)
{
	bool ends = ++log->text.skipped > MOST_SKIPPED || c == '\n';

	switch (log->text.state) {
	case LOG_TEXT:
		break;
	case LOG_ESCAPE: /* the byte behind ESC */
		if (c == '[') {
			log->text.state = LOG_CONTROL;
			return;
		}
		if (c == ']') {
			log->text.state = LOG_COMMAND;
			return;
		}
		ends = true;
		break;
	case LOG_CONTROL: /* parameters, then one letter */
		ends = ends || (c >= '@' && c <= '~');
		break;
	case LOG_COMMAND: /* a title or a link: ends in BEL or in ESC \ */
		ends = ends || c == '\a' || c == '\\';
		break;
	}
	if (ends) {
		log->text.state = LOG_TEXT;
		if (c == '\n') {
			end_line(log);
		}
	}
}

static void take(struct log *log, char c)
{
	if (c == '\0') {
		log->text.zeros++;
		return;
	}
	log->text.zeros = 0;
	if (log->text.state != LOG_TEXT) {
		skip(log, c);
		return;
	}
	if (log->text.escaped) {
		log->text.escaped = false;
		put_escaped(log, c);
		return;
	}
	switch (c) {
	case '\n':
	case '\r':
		end_line(log);
		break;
	case '\\':
		log->text.escaped = true;
		break;
	case '\033':
		log->text.state = LOG_ESCAPE;
		log->text.skipped = 0;
		break;
	case '[':
		if (ends_written_escape(log)) {
			log->text.state = LOG_CONTROL;
			log->text.skipped = 0;
			break;
		}
		put(log, c);
		break;
	default:
		put(log, c);
		break;
	}
}

/* How many bytes from here on are plain text. */
static size_t plain_run(const char *bytes, size_t size)
{
	size_t run = 0;

	while (run < size && (unsigned char)bytes[run] >= ' ' && bytes[run] != '\\' &&
	       bytes[run] != '[') {
		run++;
	}
	return run;
}

/* Pickle's first two bytes are its mark and a version. */
static void look_for_pickle(struct log *log, const char *bytes, size_t size)
{
	for (size_t i = 0; i < size && log->text.bytes < 2; i++) {
		log->pickle = log->text.bytes == 0 ? bytes[i] == '\x80'
		                                   : log->pickle && bytes[i] >= 2 && bytes[i] <= 5;
		log->text.bytes++;
	}
}

void log_feed(struct log *log, const char *bytes, size_t size)
{
	look_for_pickle(log, bytes, size);
	for (size_t i = 0; i < size;) {
		size_t room = sizeof log->text.line - 1 - log->text.length;
		size_t run = log->text.state == LOG_TEXT && !log->text.escaped
		                     ? plain_run(bytes + i, size - i < room ? size - i : room)
		                     : 0;

		log_json_feed(log, bytes + i, run ? run : 1);
		if (run) {
			log->text.zeros = 0;
			memcpy(log->text.line + log->text.length, bytes + i, run);
			log->text.length += run;
			i += run;
		} else {
			take(log, bytes[i++]);
		}
	}
}
