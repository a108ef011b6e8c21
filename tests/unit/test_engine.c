#include "test.h"

#include "ledger.h"
#include "version.h"
#include "vramcalc/vramcalc.h"

static void test_names_round_trip(void **state)
{
	(void)state;
	for (int i = VC_ENGINE_NONE + 1; i < VC_ENGINE_COUNT; i++) {
		const struct vc_engine_info *info = vc_engine_info((enum vc_engine)i);

		assert_non_null(info->name);
		assert_non_null(info->summary);
		assert_non_null(info->versions);
		assert_non_null(info->source);
		assert_true(info->inference || info->training);
		assert_int_equal(vc_engine_by_name(info->name), i);
	}
	assert_int_equal(vc_engine_by_name("no such engine"), VC_ENGINE_COUNT);
	assert_string_equal(vc_engine_name(VC_ENGINE_LLAMACPP), "llama.cpp");
}

static void test_newest_where_none_is_named(void **state)
{
	struct vc_engine_options options = { .name = VC_ENGINE_VLLM };

	(void)state;
	assert_int_equal(engine_version(&options).minor, 33);
	options.version.minor = 9;
	assert_int_equal(engine_version(&options).minor, 9);
}

static void expect_note(enum vc_engine name, struct vc_version version, const char *code)
{
	const struct vc_engine_options options = { .name = name, .version = version };
	struct vc_ledger ledger = { 0 };

	engine_note_version(&options, &ledger);
	assert_int_equal(ledger.note_count, code ? 1 : 0);
	if (code) {
		assert_string_equal(ledger.notes[0].code, code);
	}
}

static void test_versions_outside_are_named(void **state)
{
	(void)state;
	expect_note(VC_ENGINE_VLLM, (struct vc_version){ 0, 99, 0 }, "version-too-new");
	expect_note(VC_ENGINE_VLLM, (struct vc_version){ 0, 33, 2 }, NULL);
	expect_note(VC_ENGINE_VLLM, (struct vc_version){ 0, 0, 9 }, "version-too-old");
	expect_note(VC_ENGINE_VLLM, (struct vc_version){ 0 }, NULL);
	expect_note(VC_ENGINE_TGI, (struct vc_version){ 1, 4, 0 }, "version-too-old");
	expect_note(VC_ENGINE_TRANSFORMERS, (struct vc_version){ 5, 2, 0 }, "version-too-new");
	expect_note(VC_ENGINE_LLAMACPP, (struct vc_version){ 99999, 0, 0 }, NULL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_round_trip),
		cmocka_unit_test(test_newest_where_none_is_named),
		cmocka_unit_test(test_versions_outside_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
