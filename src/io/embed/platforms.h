/* The platforms, read for embedding. */
#ifndef VC_EMBED_PLATFORMS_H
#define VC_EMBED_PLATFORMS_H

#include "catalog_draft.h"

#include <stdio.h>

/* A C string of any text. */
void embed_text(FILE *out, const char *text);

/* Reads the platforms into the draft and writes what platform.h declares and `platforms`; false
 * with what is wrong in the draft's errors. */
bool embed_platforms(FILE *out, const struct vc_catalog_text *source,
                     struct vc_catalog_draft *draft);

#endif
