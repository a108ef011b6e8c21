#include "layout.h"
#include "shapes.h"
#include "test.h"

static const struct vc_gpu nvswitch = { .id = "a100-sxm",
	                                .memory_bytes = 80000000000,
	                                .link = VC_LINK_NVSWITCH,
	                                .link_gbs = 600,
	                                .link_gpus = 8,
	                                .pcie_generation = 4,
	                                .pcie_lanes = 16 };
static const struct vc_gpu bridged = { .id = "rtx-3090",
	                               .memory_bytes = 24000000000,
	                               .link = VC_LINK_NVLINK,
	                               .link_gbs = 112,
	                               .link_gpus = 2,
	                               .pcie_generation = 4,
	                               .pcie_lanes = 16 };
static const struct vc_gpu slotted = { .id = "t4-x8",
	                               .memory_bytes = 16000000000,
	                               .link = VC_LINK_NONE,
	                               .pcie_generation = 3,
	                               .pcie_lanes = 8 };
static const struct vc_gpu rack = {
	.id = "gb200", .memory_bytes = 186000000000, .link = VC_LINK_NVSWITCH, .link_gpus = 72
};
static const struct vc_select_options defaults = { 0 };

static struct vc_model model;
static struct vc_request request;

static void start(const struct decoder *decoder, enum vc_task task)
{
	struct vc_error error = { 0 };

	shape_decoder(&model, decoder);
	request = (struct vc_request){ .model = &model, .gpu = &nvswitch, .workload.task = task };
	assert_int_equal(vc_request_resolve(&request, &error), VC_OK);
}

/* ---- Which there are ---- */

struct count {
	uint32_t gpus, all, first_tensor;
};

static bool count_layout(const struct vc_parallelism *layout, void *context)
{
	struct count *count = context;

	assert_int_equal(vc_layout_gpus(layout), count->gpus);
	if (count->all++ == 0) {
		count->first_tensor = layout->tensor;
	}
	return true;
}

static void every_factoring_is_visited(void **state)
{
	struct count serving = { .gpus = 8 }, training = { .gpus = 8 }, sixty = { .gpus = 60 };

	(void)state;
	start(&llama_2_70b, VC_TASK_INFERENCE);
	/* 8 = 2^3 is a product of three in C(3 + 2, 2) = 10 ways */
	assert_true(layout_each(&request, 8, count_layout, &serving));
	assert_int_equal(serving.all, 10);
	assert_int_equal(serving.first_tensor, 8);
	/* 60 = 2^2 x 3 x 5: C(4, 2) x C(3, 2)^2 = 54 */
	assert_true(layout_each(&request, 60, count_layout, &sixty));
	assert_int_equal(sixty.all, 54);
	/* 4 of the 10 have one replica and no stage to choose, 6 have the stages 0 to 3 */
	start(&llama_2_70b, VC_TASK_TRAINING);
	assert_true(layout_each(&request, 8, count_layout, &training));
	assert_int_equal(training.all, 4 + 6 * 4);
	assert_int_equal(training.first_tensor, 1);
}

/* llama.cpp: 6 = 1 x 6 = 2 x 3 = 3 x 2 = 6 x 1 stages and replicas, no tensor ranks. */
static void layers_are_dealt_in_stages(void **state)
{
	struct count layers = { .gpus = 6 };

	(void)state;
	start(&llama_2_70b, VC_TASK_INFERENCE);
	request.engine.name = VC_ENGINE_LLAMACPP;
	assert_true(layout_by_layers(&request));
	assert_true(layout_each(&request, 6, count_layout, &layers));
	assert_int_equal(layers.all, 4);
	assert_int_equal(layers.first_tensor, 1);
}

static bool count_spread(const struct vc_parallelism *layout, void *context)
{
	*(uint32_t *)context += layout->expert > 1;
	return true;
}

static bool stop_at_once(const struct vc_parallelism *layout, void *context)
{
	(void)layout;
	++*(uint32_t *)context;
	return false;
}

static void experts_are_spread_in_detail(void **state)
{
	uint32_t spread = 0, visited = 0;

	(void)state;
	start(&llama_2_70b, VC_TASK_INFERENCE);
	model.kinds[0].ffns[0].type = VC_FFN_MOE;
	model.kinds[0].ffns[0].experts = 8;
	layout_each(&request, 4, count_spread, &spread);
	assert_int_equal(spread, 0); /* the rule knows no experts */
	request.method = VC_METHOD_DETAILED;
	layout_each(&request, 4, count_spread, &spread);
	/* of the 6 ways to make 4, one has only stages */
	assert_int_equal(spread, 5);
	assert_false(layout_each(&request, 4, stop_at_once, &visited));
	assert_int_equal(visited, 1);
}

/* ---- What forbids one ---- */

static void assert_problem(struct vc_parallelism layout, enum vc_layout_reason reason,
                           const char *words)
{
	struct vc_error error = { 0 };
	const char *why;

	request.parallelism = layout;
	assert_int_equal(layout_problem(&request, 8, &why, &error), reason);
	assert_non_null(strstr(why, words));
}

static void what_forbids_a_layout_is_said(void **state)
{
	static const struct decoder twelve = { 1536, 4, 12, 12, 4096, 1000 };

	(void)state;
	start(&twelve, VC_TASK_INFERENCE);
	assert_problem((struct vc_parallelism){ .tensor = 4, .pipeline = 2 }, VC_LAYOUT_CHOSEN, "");
	assert_problem((struct vc_parallelism){ .tensor = 8 }, VC_LAYOUT_INVALID,
	               "12 attention heads do not divide over 8 ranks");
	assert_problem((struct vc_parallelism){ .pipeline = 5 }, VC_LAYOUT_INVALID,
	               "5 stages for 4 layers");
	assert_problem((struct vc_parallelism){ .tensor = 12 }, VC_LAYOUT_NODES, "");
	request.engine.name = VC_ENGINE_TGI;
	assert_problem((struct vc_parallelism){ .tensor = 2, .pipeline = 2 }, VC_LAYOUT_ENGINE,
	               "no pipeline stages");
	request.workload.task = VC_TASK_TRAINING;
	request.engine.name = VC_ENGINE_LITGPT;
	assert_problem((struct vc_parallelism){ .tensor = 2 }, VC_LAYOUT_ENGINE,
	               "no tensor parallelism");
	request.engine.name = VC_ENGINE_TRANSFORMERS; /* generate() divides, the Trainer does not */
	assert_problem((struct vc_parallelism){ .tensor = 2 }, VC_LAYOUT_ENGINE,
	               "no tensor parallelism");
	assert_problem((struct vc_parallelism){ .data = 2, .zero_stage = 3 }, VC_LAYOUT_CHOSEN, "");
	request.engine.name = VC_ENGINE_MEGATRON;
	assert_problem((struct vc_parallelism){ .tensor = 2, .pipeline = 2 }, VC_LAYOUT_CHOSEN, "");
	request.workload.task = VC_TASK_INFERENCE;
	request.engine.name = VC_ENGINE_TRANSFORMERS;
	assert_problem((struct vc_parallelism){ .tensor = 2 }, VC_LAYOUT_CHOSEN, "");
	request.engine.name = VC_ENGINE_LLAMACPP;
	assert_problem((struct vc_parallelism){ .data = 2 }, VC_LAYOUT_CHOSEN, "");
	request.engine.name = VC_ENGINE_NONE;
	model.kinds[0].ffns[0].type = VC_FFN_MOE;
	model.kinds[0].ffns[0].experts = 6;
	assert_problem((struct vc_parallelism){ .tensor = 4, .expert = 4 }, VC_LAYOUT_INVALID,
	               "experts do not divide");
	assert_problem((struct vc_parallelism){ .tensor = 6, .expert = 6 }, VC_LAYOUT_CHOSEN, "");
	assert_problem((struct vc_parallelism){ .data = 2, .pipeline = 2, .zero_stage = 2 },
	               VC_LAYOUT_INVALID, "ZeRO-2");
	assert_problem((struct vc_parallelism){ .data = 2, .pipeline = 2, .zero_stage = 1 },
	               VC_LAYOUT_CHOSEN, "");
}

static void heads_divide_with_their_keys(void **state)
{
	static const struct decoder forty_eight = { 6144, 4, 48, 8, 16384, 1000 };
	static const struct vc_model unknown = { .params = 7000000000 };

	(void)state;
	start(&forty_eight, VC_TASK_INFERENCE);
	assert_true(layout_heads_divide(&model, 8));
	assert_false(layout_heads_divide(&model, 3)); /* 48 do, 8 do not */
	assert_false(layout_heads_divide(&unknown, 2));
}

static void nodes_are_as_wide_as_their_link(void **state)
{
	(void)state;
	assert_int_equal(layout_node_gpus(&slotted, &defaults), 8);
	assert_int_equal(layout_node_gpus(&bridged, &defaults), 8);
	assert_int_equal(layout_node_gpus(&rack, &defaults), 72);
	assert_int_equal(layout_node_gpus(&rack, &(struct vc_select_options){ .node_gpus = 4 }), 4);
}

/* ---- What ranks send each other ---- */

static void assert_traffic(struct vc_parallelism layout, enum vc_interconnect over, uint64_t bytes)
{
	static const struct traffic_basis basis = { 14000000000, 14000000000 };
	struct layout_traffic traffic;
	struct vc_error error = { 0 };

	request.parallelism = layout;
	assert_int_equal(vc_request_resolve(&request, &error), VC_OK);
	traffic = layout_traffic(&request, 8, &basis);
	assert_string_equal(vc_interconnect_name(traffic.slowest.slowest),
	                    vc_interconnect_name(over));
	assert_u64(traffic.slowest.bytes, bytes);
	assert_u64(traffic.network_bytes, over == VC_INTERCONNECT_NETWORK ? bytes : 0);
}

static void serving_sends_hidden_states(void **state)
{
	/* 4096 tokens x 8192 x 2 B of hidden state */
	const uint64_t hidden_bytes = 67108864;

	(void)state;
	start(&llama_2_70b, VC_TASK_INFERENCE);
	assert_traffic((struct vc_parallelism){ 0 }, VC_INTERCONNECT_NONE, 0);
	/* two all-reduces in each of 80 layers; a ring of 2 sends 2 x 1/2 of it */
	assert_traffic((struct vc_parallelism){ .tensor = 2 }, VC_INTERCONNECT_LINK,
	               hidden_bytes * 160);
	/* of 8: 2 x 7/8 */
	assert_traffic((struct vc_parallelism){ .tensor = 8 }, VC_INTERCONNECT_LINK,
	               hidden_bytes * 160 * 2 * 7 / 8);
	/* between stages once */
	assert_traffic((struct vc_parallelism){ .pipeline = 8 }, VC_INTERCONNECT_LINK,
	               hidden_bytes);
	assert_traffic((struct vc_parallelism){ .tensor = 8, .pipeline = 2 },
	               VC_INTERCONNECT_NETWORK, hidden_bytes);
	/* replicas share nothing */
	assert_traffic((struct vc_parallelism){ .data = 16 }, VC_INTERCONNECT_NONE, 0);
	/* a bridge joins two: four talk over PCIe, and so do cards without any */
	request.gpu = &bridged;
	assert_traffic((struct vc_parallelism){ .tensor = 2 }, VC_INTERCONNECT_LINK,
	               hidden_bytes * 160);
	assert_traffic((struct vc_parallelism){ .tensor = 4 }, VC_INTERCONNECT_PCIE,
	               hidden_bytes * 160 * 2 * 3 / 4);
	request.gpu = &slotted;
	assert_traffic((struct vc_parallelism){ .pipeline = 2 }, VC_INTERCONNECT_PCIE,
	               hidden_bytes);
}

static void absurd_degrees_do_not_wrap(void **state)
{
	static const struct decoder wide = { 65536, 4, 65536, 65536, 1, 1 };
	struct layout_traffic traffic;

	(void)state;
	start(&wide, VC_TASK_TRAINING);
	/* 2^16 x 2^16 ranks are 0 in 32 bits; 2^46 tokens x 2^16 x 2 B are 2^63 */
	request.workload.sequence_length = UINT64_C(1) << 46;
	request.parallelism.tensor = request.parallelism.data = 65536;
	traffic = layout_traffic(&request, 8, &(struct traffic_basis){ 1, 1 });
	assert_int_equal(traffic.slowest.slowest, VC_INTERCONNECT_NETWORK);
	assert_u64(traffic.slowest.bytes, 0);
	assert_u64(traffic.network_bytes, UINT64_MAX);
}

static void training_sends_gradients(void **state)
{
	(void)state;
	start(&llama_2_7b, VC_TASK_TRAINING);
	/* gradients of 14 GB all-reduced over 4: 2 x 3/4 x 14 */
	assert_traffic((struct vc_parallelism){ .data = 4 }, VC_INTERCONNECT_LINK, 21000000000);
	assert_traffic((struct vc_parallelism){ .data = 4, .zero_stage = 2 }, VC_INTERCONNECT_LINK,
	               21000000000);
	/* ZeRO-3 sends half as much again: weights gathered twice, gradients scattered */
	assert_traffic((struct vc_parallelism){ .data = 4, .zero_stage = 3 }, VC_INTERCONNECT_LINK,
	               31500000000);
	/* 8 tensor ranks in each of 2 nodes have an eighth of them: 2 x 1/2 x 14 / 8 */
	assert_traffic((struct vc_parallelism){ .data = 2, .tensor = 8 }, VC_INTERCONNECT_NETWORK,
	               1750000000);
}

static void experts_exchange_tokens(void **state)
{
	(void)state;
	start(&llama_2_70b, VC_TASK_INFERENCE);
	model.kinds[0].ffns[0].type = VC_FFN_MOE;
	model.kinds[0].ffns[0].experts = 8;
	model.kinds[0].ffns[0].experts_per_token = 2;
	/* 80 layers: to 2 experts and back, of which 7/8 on other GPUs */
	assert_traffic((struct vc_parallelism){ .data = 8, .expert = 8 }, VC_INTERCONNECT_LINK,
	               UINT64_C(67108864) * 80 * 2 * 2 * 7 / 8);
}

static void interconnects_have_their_rates(void **state)
{
	(void)state;
	/* 600 GB/s both ways */
	assert_u64(vc_interconnect_mbs(&nvswitch, VC_INTERCONNECT_LINK), 300000);
	/* PCIe 4.0: 16 GT/s x 128/130 / 8 = 1.969 GB/s a lane */
	assert_u64(vc_interconnect_mbs(&nvswitch, VC_INTERCONNECT_PCIE), 31504);
	/* the documents' bottleneck: PCIe 3.0 x8, 7.9 GB/s, 38 times slower than NVLink 3 */
	assert_u64(vc_interconnect_mbs(&slotted, VC_INTERCONNECT_PCIE), 7880);
	assert_u64(vc_interconnect_mbs(&nvswitch, VC_INTERCONNECT_LINK) /
	                   vc_interconnect_mbs(&slotted, VC_INTERCONNECT_PCIE),
	           38);
	assert_u64(vc_interconnect_mbs(&rack, VC_INTERCONNECT_PCIE), 0);
	assert_u64(vc_interconnect_mbs(&rack, VC_INTERCONNECT_NETWORK), 0);
}

static void every_reason_has_a_name(void **state)
{
	(void)state;
	for (int i = 0; i < VC_LAYOUT_REASON_COUNT; i++) {
		assert_non_null(vc_layout_reason_name((enum vc_layout_reason)i));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_factoring_is_visited),
		cmocka_unit_test(layers_are_dealt_in_stages),
		cmocka_unit_test(experts_are_spread_in_detail),
		cmocka_unit_test(what_forbids_a_layout_is_said),
		cmocka_unit_test(heads_divide_with_their_keys),
		cmocka_unit_test(nodes_are_as_wide_as_their_link),
		cmocka_unit_test(serving_sends_hidden_states),
		cmocka_unit_test(absurd_degrees_do_not_wrap),
		cmocka_unit_test(training_sends_gradients),
		cmocka_unit_test(experts_exchange_tokens),
		cmocka_unit_test(interconnects_have_their_rates),
		cmocka_unit_test(every_reason_has_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
