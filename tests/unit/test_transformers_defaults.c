/* Replays oracle/defaults.ndjson: each line is a default configuration of Hugging Face transformers
 * and the number of parameters that its own model code has, as oracle/transformers_defaults.py
 * found them. */
#include "config.h"
#include "test.h"

enum {
	MAX_ROWS = 800
};

struct row {
	cJSON *tree;
	const char *model_type;
};

static struct row rows[MAX_ROWS];
static size_t row_count;

static void count_agrees(void **state)
{
	const struct row *row = *state;
	const cJSON *config = cJSON_GetObjectItemCaseSensitive(row->tree, "config");
	const cJSON *wanted = cJSON_GetObjectItemCaseSensitive(row->tree, "parameters");
	struct vc_model *model = malloc(sizeof *model);
	struct vc_counts counts;
	struct vc_error error;
	uint64_t parameters;

	assert_true(json_count(wanted, &parameters));
	if (vc_config_to_model(config, model, &error) != VC_OK) {
		fail_msg("%s: %s: %s", row->model_type, error.field, error.message);
	}
	assert_int_equal(vc_model_count(model, &counts, &error), VC_OK);
	assert_true(model->known_family);
	assert_u64(counts.total, parameters);
	free(model);
}

static void a_hundred_types_agree(void **state)
{
	(void)state;
	assert_true(row_count >= 200);
}

static void read_rows(void)
{
	FILE *file = fopen(TESTS_DIR "/oracle/defaults.ndjson", "r");
	char *line = NULL;
	size_t size = 0;
	ssize_t length;

	if (!file) {
		fail_msg("oracle/defaults.ndjson cannot be read");
	}
	while (row_count < MAX_ROWS && (length = getline(&line, &size, file)) > 0) {
		struct row *row = &rows[row_count++];
		struct vc_error error;

		row->tree = json_parse(line, (size_t)length, &error);
		assert_non_null(row->tree);
		row->model_type = cJSON_GetStringValue(
		        cJSON_GetObjectItemCaseSensitive(row->tree, "model_type"));
		assert_non_null(row->model_type);
	}
	free(line);
	fclose(file);
}

int main(void)
{
	static struct CMUnitTest tests[MAX_ROWS + 1] = { cmocka_unit_test(a_hundred_types_agree) };
	int failed;

	read_rows();
	for (size_t i = 0; i < row_count; i++) {
		tests[i + 1] = (struct CMUnitTest){ .name = rows[i].model_type,
			                            .test_func = count_agrees,
			                            .initial_state = &rows[i] };
	}
	failed = _cmocka_run_group_tests("transformers_defaults", tests, row_count + 1, NULL, NULL);
	for (size_t i = 0; i < row_count; i++) {
		cJSON_Delete(rows[i].tree);
	}
	return failed;
}
