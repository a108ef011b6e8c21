#include "test.h"

#include "version.h"
#include "vllm_policy.h"

static struct vc_version version(uint32_t minor, uint32_t patch)
{
	return (struct vc_version){ 0, minor, patch };
}

/* The last row that applies counts, so that the rows of a property must ascend. */
static void test_rows_ascend(void **state)
{
	const struct vllm_step *last[VLLM_PROPERTY_COUNT] = { NULL };

	(void)state;
	for (size_t i = 0; vllm_step_at(i); i++) {
		const struct vllm_step *row = vllm_step_at(i);

		assert_true(row->property < VLLM_PROPERTY_COUNT);
		assert_non_null(row->source);
		if (last[row->property]) {
			assert_false(version_at_least(last[row->property]->from, row->from));
		}
		last[row->property] = row;
	}
	for (int i = 0; i < VLLM_PROPERTY_COUNT; i++) {
		assert_non_null(last[i]);
	}
}

/* Release notes: V1 the default from 0.8.0; docs: graphs budgeted from 0.20 on. */
static void test_known_steps(void **state)
{
	(void)state;
	assert_u64(vllm_policy(VLLM_ENGINE_V1, version(7, 3)), 0);
	assert_u64(vllm_policy(VLLM_ENGINE_V1, version(8, 0)), 1);
	assert_u64(vllm_policy(VLLM_ENGINE_V1, version(11, 0)), 2);
	assert_u64(vllm_policy(VLLM_BUDGETS_GRAPHS, version(19, 1)), 0);
	assert_u64(vllm_policy(VLLM_BUDGETS_GRAPHS, version(21, 0)), 1);
	assert_u64(vllm_policy(VLLM_COUNTS_CONTEXT, version(3, 0)), 2);
	assert_u64(vllm_policy(VLLM_COUNTS_CONTEXT, version(9, 1)), 0);
	assert_u64(vllm_policy(VLLM_LOGIT_BYTES, (struct vc_version){ 1, 0, 0 }), 14);
}

static void test_versions_compare_as_numbers(void **state)
{
	(void)state;
	assert_true(version_at_least(version(11, 0), version(9, 2)));
	assert_false(version_at_least(version(9, 1), version(9, 2)));
	assert_true(version_at_least((struct vc_version){ 1, 0, 0 }, version(33, 0)));
	assert_true(version_at_least(version(8, 5), version(8, 5)));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_ascend),
		cmocka_unit_test(test_known_steps),
		cmocka_unit_test(test_versions_compare_as_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
