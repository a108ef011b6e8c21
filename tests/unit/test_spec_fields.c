#include "spec_fields.h"
#include "spec_schema.h"
#include "test.h"

/* Both tables name the same fields. */
static size_t count_leaves(const cyaml_schema_value_t *value, const char *above)
{
	size_t leaves = 0;

	for (const cyaml_schema_field_t *field = value->mapping.fields; field->key; field++) {
		char path[128];
		size_t index;

		(void)snprintf(path, sizeof path, "%s%s%s", above, *above ? "." : "", field->key);
		if (field->value.type == CYAML_MAPPING) {
			leaves += count_leaves(&field->value, path);
			continue;
		}
		if (!vc_field_row_by_path(path, &index)) {
			fail_msg("%s has no row", path);
		}
		leaves++;
	}
	return leaves;
}

static void schema_and_table_agree(void **state)
{
	size_t rows = 0;
	const struct vc_spec_field *field;

	(void)state;
	for (; (field = vc_spec_field_at(rows)) != NULL; rows++) {
		void **slot;
		const cyaml_schema_field_t *bound = vc_spec_slot(NULL, field->path, false, &slot);

		if (!bound) {
			fail_msg("%s is not in the schema", field->path);
			return;
		}
		assert_int_equal(bound->value.type == CYAML_BOOL, field->kind == VC_FIELD_FLAG);
		assert_int_equal(bound->value.type == CYAML_SEQUENCE, field->kind == VC_FIELD_LIST);
		assert_int_equal(bound->value.type == CYAML_IGNORE, field->kind == VC_FIELD_TREE);
	}
	assert_int_equal(rows, count_leaves(&vc_spec_schema, ""));
}

static void every_choice_is_found_again(void **state)
{
	const struct vc_spec_field *field;
	const char *name;

	(void)state;
	for (size_t i = 0; (field = vc_spec_field_at(i)) != NULL; i++) {
		assert_true(field->kind != VC_FIELD_CHOICE || vc_spec_choice(field, 1));
		for (size_t j = 0; (name = vc_spec_choice(field, j)) != NULL; j++) {
			if (vc_choice_value(field->choices, name) == VC_NO_CHOICE) {
				fail_msg("%s does not take its own '%s'", field->path, name);
			}
		}
	}
}

static void defaults_pass_their_own_check(void **state)
{
	const struct vc_spec_field *field;

	(void)state;
	for (size_t i = 0; (field = vc_spec_field_at(i)) != NULL; i++) {
		struct vc_error_list errors = { 0 };
		struct vc_guard_scalar scalar = { .path = field->path, .text = field->fallback };

		assert_true(*field->summary);
		if (strchr(field->fallback, ' ') || strcmp(field->fallback, "all") == 0 ||
		    strcmp(field->fallback, "none") == 0 ||
		    strcmp(field->fallback, "unknown") == 0) {
			continue; /* said in words */
		}
		vc_spec_check(&scalar, &errors);
		if (errors.count) {
			fail_msg("%s: %s", field->path, errors.errors[0].message);
		}
	}
}

static void versions_are_numbers(void **state)
{
	static const struct {
		const char *text;
		bool good;
		struct vc_version version;
	} rows[] = {
		{ "0.11", true, { 0, 11, 0 } },        { "0.11.2", true, { 0, 11, 2 } },
		{ "0.10", true, { 0, 10, 0 } },        { "v0.8.5.post1", true, { 0, 8, 5 } },
		{ "b4567", true, { 4567, 0, 0 } },     { "2.6.0+cu124", true, { 2, 6, 0 } },
		{ "1.0.0rc1", true, { 1, 0, 0 } },     { "4", true, { 4, 0, 0 } },
		{ "newest", false, { 0, 0, 0 } },      { "", false, { 0, 0, 0 } },
		{ "0.11 or so", false, { 0, 0, 0 } },  { "v", false, { 0, 0, 0 } },
		{ "99999999999", false, { 0, 0, 0 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct vc_version version = { 0 };

		assert_int_equal(vc_version_parse(rows[i].text, &version), rows[i].good);
		assert_int_equal(version.major, rows[i].version.major);
		assert_int_equal(version.minor, rows[i].version.minor);
		assert_int_equal(version.patch, rows[i].version.patch);
	}
}

static void near_paths_are_offered(void **state)
{
	(void)state;
	assert_string_equal(vc_spec_field_nearest("batch_size"), "workload.batch_size");
	assert_string_equal(vc_spec_field_nearest("workload.batchsize"), "workload.batch_size");
	assert_null(vc_spec_field_nearest("xyzzy"));
}

static char *read_document(void)
{
	FILE *file = fopen(TESTS_DIR "/../docs/spec.md", "rb");
	char *text = calloc(1, 1 << 16);

	assert_non_null(file);
	assert_non_null(text);
	assert_true(fread(text, 1, (1 << 16) - 1, file) > 0);
	(void)fclose(file);
	return text;
}

/* Each field has a row with its default and its meaning, and each name that one takes is there. */
static void the_document_says_what_the_table_says(void **state)
{
	char *text = read_document();
	const struct vc_spec_field *field;
	const char *name;

	(void)state;
	for (size_t i = 0; (field = vc_spec_field_at(i)) != NULL; i++) {
		char start[160], end[400];
		const char *row;

		(void)snprintf(start, sizeof start, "\n| `%s` | ", field->path);
		(void)snprintf(end, sizeof end, " | %s | %s |\n", field->fallback, field->summary);
		row = strstr(text, start);
		if (!row || strncmp(strstr(row, end) ? strchr(row + 1, '\n') - strlen(end) + 1 : "",
		                    end, strlen(end)) != 0) {
			fail_msg("docs/spec.md has no row%s...%s", start, end);
		}
		for (size_t j = 0; (name = vc_spec_choice(field, j)) != NULL; j++) {
			(void)snprintf(start, sizeof start, "`%s`", name);
			if (!strstr(text, start)) {
				fail_msg("docs/spec.md does not name %s of %s", name, field->path);
			}
		}
	}
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(schema_and_table_agree),
		cmocka_unit_test(every_choice_is_found_again),
		cmocka_unit_test(defaults_pass_their_own_check),
		cmocka_unit_test(versions_are_numbers),
		cmocka_unit_test(near_paths_are_offered),
		cmocka_unit_test(the_document_says_what_the_table_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
