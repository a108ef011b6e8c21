#include "test.h"
#include "text.h"

static void messages_are_put_together(void **state)
{
	struct vc_error error;

	(void)state;
	assert_int_equal(vc_fail(&error, VC_INVALID, "a.b", "%u of %s", UINT64_MAX, "x%s"),
	                 VC_INVALID);
	assert_string_equal(error.message, "18446744073709551615 of x%s");
	assert_string_equal(error.field, "a.b");
	assert_int_equal(error.status, VC_INVALID);
	vc_fail(&error, VC_OVERFLOW, "", "%u %%", (uint64_t)0);
	assert_string_equal(error.message, "0 %%");
}

static void long_messages_are_cut(void **state)
{
	char field[400];
	struct vc_error error;

	(void)state;
	memset(field, 'f', sizeof field - 1);
	field[sizeof field - 1] = '\0';
	vc_fail(&error, VC_INVALID, field, "%s%s", field, field);
	assert_int_equal(strlen(error.field), sizeof error.field - 1);
	assert_int_equal(strlen(error.message), sizeof error.message - 1);
}

static void names_ignore_case_and_separators(void **state)
{
	(void)state;
	assert_true(vc_same_name("A100 80GB", "a100-80gb"));
	assert_true(vc_same_name("llama.cpp", "LlamaCpp"));
	assert_true(vc_same_name("sgd_momentum-", "SGD-Momentum"));
	assert_false(vc_same_name("a100", "a10"));
	assert_false(vc_same_name("", "a"));
	assert_true(vc_same_name("", "-_"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_are_put_together),
		cmocka_unit_test(long_messages_are_cut),
		cmocka_unit_test(names_ignore_case_and_separators),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
