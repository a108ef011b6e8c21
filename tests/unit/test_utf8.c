#include "test.h"
#include "utf8.h"

static void only_text_passes(void **state)
{
	static const struct {
		const char *text;
		size_t length;
		const char *problem;
		uint32_t line, column;
	} rows[] = {
		{ "a: 1\r\n\tb\n", 9, NULL, 0, 0 },
		{ "\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80", 11, NULL, 0, 0 },
		{ "a\nb\0c", 5, "holds a NUL character (text is expected)", 2, 2 },
		{ "a\x1B[0m", 5, "holds a control character (text is expected)", 1, 2 },
		/* columns are characters: the one before has two bytes */
		{ "\xC3\xA9\xFF", 3, "is not UTF-8 (text in UTF-8 is expected)", 1, 2 },
		/* overlong '/', a surrogate, above U+10FFFF, cut short */
		{ "\xC0\xAF", 2, "is not UTF-8 (text in UTF-8 is expected)", 1, 1 },
		{ "\xE0\x80\xAF", 3, "is not UTF-8 (text in UTF-8 is expected)", 1, 1 },
		{ "\xED\xA0\x80", 3, "is not UTF-8 (text in UTF-8 is expected)", 1, 1 },
		{ "\xF4\x90\x80\x80", 4, "is not UTF-8 (text in UTF-8 is expected)", 1, 1 },
		{ "\xE2\x82", 2, "is not UTF-8 (text in UTF-8 is expected)", 1, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct vc_text_mark mark = { 0 };
		const char *problem = vc_text_problem(rows[i].text, rows[i].length, &mark);

		if (!rows[i].problem) {
			assert_null(problem);
			continue;
		}
		assert_non_null(problem);
		assert_string_equal(problem, rows[i].problem);
		assert_int_equal(mark.line, rows[i].line);
		assert_int_equal(mark.column, rows[i].column);
	}
}

static void surrogates_become_one_escape(void **state)
{
	static const struct {
		const char *json, *yaml;
	} rows[] = {
		/* RFC 8259 section 7: U+1D11E is "\uD834\uDD1E" */
		{ "{\"a\": \"x\\uD834\\uDD1Ey\", \"b\": 1}",
		  "{\"a\": \"x\\U0001D11Ey\"  , \"b\": 1}" },
		{ "\"\\ud83d\\ude00\\ud83d\\ude00\"", "\"\\U0001F600\\U0001F600\"    " },
		/* an escaped backslash before u, a lone half, and no string at all stay */
		{ "\"\\\\ud83d\\\\ude00\"", "\"\\\\ud83d\\\\ude00\"" },
		{ "\"\\ud83d \\u0041\"", "\"\\ud83d \\u0041\"" },
		{ "\\ud83d\\ude00", "\\ud83d\\ude00" },
		{ "\"\\ud83d\\ude0", "\"\\ud83d\\ude0" },
		{ "\"a\\", "\"a\\" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char text[64];
		size_t length = strlen(rows[i].json);

		memcpy(text, rows[i].json, length + 1);
		vc_text_join_surrogates(text, length);
		assert_string_equal(text, rows[i].yaml);
	}
}

static void infinities_become_zero(void **state)
{
	char text[] = "{\"limit\": [0.0, Infinity, -Infinity, NaN], \"NaN\": \"Infinity \\\"NaN\"}";

	(void)state;
	vc_text_replace_infinities(text, strlen(text));
	assert_string_equal(text, "{\"limit\": [0.0, 0       , 0        , 0  ], \"NaN\": "
	                          "\"Infinity \\\"NaN\"}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_text_passes),
		cmocka_unit_test(surrogates_become_one_escape),
		cmocka_unit_test(infinities_become_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
