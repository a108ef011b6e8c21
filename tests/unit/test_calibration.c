#include "calibration.h"
#include "test.h"

#include "ledger.h"

static const struct vc_gpu gpu = { .id = "card", .name = "card" };

static struct vc_request request_with(const struct vc_calibration *calibration)
{
	return (struct vc_request){ .engine = { .name = VC_ENGINE_VLLM,
		                                .gpu_memory_utilization_ppm = 500000 },
		                    .gpu = &gpu,
		                    .calibration = calibration };
}

/* 1000 MB of weights and 100 MB outside, +-110 MB. */
static struct vc_ledger plain_ledger(void)
{
	struct vc_ledger ledger = { .low_bytes = 990000000,
		                    .high_bytes = 1210000000,
		                    .need_bytes = 1210000000,
		                    .need_expected_bytes = 1100000000 };

	vc_ledger_add(&ledger, VC_COMPONENT_WEIGHTS, 1000000000, "w");
	vc_ledger_add(&ledger, VC_COMPONENT_FRAMEWORK, 100000000, "f");
	return ledger;
}

static void shifts_lines_and_keeps_the_width_of_the_range(void **state)
{
	static const struct vc_residual residuals[] = {
		{ VC_ENGINE_VLLM, "", VC_COMPONENT_WEIGHTS, 2, 1020000, 0, 10000 },
		{ VC_ENGINE_VLLM, "card", VC_COMPONENT_FRAMEWORK, 3, 1000000, 5000000, 0 },
	};
	const struct vc_calibration calibration = { residuals, 2 };
	const struct vc_request request = request_with(&calibration);
	struct vc_ledger ledger = plain_ledger();

	(void)state;
	calibrate(&request, &ledger);
	assert_u64(ledger.lines[0].bytes, 1020000000); /* 1000 x 1.02 */
	assert_u64(ledger.lines[1].bytes, 105000000);  /* 100 + 5 */
	assert_u64(ledger.low_bytes, 1125000000 - 110000000);
	assert_u64(ledger.high_bytes, 1125000000 + 110000000);
	assert_u64(ledger.need_bytes, 1210000000 + 25000000);
	assert_u64(ledger.need_expected_bytes, 1125000000);
	assert_int_equal(ledger.note_count, 1);
	assert_u64(ledger.notes[0].args[0], 2); /* the fewest measurements */
	assert_u64(ledger.notes[0].args[1], 25000000);
	assert_u64(ledger.notes[0].args[2], 0);
}

/* Five measurements of all that counts: what they deviate, or a quarter of the range at least. */
static void narrows_the_range_by_enough_measurements(void **state)
{
	static const struct vc_residual residuals[] = {
		{ VC_ENGINE_VLLM, "", VC_COMPONENT_WEIGHTS, 5, 990000, 0, 50000 },
		{ VC_ENGINE_VLLM, "card", VC_COMPONENT_FRAMEWORK, 5, 1000000, -40000000, 0 },
	};
	const struct vc_calibration calibration = { residuals, 2 };
	const struct vc_request request = request_with(&calibration);
	struct vc_ledger ledger = plain_ledger();

	(void)state;
	calibrate(&request, &ledger);
	/* 990 + 60; 990 x 5 % = 49.5 */
	assert_u64(ledger.low_bytes, 1050000000 - 49500000);
	assert_u64(ledger.high_bytes, 1050000000 + 49500000);
}

static void prefers_the_gpus_own_and_leaves_other_engines_alone(void **state)
{
	static const struct vc_residual residuals[] = {
		{ VC_ENGINE_VLLM, "card", VC_COMPONENT_WEIGHTS, 1, 1100000, 0, 0 },
		{ VC_ENGINE_VLLM, "", VC_COMPONENT_WEIGHTS, 9, 2000000, 0, 0 },
		{ VC_ENGINE_SGLANG, "card", VC_COMPONENT_FRAMEWORK, 1, 1000000, 77, 0 },
		{ VC_ENGINE_VLLM, "other", VC_COMPONENT_FRAMEWORK, 1, 1000000, 78, 0 },
	};
	const struct vc_calibration calibration = { residuals, 4 };
	const struct vc_request request = request_with(&calibration);
	struct vc_ledger ledger = plain_ledger();

	(void)state;
	calibrate(&request, &ledger);
	assert_u64(ledger.lines[0].bytes, 1100000000);
	assert_u64(ledger.lines[1].bytes, 100000000);
}

static void changes_nothing_without_measurements(void **state)
{
	const struct vc_calibration none = { NULL, 0 };
	const struct vc_request requests[] = { request_with(NULL), request_with(&none) };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct vc_ledger ledger = plain_ledger(), before = ledger;

		calibrate(&requests[i], &ledger);
		/* where a file was given, a note says that it has nothing of this job */
		assert_int_equal(ledger.note_count, i);
		ledger.note_count = before.note_count;
		memset(ledger.notes, 0, sizeof ledger.notes);
		memset(before.notes, 0, sizeof before.notes);
		assert_memory_equal(&ledger, &before, sizeof ledger);
	}
}

/* Of an engine's share the pool is what is left: the total stays, the tokens do not. */
static void takes_from_the_pool(void **state)
{
	static const struct vc_residual residuals[] = {
		{ VC_ENGINE_VLLM, "", VC_COMPONENT_WEIGHTS, 1, 1100000, 0, 0 },
	};
	const struct vc_calibration calibration = { residuals, 1 };
	const struct vc_request request = request_with(&calibration);
	struct vc_ledger ledger = plain_ledger();

	(void)state;
	vc_ledger_add(&ledger, VC_COMPONENT_KV_CACHE, 400000000, "pool");
	ledger.serving = (struct vc_serving){ true, 400000000, 4000, 2000 };
	calibrate(&request, &ledger);
	assert_u64(ledger.lines[2].bytes, 300000000); /* 400 - 100 */
	assert_u64(ledger.serving.kv_bytes_available, 300000000);
	assert_u64(ledger.serving.kv_tokens, 3000);
	assert_u64(ledger.serving.max_concurrency_milli, 1500);
	/* half of the GPU is the engine's: 100 MB more need 200 MB more of GPU */
	assert_u64(ledger.need_expected_bytes, 1100000000 + 200000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shifts_lines_and_keeps_the_width_of_the_range),
		cmocka_unit_test(narrows_the_range_by_enough_measurements),
		cmocka_unit_test(prefers_the_gpus_own_and_leaves_other_engines_alone),
		cmocka_unit_test(changes_nothing_without_measurements),
		cmocka_unit_test(takes_from_the_pool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
