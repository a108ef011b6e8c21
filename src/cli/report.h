/* What commands say on standard error, and names that may turn out to be unknown. */
#ifndef VC_CLI_REPORT_H
#define VC_CLI_REPORT_H

#include "catalog.h"
#include "errors.h"

#include <stdbool.h>

/* One line each. */
void report_errors(const struct vc_error_list *errors);
void report_error(const struct vc_error *error);
void report_no_memory(void);

/*
 * Adds the GPUs that `name` means to `gpus`, each once; `gpus` has room for the whole catalog.
 * False with a message that blames `field` at `place` when there is no such GPU.
 */
bool report_gpu(const struct vc_catalog *catalog, const char *name, const struct vc_place *place,
                const char *field, const struct vc_gpu **gpus, size_t *count);

#endif
