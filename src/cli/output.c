#include "output.h"

#include "print_text.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	WIDTH = 80,         /* where nobody says better */
	LONGEST_LINE = 100, /* wider lines of running text are hard to read */
	NARROWEST = 40
};

static bool is_set(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value;
}

static size_t terminal_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	long width = columns ? strtol(columns, NULL, 10) : 0;

	if (width <= 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) {
		width = size.ws_col;
	}
	if (width <= 0 || width > 10000) {
		return WIDTH;
	}
	return width < NARROWEST ? NARROWEST : (size_t)width;
}

static bool wants_color(const struct output *out, enum color_when when)
{
	const char *term = getenv("TERM");

	switch (when) {
	case COLOR_ALWAYS:
		return true;
	case COLOR_NEVER:
		return false;
	default:
		return out->terminal && !is_set("NO_COLOR") && term && strcmp(term, "dumb") != 0;
	}
}

void output_reserve(void)
{
	/* the other way round: a write to standard output fails as it would have */
	static const int modes[] = { O_WRONLY, O_RDONLY, O_RDONLY };

	for (int i = 0; i < 3; i++) {
		if (fcntl(i, F_GETFD) < 0 && open("/dev/null", modes[i]) != i) {
			return;
		}
	}
}

void output_open(struct output *out, const struct arguments *arguments)
{
	*out = (struct output){ .file = stdout,
		                .format = arguments->json       ? FORMAT_JSON
		                          : arguments->csv      ? FORMAT_CSV
		                          : arguments->markdown ? FORMAT_MARKDOWN
		                                                : FORMAT_TEXT,
		                .unit = (enum byte_unit)arguments->unit.index,
		                .width = WIDTH };
	if (out->format == FORMAT_JSON || out->format == FORMAT_CSV) {
		return;
	}
	/* Only the character set: numbers and messages are the same in every locale. */
	setlocale(LC_CTYPE, "");
	out->utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	out->terminal = out->format == FORMAT_TEXT && isatty(STDOUT_FILENO);
	out->color = out->format == FORMAT_TEXT &&
	             wants_color(out, (enum color_when)arguments->color.index);
	if (out->terminal) {
		out->width = terminal_width();
	}
}

/* ---- --output ---- */

/* Read by the signal handler. */
static char temporary[4096];
static const char *final;

static void remove_temporary(int signal)
{
	unlink(temporary);
	_exit(128 + signal);
}

static bool cannot_write(const char *path)
{
	char shown[512];

	text_copy(shown, sizeof shown, path, true);
	fprintf(stderr, "vramcalc: %s: cannot write: %s\n", shown, strerror(errno));
	return false;
}

/* A device or a pipe keeps its name: a file in its place would be no such thing. */
static bool is_special(const char *path)
{
	struct stat there;

	return stat(path, &there) == 0 && !S_ISREG(there.st_mode);
}

static bool write_into(const char *path)
{
	int file = open(path, O_WRONLY);

	if (file < 0 || dup2(file, STDOUT_FILENO) < 0) {
		return cannot_write(path);
	}
	close(file);
	final = path;
	return true;
}

bool output_to_file(const char *path)
{
	static const int signals[] = { SIGHUP, SIGINT, SIGTERM };
	struct sigaction action = { .sa_handler = remove_temporary };
	mode_t mask;
	int file;

	if (is_special(path)) {
		return write_into(path);
	}
	if ((size_t)snprintf(temporary, sizeof temporary, "%s.XXXXXX", path) >= sizeof temporary) {
		errno = ENAMETOOLONG;
		return cannot_write(path);
	}
	/* The signals come first: nothing may be left behind at any moment. */
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
		sigaction(signals[i], &action, NULL);
	}
	file = mkstemp(temporary);
	if (file < 0) {
		return cannot_write(path);
	}
	final = path;
	mask = umask(0);
	umask(mask);
	if (fchmod(file, 0666 & ~mask) != 0 || dup2(file, STDOUT_FILENO) < 0) {
		unlink(temporary);
		return cannot_write(path);
	}
	close(file);
	return true;
}

/* Only what is complete takes the name; a command that wrote nothing leaves nothing. */
static int finish_file(int status, bool complete)
{
	struct stat written;

	complete = complete && fstat(STDOUT_FILENO, &written) == 0;
	if (!complete || written.st_size == 0) {
		unlink(temporary);
		return complete ? status : EXIT_WRONG_INPUT;
	}
	if (rename(temporary, final) != 0) {
		cannot_write(final);
		unlink(temporary);
		return EXIT_WRONG_INPUT;
	}
	return status;
}

int output_finish(int status)
{
	bool failed = ferror(stdout) != 0;
	int reason;

	errno = 0;
	failed = fflush(stdout) != 0 || failed;
	reason = errno;
	if (failed && reason != EPIPE) {
		fprintf(stderr, "vramcalc: %s: cannot write: %s\n",
		        final ? final : "standard output",
		        reason ? strerror(reason) : "an earlier write failed");
	}
	status = failed ? EXIT_WRONG_INPUT : status;
	return final && *temporary ? finish_file(status, !failed) : status;
}

static const char *const tones[TONE_COUNT] = {
	[TONE_STRONG] = "\033[1m",   [TONE_FAINT] = "\033[2m", [TONE_GOOD] = "\033[32m",
	[TONE_CAREFUL] = "\033[33m", [TONE_BAD] = "\033[31m",
};

const char *output_tone_on(const struct output *out, enum tone tone)
{
	return out->color && tones[tone] ? tones[tone] : "";
}

const char *output_tone_off(const struct output *out, enum tone tone)
{
	return out->color && tones[tone] ? "\033[0m" : "";
}

/* Markdown would take these for its own. */
static void put_word(const struct output *out, const char *word, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (out->format == FORMAT_MARKDOWN && strchr("\\`*_<|", word[i])) {
			putc('\\', out->file);
		}
		putc(word[i], out->file);
	}
}

/* A number and its unit stay together: "74 %", "13.48 GB". */
static size_t word_length(const char *text)
{
	static const char *const units[] = { "%", "GB", "GiB", "MiB", "B" };
	size_t length = strcspn(text, " "), next;

	if (length == 0 || text[length] == '\0' || text[length - 1] < '0' ||
	    text[length - 1] > '9') {
		return length;
	}
	next = strcspn(text + length + 1, " ,.;:)");
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		if (strlen(units[i]) == next && strncmp(units[i], text + length + 1, next) == 0) {
			return length + 1 + strcspn(text + length + 1, " ");
		}
	}
	return length;
}

static size_t columns_of(const char *text, size_t length)
{
	size_t columns = 0;

	for (size_t i = 0; i < length; i++) {
		columns += ((unsigned char)text[i] & 0xc0) != 0x80;
	}
	return columns;
}

void output_paragraph(struct output *out, enum tone tone, const char *text, size_t indent)
{
	bool markdown = out->format == FORMAT_MARKDOWN;
	size_t limit = out->width < LONGEST_LINE ? out->width : LONGEST_LINE, at = indent;
	char shown[2048];

	text_copy(shown, sizeof shown, text, out->utf8);
	fputs(output_tone_on(out, tone), out->file);
	for (const char *rest = shown; *rest;) {
		size_t length = word_length(rest), width = columns_of(rest, length);

		if (at > indent && at + 1 + width > limit && !markdown) {
			fprintf(out->file, "\n%*s", (int)indent, "");
			at = indent;
		} else if (rest != shown) {
			putc(' ', out->file);
			at++;
		}
		put_word(out, rest, length);
		at += width;
		rest += length + strspn(rest + length, " ");
	}
	fprintf(out->file, "%s\n", output_tone_off(out, tone));
}

void output_heading(struct output *out, const char *text)
{
	if (out->format == FORMAT_MARKDOWN) {
		fputs("## ", out->file);
	}
	output_paragraph(out, TONE_STRONG, text, 0);
	if (out->format == FORMAT_MARKDOWN) {
		putc('\n', out->file);
	}
}
