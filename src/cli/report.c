#include "report.h"

#include <stdio.h>

void report_error(const struct vc_error *error)
{
	char text[VC_ERROR_TEXT];

	fprintf(stderr, "%s\n", vc_error_format(error, text));
}

void report_errors_to(FILE *file, const struct vc_error_list *errors)
{
	size_t kept = vc_errors_kept(errors);
	char text[VC_ERROR_TEXT];

	for (size_t i = 0; i < kept; i++) {
		fprintf(file, "%s\n", vc_error_format(&errors->errors[i], text));
	}
	if (errors->count > kept) {
		fprintf(file, "vramcalc: %zu more errors are not shown\n", errors->count - kept);
	}
}

void report_errors(const struct vc_error_list *errors)
{
	report_errors_to(stderr, errors);
}

void report_no_memory(void)
{
	fprintf(stderr, "vramcalc: out of memory\n");
}

static void add_once(struct gpu_list *list, const struct vc_gpu *gpu)
{
	for (size_t i = 0; i < list->count; i++) {
		if (list->gpus[i] == gpu) {
			return;
		}
	}
	list->gpus[list->count++] = gpu;
}

bool report_gpu(const struct vc_catalog *catalog, const char *name, const struct name_place *place,
                struct gpu_list *list)
{
	const struct vc_gpu *found[64];
	size_t room = sizeof found / sizeof *found;
	size_t named = vc_catalog_find(catalog, name, found, room);
	const char *nearest = named ? NULL : vc_catalog_nearest(catalog, name);
	struct vc_place file = { .file = place->file };
	struct vc_error_list errors = { 0 };

	for (size_t i = 0; i < named && i < room; i++) {
		add_once(list, found[i]);
	}
	if (named) {
		return true;
	}
	if (nearest) {
		vc_errors_add(&errors, &file, place->field, "no such GPU \"%s\" (did you mean %s?)",
		              name, nearest);
	} else {
		vc_errors_add(&errors, &file, place->field,
		              "no such GPU \"%s\" (vramcalc gpus lists them)", name);
	}
	report_errors(&errors);
	return false;
}
