/* What commands say on standard error, and names that may turn out to be unknown. */
#ifndef VC_CLI_REPORT_H
#define VC_CLI_REPORT_H

#include "catalog.h"
#include "errors.h"

#include <stdbool.h>
#include <stdio.h>

/* One line each. */
void report_errors(const struct vc_error_list *errors);
void report_errors_to(FILE *file, const struct vc_error_list *errors);
void report_error(const struct vc_error *error);
void report_no_memory(void);

/* GPUs by name; the lists hold each once, in the order of the names. */
struct gpu_list {
	const struct vc_gpu **gpus; /* room for the whole catalog */
	size_t count;
};

/* Where a name was given, for messages: "model.yaml" and "hardware.gpus". */
struct name_place {
	const char *file, *field;
};

/* Adds what `name` means; false with a message when there is no such GPU. */
bool report_gpu(const struct vc_catalog *catalog, const char *name, const struct name_place *place,
                struct gpu_list *list);

#endif
