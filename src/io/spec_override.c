#include "spec_override.h"

#include "spec.h"
#include "spec_fields.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char architecture[] = "model.architecture";

static const cyaml_schema_value_t free_value = { .type = CYAML_IGNORE };

/* The part of a path below model.architecture; NULL for every other path. */
static const char *architecture_key(const char *path)
{
	size_t length = sizeof architecture - 1;

	if (strncmp(path, architecture, length) != 0) {
		return NULL;
	}
	return path[length] == '.' ? path + length + 1 : path[length] ? NULL : "";
}

static struct vc_place place_of(const struct vc_override *override)
{
	return (struct vc_place){ .file = override->origin };
}

static bool refuse_path(const struct vc_override *override, struct vc_error_list *errors)
{
	const struct vc_place place = place_of(override);
	const char *path = override->path, *nearest = vc_spec_field_nearest(path);

	if (nearest) {
		vc_errors_add(errors, &place, path, "unknown field (did you mean '%s'?)", nearest);
	} else {
		vc_errors_add(errors, &place, path,
		              "unknown field (`vramcalc schema` lists the fields)");
	}
	return false;
}

/* Takes the option off the front of an argument. */
static const char *read_origin(const char *argument, struct vc_override *override)
{
	bool named = strncmp(argument, "--", 2) == 0 || strncmp(argument, "the log:", 8) == 0;
	size_t length = named ? strcspn(argument, ":=") : 0;

	if (length == 0 || argument[length] != ':' || length >= sizeof override->origin) {
		memcpy(override->origin, "--set", sizeof "--set");
		return argument;
	}
	memcpy(override->origin, argument, length);
	override->origin[length] = '\0';
	return argument + length + 1;
}

static bool split(const char *argument, struct vc_override *override, struct vc_error_list *errors)
{
	const char *setting = read_origin(argument, override), *equals = strchr(setting, '=');
	const struct vc_place place = place_of(override);
	size_t length = equals ? (size_t)(equals - setting) : 0;

	if (length == 0 || length >= sizeof override->path) {
		vc_errors_add(errors, &place, "",
		              "'%.60s' is not FIELD=VALUE (such as "
		              "workload.batch_size=8)",
		              setting);
		return false;
	}
	memcpy(override->path, setting, length);
	override->path[length] = '\0';
	override->length = strlen(equals + 1);
	override->text = malloc(override->length + 1);
	if (!override->text) {
		vc_errors_add(errors, &place, override->path, "does not fit into memory");
		return false;
	}
	memcpy(override->text, equals + 1, override->length + 1);
	return true;
}

static bool check_value(struct vc_override *override, struct vc_error_list *errors)
{
	struct vc_yaml_wraps wraps = { 0 };
	struct vc_guard guard = {
		.schema = override->field ? &override->field->value : &free_value,
		.file = override->origin,
		.path = override->path,
		.placeless = true,
		.check = vc_spec_check,
		.tree = &override->tree,
		.wraps = &wraps,
	};
	const struct vc_place place = place_of(override);
	char *bracketed;

	if (!*override->text) {
		vc_errors_add(errors, &place, override->path,
		              "has no value (a value, or null for none, is expected)");
		return false;
	}
	if (!vc_yaml_guard(&guard, override->text, override->length, errors)) {
		return false;
	}
	if (wraps.count == 0) {
		return true;
	}
	bracketed = vc_yaml_bracket(override->text, &override->length, &wraps);
	if (!bracketed) {
		vc_errors_add(errors, &place, override->path, "does not fit into memory");
		return false;
	}
	free(override->text);
	override->text = bracketed;
	return true;
}

bool vc_override_read(const char *argument, struct vc_override *override,
                      struct vc_error_list *errors)
{
	const char *key;
	void **slot;
	bool known;

	*override = (struct vc_override){ 0 };
	if (!split(argument, override, errors)) {
		return false;
	}
	key = architecture_key(override->path);
	if (!key) {
		override->field = vc_spec_slot(NULL, override->path, false, &slot);
	}
	known = key || override->field || refuse_path(override, errors);
	if (!known || !check_value(override, errors)) {
		vc_override_drop(override);
		return false;
	}
	if (key && !*key && !cJSON_IsObject(override->tree)) {
		const struct vc_place place = place_of(override);

		vc_errors_add(errors, &place, override->path,
		              "is no mapping (such as {num_hidden_layers: 32})");
		vc_override_drop(override);
		return false;
	}
	return true;
}

bool vc_override_bind(const struct vc_override *override, void *raw)
{
	void **slot;
	const cyaml_schema_field_t *field = vc_spec_slot(raw, override->path, true, &slot);
	bool list = field->value.type == CYAML_SEQUENCE;
	cyaml_data_t *data = NULL;
	unsigned count = 0;
	uint32_t *old_count = list ? vc_spec_list_count(field, slot) : NULL;

	if (!slot) {
		return false;
	}
	if (!vc_yaml_is_null(override->text) &&
	    cyaml_load_data((const uint8_t *) override->text, override->length, &vc_spec_cyaml,
	                    &field->value, &data, list ? &count : NULL) != CYAML_OK) {
		return false;
	}
	(void)cyaml_free(&vc_spec_cyaml, &field->value, *slot, old_count ? *old_count : 0);
	*slot = data;
	if (old_count) {
		*old_count = count;
	}
	return true;
}

/* The object at the next part of a dotted key, made where there is none. */
static cJSON *child_object(cJSON *parent, const char *name)
{
	cJSON *child = cJSON_GetObjectItemCaseSensitive(parent, name);

	if (child && !cJSON_IsObject(child)) {
		cJSON_DeleteItemFromObjectCaseSensitive(parent, name);
		child = NULL;
	}
	return child ? child : cJSON_AddObjectToObject(parent, name);
}

bool vc_override_graft(struct vc_override *override, cJSON *tree)
{
	char key[VC_YAML_PATH], *name = key, *dot;
	cJSON *value = override->tree ? override->tree : cJSON_CreateNull();

	override->tree = NULL;
	(void)snprintf(key, sizeof key, "%s", architecture_key(override->path));
	while (tree && (dot = strchr(name, '.')) != NULL) {
		*dot = '\0';
		tree = child_object(tree, name);
		name = dot + 1;
	}
	if (!tree || !value) {
		cJSON_Delete(value);
		return false;
	}
	if (!*key) {
		/* the whole mapping: its keys one by one */
		for (cJSON *child = value->child, *next; child; child = next) {
			next = child->next;
			(void)cJSON_DetachItemViaPointer(value, child);
			cJSON_DeleteItemFromObjectCaseSensitive(tree, child->string);
			(void)cJSON_AddItemToObject(tree, child->string, child);
		}
		cJSON_Delete(value);
		return true;
	}
	cJSON_DeleteItemFromObjectCaseSensitive(tree, name);
	return cJSON_AddItemToObject(tree, name, value);
}

void vc_override_drop(struct vc_override *override)
{
	free(override->text);
	cJSON_Delete(override->tree);
	*override = (struct vc_override){ 0 };
}
