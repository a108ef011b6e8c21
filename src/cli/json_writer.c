/*
 * cJSON prints integers through a double and loses digits from 2^53 on; byte counts are exact, so
 * they are written here as they are.
 */
#include "json_writer.h"

#include <inttypes.h>

static void line_break(struct json_writer *w)
{
	if (w->compact) {
		fputs(w->comma ? ", " : "", w->out);
	} else {
		fputs(w->comma ? ",\n" : w->depth ? "\n" : "", w->out);
		fprintf(w->out, "%*s", (int)(2 * w->depth), "");
	}
	w->comma = true;
}

/* Length of the valid UTF-8 sequence at s, 0 when there is none. */
static int utf8_length(const unsigned char *s)
{
	int more = *s < 0x80                 ? 0
	           : *s >= 0xc2 && *s < 0xe0 ? 1
	           : *s >= 0xe0 && *s < 0xf0 ? 2
	           : *s >= 0xf0 && *s < 0xf5 ? 3
	                                     : -1;

	if (more < 0) {
		return 0;
	}
	for (int i = 1; i <= more; i++) {
		if ((s[i] & 0xc0) != 0x80) {
			return 0;
		}
	}
	/* overlong forms, surrogates, beyond U+10FFFF */
	if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] >= 0xa0) ||
	    (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] >= 0x90)) {
		return 0;
	}
	return more + 1;
}

static void quote(FILE *out, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	putc('"', out);
	while (*s) {
		int length = utf8_length(s);

		if (length == 0) {
			fputs("\\ufffd", out);
			s++;
			continue;
		}
		if (*s == '"' || *s == '\\') {
			putc('\\', out);
		}
		if (*s < 0x20 || *s == 0x7f) {
			fprintf(out, "\\u%04x", *s);
		} else {
			fwrite(s, 1, (size_t)length, out);
		}
		s += length;
	}
	putc('"', out);
}

static void begin(struct json_writer *w, const char *key)
{
	if (w->depth || w->comma) {
		line_break(w);
	}
	w->comma = true;
	if (key) {
		quote(w->out, key);
		fputs(": ", w->out);
	}
}

void json_open(struct json_writer *w, const char *key, char bracket)
{
	begin(w, key);
	putc(bracket, w->out);
	w->depth++;
	w->comma = false;
}

void json_close(struct json_writer *w, char bracket)
{
	bool empty = !w->comma;

	w->depth--;
	if (!empty && !w->compact) {
		fprintf(w->out, "\n%*s", (int)(2 * w->depth), "");
	}
	putc(bracket == '{' || bracket == '}' ? '}' : ']', w->out);
	w->comma = true;
	if (w->depth == 0) {
		putc('\n', w->out);
		w->comma = false;
	}
}

void json_text(struct json_writer *w, const char *key, const char *value)
{
	if (!value) {
		json_null(w, key);
		return;
	}
	begin(w, key);
	quote(w->out, value);
}

void json_u64(struct json_writer *w, const char *key, uint64_t value)
{
	begin(w, key);
	fprintf(w->out, "%" PRIu64, value);
}

void json_i64(struct json_writer *w, const char *key, int64_t value)
{
	begin(w, key);
	fprintf(w->out, "%" PRId64, value);
}

void json_bool(struct json_writer *w, const char *key, bool value)
{
	begin(w, key);
	fputs(value ? "true" : "false", w->out);
}

void json_null(struct json_writer *w, const char *key)
{
	begin(w, key);
	fputs("null", w->out);
}

void json_ratio(struct json_writer *w, const char *key, uint64_t value, uint64_t divisor)
{
	uint64_t rest = value % divisor;

	begin(w, key);
	fprintf(w->out, "%" PRIu64, value / divisor);
	if (rest == 0) {
		return;
	}
	putc('.', w->out);
	/* 17 digits are enough for any double to come back as it was. */
	for (int digit = 0; rest != 0 && digit < 17 && rest <= UINT64_MAX / 10; digit++) {
		rest *= 10;
		putc((int)('0' + rest / divisor), w->out);
		rest %= divisor;
	}
}
