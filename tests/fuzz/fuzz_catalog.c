/* Users' catalog files: any bytes give a catalog or errors, and what is opened can be closed. */
#include "catalog_draft.h"
#include "platform.h"
#include "utf8.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What the files are laid over: small, so that many are tried. */
static const char *const no_aliases[] = { NULL };
static const struct vc_catalog_gpu gpus[] = {
	{ .gpu = { .id = "t4",
	           .name = "Tesla T4",
	           .family = "T4",
	           .architecture = "",
	           .aliases = no_aliases,
	           .memory_bytes = UINT64_C(16000000000) },
	  .form = "",
	  .memory_type = "",
	  .link_scope = "",
	  .note = "",
	  .sources = "",
	  .mig_table = "" },
};
static const struct vc_criterion criteria[VC_CRITERIA] = {
	{ .id = "memory" },       { .id = "billing" },    { .id = "slicing" },
	{ .id = "interconnect" }, { .id = "frameworks" }, { .id = "support" },
};
static const struct vc_catalog base = { .gpus = gpus, .count = 1, .criteria = criteria };

/* Every string of the result is read to its end. */
static size_t touch(const struct vc_catalog *catalog)
{
	size_t total = 0;

	for (size_t i = 0; i < catalog->count; i++) {
		const struct vc_gpu *gpu = &catalog->gpus[i].gpu;
		const struct vc_gpu *found;

		total += strlen(gpu->id) + strlen(gpu->name) + strlen(gpu->family);
		total += vc_catalog_find(catalog, gpu->id, &found, 1);
		total += gpu->price.known ? strlen(gpu->price.offer) : 0;
		total += gpu->origin ? strlen(gpu->origin) : 0;
		total += strlen(catalog->gpus[i].sources);
	}
	for (size_t i = 0; i < catalog->platform_count; i++) {
		const struct vc_platform *platform = &catalog->platforms[i];

		total += strlen(platform->id) + strlen(platform->kind);
		for (size_t j = 0; j < VC_CRITERIA; j++) {
			total += strlen(platform->cells[j].is);
		}
		for (size_t j = 0; j < platform->evidence_count; j++) {
			total += strlen(platform->evidence[j].text) +
			         strlen(platform->evidence[j].origin.text);
		}
	}
	return total;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vc_error_list errors = { .count = 0 };
	struct vc_catalog_text source = { .name = "fuzz", .length = size };
	struct vc_catalog_draft draft;
	struct vc_text_mark mark;
	struct vc_catalog catalog;
	char *text = malloc(size + 1);

	if (!text) {
		return 0;
	}
	memcpy(text, data, size);
	text[size] = 0;
	source.text = text;
	if (!vc_text_problem(text, size, &mark) && vc_draft_start(&draft, &base, &errors)) {
		if (size && text[0] == 'c') {
			vc_draft_read_offers(&draft, &source);
		} else {
			vc_text_join_surrogates(text, size);
			vc_draft_read_yaml(&draft, &source);
		}
		if (vc_draft_finish(&draft, NULL, &catalog)) {
			if (touch(&catalog) == SIZE_MAX) {
				abort();
			}
			vc_catalog_close(&catalog);
		} else if (errors.count == 0) {
			abort();
		}
	}
	free(text);
	return 0;
}
