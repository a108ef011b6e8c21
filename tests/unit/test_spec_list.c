#include "spec_list.h"
#include "test.h"

#include <unistd.h>

static bool open_one(struct spec_list *list, const char *operand)
{
	struct text_list operands = { &operand, 1 };

	return spec_list_open(list, &operands);
}

static void files_and_names_stay_as_they_are(void **state)
{
	struct spec_list list;

	(void)state;
	assert_true(open_one(&list, "no-such-file.yaml"));
	assert_int_equal(list.count, 1);
	assert_string_equal(list.names[0], "no-such-file.yaml");
	spec_list_close(&list);
	assert_true(open_one(&list, "-"));
	assert_string_equal(list.names[0], "-");
	spec_list_close(&list);
}

static void folders_and_globs_stand_for_their_specs(void **state)
{
	struct spec_list list;

	(void)state;
	assert_true(open_one(&list, "data/configs"));
	assert_true(list.count >= 100);
	for (size_t i = 1; i < list.count; i++) {
		assert_true(strcmp(list.names[i - 1], list.names[i]) < 0);
	}
	spec_list_close(&list);
	assert_true(open_one(&list, "docs/files/sm*.yaml"));
	assert_int_equal(list.count, 1);
	spec_list_close(&list);
}

static void nothing_found_is_said(void **state)
{
	struct spec_list list;

	(void)state;
	assert_null(freopen("/dev/null", "w", stderr) ? NULL : "no /dev/null");
	assert_false(open_one(&list, "docs/files/*.toml"));
	spec_list_close(&list);
}

static void a_folder_without_specs_is_left_to_its_reader(void **state)
{
	struct spec_list list;

	(void)state;
	assert_true(open_one(&list, "cli/help"));
	assert_int_equal(list.count, 1);
	assert_string_equal(list.names[0], "cli/help");
	spec_list_close(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_and_names_stay_as_they_are),
		cmocka_unit_test(folders_and_globs_stand_for_their_specs),
		cmocka_unit_test(a_folder_without_specs_is_left_to_its_reader),
		cmocka_unit_test(nothing_found_is_said),
	};

	if (chdir(TESTS_DIR) != 0) {
		return 1;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
