#include "serving_fixture.h"

#include "serving_weights.h"

static struct vc_model model;

static const struct weight_traits traits = { .vocab_multiple = 64,
	                                     .mxfp4_hidden_multiple = 256,
	                                     .mxfp4_width_multiple = 128 };

static struct serving_weights weigh(struct vc_request request, const struct weight_traits *with)
{
	struct vc_error error;

	assert_int_equal(vc_request_resolve(&request, &error), VC_OK);
	return serving_weights(&request, with);
}

/* 8,030,261,248 parameters of 2 bytes and a rotary table of 8192 x 128 x 2 bytes; every tensor is a
 * whole number of 2 MiB. vLLM prints 14.96 GiB (github.com/vllm-project/vllm/issues/12330). */
static void test_llama_3_8b(void **state)
{
	struct serving_weights weights;

	(void)state;
	serving_model(&model, &llama_3_8b, "llama", 8192);
	weights = weigh(serving_request(&model, VC_ENGINE_VLLM, &a100_80), &traits);
	assert_u64(weights.elements, 8030261248);
	assert_u64(weights.allocated_bytes, 8030261248ull * 2 + 8192 * 128 * 2);
	assert_true(weights.last);
}

/* "Loading model weights took 14.2487 GB": gate and up 259 MiB, down 129.5, qkv 31.5 gain 2 MiB a
 * layer. */
static void test_rounded_segments_of_qwen_2_5_7b(void **state)
{
	struct serving_weights weights;

	(void)state;
	serving_model(&model, &qwen_2_5_7b, "qwen2", 32768);
	weights = weigh(serving_request(&model, VC_ENGINE_VLLM, &v100), &traits);
	assert_near((double)weights.allocated_bytes / GIB, 14.2487, 0.05);
}

/* 7.48 GiB a rank (github.com/vllm-project/vllm/pull/10511). */
static void test_tensor_parallel_halves(void **state)
{
	struct vc_request request;

	(void)state;
	serving_model(&model, &llama_3_8b, "llama", 8192);
	request = serving_request(&model, VC_ENGINE_VLLM, &h100);
	request.parallelism.tensor = 2;
	assert_near((double)weigh(request, &traits).allocated_bytes / GIB, 7.48, 0.1);
	/* 16 ranks of 8 key-value heads: each rank holds one */
	request.parallelism.tensor = 16;
	assert_true(weigh(request, &traits).elements * 16 > 8030261248);
}

/* vLLM up to 0.6 gives what does not divide to the last stage, later to the one before it. */
static void test_pipeline_stages(void **state)
{
	struct decoder odd = llama_3_8b;
	struct weight_traits last = traits;
	struct vc_request request;

	(void)state;
	odd.layers = 31;
	serving_model(&model, &odd, "llama", 8192);
	request = serving_request(&model, VC_ENGINE_VLLM, &h100);
	request.parallelism.pipeline = 2;
	last.remainder_on_last_stage = true;
	assert_int_equal(weigh(request, &last).range.begin, 15);
	assert_true(weigh(request, &last).last);
	assert_int_equal(weigh(request, &traits).range.end, 16);
	assert_false(weigh(request, &traits).last);
}

/* Qwen3-14B in SGLang with 4 ranks: free memory dropped by 7.08 GiB, a quarter of the parameters
 * is 6.88. */
static void test_reserved_segments(void **state)
{
	static const struct decoder qwen_3_14b = { 5120, 40, 40, 8, 17408, 151936 };
	struct vc_request request;

	(void)state;
	serving_model(&model, &qwen_3_14b, "qwen3", 40960);
	request = serving_request(&model, VC_ENGINE_SGLANG, &rtx_4090);
	request.parallelism.tensor = 4;
	assert_near((double)weigh(request, &traits).reserved_bytes / GIB, 7.08, 0.5);
}

/* CodeLlama-34B AWQ: 17.056 GiB (github.com/vllm-project/vllm/issues/6509): 4 bits, 16-bit scales
 * and 4-bit zeros per 128, embedding and head in 16 bits. */
static void test_awq(void **state)
{
	static const struct decoder codellama_34b = { 8192, 48, 64, 8, 22016, 32000 };
	struct vc_request request;

	(void)state;
	serving_model(&model, &codellama_34b, "llama", 16384);
	request = serving_request(&model, VC_ENGINE_VLLM, &a100_80);
	request.workload.precision = VC_DTYPE_FP16;
	request.workload.quantization = vc_quantization_by_name("awq-int4-g128");
	assert_near((double)weigh(request, &traits).allocated_bytes / GIB, 17.056, 0.05);
}

/* Phi-4 GPTQ: 8.511 GiB with Marlin kernels, which keep neither zeros nor group indices. */
/* The file, 4,080,263,168 bytes (github.com/lhl/strix-halo-testing), and a rotary table; halves of
 * it on two GPUs. */
static void test_gguf_mixture(void **state)
{
	struct vc_request request;
	struct serving_weights weights;
	uint64_t rotary = 4096 * 128 * 2;

	(void)state;
	serving_model(&model, &llama_2_7b, "llama", 4096);
	request = serving_request(&model, VC_ENGINE_VLLM, &a100_80);
	request.workload.quantization = vc_quantization_by_name("q4_k_m");
	weights = weigh(request, &traits);
	assert_near((double)(weights.tensor_bytes - rotary), 4080263168, 0.01);
	request.parallelism.stated = true;
	request.parallelism.tensor = 2;
	weights = weigh(request, &traits);
	assert_near((double)(weights.tensor_bytes - rotary), 4080263168 / 2.0, 0.02);
}

static void test_gptq_without_zeros(void **state)
{
	static const struct decoder phi_4 = { 5120, 40, 40, 10, 17920, 100352 };
	struct weight_traits marlin = traits;
	struct vc_request request;

	(void)state;
	serving_model(&model, &phi_4, "phi3", 16384);
	request = serving_request(&model, VC_ENGINE_VLLM, &a100_80);
	request.workload.quantization = vc_quantization_by_name("gptq-int4-g128");
	marlin.marlin = true;
	assert_near((double)weigh(request, &marlin).allocated_bytes / GIB, 8.511, 0.3);
	assert_true(weigh(request, &traits).allocated_bytes >
	            weigh(request, &marlin).allocated_bytes);
}

/* gemma-2-9b took 17.378 GiB in 0.5.2, 17.214 of them parameters: a rotary table of 8192 x 256 x 2
 * bytes in each of its 42 layers. Here: 42 - 1 more tables than with one for all. */
static void test_rotary_tables(void **state)
{
	struct weight_traits own = traits;
	struct vc_request request;
	uint64_t shared, apart;

	(void)state;
	serving_model(&model, &llama_3_8b, "llama", 8192);
	model.rotary_dim = 256;
	request = serving_request(&model, VC_ENGINE_VLLM, &a100_80);
	shared = weigh(request, &traits).allocated_bytes;
	own.rotary_per_layer = true;
	apart = weigh(request, &own).allocated_bytes;
	assert_u64(apart - shared, 31ull * 8192 * 256 * 2);
	/* a spec longer than the config's positions: the table follows the spec */
	request.workload.sequence_length = 16384;
	assert_u64(weigh(request, &traits).allocated_bytes - shared, 8192ull * 256 * 2);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_llama_3_8b),
		cmocka_unit_test(test_rounded_segments_of_qwen_2_5_7b),
		cmocka_unit_test(test_tensor_parallel_halves),
		cmocka_unit_test(test_pipeline_stages),
		cmocka_unit_test(test_reserved_segments),
		cmocka_unit_test(test_awq),
		cmocka_unit_test(test_gguf_mixture),
		cmocka_unit_test(test_gptq_without_zeros),
		cmocka_unit_test(test_rotary_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
