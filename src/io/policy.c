#include "policy.h"

#include "quantity.h"
#include "source.h"
#include "yaml_guard.h"
#include "yaml_place.h"

#include <cyaml/cyaml.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(key, type)                                                                            \
	CYAML_FIELD_STRING_PTR(#key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type, key, 1, 256)
#define REQUIRED(key, type) CYAML_FIELD_STRING_PTR(#key, CYAML_FLAG_POINTER, type, key, 1, 256)

static const cyaml_schema_value_t glob_value = {
	CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char *, 1, 256),
};

static const cyaml_schema_field_t exception_fields[] = {
	REQUIRED(spec, struct vc_policy_exception),
	REQUIRED(reason, struct vc_policy_exception),
	REQUIRED(expires, struct vc_policy_exception),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t exception_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct vc_policy_exception, exception_fields),
};

static const cyaml_schema_field_t rule_fields[] = {
	REQUIRED(name, struct vc_policy_rule),
	CYAML_FIELD_SEQUENCE("specs", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
	                     struct vc_policy_rule, specs, &glob_value, 0, 256),
	TEXT(gpu, struct vc_policy_rule),
	TEXT(max_gpus, struct vc_policy_rule),
	TEXT(max_memory, struct vc_policy_rule),
	TEXT(min_headroom, struct vc_policy_rule),
	TEXT(max_price, struct vc_policy_rule),
	TEXT(max_increase, struct vc_policy_rule),
	CYAML_FIELD_SEQUENCE("exceptions", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
	                     struct vc_policy_rule, exceptions, &exception_value, 0, 256),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t rule_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct vc_policy_rule, rule_fields),
};

static const cyaml_schema_field_t policy_fields[] = {
	CYAML_FIELD_UINT("version", CYAML_FLAG_OPTIONAL, struct vc_policy, version),
	CYAML_FIELD_SEQUENCE("rules", CYAML_FLAG_POINTER, struct vc_policy, rules, &rule_value, 1,
	                     256),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t policy_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct vc_policy, policy_fields),
};

static const cyaml_config_t config = { .mem_fn = cyaml_mem, .flags = CYAML_CFG_NO_ALIAS };

static bool ends_with(const char *path, const char *field)
{
	const char *dot = strrchr(path, '.');

	return strcmp(dot ? dot + 1 : path, field) == 0;
}

static bool is_date(const char *text)
{
	static const char form[] = "dddd-dd-dd";

	if (strlen(text) != strlen(form)) {
		return false;
	}
	for (size_t i = 0; form[i]; i++) {
		if (form[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != form[i]) {
			return false;
		}
	}
	return strcmp(text + 5, "01-01") >= 0 && strcmp(text + 5, "12-31") <= 0 &&
	       strcmp(text + 8, "01") >= 0 && strcmp(text + 8, "31") <= 0;
}

bool vc_policy_increase(const char *text, uint64_t *ppm, uint64_t *bytes)
{
	size_t length = strlen(text);
	char number[64];

	*ppm = 0;
	*bytes = 0;
	if (length < 2 || text[length - 1] != '%') {
		return vc_quantity_parse(VC_QUANTITY_BYTES, text, bytes) == VC_QUANTITY_OK;
	}
	if (length >= sizeof number) {
		return false;
	}
	memcpy(number, text, length - 1);
	number[length - 1] = '\0';
	if (vc_quantity_parse(VC_QUANTITY_PPM, number, ppm) != VC_QUANTITY_OK ||
	    *ppm > 1000000000) {
		return false;
	}
	*ppm /= 100;
	return true;
}

static bool is_increase(const char *text)
{
	uint64_t ppm, bytes;

	return vc_policy_increase(text, &ppm, &bytes);
}

static bool is_count(const char *text)
{
	uint64_t value;

	return vc_quantity_parse(VC_QUANTITY_COUNT, text, &value) == VC_QUANTITY_OK && value > 0 &&
	       value <= UINT32_MAX;
}

static bool is_size(const char *text)
{
	uint64_t value;

	return vc_quantity_parse(VC_QUANTITY_BYTES, text, &value) == VC_QUANTITY_OK && value > 0;
}

static bool is_share(const char *text)
{
	uint64_t value;

	return vc_quantity_parse(VC_QUANTITY_PPM, text, &value) == VC_QUANTITY_OK &&
	       value <= 1000000;
}

static bool is_price(const char *text)
{
	uint64_t value;

	return vc_quantity_parse(VC_QUANTITY_MICROS, text, &value) == VC_QUANTITY_OK && value > 0;
}

static void check(const struct vc_guard_scalar *scalar, struct vc_error_list *errors)
{
	static const struct {
		const char *field;
		bool (*holds)(const char *text);
		const char *expected;
	} kinds[] = {
		{ "expires", is_date, "a day such as 2027-03-31" },
		{ "max_gpus", is_count, "a whole number from 1" },
		{ "max_memory", is_size, "a size such as 24GB" },
		{ "min_headroom", is_share, "a share from 0 to 1" },
		{ "max_price", is_price, "a price per hour such as 2.5" },
		{ "max_increase", is_increase, "a share such as 5% or a size such as 2GB" },
	};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (ends_with(scalar->path, kinds[i].field) && !kinds[i].holds(scalar->text)) {
			vc_errors_add(errors, &scalar->place, scalar->path,
			              "'%s' will not do (expected %s)", scalar->text,
			              kinds[i].expected);
		}
	}
}

/* What a rule says that can never fail is a slip. */
static const char *idle_part(const struct vc_policy_rule *rule)
{
	if (rule->gpu) {
		return NULL;
	}
	if (rule->min_headroom) {
		return "min_headroom goes with gpu";
	}
	if (rule->max_gpus && !rule->max_price) {
		return "max_gpus goes with gpu or max_price";
	}
	return rule->max_memory || rule->max_price || rule->max_increase
	               ? NULL
	               : "checks nothing (expected gpu, max_memory, max_price or max_increase)";
}

static void check_rules(const struct vc_policy *policy, const char *path, const char *text,
                        size_t length, struct vc_error_list *errors)
{
	for (uint32_t i = 0; i < policy->rules_count; i++) {
		const char *idle = idle_part(&policy->rules[i]);
		struct vc_text_mark mark;
		char field[32];

		if (idle) {
			snprintf(field, sizeof field, "rules[%" PRIu32 "]", i);
			mark = vc_yaml_place(text, length, field);
			vc_errors_add(errors, &(struct vc_place){ path, mark.line, mark.column },
			              field, "%s", idle);
		}
	}
}

struct vc_policy *vc_policy_read(const char *path, struct vc_error_list *errors)
{
	const struct vc_guard guard = {
		.schema = &policy_schema, .file = path, .path = "", .check = check
	};
	const struct vc_place place = { .file = path };
	cyaml_data_t *policy = NULL;
	cyaml_err_t problem = CYAML_OK;
	size_t length;
	char *text;

	if (vc_source_read_file(path, &text, &length, errors) != VC_OK) {
		return NULL;
	}
	if (vc_yaml_guard(&guard, text, length, errors)) {
		problem = cyaml_load_data((const uint8_t *)text, length, &config, &policy_schema,
		                          &policy, NULL);
	}
	if (policy) {
		check_rules(policy, path, text, length, errors);
	}
	free(text);
	if (problem != CYAML_OK) {
		vc_errors_add(errors, &place, "", "%s", cyaml_strerror(problem));
	}
	if (policy && errors->count) {
		vc_policy_free(policy);
		policy = NULL;
	}
	return policy;
}

void vc_policy_free(struct vc_policy *policy)
{
	cyaml_free(&config, &policy_schema, policy, 0);
}
