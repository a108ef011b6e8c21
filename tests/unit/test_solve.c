#include "shapes.h"
#include "test.h"

static const struct vc_gpu a10 = { .id = "a10", .name = "A10", .memory_bytes = 24000000000 };
static const struct vc_gpu a100 = { .id = "a100", .name = "A100", .memory_bytes = 80000000000 };
static const struct vc_gpu t4 = { .id = "t4", .name = "T4", .memory_bytes = 16000000000 };
static struct vc_model model;

static struct vc_solution solve(const struct vc_request *request, const struct vc_gpu *gpu,
                                enum vc_solve_field field)
{
	struct vc_solution solution;
	struct vc_error error = { 0 };

	if (vc_solve(request, gpu, field, &solution, &error) != VC_OK) {
		fail_msg("%s: %s", error.field, error.message);
	}
	return solution;
}

static void the_room_for_tokens_is_exact(void **state)
{
	struct vc_request request = { .model = &model };
	struct vc_solution solution;

	(void)state;
	shape_decoder(&model, &llama_2_7b);
	model.params = 7000000000;
	request.rule.activation_ppm = 1; /* 14,000 B */
	/* 24 GB / 1.2 - 2 GB - 14 GB - 14,000 B = 3,999,986,000 B; / 524,288 B = 7629.4 tokens */
	solution = solve(&request, &a10, VC_SOLVE_SEQUENCE_LENGTH);
	assert_u64(solution.value, 7629);
	assert_u64(solution.limit_bytes, 24000000000);
	assert_true(solution.bytes_at_value <= 24000000000);
	assert_true(solution.bytes_at_next > 24000000000);
	/* one sequence of 4096 tokens is 2 GiB: one fits, two are 4.29 GB */
	assert_u64(solve(&request, &a10, VC_SOLVE_BATCH_SIZE).value, 1);
	/* 80 / 1.2 - 16 = 50.67 GB; / 2.147 = 23.6 */
	assert_u64(solve(&request, &a100, VC_SOLVE_CONCURRENCY).value, 23);
	assert_u64(solve(&request, &t4, VC_SOLVE_BATCH_SIZE).value, 0);
	assert_true(solve(&request, &t4, VC_SOLVE_BATCH_SIZE).bytes_at_value > 16000000000);
}

static void what_fits_fits_and_one_more_does_not(void **state)
{
	uint64_t seed = 7;

	(void)state;
	shape_decoder(&model, &llama_2_7b);
	for (int i = 0; i < 300; i++) {
		struct vc_request request = { .model = &model };
		struct vc_ledger ledger;
		struct vc_error error;
		struct vc_solution solution;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		request.workload.sequence_length = 1 + (seed >> 40) % 4096;
		solution = solve(&request, &a100, VC_SOLVE_BATCH_SIZE);
		assert_true(solution.value > 0);
		request.workload.batch_size = solution.value;
		assert_int_equal(vc_estimate(&request, &ledger, &error), VC_OK);
		assert_true(ledger.need_bytes <= solution.limit_bytes);
		assert_u64(ledger.need_bytes, solution.bytes_at_value);
		request.workload.batch_size++;
		assert_int_equal(vc_estimate(&request, &ledger, &error), VC_OK);
		assert_true(ledger.need_bytes > solution.limit_bytes);
		assert_u64(ledger.need_bytes, solution.bytes_at_next);
	}
}

/* The rule knows no cache without an architecture, and ties training's activations to weights. */
static void what_changes_nothing_has_no_largest_value(void **state)
{
	struct vc_request request = { .model = &model };
	struct vc_solution solution;

	(void)state;
	model = (struct vc_model){ .params = 1000000000 };
	solution = solve(&request, &a10, VC_SOLVE_CONCURRENCY);
	assert_true(solution.any);
	/* 1.2 x (2 x 1.2 + 2) GB */
	assert_u64(solution.bytes_at_value, 5280000000);
	request.workload.task = VC_TASK_TRAINING;
	assert_true(solve(&request, &a10, VC_SOLVE_BATCH_SIZE).any);
	/* adapters of 100,000 x 4096 x 2 x 64: every rank that can be given fits, none for free */
	shape_decoder(&model, &llama_2_7b);
	request.training.method = VC_TRAINING_LORA;
	solution = solve(&request, &a100, VC_SOLVE_LORA_RANK);
	assert_false(solution.any);
	assert_true(solution.value < 100000);
}

static void gpus_are_the_fewest(void **state)
{
	struct vc_request request = { .model = &model, .rule.activation_ppm = 1 };

	(void)state;
	shape_decoder(&model, &llama_2_70b);
	model.params = 70000000000;
	/* 1.2 x (70 + 0.67 + 2) > 80; 1.2 x (35 + 0.34 + 2) = 44.8 */
	assert_u64(solve(&request, &a100, VC_SOLVE_GPUS).value, 4);
	request.workload.task = VC_TASK_TRAINING;
	/* 560 GB / N + 2 to be at most 66.67: N = 16 */
	assert_u64(solve(&request, &a100, VC_SOLVE_GPUS).value, 16);
	/* 7 heads divide over no other number: stages do it, 1.2 x (100 / 2 + 2) = 62.4 */
	shape_decoder(&model, &(struct decoder){ 3584, 28, 7, 7, 9472, 1000 });
	model.params = 50000000000;
	request.workload.task = VC_TASK_INFERENCE;
	request.workload.sequence_length = 1;
	assert_u64(solve(&request, &a100, VC_SOLVE_GPUS).value, 2);
}

static void what_nothing_bounds_ends(void **state)
{
	struct vc_model plain = { .params = 1000000 };
	struct vc_request request = { .model = &plain };

	(void)state;
	assert_u64(solve(&request, &t4, VC_SOLVE_BATCH_SIZE).value, 1ull << 40);
	assert_u64(solve(&request, &t4, VC_SOLVE_BATCH_SIZE).bytes_at_next, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_room_for_tokens_is_exact),
		cmocka_unit_test(what_fits_fits_and_one_more_does_not),
		cmocka_unit_test(what_changes_nothing_has_no_largest_value),
		cmocka_unit_test(gpus_are_the_fewest),
		cmocka_unit_test(what_nothing_bounds_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
