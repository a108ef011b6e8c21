#include "test.h"
#include "yaml_place.h"

static const char yaml[] = "version: 1\n"
                           "model:\n"
                           "  name: x\n"
                           "  architecture:\n"
                           "    hidden_size: 4096\n"
                           "    layer_types: [a,\n"
                           "      b, {c: 1}]\n"
                           "hardware: {gpus: [t4, a10]}\n";

static void paths_lead_to_values(void **state)
{
	static const struct {
		const char *path;
		uint32_t line, column;
	} rows[] = {
		{ "", 1, 1 },
		{ "version", 1, 10 },
		{ "model.name", 3, 9 },
		{ "model.architecture", 5, 5 },
		{ "model.architecture.hidden_size", 5, 18 },
		{ "model.architecture.layer_types[1]", 7, 7 },
		{ "model.architecture.layer_types[2].c", 7, 14 },
		{ "hardware.gpus[1]", 8, 23 },
		/* what is not there is looked for as far as the path leads */
		{ "model.architecture.num_heads", 5, 5 },
		{ "model.architecture.layer_types[7]", 6, 18 },
		{ "model.name.first", 3, 9 },
		{ "hard", 1, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct vc_text_mark mark = vc_yaml_place(yaml, sizeof yaml - 1, rows[i].path);

		if (mark.line != rows[i].line || mark.column != rows[i].column) {
			fail_msg("%s: %u:%u", rows[i].path, mark.line, mark.column);
		}
	}
}

static void json_has_places_too(void **state)
{
	static const char json[] = "{\"a\":[{\"b\":1},\n{\"b\":2}]}";
	struct vc_text_mark mark = vc_yaml_place(json, sizeof json - 1, "a[1].b");

	(void)state;
	assert_int_equal(mark.line, 2);
	assert_int_equal(mark.column, 6);
}

static void broken_text_has_none_or_the_last(void **state)
{
	char deep[1001];

	(void)state;
	assert_int_equal(vc_yaml_place("\"", 1, "a").line, 0);
	assert_int_equal(vc_yaml_place("", 0, "a").line, 0);
	assert_int_equal(vc_yaml_place("]}", 2, "a").line, 0);
	memset(deep, '[', 1000);
	assert_int_equal(vc_yaml_place(deep, 1000, "[0][0]").line, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_lead_to_values),
		cmocka_unit_test(json_has_places_too),
		cmocka_unit_test(broken_text_has_none_or_the_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
