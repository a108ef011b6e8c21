/* A model described by its config.json, by the same keys inline and by its bundled name is one
 * model: the ledgers are equal to the byte. */
#include "bundled.h"
#include "spec.h"
#include "test.h"

enum {
	MAX_TESTS = 400,
	TEXT = 1 << 20
};

static struct vc_ledger ledger_of(const struct vc_spec *spec, enum vc_method method)
{
	/* driver and usable bytes as an 80 GB card reports them; any card would do */
	static const struct vc_gpu gpu = { .id = "test",
		                           .name = "test",
		                           .memory_bytes = 80000000000,
		                           .driver_bytes = 85520809984,
		                           .usable_bytes = 84974239744,
		                           .vendor = VC_VENDOR_NVIDIA,
		                           .compute_capability = 90 };
	struct vc_request request = spec->request;
	struct vc_ledger ledger;
	struct vc_error error;

	memset(&ledger, 0, sizeof ledger);
	request.method = method;
	request.gpu = &gpu;
	request.workload.sequence_length = 2048;
	if (vc_estimate(&request, &ledger, &error) != VC_OK && error.status != VC_UNSUPPORTED) {
		fail_msg("%s: %s", error.field, error.message);
	}
	return ledger;
}

static void read_inline(const char *path, struct vc_spec *spec)
{
	static char text[TEXT];
	struct vc_error_list errors = { 0 };
	struct vc_spec_text source = { .name = "inline", .text = text };
	FILE *file = fopen(path, "r");
	size_t length;

	assert_non_null(file);
	length = (size_t)snprintf(text, TEXT, "{\"version\": 1, \"model\": {\"architecture\": ");
	length += fread(text + length, 1, TEXT - length - 8, file);
	fclose(file);
	length += (size_t)snprintf(text + length, 8, "}}");
	source.length = length;
	if (vc_spec_read_memory(&source, NULL, spec, &errors) != VC_OK) {
		fail_msg("%s inline: %s: %s", path, errors.errors[0].field,
		         errors.errors[0].message);
	}
}

static void read_source(const char *source, struct vc_spec *spec)
{
	struct vc_error_list errors = { 0 };

	if (vc_spec_read(source, NULL, spec, &errors) != VC_OK) {
		fail_msg("%s: %s: %s", source, errors.errors[0].field, errors.errors[0].message);
	}
}

static void assert_same(const struct vc_spec *a, const struct vc_spec *b, enum vc_method method)
{
	static struct vc_ledger first, second;

	first = ledger_of(a, method);
	second = ledger_of(b, method);
	assert_u64(second.total_bytes, first.total_bytes);
	assert_int_equal(second.line_count, first.line_count);
	for (uint32_t i = 0; i < first.line_count; i++) {
		assert_int_equal(second.lines[i].component, first.lines[i].component);
		assert_u64(second.lines[i].bytes, first.lines[i].bytes);
		assert_string_equal(second.lines[i].formula, first.lines[i].formula);
	}
	assert_u64(second.recommended_bytes, first.recommended_bytes);
	assert_u64(second.low_bytes, first.low_bytes);
	assert_u64(second.high_bytes, first.high_bytes);
	assert_int_equal(second.note_count, first.note_count);
}

static void three_ways_give_one_ledger(void **state)
{
	const char *name = *state;
	struct vc_spec bundled, config, inlined;
	char path[512];

	snprintf(path, sizeof path, TESTS_DIR "/data/configs/%s.json", name);
	read_source(name, &bundled);
	read_source(path, &config);
	read_inline(path, &inlined);
	for (enum vc_method method = VC_METHOD_RULE; method <= VC_METHOD_DETAILED; method++) {
		assert_same(&bundled, &config, method);
		assert_same(&bundled, &inlined, method);
	}
	vc_spec_free(&bundled);
	vc_spec_free(&config);
	vc_spec_free(&inlined);
}

static bool has_config(const char *name)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof path, TESTS_DIR "/data/configs/%s.json", name);
	file = fopen(path, "r");
	if (file) {
		fclose(file);
	}
	return file != NULL;
}

int main(void)
{
	static struct CMUnitTest tests[MAX_TESTS];
	static char names[MAX_TESTS][80];
	size_t count = 0;
	const char *name;

	for (size_t i = 0; (name = vc_bundled_name(i)) && count < MAX_TESTS; i++) {
		if (has_config(name)) {
			snprintf(names[count], sizeof names[count], "%s", name);
			tests[count] = (struct CMUnitTest){ .name = names[count],
				                            .test_func = three_ways_give_one_ledger,
				                            .initial_state = names[count] };
			count++;
		}
	}
	if (count < 100) {
		print_error("only %zu models have a config.json to compare with\n", count);
		return 1;
	}
	return _cmocka_run_group_tests("same_ledger", tests, count, NULL, NULL);
}
