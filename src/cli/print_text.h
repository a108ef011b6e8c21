/* Text for people: what a terminal can show, wrapped to its width. */
#ifndef VC_CLI_PRINT_TEXT_H
#define VC_CLI_PRINT_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Copies `from` as it may be shown: control characters as \x1b, so that a name in a file cannot
 * drive the terminal; without `utf8`, symbols by their ASCII likeness ("×" is "x") and the rest as
 * "?". Cuts what does not fit at a whole character. Returns the length written.
 */
size_t text_copy(char *to, size_t size, const char *from, bool utf8);

/* The same of the one character at `from`. Returns the bytes that were read. */
size_t text_copy_character(char to[8], const char *from, bool utf8);

/* Columns that text takes on a terminal, wide East Asian characters counted as one. */
size_t text_width(const char *text);

/* snprintf behind what `to` holds already; cuts what does not fit. */
__attribute__((format(printf, 3, 4))) void text_append(char *to, size_t size, const char *format,
                                                       ...);

/* Length of the valid UTF-8 sequence at `text`, 0 when there is none. */
size_t text_utf8_length(const char *text);

#endif
