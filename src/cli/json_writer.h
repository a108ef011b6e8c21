/* A streaming JSON writer: exact 64-bit integers, two-space indent, valid UTF-8 out. */
#ifndef VC_JSON_WRITER_H
#define VC_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json_writer {
	FILE *out;
	bool compact; /* everything on one line, for NDJSON */
	unsigned depth;
	unsigned line_depth; /* depth of the value that json_open_line() put on one line; 0: none */
	bool comma;
};

/* `key` is NULL for the top value and inside arrays. `bracket` is '{' or '['. */
void json_open(struct json_writer *w, const char *key, char bracket);
/* The same, for a short value that is easier to read on one line. */
void json_open_line(struct json_writer *w, const char *key, char bracket);
void json_close(struct json_writer *w, char bracket);
void json_text(struct json_writer *w, const char *key, const char *value); /* NULL: null */
void json_u64(struct json_writer *w, const char *key, uint64_t value);
void json_i64(struct json_writer *w, const char *key, int64_t value);
void json_bool(struct json_writer *w, const char *key, bool value);
/* The value of a setting: a number or a truth value as such, anything else as text. */
void json_value(struct json_writer *w, const char *key, const char *value);
void json_null(struct json_writer *w, const char *key);
/* value / divisor in the fewest digits that are exact, or 17 behind the point. */
void json_ratio(struct json_writer *w, const char *key, uint64_t value, uint64_t divisor);

#endif
