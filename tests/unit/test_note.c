#include "test.h"

#include "note.h"

static void assert_note(const char *template, uint64_t argument, const char *want)
{
	struct vc_note note = { "code", template, { argument, 8, 64 } };
	char got[256];

	note_render(got, sizeof got, &note, UNIT_GB);
	assert_string_equal(got, want);
}

static void arguments_take_their_form(void **state)
{
	(void)state;
	assert_note("The {1} of {2} heads.", 0, "The 8 of 64 heads.");
	assert_note("It takes {0B}.", 13500000000, "It takes 13.5 GB.");
	assert_note("About {0%} more.", 200000, "About 20 % more.");
	assert_note("{0%}", 125000, "12.5 %.");
	assert_note("{0} head{0s} of {1} layer{1s}", 1, "1 head of 8 layers.");
	assert_note("{0}", 18446744073709551615u, "18446744073709551615.");
}

static void other_braces_stay(void **state)
{
	(void)state;
	assert_note("a {b} {3} {", 1, "A {b} {3} {.");
	assert_note("", 1, "");
}

static void phrases_become_sentences(void **state)
{
	(void)state;
	assert_note("the loss holds {0}", 8, "The loss holds 8.");
	assert_note("vllm fills the GPU", 1, "vllm fills the GPU.");
	assert_note("model.params wins", 1, "model.params wins.");
	assert_note("q_proj alone.", 1, "q_proj alone.");
}

static void numbers_replace_whole_names(void **state)
{
	struct vc_line line = {
		.formula = "2 × batch × b / (t × p)",
		.input_count = 4,
		.inputs = { { "b", 1, 2 }, { "batch", 3, 1 }, { "t", 4, 1 }, { "p", 5, 1 } },
	};
	char got[256];

	(void)state;
	formula_render(got, sizeof got, &line);
	assert_string_equal(got, "2 × 3 × 0.5 / (4 × 5)");
}

static void unknown_names_stay(void **state)
{
	struct vc_line line = { .formula = "P_train × b",
		                .input_count = 1,
		                .inputs = { { "P", 7, 1 } } };
	char got[256];

	(void)state;
	formula_render(got, sizeof got, &line);
	assert_string_equal(got, "P_train × b");
}

static void known_names_are_explained(void **state)
{
	struct vc_line line = { .input_count = 3,
		                .inputs = { { "P", 7, 1 }, { "odd", 1, 1 }, { "b", 2, 1 } } };
	char got[256];

	(void)state;
	formula_legend(got, sizeof got, &line);
	assert_string_equal(got, "P: parameters; b: bytes per element");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments_take_their_form),
		cmocka_unit_test(other_braces_stay),
		cmocka_unit_test(phrases_become_sentences),
		cmocka_unit_test(numbers_replace_whole_names),
		cmocka_unit_test(unknown_names_stay),
		cmocka_unit_test(known_names_are_explained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
