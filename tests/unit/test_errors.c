#include "errors.h"
#include "test.h"

static void a_line_names_what_is_known(void **state)
{
	char text[VC_ERROR_TEXT];
	struct vc_error_list list = { 0 };

	(void)state;
	vc_errors_add(&list, &(struct vc_place){ "a.yaml", 3, 5 }, "workload.batch_size",
	              "must be at least %d", 1);
	vc_errors_add(&list, &(struct vc_place){ "a.yaml", 0, 0 }, "", "is a folder");
	vc_errors_add(&list, &(struct vc_place){ NULL, 0, 0 }, "engine.name", "unknown");
	vc_errors_add(&list, &(struct vc_place){ "gpus.csv", 7, 0 }, "", "too short");
	assert_string_equal(vc_error_format(&list.errors[0], text),
	                    "a.yaml:3:5: workload.batch_size: must be at least 1");
	assert_string_equal(vc_error_format(&list.errors[1], text), "a.yaml: is a folder");
	assert_string_equal(vc_error_format(&list.errors[2], text), "engine.name: unknown");
	assert_string_equal(vc_error_format(&list.errors[3], text), "gpus.csv:7: too short");
}

static void control_characters_do_not_reach_the_terminal(void **state)
{
	char text[VC_ERROR_TEXT];
	struct vc_error_list list = { 0 };

	(void)state;
	vc_errors_add(&list, &(struct vc_place){ "a\033[31m", 1, 1 }, "b\n", "'\a' is not text");
	assert_string_equal(vc_error_format(&list.errors[0], text),
	                    "a?[31m:1:1: b?: '?' is not text");
}

static void long_text_is_cut_at_a_character(void **state)
{
	char text[VC_ERROR_TEXT], wide[1001];
	struct vc_error_list list = { 0 };

	(void)state;
	/* 500 times U+00E9, two bytes each: an odd limit falls inside a character */
	for (size_t i = 0; i < 1000; i += 2) {
		memcpy(wide + i, "\xC3\xA9", 2);
	}
	wide[1000] = '\0';
	vc_errors_add(&list, &(struct vc_place){ wide, 1, 1 }, wide, "%s", wide);
	vc_error_format(&list.errors[0], text);
	assert_int_equal(strlen(list.errors[0].file), 252 + 3);
	assert_int_equal(strlen(list.errors[0].field), 124 + 3);
	assert_int_equal(strlen(list.errors[0].message), 316 + 3);
	assert_memory_equal(list.errors[0].message + 314, "\xC3\xA9...", 6);
}

static void a_full_list_counts_on(void **state)
{
	struct vc_error_list list = { 0 };

	(void)state;
	assert_int_equal(vc_errors_status(&list), VC_OK);
	for (size_t i = 0; i < 1000; i++) {
		vc_errors_append(&list, &(struct vc_error){ .status = VC_IO });
	}
	assert_int_equal(list.count, 1000);
	assert_int_equal(vc_errors_kept(&list), VC_MAX_ERRORS);
	assert_int_equal(vc_errors_status(&list), VC_IO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_names_what_is_known),
		cmocka_unit_test(control_characters_do_not_reach_the_terminal),
		cmocka_unit_test(long_text_is_cut_at_a_character),
		cmocka_unit_test(a_full_list_counts_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
