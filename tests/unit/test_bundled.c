#include "bundled.h"
#include "test.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_in_order_and_found),
		cmocka_unit_test(case_and_separators_do_not_matter),
		cmocka_unit_test(other_names_are_not_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
