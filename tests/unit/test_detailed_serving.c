/* The other engines that serve: SGLang, TGI, TensorRT-LLM, and none named. */
#include "serving_fixture.h"

static struct vc_model model;
static struct vc_ledger ledger;

static void estimate(const struct vc_request *request)
{
	struct vc_error error = { .message = "" };

	memset(&ledger, 0, sizeof ledger);
	if (vc_estimate(request, &ledger, &error) != VC_OK) {
		fail_msg("%s: %s", error.field, error.message);
	}
}

static double component(enum vc_component component)
{
	return (double)vc_ledger_component(&ledger, component) / GIB;
}

/* Qwen3-14B on four RTX 4090 at mem_fraction_static 0.8: weights 7.08 GiB, pool 11.38 GiB, 298,447
 * tokens, 20.85 GiB shown. */
static void test_sglang(void **state)
{
	static const struct decoder qwen_3_14b = { 5120, 40, 40, 8, 17408, 151936 };
	struct vc_request request;

	(void)state;
	serving_model(&model, &qwen_3_14b, "qwen3", 40960);
	request = serving_request(&model, VC_ENGINE_SGLANG, &rtx_4090);
	request.parallelism.tensor = 4;
	request.engine.gpu_memory_utilization_ppm = 800000;
	request.engine.max_num_batched_tokens = 2048;
	request.workload.sequence_length = 40960;
	estimate(&request);
	assert_near(component(VC_COMPONENT_WEIGHTS), 7.08, 0.5);
	assert_near((double)ledger.serving.kv_bytes_available / GIB, 11.38, 1.5);
	assert_near((double)ledger.serving.kv_tokens, 298447, 1.5);
	assert_near((double)ledger.total_bytes / GIB, 20.85, 5.0);
}

/* server_args.py at 0.5.9 for one GPU of 81,559 MiB: 512 + 1.5 x 8192 + 2 x 256 + 128 MiB are
 * reserved, so mem_fraction_static is round(1 - 13,440 / 81,559, 3) = 0.835; at 0.4.9 it is
 * round(1 - 10,240 / 81,559, 3) = 0.874. */
static void test_sglang_defaults(void **state)
{
	struct vc_request request;
	uint64_t newer;

	(void)state;
	serving_model(&model, &llama_3_8b, "llama", 8192);
	request = serving_request(&model, VC_ENGINE_SGLANG, &h100);
	request.engine.version = (struct vc_version){ 0, 5, 9 };
	estimate(&request);
	assert_string_equal(ledger.notes[ledger.note_count - 1].code, "sglang-static");
	assert_u64(ledger.notes[ledger.note_count - 1].args[0], 835000);
	newer = ledger.serving.kv_bytes_available;
	request.engine.version = (struct vc_version){ 0, 4, 9 };
	estimate(&request);
	assert_u64(ledger.notes[ledger.note_count - 1].args[0], 874000);
	assert_true(ledger.serving.kv_bytes_available > newer);
}

static void assert_static_ppm(struct vc_request *request, uint32_t minor, uint32_t patch,
                              uint64_t expected)
{
	request->engine.version = (struct vc_version){ 0, minor, patch };
	estimate(request);
	assert_u64(ledger.notes[ledger.note_count - 1].args[0], expected);
}

/* Before 0.4.8 the share goes by the ranks: 0.88, 0.87, 0.85, 0.81; 0.4.7 keeps 18 GiB of a GPU
 * above 96 GiB. Logs name 0.88 (0.4.1, one H100) and 0.85 (0.4.3, four L4). */
static void test_sglang_older_defaults(void **state)
{
	static const uint32_t ranks[] = { 1, 2, 4, 8 };
	static const uint64_t shares[] = { 880000, 870000, 850000, 810000 };
	struct vc_request request;

	(void)state;
	serving_model(&model, &llama_3_8b, "llama", 8192);
	request = serving_request(&model, VC_ENGINE_SGLANG, &h100);
	for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
		request.parallelism.tensor = ranks[i];
		assert_static_ppm(&request, 4, 1, shares[i]);
		assert_static_ppm(&request, 4, 7, shares[i]);
	}
	request.parallelism.tensor = 1;
	assert_u64(ledger.notes[ledger.note_count - 1].args[1], 8192);
	assert_u64(ledger.notes[ledger.note_count - 1].args[2], 160);
	request.gpu = &rtx_4090;
	assert_static_ppm(&request, 4, 1, 880000);
	assert_u64(ledger.notes[ledger.note_count - 1].args[1], 2048);
	assert_u64(ledger.notes[ledger.note_count - 1].args[2], 8);
}

/* 512 + 1.5 x 2048 + 2 x 80 + 128 x 64 MiB are more than the 8 GiB of the card. */
static void test_sglang_leaves_nothing(void **state)
{
	static const struct vc_gpu small = { .id = "small",
		                             .name = "8 GB",
		                             .compute_capability = 86,
		                             .memory_bytes = 8000000000,
		                             .driver_bytes = 8589934592 };
	struct vc_request request;

	(void)state;
	serving_model(&model, &llama_3_8b, "llama", 8192);
	request = serving_request(&model, VC_ENGINE_SGLANG, &small);
	request.engine.version = (struct vc_version){ 0, 5, 9 };
	request.parallelism.tensor = 8;
	request.parallelism.pipeline = 8;
	estimate(&request);
	assert_u64(ledger.notes[ledger.note_count - 1].args[0], 1000);
	assert_true(ledger.need_bytes > small.driver_bytes);
}

/* Half of the layers keep a state of 64 MiB: states get 9/19 of what weights leave. */
static void test_sglang_states(void **state)
{
	struct vc_request request;
	uint64_t need;

	(void)state;
	serving_model(&model, &llama_3_8b, "llama", 8192);
	model.kinds[1] = model.kinds[0];
	model.kind_count = 2;
	model.kinds[1].mixers[0] = (struct vc_mixer){ .type = VC_MIXER_RECURRENT,
		                                      .state_elements = 1 << 25,
		                                      .state_dtype = VC_DTYPE_BF16 };
	for (uint32_t i = 0; i < 16; i++) {
		model.stacks[0].pattern[2 * i] = 1;
	}
	request = serving_request(&model, VC_ENGINE_SGLANG, &h100);
	request.engine.version = (struct vc_version){ 0, 5, 9 };
	estimate(&request);
	assert_near(component(VC_COMPONENT_RECURRENT_STATE) / component(VC_COMPONENT_KV_CACHE), 0.9,
	            5.0);
	assert_u64(ledger.serving.kv_tokens, ledger.serving.kv_bytes_available / 65536);
	/* one sequence more: three states more, of 1 GiB each over 16 layers */
	need = ledger.need_expected_bytes;
	request.workload.concurrency = 2;
	estimate(&request);
	assert_true(ledger.need_expected_bytes - need > 3ull * (1 << 30));
}

/* gpt-oss: every second layer has a window, and holds 0.8 of the pool's tokens. */
static void test_sglang_sliding_pool(void **state)
{
	struct vc_request request;

	(void)state;
	serving_model(&model, &llama_3_8b, "gpt_oss", 8192);
	model.kinds[1] = model.kinds[0];
	model.kind_count = 2;
	model.kinds[1].mixers[0].window = 128;
	for (uint32_t i = 0; i < 16; i++) {
		model.stacks[0].pattern[2 * i] = 1;
	}
	request = serving_request(&model, VC_ENGINE_SGLANG, &h100);
	estimate(&request);
	/* 16 layers of 4096 bytes and 16 of 0.8 times as much */
	assert_u64(ledger.serving.kv_tokens,
	           ledger.serving.kv_bytes_available / (16ull * (4096 + 3277)));
	strcpy(model.family, "gemma3");
	estimate(&request);
	assert_u64(ledger.serving.kv_tokens, ledger.serving.kv_bytes_available / 131072);
}

/* Gemma 3's tower, 27 layers of 1152: 0.95 x (1.1 - 0.1 x 27 x 1152^2 / (24 x 1024^2)) = 0.90974 of
 * 0.835. */
static void test_sglang_tower(void **state)
{
	struct vc_request request;

	(void)state;
	serving_model(&model, &llama_3_8b, "gemma3", 8192);
	model.stack_count = 2;
	model.stacks[1].role = VC_STACK_VISION;
	model.stacks[1].hidden_size = 1152;
	model.stacks[1].layers = 27;
	request = serving_request(&model, VC_ENGINE_SGLANG, &h100);
	request.engine.version = (struct vc_version){ 0, 5, 9 };
	estimate(&request);
	assert_near((double)ledger.notes[ledger.note_count - 1].args[0], 759633, 0.1);
	request.engine.version = (struct vc_version){ 0, 4, 9 };
	estimate(&request);
	assert_u64(ledger.notes[ledger.note_count - 1].args[0], 874 * 900);
}

/* Llama-3.1-8B in fp8 with TensorRT-LLM: 8.46 GiB
 * (github.com/NVIDIA/TensorRT-LLM/issues/6294). */
static void test_tensorrt_llm(void **state)
{
	struct vc_request request;

	(void)state;
	serving_model(&model, &llama_3_8b, "llama", 8192);
	request = serving_request(&model, VC_ENGINE_TENSORRT_LLM, &h100);
	request.workload.quantization = vc_quantization_by_name("fp8");
	estimate(&request);
	assert_near(component(VC_COMPONENT_WEIGHTS), 8.46, 0.3);
	/* nine tenths of what is left */
	assert_true((double)ledger.total_bytes < (double)h100.usable_bytes);
	assert_true(component(VC_COMPONENT_KV_CACHE) > 0.8 * (79.22 - 8.46 - 4));
}

static void test_tgi(void **state)
{
	struct vc_request request;

	(void)state;
	serving_model(&model, &llama_3_8b, "llama", 8192);
	request = serving_request(&model, VC_ENGINE_TGI, &h100);
	estimate(&request);
	/* the whole process stays within 95 % of the GPU */
	assert_near((double)ledger.total_bytes, 0.95 * (double)h100.usable_bytes, 0.1);
	assert_true(ledger.serving.kv_tokens % 16 == 0);
}

/* Llama-3-8B, four sequences of 8,192 tokens: 4 x 8192 x 131,072 bytes of cache, exactly. */
static void test_plain(void **state)
{
	struct vc_request request;

	(void)state;
	serving_model(&model, &llama_3_8b, "llama", 8192);
	request = serving_request(&model, VC_ENGINE_NONE, &a100_80);
	request.workload.batch_size = 2;
	request.workload.concurrency = 2;
	request.workload.sequence_length = 8192;
	estimate(&request);
	assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_KV_CACHE), 4ull * 8192 * 131072);
	assert_false(ledger.serving.known);
	assert_u64(ledger.need_bytes, ledger.high_bytes);
	/* layers that see 1,024 tokens keep no more */
	model.kinds[0].mixers[0].window = 1024;
	estimate(&request);
	assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_KV_CACHE), 4ull * 1024 * 131072);
}

/* Replicas share the requests out; each has all the weights. */
static void test_replicas(void **state)
{
	static const struct {
		uint32_t replicas;
		uint64_t sequences; /* of the fullest, of 3 x 4 */
	} rows[] = { { 1, 12 }, { 2, 6 }, { 3, 6 }, { 4, 3 }, { 6, 2 }, { 12, 1 }, { 40, 1 } };
	struct vc_request request;
	uint64_t weight_bytes;

	(void)state;
	serving_model(&model, &llama_3_8b, "llama", 8192);
	request = serving_request(&model, VC_ENGINE_NONE, &a100_80);
	request.workload.batch_size = 3;
	request.workload.concurrency = 4;
	request.workload.sequence_length = 8192;
	estimate(&request);
	weight_bytes = vc_ledger_component(&ledger, VC_COMPONENT_WEIGHTS);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		request.parallelism.data = rows[i].replicas;
		estimate(&request);
		assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_KV_CACHE),
		           rows[i].sequences * 8192 * 131072);
		assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_WEIGHTS), weight_bytes);
	}
}

/* docs/json.md: the components, which add up to the total, are those of the largest phase. */
static void test_the_total_is_the_largest_phase(void **state)
{
	static const enum vc_engine engines[] = { VC_ENGINE_VLLM, VC_ENGINE_SGLANG, VC_ENGINE_TGI,
		                                  VC_ENGINE_TENSORRT_LLM };

	(void)state;
	for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
		struct vc_request request;
		uint64_t largest = 0;

		serving_model(&model, &llama_3_8b, "llama", 8192);
		request = serving_request(&model, engines[i], &h100);
		estimate(&request);
		assert_int_equal(ledger.phase_count, 2);
		for (uint32_t p = 0; p < ledger.phase_count; p++) {
			uint64_t bytes = ledger.phases[p].total_bytes;

			largest = bytes > largest ? bytes : largest;
		}
		assert_u64(largest, ledger.total_bytes);
	}
}

/* docs/json.md: what is recommended is the high end, which an unknown family moves by a tenth of
 * the weights, as it does what is needed. */
static void test_an_unknown_family_widens_all_ends(void **state)
{
	struct vc_request request;
	struct vc_ledger known;
	uint64_t tenth;

	(void)state;
	serving_model(&model, &llama_3_8b, "llama", 8192);
	request = serving_request(&model, VC_ENGINE_VLLM, &h100);
	model.known_family = true;
	estimate(&request);
	known = ledger;
	tenth = vc_ledger_component(&known, VC_COMPONENT_WEIGHTS) / 10;
	assert_u64(known.recommended_bytes, known.high_bytes);
	model.known_family = false;
	estimate(&request);
	assert_u64(ledger.need_bytes, known.need_bytes + tenth);
	assert_u64(ledger.high_bytes, known.high_bytes + tenth);
	assert_u64(ledger.recommended_bytes, ledger.high_bytes);
}

/* Sizes beyond 63 bits are an error, never a wrapped number. */
static void test_overflow_is_an_error(void **state)
{
	static const enum vc_engine engines[] = { VC_ENGINE_NONE, VC_ENGINE_VLLM, VC_ENGINE_SGLANG,
		                                  VC_ENGINE_TGI, VC_ENGINE_TENSORRT_LLM };

	(void)state;
	for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
		struct vc_request request;
		struct vc_error error;

		serving_model(&model, &llama_3_8b, "llama", 8192);
		request = serving_request(&model, engines[i], &h100);
		request.workload.sequence_length = UINT64_MAX / 2;
		request.workload.batch_size = UINT64_MAX / 2;
		memset(&ledger, 0, sizeof ledger);
		assert_int_equal(vc_estimate(&request, &ledger, &error), VC_OVERFLOW);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sglang),
		cmocka_unit_test(test_sglang_defaults),
		cmocka_unit_test(test_sglang_older_defaults),
		cmocka_unit_test(test_sglang_leaves_nothing),
		cmocka_unit_test(test_sglang_states),
		cmocka_unit_test(test_sglang_sliding_pool),
		cmocka_unit_test(test_sglang_tower),
		cmocka_unit_test(test_tensorrt_llm),
		cmocka_unit_test(test_tgi),
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_replicas),
		cmocka_unit_test(test_the_total_is_the_largest_phase),
		cmocka_unit_test(test_an_unknown_family_widens_all_ends),
		cmocka_unit_test(test_overflow_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
