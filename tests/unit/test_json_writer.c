#include "test.h"

#include "json_writer.h"

static char *text;
static size_t length;

static void start(struct json_writer *w, bool compact)
{
	*w = (struct json_writer){ .out = open_memstream(&text, &length), .compact = compact };
	assert_non_null(w->out);
}

static void assert_written(struct json_writer *w, const char *want)
{
	fclose(w->out);
	assert_string_equal(text, want);
	free(text);
}

static void integers_keep_every_digit(void **state)
{
	struct json_writer w;

	(void)state;
	start(&w, true);
	json_open(&w, NULL, '[');
	json_u64(&w, NULL, 9007199254740993); /* 2^53 + 1 */
	json_u64(&w, NULL, UINT64_MAX);
	json_i64(&w, NULL, INT64_MIN);
	json_close(&w, ']');
	assert_written(&w, "[9007199254740993, 18446744073709551615, -9223372036854775808]\n");
}

static void ratios_are_decimals(void **state)
{
	struct json_writer w;

	(void)state;
	start(&w, true);
	json_open(&w, NULL, '[');
	json_ratio(&w, NULL, 1, 2);
	json_ratio(&w, NULL, 526000, 1000000);
	json_ratio(&w, NULL, 4, 2);
	json_ratio(&w, NULL, 1, 3);
	json_close(&w, ']');
	assert_written(&w, "[0.5, 0.526, 2, 0.33333333333333333]\n");
}

static void values_nest(void **state)
{
	struct json_writer w;

	(void)state;
	start(&w, false);
	json_open(&w, NULL, '{');
	json_text(&w, "name", "a");
	json_open(&w, "list", '[');
	json_open(&w, NULL, '{');
	json_close(&w, '}');
	json_null(&w, NULL);
	json_close(&w, ']');
	json_open_line(&w, "inputs", '{');
	json_u64(&w, "P", 7);
	json_open(&w, "deep", '[');
	json_bool(&w, NULL, true);
	json_close(&w, ']');
	json_close(&w, '}');
	json_bool(&w, "last", false);
	json_close(&w, '}');
	assert_written(&w, "{\n"
	                   "  \"name\": \"a\",\n"
	                   "  \"list\": [\n"
	                   "    {},\n"
	                   "    null\n"
	                   "  ],\n"
	                   "  \"inputs\": {\"P\": 7, \"deep\": [true]},\n"
	                   "  \"last\": false\n"
	                   "}\n");
}

static void lines_follow_each_other(void **state)
{
	struct json_writer w;

	(void)state;
	start(&w, true);
	for (uint64_t i = 0; i < 2; i++) {
		json_open(&w, NULL, '{');
		json_u64(&w, "i", i);
		json_close(&w, '}');
	}
	assert_written(&w, "{\"i\": 0}\n{\"i\": 1}\n");
}

static void text_is_escaped_and_valid(void **state)
{
	struct json_writer w;

	(void)state;
	start(&w, true);
	json_open(&w, NULL, '[');
	json_text(&w, NULL, "a\"b\\c\n\x01\x7f");
	json_text(&w, NULL, "P × b");
	json_text(&w, NULL, "\xff\xc3");
	json_text(&w, NULL, NULL);
	json_close(&w, ']');
	assert_written(&w, "[\"a\\\"b\\\\c\\u000a\\u0001\\u007f\", \"P × b\", "
	                   "\"\\ufffd\\ufffd\", null]\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_keep_every_digit),
		cmocka_unit_test(ratios_are_decimals),
		cmocka_unit_test(values_nest),
		cmocka_unit_test(lines_follow_each_other),
		cmocka_unit_test(text_is_escaped_and_valid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
