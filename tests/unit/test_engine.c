#include "test.h"

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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_round_trip),
		cmocka_unit_test(test_newest_where_none_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
