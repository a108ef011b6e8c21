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

static double peak(void)
{
	return component(VC_COMPONENT_ACTIVATIONS) + component(VC_COMPONENT_LOGITS);
}

static struct vc_request llama(uint32_t minor, uint32_t patch, const struct vc_gpu *gpu)
{
	struct vc_request request;

	serving_model(&model, &llama_3_8b, "llama", 8192);
	request = serving_request(&model, VC_ENGINE_VLLM, gpu);
	request.engine.version = (struct vc_version){ 0, minor, patch };
	request.workload.sequence_length = 8192;
	return request;
}

/* vllm/engine/arg_utils.py: 0.8.0 to 0.8.2 run adapters and a pipeline on V0, whose default is 256
 * sequences; V1's on an H100 is 1024: 38 bytes × 128256 logits × R are 1.16 and 4.65 GiB. */
static void test_features_v1_lacks(void **state)
{
	struct vc_request request = llama(8, 2, &h100);

	(void)state;
	request.engine.max_loras = 1;
	estimate(&request);
	assert_near(component(VC_COMPONENT_LOGITS), 1.16, 1.0);
	request.engine.version.patch = 3;
	estimate(&request);
	assert_near(component(VC_COMPONENT_LOGITS), 4.65, 1.0);
	request.engine.speculative_tokens = 2;
	request.engine.draft_params = 1000000000;
	request.engine.version = (struct vc_version){ 0, 9, 2 };
	estimate(&request);
	assert_near(component(VC_COMPONENT_LOGITS), 1.16, 1.0);
	request.engine.version = (struct vc_version){ 0, 10, 0 };
	estimate(&request);
	assert_near(component(VC_COMPONENT_LOGITS), 4.65, 1.0);
}

static const struct vc_line *line_of(enum vc_component component)
{
	for (uint32_t i = 0; i < ledger.line_count; i++) {
		if (ledger.lines[i].component == component) {
			return &ledger.lines[i];
		}
	}
	return NULL;
}

/* What a component of a log may be off by: 1.6 % of 14.96 GiB of weights are 0.24 GiB. The pool's
 * parts: above them 0.24, 0.06 of 1.26, 0.11 outside torch and 0.10 of the GPU; root of the squares
 * 0.29. */
static void test_ranges_of_components(void **state)
{
	struct vc_request request = llama(6, 5, &h100);
	const struct vc_line *line;

	(void)state;
	estimate(&request);
	line = line_of(VC_COMPONENT_WEIGHTS);
	assert_near((double)(line->high_bytes - line->low_bytes) / GIB, 2 * 0.2394, 1.0);
	line = line_of(VC_COMPONENT_FRAMEWORK);
	assert_u64(line->low_bytes, 0); /* 164 MiB less 180 */
	assert_u64(line->high_bytes, (164ull + 110) << 20);
	line = line_of(VC_COMPONENT_KV_CACHE);
	assert_near((double)(line->bytes - line->low_bytes) / GIB, 0.29, 3.0);
}

/* V1 of 0.8 takes the context off its share; what V0 prints as outside torch leaves it out, 0.05
 * GiB on an A10. */
static void test_context_apart(void **state)
{
	struct vc_request request = llama(8, 5, &rtx_4090);
	uint64_t pool;

	(void)state;
	request.engine.max_num_batched_tokens = 2048;
	request.engine.max_num_seqs = 256;
	estimate(&request);
	pool = ledger.serving.kv_bytes_available;
	assert_near(component(VC_COMPONENT_FRAMEWORK), 0.05, 1.0);
	request.engine.version = (struct vc_version){ 0, 9, 1 };
	estimate(&request);
	assert_near(component(VC_COMPONENT_FRAMEWORK), 0.05, 1.0);
	assert_near((double)(ledger.serving.kv_bytes_available - pool) / GIB, 480.0 / 1024, 1.0);
}

/* github.com/vllm-project/vllm/issues/10517, 0.6.4 on an RTX 3090 of 23.58 GiB: the context counts,
 * 0.35 GiB outside torch; 3.81 GiB of cache with 20,000 tokens. 0.6.5 leaves it out again. */
static void test_context_of_0_6_4(void **state)
{
	struct vc_gpu rtx_3090 = rtx_4090;
	struct vc_request request = llama(6, 4, &rtx_3090);
	uint64_t pool;

	(void)state;
	rtx_3090.compute_capability = 86;
	rtx_3090.usable_bytes = 25318833193;
	request.workload.sequence_length = 20000;
	request.engine.gpu_memory_utilization_ppm = 900000;
	estimate(&request);
	pool = ledger.serving.kv_bytes_available;
	assert_near((double)pool / GIB, 3.81, 2.0);
	request.engine.version.patch = 5;
	estimate(&request);
	assert_near((double)(ledger.serving.kv_bytes_available - pool) / GIB, 300.0 / 1024, 1.0);
}

/* A chunk of 0.6.4 is 512 tokens, of 0.6.5 2048 (issue 10537: "Chunked prefill is enabled with
 * max_num_batched_tokens=512", 0.6.4.post1): 1536 × 4096 × 2 bytes of hidden states apart. */
static void test_chunk_of_0_6_4(void **state)
{
	struct vc_request request = llama(6, 4, &a100_80);
	uint64_t activations;

	(void)state;
	request.workload.sequence_length = 120000;
	estimate(&request);
	activations = vc_ledger_component(&ledger, VC_COMPONENT_ACTIVATIONS);
	request.engine.version.patch = 5;
	estimate(&request);
	assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_ACTIVATIONS) - activations,
	           1536ull * 4096 * 2);
}

/* github.com/vllm-project/vllm/pull/57378: a GB10 of 121.7 GiB, for which NVML has no memory, gets
 * 2048 tokens and 256 sequences, not 8192 and 1024. */
static void test_unified_memory_is_small(void **state)
{
	struct vc_gpu gb10 = h100;
	struct vc_request request = llama(19, 0, &gb10);

	(void)state;
	gb10.usable_bytes = 130669424640;
	estimate(&request);
	assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_LOGITS), 14ull * 1024 * 128256);
	gb10.unified_memory = true;
	estimate(&request);
	assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_LOGITS), 14ull * 256 * 128256);
}

/* Public logs: 0.58 GiB with adapters on a T4 (V0, 23 sizes up to 160); two sizes on eight ranks
 * 0.47 GiB. */
static void test_graphs_of_adapters_and_ranks(void **state)
{
	struct vc_request request = llama(7, 1, &a100_80);

	(void)state;
	request.engine.max_loras = 1;
	request.engine.max_num_seqs = 160;
	estimate(&request);
	assert_near(component(VC_COMPONENT_CUDA_GRAPHS), 0.58, 20.0);
	request.engine.max_loras = 0;
	request.engine.max_num_seqs = 2;
	request.parallelism.tensor = 8;
	estimate(&request);
	assert_near(component(VC_COMPONENT_CUDA_GRAPHS), 0.47, 5.0);
}

/* github.com/vllm-project/vllm/pull/10511: peak 1.26 GiB at tp 1 and at tp 2. */
static void test_sampler_of_v0(void **state)
{
	struct vc_request request = llama(6, 5, &h100);

	(void)state;
	estimate(&request);
	assert_near(peak(), 1.26, 2.0);
	request.parallelism.tensor = 2;
	estimate(&request);
	assert_near(peak(), 1.26, 2.0);
}

/* Llama-3.1-8B on an A100: 1.19 GiB with chunked prefill, the default above 32,768 tokens. */
static void test_chunked_prefill_of_v0(void **state)
{
	struct vc_request request = llama(6, 6, &a100_80);

	(void)state;
	request.workload.sequence_length = 131072;
	estimate(&request);
	assert_near(peak(), 1.19, 1.0);
	/* issue 12330: 9.37 GiB is what 2048 sequences take */
	request.workload.sequence_length = 8192;
	request.engine.max_num_seqs = 2048;
	estimate(&request);
	assert_near(peak(), 9.37, 0.5);
}

/* llm-d planner's logs, H100, 1024 sequences: 4.76 GiB and a cache of 51.38 GiB. */
static void test_defaults_of_v1(void **state)
{
	struct vc_request request = llama(11, 0, &h100);

	(void)state;
	estimate(&request);
	assert_near(peak(), 4.76, 0.5);
	assert_near((double)ledger.serving.kv_bytes_available / GIB, 51.38, 1.0);
}

/* vLLM 0.31 on an A100: 15.0 GiB of weights, a peak of 1.44 that holds the graphs' estimate, a
 * cache of 56.21 GiB, 460,496 tokens; nvidia-smi 72.4 GiB when idle. */
static void test_runner_v2(void **state)
{
	struct vc_request request = llama(31, 0, &a100_80);

	(void)state;
	request.workload.sequence_length = 131072;
	request.engine.gpu_memory_utilization_ppm = 920000;
	estimate(&request);
	assert_near(component(VC_COMPONENT_WEIGHTS), 15.0, 0.3);
	assert_near(peak(), 1.44, 6.0);
	assert_near((double)ledger.serving.kv_bytes_available / GIB, 56.21, 1.0);
	assert_near((double)ledger.serving.kv_tokens, 460496, 1.0);
	assert_near((double)ledger.total_bytes / GIB, 72.4, 3.0);
	assert_true(ledger.low_bytes < ledger.total_bytes &&
	            ledger.total_bytes < ledger.high_bytes);
}

/* github.com/vllm-project/vllm/issues/2798: 9,200 blocks for Llama-2-7B on an H20. */
static void test_old_v0_counts_the_context(void **state)
{
	struct vc_gpu h20 = h100;
	struct vc_request request;

	(void)state;
	h20.usable_bytes = 102005473280; /* 95 GiB */
	serving_model(&model, &llama_2_7b, "llama", 4096);
	request = serving_request(&model, VC_ENGINE_VLLM, &h20);
	request.engine.version = (struct vc_version){ 0, 3, 0 };
	request.engine.enforce_eager = true;
	estimate(&request);
	assert_near((double)ledger.serving.kv_tokens, 147200, 1.0);
	assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_CUDA_GRAPHS), 0);
}

/* 0.9 on an A10G leaves 50,496 tokens for Mistral-7B at 0.92; the process shows 20.79 GiB. */
static void test_v1_counts_the_context_up_to_0_9_0(void **state)
{
	static const struct decoder mistral_7b = { 4096, 32, 32, 8, 14336, 32000 };
	struct vc_gpu a10g = rtx_4090;
	struct vc_request request;

	(void)state;
	a10g.usable_bytes = 23686744637; /* 22.06 GiB */
	a10g.compute_capability = 86;
	serving_model(&model, &mistral_7b, "mistral", 32768);
	request = serving_request(&model, VC_ENGINE_VLLM, &a10g);
	request.engine.version = (struct vc_version){ 0, 9, 0 };
	request.engine.gpu_memory_utilization_ppm = 920000;
	request.workload.sequence_length = 8192;
	estimate(&request);
	assert_near((double)ledger.serving.kv_tokens, 50496, 2.0);
	assert_near((double)ledger.total_bytes / GIB, 20.79, 2.0);
}

/* What a GPU must offer does not depend on how much of it the cache would fill. */
static void test_need_is_the_smallest_gpu(void **state)
{
	struct vc_request request = llama(11, 0, &h100);
	struct vc_gpu smaller = h100;
	uint64_t need;

	(void)state;
	request.engine.max_num_batched_tokens = 2048;
	request.engine.max_num_seqs = 16;
	estimate(&request);
	need = ledger.need_bytes;
	assert_true(need < 30000000000);
	assert_true(ledger.need_expected_bytes < need);
	smaller.usable_bytes = need;
	request.gpu = &smaller;
	estimate(&request);
	assert_true(ledger.serving.kv_tokens >= 8192);
	/* twice the sequences need twice the cache, over the share that the engine may use */
	request.gpu = &h100;
	request.workload.concurrency = 2;
	estimate(&request);
	assert_true(ledger.need_bytes - need >= 8192ull * 131072);
}

/* vllm/lora/layers/base_linear.py: a slot holds rank x in and out x rank elements beside each
 * linear. Llama-3-8B's linears add up to 81,920 a layer. */
static void test_adapter_slots(void **state)
{
	struct vc_request request = llama(11, 0, &h100);

	(void)state;
	request.engine.max_loras = 4;
	request.engine.max_lora_rank = 64;
	estimate(&request);
	assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_ADAPTERS), 4ull * 64 * 81920 * 32 * 2);
	/* 16 is the default rank; outputs divide, and inputs of what is divided by rows */
	request.engine.max_lora_rank = 0;
	request.parallelism.tensor = 2;
	estimate(&request);
	assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_ADAPTERS),
	           4ull * 16 * 32 * 2 *
	                   (4096 + 2048 + 2 * (4096 + 512) + 2048 + 4096 + 2 * (4096 + 7168) +
	                    7168 + 4096));
}

/* A draft model of 0.6B and 28 layers: 2 bytes a parameter, and 28 layers more in the cache. */
static void test_draft_model(void **state)
{
	struct vc_request request = llama(19, 0, &h100);
	uint64_t weights, logits;

	(void)state;
	estimate(&request);
	weights = vc_ledger_component(&ledger, VC_COMPONENT_WEIGHTS);
	logits = vc_ledger_component(&ledger, VC_COMPONENT_LOGITS);
	assert_u64(logits, 14ull * 1024 * 128256);
	request.engine.speculative_tokens = 3;
	request.engine.draft_params = 600000000;
	request.engine.draft_layers = 28;
	estimate(&request);
	assert_near((double)(vc_ledger_component(&ledger, VC_COMPONENT_WEIGHTS) - weights), 1.2e9,
	            0.2);
	assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_LOGITS), 20ull * 1024 * 128256);
	assert_u64(ledger.serving.kv_tokens,
	           ledger.serving.kv_bytes_available / (60 * 4096 * 16) * 16);
}

static uint64_t loading(void)
{
	for (size_t i = 0; i < ledger.note_count; i++) {
		if (strcmp(ledger.notes[i].code, "vllm-loading") == 0) {
			return ledger.notes[i].args[0];
		}
	}
	return 0;
}

/* fp8.py up to 0.13 creates weights in the checkpoint's type: 16.06 GB of Llama-3-8B before they
 * become 9.1; with scales per row the checkpoint is FP8 already. */
static void test_quantizing_while_loading(void **state)
{
	struct vc_request request = llama(13, 0, &h100);

	(void)state;
	request.workload.quantization = vc_quantization_by_name("fp8");
	estimate(&request);
	assert_near((double)loading() / 1e9, 16.06, 0.5);
	assert_near(component(VC_COMPONENT_WEIGHTS) * GIB / 1e9, 9.08, 1.0);
	request.engine.version.minor = 14;
	estimate(&request);
	assert_u64(loading(), 0);
	request.engine.version.minor = 13;
	request.workload.quantization = vc_quantization_by_name("fp8-channel");
	estimate(&request);
	assert_u64(loading(), 0);
	request.workload.quantization = vc_quantization_by_name("fp8");
	model.quantization = request.workload.quantization;
	estimate(&request);
	assert_u64(loading(), 0);
	request.workload.quantization = NULL;
	estimate(&request);
	assert_u64(loading(), 0);
}

/* V0 of 0.7.0 to 0.8.2 (multimodal/profiling.py) leaves out images that are longer than the step:
 * 16,384 tokens of Qwen2.5-VL do not go into 5120. Then one sequence is sampled, and the block of a
 * language model like Llama-3-8B (with Qwen's module) takes 5120 x 2 x (3 x 14336 + 4 x 4096). */
static void test_items_longer_than_the_step(void **state)
{
	struct vc_request request = llama(7, 3, &h100);
	double block = 5120.0 * 2 * (3 * 14336 + 4 * 4096) / GIB;

	(void)state;
	request.workload.sequence_length = 4096;
	strcpy(model.family, "qwen2_5_vl");
	model.stack_count = 2;
	model.stacks[1].role = VC_STACK_VISION;
	model.stacks[1].hidden_size = 1280;
	model.stacks[1].layers = 32;
	estimate(&request);
	assert_near(peak(), block + 0.031, 1.0);
	request.engine.max_num_batched_tokens = 16385;
	estimate(&request);
	assert_true(peak() > 3.0);
	request.engine.max_num_batched_tokens = 0;
	request.engine.version = (struct vc_version){ 0, 8, 3 };
	request.parallelism.pipeline = 2; /* V0 */
	estimate(&request);
	assert_true(peak() > 3.0);
	request.parallelism.pipeline = 1;
	request.engine.version = (struct vc_version){ 0, 6, 6 };
	estimate(&request);
	assert_true(peak() > 3.0);
}

/* From 0.6.5 pynccl sums into a tensor of its own: R1-Distill-Qwen-14B on two GPUs, 2048 tokens and
 * no logits, 0.19 GiB in a log of 0.7.2: 2048 x 2 x (3 x 13824 / 2 + 5 x 5120). */
static void test_sums_apart(void **state)
{
	static const struct decoder qwen_14b = { 5120, 48, 40, 8, 13824, 152064 };
	struct vc_request request;

	(void)state;
	serving_model(&model, &qwen_14b, "qwen2", 2048);
	request = serving_request(&model, VC_ENGINE_VLLM, &rtx_4090);
	request.engine.version = (struct vc_version){ 0, 7, 2 };
	request.engine.max_num_seqs = 1;
	request.parallelism.tensor = 2;
	request.workload.sequence_length = 2048;
	estimate(&request);
	assert_near(peak() * GIB, 2048.0 * 2 * (3 * 13824 / 2.0 + 5 * 5120) + 8519680, 0.1);
	assert_near(peak(), 0.19, 3.0);
	request.engine.version = (struct vc_version){ 0, 6, 4 };
	estimate(&request);
	assert_near(peak() * GIB, 2048.0 * 2 * (3 * 13824 / 2.0 + 4 * 5120) + 8519680, 0.1);
}

/* github.com/vllm-project/vllm/issues/21489: 8.58 GiB for Gemma-3-4B where its tensors take 8.01.
 * Its global rope is scaled by 8, so the table has 1,048,576 positions: 512 MiB instead of 64. */
static void test_linear_rope(void **state)
{
	static const struct decoder gemma_3_4b = { 2560, 34, 10, 5, 10240, 262208 };
	struct vc_request request;
	uint64_t plain;

	(void)state;
	serving_model(&model, &gemma_3_4b, "gemma2", 131072);
	request = serving_request(&model, VC_ENGINE_VLLM, &h100);
	request.engine.version = (struct vc_version){ 0, 10, 0 };
	estimate(&request);
	plain = vc_ledger_component(&ledger, VC_COMPONENT_WEIGHTS);
	strcpy(model.family, "gemma3");
	estimate(&request);
	/* beside one table of 64 MiB a second of 512 */
	assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_WEIGHTS) - plain, 512ull << 20);
	/* Gemma 3n is another model */
	strcpy(model.family, "gemma3n");
	estimate(&request);
	assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_WEIGHTS) - plain, 64ull << 20);
}

/* config.json of google-bert/bert-base-uncased: nothing is generated, so nothing is sampled, cached
 * or captured. */
static void test_encoder_keeps_no_cache(void **state)
{
	static const struct decoder bert_base = { 768, 12, 12, 12, 3072, 30522 };
	struct vc_request request;

	(void)state;
	serving_model(&model, &bert_base, "bert", 512);
	model.kinds[0].mixers[0].causal = false;
	request = serving_request(&model, VC_ENGINE_VLLM, &h100);
	request.engine.version = (struct vc_version){ 0, 11, 0 };
	estimate(&request);
	assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_KV_CACHE), 0);
	assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_LOGITS), 0);
	assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_CUDA_GRAPHS), 0);
	assert_false(ledger.serving.known);
	assert_true(ledger.total_bytes < 4 * 1073741824ull);
}

/* Memory that a longer request needs never shrinks. */
static void test_more_never_needs_less(void **state)
{
	struct vc_request request = llama(11, 0, &h100);
	uint64_t last = 0;

	(void)state;
	for (uint64_t length = 1; length < 1u << 20; length = length * 3 + 7) {
		request.workload.sequence_length = length;
		estimate(&request);
		assert_true(ledger.need_bytes >= last);
		last = ledger.need_bytes;
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_features_v1_lacks),
		cmocka_unit_test(test_context_apart),
		cmocka_unit_test(test_context_of_0_6_4),
		cmocka_unit_test(test_chunk_of_0_6_4),
		cmocka_unit_test(test_unified_memory_is_small),
		cmocka_unit_test(test_graphs_of_adapters_and_ranks),
		cmocka_unit_test(test_ranges_of_components),
		cmocka_unit_test(test_sampler_of_v0),
		cmocka_unit_test(test_chunked_prefill_of_v0),
		cmocka_unit_test(test_defaults_of_v1),
		cmocka_unit_test(test_runner_v2),
		cmocka_unit_test(test_old_v0_counts_the_context),
		cmocka_unit_test(test_v1_counts_the_context_up_to_0_9_0),
		cmocka_unit_test(test_need_is_the_smallest_gpu),
		cmocka_unit_test(test_more_never_needs_less),
		cmocka_unit_test(test_encoder_keeps_no_cache),
		cmocka_unit_test(test_adapter_slots),
		cmocka_unit_test(test_linear_rope),
		cmocka_unit_test(test_items_longer_than_the_step),
		cmocka_unit_test(test_sums_apart),
		cmocka_unit_test(test_quantizing_while_loading),
		cmocka_unit_test(test_draft_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
