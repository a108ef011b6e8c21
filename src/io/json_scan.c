#include "json_scan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	MAX_DEPTH = 32
};

bool vc_scan_good(const struct vc_json_scan *scan)
{
	return scan->error->status == VC_OK;
}

bool vc_scan_fail(struct vc_json_scan *scan, uint64_t offset, const char *what)
{
	struct vc_error *error = scan->error;

	if (error->status == VC_OK) {
		error->status = scan->stream->failed ? VC_IO : VC_INVALID;
		(void)snprintf(error->message, sizeof error->message, "%.220s at byte %" PRIu64,
		               scan->stream->failed ? "cannot be read" : what, offset);
	}
	return false;
}

/* The next byte, blanks included; -1 at the end. */
static int peek_byte(struct vc_json_scan *scan)
{
	if (!vc_scan_good(scan) || scan->stream->offset >= scan->end) {
		return -1;
	}
	return vc_stream_peek(scan->stream);
}

static int take_byte(struct vc_json_scan *scan)
{
	int byte = peek_byte(scan);

	if (byte >= 0) {
		vc_stream_step(scan->stream);
	}
	return byte;
}

int vc_scan_peek(struct vc_json_scan *scan)
{
	int byte;

	while ((byte = peek_byte(scan)) == ' ' || byte == '\n' || byte == '\t' || byte == '\r') {
		vc_stream_step(scan->stream);
	}
	return byte;
}

bool vc_scan_take(struct vc_json_scan *scan, char wanted)
{
	char what[64];
	int byte = vc_scan_peek(scan);

	if (byte == wanted) {
		vc_stream_step(scan->stream);
		return true;
	}
	(void)snprintf(what, sizeof what, "%s ('%c' is expected)",
	               byte < 0 ? "the JSON ends early" : "is not the JSON of this format", wanted);
	return vc_scan_fail(scan, scan->stream->offset, what);
}

bool vc_scan_next(struct vc_json_scan *scan, char closing, bool *first)
{
	if (vc_scan_peek(scan) == closing) {
		(void)vc_scan_take(scan, closing);
		return false;
	}
	if (!*first && !vc_scan_take(scan, ',')) {
		return false;
	}
	*first = false;
	return vc_scan_good(scan);
}

/* ---- Strings ----------------------------------------------------------------------------------
 */

struct text {
	char *bytes;
	size_t room, length;
};

static void put(struct text *text, unsigned byte)
{
	if (text->length < text->room) {
		text->bytes[text->length] = (char)byte;
	}
	text->length++;
}

static void put_character(struct text *text, uint32_t value)
{
	if (value < 0x80) {
		put(text, value);
	} else if (value < 0x800) {
		put(text, 0xC0 | value >> 6);
		put(text, 0x80 | (value & 0x3F));
	} else if (value < 0x10000) {
		put(text, 0xE0 | value >> 12);
		put(text, 0x80 | (value >> 6 & 0x3F));
		put(text, 0x80 | (value & 0x3F));
	} else {
		put(text, 0xF0 | value >> 18);
		put(text, 0x80 | (value >> 12 & 0x3F));
		put(text, 0x80 | (value >> 6 & 0x3F));
		put(text, 0x80 | (value & 0x3F));
	}
}

/* Four hexadecimal digits; 0, which no string may hold, when they are none. */
static uint32_t take_hex(struct vc_json_scan *scan)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";
	uint32_t value = 0;

	for (int i = 0; i < 4; i++) {
		int byte = take_byte(scan);
		const char *digit = byte > 0 ? strchr(digits, byte) : NULL;

		if (!digit) {
			return 0;
		}
		value = value << 4 | (uint32_t)((digit - digits) & 15);
	}
	return value;
}

/* The character that \u stands for, pairs of surrogates joined; 0 for a mistake. */
static uint32_t take_unicode(struct vc_json_scan *scan)
{
	uint32_t high = take_hex(scan), low;

	if ((high & 0xF800) != 0xD800) {
		return high;
	}
	if ((high & 0x400) || take_byte(scan) != '\\' || take_byte(scan) != 'u') {
		return 0;
	}
	low = take_hex(scan);
	return (low & 0xFC00) == 0xDC00 ? 0x10000 + ((high & 0x3FF) << 10) + (low & 0x3FF) : 0;
}

static bool take_escape(struct vc_json_scan *scan, struct text *text)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	int byte = take_byte(scan);
	const char *simple = byte > 0 ? strchr(from, byte) : NULL;
	uint32_t value = simple ? (unsigned char)to[simple - from] : 0;

	if (byte == 'u') {
		value = take_unicode(scan);
	}
	put_character(text, value);
	return value != 0;
}

/* `bytes` may be NULL: the string is passed over. */
static bool take_string(struct vc_json_scan *scan, char *bytes, size_t size)
{
	struct text text = { bytes, bytes ? size - 1 : 0, 0 };
	uint64_t offset;
	int byte;

	(void)vc_scan_peek(scan);
	offset = scan->stream->offset;
	if (!vc_scan_take(scan, '"')) {
		return false;
	}
	while ((byte = take_byte(scan)) != '"') {
		if (byte < 0) {
			return vc_scan_fail(scan, offset, "a string has no end");
		}
		if (byte < 0x20 || (byte == '\\' && !take_escape(scan, &text))) {
			return vc_scan_fail(scan, scan->stream->offset - 1,
			                    "a string holds what JSON does not allow");
		}
		if (byte != '\\') {
			put(&text, (unsigned)byte);
		}
	}
	if (!bytes) {
		return true;
	}
	if (text.length > text.room) {
		return vc_scan_fail(scan, offset, "a string is too long");
	}
	bytes[text.length] = '\0';
	return true;
}

bool vc_scan_string(struct vc_json_scan *scan, char *text, size_t size)
{
	return take_string(scan, text, size);
}

bool vc_scan_count(struct vc_json_scan *scan, uint64_t *value)
{
	int byte = vc_scan_peek(scan);
	uint64_t offset = scan->stream->offset;
	bool good = byte >= '0' && byte <= '9';

	*value = 0;
	for (; (byte = peek_byte(scan)) >= '0' && byte <= '9' && good;
	     vc_stream_step(scan->stream)) {
		uint64_t digit = (uint64_t)(byte - '0');

		good = *value <= (INT64_MAX - digit) / 10;
		*value = *value * 10 + digit;
	}
	if (!good || byte == '.' || byte == 'e' || byte == 'E') {
		return vc_scan_fail(scan, offset, "is not a whole number below 2^63");
	}
	return true;
}

/* ---- Passing over -----------------------------------------------------------------------------
 */

/* A number, true, false or null, judged by its letters alone: nothing depends on it. */
static void skip_word(struct vc_json_scan *scan)
{
	uint64_t offset = scan->stream->offset;
	int byte = vc_scan_peek(scan);

	if (byte < 0 || !strchr("-0123456789tfn", byte)) {
		(void)vc_scan_fail(scan, offset, "is not JSON");
		return;
	}
	while ((byte = peek_byte(scan)) > 0 &&
	       strchr("+-.0123456789abcdefghijklmnopqrstuvwxyzE", byte)) {
		vc_stream_step(scan->stream);
	}
}

void vc_scan_skip(struct vc_json_scan *scan)
{
	char closing[MAX_DEPTH] = { 0 };
	bool first[MAX_DEPTH];
	uint32_t depth = 0;

	do {
		int byte;

		if (depth > 0 && !vc_scan_next(scan, closing[depth - 1], &first[depth - 1])) {
			depth--;
			continue;
		}
		if (depth > 0 && closing[depth - 1] == '}') {
			(void)(take_string(scan, NULL, 0) && vc_scan_take(scan, ':'));
		}
		byte = vc_scan_peek(scan);
		if (byte == '"') {
			(void)take_string(scan, NULL, 0);
		} else if (byte != '{' && byte != '[') {
			skip_word(scan);
		} else if (depth == MAX_DEPTH) {
			(void)vc_scan_fail(scan, scan->stream->offset, "is nested too deep");
		} else {
			(void)vc_scan_take(scan, (char)byte);
			closing[depth] = byte == '{' ? '}' : ']';
			first[depth++] = true;
		}
	} while (depth > 0 && vc_scan_good(scan));
}
