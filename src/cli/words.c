#include "words.h"

#include <stdarg.h>
#include <string.h>

static void put(struct words *words, const char *text, bool expands)
{
	size_t length = strlen(text) + 1;

	if (length > sizeof words->text - words->used || words->count == WORDS_MOST) {
		words->full = true;
		return;
	}
	memcpy(words->text + words->used, text, length);
	words->expands[words->count] = expands;
	words->at[words->count++] = words->used;
	words->used += length;
}

void words_add(struct words *words, const char *format, ...)
{
	char text[1024];
	va_list arguments;
	int length;

	va_start(arguments, format);
	/* clang 14 loses sight of va_start here */
	length = vsnprintf(text, sizeof text, format, /* NOLINT(clang-analyzer-valist.*) */
	                   arguments);
	va_end(arguments);
	if (length < 0 || (size_t)length >= sizeof text) {
		words->full = true;
		return;
	}
	put(words, text, false);
}

void words_add_variable(struct words *words, const char *text)
{
	put(words, text, true);
}

const char *words_get(const struct words *words, size_t index)
{
	return words->text + words->at[index];
}

static bool is_plain(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	                            "_./:=,@%+-";

	return *word && word[strspn(word, plain)] == '\0';
}

static void print_shell_word(FILE *file, const char *word)
{
	if (is_plain(word)) {
		fputs(word, file);
		return;
	}
	putc('\'', file);
	for (; *word; word++) {
		if (*word == '\'') {
			fputs("'\\''", file);
		} else {
			putc(*word, file);
		}
	}
	putc('\'', file);
}

static bool is_script(const char *word)
{
	size_t length = strlen(word);

	return length > 3 && strcmp(word + length - 3, ".py") == 0;
}

void words_print_shell(const struct words *words, FILE *file, const char *indent)
{
	fputs(indent, file);
	for (size_t i = 0; i < words->count; i++) {
		const char *word = words_get(words, i);

		if (i > 0) {
			if (strncmp(word, "--", 2) == 0 || is_script(word)) {
				fprintf(file, " \\\n%s  ", indent);
			} else {
				putc(' ', file);
			}
		}
		if (words->expands[i]) {
			fprintf(file, "\"%s\"", word);
		} else {
			print_shell_word(file, word);
		}
	}
	putc('\n', file);
}

void print_quoted(FILE *file, const char *text)
{
	putc('"', file);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\') {
			putc('\\', file);
			putc(c, file);
		} else if (c < 0x20 || c == 0x7f) {
			fprintf(file, "\\u%04x", c);
		} else {
			putc(c, file);
		}
	}
	putc('"', file);
}

void words_print_yaml(const struct words *words, FILE *file, const char *indent)
{
	for (size_t i = 0; i < words->count; i++) {
		fprintf(file, "%s- ", indent);
		print_quoted(file, words_get(words, i));
		putc('\n', file);
	}
}
