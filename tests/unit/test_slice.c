#include "test.h"
#include "vramcalc/vramcalc.h"

/* NVIDIA MIG User Guide (v580), A100 80GB. */
static const struct vc_mig_profile profiles[] = {
	{ "7g.80gb", 7, 8, 1, 1, 84825604096, 1, { 0 } },
	{ "1g.10gb", 1, 1, 7, 0, 10200547328, 7, { 0, 1, 2, 3, 4, 5, 6 } },
	{ "1g.10gb+me", 1, 1, 1, 1, 10200547328, 7, { 0, 1, 2, 3, 4, 5, 6 } },
	{ "1g.20gb", 1, 2, 4, 0, 20937965568, 4, { 0, 2, 4, 6 } },
	{ "2g.20gb", 2, 2, 3, 0, 20937965568, 3, { 0, 2, 4 } },
	{ "3g.40gb", 3, 4, 2, 0, 42144366592, 2, { 0, 4 } },
	{ "4g.40gb", 4, 4, 1, 0, 42144366592, 1, { 0 } },
};
static const struct vc_mig_table a100 = { "a100-80gb", 8, 7, 7, profiles };
static const struct vc_gpu gpu = { .id = "a100", .memory_bytes = 80000000000 };

static struct vc_slice slices[7];

/* In fp16, without activations to speak of. */
static size_t slices_for(uint64_t params)
{
	struct vc_model model = { .params = params };
	struct vc_request request = { .model = &model, .rule.activation_ppm = 1 };
	struct vc_error error = { 0 };
	size_t count;

	assert_int_equal(vc_slices(&request, &gpu, &a100, slices, &count, &error), VC_OK);
	return count;
}

static void seven_billion_fit_a_quarter(void **state)
{
	(void)state;
	/* 1.2 x (14 + 2) = 19.2 GB, in 20.94 */
	assert_int_equal(slices_for(7000000000), 2);
	assert_string_equal(slices[0].profile->name, "2g.20gb");
	assert_int_equal(slices[0].instances, 3);
	assert_int_equal(slices[0].starts[0] + slices[0].starts[1] + slices[0].starts[2],
	                 0 + 2 + 4);
	assert_int_equal(slices[0].share_ppm, 250000);
	assert_true(slices[0].need_bytes >= 19200000000 && slices[0].need_bytes < 19200100000);
	assert_u64(slices[0].headroom_bytes, 20937965568 - slices[0].need_bytes);
	/* as much memory, less compute, and one more of them */
	assert_string_equal(slices[1].profile->name, "1g.20gb");
	assert_int_equal(slices[1].instances, 4);
}

static void thirteen_billion_fit_a_half(void **state)
{
	(void)state;
	/* 33.6 GB, in 42.14 */
	assert_int_equal(slices_for(13000000000), 2);
	assert_string_equal(slices[0].profile->name, "4g.40gb");
	assert_int_equal(slices[0].instances, 1);
	assert_string_equal(slices[1].profile->name, "3g.40gb");
	assert_int_equal(slices[1].instances, 2);
	assert_int_equal(slices[1].share_ppm, 500000);
}

static void small_jobs_share_by_seven(void **state)
{
	(void)state;
	/* 1.2 x (6 + 2) = 9.6 GB, in 10.2; no media variant is offered */
	assert_int_equal(slices_for(3000000000), 1);
	assert_string_equal(slices[0].profile->name, "1g.10gb");
	assert_int_equal(slices[0].instances, 7);
	assert_int_equal(slices[0].share_ppm, 125000);
}

static void the_whole_gpu_is_a_slice_too(void **state)
{
	(void)state;
	/* 1.2 x (60 + 2) = 74.4; 1.2 x (70 + 2) = 86.4 is more than 84.8 */
	assert_int_equal(slices_for(30000000000), 1);
	assert_string_equal(slices[0].profile->name, "7g.80gb");
	assert_int_equal(slices[0].share_ppm, 1000000);
	assert_int_equal(slices_for(35000000000), 0);
}

static void no_model_lies_across_slices(void **state)
{
	struct vc_model model = { .params = 7000000000 };
	struct vc_request request = { .model = &model,
		                      .parallelism = { .stated = true, .tensor = 2 } };
	struct vc_error error = { 0 };
	size_t count = 1;

	(void)state;
	assert_int_equal(vc_slices(&request, &gpu, &a100, slices, &count, &error), VC_OK);
	assert_int_equal(count, 0);
	model.params = 0;
	request.parallelism.tensor = 1;
	assert_int_equal(vc_slices(&request, &gpu, &a100, slices, &count, &error), VC_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seven_billion_fit_a_quarter),
		cmocka_unit_test(thirteen_billion_fit_a_half),
		cmocka_unit_test(small_jobs_share_by_seven),
		cmocka_unit_test(the_whole_gpu_is_a_slice_too),
		cmocka_unit_test(no_model_lies_across_slices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
