/* src/catalog/platforms.yaml as C: what users' platforms are laid over. */
#include "platforms.h"
#include "catalog_schema.h"
#include "platform.h"

#include <inttypes.h>
#include <string.h>

static void put(FILE *out, const char *text)
{
	embed_text(out, text);
	fputs(", ", out);
}

static void put_origin(FILE *out, const struct vc_origin *origin)
{
	fprintf(out, "{ 0, %" PRIu32 ", 0 } },\n", origin->line);
}

static void put_words(FILE *out, size_t index, size_t trait, const char *const *words)
{
	fprintf(out, "static const char *const words_%zu_%zu[] = { ", index, trait);
	for (; *words; words++) {
		put(out, *words);
	}
	fputs("0 };\n", out);
}

static void put_facts(FILE *out, const struct vc_platform *platform, size_t index)
{
	for (size_t i = 0; i < VC_PLATFORM_TRAITS; i++) {
		put_words(out, index, i, platform->traits[i]);
	}
	fprintf(out, "static const struct vc_platform_size sizes_%zu[] = {\n", index);
	for (size_t i = 0; i < platform->size_count; i++) {
		fprintf(out, "\t{ %" PRIu32 ", ", platform->sizes[i].gb);
		put(out, platform->sizes[i].vendor);
		put(out, platform->sizes[i].is);
		fputs("},\n", out);
	}
	fprintf(out, "};\nstatic const struct vc_platform_evidence evidence_%zu[] = {\n", index);
	for (size_t i = 0; i < platform->evidence_count; i++) {
		const struct vc_platform_evidence *evidence = &platform->evidence[i];

		fputs("\t{ ", out);
		put(out, evidence->about);
		put(out, evidence->grade);
		put(out, evidence->as_of);
		put(out, evidence->source);
		put(out, evidence->text);
		put(out, evidence->doubt);
		put_origin(out, &evidence->origin);
	}
	fputs("};\n", out);
}

static void put_platform(FILE *out, const struct vc_platform *platform, size_t index)
{
	fputs("\t{ ", out);
	put(out, platform->id);
	put(out, platform->name);
	put(out, platform->local_name);
	put(out, platform->kind);
	fputs("{\n", out);
	for (size_t i = 0; i < VC_CRITERIA; i++) {
		const struct vc_platform_cell *cell = &platform->cells[i];

		fprintf(out, "\t\t{ %d, %" PRIu32 ", ", cell->scored, cell->score_ppm);
		put(out, cell->is);
		put_origin(out, &cell->origin);
	}
	fputs("\t}, { ", out);
	for (size_t i = 0; i < VC_PLATFORM_TRAITS; i++) {
		fprintf(out, "words_%zu_%zu, ", index, i);
	}
	fprintf(out, "}, sizes_%zu, %zu, evidence_%zu, %zu, 0, ", index, platform->size_count,
	        index, platform->evidence_count);
	put_origin(out, &platform->origin);
}

static void put_file(FILE *out, const struct vc_catalog_file *file)
{
	fputs("#include \"platform.h\"\nconst char vc_platforms_as_of[] = ", out);
	embed_text(out, file->as_of);
	fputs(";\nconst char vc_platforms_compared[] = ", out);
	embed_text(out, file->compared);
	fputs(";\nconst struct vc_criterion vc_criteria[VC_CRITERIA] = {\n", out);
	for (size_t i = 0; i < VC_CRITERIA; i++) {
		fputs("\t{ ", out);
		put(out, file->criteria[i].id);
		put(out, file->criteria[i].name);
		put(out, file->criteria[i].question);
		put(out, file->criteria[i].rubric);
		fputs("},\n", out);
	}
	fputs("};\n", out);
}

static void put_platforms(FILE *out, const struct vc_catalog_draft *draft)
{
	for (size_t i = 0; i < draft->platform_count; i++) {
		put_facts(out, &draft->platforms[i], i);
	}
	fputs("static const struct vc_platform platforms[] = {\n", out);
	for (size_t i = 0; i < draft->platform_count; i++) {
		put_platform(out, &draft->platforms[i], i);
	}
	fputs("};\n", out);
}

bool embed_platforms(FILE *out, const struct vc_catalog_text *source,
                     struct vc_catalog_draft *draft)
{
	struct vc_catalog_file *file = vc_catalog_file_load(draft, source);
	struct vc_criterion criteria[VC_CRITERIA];

	if (!file) {
		return false;
	}
	if (file->as_of && file->compared && file->criteria_count == VC_CRITERIA) {
		for (size_t i = 0; i < VC_CRITERIA; i++) {
			criteria[i] = (struct vc_criterion){ .id = file->criteria[i].id };
		}
		draft->criteria = criteria;
		vc_catalog_lay_platforms(draft, source, file);
		draft->criteria = NULL;
		put_file(out, file);
		put_platforms(out, draft);
	} else {
		vc_catalog_refuse(draft, source, "", "as_of, compared or a criterion is missing");
	}
	vc_catalog_file_free(file);
	return draft->errors->count == draft->errors_before;
}
