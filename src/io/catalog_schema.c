/* One row per key of a catalog file. docs/catalog.md explains them. */
#include "catalog_schema.h"
#include "utf8.h"
#include "yaml_guard.h"

#include <cyaml/cyaml.h>
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
	                     aliases, &alias_value, 0, 32),
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

static const cyaml_schema_field_t file_fields[] = {
	CYAML_FIELD_UINT("version", CYAML_FLAG_OPTIONAL, struct vc_gpu_file, version),
	TEXT(as_of, struct vc_gpu_file),
	CYAML_FIELD_SEQUENCE("sources", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
	                     struct vc_gpu_file, sources, &source_value, 0, 1000),
	CYAML_FIELD_SEQUENCE("gpus", CYAML_FLAG_POINTER, struct vc_gpu_file, gpus, &gpu_value, 0,
	                     1000),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t file_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct vc_gpu_file, file_fields),
};

static const cyaml_config_t config = { .mem_fn = cyaml_mem, .flags = CYAML_CFG_NO_ALIAS };

struct vc_gpu_file *vc_gpu_file_load(struct vc_catalog_draft *draft,
                                     const struct vc_catalog_text *source)
{
	const struct vc_guard guard = { .schema = &file_schema, .file = source->name, .path = "" };
	cyaml_data_t *file = NULL;
	cyaml_err_t problem;

	if (!vc_yaml_guard(&guard, source->text, source->length, draft->errors)) {
		return NULL;
	}
	problem = cyaml_load_data((const uint8_t *)source->text, source->length, &config,
	                          &file_schema, &file, NULL);
	if (problem != CYAML_OK) {
		const struct vc_place place = { .file = source->name };

		vc_errors_add(draft->errors, &place, "", "%s", cyaml_strerror(problem));
		return NULL;
	}
	return file;
}

void vc_gpu_file_free(struct vc_gpu_file *file)
{
	cyaml_free(&config, &file_schema, file, 0);
}

struct lines {
	uint32_t *lines;
	uint32_t count, found;
	unsigned depth;
	bool in_gpus;
};

/* A row is a mapping two levels below the top, under the key that came last there. */
static void take_line(struct lines *lines, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		if (lines->depth == 1) {
			lines->in_gpus =
			        strcmp((const char *)event->data.scalar.value, "gpus") == 0;
		}
		break;
	case YAML_MAPPING_START_EVENT:
		if (lines->depth == 2 && lines->in_gpus && lines->found < lines->count) {
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

const uint32_t *vc_gpu_file_lines(struct vc_catalog_draft *draft,
                                  const struct vc_catalog_text *source, uint32_t count)
{
	struct lines lines = { .count = count };
	yaml_parser_t parser;
	yaml_event_t event;
	bool more = true;

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
