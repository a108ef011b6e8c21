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

size_t text_copy_character(char to[8], const char *from, bool utf8)
{
	size_t length = text_utf8_length(from);
	unsigned char c = (unsigned char)*from;
	bool control = c < 0x20 || c == 0x7f || (c == 0xc2 && (unsigned char)from[1] < 0xa0);

	if (length == 0 || control) { /* terminals obey U+0080 to U+009f too */
		snprintf(to, 8, "\\x%02x", length == 2 ? (unsigned char)from[1] : c);
	} else if (length > 1 && !utf8) {
		snprintf(to, 8, "%s", likeness(from, length));
	} else {
		memcpy(to, from, length);
		to[length] = '\0';
	}
	return length ? length : 1;
}

size_t text_copy(char *to, size_t size, const char *from, bool utf8)
{
	size_t used = 0;

	while (*from) {
		char shown[8];
		size_t length = text_copy_character(shown, from, utf8), more = strlen(shown);

		if (used + more >= size) {
			break;
		}
		memcpy(to + used, shown, more);
		used += more;
		from += length;
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
