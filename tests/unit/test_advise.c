#include "shapes.h"
#include "test.h"

static const struct vc_gpu a10 = { .id = "a10",
	                           .name = "NVIDIA A10",
	                           .memory_bytes = 24000000000,
	                           .price = { true, 1006000, "USD", "", "", NULL } };
static const struct vc_gpu a100_40 = { .id = "a100-40gb-sxm",
	                               .name = "NVIDIA A100 40GB",
	                               .memory_bytes = 40000000000,
	                               .price = { true, 2740000, "USD", "", "", NULL } };
static const struct vc_gpu a100_80 = { .id = "a100-80gb-sxm",
	                               .name = "NVIDIA A100 80GB",
	                               .memory_bytes = 80000000000,
	                               .price = { true, 3430000, "USD", "", "", NULL } };
static const struct vc_gpu h100 = { .id = "h100-80gb-sxm",
	                            .name = "NVIDIA H100 80GB",
	                            .memory_bytes = 80000000000,
	                            .price = { true, 6880000, "USD", "", "", NULL } };
static const struct vc_gpu *const others[] = { &h100, &a10, &a100_40, &a100_80 };

enum {
	MOST = 16
};
static struct vc_plan plans[MOST];
static struct vc_advice advice;

static void advise(const struct vc_request *request, const struct vc_gpu *gpu, uint32_t gpus)
{
	struct vc_advise_options options = { .gpus = gpus, .others = others, .other_count = 4 };
	struct vc_error error = { 0 };

	if (vc_advise(request, gpu, &options, plans, MOST, &advice, &error) != VC_OK) {
		fail_msg("%s: %s", error.field, error.message);
	}
	for (size_t i = 0; i < advice.plan_count; i++) {
		assert_int_equal(plans[i].verdict, VC_VERDICT_FITS);
		assert_true(i == 0 || plans[i - 1].difficulty <= plans[i].difficulty);
	}
}

/* The plan that consists of exactly these measures; a measure of VC_MEASURE_COUNT is none. */
static const struct vc_plan *find(enum vc_measure a, enum vc_measure b)
{
	uint32_t count = b == VC_MEASURE_COUNT ? 1 : 2;

	for (size_t i = 0; i < advice.plan_count; i++) {
		if (plans[i].step_count == count && plans[i].steps[0].measure == a &&
		    (count == 1 || plans[i].steps[1].measure == b)) {
			return &plans[i];
		}
	}
	return NULL;
}

static void training_7b_on_40_gb(void **state)
{
	struct vc_model model = { .params = 7000000000 };
	struct vc_request request = { .model = &model,
		                      .workload = { .task = VC_TASK_TRAINING, .batch_size = 8 } };
	const struct vc_plan *plan;

	(void)state;
	advise(&request, &a100_40, 1);
	assert_false(advice.fits_as_is);
	assert_u64(advice.total_bytes, 60900000000);
	assert_u64(advice.have_bytes, 40000000000);
	/* LoRA: 14 + 4.9 GB, 1.2 x 20.9 = 25.08 */
	assert_ptr_equal(find(VC_MEASURE_LORA, VC_MEASURE_COUNT), &plans[0]);
	assert_u64(plans[0].need_bytes, 25080000000);
	assert_u64(plans[0].steps[0].saves_bytes, 42000000000);
	assert_string_equal(plans[0].steps[0].settings[0].field, "training.method");
	/* weights + gradients + half the activations: 30.45 GB, 1.2 x 32.45 = 38.94; without
	 * checkpointing 1.2 x 34.9 = 41.88 does not fit */
	plan = find(VC_MEASURE_GRADIENT_CHECKPOINTING, VC_MEASURE_OFFLOAD_OPTIMIZER);
	assert_non_null(plan);
	assert_u64(plan->need_bytes, 38940000000);
	assert_null(find(VC_MEASURE_OFFLOAD_OPTIMIZER, VC_MEASURE_COUNT));
	/* a smaller batch saves nothing by the rule, ZeRO-3 nothing on one GPU */
	for (size_t i = 0; i < advice.plan_count; i++) {
		for (uint32_t s = 0; s < plans[i].step_count; s++) {
			assert_true(plans[i].steps[s].measure != VC_MEASURE_BATCH_SIZE);
			assert_true(plans[i].steps[s].measure != VC_MEASURE_ZERO_3);
		}
	}
	/* the cheaper of the two with 80 GB */
	plan = find(VC_MEASURE_BIGGER_GPU, VC_MEASURE_COUNT);
	assert_non_null(plan);
	assert_ptr_equal(plan->gpu, &a100_80);
	assert_string_equal(plan->steps[0].settings[0].value, "a100-80gb-sxm");
	/* four with ZeRO-3: 1.2 x (14 + 4.9 + 2) */
	plan = find(VC_MEASURE_MORE_GPUS, VC_MEASURE_COUNT);
	assert_non_null(plan);
	assert_string_equal(plan->steps[0].settings[0].value, "4");
}

static void bloomz_on_four_a10(void **state)
{
	/* 7.07e9 parameters: 14.14 GB of weights and of gradients, 28.28 of states, 4.949 of
	 * activations; an A10 holds M of 24 / 1.2 - 2 = 18 GB. */
	struct vc_model model = { .params = 7070000000 };
	struct vc_request request = { .model = &model,
		                      .workload.task = VC_TASK_TRAINING,
		                      .parallelism = { .stated = true, .data = 4 } };
	const struct vc_plan *plan;

	(void)state;
	advise(&request, &a10, 4);
	assert_false(advice.fits_as_is);
	/* neither ZeRO-2 nor ZeRO-2 with checkpointing: 14.14 + 3.535 + 7.07 + 2.47 = 27.2 */
	assert_null(find(VC_MEASURE_ZERO_2, VC_MEASURE_COUNT));
	assert_null(find(VC_MEASURE_GRADIENT_CHECKPOINTING, VC_MEASURE_ZERO_2));
	/* ZeRO-3 alone is 19.1 GB; with checkpointing 14.14 + 2.4745 = 16.6145 */
	assert_null(find(VC_MEASURE_ZERO_3, VC_MEASURE_COUNT));
	plan = find(VC_MEASURE_GRADIENT_CHECKPOINTING, VC_MEASURE_ZERO_3);
	assert_non_null(plan);
	assert_u64(plan->total_bytes, 16614500000);
	assert_non_null(find(VC_MEASURE_GRADIENT_CHECKPOINTING, VC_MEASURE_LORA));
}

static void thirteen_b_on_24_gb(void **state)
{
	struct vc_model model = { .params = 13000000000 };
	struct vc_request request = { .model = &model };

	(void)state;
	advise(&request, &a10, 1);
	/* 13 GB and 20 %: 1.2 x (15.6 + 2) = 21.12 */
	assert_ptr_equal(find(VC_MEASURE_QUANTIZATION_8BIT, VC_MEASURE_COUNT), &plans[0]);
	assert_u64(plans[0].need_bytes, 21120000000);
	assert_non_null(find(VC_MEASURE_QUANTIZATION_4BIT, VC_MEASURE_COUNT));
}

static void batch_is_cut_no_more_than_needed(void **state)
{
	static struct vc_model model;
	struct vc_request request = { .model = &model, .workload.batch_size = 64 };
	const struct vc_plan *plan;

	(void)state;
	shape_decoder(&model, &llama_2_7b);
	model.params = 7000000000;
	/* 40 / 1.2 - 2 - 16.8 GB = 14.53 GB; at 2 GiB a sequence 6 of them */
	advise(&request, &a100_40, 1);
	plan = find(VC_MEASURE_BATCH_SIZE, VC_MEASURE_COUNT);
	assert_non_null(plan);
	assert_string_equal(plan->steps[0].settings[0].value, "6");
	assert_u64(plan->request.workload.batch_size, 6);
	/* 14.53e9 / (64 x 524288) = 433 tokens */
	plan = find(VC_MEASURE_SEQUENCE_LENGTH, VC_MEASURE_COUNT);
	assert_null(plan);
}

/* Batch and length, then checkpointing, then quantization, then sharding and offload. */
static void measures_come_in_order_of_difficulty(void **state)
{
	static const enum vc_measure order[] = {
		VC_MEASURE_BATCH_SIZE,
		VC_MEASURE_SEQUENCE_LENGTH,
		VC_MEASURE_GRADIENT_CHECKPOINTING,
		VC_MEASURE_QUANTIZATION_8BIT,
		VC_MEASURE_QUANTIZATION_4BIT,
		VC_MEASURE_ZERO_3,
		VC_MEASURE_OFFLOAD_OPTIMIZER,
		VC_MEASURE_OFFLOAD_PARAMETERS,
	};

	(void)state;
	for (size_t i = 1; i < sizeof order / sizeof *order; i++) {
		assert_true(vc_measure_info(order[i - 1])->difficulty <
		            vc_measure_info(order[i])->difficulty);
	}
	assert_non_null(strstr(vc_measure_info(VC_MEASURE_GRADIENT_CHECKPOINTING)->call,
	                       "gradient_checkpointing_enable()"));
	assert_non_null(strstr(vc_measure_info(VC_MEASURE_GRADIENT_CHECKPOINTING)->call,
	                       "activation_checkpointing"));
	assert_non_null(strstr(vc_measure_info(VC_MEASURE_GRADIENT_CHECKPOINTING)->cost, "30 %"));
}

static void what_fits_needs_no_advice(void **state)
{
	struct vc_model model = { .params = 1000000000 };
	struct vc_request request = { .model = &model };

	(void)state;
	advise(&request, &a10, 1);
	assert_true(advice.fits_as_is);
	assert_int_equal(advice.plan_count, 0);
}

static void hopeless_says_so(void **state)
{
	struct vc_model model = { .params = 900000000000000 };
	struct vc_request request = { .model = &model, .workload.task = VC_TASK_TRAINING };

	(void)state;
	advise(&request, &a10, 1);
	assert_int_equal(advice.plan_count, 0);
	assert_true(advice.closest.need_bytes < advice.need_bytes);
	assert_true(advice.closest.step_count > 0);
}

/* Full training peaks in the optimizer's step, so that recomputing activations alone saves nothing
 * there; with adapters the backward pass is the peak, and it does. */
static void a_measure_may_help_only_beside_another(void **state)
{
	static struct vc_model model;
	struct vc_request request = { .model = &model,
		                      .method = VC_METHOD_DETAILED,
		                      .engine.name = VC_ENGINE_TRANSFORMERS,
		                      .workload = { .task = VC_TASK_TRAINING,
		                                    .precision = VC_DTYPE_BF16 } };

	(void)state;
	shape_decoder(&model, &llama_2_7b);
	advise(&request, &a100_40, 1);
	assert_null(find(VC_MEASURE_LORA, VC_MEASURE_COUNT));
	assert_null(find(VC_MEASURE_GRADIENT_CHECKPOINTING, VC_MEASURE_COUNT));
	assert_non_null(find(VC_MEASURE_GRADIENT_CHECKPOINTING, VC_MEASURE_LORA));
}

static void no_plan_contains_another(void **state)
{
	struct vc_model model = { .params = 7070000000 };
	struct vc_request request = { .model = &model, .workload.task = VC_TASK_TRAINING };

	(void)state;
	advise(&request, &a10, 8);
	assert_true(advice.plan_count > 2);
	for (size_t i = 0; i < advice.plan_count; i++) {
		for (size_t k = 0; k < advice.plan_count; k++) {
			uint32_t shared = 0;

			for (uint32_t s = 0; s < plans[i].step_count; s++) {
				for (uint32_t o = 0; o < plans[k].step_count; o++) {
					shared += plans[i].steps[s].measure ==
					          plans[k].steps[o].measure;
				}
			}
			assert_true(i == k || shared < plans[k].step_count);
		}
	}
}

static bool offers(enum vc_measure measure)
{
	for (size_t i = 0; i < advice.plan_count; i++) {
		for (uint32_t s = 0; s < plans[i].step_count; s++) {
			if (plans[i].steps[s].measure == measure) {
				return true;
			}
		}
	}
	return false;
}

/* Megatron's own optimizer is divided, its parameters are not; LitGPT passes cpu_offload=False. */
static void trainers_are_told_what_they_have(void **state)
{
	struct vc_model model = { .params = 13000000000 };
	struct vc_request request = { .model = &model, .workload.task = VC_TASK_TRAINING };

	(void)state;
	advise(&request, &a100_80, 8);
	assert_true(offers(VC_MEASURE_ZERO_3));
	assert_true(offers(VC_MEASURE_OFFLOAD_OPTIMIZER));
	request.engine.name = VC_ENGINE_MEGATRON;
	advise(&request, &a100_80, 8);
	/* with checkpointing: 1.2 x (26 + 26 + 52 / 8 + 4.55 + 2) = 78.1 GB */
	assert_true(offers(VC_MEASURE_ZERO_1));
	assert_false(offers(VC_MEASURE_ZERO_2));
	assert_false(offers(VC_MEASURE_ZERO_3));
	assert_false(offers(VC_MEASURE_LORA));
	assert_string_equal(vc_measure_call(VC_MEASURE_ZERO_1, VC_ENGINE_MEGATRON),
	                    "--use-distributed-optimizer");
	request.engine.name = VC_ENGINE_LITGPT;
	advise(&request, &a100_80, 8);
	assert_true(offers(VC_MEASURE_ZERO_3));
	assert_false(offers(VC_MEASURE_OFFLOAD_OPTIMIZER));
	advise(&request, &a100_80, 1);
	assert_false(offers(VC_MEASURE_GRADIENT_CHECKPOINTING));
	assert_string_equal(vc_measure_call(VC_MEASURE_GRADIENT_CHECKPOINTING, VC_ENGINE_TORCHTUNE),
	                    "enable_activation_checkpointing=True");
	/* where an engine has no row, the usual frameworks are named */
	assert_non_null(strstr(vc_measure_call(VC_MEASURE_ZERO_3, VC_ENGINE_DEEPSPEED), "stage"));
}

/* As many layers as fit: by the estimate itself one more does not, and by the rule none is moved.
 */
static void llamacpp_keeps_the_layers_that_fit(void **state)
{
	struct vc_model model = { 0 };
	struct vc_request request = { .model = &model,
		                      .method = VC_METHOD_DETAILED,
		                      .engine.name = VC_ENGINE_LLAMACPP };
	struct vc_ledger ledger;
	struct vc_error error;
	const struct vc_plan *plan;

	(void)state;
	shape_decoder(&model, &(struct decoder){ 5120, 40, 40, 40, 13824, 32000 }); /* 13B */
	advise(&request, &a10, 1);
	plan = find(VC_MEASURE_GPU_LAYERS, VC_MEASURE_COUNT);
	assert_non_null(plan);
	assert_string_equal(plan->steps[0].settings[0].field, "engine.gpu_layers");
	assert_in_range(plan->request.engine.gpu_layers, 1, 39);
	assert_int_equal(atoi(plan->steps[0].settings[0].value),
	                 (int)plan->request.engine.gpu_layers);
	request = plan->request;
	request.engine.gpu_layers++;
	assert_int_equal(vc_estimate(&request, &ledger, &error), VC_OK);
	assert_true(ledger.need_bytes > advice.have_bytes);
	request = plan->request;
	request.engine.gpu_layers_given = false;
	request.method = VC_METHOD_RULE;
	advise(&request, &a10, 1);
	assert_false(offers(VC_MEASURE_GPU_LAYERS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(training_7b_on_40_gb),
		cmocka_unit_test(bloomz_on_four_a10),
		cmocka_unit_test(thirteen_b_on_24_gb),
		cmocka_unit_test(batch_is_cut_no_more_than_needed),
		cmocka_unit_test(measures_come_in_order_of_difficulty),
		cmocka_unit_test(what_fits_needs_no_advice),
		cmocka_unit_test(hopeless_says_so),
		cmocka_unit_test(a_measure_may_help_only_beside_another),
		cmocka_unit_test(no_plan_contains_another),
		cmocka_unit_test(trainers_are_told_what_they_have),
		cmocka_unit_test(llamacpp_keeps_the_layers_that_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
