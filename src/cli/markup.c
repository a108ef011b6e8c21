#include "markup.h"

#include "print_text.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

/* Of a valid sequence of three bytes. */
static uint32_t code_point(const char *s)
{
	return ((uint32_t)(unsigned char)s[0] & 0x0f) << 12 |
	       ((uint32_t)(unsigned char)s[1] & 0x3f) << 6 | ((uint32_t)(unsigned char)s[2] & 0x3f);
}

/* U+FFFE and U+FFFF are no characters of XML; the others reorder the text around them. */
static bool is_unwelcome(const char *s, size_t length)
{
	uint32_t c = length == 3 ? code_point(s) : 0;

	return c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069) || c >= 0xfffe;
}

static const char *entity(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	default:
		return NULL;
	}
}

static void character(FILE *file, const char *s, size_t length)
{
	unsigned char c = (unsigned char)*s;

	if (entity(*s)) {
		fputs(entity(*s), file);
	} else if (length == 0 || (length == 1 && (c < 0x20 || c == 0x7f))) {
		fprintf(file, "\\x%02x", c);
	} else if (length == 2 && c == 0xc2 && (unsigned char)s[1] < 0xa0) {
		fprintf(file, "\\x%02x", (unsigned char)s[1]);
	} else if (is_unwelcome(s, length)) {
		fprintf(file, "\\u%04x", (unsigned)code_point(s));
	} else {
		fwrite(s, 1, length, file);
	}
}

void markup_text(FILE *file, const char *text)
{
	while (*text) {
		size_t length = text_utf8_length(text);

		character(file, text, length);
		text += length ? length : 1;
	}
}

void markup_format(FILE *file, const char *format, ...)
{
	char text[1024];
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof text, format, values);
	va_end(values);
	markup_text(file, text);
}
