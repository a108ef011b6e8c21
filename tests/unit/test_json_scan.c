#include "json_scan.h"
#include "test.h"

static const char *text;

static ptrdiff_t read_text(void *context, uint64_t offset, void *bytes, size_t size)
{
	size_t length = strlen(text);

	(void)context;
	/* one byte at a time: no value may depend on where the buffer ends */
	if (offset >= length || size == 0) {
		return 0;
	}
	*(char *)bytes = text[offset];
	return 1;
}

static struct vc_error error;

static struct vc_json_scan start(const char *json)
{
	text = json;
	error = (struct vc_error){ .status = VC_OK };
	return (struct vc_json_scan){ vc_stream_of(read_text, NULL, strlen(json)), strlen(json),
		                      &error };
}

static void strings_are_unescaped(void **state)
{
	struct vc_json_scan scan =
	        start(" \"a\\n\\\"\\\\\\/\\u00e9\\ud83d\\ude00\xC3\xA9\" \"\" \"abc\"");
	char got[32];

	(void)state;
	assert_true(vc_scan_string(&scan, got, sizeof got));
	assert_string_equal(got, "a\n\"\\/\xC3\xA9\xF0\x9F\x98\x80\xC3\xA9");
	assert_true(vc_scan_string(&scan, got, sizeof got));
	assert_string_equal(got, "");
	assert_false(vc_scan_string(&scan, got, 3));
	assert_string_equal(error.message, "a string is too long at byte 36");
	free(scan.stream);
}

static void bad_strings_are_refused(void **state)
{
	static const char *const bad[] = { "\"a",         "\"\\x\"",     "\"\\u12\"", "\"\\ud83d\"",
		                           "\"\\ude00\"", "\"\\u0000\"", "\"a\nb\"",  "a" };

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct vc_json_scan scan = start(bad[i]);
		char got[32];

		assert_false(vc_scan_string(&scan, got, sizeof got));
		assert_int_equal(error.status, VC_INVALID);
		free(scan.stream);
	}
}

static void counts_are_whole(void **state)
{
	static const struct {
		const char *json;
		bool good;
		uint64_t value;
	} rows[] = {
		{ "0", true, 0 },
		{ " 4096,", true, 4096 },
		{ "9223372036854775807", true, INT64_MAX },
		{ "9223372036854775808", false, 0 },
		{ "-1", false, 0 },
		{ "1.0", false, 0 },
		{ "1e3", false, 0 },
		{ "\"1\"", false, 0 },
		{ "", false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct vc_json_scan scan = start(rows[i].json);
		uint64_t value;

		assert_int_equal(vc_scan_count(&scan, &value), rows[i].good);
		if (rows[i].good) {
			assert_u64(value, rows[i].value);
		}
		free(scan.stream);
	}
}

static void values_are_passed_over(void **state)
{
	static const char *const good[] = {
		"{}!",    "[]!", "{\"a\": [1, {\"b\": [true, null]}, \"x\"], \"c\": -1.5e3}!",
		"\"x\"!", "12!",
	};
	static const char *const bad[] = { "{\"a\" 1}", "[1 2]", "{1: 2}", "[", "{\"a\":}", "" };
	char deep[80];

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		struct vc_json_scan scan = start(good[i]);

		vc_scan_skip(&scan);
		assert_true(vc_scan_good(&scan));
		assert_int_equal(vc_scan_peek(&scan), '!');
		free(scan.stream);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct vc_json_scan scan = start(bad[i]);

		vc_scan_skip(&scan);
		assert_false(vc_scan_good(&scan));
		free(scan.stream);
	}
	memset(deep, '[', sizeof deep - 1);
	deep[sizeof deep - 1] = '\0';
	{
		struct vc_json_scan scan = start(deep);

		vc_scan_skip(&scan);
		assert_string_equal(error.message, "is nested too deep at byte 32");
		free(scan.stream);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings_are_unescaped),
		cmocka_unit_test(bad_strings_are_refused),
		cmocka_unit_test(counts_are_whole),
		cmocka_unit_test(values_are_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
