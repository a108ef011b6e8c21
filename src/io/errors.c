/* The list of errors of one input, and how one of them reads. */
#include "errors.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

size_t vc_errors_kept(const struct vc_error_list *list)
{
	return list->count < VC_MAX_ERRORS ? list->count : VC_MAX_ERRORS;
}

/* Cuts before a character that no longer fits whole, and marks the cut. */
static void cut(char *text, size_t size)
{
	size_t end = size - 4;

	while (end > 0 && ((unsigned char)text[end] & 0xC0) == 0x80) {
		end--;
	}
	memcpy(text + end, "...", 4);
}

static void copy_text(char *to, size_t size, const char *from)
{
	size_t length = strlen(from);

	if (length < size) {
		memcpy(to, from, length + 1);
		return;
	}
	memcpy(to, from, size - 1);
	to[size - 1] = '\0';
	cut(to, size);
}

void vc_errors_add(struct vc_error_list *list, const struct vc_place *place, const char *field,
                   const char *format, ...)
{
	struct vc_error error = { .status = VC_INVALID };
	va_list arguments;
	int length;

	copy_text(error.file, sizeof error.file, place->file ? place->file : "");
	copy_text(error.field, sizeof error.field, field);
	error.line = place->line;
	error.column = place->column;
	va_start(arguments, format);
	length = vsnprintf(error.message, sizeof error.message, format, arguments);
	va_end(arguments);
	if (length >= (int)sizeof error.message) {
		cut(error.message, sizeof error.message);
	}
	vc_errors_append(list, &error);
}

void vc_errors_append(struct vc_error_list *list, const struct vc_error *error)
{
	if (list->count < VC_MAX_ERRORS) {
		list->errors[list->count] = *error;
	}
	list->count++;
}

static size_t put(char *text, size_t at, const char *part)
{
	for (; *part && at < VC_ERROR_TEXT - 1; part++) {
		unsigned char c = (unsigned char)*part;

		text[at++] = c < 0x20 || c == 0x7F ? '?' : *part;
	}
	text[at] = '\0';
	return at;
}

char *vc_error_format(const struct vc_error *error, char text[VC_ERROR_TEXT])
{
	char place[32];
	size_t at = put(text, 0, error->file);

	if (error->line && error->column) {
		(void)snprintf(place, sizeof place, ":%u:%u", error->line, error->column);
		at = put(text, at, place);
	} else if (error->line) {
		(void)snprintf(place, sizeof place, ":%u", error->line);
		at = put(text, at, place);
	}
	if (at > 0) {
		at = put(text, at, ": ");
	}
	if (error->field[0]) {
		at = put(text, at, error->field);
		at = put(text, at, ": ");
	}
	(void)put(text, at, error->message);
	return text;
}

enum vc_status vc_errors_status(const struct vc_error_list *list)
{
	return list->count ? list->errors[0].status : VC_OK;
}
