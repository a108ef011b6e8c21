#include "print_text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The symbols that formulas, headings and notes use. */
static const struct {
	const char *symbol, *ascii;
} likenesses[] = {
	{ "×", "x" },  { "·", "-" },   { "–", "-" },     { "—", "-" }, { "…", "..." },
	{ "≥", ">=" }, { "≤", "<=" },  { "≈", "~" },     { "÷", "/" }, { "→", "->" },
	{ "²", "^2" }, { "Σ", "sum" }, { "µ", "u" },     { "’", "'" }, { "“", "\"" },
	{ "”", "\"" }, { "−", "-" },   { "⌈", "ceil(" }, { "⌉", ")" }, { "⌊", "floor(" },
	{ "⌋", ")" },
};

size_t text_utf8_length(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t length = *s < 0x80                 ? 1
	                : *s >= 0xc2 && *s < 0xe0 ? 2
	                : *s >= 0xe0 && *s < 0xf0 ? 3
	                : *s >= 0xf0 && *s < 0xf5 ? 4
	                                          : 0;

	for (size_t i = 1; i < length; i++) {
		if ((s[i] & 0xc0) != 0x80) {
			return 0;
		}
	}
	/* overlong forms, surrogates, beyond U+10FFFF */
	if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] >= 0xa0) ||
	    (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] >= 0x90)) {
		return 0;
	}
	return length;
}

static const char *likeness(const char *s, size_t length)
{
	for (size_t i = 0; i < sizeof likenesses / sizeof *likenesses; i++) {
		if (strlen(likenesses[i].symbol) == length &&
		    memcmp(likenesses[i].symbol, s, length) == 0) {
			return likenesses[i].ascii;
		}
	}
	return "?";
}

/* What stands for the character at `s`, which has `length` bytes (0: a stray byte). */
static const char *shown_as(const char *s, size_t length, bool utf8, char buffer[8])
{
	unsigned char c = (unsigned char)*s;
	bool control = c < 0x20 || c == 0x7f || (c == 0xc2 && (unsigned char)s[1] < 0xa0);

	if (length == 0 || (control && length == 1)) {
		snprintf(buffer, 8, "\\x%02x", c);
		return buffer;
	}
	if (control) { /* U+0080 to U+009f: terminals obey these too */
		snprintf(buffer, 8, "\\x%02x", (unsigned char)s[1]);
		return buffer;
	}
	if (length > 1 && !utf8) {
		return likeness(s, length);
	}
	memcpy(buffer, s, length);
	buffer[length] = '\0';
	return buffer;
}

size_t text_copy(char *to, size_t size, const char *from, bool utf8)
{
	size_t used = 0;

	while (*from) {
		char buffer[8];
		size_t length = text_utf8_length(from);
		const char *shown = shown_as(from, length, utf8, buffer);
		size_t more = strlen(shown);

		if (used + more >= size) {
			break;
		}
		memcpy(to + used, shown, more);
		used += more;
		from += length ? length : 1;
	}
	to[used] = '\0';
	return used;
}

size_t text_width(const char *text)
{
	size_t width = 0;

	for (; *text; text++) {
		width += ((unsigned char)*text & 0xc0) != 0x80;
	}
	return width;
}

void text_append(char *to, size_t size, const char *format, ...)
{
	size_t used = strlen(to);
	va_list values;

	va_start(values, format);
	vsnprintf(to + used, size - used, format, values);
	va_end(values);
}
