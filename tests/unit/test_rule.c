#include "shapes.h"
#include "test.h"

/* "7B" of the rule of thumb: seven thousand million parameters and nothing else known. */
static struct vc_model seven = { .params = 7000000000 };
static struct vc_model shaped;

static struct vc_ledger estimate(const struct vc_request *request)
{
	struct vc_ledger ledger;
	struct vc_error error = { 0 };

	if (vc_estimate(request, &ledger, &error) != VC_OK) {
		fail_msg("%s: %s", error.field, error.message);
	}
	return ledger;
}

static uint64_t component(const struct vc_request *request, enum vc_component which)
{
	struct vc_ledger ledger = estimate(request);

	return vc_ledger_component(&ledger, which);
}

static const struct vc_note *note(const struct vc_ledger *ledger, const char *code)
{
	for (uint32_t i = 0; i < ledger->note_count; i++) {
		if (strcmp(ledger->notes[i].code, code) == 0) {
			return &ledger->notes[i];
		}
	}
	return NULL;
}

static struct vc_request training(const struct vc_model *model)
{
	return (struct vc_request){ .model = model, .workload.task = VC_TASK_TRAINING };
}

static void weights_are_params_times_bytes(void **state)
{
	static const struct {
		enum vc_dtype dtype;
		uint64_t bytes;
	} rows[] = {
		{ VC_DTYPE_FP32, 28000000000 }, { VC_DTYPE_FP16, 14000000000 },
		{ VC_DTYPE_BF16, 14000000000 }, { VC_DTYPE_INT8, 7000000000 },
		{ VC_DTYPE_INT4, 3500000000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct vc_request request = { .model = &seven,
			                      .workload.precision = rows[i].dtype };

		assert_u64(component(&request, VC_COMPONENT_WEIGHTS), rows[i].bytes);
	}
}

static void stated_params_win_and_are_named(void **state)
{
	struct vc_request request = { .model = &shaped };
	struct vc_ledger ledger;

	(void)state;
	shape_decoder(&shaped, &llama_2_7b);
	ledger = estimate(&request);
	/* 6,738,415,616 parameters in 2 bytes */
	assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_WEIGHTS), 13476831232);
	assert_null(note(&ledger, "params-stated"));
	shaped.params = 7000000000;
	ledger = estimate(&request);
	assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_WEIGHTS), 14000000000);
	assert_non_null(note(&ledger, "params-stated"));
	assert_u64(note(&ledger, "params-stated")->args[1], 6738415616);
}

static void kv_cache_is_linear(void **state)
{
	struct vc_request request = { .model = &shaped, .workload.sequence_length = 4096 };

	(void)state;
	shape_decoder(&shaped, &llama_2_7b);
	/* 2 x 4096 tokens x 4096 wide x 32 layers x 2 B = 2 GiB; 524,288 B a token */
	assert_u64(component(&request, VC_COMPONENT_KV_CACHE), 2147483648);
	request.workload.sequence_length = 1;
	assert_u64(component(&request, VC_COMPONENT_KV_CACHE), 524288);
	request.workload.sequence_length = 8192;
	assert_u64(component(&request, VC_COMPONENT_KV_CACHE), 4294967296);
	request.workload.sequence_length = 4096;
	request.workload.batch_size = 8;
	assert_u64(component(&request, VC_COMPONENT_KV_CACHE), 17179869184);
	request.workload.batch_size = 1;
	request.workload.concurrency = 8;
	assert_u64(component(&request, VC_COMPONENT_KV_CACHE), 17179869184);
	/* requests share the weights */
	assert_u64(component(&request, VC_COMPONENT_WEIGHTS), 13476831232);
	request.workload.concurrency = 1;
	request.workload.kv_cache_precision = VC_DTYPE_FP8;
	assert_u64(component(&request, VC_COMPONENT_KV_CACHE), 1073741824);
}

static void grouped_queries_shrink_the_cache(void **state)
{
	struct vc_request request = { .model = &shaped };
	struct vc_ledger ledger;

	(void)state;
	shape_decoder(&shaped, &llama_2_70b);
	ledger = estimate(&request);
	/* 2 x 4096 x (8 x 128) x 80 x 2; with all 64 heads 10,737,418,240 */
	assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_KV_CACHE), 1342177280);
	assert_non_null(note(&ledger, "kv-grouped-queries"));
	shaped.kinds[0].mixers[0].kv_heads = 64;
	assert_u64(component(&request, VC_COMPONENT_KV_CACHE), 10737418240);
}

static void an_unknown_architecture_leaves_the_cache_out(void **state)
{
	struct vc_request request = { .model = &seven };
	struct vc_ledger ledger = estimate(&request);

	(void)state;
	assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_KV_CACHE), 0);
	assert_non_null(note(&ledger, "kv-left-out"));
	shape_decoder(&shaped, &llama_2_7b);
	request.model = &shaped;
	ledger = estimate(&request);
	assert_null(note(&ledger, "kv-left-out"));
}

static void encoders_keep_no_cache(void **state)
{
	struct vc_request request = { .model = &shaped };
	struct vc_ledger ledger;

	(void)state;
	shape_decoder(&shaped, &llama_2_7b);
	shaped.kinds[0].mixers[0].causal = false;
	ledger = estimate(&request);
	assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_KV_CACHE), 0);
	assert_non_null(note(&ledger, "kv-none"));
}

static void inference_activations_are_a_share_of_weights(void **state)
{
	struct vc_request request = { .model = &seven };
	struct vc_ledger ledger = estimate(&request);

	(void)state;
	/* 14 GB: 1.4 to 4.2 GB, 2.8 in the middle */
	assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_ACTIVATIONS), 2800000000);
	assert_u64(ledger.total_bytes, 16800000000);
	assert_u64(ledger.low_bytes, 15400000000);
	assert_u64(ledger.high_bytes, 18200000000);
	request.rule.activation_ppm = 100000;
	assert_u64(component(&request, VC_COMPONENT_ACTIVATIONS), 1400000000);
}

static void the_parts_add_up(void **state)
{
	struct vc_request request = { .model = &shaped };
	struct vc_ledger ledger;
	uint64_t sum = 0;

	(void)state;
	shape_decoder(&shaped, &llama_2_7b);
	ledger = estimate(&request);
	assert_int_equal(ledger.line_count, 3);
	for (uint32_t i = 0; i < ledger.line_count; i++) {
		sum += ledger.lines[i].bytes;
	}
	assert_u64(sum, ledger.total_bytes);
	request = training(&seven);
	ledger = estimate(&request);
	/* weights, activations and two rows more: gradients and optimizer states */
	assert_int_equal(ledger.line_count, 4);
}

static void recommendation_is_exact(void **state)
{
	static const struct {
		uint64_t total, recommended;
	} rows[] = {
		{ 14000000000, 19200000000 }, { 26000000000, 33600000000 },
		{ 49000000000, 61200000000 }, { 58800000000, 72960000000 },
		{ 63000000000, 78000000000 }, { 70000000000, 86400000000 },
		{ 35000000000, 44400000000 }, { 1, 2400000002 },
	};
	struct vc_rule_options options = { .overhead_given = true,
		                           .overhead_bytes = 1000000000,
		                           .margin_ppm = 1000000 };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_u64(vc_recommended_bytes(rows[i].total, NULL), rows[i].recommended);
	}
	assert_u64(vc_recommended_bytes(14000000000, &options), 15000000000);
}

static void full_training_of_7b(void **state)
{
	struct vc_request request = training(&seven);
	struct vc_ledger ledger = estimate(&request);

	(void)state;
	/* W + 2W + W + 0.35W = 4.35 x 14 GB; 4.2 to 4.5 times */
	assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_OPTIMIZER_STATES), 28000000000);
	assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_GRADIENTS), 14000000000);
	assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_ACTIVATIONS), 4900000000);
	assert_u64(ledger.total_bytes, 60900000000);
	assert_u64(ledger.low_bytes, 58800000000);
	assert_u64(ledger.high_bytes, 63000000000);
	/* 3.2 x 14 = 44.8 and 3.7 x 14 = 51.8, named beside it; 16 B x 7e9 = 112 GB likewise */
	assert_u64(note(&ledger, "training-multiple")->args[0], 44800000000);
	assert_u64(note(&ledger, "training-multiple")->args[1], 51800000000);
	assert_u64(note(&ledger, "training-multiple")->args[2], 28000000000);
	assert_u64(note(&ledger, "training-one-precision")->args[0], 112000000000);
	request.workload.precision = VC_DTYPE_FP32;
	/* fp32 throughout: (4 + 4 + 8) x 7e9 = 112 GB before activations of 0.35 x 28 */
	assert_u64(estimate(&request).total_bytes, 121800000000);
}

static void optimizers_keep_their_states(void **state)
{
	static const struct {
		enum vc_optimizer optimizer;
		uint64_t bytes;
	} rows[] = {
		{ VC_OPTIMIZER_NONE, 0 },
		{ VC_OPTIMIZER_SGD, 0 },
		{ VC_OPTIMIZER_SGD_MOMENTUM, 14000000000 },
		{ VC_OPTIMIZER_ADAM, 28000000000 },
		{ VC_OPTIMIZER_ADAMW, 28000000000 },
		{ VC_OPTIMIZER_LAMB, 28000000000 },
		{ VC_OPTIMIZER_LION, 14000000000 },
		{ VC_OPTIMIZER_ADAFACTOR, 0 },
		/* (2 + 8/256) x 7e9 */
		{ VC_OPTIMIZER_ADAMW_8BIT, 14218750000 },
		/* (1 + 8/128) x 7e9 */
		{ VC_OPTIMIZER_ADAMW_4BIT, 7437500000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct vc_request request = training(&seven);

		request.training.optimizer = rows[i].optimizer;
		assert_u64(component(&request, VC_COMPONENT_OPTIMIZER_STATES), rows[i].bytes);
	}
}

static void checkpointing_halves_activations_only(void **state)
{
	struct vc_request request = training(&seven);
	struct vc_ledger ledger;

	(void)state;
	request.training.gradient_checkpointing = VC_CHECKPOINTING_FULL;
	ledger = estimate(&request);
	assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_ACTIVATIONS), 2450000000);
	assert_u64(ledger.total_bytes, 58450000000);
	assert_u64(ledger.low_bytes, 57400000000);
	assert_u64(ledger.high_bytes, 59500000000);
}

static void lora_trains_the_adapters_only(void **state)
{
	struct vc_request request = training(&shaped);
	struct vc_ledger ledger;

	(void)state;
	shape_decoder(&shaped, &llama_2_7b);
	request.training.method = VC_TRAINING_LORA;
	request.training.lora.rank = 64;
	ledger = estimate(&request);
	/* q and v of 32 layers: 64 x (4096 + 4096) x 2 x 32 = 33,554,432 parameters in fp16 */
	assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_ADAPTERS), 67108864);
	assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_GRADIENTS), 67108864);
	assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_OPTIMIZER_STATES), 134217728);
	/* on both tables of 32000 rows: 64 x (4096 + 32000) x 2 = 4,620,288 */
	request.training.lora.target_modules =
	        1ull << VC_MODULE_EMBEDDING | 1ull << VC_MODULE_LM_HEAD;
	ledger = estimate(&request);
	assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_ADAPTERS), 9240576);
	/* 14 GB and 0.2 to 0.5 of it: below 20 GB up to 0.42 */
	request.model = &seven;
	ledger = estimate(&request);
	assert_u64(ledger.low_bytes, 16800000000);
	assert_u64(ledger.high_bytes, 21000000000);
	assert_non_null(note(&ledger, "adapters-left-out"));
}

static void zero_shards_what_its_stage_says(void **state)
{
	static const struct {
		uint32_t stage;
		uint64_t weights, gradients, states;
	} rows[] = {
		{ 0, 14000000000, 14000000000, 28000000000 },
		{ 1, 14000000000, 14000000000, 7000000000 },
		{ 2, 14000000000, 3500000000, 7000000000 },
		/* 8 B x 7e9 / 4 = 14 GB in all */
		{ 3, 3500000000, 3500000000, 7000000000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct vc_request request = training(&seven);
		struct vc_ledger ledger;

		request.parallelism.data = 4;
		request.parallelism.zero_stage = rows[i].stage;
		ledger = estimate(&request);
		assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_WEIGHTS), rows[i].weights);
		assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_GRADIENTS), rows[i].gradients);
		assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_OPTIMIZER_STATES),
		           rows[i].states);
		/* a data-parallel rank has its own activations */
		assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_ACTIVATIONS), 4900000000);
		assert_int_equal(ledger.gpus, 4);
	}
}

static void offload_moves_bytes_to_the_host(void **state)
{
	struct vc_model bloomz = { .params = 7070000000 };
	struct vc_request request = training(&bloomz);
	struct vc_ledger ledger;

	(void)state;
	request.parallelism.data = 4;
	request.parallelism.zero_stage = 2;
	request.parallelism.offload_optimizer = VC_OFFLOAD_CPU;
	ledger = estimate(&request);
	/* 14.14 + 14.14 / 4 = 17.675 GB plus activations; states of 28.28 GB on the host */
	assert_u64(ledger.total_bytes - vc_ledger_component(&ledger, VC_COMPONENT_ACTIVATIONS),
	           17675000000);
	assert_u64(ledger.host.total_bytes, 28280000000);
}

static void model_parallelism_divides(void **state)
{
	struct vc_request request = { .model = &shaped };
	struct vc_ledger ledger;

	(void)state;
	shape_decoder(&shaped, &llama_2_70b);
	shaped.params = 70000000000;
	request.rule.activation_ppm = 1;
	request.parallelism.pipeline = 2;
	ledger = estimate(&request);
	assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_WEIGHTS), 70000000000);
	/* 40 of 80 layers */
	assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_KV_CACHE), 671088640);
	request.parallelism.pipeline = 1;
	request.parallelism.tensor = 4;
	ledger = estimate(&request);
	assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_WEIGHTS), 35000000000);
	/* 2 of 8 heads on a rank */
	assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_KV_CACHE), 335544320);
	/* 16 ranks, 8 heads: each rank still holds one */
	request.parallelism.tensor = 16;
	assert_u64(component(&request, VC_COMPONENT_KV_CACHE), 167772160);
}

static void replicas_relieve_nothing(void **state)
{
	struct vc_request request = training(&seven);
	uint64_t alone_bytes = estimate(&request).total_bytes;

	(void)state;
	/* plain data parallelism: weights, gradients and states on every GPU */
	request.parallelism.data = 8;
	assert_u64(estimate(&request).total_bytes, alone_bytes);
	/* tensor ranks or stages halve them */
	request.parallelism.data = 1;
	request.parallelism.tensor = 2;
	assert_u64(estimate(&request).total_bytes, alone_bytes / 2);
	request.parallelism.tensor = 1;
	request.parallelism.pipeline = 2;
	assert_u64(estimate(&request).total_bytes, alone_bytes / 2);
}

static void savings_stack(void **state)
{
	struct vc_request request = training(&seven);
	struct vc_ledger ledger;

	(void)state;
	request.parallelism.data = 2;
	request.parallelism.zero_stage = 2;
	request.training.gradient_checkpointing = VC_CHECKPOINTING_FULL;
	request.training.optimizer = VC_OPTIMIZER_ADAMW_8BIT;
	ledger = estimate(&request);
	/* 14 of weights, 14 / 2 of gradients, 7 x (2 + 8/256) / 2 of states, 0.35 x 14 / 2 */
	assert_u64(ledger.total_bytes, 14000000000 + 7000000000 + 7109375000 + 2450000000);
}

static void size_classes_follow_the_count(void **state)
{
	static const struct {
		uint64_t params;
		const char *code;
	} rows[] = {
		{ 25557032, "class-light" }, /* ResNet-50 */
		{ 37760640, "class-light" }, /* Whisper-tiny, often listed as medium */
		{ 99999999, "class-light" },          { 100000000, "class-medium" },
		{ 109482240, "class-medium" }, /* BERT-base, often listed as light */
		{ 304326632, "class-medium" }, /* ViT-Large */
		{ 1000000000, "class-large" },        { 6738415616, "class-large" },
		{ 10000000000, "class-extra-large" }, { 41303293952, "class-extra-large" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct vc_model model = { .params = rows[i].params };
		struct vc_request request = { .model = &model };
		struct vc_ledger ledger = estimate(&request);

		assert_non_null(note(&ledger, rows[i].code));
	}
}

static void too_large_is_an_error(void **state)
{
	struct vc_model model = { .params = 1ull << 62 };
	struct vc_request request = { .model = &model, .workload.precision = VC_DTYPE_FP32 };
	struct vc_ledger ledger;
	struct vc_error error;

	(void)state;
	assert_int_equal(vc_estimate(&request, &ledger, &error), VC_OVERFLOW);
	shape_decoder(&shaped, &llama_2_7b);
	request = (struct vc_request){ .model = &shaped,
		                       .workload = { .sequence_length = 1ull << 40,
		                                     .batch_size = 1ull << 40 } };
	assert_int_equal(vc_estimate(&request, &ledger, &error), VC_OVERFLOW);
	assert_int_equal(error.status, VC_OVERFLOW);
}

/* Fixed seed: more of anything never needs less, higher degrees never need more on a GPU. */
static void needs_grow_with_the_job(void **state)
{
	uint64_t seed = 20240229;

	(void)state;
	shape_decoder(&shaped, &llama_2_70b);
	for (int i = 0; i < 2000; i++) {
		struct vc_request small = { .model = &shaped };
		struct vc_request large;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		small.workload.sequence_length = 1 + (seed >> 40) % 65536;
		small.workload.batch_size = 1 + (seed >> 20) % 64;
		small.workload.task = seed >> 63 ? VC_TASK_TRAINING : VC_TASK_INFERENCE;
		large = small;
		large.workload.sequence_length += 1 + (seed >> 8) % 4096;
		large.workload.batch_size += (seed >> 3) % 3;
		assert_true(estimate(&small).total_bytes <= estimate(&large).total_bytes);
		large = small;
		large.parallelism.tensor = 1u << (seed >> 50) % 7;
		assert_true(estimate(&large).total_bytes <= estimate(&small).total_bytes);
		assert_true(component(&large, VC_COMPONENT_WEIGHTS) * large.parallelism.tensor >=
		            component(&small, VC_COMPONENT_WEIGHTS));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(weights_are_params_times_bytes),
		cmocka_unit_test(stated_params_win_and_are_named),
		cmocka_unit_test(kv_cache_is_linear),
		cmocka_unit_test(grouped_queries_shrink_the_cache),
		cmocka_unit_test(an_unknown_architecture_leaves_the_cache_out),
		cmocka_unit_test(encoders_keep_no_cache),
		cmocka_unit_test(inference_activations_are_a_share_of_weights),
		cmocka_unit_test(the_parts_add_up),
		cmocka_unit_test(recommendation_is_exact),
		cmocka_unit_test(full_training_of_7b),
		cmocka_unit_test(optimizers_keep_their_states),
		cmocka_unit_test(checkpointing_halves_activations_only),
		cmocka_unit_test(lora_trains_the_adapters_only),
		cmocka_unit_test(zero_shards_what_its_stage_says),
		cmocka_unit_test(offload_moves_bytes_to_the_host),
		cmocka_unit_test(model_parallelism_divides),
		cmocka_unit_test(replicas_relieve_nothing),
		cmocka_unit_test(savings_stack),
		cmocka_unit_test(size_classes_follow_the_count),
		cmocka_unit_test(too_large_is_an_error),
		cmocka_unit_test(needs_grow_with_the_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
