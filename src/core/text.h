/* Building messages without stdio: append to a fixed buffer, cut at its end. */
#ifndef VC_TEXT_H
#define VC_TEXT_H

#include "vramcalc/vramcalc.h"

#include <stdarg.h>

/*
 * Sets status, field and message and returns status. The format knows %s (const char *) and %u
 * (uint64_t, cast by the caller), nothing else.
 */
enum vc_status vc_fail(struct vc_error *error, enum vc_status status, const char *field,
                       const char *format, ...);

/* The same format into `to`, cut at its end. */
void vc_format(char *to, size_t size, const char *format, ...);

/* Names compare without case and without separators: "A100 80GB" is "a100-80gb". */
bool vc_same_name(const char *a, const char *b);

#endif
