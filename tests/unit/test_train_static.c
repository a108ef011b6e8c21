#include "shapes.h"
#include "test.h"
#include "train_static.h"

/* A stand-in of 7.5e9 parameters: the size of ZeRO's example. */
static struct vc_model model;

static struct vc_request request_for(uint32_t data, uint32_t stage)
{
	return (struct vc_request){
		.model = &model,
		.workload = { .task = VC_TASK_TRAINING, .precision = VC_DTYPE_FP16 },
		.training = { .mixed_precision = VC_MIXED_MASTER,
		              .optimizer = VC_OPTIMIZER_ADAM,
		              .optimizer_implementation = VC_OPTIMIZER_IMPL_FUSED },
		.parallelism = { .data = data,
		                 .tensor = 1,
		                 .pipeline = 1,
		                 .context = 1,
		                 .expert = 1,
		                 .zero_stage = stage },
		.engine.name = VC_ENGINE_DEEPSPEED,
	};
}

static struct train_static held(const struct vc_request *request, uint64_t params)
{
	struct train_size size = { .params = params };
	struct train_static out;

	train_static(request, train_policy(request->engine.name), &size, &out);
	return out;
}

static uint64_t sum(const struct train_static *s)
{
	return s->weights + s->gradients + s->master + s->states;
}

/* Rajbhandari et al., arxiv.org/abs/1910.02054, figure 1: 7.5B parameters on 64 GPUs take
 * 120, 31.4, 16.6 and 1.9 GB: 16 P; 4 P + 12 P / N; 2 P + 14 P / N; 16 P / N. */
static void zero_stages_match_their_paper(void **state)
{
	static const uint64_t expected[] = { 120000000000, 31406250000, 16640625000, 1875000000 };

	(void)state;
	for (uint32_t stage = 0; stage < 4; stage++) {
		struct vc_request request = request_for(64, stage);
		struct train_static s = held(&request, 7500000000);

		assert_u64(sum(&s), expected[stage]);
	}
}

/* BLOOMZ-7B, 7,069,016,064 parameters, on four A10 of 24.15 GB: data parallelism with fp32 master
 * weights 113 GB, ZeRO-2 38.9, ZeRO-3 28.3, ZeRO-2 with the optimizer offloaded 17.7, ZeRO-2 with
 * 8-bit Adam and no master weights 21.2: by hand, 16 P, 2 P + 14 P / 4, 4 P, 2 P + 2 P / 4 and
 * 2 P + (2 + 520 / 256) P / 4. */
static void means_that_make_bloomz_fit_four_a10(void **state)
{
	const uint64_t p = 7069016064, card = 24150000000;
	struct vc_request request = request_for(4, 0);
	struct train_static s;

	(void)state;
	s = held(&request, p);
	assert_u64(sum(&s), 16 * p);
	request.parallelism.zero_stage = 2;
	s = held(&request, p);
	assert_u64(sum(&s), 38879588352);
	assert_true(sum(&s) > card);
	request.parallelism.offload_optimizer = VC_OFFLOAD_CPU;
	s = held(&request, p);
	assert_u64(sum(&s), 2 * p); /* DeepSpeed moves gradients as they come */
	request.engine.name = VC_ENGINE_NONE;
	s = held(&request, p);
	assert_u64(sum(&s), 17672540160);
	assert_true(sum(&s) < card);
	request = request_for(4, 3);
	s = held(&request, p);
	assert_u64(sum(&s), 4 * p);
	assert_true(sum(&s) > card);
	request = request_for(4, 2);
	request.engine.name = VC_ENGINE_NONE;
	request.training.mixed_precision = VC_MIXED_NONE;
	request.training.optimizer = VC_OPTIMIZER_ADAMW_8BIT;
	s = held(&request, p);
	assert_u64(sum(&s), 21262274880);
	assert_true(sum(&s) < card);
}

/* NVIDIA/Megatron-LM, docs/source/api-guide/dist_optimizer.md: bf16 parameters with fp32 gradients
 * take 18 bytes each, 6 + 12 / d with the distributed optimizer. */
static void megatron_keeps_gradients_in_fp32(void **state)
{
	struct vc_request request = request_for(8, 0);
	struct train_static s;

	(void)state;
	request.engine.name = VC_ENGINE_MEGATRON;
	s = held(&request, 1000000000);
	assert_u64(sum(&s), 18000000000);
	assert_u64(s.step_copy, 0);
	request.training.distributed_optimizer = true;
	s = held(&request, 1000000000);
	assert_u64(sum(&s), 7500000000); /* 6 + 12 / 8 */
}

struct row {
	const char *name;
	enum vc_mixed_precision mixed;
	enum vc_optimizer_implementation implementation;
	enum vc_optimizer optimizer;
	uint64_t held, step; /* bytes of 1000 parameters */
};

/* Pure bf16: 2 + 2 + 4 and a copy of 2 at the step, 10.00 B per parameter measured on Mistral-7B
 * and Llama-3-8B (foundation-model-stack/fms-acceleration benchmarks). AMP: 4 + 4 + 8. With fp32
 * master weights and no ZeRO: 16, and 8 more at the step (Qwen-1.8B: 23.7 measured,
 * github.com/QwenLM/Qwen). 8-bit Adam: 520 bytes per 256 elements (arxiv.org/abs/2110.02861). */
static const struct row rows[] = {
	{ "pure", VC_MIXED_NONE, VC_OPTIMIZER_IMPL_FOREACH, VC_OPTIMIZER_ADAMW, 8000, 2000 },
	{ "fused", VC_MIXED_NONE, VC_OPTIMIZER_IMPL_FUSED, VC_OPTIMIZER_ADAMW, 8000, 0 },
	{ "amp", VC_MIXED_AMP, VC_OPTIMIZER_IMPL_FOREACH, VC_OPTIMIZER_ADAMW, 16000, 4000 },
	{ "master", VC_MIXED_MASTER, VC_OPTIMIZER_IMPL_FOREACH, VC_OPTIMIZER_ADAMW, 16000, 8000 },
	{ "8-bit", VC_MIXED_NONE, VC_OPTIMIZER_IMPL_FOREACH, VC_OPTIMIZER_ADAMW_8BIT, 6032, 0 },
	{ "sgd", VC_MIXED_NONE, VC_OPTIMIZER_IMPL_FOREACH, VC_OPTIMIZER_SGD, 4000, 0 },
	{ "momentum", VC_MIXED_AMP, VC_OPTIMIZER_IMPL_FUSED, VC_OPTIMIZER_SGD_MOMENTUM, 12000, 0 },
	{ "lion", VC_MIXED_AMP, VC_OPTIMIZER_IMPL_FUSED, VC_OPTIMIZER_LION, 12000, 0 },
};

static void modes_and_optimizers(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct vc_request request = request_for(1, 0);
		struct train_static s;

		request.engine.name = VC_ENGINE_TRANSFORMERS;
		request.workload.precision = VC_DTYPE_BF16;
		request.training.mixed_precision = rows[i].mixed;
		request.training.optimizer_implementation = rows[i].implementation;
		request.training.optimizer = rows[i].optimizer;
		s = held(&request, 1000);
		if (sum(&s) != rows[i].held || s.step_copy != rows[i].step) {
			fail_msg("%s: %" PRIu64 " + %" PRIu64, rows[i].name, sum(&s), s.step_copy);
		}
	}
}

static void offload_moves_bytes_to_the_host(void **state)
{
	struct vc_request request = request_for(4, 3);
	struct train_static s;

	(void)state;
	request.parallelism.offload_optimizer = VC_OFFLOAD_CPU;
	s = held(&request, 1000);
	assert_u64(s.master + s.states, 0);
	assert_u64(s.host_master, 1000); /* 4 x 1000 / 4 */
	assert_u64(s.host_states, 2000);
	assert_u64(s.weights, 500);
	assert_false(s.steps);
	request.parallelism.offload_parameters = VC_OFFLOAD_CPU;
	s = held(&request, 1000);
	assert_u64(s.weights, 0);
	assert_u64(s.host_weights, 500);
}

static void paged_states_are_the_host_s(void **state)
{
	struct vc_request request = request_for(1, 0);
	struct train_static s;

	(void)state;
	request.engine.name = VC_ENGINE_TORCHTUNE;
	request.training.mixed_precision = VC_MIXED_NONE;
	request.training.optimizer = VC_OPTIMIZER_PAGED_ADAMW_8BIT;
	request.training.optimizer_in_backward = true;
	s = held(&request, 1000);
	assert_u64(sum(&s), 2000); /* nothing but the weights */
	assert_u64(s.host_states, 2032);
	assert_false(s.steps);
}

static void optimizer_states_by_shape(void **state)
{
	/* one 40 x 60 matrix and 10 elements of vectors */
	struct train_size size = { .params = 2410, .linears = 2400, .vectors = 10, .factors = 100 };
	struct vc_request request = request_for(1, 0);
	struct train_static s;

	(void)state;
	request.training.mixed_precision = VC_MIXED_AMP;
	request.training.optimizer = VC_OPTIMIZER_ADAFACTOR;
	train_static(&request, train_policy(VC_ENGINE_TRANSFORMERS), &size, &s);
	assert_u64(s.states, 440); /* 4 x (40 + 60) + 4 x 10 */
	request.training.optimizer = VC_OPTIMIZER_MUON;
	train_static(&request, train_policy(VC_ENGINE_TRANSFORMERS), &size, &s);
	assert_u64(s.states, 9680); /* 4 x 2400 + 8 x 10 */
}

/* PEFT keeps the frozen table and a copy in its precision: 2 bytes in bf16, as much of gradient,
 * two states of 2, and foreach's temporary of 2; 4 each after k-bit preparation. Adapters stay
 * fp32. */
static void saved_tables_follow_their_originals(void **state)
{
	struct train_size size = {
		.params = 5000, .linears = 4000, .adapters = 100, .saved = 1000
	};
	struct vc_request request = request_for(1, 0);
	struct train_static s;

	(void)state;
	request.engine.name = VC_ENGINE_TRANSFORMERS;
	request.workload.precision = VC_DTYPE_BF16;
	request.training.method = VC_TRAINING_LORA;
	request.training.mixed_precision = VC_MIXED_NONE;
	request.training.optimizer_implementation = VC_OPTIMIZER_IMPL_FOREACH;
	train_static(&request, train_policy(VC_ENGINE_TRANSFORMERS), &size, &s);
	assert_u64(s.weights, 10000);
	assert_u64(s.adapters, 400);
	assert_u64(s.saved, 2000);
	assert_u64(s.gradients, 400 + 2000);
	assert_u64(s.states, 800 + 4000);
	assert_u64(s.step_copy, 2000);
	request.parallelism.data = 4;
	request.parallelism.zero_stage = 3;
	train_static(&request, train_policy(VC_ENGINE_TRANSFORMERS), &size, &s);
	assert_u64(s.saved, 500);
	assert_u64(s.states, 200 + 1000);
	request.parallelism.data = 1;
	request.parallelism.zero_stage = 0;
	request.training.method = VC_TRAINING_QLORA;
	request.training.kbit_preparation = true;
	request.workload.quantization = vc_quantization_by_name("bnb-nf4");
	train_static(&request, train_policy(VC_ENGINE_TRANSFORMERS), &size, &s);
	assert_u64(s.saved, 4000);
	assert_u64(s.states, 800 + 8000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zero_stages_match_their_paper),
		cmocka_unit_test(means_that_make_bloomz_fit_four_a10),
		cmocka_unit_test(megatron_keeps_gradients_in_fp32),
		cmocka_unit_test(modes_and_optimizers),
		cmocka_unit_test(offload_moves_bytes_to_the_host),
		cmocka_unit_test(paged_states_are_the_host_s),
		cmocka_unit_test(optimizer_states_by_shape),
		cmocka_unit_test(saved_tables_follow_their_originals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
