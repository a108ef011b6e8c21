/* How memory grows: where points lie and what still fits, against sums done by hand. */
#include "test.h"

#include "growth.h"
#include "shapes.h"

/* The rule for Llama-2-7B in fp16, with 13,476,831,232 B of weights W:
 * needs(batch, length) = 1.2 x (W + 0.2 W rounded up + 524,288 x batch x length + 2e9), rounded up
 */
static struct vc_model model;
static const struct vc_gpu v100 = {
	.id = "v100", .name = "V100", .memory_bytes = 32000000000, .driver_bytes = 34359738368
};
static struct vc_candidate candidate;
static struct plan plan;

static void set_up(struct vc_workload workload)
{
	struct vc_error error;

	shape_decoder(&model, &llama_2_7b);
	candidate = (struct vc_candidate){ .gpu = &v100, .gpus = 1 };
	plan = (struct plan){ .request = { .model = &model, .workload = workload },
		              .candidates = &candidate,
		              .count = 1 };
	assert_int_equal(vc_request_resolve(&plan.request, &error), VC_OK);
	candidate.layout = plan.request.parallelism;
}

static void powers_of_two_until_it_fits_no_more(void **state)
{
	static const struct growth_point want[] = {
		/* 1.2 x (16172197479 + 2147483648 x n + 2000000000), and without the 1.2 */
		{ 1, 24383617353, 20319681127 },
		{ 2, 26960597730, 22467164775 },
		{ 4, 32114558486, 26762132071 },
		{ 8, 42422479996, 35352066663 },
	};
	struct growth growth;

	(void)state;
	set_up((struct vc_workload){ .precision = VC_DTYPE_FP16 });
	growth_estimate(&plan, VC_SOLVE_BATCH_SIZE, &growth);
	assert_int_equal(growth.method, VC_METHOD_RULE);
	assert_int_equal(growth.limit_bytes, 32000000000);
	assert_int_equal(growth.now, 1);
	assert_int_equal(growth.count, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(growth.points[i].value, want[i].value);
		assert_u64(growth.points[i].need_bytes, want[i].need_bytes);
		assert_u64(growth.points[i].expected_bytes, want[i].expected_bytes);
	}
	/* (32e9 / 1.2 - 18172197479) / 2147483648 = 3.955 */
	assert_int_equal(growth.most, 3);
	assert_true(growth.bounded);
	assert_false(growth.flat);
}

/* (32e9 / 1.2 - 18172197479) / 524288 = 16202.0, so 16201 */
static void lengths_start_where_they_matter(void **state)
{
	struct growth growth;

	(void)state;
	set_up((struct vc_workload){ .precision = VC_DTYPE_FP16, .sequence_length = 3000 });
	growth_estimate(&plan, VC_SOLVE_SEQUENCE_LENGTH, &growth);
	assert_int_equal(growth.points[0].value, 256);
	assert_int_equal(growth.points[3].value, 2048);
	assert_int_equal(growth.points[4].value, 3000); /* the spec's own */
	assert_int_equal(growth.points[5].value, 4096);
	assert_int_equal(growth.points[growth.count - 1].value, 16384); /* the first over 32 GB */
	assert_int_equal(growth.most, 16201);
}

static void the_line_reaches_as_far_as_the_spec(void **state)
{
	struct growth growth;

	(void)state;
	set_up((struct vc_workload){ .precision = VC_DTYPE_FP16, .batch_size = 64 });
	growth_estimate(&plan, VC_SOLVE_BATCH_SIZE, &growth);
	assert_int_equal(growth.points[growth.count - 1].value, 64);
	assert_int_equal(growth.most, 3);
}

/* The rule's activations are a share of the weights: a batch in training changes nothing. */
static void what_does_not_grow_is_said(void **state)
{
	struct growth growth;
	char text[PLAN_TEXT];

	(void)state;
	set_up((struct vc_workload){ .task = VC_TASK_TRAINING, .precision = VC_DTYPE_FP16 });
	growth_estimate(&plan, VC_SOLVE_BATCH_SIZE, &growth);
	assert_true(growth.flat);
	growth_sentence(&growth, &plan, text);
	assert_string_equal(text, "Batch, at 4096 tokens a sequence: memory does not depend on it "
	                          "by the rule method.");
	/* the detailed method knows better */
	plan.has_detailed = true;
	growth_estimate(&plan, VC_SOLVE_BATCH_SIZE, &growth);
	assert_int_equal(growth.method, VC_METHOD_DETAILED);
	assert_false(growth.flat);
}

static void the_sentence_says_what_fits(void **state)
{
	struct growth growth;
	char text[PLAN_TEXT];

	(void)state;
	set_up((struct vc_workload){ .precision = VC_DTYPE_FP16 });
	growth_estimate(&plan, VC_SOLVE_BATCH_SIZE, &growth);
	growth_sentence(&growth, &plan, text);
	assert_string_equal(text, "Batch, at 4096 tokens a sequence: up to 3 sequences fit one "
	                          "V100 by the rule method.");
	growth_estimate(&plan, VC_SOLVE_SEQUENCE_LENGTH, &growth);
	growth_sentence(&growth, &plan, text);
	assert_string_equal(text, "Sequence length, at batch 1: up to 16201 tokens fit one V100 "
	                          "by the rule method.");
	/* requests at once are so many sequences of the cache: with 2, half as long each */
	plan.request.workload.concurrency = 2;
	growth_estimate(&plan, VC_SOLVE_CONCURRENCY, &growth);
	assert_int_equal(growth.now, 2);
	growth_sentence(&growth, &plan, text);
	assert_string_equal(text, "Concurrency, at 4096 tokens a sequence: up to 3 requests fit "
	                          "one V100 by the rule method.");
	growth_estimate(&plan, VC_SOLVE_SEQUENCE_LENGTH, &growth);
	growth_sentence(&growth, &plan, text);
	assert_string_equal(text, "Sequence length, at 2 requests at once: up to 8100 tokens fit "
	                          "one V100 by the rule method.");
	growth.bounded = false;
	growth_sentence(&growth, &plan, text);
	assert_non_null(strstr(text, "memory stops growing, so that any number of tokens fits"));
	growth.most = 0;
	growth_sentence(&growth, &plan, text);
	assert_non_null(strstr(text, "not even 1 fits one V100"));
	plan.count = 0;
	growth_estimate(&plan, VC_SOLVE_BATCH_SIZE, &growth);
	assert_int_equal(growth.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(powers_of_two_until_it_fits_no_more),
		cmocka_unit_test(lengths_start_where_they_matter),
		cmocka_unit_test(the_line_reaches_as_far_as_the_spec),
		cmocka_unit_test(what_does_not_grow_is_said),
		cmocka_unit_test(the_sentence_says_what_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
