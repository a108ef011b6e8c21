/* One row per key of a catalog file. docs/catalog.md explains them. */
#include "catalog_schema.h"
#include "platform.h"
#include "yaml_guard.h"
#include "yaml_place.h"

#include <cyaml/cyaml.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#define TEXT(key, type)                                                                            \
	CYAML_FIELD_STRING_PTR(#key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type, key, 1, 1024)
#define NUMBER(key, type)                                                                          \
	CYAML_FIELD_UINT_PTR(#key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type, key)
#define FLAG(key, type)                                                                            \
	CYAML_FIELD_BOOL_PTR(#key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type, key)
#define CHOICE(key, type, names)                                                                   \
	CYAML_FIELD_ENUM_PTR(#key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL | CYAML_FLAG_STRICT,   \
	                     type, key, names, CYAML_ARRAY_LEN(names))

static const cyaml_strval_t vendors[] = {
	{ "other", VC_VENDOR_OTHER },   { "nvidia", VC_VENDOR_NVIDIA },
	{ "amd", VC_VENDOR_AMD },       { "intel", VC_VENDOR_INTEL },
	{ "google", VC_VENDOR_GOOGLE }, { "huawei", VC_VENDOR_HUAWEI },
	{ "apple", VC_VENDOR_APPLE },
};

static const cyaml_strval_t links[] = {
	{ "unknown", VC_LINK_UNKNOWN },   { "none", VC_LINK_NONE }, { "nvlink", VC_LINK_NVLINK },
	{ "nvswitch", VC_LINK_NVSWITCH }, { "xgmi", VC_LINK_XGMI }, { "other", VC_LINK_OTHER },
};

static const cyaml_strval_t supports[] = {
	{ "bf16", VC_SUPPORTS_BF16 },
	{ "fp8", VC_SUPPORTS_FP8 },
	{ "fp4", VC_SUPPORTS_FP4 },
	{ "int8", VC_SUPPORTS_INT8 },
};

static const cyaml_schema_value_t alias_value = {
	CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char *, 1, 128),
};

static const cyaml_schema_value_t support_value = {
	CYAML_VALUE_ENUM(CYAML_FLAG_STRICT, enum vc_support, supports, CYAML_ARRAY_LEN(supports)),
};

static const cyaml_schema_field_t citation_fields[] = {
	TEXT(memory, struct vc_gpu_sources),
	TEXT(usable, struct vc_gpu_sources),
	TEXT(bandwidth, struct vc_gpu_sources),
	TEXT(link, struct vc_gpu_sources),
	TEXT(mig, struct vc_gpu_sources),
	TEXT(tdp, struct vc_gpu_sources),
	TEXT(compute_capability, struct vc_gpu_sources),
	CYAML_FIELD_END,
};

static const cyaml_schema_field_t gpu_fields[] = {
	CYAML_FIELD_STRING_PTR("id", CYAML_FLAG_POINTER, struct vc_gpu_row, id, 1, 64),
	TEXT(name, struct vc_gpu_row),
	CYAML_FIELD_SEQUENCE("aliases", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct vc_gpu_row,
	                     aliases, &alias_value, 0, 16),
	TEXT(family, struct vc_gpu_row),
	FLAG(documented, struct vc_gpu_row),
	CHOICE(vendor, struct vc_gpu_row, vendors),
	TEXT(architecture, struct vc_gpu_row),
	TEXT(compute_capability, struct vc_gpu_row),
	TEXT(form, struct vc_gpu_row),
	NUMBER(memory_gb, struct vc_gpu_row),
	NUMBER(driver_mib, struct vc_gpu_row),
	NUMBER(usable_mib, struct vc_gpu_row),
	FLAG(usable_derived, struct vc_gpu_row),
	TEXT(memory_type, struct vc_gpu_row),
	CYAML_FIELD_SEQUENCE("supports", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
	                     struct vc_gpu_row, supports, &support_value, 0, 4),
	NUMBER(bandwidth_gbs, struct vc_gpu_row),
	CHOICE(link, struct vc_gpu_row, links),
	NUMBER(link_gbs, struct vc_gpu_row),
	TEXT(link_scope, struct vc_gpu_row),
	NUMBER(link_gpus, struct vc_gpu_row),
	NUMBER(pcie_generation, struct vc_gpu_row),
	NUMBER(pcie_lanes, struct vc_gpu_row),
	TEXT(mig_table, struct vc_gpu_row),
	NUMBER(mig_instances, struct vc_gpu_row),
	NUMBER(tdp_watts, struct vc_gpu_row),
	NUMBER(devices_per_board, struct vc_gpu_row),
	TEXT(price_per_hour, struct vc_gpu_row),
	TEXT(currency, struct vc_gpu_row),
	TEXT(price_as_of, struct vc_gpu_row),
	FLAG(verified, struct vc_gpu_row),
	FLAG(hidden, struct vc_gpu_row),
	CYAML_FIELD_MAPPING_PTR("sources", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
	                        struct vc_gpu_row, sources, citation_fields),
	TEXT(note, struct vc_gpu_row),
	CYAML_FIELD_END,
};

static const cyaml_schema_field_t source_fields[] = {
	CYAML_FIELD_STRING_PTR("id", CYAML_FLAG_POINTER, struct vc_source_row, id, 1, 64),
	CYAML_FIELD_STRING_PTR("ref", CYAML_FLAG_POINTER, struct vc_source_row, ref, 1, 1024),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t gpu_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct vc_gpu_row, gpu_fields),
};

static const cyaml_schema_value_t source_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct vc_source_row, source_fields),
};

/* ---- Platforms ---- */

#define REQUIRED(key, type) CYAML_FIELD_STRING_PTR(#key, CYAML_FLAG_POINTER, type, key, 1, 512)
#define LIST(key, type, value, most)                                                               \
	CYAML_FIELD_SEQUENCE(#key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type, key, value, 0,  \
	                     most)

static const cyaml_schema_value_t word_value = {
	CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char *, 1, 64),
};

static const cyaml_schema_field_t size_fields[] = {
	CYAML_FIELD_UINT("gb", CYAML_FLAG_DEFAULT, struct vc_size_row, gb),
	REQUIRED(vendor, struct vc_size_row),
	REQUIRED(is, struct vc_size_row),
	CYAML_FIELD_END,
};
static const cyaml_schema_value_t size_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct vc_size_row, size_fields),
};

static const cyaml_schema_field_t cell_fields[] = {
	REQUIRED(criterion, struct vc_cell_row),
	REQUIRED(score, struct vc_cell_row),
	TEXT(is, struct vc_cell_row),
	CYAML_FIELD_END,
};
static const cyaml_schema_value_t cell_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct vc_cell_row, cell_fields),
};

static const cyaml_schema_field_t evidence_fields[] = {
	REQUIRED(about, struct vc_evidence_row),
	REQUIRED(grade, struct vc_evidence_row),
	REQUIRED(as_of, struct vc_evidence_row),
	REQUIRED(source, struct vc_evidence_row),
	REQUIRED(text, struct vc_evidence_row),
	TEXT(doubt, struct vc_evidence_row),
	CYAML_FIELD_END,
};
static const cyaml_schema_value_t evidence_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct vc_evidence_row, evidence_fields),
};

static const cyaml_schema_field_t platform_fields[] = {
	CYAML_FIELD_STRING_PTR("id", CYAML_FLAG_POINTER, struct vc_platform_row, id, 1, 64),
	TEXT(name, struct vc_platform_row),
	TEXT(local_name, struct vc_platform_row),
	TEXT(kind, struct vc_platform_row),
	LIST(slicing, struct vc_platform_row, &word_value, 16),
	LIST(compliance, struct vc_platform_row, &word_value, 16),
	LIST(frameworks, struct vc_platform_row, &word_value, 16),
	LIST(fits, struct vc_platform_row, &word_value, 16),
	LIST(sizes, struct vc_platform_row, &size_value, 32),
	LIST(cells, struct vc_platform_row, &cell_value, VC_CRITERIA),
	LIST(evidence, struct vc_platform_row, &evidence_value, 64),
	FLAG(hidden, struct vc_platform_row),
	CYAML_FIELD_END,
};
static const cyaml_schema_value_t platform_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct vc_platform_row, platform_fields),
};

static const cyaml_schema_field_t criterion_fields[] = {
	REQUIRED(id, struct vc_criterion_row),
	REQUIRED(name, struct vc_criterion_row),
	REQUIRED(question, struct vc_criterion_row),
	REQUIRED(rubric, struct vc_criterion_row),
	CYAML_FIELD_END,
};
static const cyaml_schema_value_t criterion_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct vc_criterion_row, criterion_fields),
};

/* ---- Files ---- */

#define USERS_FIELDS                                                                               \
	CYAML_FIELD_UINT("version", CYAML_FLAG_OPTIONAL, struct vc_catalog_file, version),         \
	        TEXT(as_of, struct vc_catalog_file),                                               \
	        LIST(sources, struct vc_catalog_file, &source_value, 1000),                        \
	        LIST(gpus, struct vc_catalog_file, &gpu_value, 500),                               \
	        LIST(platforms, struct vc_catalog_file, &platform_value, 64)

static const cyaml_schema_field_t users_fields[] = {
	USERS_FIELDS,
	CYAML_FIELD_END,
};
static const cyaml_schema_value_t users_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct vc_catalog_file, users_fields),
};

/* The criteria are the program's own. */
static const cyaml_schema_field_t builtin_fields[] = {
	USERS_FIELDS,
	TEXT(compared, struct vc_catalog_file),
	LIST(criteria, struct vc_catalog_file, &criterion_value, VC_CRITERIA),
	CYAML_FIELD_END,
};
static const cyaml_schema_value_t builtin_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct vc_catalog_file, builtin_fields),
};

static const cyaml_config_t config = { .mem_fn = cyaml_mem, .flags = CYAML_CFG_NO_ALIAS };

struct vc_catalog_file *vc_catalog_file_load(struct vc_catalog_draft *draft,
                                             const struct vc_catalog_text *source)
{
	const struct vc_guard guard = { .schema = draft->is_users ? &users_schema : &builtin_schema,
		                        .file = source->name,
		                        .path = "" };
	cyaml_data_t *file = NULL;
	cyaml_err_t problem;

	if (!vc_yaml_guard(&guard, source->text, source->length, draft->errors)) {
		return NULL;
	}
	problem = cyaml_load_data((const uint8_t *)source->text, source->length, &config,
	                          guard.schema, &file, NULL);
	if (problem != CYAML_OK) {
		const struct vc_place place = { .file = source->name };

		vc_errors_add(draft->errors, &place, "", "%s", cyaml_strerror(problem));
		return NULL;
	}
	return file;
}

/* The larger schema frees what either bound. */
void vc_catalog_file_free(struct vc_catalog_file *file)
{
	cyaml_free(&config, &builtin_schema, file, 0);
}

void vc_draft_read_yaml(struct vc_catalog_draft *draft, const struct vc_catalog_text *source)
{
	struct vc_catalog_file *file = vc_catalog_file_load(draft, source);

	if (!file) {
		return;
	}
	if (!file->gpus && !file->platforms) {
		vc_catalog_refuse(draft, source, "",
		                  "holds neither gpus nor platforms (a list of "
		                  "either)");
	}
	vc_catalog_lay_gpus(draft, source, file);
	vc_catalog_lay_platforms(draft, source, file);
	vc_catalog_file_free(file);
}

void vc_catalog_refuse(struct vc_catalog_draft *draft, const struct vc_catalog_text *source,
                       const char *path, const char *message)
{
	struct vc_place place = { .file = source->name };
	struct vc_text_mark mark;

	/* Finding a place means reading the file again: not for what is counted only. */
	if (draft->errors->count < VC_MAX_ERRORS) {
		mark = vc_yaml_place(source->text, source->length, path);
		place.line = mark.line;
		place.column = mark.column;
	}
	vc_errors_add(draft->errors, &place, path, "%s", message);
}

/* ---- Lines ---- */

/* Lists of mappings lie at depth 2, "gpus", and at depth 4, "platforms.cells". */
struct lines {
	const char *path;
	uint32_t *lines;
	size_t count, found;
	unsigned depth;
	char keys[2][16]; /* that came last in the top mapping and in one of a list */
};

static bool is_on_path(const struct lines *lines)
{
	char path[40];

	snprintf(path, sizeof path, "%s%s%s", lines->keys[0], lines->depth == 4 ? "." : "",
	         lines->depth == 4 ? lines->keys[1] : "");
	return strcmp(path, lines->path) == 0;
}

static void take_line(struct lines *lines, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		/* Of a mapping's scalars that come before a list the last is its key. */
		if (lines->depth == 1 || lines->depth == 3) {
			snprintf(lines->keys[lines->depth / 2], sizeof lines->keys[0], "%s",
			         (const char *)event->data.scalar.value);
		}
		break;
	case YAML_MAPPING_START_EVENT:
		if ((lines->depth == 2 || lines->depth == 4) && lines->found < lines->count &&
		    is_on_path(lines)) {
			lines->lines[lines->found++] = (uint32_t)event->start_mark.line + 1;
		}
		lines->depth++;
		break;
	case YAML_SEQUENCE_START_EVENT:
		lines->depth++;
		break;
	case YAML_MAPPING_END_EVENT:
	case YAML_SEQUENCE_END_EVENT:
		lines->depth--;
		break;
	default:
		break;
	}
}

const uint32_t *vc_catalog_lines(struct vc_catalog_draft *draft,
                                 const struct vc_catalog_text *source, const char *path,
                                 size_t count)
{
	struct lines lines = { .path = path, .count = count };
	yaml_parser_t parser;
	yaml_event_t event;
	bool more = count > 0;

	lines.lines = vc_arena_take(&draft->arena, (count + 1) * sizeof *lines.lines);
	if (!lines.lines || !yaml_parser_initialize(&parser)) {
		vc_draft_no_memory(draft);
		return NULL;
	}
	yaml_parser_set_input_string(&parser, (const unsigned char *)source->text, source->length);
	while (more && yaml_parser_parse(&parser, &event)) {
		take_line(&lines, &event);
		more = event.type != YAML_STREAM_END_EVENT;
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	return lines.lines;
}
