#include "test.h"
#include "yaml_guard.h"

#include <cjson/cJSON.h>
#include <cyaml/cyaml.h>

struct item {
	char *name;
	uint64_t count;
	bool flag;
	int kind;
};
struct top {
	struct item *items;
	uint32_t items_count;
};

static const cyaml_strval_t kinds[] = { { "a", 0 }, { "b", 1 } };
static const cyaml_schema_field_t item_fields[] = {
	CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_POINTER, struct item, name, 0, 8),
	CYAML_FIELD_UINT("count", CYAML_FLAG_OPTIONAL, struct item, count),
	CYAML_FIELD_BOOL("flag", CYAML_FLAG_OPTIONAL, struct item, flag),
	CYAML_FIELD_ENUM("kind", CYAML_FLAG_OPTIONAL | CYAML_FLAG_STRICT, struct item, kind, kinds,
	                 2),
	CYAML_FIELD_IGNORE("free", CYAML_FLAG_OPTIONAL),
	CYAML_FIELD_END,
};
static const cyaml_schema_value_t item_value = { CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT,
	                                                             struct item, item_fields) };
static const cyaml_schema_field_t top_fields[] = {
	CYAML_FIELD_SEQUENCE("items", CYAML_FLAG_POINTER, struct top, items, &item_value, 0, 3),
	CYAML_FIELD_END,
};
static const cyaml_schema_value_t top_value = { CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct top,
	                                                            top_fields) };

static cJSON *tree;

static void expect(const char *text, const char *lines)
{
	struct vc_guard guard = { .schema = &top_value, .file = "f", .path = "", .tree = &tree };
	struct vc_error_list errors = { 0 };
	char got[4096] = "", line[VC_ERROR_TEXT];
	bool good = vc_yaml_guard(&guard, text, strlen(text), &errors);

	for (size_t i = 0, at = 0; i < vc_errors_kept(&errors); i++) {
		at += (size_t)snprintf(got + at, sizeof got - at, "%s\n",
		                       vc_error_format(&errors.errors[i], line));
	}
	assert_int_equal(good, !*lines);
	if (strcmp(got, lines) != 0) {
		fail_msg("%s\n--- expected\n%s--- came out\n%s", text, lines, got);
	}
}

/* What libcyaml 1.3.1 takes for something else, or for nothing. */
static void what_libcyaml_misreads_is_refused(void **state)
{
	static const char *const counts[] = { "7B",
		                              "7e9",
		                              "7.5",
		                              "1_000",
		                              "-1",
		                              "010",
		                              "0x10",
		                              "0b1",
		                              "\"7\"",
		                              "+7",
		                              "x",
		                              "[7]",
		                              "100000000000000000000" };
	static const char *const flags[] = { "yes", "no", "True", "maybe", "1", "\"true\"" };
	char text[128], line[256];

	(void)state;
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		bool list = counts[i][0] == '[';

		(void)snprintf(text, sizeof text, "items: [{name: x, count: %s}]", counts[i]);
		(void)snprintf(line, sizeof line, "f:1:26: items[0].count: %s\n",
		               list ? "is a list (a single value is expected)"
		                    : "is not a whole number (digits alone are expected)");
		expect(text, line);
	}
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
		(void)snprintf(text, sizeof text, "items: [{name: x, flag: %s}]", flags[i]);
		expect(text, "f:1:25: items[0].flag: is neither true nor false (one of them is "
		             "expected)\n");
	}
	expect("items: [{name: x, count: }]",
	       "f:1:26: items[0].count: is empty (a value is expected)\n");
	expect("items: [{name: x, kind: c}]",
	       "f:1:25: items[0].kind: unknown 'c' (one of a, b is expected)\n");
	expect("items: [{name: 123456789}]",
	       "f:1:16: items[0].name: is too long (at most 8 bytes are expected)\n");
	expect("items: ~", "f:1:8: items: is empty (a value is expected)\n");
	expect("items: [{name: }]", "f:1:16: items[0].name: is empty (a value is expected)\n");
	expect("items: [{name: a}, {name: a}, {name: a}, {name: a}]",
	       "f:1:42: items: has too many entries (at most 3 are expected)\n");
	expect("items: [{name: a},\n {}]", "f:2:2: items[1].name: is missing (it is required)\n");
	expect("{}", "f:1:1: items: is missing (it is required)\n");
	expect("items: [{name: x, count: 18446744073709551615, flag: true, kind: b}]", "");
}

static void free_subtrees_become_json(void **state)
{
	char *json;

	(void)state;
	expect("items:\n"
	       "- name: x\n"
	       "  free: {a: 4096, b: 1e-5, c: true, d: null, e: ~, f: \"7\", g: 0x10, h: yes,\n"
	       "    i: [1, [2], {j: -3}], k: 010, l: 1.5, m: .5, n: llama}\n",
	       "");
	json = cJSON_PrintUnformatted(tree);
	assert_string_equal(json,
	                    "{\"a\":4096,\"b\":1e-05,\"c\":true,\"d\":null,\"e\":null,\"f\":\"7\","
	                    "\"g\":\"0x10\",\"h\":\"yes\",\"i\":[1,[2],{\"j\":-3}],\"k\":\"010\","
	                    "\"l\":1.5,\"m\":\".5\",\"n\":\"llama\"}");
	free(json);
	cJSON_Delete(tree);
	tree = NULL;
}

static void free_subtrees_have_limits(void **state)
{
	enum {
		LIMIT = 400000
	};
	char *text = malloc(LIMIT), line[128];
	size_t at, column = 0;

	(void)state;
	assert_non_null(text);
	expect("items: [{name: x, free: {? [a] : 1}}]",
	       "f:1:28: has a key that is not a word (a name is expected)\n");
	cJSON_Delete(tree);
	expect("items: [{name: x, free: {a: [1, 1e300]}}]",
	       "f:1:33: items[0].free: is too large (a number below 2^53 is expected)\n");
	cJSON_Delete(tree);
	at = (size_t)snprintf(text, LIMIT, "items: [{name: x, free: {");
	for (int i = 0; i < 1025; i++) {
		column = at + 1;
		at += (size_t)snprintf(text + at, LIMIT - at, "k%d: 1,", i);
	}
	(void)snprintf(text + at, LIMIT - at, "}}]");
	(void)snprintf(line, sizeof line,
	               "f:1:%zu: has too many keys (at most 1024 are expected)\n", column);
	expect(text, line);
	cJSON_Delete(tree);
	/* the mapping, the list and 65534 entries are the values that are allowed */
	at = (size_t)snprintf(text, LIMIT, "items: [{name: x, free: {a: [");
	column = at + 1 + (size_t)65534 * 2;
	for (int i = 0; i < 65536; i++) {
		at += (size_t)snprintf(text + at, LIMIT - at, "1,");
	}
	(void)snprintf(text + at, LIMIT - at, "]}}]");
	(void)snprintf(line, sizeof line,
	               "f:1:%zu: is too large (at most 65536 values are expected)\n", column);
	expect(text, line);
	cJSON_Delete(tree);
	tree = NULL;
	free(text);
}

static void words_get_brackets(void **state)
{
	struct vc_yaml_wraps wraps = { .count = 2, .begins = { 3, 10 }, .ends = { 7, 11 } };
	size_t length = strlen("a: \xC3\xA9l\xC3\xA9 x\nb: y");
	char *text = vc_yaml_bracket("a: \xC3\xA9l\xC3\xA9 x\nb: y", &length, &wraps);

	(void)state;
	assert_string_equal(text, "a: [\xC3\xA9l\xC3\xA9 ]x\nb[:] y");
	assert_int_equal(length, strlen(text));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_libcyaml_misreads_is_refused),
		cmocka_unit_test(free_subtrees_become_json),
		cmocka_unit_test(free_subtrees_have_limits),
		cmocka_unit_test(words_get_brackets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
