/* The MIG tables, read for embedding. */
#ifndef VC_EMBED_MIG_H
#define VC_EMBED_MIG_H

#include "catalog_draft.h"

#include <stdio.h>

/* Writes vc_mig_tables and vc_mig_table_count; false with what is wrong in `errors`. */
bool embed_mig(FILE *out, const struct vc_catalog_text *source, struct vc_error_list *errors);

#endif
