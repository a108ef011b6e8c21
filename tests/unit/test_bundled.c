#include "bundled.h"
#include "spec.h"
#include "test.h"

enum {
	MAX_ROWS = 400,
	LINE = 512
};

/* A row of data/published_counts.csv: model,parameters,includes,source. `includes` says what the
 * published number counts: the model alone, the next-token layers too, or a head that files store
 * although it is tied. */
struct row {
	char model[80];
	uint64_t parameters;
	char includes[24];
};

static struct row rows[MAX_ROWS];
static size_t row_count;

static void names_are_in_order_and_found(void **state)
{
	const char *before = "";
	size_t count = 0;

	(void)state;
	for (const char *name; (name = vc_bundled_name(count)); count++) {
		const char *text = NULL;
		size_t length = 0;

		assert_true(strcmp(before, name) < 0);
		assert_true(vc_bundled_find(name, &text, &length));
		assert_int_equal(strlen(text), length);
		assert_non_null(strstr(text, "\nversion: 1\n"));
		before = name;
	}
	assert_true(count >= 12);
	assert_null(vc_bundled_name(count + 1000));
}

static void case_and_separators_do_not_matter(void **state)
{
	static const char *const spellings[] = { "llama-2-7b", "Llama2-7B", "LLAMA_2_7b",
		                                 "meta-llama/Llama-2-7b-hf", "llama 2 7b" };
	const char *first = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
		const char *text = NULL;
		size_t length = 0;

		assert_true(vc_bundled_find(spellings[i], &text, &length));
		if (i == 0) {
			first = text;
			assert_non_null(strstr(text, "  name: Llama-2-7B\n"));
		}
		assert_ptr_equal(text, first);
	}
}

static void other_names_are_not_found(void **state)
{
	static const char *const others[] = {
		"", "-", "llama", "llama-2-7", "llama-2-7b-hg", "zzz", "0", "llama-2-7bb"
	};
	const char *text = NULL;
	size_t length = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		assert_false(vc_bundled_find(others[i], &text, &length));
	}
}

static void every_model_has_a_published_count(void **state)
{
	(void)state;
	assert_true(row_count >= 250);
	for (size_t i = 0; i < row_count; i++) {
		const char *name = vc_bundled_name(i);

		assert_non_null(name);
		assert_string_equal(name, rows[i].model);
	}
	assert_null(vc_bundled_name(row_count));
}

static uint64_t counted(const struct vc_model *model, const char *includes)
{
	struct vc_counts counts;
	struct vc_error error;

	assert_int_equal(vc_model_count(model, &counts, &error), VC_OK);
	if (strcmp(includes, "mtp") == 0) {
		return counts.total + counts.mtp;
	}
	if (strcmp(includes, "stored_head") == 0) {
		return counts.total + model->vocab_size * model->stacks[0].hidden_size;
	}
	return counts.total;
}

static void published_count_is_met(void **state)
{
	const struct row *row = *state;
	struct vc_error_list errors = { 0 };
	struct vc_spec spec;

	if (vc_spec_read(row->model, NULL, &spec, &errors) != VC_OK) {
		fail_msg("%s: %s: %s", row->model, errors.errors[0].field,
		         errors.errors[0].message);
	}
	assert_true(spec.model->known_family);
	assert_int_equal(spec.model->source, VC_SOURCE_BUNDLED);
	assert_u64(counted(spec.model, row->includes), row->parameters);
	vc_spec_free(&spec);
}

static void read_rows(void)
{
	FILE *file = fopen(TESTS_DIR "/data/published_counts.csv", "r");
	char line[LINE];

	if (!file || !fgets(line, sizeof line, file)) {
		fail_msg("data/published_counts.csv cannot be read");
	}
	while (row_count < MAX_ROWS && fgets(line, sizeof line, file)) {
		struct row *row = &rows[row_count];

		if (sscanf(line, "%79[^,],%" SCNu64 ",%23[^,]", row->model, &row->parameters,
		           row->includes) != 3) {
			fail_msg("not a row: %s", line);
		}
		row_count++;
	}
	fclose(file);
}

int main(void)
{
	static struct CMUnitTest tests[MAX_ROWS + 4] = {
		cmocka_unit_test(names_are_in_order_and_found),
		cmocka_unit_test(case_and_separators_do_not_matter),
		cmocka_unit_test(other_names_are_not_found),
		cmocka_unit_test(every_model_has_a_published_count),
	};
	size_t count = 4;

	read_rows();
	for (size_t i = 0; i < row_count; i++) {
		tests[count++] = (struct CMUnitTest){ .name = rows[i].model,
			                              .test_func = published_count_is_met,
			                              .initial_state = &rows[i] };
	}
	return _cmocka_run_group_tests("bundled", tests, count, NULL, NULL);
}
