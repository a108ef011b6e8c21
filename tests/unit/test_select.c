#include "shapes.h"
#include "test.h"

static const struct vc_gpu t4 = { .id = "t4",
	                          .name = "NVIDIA T4",
	                          .memory_bytes = 16000000000,
	                          .driver_bytes = 16106127360,
	                          .price = { true, 526000, "USD", "", "", NULL } };
static const struct vc_gpu a10 = { .id = "a10",
	                           .name = "NVIDIA A10",
	                           .memory_bytes = 24000000000,
	                           .driver_bytes = 24146608128,
	                           .supports_bf16 = true,
	                           .price = { true, 1006000, "USD", "", "", NULL } };
static const struct vc_gpu a100_40 = { .id = "a100-40gb",
	                               .name = "NVIDIA A100 40GB",
	                               .memory_bytes = 40000000000,
	                               .supports_bf16 = true,
	                               .price = { true, 2740000, "USD", "", "", NULL } };
static const struct vc_gpu a100_80 = { .id = "a100-80gb",
	                               .name = "NVIDIA A100 80GB",
	                               .memory_bytes = 80000000000,
	                               .supports_bf16 = true,
	                               .price = { true, 3430000, "USD", "", "", NULL } };
static const struct vc_gpu h100 = { .id = "h100",
	                            .name = "NVIDIA H100 80GB",
	                            .memory_bytes = 80000000000,
	                            .supports_bf16 = true,
	                            .price = { true, 6880000, "USD", "", "", NULL } };
static const struct vc_gpu unpriced = { .id = "free",
	                                .name = "Unpriced",
	                                .memory_bytes = 80000000000 };
static const struct vc_gpu yuan = { .id = "yuan",
	                            .name = "Yuan",
	                            .memory_bytes = 80000000000,
	                            .price = { true, 100000, "CNY", "", "", NULL } };

static const struct vc_gpu *const all[] = {
	&unpriced, &h100, &yuan, &a100_80, &a100_40, &a10, &t4
};
enum {
	COUNT = sizeof all / sizeof *all
};

static struct vc_candidate ranked[COUNT];

static void rank(const struct vc_request *request, const struct vc_select_options *options)
{
	struct vc_error error = { 0 };

	if (vc_select(request, all, COUNT, options, ranked, &error) != VC_OK) {
		fail_msg("%s: %s", error.field, error.message);
	}
}

/* A model whose M is `total_bytes` at inference: weights in int8 and 20 % of activations. */
static struct vc_model sized(uint64_t total_bytes)
{
	return (struct vc_model){ .params = total_bytes * 5 / 6 };
}

static void cheapest_that_fits_comes_first(void **state)
{
	/* M = 14 GB: M_rec = 19.2 GB; 24 GB is the cheapest that holds it, 16 GB does not */
	struct vc_model model = sized(14000000000 / 5 * 5);
	struct vc_request request = { .model = &model, .workload.precision = VC_DTYPE_INT8 };
	struct vc_select_options options = { .max_gpus = 1 };

	(void)state;
	rank(&request, &options);
	assert_ptr_equal(ranked[0].gpu, &a10);
	assert_int_equal(ranked[0].verdict, VC_VERDICT_FITS);
	assert_in_range(ranked[0].need_bytes, 19199999990, 19200000000);
	assert_ptr_equal(ranked[1].gpu, &a100_40);
	assert_ptr_equal(ranked[2].gpu, &a100_80);
	assert_ptr_equal(ranked[3].gpu, &h100);
	/* other currencies behind, never converted; no price last */
	assert_ptr_equal(ranked[4].gpu, &yuan);
	assert_ptr_equal(ranked[5].gpu, &unpriced);
	assert_ptr_equal(ranked[6].gpu, &t4);
	/* 16 GB holds 14 + 2 and nothing to spare */
	assert_int_equal(ranked[6].verdict, VC_VERDICT_TIGHT);
	assert_int_equal(ranked[6].gpus_needed, 0);
	assert_true(ranked[6].headroom_bytes < 0);
}

static void training_7b_needs_eighty(void **state)
{
	struct vc_model model = { .params = 7000000000 };
	struct vc_request request = { .model = &model, .workload.task = VC_TASK_TRAINING };
	struct vc_select_options options = { .max_gpus = 1 };

	(void)state;
	rank(&request, &options);
	assert_ptr_equal(ranked[0].gpu, &a100_80);
	/* 1.2 x (60.9 + 2) GB */
	assert_u64(ranked[0].need_bytes, 75480000000);
	for (size_t i = 0; i < COUNT; i++) {
		if (ranked[i].gpu->memory_bytes < 80000000000) {
			assert_int_equal(ranked[i].verdict, VC_VERDICT_NO);
		} else {
			assert_int_equal(ranked[i].verdict, VC_VERDICT_FITS);
		}
	}
	/* what does not fit is ordered by how little is missing */
	assert_ptr_equal(ranked[4].gpu, &a100_40);
	assert_true(ranked[4].headroom_bytes == 40000000000 - 75480000000);
	assert_ptr_equal(ranked[6].gpu, &t4);
}

static void several_gpus_hold_what_one_does_not(void **state)
{
	struct vc_model model = { .params = 70000000000 };
	struct vc_request request = { .model = &model, .rule.activation_ppm = 1 };
	struct vc_candidate *first = &ranked[0];

	(void)state;
	rank(&request, NULL);
	/* Overhead counts on every GPU: two of 80 GB fail, 1.2 x (70 + 2) = 86.4; four hold
	 * 1.2 x (35 + 2) = 44.4. Eight of 40 GB and eight of 24 GB hold 1.2 x (17.5 + 2) = 23.4. */
	assert_ptr_equal(first->gpu, &a10);
	assert_int_equal(first->gpus_needed, 8);
	assert_int_equal(first->layout.tensor, 8);
	for (size_t i = 0; i < COUNT; i++) {
		if (ranked[i].gpu->memory_bytes == 80000000000) {
			assert_int_equal(ranked[i].gpus_needed, 4);
		}
	}
	assert_ptr_equal(ranked[COUNT - 1].gpu, &t4);
	assert_int_equal(ranked[COUNT - 1].gpus_needed, 0);
}

static void training_spreads_by_zero_3(void **state)
{
	struct vc_model model = { .params = 7000000000 };
	struct vc_request request = { .model = &model, .workload.task = VC_TASK_TRAINING };

	(void)state;
	rank(&request, NULL);
	/* one of 80 GB before any pair */
	assert_int_equal(ranked[0].gpus_needed, 1);
	for (size_t i = 0; i < COUNT; i++) {
		if (ranked[i].gpu == &a100_40) {
			/* 1.2 x (56 / 2 + 4.9 + 2) = 41.88; over four 1.2 x (14 + 4.9 + 2) = 25.08
			 */
			assert_int_equal(ranked[i].gpus_needed, 4);
			assert_int_equal(ranked[i].layout.data, 4);
			assert_int_equal(ranked[i].layout.zero_stage, 3);
			assert_u64(ranked[i].need_bytes, 25080000000);
		}
	}
}

static void a_stated_layout_is_kept(void **state)
{
	struct vc_model model = { .params = 70000000000 };
	struct vc_request request = { .model = &model,
		                      .rule.activation_ppm = 1,
		                      .parallelism = { .stated = true, .pipeline = 2 } };

	(void)state;
	rank(&request, NULL);
	for (size_t i = 0; i < COUNT; i++) {
		assert_int_equal(ranked[i].layout.pipeline, 2);
		assert_int_equal(ranked[i].gpus, 2);
		assert_int_equal(ranked[i].gpus_needed, 0);
	}
	request.parallelism.pipeline = 4;
	rank(&request, NULL);
	assert_int_equal(ranked[0].gpus_needed, 4);
}

static void impossible_degrees_become_stages(void **state)
{
	/* 12 heads divide over 1, 2 and 4 ranks, not over 8: then 4 ranks in 2 stages */
	static struct vc_model model;
	struct vc_request request = { .model = &model, .rule.activation_ppm = 1 };

	(void)state;
	shape_decoder(&model, &(struct decoder){ 1536, 4, 12, 12, 4096, 1000 });
	model.params = 200000000000;
	rank(&request, NULL);
	for (size_t i = 0; i < COUNT; i++) {
		assert_true(ranked[i].layout.tensor <= 4);
		if (ranked[i].gpu == &a100_80) {
			/* 1.2 x (400 / 8 + 2) = 62.4; a quarter each would be 122.4 */
			assert_int_equal(ranked[i].gpus_needed, 8);
			assert_int_equal(ranked[i].layout.tensor, 4);
			assert_int_equal(ranked[i].layout.pipeline, 2);
		}
	}
}

static void tensor_ranks_stay_in_a_node(void **state)
{
	static struct vc_model model;
	struct vc_request request = { .model = &model, .rule.activation_ppm = 1 };
	struct vc_select_options options = { .max_gpus = 64 };

	(void)state;
	shape_decoder(&model, &llama_2_70b);
	model.params = 1000000000000;
	rank(&request, &options);
	/* 2 TB / 32 = 62.5; 1.2 x (62.5 + 2) = 77.4 */
	for (size_t i = 0; i < COUNT; i++) {
		if (ranked[i].gpu == &a100_80) {
			assert_int_equal(ranked[i].gpus_needed, 32);
			assert_int_equal(ranked[i].layout.tensor, 8);
			assert_int_equal(ranked[i].layout.pipeline, 4);
			assert_false(ranked[i].tensor_over_pcie);
		}
	}
}

static void precisions_a_gpu_lacks_are_flagged(void **state)
{
	struct vc_model model = { .params = 1000000000 };
	struct vc_request request = { .model = &model, .workload.precision = VC_DTYPE_BF16 };

	(void)state;
	rank(&request, NULL);
	for (size_t i = 0; i < COUNT; i++) {
		assert_int_equal(ranked[i].precision_supported, ranked[i].gpu->supports_bf16);
	}
}

static void memory_sort_puts_the_tightest_first(void **state)
{
	struct vc_model model = { .params = 30000000000 };
	struct vc_request request = { .model = &model, .workload.precision = VC_DTYPE_INT4 };
	struct vc_select_options options = { .max_gpus = 1, .sort = VC_SORT_MEMORY };

	(void)state;
	/* 1.2 x (15 + 3 + 2) = 24: exactly an A10 */
	rank(&request, &options);
	assert_ptr_equal(ranked[0].gpu, &a10);
	assert_true(ranked[0].headroom_bytes == 0);
	assert_ptr_equal(ranked[1].gpu, &a100_40);
	options.sort = VC_SORT_PRICE;
	memcpy(options.currency, "CNY", 4);
	rank(&request, &options);
	assert_ptr_equal(ranked[0].gpu, &yuan);
}

static void the_budget_comes_before_the_price(void **state)
{
	struct vc_model model = { .params = 13000000000 };
	struct vc_request request = { .model = &model };
	struct vc_select_options options = { .max_price_micros = 3000000 };

	(void)state;
	/* 1.2 x (26 + 5.2 + 2) = 39.84: 40 GB at $2.74; 80 GB at $3.43 and $6.88 are too dear;
	 * two A10 or four T4, 1.2 x (15.6 + 2) = 21.12 and 11.76, are $2.01 and $2.10 */
	rank(&request, &options);
	assert_ptr_equal(ranked[0].gpu, &a100_40);
	assert_false(ranked[0].over_budget);
	/* neither in dollars nor priced: nobody can tell */
	assert_ptr_equal(ranked[1].gpu, &yuan);
	assert_ptr_equal(ranked[2].gpu, &unpriced);
	assert_ptr_equal(ranked[3].gpu, &a10);
	assert_ptr_equal(ranked[4].gpu, &t4);
	assert_false(ranked[4].over_budget);
	assert_ptr_equal(ranked[5].gpu, &a100_80);
	assert_true(ranked[5].over_budget);
	assert_int_equal(ranked[5].gpus_needed, 1);
	assert_ptr_equal(ranked[6].gpu, &h100);
	/* exactly the budget is within it */
	options.max_price_micros = 2740000;
	rank(&request, &options);
	assert_false(ranked[0].over_budget);
	options.max_price_micros--;
	rank(&request, &options);
	assert_ptr_equal(ranked[0].gpu, &yuan);
}

static void errors_are_handed_on(void **state)
{
	struct vc_model empty = { 0 };
	struct vc_request request = { .model = &empty };
	struct vc_error error = { 0 };

	(void)state;
	assert_int_equal(vc_select(&request, all, COUNT, NULL, ranked, &error), VC_INVALID);
	assert_string_equal(error.field, "model");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cheapest_that_fits_comes_first),
		cmocka_unit_test(training_7b_needs_eighty),
		cmocka_unit_test(several_gpus_hold_what_one_does_not),
		cmocka_unit_test(training_spreads_by_zero_3),
		cmocka_unit_test(a_stated_layout_is_kept),
		cmocka_unit_test(impossible_degrees_become_stages),
		cmocka_unit_test(tensor_ranks_stay_in_a_node),
		cmocka_unit_test(precisions_a_gpu_lacks_are_flagged),
		cmocka_unit_test(memory_sort_puts_the_tightest_first),
		cmocka_unit_test(the_budget_comes_before_the_price),
		cmocka_unit_test(errors_are_handed_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
