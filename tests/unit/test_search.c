#include "shapes.h"
#include "test.h"

static const struct vc_gpu eighty = { .id = "80",
	                              .name = "80 GB",
	                              .memory_bytes = 80000000000,
	                              .link = VC_LINK_NVSWITCH,
	                              .link_gpus = 8 };
static const struct vc_gpu forty = { .id = "40",
	                             .name = "40 GB",
	                             .memory_bytes = 40000000000,
	                             .link = VC_LINK_NVLINK,
	                             .link_gpus = 2 };

static struct vc_model model;

static struct vc_candidate choose(const struct vc_request *request, const struct vc_gpu *gpu,
                                  const struct vc_select_options *options)
{
	struct vc_candidate candidate;
	struct vc_error error = { 0 };

	if (vc_select(request, &gpu, 1, options, &candidate, &error) != VC_OK) {
		fail_msg("%s: %s", error.field, error.message);
	}
	return candidate;
}

/* Weights of so many GB in fp16, no activations to speak of. */
static struct vc_request sized(const struct decoder *decoder, uint64_t weights_gb)
{
	shape_decoder(&model, decoder);
	model.params = weights_gb * 500000000;
	return (struct vc_request){ .model = &model, .rule.activation_ppm = 1 };
}

static void three_when_heads_divide(void **state)
{
	static const struct decoder all_96 = { 6144, 4, 96, 96, 16384, 1000 };
	static const struct decoder grouped = { 6144, 4, 96, 8, 16384, 1000 };
	struct vc_request request = sized(&all_96, 180);
	struct vc_candidate candidate = choose(&request, &eighty, NULL);

	(void)state;
	/* 1.2 x (180 / 2 + 2) = 110.4; 1.2 x (180 / 3 + 2) = 74.4, and 96 heads are 32 each */
	assert_int_equal(candidate.gpus_needed, 3);
	assert_int_equal(candidate.layout.tensor, 3);
	/* 8 key/value heads are not: four GPUs */
	request = sized(&grouped, 180);
	candidate = choose(&request, &eighty, NULL);
	assert_int_equal(candidate.gpus_needed, 4);
	assert_int_equal(candidate.layout.tensor, 4);
}

static void other_counts_where_no_power_of_two_does(void **state)
{
	/* 1.2 x (320 / 4 + 2) = 98.4; 1.2 x (320 / 5 + 2) = 79.2 */
	struct vc_request request = sized(&llama_2_70b, 320);
	struct vc_select_options options = { .max_gpus = 6 };
	struct vc_candidate candidate = choose(&request, &eighty, &options);

	(void)state;
	assert_int_equal(candidate.gpus_needed, 5);
	assert_int_equal(candidate.layout.tensor, 1); /* 64 heads do not divide by 5 */
	assert_int_equal(candidate.layout.pipeline, 5);
	options.max_gpus = 8;
	candidate = choose(&request, &eighty, &options);
	assert_int_equal(candidate.gpus_needed, 8);
	assert_int_equal(candidate.layout.tensor, 8);
}

static void stages_where_heads_are_prime(void **state)
{
	/* Falcon-7B has 71 heads */
	static const struct decoder prime = { 4544, 32, 71, 1, 18176, 65024 };
	struct vc_request request = sized(&prime, 100);
	struct vc_candidate candidate = choose(&request, &eighty, NULL);

	(void)state;
	/* 1.2 x (100 / 2 + 2) = 62.4 and a cache */
	assert_int_equal(candidate.gpus_needed, 2);
	assert_int_equal(candidate.layout.pipeline, 2);
}

static void replicas_where_only_requests_divide(void **state)
{
	/* One layer, one head: nothing but the requests can be shared out. 16 GB of weights and
	 * 2 x 32 x 500000 x 1024 x 2 B = 65.536 GB of cache. */
	static const struct decoder single = { 1024, 1, 1, 1, 4096, 1000 };
	struct vc_request request = sized(&single, 16);
	struct vc_candidate candidate;

	(void)state;
	request.workload.sequence_length = 500000;
	request.workload.concurrency = 32;
	candidate = choose(&request, &eighty, NULL);
	/* 1.2 x (16 + 65.536 + 2) = 100; 1.2 x (16 + 32.768 + 2) = 60.9 */
	assert_int_equal(candidate.gpus_needed, 2);
	assert_int_equal(candidate.layout.data, 2);
	/* one request cannot be shared out */
	request.workload.sequence_length = 16000000;
	request.workload.concurrency = 1;
	candidate = choose(&request, &eighty, NULL);
	assert_int_equal(candidate.gpus_needed, 0);
	assert_int_equal(candidate.verdict, VC_VERDICT_NO);
}

static void training_over_nodes_sends_little_between_them(void **state)
{
	/* 8 x 70 GB of weights, gradients and states: 1.2 x (560 / 8 + 2) = 86.4 on 8 */
	struct vc_request request = sized(&llama_2_70b, 140);
	struct vc_select_options options = { .max_gpus = 64 };
	struct vc_candidate candidate;

	(void)state;
	request.workload.task = VC_TASK_TRAINING;
	candidate = choose(&request, &eighty, &options);
	assert_int_equal(candidate.gpus_needed, 16);
	/* Replicas inside the nodes, stages between them: 2 x 4096 x 8192 x 2 B there and back,
	 * where gradients would be 140 GB / 8 at least. */
	assert_int_equal(candidate.layout.pipeline, 2);
	assert_true(candidate.layout.tensor * candidate.layout.data == 8);
	assert_int_equal(candidate.traffic.slowest, VC_INTERCONNECT_NETWORK);
	assert_u64(candidate.traffic.bytes, 134217728);
	/* LitGPT has neither: ZeRO-3 over both nodes, 1.2 x (560 / 16 + 2) = 44.4 */
	request.engine.name = VC_ENGINE_LITGPT;
	candidate = choose(&request, &eighty, &options);
	assert_int_equal(candidate.gpus_needed, 16);
	assert_int_equal(candidate.layout.data, 16);
	assert_int_equal(candidate.layout.zero_stage, 3);
}

static void nodes_can_be_smaller(void **state)
{
	struct vc_request request = sized(&llama_2_70b, 500);
	struct vc_select_options options = { .max_gpus = 16, .node_gpus = 2 };
	struct vc_candidate candidate = choose(&request, &eighty, &options);

	(void)state;
	/* 1.2 x (500 / 8 + 2) = 77.4 */
	assert_int_equal(candidate.gpus_needed, 8);
	assert_int_equal(candidate.layout.tensor, 2);
	assert_int_equal(candidate.layout.pipeline, 4);
}

static void links_reach_so_far(void **state)
{
	struct vc_request request = sized(&llama_2_70b, 60);
	struct vc_candidate candidate = choose(&request, &forty, NULL);

	(void)state;
	/* 1.2 x (60 / 2 + 2) = 38.4: a bridged pair */
	assert_int_equal(candidate.layout.tensor, 2);
	assert_false(candidate.tensor_over_pcie);
	assert_int_equal(candidate.traffic.slowest, VC_INTERCONNECT_LINK);
	request = sized(&llama_2_70b, 120);
	candidate = choose(&request, &forty, NULL);
	assert_int_equal(candidate.layout.tensor, 4);
	assert_true(candidate.tensor_over_pcie);
	assert_int_equal(candidate.traffic.slowest, VC_INTERCONNECT_PCIE);
}

static void offloading_needs_host_memory(void **state)
{
	/* 10 GB of weights, as many gradients; 20 GB of states on the host */
	struct vc_request request = sized(&llama_2_7b, 10);
	struct vc_select_options options = { .host_memory_bytes = 20000000000 };
	struct vc_candidate candidate;

	(void)state;
	request.workload.task = VC_TASK_TRAINING;
	request.parallelism.offload_optimizer = VC_OFFLOAD_CPU;
	candidate = choose(&request, &forty, &options);
	assert_u64(candidate.host_bytes, 20000000000);
	assert_int_equal(candidate.verdict, VC_VERDICT_FITS);
	options.host_memory_bytes--;
	candidate = choose(&request, &forty, &options);
	assert_true(candidate.host_short);
	assert_int_equal(candidate.verdict, VC_VERDICT_NO);
	/* not known: not checked; NVMe: not needed */
	assert_false(choose(&request, &forty, NULL).host_short);
	request.parallelism.offload_optimizer = VC_OFFLOAD_NVME;
	assert_u64(choose(&request, &forty, &options).host_bytes, 0);
}

static void dearer_only_by_talk(void **state)
{
	/* Same price and count: what needs no network comes first, whatever its name. */
	static const struct vc_gpu lonely = {
		.id = "a", .name = "A", .memory_bytes = 80000000000, .link = VC_LINK_NONE
	};
	const struct vc_gpu *const both[] = { &lonely, &eighty };
	struct vc_request request = sized(&llama_2_70b, 120);
	struct vc_candidate ranked[2];
	struct vc_error error = { 0 };

	(void)state;
	assert_int_equal(vc_select(&request, both, 2, NULL, ranked, &error), VC_OK);
	assert_int_equal(ranked[0].gpus_needed, ranked[1].gpus_needed);
	assert_ptr_equal(ranked[0].gpu, &eighty);
	assert_ptr_equal(ranked[1].gpu, &lonely);
}

/* ---- What became of each ---- */

struct tally {
	uint32_t of[VC_LAYOUT_REASON_COUNT], last_gpus;
	uint32_t least_power; /* the fewest that hold it, of powers of two; 0: none */
	struct vc_parallelism chosen;
};

static void count_reason(const struct vc_layout_trial *trial, void *context)
{
	struct tally *tally = context;

	tally->of[trial->reason]++;
	assert_true(trial->candidate.gpus >= tally->last_gpus);
	tally->last_gpus = trial->candidate.gpus;
	if (trial->candidate.gpus_needed && tally->least_power == 0 &&
	    (trial->candidate.gpus & (trial->candidate.gpus - 1)) == 0) {
		tally->least_power = trial->candidate.gpus;
	}
	if (trial->reason == VC_LAYOUT_CHOSEN) {
		tally->chosen = trial->candidate.layout;
	}
	assert_true((trial->reason == VC_LAYOUT_INVALID || trial->reason == VC_LAYOUT_ENGINE) ==
	            (trial->why[0] != '\0'));
}

static struct tally tally_of(const struct vc_request *request, uint32_t max_gpus)
{
	struct vc_select_options options = { .max_gpus = max_gpus };
	struct tally tally = { .last_gpus = 0 };
	struct vc_error error = { 0 };

	assert_int_equal(vc_layouts(request, &eighty, &options, count_reason, &tally, &error),
	                 VC_OK);
	return tally;
}

static void each_layout_has_a_reason(void **state)
{
	struct vc_request request = sized(&llama_2_70b, 180);
	struct tally tally = tally_of(&request, 4);

	(void)state;
	/* 1: 1 way; 2: 3; 3: 3; 4: 6. Two of 80 GB are too few, 1.2 x 92; three hold it in
	 * stages, 64 heads do not divide by 3, three replicas hold 180 GB each. Of four, all but
	 * the replicas fit: 4; 2 x 2; 4 stages; two replicas of two do not, nor four. */
	assert_int_equal(tally.of[VC_LAYOUT_CHOSEN], 1);
	assert_int_equal(tally.chosen.tensor, 4);
	assert_int_equal(tally.of[VC_LAYOUT_ALTERNATIVE], 2);
	assert_int_equal(tally.of[VC_LAYOUT_UNUSUAL], 1);
	assert_int_equal(tally.of[VC_LAYOUT_INVALID], 1);
	assert_int_equal(tally.of[VC_LAYOUT_MEMORY], 1 + 3 + 1 + 3);
	/* 5: 3 ways, of which stages fit; the rest as above */
	tally = tally_of(&request, 5);
	assert_int_equal(tally.of[VC_LAYOUT_MORE_GPUS], 1);
	request.engine.name = VC_ENGINE_TGI;
	tally = tally_of(&request, 2);
	assert_int_equal(tally.of[VC_LAYOUT_ENGINE], 1);
	request.engine.name = VC_ENGINE_NONE;
	request.parallelism = (struct vc_parallelism){ .stated = true, .pipeline = 3 };
	tally = tally_of(&request, 2);
	assert_int_equal(tally.of[VC_LAYOUT_CHOSEN], 1);
	assert_int_equal(tally.chosen.pipeline, 3);
}

/* Held against trying everything: where the search finds no layout, none fits. */
static void nothing_that_fits_is_missed(void **state)
{
	static const uint64_t gigabytes[] = { 60, 90, 130, 200, 280, 400, 530, 620 };
	static const uint32_t most[] = { 1, 2, 3, 4, 6, 7, 8 };

	(void)state;
	for (size_t i = 0; i < sizeof gigabytes / sizeof *gigabytes; i++) {
		for (size_t m = 0; m < sizeof most / sizeof *most; m++) {
			for (int task = 0; task < 2; task++) {
				struct vc_request request = sized(&llama_2_70b, gigabytes[i]);
				struct tally tally;

				request.workload.task = (enum vc_task)task;
				tally = tally_of(&request, most[m]);
				if (task == VC_TASK_INFERENCE && tally.least_power) {
					assert_int_equal(vc_layout_gpus(&tally.chosen),
					                 tally.least_power);
				}
				if (tally.of[VC_LAYOUT_CHOSEN] == 0) {
					assert_int_equal(tally.of[VC_LAYOUT_ALTERNATIVE], 0);
					assert_int_equal(tally.of[VC_LAYOUT_MORE_GPUS], 0);
					assert_int_equal(tally.of[VC_LAYOUT_UNUSUAL], 0);
				}
			}
		}
	}
}

/* What is passed over as hopeless must be: the detailed method, over engines and optimizers. */
static void nothing_is_given_up_too_soon(void **state)
{
	static const enum vc_engine engines[] = { VC_ENGINE_NONE, VC_ENGINE_DEEPSPEED,
		                                  VC_ENGINE_MEGATRON, VC_ENGINE_TRANSFORMERS };
	static const enum vc_optimizer optimizers[] = { VC_OPTIMIZER_ADAMW, VC_OPTIMIZER_ADAFACTOR,
		                                        VC_OPTIMIZER_MUON,
		                                        VC_OPTIMIZER_ADAMW_8BIT };
	static const uint32_t gigabytes[] = { 12, 20, 30, 45, 70, 110, 160 };
	struct vc_select_options options = { .max_gpus = 16 };

	(void)state;
	for (size_t i = 0; i < 4 * 4 * 7; i++) {
		struct vc_gpu gpu = eighty;
		struct vc_request request = sized(&llama_2_7b, 0);
		struct vc_candidate candidate;
		struct tally tally = { .last_gpus = 0 };
		struct vc_error error = { 0 };

		gpu.memory_bytes = gigabytes[i % 7] * UINT64_C(1000000000);
		request.method = VC_METHOD_DETAILED;
		request.workload.task = VC_TASK_TRAINING;
		request.engine.name = engines[i / 7 % 4];
		request.training.optimizer = optimizers[i / 28];
		candidate = choose(&request, &gpu, &options);
		assert_int_equal(vc_layouts(&request, &gpu, &options, count_reason, &tally, &error),
		                 VC_OK);
		if (tally.least_power == 0) {
			assert_int_equal(candidate.gpus_needed, 0);
		} else {
			assert_true(candidate.gpus_needed >= tally.least_power);
		}
		/* Without sharding by data alone, every power of two is tried. */
		if (request.engine.name == VC_ENGINE_MEGATRON && candidate.gpus_needed > 8) {
			assert_int_equal(candidate.gpus_needed, tally.least_power);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_when_heads_divide),
		cmocka_unit_test(other_counts_where_no_power_of_two_does),
		cmocka_unit_test(stages_where_heads_are_prime),
		cmocka_unit_test(replicas_where_only_requests_divide),
		cmocka_unit_test(training_over_nodes_sends_little_between_them),
		cmocka_unit_test(nodes_can_be_smaller),
		cmocka_unit_test(links_reach_so_far),
		cmocka_unit_test(offloading_needs_host_memory),
		cmocka_unit_test(dearer_only_by_talk),
		cmocka_unit_test(each_layout_has_a_reason),
		cmocka_unit_test(nothing_that_fits_is_missed),
		cmocka_unit_test(nothing_is_given_up_too_soon),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
