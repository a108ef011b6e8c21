/*
 * `schema`: JSON Schema (2020-12) of the spec and of what --json prints. The spec's comes from the
 * table of its fields, the outputs' from tables of paths; one printer nests both.
 */
#include "schema.h"

#include "commands.h"
#include "json_writer.h"
#include "output.h"
#include "spec.h"

#include <string.h>

/* ---- Paths nest: "gpus[].price.per_hour" is a property of an object in an array's items --------
 */

struct schema {
	struct json_writer json;
	const struct schema_field *fields;
	size_t count;
};

static void write_value(struct schema *schema, const struct schema_field *field);
static void write_members(struct schema *schema, const char *prefix, size_t length);

static void write_type(struct json_writer *json, const char *type, bool nullable)
{
	if (!nullable) {
		json_text(json, "type", type);
		return;
	}
	json_open(json, "type", '[');
	json_text(json, NULL, type);
	json_text(json, NULL, "null");
	json_close(json, ']');
}

/* The segment of a path behind a prefix: "price" of "gpus[].price.per_hour". */
static size_t segment_length(const char *at)
{
	return strcspn(at, ".[");
}

static bool starts_with(const char *path, const char *prefix, size_t length)
{
	return strncmp(path, prefix, length) == 0;
}

static bool same_segment(const char *a, const char *b)
{
	size_t length = segment_length(a);

	return length == segment_length(b) && strncmp(a, b, length) == 0;
}

/* Whether a field before this one has the same segment behind the prefix: it was written then. */
static bool written_before(const struct schema *schema, size_t index, const char *prefix,
                           size_t length)
{
	const char *segment = schema->fields[index].path + length;

	for (size_t i = 0; i < index; i++) {
		if (starts_with(schema->fields[i].path, prefix, length) &&
		    same_segment(schema->fields[i].path + length, segment)) {
			return true;
		}
	}
	return false;
}

/* A property that only its members' paths name: an object, or an array of objects. */
static void write_section(struct schema *schema, const char *path, size_t length)
{
	const char *rest = path + length;
	bool array = starts_with(rest, "[].", 3);

	if (array) {
		json_text(&schema->json, "type", "array");
		json_open(&schema->json, "items", '{');
		json_text(&schema->json, "type", "object");
		write_members(schema, path, length + 3);
		json_close(&schema->json, '}');
	} else {
		json_text(&schema->json, "type", "object");
		write_members(schema, path, length + 1);
	}
}

/* The properties of an object that has a field of its own, as one that may be null has. */
static void write_members_of(struct schema *schema, const char *path, size_t length)
{
	for (size_t i = 0; i < schema->count; i++) {
		const char *member = schema->fields[i].path;

		if (starts_with(member, path, length) && member[length] == '.') {
			write_members(schema, member, length + 1);
			return;
		}
	}
}

static void write_property(struct schema *schema, size_t index, size_t length)
{
	const struct schema_field *field = &schema->fields[index];
	size_t segment = segment_length(field->path + length);
	char name[64];

	snprintf(name, sizeof name, "%.*s", (int)segment, field->path + length);
	json_open(&schema->json, name, '{');
	if (field->path[length + segment] == '\0') {
		write_value(schema, field);
		write_members_of(schema, field->path, length + segment);
	} else {
		write_section(schema, field->path, length + segment);
	}
	json_close(&schema->json, '}');
}

static void write_required(struct schema *schema, const char *prefix, size_t length)
{
	json_open(&schema->json, "required", '[');
	for (size_t i = 0; i < schema->count; i++) {
		const struct schema_field *field = &schema->fields[i];
		const char *segment = field->path + length;

		if (starts_with(field->path, prefix, length) && field->required &&
		    segment[segment_length(segment)] == '\0') {
			json_text(&schema->json, NULL, segment);
		}
	}
	json_close(&schema->json, ']');
}

/* The properties of the object that the first bytes of a path name, its '.' or "[]." included. */
static void write_members(struct schema *schema, const char *prefix, size_t length)
{
	char path[128];

	snprintf(path, sizeof path, "%.*s", (int)length, prefix);
	json_open(&schema->json, "properties", '{');
	for (size_t i = 0; i < schema->count; i++) {
		if (starts_with(schema->fields[i].path, path, length) &&
		    !written_before(schema, i, path, length)) {
			write_property(schema, i, length);
		}
	}
	json_close(&schema->json, '}');
	write_required(schema, path, length);
}

static void write_value(struct schema *schema, const struct schema_field *field)
{
	struct json_writer *json = &schema->json;

	switch (field->type) {
	case SCHEMA_TEXT:
		write_type(json, "string", field->nullable);
		break;
	case SCHEMA_BYTES:
		write_type(json, "integer", field->nullable);
		json_u64(json, "minimum", 0);
		json_u64(json, "maximum", INT64_MAX);
		break;
	case SCHEMA_INTEGER:
		write_type(json, "integer", field->nullable);
		break;
	case SCHEMA_NUMBER:
		write_type(json, "number", field->nullable);
		break;
	case SCHEMA_FLAG:
		write_type(json, "boolean", field->nullable);
		break;
	case SCHEMA_OBJECT:
		write_type(json, "object", field->nullable);
		break;
	case SCHEMA_TEXTS:
	case SCHEMA_COUNTS:
		write_type(json, "array", field->nullable);
		json_open(json, "items", '{');
		json_text(json, "type", field->type == SCHEMA_TEXTS ? "string" : "integer");
		json_close(json, '}');
		break;
	}
	if (field->constant) {
		json_text(json, "const", field->constant);
	}
	if (field->summary) {
		json_text(json, "description", field->summary);
	}
}

static void write_document(struct schema *schema, const char *title)
{
	json_text(&schema->json, "$schema", "https://json-schema.org/draft/2020-12/schema");
	json_text(&schema->json, "title", title);
}

static void print_output(const struct output *out, const struct schema_output *output)
{
	struct schema schema = { .json.out = out->file,
		                 .fields = output->fields,
		                 .count = output->count };
	char title[64];

	snprintf(title, sizeof title, "vramcalc/%s/v1", output->name);
	json_open(&schema.json, NULL, '{');
	write_document(&schema, title);
	json_text(&schema.json, "type", "object");
	write_members(&schema, "", 0);
	json_close(&schema.json, '}');
}

/* ---- The spec: every field may be null, as if it were left out ---------------------------------
 */

static void write_choices(struct json_writer *json, const struct vc_spec_field *field)
{
	const char *choice;

	json_open(json, "enum", '[');
	for (size_t i = 0; (choice = vc_spec_choice(field, i)) != NULL; i++) {
		json_text(json, NULL, choice);
	}
	json_null(json, NULL);
	json_close(json, ']');
}

static void write_types(struct json_writer *json, const char *a, const char *b)
{
	json_open(json, "type", '[');
	json_text(json, NULL, a);
	if (b) {
		json_text(json, NULL, b);
	}
	json_text(json, NULL, "null");
	json_close(json, ']');
}

/* Quantities are numbers, or texts such as 7B, 128Ki, 24GB. */
static void write_field_type(struct json_writer *json, const struct vc_spec_field *field)
{
	switch (field->kind) {
	case VC_FIELD_CHOICE:
		write_choices(json, field);
		break;
	case VC_FIELD_FLAG:
		write_types(json, "boolean", NULL);
		break;
	case VC_FIELD_RATIO:
	case VC_FIELD_MONEY:
		write_types(json, "number", NULL);
		break;
	case VC_FIELD_COUNT:
		write_types(json, "integer", "string");
		json_u64(json, "minimum", field->minimum);
		if (field->maximum && field->maximum <= INT64_MAX) {
			json_u64(json, "maximum", field->maximum);
		}
		json_text(json, "pattern", "^[0-9][0-9_.]*([eE]\\+?[0-9]+)?(k|[KMGT]i|[MGBT])?$");
		break;
	case VC_FIELD_BYTES:
		write_types(json, "integer", "string");
		json_u64(json, "minimum", field->minimum);
		json_text(json, "pattern", "^[0-9][0-9_.]* ?([kKMGTP]i?B|B)?$");
		break;
	case VC_FIELD_VERSION:
		write_types(json, "string", "number");
		break;
	case VC_FIELD_LIST:
		write_types(json, "array", "string");
		json_open(json, "items", '{');
		json_text(json, "type", "string");
		json_close(json, '}');
		break;
	case VC_FIELD_TREE:
		write_types(json, "object", NULL);
		break;
	default:
		write_types(json, "string", NULL);
	}
}

static void write_fields(struct json_writer *json, const char *prefix);

static void write_field(struct json_writer *json, const struct vc_spec_field *field, size_t length)
{
	size_t segment = strcspn(field->path + length, ".");
	char name[64], below[128];

	snprintf(name, sizeof name, "%.*s", (int)segment, field->path + length);
	json_open(json, name, '{');
	if (field->path[length + segment] == '\0') {
		write_field_type(json, field);
		if (field->summary) {
			json_text(json, "description", field->summary);
		}
	} else {
		snprintf(below, sizeof below, "%.*s", (int)(length + segment + 1), field->path);
		write_fields(json, below);
	}
	json_close(json, '}');
}

static bool begins_section(size_t index, const char *prefix)
{
	const struct vc_spec_field *field = vc_spec_field_at(index);
	size_t length = strlen(prefix);

	for (size_t i = 0; i < index; i++) {
		const struct vc_spec_field *earlier = vc_spec_field_at(i);
		size_t segment = strcspn(field->path + length, ".");

		if (starts_with(earlier->path, prefix, length) &&
		    strcspn(earlier->path + length, ".") == segment &&
		    strncmp(earlier->path + length, field->path + length, segment) == 0) {
			return false;
		}
	}
	return true;
}

static void write_fields(struct json_writer *json, const char *prefix)
{
	const struct vc_spec_field *field;
	size_t length = strlen(prefix);

	write_types(json, "object", NULL);
	json_bool(json, "additionalProperties", false);
	json_open(json, "properties", '{');
	for (size_t i = 0; (field = vc_spec_field_at(i)) != NULL; i++) {
		if (starts_with(field->path, prefix, length) && begins_section(i, prefix)) {
			write_field(json, field, length);
		}
	}
	json_close(json, '}');
}

static void print_spec(const struct output *out)
{
	struct schema schema = { .json.out = out->file };

	json_open(&schema.json, NULL, '{');
	write_document(&schema, "vramcalc spec");
	write_fields(&schema.json, "");
	json_open(&schema.json, "required", '[');
	json_text(&schema.json, NULL, "model");
	json_close(&schema.json, ']');
	json_close(&schema.json, '}');
}

int schema_command(struct arguments *arguments)
{
	const char *name = arguments->operands.count ? arguments->operands.items[0] : "spec";
	const struct schema_output *output;
	struct output out;

	output_open(&out, arguments);
	if (strcmp(name, "spec") == 0) {
		print_spec(&out);
		return EXIT_FITS;
	}
	for (size_t i = 0; (output = schema_output_at(i)) != NULL; i++) {
		if (strcmp(name, output->name) == 0) {
			print_output(&out, output);
			return EXIT_FITS;
		}
	}
	fprintf(stderr, "vramcalc schema: %s: no such schema (expected spec", name);
	for (size_t i = 0; (output = schema_output_at(i)) != NULL; i++) {
		fprintf(stderr, ", %s", output->name);
	}
	fprintf(stderr, ")\n");
	return EXIT_WRONG_INPUT;
}
