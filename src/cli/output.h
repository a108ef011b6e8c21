/* Where results go, and how they may look there. */
#ifndef VC_CLI_OUTPUT_H
#define VC_CLI_OUTPUT_H

#include "arguments.h"
#include "format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum output_format {
	FORMAT_TEXT,
	FORMAT_JSON,
	FORMAT_CSV,
	FORMAT_MARKDOWN
};

/* What a piece of output says, as far as a color can show it. */
enum tone {
	TONE_PLAIN,
	TONE_STRONG,
	TONE_FAINT,
	TONE_GOOD,
	TONE_CAREFUL,
	TONE_BAD,
	TONE_COUNT
};

struct output {
	FILE *file;
	enum output_format format;
	enum byte_unit unit;
	unsigned decimals; /* of sizes in the table that is being printed */
	bool terminal;     /* bars are drawn and tables cut to the width */
	bool color, utf8;
	size_t width; /* of running text; of tables too, on a terminal */
};

/*
 * Opens what the caller has closed of the three standard streams, so that no other file takes its
 * place. What is written or read there fails all the same.
 */
void output_reserve(void);

/* Standard output, as the options, the environment and the terminal want it. */
void output_open(struct output *out, const struct arguments *arguments);

/*
 * Sends standard output to a file that takes its name only when output_finish() finds it complete.
 * False with a message when it cannot be made.
 */
bool output_to_file(const char *path);

/*
 * Flushes standard output. Returns `status`, or EXIT_WRONG_INPUT with a message when something was
 * not written; a reader that has gone away is no news.
 */
int output_finish(int status);

/* Escape sequences around text of a tone; "" without color. */
const char *output_tone_on(const struct output *out, enum tone tone);
const char *output_tone_off(const struct output *out, enum tone tone);

/* A line that stands above what follows it. */
void output_heading(struct output *out, const char *text);

/* Sentences wrapped to the width; lines after the first start behind `indent` blanks. */
void output_paragraph(struct output *out, enum tone tone, const char *text, size_t indent);

#endif
