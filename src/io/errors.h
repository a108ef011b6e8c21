/*
 * The errors of one input, all of them in one go. Full lists count on but keep no more: a reader
 * never has to stop, and a hostile file cannot print more than VC_MAX_ERRORS lines.
 */
#ifndef VC_ERRORS_H
#define VC_ERRORS_H

#include "vramcalc/vramcalc.h"

enum {
	VC_MAX_ERRORS = 20,
	VC_ERROR_TEXT = 800 /* room for any formatted error */
};

/* Zero-initialize before use; nothing to free. errors[0 .. min(count, VC_MAX_ERRORS)) are set. */
struct vc_error_list {
	size_t count;
	struct vc_error errors[VC_MAX_ERRORS];
};

/* A place in an input; line and column count from 1, 0 where there is none. */
struct vc_place {
	const char *file;
	uint32_t line, column;
};

size_t vc_errors_kept(const struct vc_error_list *list);

/* Appends; `field` may be "". Text that is too long is cut at a character, with dots. */
void vc_errors_add(struct vc_error_list *list, const struct vc_place *place, const char *field,
                   const char *format, ...)
#ifdef __GNUC__
        __attribute__((format(printf, 4, 5)))
#endif
        ;
void vc_errors_append(struct vc_error_list *list, const struct vc_error *error);

/*
 * Writes "FILE:LINE:COLUMN: FIELD: message" without a newline, leaving out what is not known.
 * Control characters become '?': what a file holds cannot drive the terminal. Returns `text`.
 */
char *vc_error_format(const struct vc_error *error, char text[VC_ERROR_TEXT]);

/* VC_OK when the list is empty, else the status of its first error. */
enum vc_status vc_errors_status(const struct vc_error_list *list);

#endif
