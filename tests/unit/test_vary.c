#include "test.h"

#include "vary.h"

static bool parse(struct variations *variations, const char *const *words, char **message)
{
	struct text_list list = { .items = (const char **)words };
	size_t length;
	FILE *errors = open_memstream(message, &length);
	bool good;

	while (words[list.count]) {
		list.count++;
	}
	good = variations_parse(variations, &list, errors);
	fclose(errors);
	return good;
}

static void assert_values(const char *word, const char *want)
{
	const char *words[] = { word, NULL };
	struct variations variations;
	char *message, got[256] = "";

	assert_true(parse(&variations, words, &message));
	for (size_t i = 0; i < variations.fields[0].count; i++) {
		strcat(got, i ? " " : "");
		strcat(got, setting_value(variations.fields[0].settings[i]));
	}
	assert_string_equal(got, want);
	variations_free(&variations);
	free(message);
}

static void values_and_ranges_are_spelled_out(void **state)
{
	(void)state;
	assert_values("workload.batch_size=1,8", "1 8");
	assert_values("workload.precision=fp16,bf16", "fp16 bf16");
	assert_values("workload.batch_size=1..4", "1 2 3 4");
	assert_values("workload.batch_size=1..64*2", "1 2 4 8 16 32 64");
	assert_values("workload.batch_size=1..50*3", "1 3 9 27");
	assert_values("workload.sequence_length=1Ki..4Ki+1Ki", "1024 2048 3072 4096");
	assert_values("workload.sequence_length=0..10+4", "0 4 8");
	assert_values("workload.batch_size=1,4..6,100", "1 4 5 6 100");
	assert_values("workload.batch_size=3..3", "3");
	assert_values("model.architecture.num_hidden_layers=16,32", "16 32");
}

static void combinations_change_the_last_field_fastest(void **state)
{
	const char *words[] = { "workload.batch_size=1,2", "workload.precision=fp32,fp16,int8",
		                NULL };
	struct variations variations;
	const char *settings[VARY_FIELDS];
	char *message;

	(void)state;
	assert_true(parse(&variations, words, &message));
	assert_u64(variations.combinations, 6);
	variations_at(&variations, 0, settings);
	assert_string_equal(settings[0], "--vary:workload.batch_size=1");
	assert_string_equal(settings[1], "--vary:workload.precision=fp32");
	variations_at(&variations, 4, settings);
	assert_string_equal(settings[0], "--vary:workload.batch_size=2");
	assert_string_equal(settings[1], "--vary:workload.precision=fp16");
	variations_free(&variations);
	free(message);
}

static void assert_refused(const char *word, const char *want)
{
	const char *words[] = { word, NULL };
	struct variations variations;
	char *message;

	assert_false(parse(&variations, words, &message));
	assert_string_equal(message, want);
	variations_free(&variations);
	free(message);
}

static void mistakes_are_named(void **state)
{
	(void)state;
	assert_refused("workload.bach_size=1",
	               "vramcalc compare: --vary: \"workload.bach_size=1\": no such field (did you "
	               "mean workload.batch_size?)\n");
	assert_refused("workload.batch_size",
	               "vramcalc compare: --vary: \"workload.batch_size\": no values (expected "
	               "FIELD=V1,V2,...)\n");
	assert_refused("workload.batch_size=1,,2",
	               "vramcalc compare: --vary: \"workload.batch_size=1,,2\": a value is missing "
	               "(expected FIELD=V1,V2,...)\n");
	assert_refused("workload.batch_size=8..1",
	               "vramcalc compare: --vary: \"workload.batch_size=8..1\": no range (expected "
	               "A..B, A..B+STEP or A..B*FACTOR)\n");
	assert_refused("workload.batch_size=1..8*1",
	               "vramcalc compare: --vary: \"workload.batch_size=1..8*1\": no range "
	               "(expected A..B, A..B+STEP or A..B*FACTOR)\n");
	assert_refused("workload.batch_size=1..1000000",
	               "vramcalc compare: --vary: \"workload.batch_size=1..1000000\": too many "
	               "values (expected at most 4096 of a field)\n");
}

static void ranges_end_at_the_largest_number(void **state)
{
	(void)state;
	assert_values("workload.batch_size=9223372036854775806..9223372036854775807",
	              "9223372036854775806 9223372036854775807");
	assert_values("workload.batch_size=4611686018427387904..9223372036854775807*2",
	              "4611686018427387904");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_and_ranges_are_spelled_out),
		cmocka_unit_test(combinations_change_the_last_field_fastest),
		cmocka_unit_test(mistakes_are_named),
		cmocka_unit_test(ranges_end_at_the_largest_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
