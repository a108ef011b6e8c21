/* The specs of well-known models that the program carries, as text. */
#ifndef VC_BUNDLED_H
#define VC_BUNDLED_H

#include <stdbool.h>
#include <stddef.h>

/*
 * `name` as `models` lists it ("llama-2-7b") or an alias such as its name on the Hugging Face hub,
 * compared without case and separators. The text is static and ends in a zero byte that `length`
 * leaves out.
 */
bool vc_bundled_find(const char *name, const char **text, size_t *length);

/* The names in order, for listing and for the nearest one: NULL past the end. */
const char *vc_bundled_name(size_t index);

#endif
