/* Looking up a config's keys in all their spellings, strictly typed. */
#include "family.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	COUNT_LIMIT = 2147483647
};

bool config_failed(const struct config *config)
{
	return config->error->status != VC_OK;
}

/* The item that a path of `length` leads to, whose first part ends at `part`. */
static const cJSON *follow(const cJSON *root, const char *path, size_t part, size_t length)
{
	const cJSON *item = json_member(root, path, part);

	while (item && part < length) {
		const char *dot;

		path += part + 1;
		length -= part + 1;
		dot = memchr(path, '.', length);
		part = dot ? (size_t)(dot - path) : length;
		item = json_member(item, path, part);
	}
	return item;
}

/* Up to the blank behind a name, and its first part; names are short: a call of strcspn() costs
 * more. */
static size_t name_length(const char *names, size_t *part)
{
	size_t length = 0;

	while (names[length] && names[length] != ' ' && names[length] != '.') {
		length++;
	}
	*part = length;
	while (names[length] && names[length] != ' ') {
		length++;
	}
	return length;
}

/* The first alternative that is present; `name` and `length` say which, or the first of all. */
static const cJSON *find(const struct config *config, const char *names, const char **name,
                         size_t *length)
{
	*name = names;
	*length = 0;
	for (const char *at = names; *at;) {
		size_t part, size = name_length(at, &part);
		const cJSON *item = follow(config->root, at, part, size);

		*length = at == names ? size : *length;
		if (item) {
			*name = at;
			*length = size;
			return item;
		}
		at += size + (at[size] == ' ');
	}
	return NULL;
}

/* What the family's class states for a key that a nested config leaves out. */
static bool default_number(const struct config *config, const char *names, uint64_t *value)
{
	for (const char *at = names; config->defaults && *at;) {
		size_t size = strcspn(at, " ");

		for (const char *entry = config->defaults; *entry;) {
			if (strncmp(entry, at, size) == 0 && entry[size] == '=') {
				*value = strtoull(entry + size + 1, NULL, 10);
				return true;
			}
			entry += strcspn(entry, " ");
			entry += *entry == ' ';
		}
		at += size + (at[size] == ' ');
	}
	return false;
}

const cJSON *config_item(const struct config *config, const char *names)
{
	const char *name;
	size_t length;

	return find(config, names, &name, &length);
}

void config_fail(struct config *config, const char *names, const char *format, ...)
{
	const char *name;
	size_t length;
	va_list args;

	if (config_failed(config)) {
		return;
	}
	*config->error = (struct vc_error){ .status = VC_INVALID };
	va_start(args, format);
	vsnprintf(config->error->message, sizeof config->error->message, format, args);
	va_end(args);
	find(config, names, &name, &length);
	snprintf(config->error->field, sizeof config->error->field, "%s%.*s", config->prefix,
	         (int)length, name);
}

static const char *type_name(const cJSON *item)
{
	if (cJSON_IsString(item)) {
		return "a string";
	}
	if (cJSON_IsBool(item)) {
		return "a boolean";
	}
	if (cJSON_IsArray(item)) {
		return "a list";
	}
	return cJSON_IsObject(item) ? "an object" : "null";
}

/* What fails is `least`, so that nobody divides by it. */
static uint64_t read_count(struct config *config, const char *names, const cJSON *item,
                           uint64_t least)
{
	uint64_t count;

	if (!cJSON_IsNumber(item)) {
		config_fail(config, names, "is %s (expected an integer)", type_name(item));
	} else if (item->valuedouble > COUNT_LIMIT) {
		config_fail(config, names, "%.17g is too large (expected at most %d)",
		            item->valuedouble, COUNT_LIMIT);
	} else if (!json_count(item, &count) || count < least) {
		config_fail(config, names, "%.17g is out of range (expected an integer from %d on)",
		            item->valuedouble, (int)least);
	} else {
		return count;
	}
	return least;
}

uint64_t config_number_or(struct config *config, const char *names, uint64_t fallback)
{
	const cJSON *item = config_item(config, names);

	if (!item && default_number(config, names, &fallback)) {
		return fallback;
	}
	return item ? read_count(config, names, item, 0) : fallback;
}

uint64_t config_count_or(struct config *config, const char *names, uint64_t fallback)
{
	const cJSON *item = config_item(config, names);

	if (!item && default_number(config, names, &fallback)) {
		return fallback;
	}
	return item ? read_count(config, names, item, 1) : fallback;
}

uint64_t config_count(struct config *config, const char *names)
{
	const cJSON *item = config_item(config, names);
	char listed[200];
	uint64_t value;
	size_t length;

	if (item) {
		return read_count(config, names, item, 1);
	}
	if (default_number(config, names, &value)) {
		return value;
	}
	length = (size_t)snprintf(listed, sizeof listed, "%s", names);
	for (size_t i = 0; i < length && i < sizeof listed; i++) {
		listed[i] = listed[i] == ' ' ? '|' : listed[i];
	}
	config_fail(config, names, "is missing (expected a count under %s)", listed);
	return 1;
}

bool config_flag_or(struct config *config, const char *names, bool fallback)
{
	const cJSON *item = config_item(config, names);
	uint64_t value;

	if (!item) {
		return default_number(config, names, &value) ? value != 0 : fallback;
	}
	if (!cJSON_IsBool(item)) {
		config_fail(config, names, "is %s (expected true or false)",
		            cJSON_IsNumber(item) ? "a number" : type_name(item));
		return fallback;
	}
	return cJSON_IsTrue(item);
}

double config_fraction_or(struct config *config, const char *names, double fallback)
{
	const cJSON *item = config_item(config, names);

	if (!item) {
		return fallback;
	}
	if (!cJSON_IsNumber(item) || !(item->valuedouble > 0) || item->valuedouble > 1) {
		config_fail(config, names, "is out of range (expected a fraction up to 1)");
		return fallback;
	}
	return item->valuedouble;
}

bool config_tied(struct config *config, bool fallback)
{
	struct config outer = *config;

	outer.root = config->outer;
	if (config->outer && config_item(&outer, KEY_TIED)) {
		return config_flag_or(&outer, KEY_TIED, fallback);
	}
	return config_flag_or(config, KEY_TIED, fallback);
}

const char *config_text_or(struct config *config, const char *names, const char *fallback)
{
	const cJSON *item = config_item(config, names);

	if (!item) {
		return fallback;
	}
	if (!cJSON_IsString(item)) {
		config_fail(config, names, "is %s (expected a string)",
		            cJSON_IsNumber(item) ? "a number" : type_name(item));
		return fallback;
	}
	return item->valuestring;
}

const cJSON *config_list(struct config *config, const char *names, uint64_t length)
{
	const cJSON *list = config_item(config, names);
	int entries;

	if (!list) {
		return NULL;
	}
	if (!cJSON_IsArray(list)) {
		config_fail(config, names, "is not a list (expected a list)");
		return NULL;
	}
	entries = cJSON_GetArraySize(list);
	if (length > 0 && (uint64_t)entries != length) {
		config_fail(config, names, "has %d %s (expected %d, one per layer)", entries,
		            entries == 1 ? "entry" : "entries", (int)length);
		return NULL;
	}
	return list;
}

uint64_t config_element(struct config *config, const char *names, const cJSON *list, uint64_t index)
{
	const cJSON *item = cJSON_GetArrayItem(list, (int)index);

	return item ? read_count(config, names, item, 0) : 0;
}

struct config config_child(struct config *config, const char *name)
{
	struct config child = *config;
	const char *found;
	size_t length;
	const cJSON *object = find(config, name, &found, &length);

	if (!object) {
		config_fail(config, name, "is missing (expected an object)");
	} else if (!cJSON_IsObject(object)) {
		config_fail(config, name, "is not an object (expected an object)");
		object = NULL;
	}
	child.root = object;
	child.outer = config->root;
	child.defaults = NULL;
	snprintf(child.prefix, sizeof child.prefix, "%.30s%.*s.", config->prefix,
	         (int)(length < 30 ? length : 30), found);
	return child;
}
