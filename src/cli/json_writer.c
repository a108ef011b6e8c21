/*
 * cJSON prints integers through a double and loses digits from 2^53 on; byte counts are exact, so
 * they are written here as they are.
 */
#include "json_writer.h"

#include "print_text.h"
#include "quantity.h"

#include <inttypes.h>
#include <string.h>

static bool on_one_line(const struct json_writer *w)
{
	return w->compact || w->line_depth;
}

static void line_break(struct json_writer *w)
{
	if (on_one_line(w)) {
		fputs(w->comma ? ", " : "", w->out);
	} else {
		fputs(w->comma ? ",\n" : w->depth ? "\n" : "", w->out);
		fprintf(w->out, "%*s", (int)(2 * w->depth), "");
	}
}

/* Bytes that need nothing: keys and most texts as a whole. */
static size_t plain_length(const char *text)
{
	size_t length = 0;

	while ((unsigned char)(text[length] - 0x20) < 0x7f - 0x20 && text[length] != '"' &&
	       text[length] != '\\') {
		length++;
	}
	return length;
}

static void quote_character(FILE *out, const char *text, size_t length)
{
	if (length == 0) {
		fputs("\\ufffd", out);
		return;
	}
	if (*text == '"' || *text == '\\') {
		putc('\\', out);
	}
	if (length == 1 && (*text < 0x20 || *text == 0x7f)) {
		fprintf(out, "\\u%04x", *text);
	} else {
		fwrite(text, 1, length, out);
	}
}

static void quote(FILE *out, const char *text)
{
	putc('"', out);
	while (*text) {
		size_t length = plain_length(text);

		if (length) {
			fwrite(text, 1, length, out);
		} else {
			length = text_utf8_length(text);
			quote_character(out, text, length);
			length += length == 0;
		}
		text += length;
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

void json_open_line(struct json_writer *w, const char *key, char bracket)
{
	json_open(w, key, bracket);
	if (!w->line_depth) {
		w->line_depth = w->depth;
	}
}

void json_close(struct json_writer *w, char bracket)
{
	bool empty = !w->comma;

	w->depth--;
	if (w->line_depth > w->depth) {
		w->line_depth = 0;
	} else if (!empty && !on_one_line(w)) {
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

void json_value(struct json_writer *w, const char *key, const char *value)
{
	uint64_t number;

	if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0) {
		json_bool(w, key, *value == 't');
	} else if (vc_quantity_parse(VC_QUANTITY_COUNT, value, &number) == VC_QUANTITY_OK) {
		json_u64(w, key, number);
	} else {
		json_text(w, key, value);
	}
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
