#include "json_read.h"

#include <stdio.h>
#include <string.h>

static void locate_offset(const char *text, size_t offset, uint32_t *line, uint32_t *column)
{
	*line = 1;
	*column = 1;
	for (size_t i = 0; i < offset; i++) {
		if (text[i] == '\n') {
			(*line)++;
			*column = 1;
		} else {
			(*column)++;
		}
	}
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static cJSON *parse_failed(const char *text, size_t offset, const char *message,
                           struct vc_error *error)
{
	*error = (struct vc_error){ .status = VC_INVALID };
	locate_offset(text, offset, &error->line, &error->column);
	snprintf(error->message, sizeof error->message, "%s", message);
	return NULL;
}

cJSON *json_parse(const char *text, size_t length, struct vc_error *error)
{
	const char *end = text;
	const char *nul = memchr(text, '\0', length);
	cJSON *tree;

	if (nul) {
		return parse_failed(text, (size_t)(nul - text), "NUL byte (expected JSON text)",
		                    error);
	}
	tree = cJSON_ParseWithLengthOpts(text, length, &end, false);
	if (!tree) {
		size_t offset = end >= text && end <= text + length ? (size_t)(end - text) : 0;

		return parse_failed(text, offset, "not valid JSON, or nested too deeply", error);
	}
	while (end < text + length && is_space(*end)) {
		end++;
	}
	if (end < text + length) {
		cJSON_Delete(tree);
		return parse_failed(text, (size_t)(end - text), "text after the JSON value", error);
	}
	return tree;
}

bool json_count(const cJSON *item, uint64_t *count)
{
	const double limit = 9007199254740992.0; /* 2^53: above it doubles skip integers */

	if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0) || item->valuedouble >= limit) {
		return false;
	}
	*count = (uint64_t)item->valuedouble;
	return (double)*count == item->valuedouble;
}

/* Most keys differ in their first letters: a call of strncmp() would cost more than it finds. */
static bool is_named(const char *key, const char *name, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (key[i] != name[i] || key[i] == '\0') {
			return false;
		}
	}
	return key[length] == '\0';
}

const cJSON *json_member(const cJSON *object, const char *name, size_t length)
{
	const cJSON *item;

	if (!cJSON_IsObject(object)) {
		return NULL;
	}
	cJSON_ArrayForEach(item, object)
	{
		if (is_named(item->string, name, length)) {
			return cJSON_IsNull(item) ? NULL : item;
		}
	}
	return NULL;
}

/* The end of the string whose opening quote is at `s`. */
static const char *skip_string(const char *s)
{
	for (s++; *s && *s != '"'; s++) {
		if (*s == '\\' && s[1]) {
			s++;
		}
	}
	return *s ? s + 1 : s;
}

static const char *skip_space(const char *s)
{
	while (is_space(*s)) {
		s++;
	}
	return s;
}

/* Follows the members of the object that opens at `s`; returns the named one's value. */
static const char *find_member(const char *s, const char *name, size_t length)
{
	int depth = 0;

	for (; *s; s++) {
		if (*s == '{' || *s == '[') {
			depth++;
		} else if (*s == '}' || *s == ']') {
			depth--;
		} else if (*s == '"') {
			const char *end = skip_string(s), *after = skip_space(end);

			if (depth == 1 && *after == ':' && (size_t)(end - s) == length + 2 &&
			    strncmp(s + 1, name, length) == 0) {
				return skip_space(after + 1);
			}
			s = end - 1;
		}
		if (depth == 0) {
			return NULL;
		}
	}
	return NULL;
}

bool json_locate(const char *text, const char *path, uint32_t *line, uint32_t *column)
{
	const char *at = skip_space(text);

	while (*path) {
		size_t length = strcspn(path, ".[");

		at = *at == '{' ? find_member(at, path, length) : NULL;
		if (!at) {
			return false;
		}
		path += length;
		if (*path == '[') { /* inside an array: its beginning must do */
			break;
		}
		path += *path == '.';
	}
	locate_offset(text, (size_t)(at - text), line, column);
	return true;
}
