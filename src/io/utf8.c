#include "utf8.h"

#include <stdbool.h>
#include <string.h>

/* Bytes of the character at p, 0 when it is not UTF-8 (RFC 3629: no overlong forms, no surrogates,
 * nothing above U+10FFFF). */
static size_t character_length(const unsigned char *p, size_t left)
{
	size_t length = *p < 0x80   ? 1
	                : *p < 0xC2 ? 0
	                : *p < 0xE0 ? 2
	                : *p < 0xF0 ? 3
	                : *p < 0xF5 ? 4
	                            : 0;

	if (length == 0 || length > left) {
		return 0;
	}
	for (size_t i = 1; i < length; i++) {
		if ((p[i] & 0xC0) != 0x80) {
			return 0;
		}
	}
	if ((*p == 0xE0 && p[1] < 0xA0) || (*p == 0xED && p[1] > 0x9F) ||
	    (*p == 0xF0 && p[1] < 0x90) || (*p == 0xF4 && p[1] > 0x8F)) {
		return 0;
	}
	return length;
}

static bool is_plain(unsigned char c)
{
	return (unsigned char)(c - 0x20) < 0x7F - 0x20;
}

const char *vc_text_problem(const char *text, size_t length, struct vc_text_mark *mark)
{
	const unsigned char *p = (const unsigned char *)text;
	const char *problem = NULL;
	size_t i = 0;

	while (i < length && !problem) {
		size_t step;

		if (is_plain(p[i])) {
			i++;
			continue;
		}
		step = character_length(p + i, length - i);
		if (step == 0) {
			problem = "is not UTF-8 (text in UTF-8 is expected)";
		} else if (p[i] == 0) {
			problem = "holds a NUL character (text is expected)";
		} else if ((p[i] < 0x20 && p[i] != '\t' && p[i] != '\n' && p[i] != '\r') ||
		           p[i] == 0x7F) {
			problem = "holds a control character (text is expected)";
		} else {
			i += step;
		}
	}
	if (problem) {
		*mark = vc_text_mark_at(text, i);
	}
	return problem;
}

struct vc_text_mark vc_text_mark_at(const char *text, size_t offset)
{
	struct vc_text_mark mark = { 1, 1 };

	for (size_t i = 0; i < offset; i++) {
		if (text[i] == '\n') {
			mark.line++;
			mark.column = 1;
		} else if (((unsigned char)text[i] & 0xC0) != 0x80) {
			mark.column++;
		}
	}
	return mark;
}

/* The value of "\uXXXX" at p; 0 when there is none. */
static uint32_t escape_value(const char *p, const char *end)
{
	uint32_t value = 0;

	if (end - p < 6 || p[0] != '\\' || p[1] != 'u') {
		return 0;
	}
	for (int i = 2; i < 6; i++) {
		static const char digits[] = "0123456789abcdef0123456789ABCDEF";
		const char *digit = p[i] ? strchr(digits, p[i]) : NULL;

		if (!digit) {
			return 0;
		}
		value = value << 4 | (uint32_t)((digit - digits) & 15);
	}
	return value;
}

static void write_escape(char *to, uint32_t value)
{
	to[0] = '\\';
	to[1] = 'U';
	for (int i = 9; i > 1; i--) {
		to[i] = "0123456789ABCDEF"[value & 15];
		value >>= 4;
	}
}

/* From behind the opening quote to behind the closing one. */
static char *join_in_string(char *p, const char *end)
{
	char *to = p;
	bool closed = false;

	while (p < end && !closed) {
		uint32_t high = escape_value(p, end), low = high ? escape_value(p + 6, end) : 0;

		if ((high & 0xFC00) == 0xD800 && (low & 0xFC00) == 0xDC00) {
			write_escape(to, 0x10000 + ((high & 0x3FF) << 10) + (low & 0x3FF));
			to += 10;
			p += 12;
			continue;
		}
		closed = *p == '"';
		if (*p == '\\' && p + 1 < end) {
			*to++ = *p++;
		}
		*to++ = *p++;
	}
	memset(to, ' ', (size_t)(p - to));
	return p;
}

void vc_text_join_surrogates(char *text, size_t length)
{
	const char *end = text + length;
	char *p = text;

	while (p < end) {
		p = *p == '"' ? join_in_string(p + 1, end) : p + 1;
	}
}

/* The length of Infinity, -Infinity or NaN at p; 0 for anything else. */
static size_t not_finite(const char *p, size_t left)
{
	static const char *const words[] = { "-Infinity", "Infinity", "NaN" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t length = strlen(words[i]);

		if (length <= left && memcmp(p, words[i], length) == 0) {
			return length;
		}
	}
	return 0;
}

void vc_text_replace_infinities(char *text, size_t length)
{
	bool in_string = false;

	for (size_t i = 0; i < length; i++) {
		size_t word = in_string ? 0 : not_finite(text + i, length - i);

		if (word) {
			memset(text + i, ' ', word);
			text[i] = '0';
		} else if (in_string && text[i] == '\\') {
			i++;
		} else if (text[i] == '"') {
			in_string = !in_string;
		}
	}
}
