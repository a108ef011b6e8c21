#include "shapes.h"
#include "test.h"

static void defaults_are_filled_in(void **state)
{
	struct vc_model model = { .params = 1 };
	struct vc_request request = { .model = &model };
	struct vc_error error;

	(void)state;
	assert_int_equal(vc_request_resolve(&request, &error), VC_OK);
	assert_int_equal(request.workload.precision, VC_DTYPE_FP16);
	assert_int_equal(request.workload.kv_cache_precision, VC_DTYPE_FP16);
	assert_u64(request.workload.batch_size, 1);
	assert_u64(request.workload.sequence_length, 4096);
	assert_u64(request.workload.concurrency, 1);
	assert_int_equal(request.workload.attn_implementation, VC_ATTENTION_FLASH);
	assert_int_equal(request.training.optimizer, VC_OPTIMIZER_ADAMW);
	assert_int_equal(request.training.mixed_precision, VC_MIXED_MASTER);
	assert_int_equal(request.training.lora.rank, 16);
	assert_int_equal(request.parallelism.tensor, 1);
	assert_u64(request.rule.overhead_bytes, 2000000000);
	assert_int_equal(request.engine.gpu_memory_utilization_ppm, 900000);
}

static void resolving_twice_changes_nothing(void **state)
{
	struct vc_model model = { .params = 1 };
	struct vc_request once = { .model = &model, .workload.precision = VC_DTYPE_INT8 };
	struct vc_request twice;
	struct vc_error error;

	(void)state;
	assert_int_equal(vc_request_resolve(&once, &error), VC_OK);
	twice = once;
	assert_int_equal(vc_request_resolve(&twice, &error), VC_OK);
	assert_memory_equal(&once, &twice, sizeof once);
	assert_int_equal(once.workload.kv_cache_precision, VC_DTYPE_INT8);
}

static void refused(const struct vc_request *request, const char *field)
{
	struct vc_request copy = *request;
	struct vc_error error = { 0 };

	assert_int_equal(vc_request_resolve(&copy, &error), VC_INVALID);
	assert_string_equal(error.field, field);
	assert_true(strchr(error.message, '(') != NULL);
}

static void contradictions_are_named(void **state)
{
	static struct vc_model model;
	struct vc_model empty = { 0 };
	struct vc_request request = { 0 };

	(void)state;
	refused(&request, "model");
	request.model = &empty;
	refused(&request, "model");
	shape_decoder(&model, &llama_2_7b);
	request.model = &model;
	request.parallelism.zero_stage = 4;
	refused(&request, "parallelism.zero_stage");
	request.parallelism.zero_stage = 0;
	request.parallelism.pipeline = 33;
	refused(&request, "parallelism.pipeline");
	request.parallelism.pipeline = 32;
	request.parallelism.tensor = 3;
	refused(&request, "parallelism.tensor");
	request.parallelism.tensor = 1;
	request.engine.gpu_memory_utilization_ppm = 1000001;
	refused(&request, "engine.gpu_memory_utilization");
}

static void the_checkpoints_quantization_is_taken(void **state)
{
	struct vc_quantization awq = { .name = "awq-int4-g128", .dtype = VC_DTYPE_INT4 };
	struct vc_quantization none = { .name = "none" };
	struct vc_model model = { .params = 7000000000, .quantization = &awq };
	struct vc_request request = { .model = &model };
	struct vc_ledger ledger;
	struct vc_error error;

	(void)state;
	assert_int_equal(vc_estimate(&request, &ledger, &error), VC_OK);
	assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_WEIGHTS), 3500000000);
	/* a spec that says "none" means it */
	request.workload.quantization = &none;
	assert_int_equal(vc_estimate(&request, &ledger, &error), VC_OK);
	assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_WEIGHTS), 14000000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_filled_in),
		cmocka_unit_test(resolving_twice_changes_nothing),
		cmocka_unit_test(contradictions_are_named),
		cmocka_unit_test(the_checkpoints_quantization_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
