/* src/catalog/platforms.yaml: the schema, what must hold, and the tables as C. */
#include "platforms.h"
#include "platform.h"
#include "quantity.h"
#include "yaml_guard.h"

#include <cyaml/cyaml.h>
#include <inttypes.h>
#include <string.h>

struct criterion {
	char *id, *name, *question, *rubric;
};

struct size {
	uint64_t gb;
	char *vendor, *is;
};

struct cell {
	char *criterion, *score, *is;
};

struct evidence {
	char *about, *grade, *as_of, *source, *text, *doubt;
};

struct words {
	char **words;
	uint32_t count;
};

struct platform {
	char *id, *name, *local_name, *kind;
	char **slicing, **compliance, **frameworks, **fits;
	struct size *sizes;
	struct cell *cells;
	struct evidence *evidence;
	uint32_t slicing_count, compliance_count, frameworks_count, fits_count;
	uint32_t sizes_count, cells_count, evidence_count;
};

struct file {
	uint64_t version;
	char *as_of, *compared;
	struct criterion *criteria;
	struct platform *platforms;
	uint32_t criteria_count, platforms_count;
};

#define TEXT(type, member)                                                                         \
	CYAML_FIELD_STRING_PTR(#member, CYAML_FLAG_POINTER, struct type, member, 1, 512)
#define TEXT_IF_ANY(type, member)                                                                  \
	CYAML_FIELD_STRING_PTR(#member, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct type,     \
	                       member, 1, 512)
#define LIST(type, member, schema, least, most)                                                    \
	CYAML_FIELD_SEQUENCE(#member, CYAML_FLAG_POINTER, struct type, member, schema, least, most)
#define WORDS(member)                                                                              \
	CYAML_FIELD_SEQUENCE(#member, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct platform,   \
	                     member, &word_value, 1, 16)

static const cyaml_schema_value_t word_value = {
	CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char *, 1, 64),
};

static const cyaml_schema_field_t criterion_fields[] = {
	TEXT(criterion, id),     TEXT(criterion, name), TEXT(criterion, question),
	TEXT(criterion, rubric), CYAML_FIELD_END,
};
static const cyaml_schema_value_t criterion_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct criterion, criterion_fields),
};

static const cyaml_schema_field_t size_fields[] = {
	CYAML_FIELD_UINT("gb", CYAML_FLAG_DEFAULT, struct size, gb),
	TEXT(size, vendor),
	TEXT(size, is),
	CYAML_FIELD_END,
};
static const cyaml_schema_value_t size_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct size, size_fields),
};

static const cyaml_schema_field_t cell_fields[] = {
	TEXT(cell, criterion),
	TEXT(cell, score),
	TEXT_IF_ANY(cell, is),
	CYAML_FIELD_END,
};
static const cyaml_schema_value_t cell_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct cell, cell_fields),
};

static const cyaml_schema_field_t evidence_fields[] = {
	TEXT(evidence, about),  TEXT(evidence, grade), TEXT(evidence, as_of),
	TEXT(evidence, source), TEXT(evidence, text),  TEXT_IF_ANY(evidence, doubt),
	CYAML_FIELD_END,
};
static const cyaml_schema_value_t evidence_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct evidence, evidence_fields),
};

static const cyaml_schema_field_t platform_fields[] = {
	TEXT(platform, id),
	TEXT(platform, name),
	TEXT(platform, local_name),
	TEXT(platform, kind),
	WORDS(slicing),
	WORDS(compliance),
	WORDS(frameworks),
	WORDS(fits),
	LIST(platform, sizes, &size_value, 1, 32),
	LIST(platform, cells, &cell_value, VC_CRITERIA, VC_CRITERIA),
	LIST(platform, evidence, &evidence_value, 1, 64),
	CYAML_FIELD_END,
};
static const cyaml_schema_value_t platform_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct platform, platform_fields),
};

static const cyaml_schema_field_t file_fields[] = {
	CYAML_FIELD_UINT("version", CYAML_FLAG_DEFAULT, struct file, version),
	TEXT(file, as_of),
	TEXT(file, compared),
	LIST(file, criteria, &criterion_value, VC_CRITERIA, VC_CRITERIA),
	LIST(file, platforms, &platform_value, 1, 64),
	CYAML_FIELD_END,
};
static const cyaml_schema_value_t schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct file, file_fields),
};

struct writer {
	FILE *out;
	const struct file *file;
	struct vc_place place;
	struct vc_error_list *errors;
};

static void put(const struct writer *w, const char *text)
{
	embed_text(w->out, text ? text : "");
	fputs(", ", w->out);
}

static void put_words(const struct writer *w, const char *name, uint32_t index, struct words words)
{
	fprintf(w->out, "static const char *const %s_%" PRIu32 "[] = { ", name, index);
	for (uint32_t i = 0; i < words.count; i++) {
		put(w, words.words[i]);
	}
	fputs("0 };\n", w->out);
}

static void put_facts(const struct writer *w, const struct platform *platform, uint32_t index)
{
	put_words(w, "slicing", index,
	          (struct words){ platform->slicing, platform->slicing_count });
	put_words(w, "compliance", index,
	          (struct words){ platform->compliance, platform->compliance_count });
	put_words(w, "frameworks", index,
	          (struct words){ platform->frameworks, platform->frameworks_count });
	put_words(w, "fits", index, (struct words){ platform->fits, platform->fits_count });
	fprintf(w->out, "static const struct vc_platform_size sizes_%" PRIu32 "[] = {\n", index);
	for (uint32_t i = 0; i < platform->sizes_count; i++) {
		fprintf(w->out, "\t{ %" PRIu64 ", ", platform->sizes[i].gb);
		put(w, platform->sizes[i].vendor);
		put(w, platform->sizes[i].is);
		fputs("},\n", w->out);
	}
	fprintf(w->out, "};\nstatic const struct vc_platform_evidence evidence_%" PRIu32 "[] = {\n",
	        index);
	for (uint32_t i = 0; i < platform->evidence_count; i++) {
		const struct evidence *evidence = &platform->evidence[i];

		fputs("\t{ ", w->out);
		put(w, evidence->about);
		put(w, evidence->grade);
		put(w, evidence->as_of);
		put(w, evidence->source);
		put(w, evidence->text);
		put(w, evidence->doubt);
		fputs("},\n", w->out);
	}
	fputs("};\n", w->out);
}

/* A cell; they have to stand in the order of the criteria. */
static void put_cell(const struct writer *w, const struct platform *platform, uint32_t i)
{
	const struct cell *cell = &platform->cells[i];
	bool scored = strcmp(cell->score, "unknown") != 0;
	uint64_t ppm = 0;

	if (strcmp(cell->criterion, w->file->criteria[i].id) != 0) {
		vc_errors_add(w->errors, &w->place, platform->id,
		              "%s stands where %s belongs (the order of criteria)", cell->criterion,
		              w->file->criteria[i].id);
	}
	if (scored && (vc_quantity_parse(VC_QUANTITY_PPM, cell->score, &ppm) != VC_QUANTITY_OK ||
	               ppm > 1000000)) {
		vc_errors_add(w->errors, &w->place, platform->id,
		              "score '%s' is neither unknown nor from 0 to 1", cell->score);
	}
	fprintf(w->out, "\t\t{ %d, %" PRIu64 ", ", scored, ppm);
	put(w, cell->is);
	fputs("},\n", w->out);
}

static void put_platform(const struct writer *w, const struct platform *platform, uint32_t index)
{
	fputs("\t{ ", w->out);
	put(w, platform->id);
	put(w, platform->name);
	put(w, platform->local_name);
	put(w, platform->kind);
	fputs("{\n", w->out);
	for (uint32_t i = 0; i < VC_CRITERIA; i++) {
		put_cell(w, platform, i);
	}
	fprintf(w->out,
	        "\t}, { slicing_%" PRIu32 ", compliance_%" PRIu32 ", frameworks_%" PRIu32
	        ", fits_%" PRIu32 " }, ",
	        index, index, index, index);
	fprintf(w->out, "sizes_%" PRIu32 ", %" PRIu32 ", evidence_%" PRIu32 ", %" PRIu32 " },\n",
	        index, platform->sizes_count, index, platform->evidence_count);
}

static void put_file(const struct writer *w)
{
	const struct file *file = w->file;

	fputs("#include \"platform.h\"\nconst char vc_platforms_as_of[] = ", w->out);
	embed_text(w->out, file->as_of);
	fputs(";\nconst char vc_platforms_compared[] = ", w->out);
	embed_text(w->out, file->compared);
	fputs(";\nconst struct vc_criterion vc_criteria[VC_CRITERIA] = {\n", w->out);
	for (uint32_t i = 0; i < VC_CRITERIA; i++) {
		fputs("\t{ ", w->out);
		put(w, file->criteria[i].id);
		put(w, file->criteria[i].name);
		put(w, file->criteria[i].question);
		put(w, file->criteria[i].rubric);
		fputs("},\n", w->out);
	}
	fputs("};\n", w->out);
	for (uint32_t i = 0; i < file->platforms_count; i++) {
		put_facts(w, &file->platforms[i], i);
	}
	fputs("const struct vc_platform vc_platforms[] = {\n", w->out);
	for (uint32_t i = 0; i < file->platforms_count; i++) {
		put_platform(w, &file->platforms[i], i);
	}
	fprintf(w->out, "};\nconst size_t vc_platform_count = %" PRIu32 ";\n",
	        file->platforms_count);
}

bool embed_platforms(FILE *out, const struct vc_catalog_text *source, struct vc_error_list *errors)
{
	static const cyaml_config_t config = { .mem_fn = cyaml_mem, .flags = CYAML_CFG_NO_ALIAS };
	const struct vc_guard guard = { .schema = &schema, .file = source->name, .path = "" };
	struct writer writer = { .out = out, .place = { .file = source->name }, .errors = errors };
	size_t before = errors->count;
	cyaml_data_t *file = NULL;
	cyaml_err_t problem;

	if (!vc_yaml_guard(&guard, source->text, source->length, errors)) {
		return false;
	}
	problem = cyaml_load_data((const uint8_t *)source->text, source->length, &config, &schema,
	                          &file, NULL);
	if (problem != CYAML_OK) {
		vc_errors_add(errors, &writer.place, "", "%s", cyaml_strerror(problem));
		return false;
	}
	writer.file = file;
	put_file(&writer);
	cyaml_free(&config, &schema, file, 0);
	return errors->count == before;
}
