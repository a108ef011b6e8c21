#include "test.h"

#include "print_text.h"

static void assert_copy(const char *from, bool utf8, const char *want)
{
	char got[64];

	assert_u64(text_copy(got, sizeof got, from, utf8), strlen(want));
	assert_string_equal(got, want);
}

static void symbols_have_a_likeness_in_ascii(void **state)
{
	(void)state;
	assert_copy("P × b ≥ 2 – 3", true, "P × b ≥ 2 – 3");
	assert_copy("P × b ≥ 2 – 3", false, "P x b >= 2 - 3");
	assert_copy("日本", false, "??");
}

static void what_drives_a_terminal_is_shown_instead(void **state)
{
	(void)state;
	assert_copy("a\033[31mb\nc\177", true, "a\\x1b[31mb\\x0ac\\x7f");
	assert_copy("\xc2\x9b", true, "\\x9b"); /* U+009b starts a sequence like ESC [ */
	assert_copy("\xff\xc3", true, "\\xff\\xc3");
	assert_copy("\xed\xa0\x80", true, "\\xed\\xa0\\x80"); /* a surrogate */
}

static void whole_characters_are_cut(void **state)
{
	char got[4];

	(void)state;
	assert_u64(text_copy(got, sizeof got, "ab×", true), 2);
	assert_string_equal(got, "ab");
	assert_u64(text_copy(got, sizeof got, "a×b", true), 3);
	assert_string_equal(got, "a×");
}

static void width_counts_characters(void **state)
{
	(void)state;
	assert_u64(text_width("P × b"), 5);
	assert_u64(text_width(""), 0);
}

static void appending_stops_at_the_end(void **state)
{
	char got[6] = "abc";

	(void)state;
	text_append(got, sizeof got, "%d", 123);
	assert_string_equal(got, "abc12");
	text_append(got, sizeof got, "x");
	assert_string_equal(got, "abc12");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(symbols_have_a_likeness_in_ascii),
		cmocka_unit_test(what_drives_a_terminal_is_shown_instead),
		cmocka_unit_test(whole_characters_are_cut),
		cmocka_unit_test(width_counts_characters),
		cmocka_unit_test(appending_stops_at_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
