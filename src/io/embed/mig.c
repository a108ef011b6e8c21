/* src/catalog/mig.yaml: the schema, what must hold, and the tables as C. */
#include "mig.h"
#include "yaml_guard.h"

#include <cyaml/cyaml.h>
#include <inttypes.h>
#include <string.h>

struct profile {
	char *name;
	uint64_t compute, size, max, memory_mib, media;
	uint64_t *starts;
	uint32_t starts_count;
};

struct table {
	char *id, *note;
	char **sources;
	uint64_t compute_slices, memory_slots;
	bool verified;
	struct profile *profiles;
	uint32_t sources_count, profiles_count;
};

struct source {
	char *id, *ref;
};

struct file {
	uint64_t version;
	struct source *sources;
	struct table *tables;
	uint32_t sources_count, tables_count;
};

static const cyaml_schema_value_t start_value = {
	CYAML_VALUE_UINT(CYAML_FLAG_DEFAULT, uint64_t),
};
static const cyaml_schema_value_t text_value = {
	CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char *, 1, 64),
};

static const cyaml_schema_field_t profile_fields[] = {
	CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_POINTER, struct profile, name, 1, 32),
	CYAML_FIELD_UINT("compute", CYAML_FLAG_DEFAULT, struct profile, compute),
	CYAML_FIELD_UINT("size", CYAML_FLAG_DEFAULT, struct profile, size),
	CYAML_FIELD_UINT("max", CYAML_FLAG_DEFAULT, struct profile, max),
	CYAML_FIELD_SEQUENCE("starts", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct profile,
	                     starts, &start_value, 0, VC_MAX_MIG_STARTS),
	CYAML_FIELD_UINT("memory_mib", CYAML_FLAG_OPTIONAL, struct profile, memory_mib),
	CYAML_FIELD_UINT("media", CYAML_FLAG_OPTIONAL, struct profile, media),
	CYAML_FIELD_END,
};
static const cyaml_schema_value_t profile_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct profile, profile_fields),
};

static const cyaml_schema_field_t table_fields[] = {
	CYAML_FIELD_STRING_PTR("id", CYAML_FLAG_POINTER, struct table, id, 1, 64),
	CYAML_FIELD_UINT("compute_slices", CYAML_FLAG_DEFAULT, struct table, compute_slices),
	CYAML_FIELD_UINT("memory_slots", CYAML_FLAG_DEFAULT, struct table, memory_slots),
	CYAML_FIELD_SEQUENCE("sources", CYAML_FLAG_POINTER, struct table, sources, &text_value, 1,
	                     8),
	CYAML_FIELD_BOOL("verified", CYAML_FLAG_OPTIONAL, struct table, verified),
	CYAML_FIELD_STRING_PTR("note", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct table, note,
	                       1, 1024),
	CYAML_FIELD_SEQUENCE("profiles", CYAML_FLAG_POINTER, struct table, profiles, &profile_value,
	                     1, 32),
	CYAML_FIELD_END,
};
static const cyaml_schema_value_t table_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct table, table_fields),
};

static const cyaml_schema_field_t source_fields[] = {
	CYAML_FIELD_STRING_PTR("id", CYAML_FLAG_POINTER, struct source, id, 1, 64),
	CYAML_FIELD_STRING_PTR("ref", CYAML_FLAG_POINTER, struct source, ref, 1, 1024),
	CYAML_FIELD_END,
};
static const cyaml_schema_value_t source_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct source, source_fields),
};

static const cyaml_schema_field_t file_fields[] = {
	CYAML_FIELD_UINT("version", CYAML_FLAG_OPTIONAL, struct file, version),
	CYAML_FIELD_SEQUENCE("sources", CYAML_FLAG_POINTER, struct file, sources, &source_value, 0,
	                     64),
	CYAML_FIELD_SEQUENCE("tables", CYAML_FLAG_POINTER, struct file, tables, &table_value, 1,
	                     64),
	CYAML_FIELD_END,
};
static const cyaml_schema_value_t schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct file, file_fields),
};

/* What is wrong with a profile of this table, or NULL. */
static const char *judge(const struct table *table, const struct profile *profile)
{
	if (profile->compute == 0 || profile->compute > table->compute_slices) {
		return "compute is not within compute_slices";
	}
	if (profile->size == 0 || profile->size > table->memory_slots) {
		return "size is not within memory_slots";
	}
	if (profile->max == 0 || profile->max > VC_MAX_MIG_INSTANCES || profile->media > 9) {
		return "max or media is out of range";
	}
	for (uint32_t i = 0; i < profile->starts_count; i++) {
		if (profile->starts[i] + profile->size > table->memory_slots) {
			return "an instance would end behind the last memory slot";
		}
	}
	return NULL;
}

static void put_profiles(FILE *out, const struct table *table, uint32_t index)
{
	fprintf(out, "static const struct vc_mig_profile mig_profiles_%" PRIu32 "[] = {\n", index);
	for (uint32_t i = 0; i < table->profiles_count; i++) {
		const struct profile *profile = &table->profiles[i];

		fprintf(out, "\t{ \"%s\", %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64,
		        profile->name, profile->compute, profile->size, profile->max,
		        profile->media);
		fprintf(out, ", UINT64_C(%" PRIu64 "), %" PRIu32 ", { ",
		        profile->memory_mib * 1048576, profile->starts_count);
		for (uint32_t j = 0; j < profile->starts_count; j++) {
			fprintf(out, "%" PRIu64 ", ", profile->starts[j]);
		}
		fprintf(out, "%s} },\n", profile->starts_count ? "" : "0 ");
	}
	fputs("};\n", out);
}

static bool put_tables(FILE *out, const struct file *file, const char *name,
                       struct vc_error_list *errors)
{
	const struct vc_place place = { .file = name };
	size_t before = errors->count;

	for (uint32_t i = 0; i < file->tables_count; i++) {
		const struct table *table = &file->tables[i];

		for (uint32_t j = 0; j < table->profiles_count; j++) {
			const char *problem = judge(table, &table->profiles[j]);

			if (problem) {
				vc_errors_add(errors, &place, table->profiles[j].name, "%s",
				              problem);
			}
		}
		put_profiles(out, table, i);
	}
	fputs("const struct vc_mig_table vc_mig_tables[] = {\n", out);
	for (uint32_t i = 0; i < file->tables_count; i++) {
		const struct table *table = &file->tables[i];

		fprintf(out, "\t{ \"%s\", %" PRIu64 ", %" PRIu64 ", %" PRIu32, table->id,
		        table->memory_slots, table->compute_slices, table->profiles_count);
		fprintf(out, ", mig_profiles_%" PRIu32 " },\n", i);
	}
	fprintf(out, "};\nconst size_t vc_mig_table_count = %" PRIu32 ";\n", file->tables_count);
	return errors->count == before;
}

bool embed_mig(FILE *out, const struct vc_catalog_text *source, struct vc_error_list *errors)
{
	static const cyaml_config_t config = { .mem_fn = cyaml_mem, .flags = CYAML_CFG_NO_ALIAS };
	const struct vc_guard guard = { .schema = &schema, .file = source->name, .path = "" };
	const struct vc_place place = { .file = source->name };
	cyaml_data_t *file = NULL;
	cyaml_err_t problem;
	bool good;

	if (!vc_yaml_guard(&guard, source->text, source->length, errors)) {
		return false;
	}
	problem = cyaml_load_data((const uint8_t *)source->text, source->length, &config, &schema,
	                          &file, NULL);
	if (problem != CYAML_OK) {
		vc_errors_add(errors, &place, "", "%s", cyaml_strerror(problem));
		return false;
	}
	good = put_tables(out, file, source->name, errors);
	cyaml_free(&config, &schema, file, 0);
	return good;
}
