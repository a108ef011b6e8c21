/* Text in markup: nothing that a name says may become markup, or break the file. */
#include "test.h"

#include "markup.h"

#include <stdlib.h>

static void check(const char *text, const char *want)
{
	char *got = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&got, &size);

	assert_non_null(file);
	markup_text(file, text);
	fclose(file);
	assert_string_equal(got, want);
	free(got);
}

static void markup_is_escaped(void **state)
{
	(void)state;
	check("<script>alert(\"1\" & '2')</script>",
	      "&lt;script&gt;alert(&quot;1&quot; &amp; '2')&lt;/script&gt;");
	check("]]>", "]]&gt;");
	check("7B × 2 = 14 GB", "7B × 2 = 14 GB");
}

/* XML 1.0, 2.2: #x9 | #xA | #xD | [#x20-#xD7FF] | [#xE000-#xFFFD] | [#x10000-#x10FFFF] */
static void what_xml_cannot_hold_is_shown(void **state)
{
	(void)state;
	check("a\033[31mb\177\n", "a\\x1b[31mb\\x7f\\x0a");
	check("\xc2\x85", "\\x85");
	check("\xff\xc3", "\\xff\\xc3");
	check("\xed\xa0\x80", "\\xed\\xa0\\x80"); /* a surrogate is not UTF-8 */
	check("\xef\xbf\xbd|\xef\xbf\xbe|\xef\xbf\xbf", "\xef\xbf\xbd|\\ufffe|\\uffff");
	check("\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80");
}

static void text_keeps_its_direction(void **state)
{
	(void)state;
	check("gpu\xe2\x80\xaetxt", "gpu\\u202etxt"); /* U+202E right-to-left override */
	check("\xe2\x81\xa6", "\\u2066");
	check("\xe2\x80\x93", "\xe2\x80\x93"); /* U+2013, a dash */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(markup_is_escaped),
		cmocka_unit_test(what_xml_cannot_hold_is_shown),
		cmocka_unit_test(text_keeps_its_direction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
