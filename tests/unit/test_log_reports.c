/* tests/data/out_of_memory.txt: public reports, each with the cause that its figures give. */
#include "log.h"
#include "test.h"

enum {
	LEAST_REPORTS = 60
};

struct report {
	char source[128], cause[32], confidence[16];
	char text[8192];
};

static FILE *reports;
static char line[8192]; /* the one that was read ahead */

static bool next_line(void)
{
	return fgets(line, sizeof line, reports) != NULL;
}

/* The next report; false at the end. Blank lines and those of reasoning are not of the text. */
static bool next_report(struct report *report)
{
	while (strncmp(line, "=== ", 4) != 0) {
		if (!next_line()) {
			return false;
		}
	}
	*report = (struct report){ .source = "" };
	assert_int_equal(sscanf(line, "=== %127[^:]: %31s %15s", report->source, report->cause,
	                        report->confidence),
	                 3);
	while (next_line() && strncmp(line, "=== ", 4) != 0) {
		if (strncmp(line, "# ", 2) != 0) {
			assert_true(strlen(report->text) + strlen(line) < sizeof report->text);
			strcat(report->text, line);
		}
	}
	if (feof(reports)) {
		line[0] = '\0';
	}
	return true;
}

static struct vc_diagnosis diagnose(const char *text, size_t length)
{
	static struct log log;

	log_open(&log);
	log_feed(&log, text, length);
	log_finish(&log);
	return vc_diagnose(&log.evidence);
}

static bool within(const char *at_most, enum vc_confidence confidence)
{
	for (int i = (int)confidence; i <= (int)VC_CONFIDENCE_HIGH; i++) {
		if (strcmp(at_most, vc_confidence_name((enum vc_confidence)i)) == 0) {
			return true;
		}
	}
	return false;
}

static bool check(const struct report *report, const char *form, const char *text, size_t length)
{
	struct vc_diagnosis diagnosis = diagnose(text, length);

	if (strcmp(vc_cause_name(diagnosis.cause), report->cause) == 0 &&
	    within(report->confidence, diagnosis.confidence) && diagnosis.advice_count > 0) {
		return true;
	}
	print_error("%s, %s: %s (%s), expected %s (at most %s)\n", report->source, form,
	            vc_cause_name(diagnosis.cause), vc_confidence_name(diagnosis.confidence),
	            report->cause, report->confidence);
	return false;
}

static int open_reports(void **state)
{
	(void)state;
	reports = fopen(TESTS_DIR "/data/out_of_memory.txt", "r");
	line[0] = '\0';
	return reports ? 0 : -1;
}

static int close_reports(void **state)
{
	(void)state;
	return fclose(reports);
}

static void every_report_has_its_cause(void **state)
{
	static struct report report;
	size_t count = 0, wrong = 0;

	(void)state;
	for (; next_report(&report); count++) {
		wrong += !check(&report, "as reported", report.text, strlen(report.text));
	}
	assert_int_equal(wrong, 0);
	assert_true(count >= LEAST_REPORTS);
}

/* ---- The same with what collectors of logs and terminals do to lines ------------------------- */

static char changed[65536];
static size_t used;

static void put(const char *text)
{
	size_t length = strlen(text);

	assert_true(used + length < sizeof changed);
	memcpy(changed + used, text, length + 1);
	used += length;
}

static void put_char(char c)
{
	put((char[]){ c, '\0' });
}

typedef void disguise(const char *text);

/* "2026-01-01T00:00:00Z [rank0]: " before every line, and CRLF behind it */
static void with_prefix(const char *text)
{
	bool start = true;

	for (; *text; text++) {
		if (start) {
			put("2026-01-01T00:00:00Z stdout F [rank0]: ");
		}
		start = *text == '\n';
		put(start ? "\r\n" : (char[]){ *text, '\0' });
	}
}

static void in_colors(const char *text)
{
	for (; *text; text++) {
		if (*text == ':' || *text == '\n') {
			put("\033[0m");
			put_char(*text);
			put("\033[1;31m");
		} else {
			put_char(*text);
		}
	}
	put("\033]0;title\a\033[K");
}

static void in_json(const char *text)
{
	put("{\"level\": \"error\", \"message\": \"");
	for (; *text; text++) {
		if (*text == '\n') {
			put("\\n");
		} else if (*text == '\t') {
			put("\\t");
		} else if (*text == '"' || *text == '\\') {
			put_char('\\');
			put_char(*text);
		} else {
			put_char(*text);
		}
	}
	put("\", \"rank\": 0}\n");
}

/* As PowerShell redirects: UTF-16 with a mark in front. */
static void in_utf16(const char *text)
{
	changed[used++] = '\xff';
	changed[used++] = '\xfe';
	for (; *text; text++) {
		assert_true(used + 2 < sizeof changed);
		changed[used++] = *text;
		changed[used++] = '\0';
	}
}

/* As a console of 100 columns wraps, between words, in a quotation. */
static void wrapped(const char *text)
{
	const size_t width = 100;

	while (*text) {
		size_t length = strcspn(text, "\n"), end = length;

		if (length > width) {
			for (end = width; end > 0 && text[end] != ' '; end--) {
			}
			end = end ? end : width;
		}
		put("> ");
		for (size_t i = 0; i < end; i++) {
			put_char(text[i]);
		}
		put("\n");
		text += end;
		text += *text == ' ' || *text == '\n';
	}
}

static void among_noise(const char *text)
{
	for (int i = 0; i < 30; i++) {
		put("step 100 loss 2.31 lr 1e-4 {'a': [1, 2]} https://example.org/a?b=c\n");
	}
	put(text);
	for (int i = 0; i < 30; i++) {
		put("Exception ignored in: <function Pool.__del__ at 0x7f12>\n");
	}
}

static void a_disguise_changes_nothing(void **state)
{
	static const struct {
		const char *name;
		disguise *apply;
	} forms[] = {
		{ "prefixed", with_prefix }, { "colored", in_colors }, { "JSON", in_json },
		{ "UTF-16", in_utf16 },      { "wrapped", wrapped },   { "noise", among_noise },
	};
	static struct report report;
	size_t wrong = 0;

	(void)state;
	while (next_report(&report)) {
		for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
			used = 0;
			forms[i].apply(report.text);
			wrong += !check(&report, forms[i].name, changed, used);
		}
	}
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_report_has_its_cause, open_reports,
		                                close_reports),
		cmocka_unit_test_setup_teardown(a_disguise_changes_nothing, open_reports,
		                                close_reports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
