/* Turns a config.json, a weight file or a bundled model into a spec to be edited. */
#ifndef VC_IMPORT_H
#define VC_IMPORT_H

#include "errors.h"

#include <stdio.h>

/*
 * Writes the spec of what `source` names, a SPEC of any kind but a spec file, with comments. Read
 * back it gives the same estimate as `source` itself. Nothing is written on failure.
 */
enum vc_status vc_import(const char *source, FILE *out, struct vc_error_list *errors);

#endif
