#include "source.h"
#include "test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/vramcalc-source-XXXXXX";
static char path[256];

static const char *in_folder(const char *name)
{
	(void)snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int drop_folder(void **state)
{
	static const char *const names[] = { "spec", "large", "fifo", "secret" };

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		(void)unlink(in_folder(names[i]));
	}
	return rmdir(folder);
}

static int make_file(const char *name, const char *text, off_t size)
{
	int file = open(in_folder(name), O_CREAT | O_WRONLY | O_TRUNC, 0600);

	assert_true(file >= 0);
	assert_true(write(file, text, strlen(text)) == (ssize_t)strlen(text));
	assert_true(size == 0 || ftruncate(file, size) == 0);
	return close(file);
}

static void expect_refusal(const char *name, const char *message)
{
	struct vc_error_list errors = { 0 };
	char *text;
	size_t length;

	assert_int_not_equal(vc_source_read_file(name, &text, &length, &errors), VC_OK);
	assert_int_equal(errors.count, 1);
	assert_string_equal(errors.errors[0].file, name);
	assert_string_equal(errors.errors[0].message, message);
}

static void files_are_read_whole(void **state)
{
	struct vc_error_list errors = { 0 };
	struct vc_source source;
	char *text;
	size_t length;

	(void)state;
	make_file("spec", "model: {params: 7B}\n", 0);
	assert_int_equal(vc_source_open(in_folder("spec"), &source, &errors), VC_OK);
	assert_int_equal(source.form, VC_FORM_FILE);
	assert_int_equal(source.head_length, 16);
	assert_memory_equal(source.head, "model: {params: ", 16);
	assert_int_equal(vc_source_text(&source, &text, &length, &errors), VC_OK);
	assert_int_equal(length, 20);
	assert_string_equal(text, "model: {params: 7B}\n");
	free(text);
	vc_source_close(&source);
}

static void what_is_no_small_file_is_refused(void **state)
{
	struct vc_error_list errors = { .count = 0 };
	size_t length;
	char *text;

	(void)state;
	/* an empty name, as an unset variable makes it, is shown as one */
	assert_int_not_equal(vc_source_read_file("", &text, &length, &errors), VC_OK);
	assert_string_equal(errors.errors[0].file, "''");
	make_file("large", "x", (off_t)1 << 30);
	expect_refusal(in_folder("large"), "is too large (at most 4 MiB is expected)");
	assert_int_equal(mkfifo(in_folder("fifo"), 0600), 0);
	expect_refusal(in_folder("fifo"), "is not a file (a regular file, a folder, or - for "
	                                  "standard input is expected)");
	expect_refusal("/dev/zero", "is not a file (a regular file, a folder, or - for standard "
	                            "input is expected)");
	expect_refusal(folder, "is a folder (a file is expected)");
	expect_refusal(in_folder("none"), "cannot be read: No such file or directory");
	/* root may read everything */
	if (geteuid() != 0) {
		make_file("secret", "x", 0);
		assert_int_equal(chmod(in_folder("secret"), 0), 0);
		expect_refusal(in_folder("secret"), "cannot be read: Permission denied");
	}
}

static void expect_text(char *text, const char *expected)
{
	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
}

static void paths_are_joined_and_split(void **state)
{
	(void)state;
	expect_text(vc_path_join("a/b", "c"), "a/b/c");
	expect_text(vc_path_join("a/", "c"), "a/c");
	expect_text(vc_path_join("/", "c"), "/c");
	expect_text(vc_path_join("a", "/c"), "/c");
	expect_text(vc_path_join(NULL, "c"), "c");
	expect_text(vc_path_folder("a/b/c"), "a/b");
	expect_text(vc_path_folder("/c"), "/");
	assert_null(vc_path_folder("c"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_read_whole),
		cmocka_unit_test(what_is_no_small_file_is_refused),
		cmocka_unit_test(paths_are_joined_and_split),
	};

	return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
