/* The words of a command line, and ways to write them for a shell and in YAML. */
#ifndef VC_CLI_WORDS_H
#define VC_CLI_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum {
	WORDS_MOST = 96,
	WORDS_TEXT = 8192
};

/* Zero-initialize before use; nothing to free. */
struct words {
	char text[WORDS_TEXT];
	size_t at[WORDS_MOST];
	size_t count, used;
	bool expands[WORDS_MOST]; /* the shell puts in what its variables hold */
	bool full;                /* something did not fit and is missing */
};

/* Adds one word. */
void words_add(struct words *words, const char *format, ...)
#ifdef __GNUC__
        __attribute__((format(printf, 2, 3)))
#endif
        ;

/* Adds a word of this program's own with variables in it: "$head_node:29500". */
void words_add_variable(struct words *words, const char *text);

const char *words_get(const struct words *words, size_t index);

/*
 * One command of a POSIX shell: each option on a line of its own behind `indent`, with whatever a
 * shell would take apart between quotes.
 */
void words_print_shell(const struct words *words, FILE *file, const char *indent);

/* "[vllm, serve]" as a YAML sequence of quoted strings, an entry a line behind `indent`. */
void words_print_yaml(const struct words *words, FILE *file, const char *indent);

/* A double-quoted scalar of YAML and JSON. */
void print_quoted(FILE *file, const char *text);

#endif
