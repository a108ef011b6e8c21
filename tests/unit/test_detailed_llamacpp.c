/* llama.cpp as an engine: placement, caches and notes, against logs. */
#include "shapes.h"
#include "test.h"

enum {
	MIB = 1 << 20
};

static const struct vc_gpu gpu = { .id = "any",
	                           .vendor = VC_VENDOR_NVIDIA,
	                           .memory_bytes = 80000000000 };
static struct vc_model model;
static struct vc_ledger ledger;

static struct vc_request request_of(const struct decoder *decoder, const char *label)
{
	struct vc_request request = { .model = &model, .method = VC_METHOD_DETAILED, .gpu = &gpu };

	shape_decoder(&model, decoder);
	strcpy(model.family, "llama");
	model.rotary_dim = 128;
	request.workload.quantization = vc_quantization_by_name(label);
	request.workload.precision = VC_DTYPE_FP16;
	request.engine.name = VC_ENGINE_LLAMACPP;
	return request;
}

static void estimate(const struct vc_request *request)
{
	struct vc_error error = { .message = "" };

	if (vc_estimate(request, &ledger, &error) != VC_OK) {
		fail_msg("%s: %s", error.field, error.message);
	}
}

static uint64_t part(enum vc_component component)
{
	return vc_ledger_component(&ledger, component);
}

static uint64_t host(enum vc_component component)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < ledger.host.line_count; i++) {
		sum += ledger.host.lines[i].component == component ? ledger.host.lines[i].bytes : 0;
	}
	return sum;
}

static bool has_note(const char *code)
{
	for (uint32_t i = 0; i < ledger.note_count; i++) {
		if (strcmp(ledger.notes[i].code, code) == 0) {
			return true;
		}
	}
	return false;
}

/* Nothing stated: the file, 4,080,263,168 bytes (github.com/lhl/strix-halo-testing). All 33
 * "layers" stated: the token table, 73,728,000 bytes of q4_K, is in host memory. */
static void test_whole_file_or_stated_layers(void **state)
{
	struct vc_request request = request_of(&llama_2_7b, "q4_k_m");

	(void)state;
	estimate(&request);
	assert_u64(part(VC_COMPONENT_WEIGHTS), 4080263168);
	assert_true(has_note("llamacpp-whole-file"));
	assert_u64(ledger.need_expected_bytes, ledger.total_bytes - 73728000);
	request.engine.gpu_layers_given = true;
	request.engine.gpu_layers = 33;
	estimate(&request);
	assert_u64(part(VC_COMPONENT_WEIGHTS), 4080263168 - 73728000);
	assert_u64(host(VC_COMPONENT_WEIGHTS), 73728000);
	assert_false(has_note("llamacpp-whole-file"));
	assert_u64(ledger.need_bytes, ledger.high_bytes);
}

/* github.com/ggml-org/llama.cpp/pull/18148: one layer is the output alone since b7475. */
static void test_order_of_offload(void **state)
{
	struct vc_request request = request_of(&llama_2_7b, "q8_0");
	uint64_t block =
	        2 * (2ull * 4096 * 4096 + 11008ull * 4096 * 3 / 2) / 32 * 34 + 2 * 4096 * 4;
	uint64_t output = 32000ull * 4096 / 32 * 34 + 4096 * 4;

	(void)state;
	request.engine.gpu_layers_given = true;
	request.engine.gpu_layers = 1;
	estimate(&request);
	assert_u64(part(VC_COMPONENT_WEIGHTS), output);
	assert_u64(part(VC_COMPONENT_KV_CACHE), 0);
	request.engine.version = (struct vc_version){ 7000, 0, 0 };
	estimate(&request);
	assert_u64(part(VC_COMPONENT_WEIGHTS), block);
	assert_u64(part(VC_COMPONENT_KV_CACHE), 64ull * MIB); /* 4096 x 2 x 4096 x 2 bytes */
	assert_u64(host(VC_COMPONENT_KV_CACHE), 31 * 64ull * MIB);
	request.engine.gpu_layers = 0;
	estimate(&request);
	assert_u64(part(VC_COMPONENT_WEIGHTS), 0);
	assert_u64(host(VC_COMPONENT_KV_CACHE), 32 * 64ull * MIB);
}

/* Layer split: 81 units of an 80-layer model on two GPUs, 41 layers on the first
 * (github.com/xorbitsai/inference/issues/1202: 41 of 80 layers x 1024 MiB at 32768). */
static void test_layer_split(void **state)
{
	static const struct decoder qwen_72b = { 8192, 80, 64, 64, 24576, 152064 };
	struct vc_request request = request_of(&qwen_72b, "q3_k_m");

	(void)state;
	request.workload.sequence_length = 32768;
	request.workload.attn_implementation = VC_ATTENTION_EAGER;
	request.parallelism.stated = true;
	request.parallelism.pipeline = 2;
	request.engine.gpu_layers_given = true;
	request.engine.gpu_layers = 81;
	estimate(&request);
	assert_u64(part(VC_COMPONENT_KV_CACHE), 41 * 1024ull * MIB);
	assert_true(has_note("llamacpp-layer-split"));
}

/* Several GPUs: what llama.cpp 0.5.0 reserves on the last of them (as in test_ggml_buffer.c), in
 * MiB: Llama-3.1-8B on two and on four 322.55, without flash attention 656.03. */
static void test_inputs_in_copies(void **state)
{
	static const struct decoder llama_3_1_8b = { 4096, 32, 32, 8, 14336, 128256 };
	struct vc_request request = request_of(&llama_3_1_8b, "q4_k_m");

	(void)state;
	request.workload.sequence_length = 8192;
	request.workload.attn_implementation = VC_ATTENTION_FLASH;
	request.parallelism.stated = true;
	request.parallelism.pipeline = 4;
	estimate(&request);
	assert_u64((part(VC_COMPONENT_ACTIVATIONS) + part(VC_COMPONENT_LOGITS)) * 100 / MIB, 32254);
	request.workload.attn_implementation = VC_ATTENTION_EAGER;
	estimate(&request);
	assert_u64((part(VC_COMPONENT_ACTIVATIONS) + part(VC_COMPONENT_LOGITS)) * 100 / MIB, 65603);
}

/* github.com/ggml-org/llama.cpp/pull/16748: what does not fit with inputs in four copies starts
 * over with one; masks of 32768 x 512 x 2 bytes, embedded tokens of 512 x 8192 x 4. */
static void test_copies_that_do_not_fit(void **state)
{
	static const struct decoder qwen_72b = { 8192, 80, 64, 8, 24576, 152064 };
	struct vc_request request = request_of(&qwen_72b, "q4_k_m");
	struct vc_gpu small = gpu;
	uint64_t four;

	(void)state;
	request.workload.sequence_length = 32768;
	request.parallelism.stated = true;
	request.parallelism.pipeline = 2;
	request.engine.version = (struct vc_version){ 9410, 0, 0 };
	request.gpu = &small;
	estimate(&request);
	assert_false(has_note("llamacpp-one-copy"));
	four = part(VC_COMPONENT_ACTIVATIONS);
	small.memory_bytes = ledger.total_bytes - 1;
	estimate(&request);
	assert_true(has_note("llamacpp-one-copy"));
	assert_true(four - part(VC_COMPONENT_ACTIVATIONS) >= 3 * 32ull * MIB);
	request.engine.version = (struct vc_version){ 6000, 0, 0 };
	estimate(&request);
	assert_false(has_note("llamacpp-one-copy"));
}

/* github.com/ggml-org/llama.cpp/pull/23861: llama-server asks for one result per slot. */
static void test_results_by_slot(void **state)
{
	struct vc_request request = request_of(&llama_2_7b, "q4_k_m");

	(void)state;
	request.workload.sequence_length = 4096;
	request.workload.batch_size = 4;
	estimate(&request);
	assert_u64(part(VC_COMPONENT_LOGITS), 4ull * 512 * 32000);
	assert_true(has_note("llamacpp-outputs"));
	request.engine.version = (struct vc_version){ 9464, 0, 0 };
	estimate(&request);
	assert_u64(part(VC_COMPONENT_LOGITS), 4ull * 4 * 32000);
	assert_false(has_note("llamacpp-outputs"));
}

/* -c 12228 gives 12288 cells; before November 2025 30016 stayed 30016 without flash attention. */
static void test_cells(void **state)
{
	struct vc_request request = request_of(&llama_2_7b, "q4_k_m");
	uint64_t cell = 2ull * 4096 * 2 * 32;

	(void)state;
	request.workload.sequence_length = 12228;
	estimate(&request);
	assert_u64(part(VC_COMPONENT_KV_CACHE), 12288 * cell);
	assert_true(has_note("llamacpp-cells"));
	request.workload.sequence_length = 30016;
	request.workload.attn_implementation = VC_ATTENTION_EAGER;
	estimate(&request);
	assert_u64(part(VC_COMPONENT_KV_CACHE), 30208 * cell);
	request.engine.version = (struct vc_version){ 5000, 0, 0 };
	estimate(&request);
	assert_u64(part(VC_COMPONENT_KV_CACHE), 30016 * cell);
	request.workload.batch_size = 4;
	estimate(&request);
	assert_u64(part(VC_COMPONENT_KV_CACHE), 4 * 30016 * cell);
}

/* Windows are kept since May 2025; Mistral's never was. */
static void test_windows(void **state)
{
	struct vc_request request = request_of(&llama_2_7b, "q4_k_m");
	uint64_t cell = 2ull * 4096 * 2 * 32;

	(void)state;
	model.kinds[0].mixers[0].window = 1024;
	request.workload.sequence_length = 32768;
	estimate(&request);
	assert_u64(part(VC_COMPONENT_KV_CACHE), 1536 * cell); /* 1024 + 512 */
	request.engine.ubatch_size = 2048;
	estimate(&request);
	assert_u64(part(VC_COMPONENT_KV_CACHE), 3072 * cell);
	request.engine.version = (struct vc_version){ 5000, 0, 0 };
	estimate(&request);
	assert_u64(part(VC_COMPONENT_KV_CACHE), 32768 * cell);
	request.engine.version = (struct vc_version){ 0 };
	strcpy(model.family, "mistral");
	estimate(&request);
	assert_u64(part(VC_COMPONENT_KV_CACHE), 32768 * cell);
}

/* Qwen3-30B-A3B in fp16 with --cpu-moe, as llama.cpp 0.5.0 places it (see test_ggml_buffer.c). */
static void test_experts_in_host_memory(void **state)
{
	static const struct decoder qwen3 = { 2048, 48, 16, 4, 768, 151936 };
	struct vc_request request = request_of(&qwen3, "none");
	struct vc_layer_kind *kind = &model.kinds[0];
	uint64_t all, host_all;

	(void)state;
	strcpy(model.family, "qwen3_moe");
	kind->mixers[0].heads = 32;
	kind->mixers[0].head_dim = 128;
	kind->mixers[0].inner_norm_elements = 256;
	kind->ffns[0] = (struct vc_ffn){ .type = VC_FFN_MOE,
		                         .gated = true,
		                         .size = 768,
		                         .experts = 128,
		                         .experts_per_token = 8 };
	request.engine.gpu_layers_given = true;
	request.engine.gpu_layers = 99;
	estimate(&request);
	all = part(VC_COMPONENT_WEIGHTS);
	host_all = host(VC_COMPONENT_WEIGHTS);
	assert_u64(all, 60467503104);
	assert_false(has_note("llamacpp-host-experts"));
	request.engine.cpu_moe_layers = 99;
	estimate(&request);
	assert_u64(part(VC_COMPONENT_WEIGHTS), 2485444608);
	assert_u64(host(VC_COMPONENT_WEIGHTS), 58604388352);
	assert_true(has_note("llamacpp-host-experts"));
	request.engine.cpu_moe_layers = 12;
	estimate(&request);
	assert_u64(part(VC_COMPONENT_WEIGHTS), all - (all - 2485444608) / 4);
	request.engine.gpu_layers = 37; /* the first twelve layers are there whole */
	estimate(&request);
	assert_u64(part(VC_COMPONENT_WEIGHTS) + host(VC_COMPONENT_WEIGHTS), all + host_all);
}

/* bge-small: 12 layers, 512 cells, 9 MiB, until May 2025
 * (github.com/ggml-org/llama.cpp/pull/13108). */
static void test_encoder(void **state)
{
	static const struct decoder bge = { 384, 12, 12, 12, 1536, 30522 };
	struct vc_request request = request_of(&bge, "q8_0");

	(void)state;
	model.kinds[0].mixers[0].causal = false;
	request.workload.sequence_length = 512;
	estimate(&request);
	assert_u64(part(VC_COMPONENT_KV_CACHE), 0);
	request.engine.version = (struct vc_version){ 5300, 0, 0 };
	estimate(&request);
	assert_u64(part(VC_COMPONENT_KV_CACHE), 9ull * MIB);
}

/* A vision tower's file is not counted, but not excluded: it is in the range. */
static void test_vision_widens(void **state)
{
	struct vc_request request = request_of(&llama_2_7b, "q4_k_m");
	struct vc_extra *extra = &model.extras[model.extra_count];
	uint64_t high, total;

	(void)state;
	estimate(&request);
	high = ledger.high_bytes;
	total = ledger.total_bytes;
	*extra = (struct vc_extra){
		.tensor = { .module = VC_MODULE_PROJECTOR, .out = 4096, .in = 1024, .count = 2 }
	};
	model.extra_count++;
	estimate(&request);
	assert_u64(ledger.total_bytes, total);
	assert_u64(ledger.high_bytes, high + 2ull * 2 * 4096 * 1024);
	assert_true(has_note("llamacpp-vision"));
}

/* q8_0 is 34 bytes per 32; flash attention needs one layer in 16 bits beside it. */
static void test_quantized_cache(void **state)
{
	struct vc_request request = request_of(&llama_2_7b, "q4_k_m");
	uint64_t fixed;

	(void)state;
	estimate(&request);
	fixed = part(VC_COMPONENT_FRAMEWORK);
	request.workload.kv_cache_precision = VC_DTYPE_Q8_0;
	estimate(&request);
	assert_u64(part(VC_COMPONENT_KV_CACHE), 4096ull * 2 * 4096 / 32 * 34 * 32);
	assert_u64(part(VC_COMPONENT_FRAMEWORK), fixed + 4096ull * 2 * 4096 * 2);
	request.workload.attn_implementation = VC_ATTENTION_EAGER;
	estimate(&request);
	assert_true(has_note("llamacpp-flash"));
	request.workload.kv_cache_precision = VC_DTYPE_INT8;
	estimate(&request);
	assert_u64(part(VC_COMPONENT_KV_CACHE), 4096ull * 2 * 4096 / 32 * 34 * 32);
	assert_true(has_note("llamacpp-cache-type"));
}

static void test_range_and_sums(void **state)
{
	struct vc_request request = request_of(&llama_2_7b, "q4_k_m");

	(void)state;
	estimate(&request);
	assert_true(ledger.low_bytes < ledger.total_bytes);
	assert_true(ledger.high_bytes > ledger.total_bytes);
	assert_true(ledger.need_bytes <= ledger.high_bytes);
	assert_int_equal(ledger.phase_count, 1);
	assert_u64(ledger.phases[0].total_bytes, ledger.total_bytes);
}

static void test_other_quantizers_are_refused(void **state)
{
	struct vc_request request = request_of(&llama_2_7b, "awq-int4-g128");
	struct vc_error error;

	(void)state;
	assert_int_equal(vc_estimate(&request, &ledger, &error), VC_UNSUPPORTED);
	assert_string_equal(error.field, "workload.quantization");
}

static void test_overflow_is_an_error(void **state)
{
	struct vc_request request = request_of(&llama_2_7b, "q4_k_m");
	struct vc_error error;

	(void)state;
	request.workload.sequence_length = INT64_MAX / 2;
	request.workload.batch_size = 1000;
	assert_int_equal(vc_estimate(&request, &ledger, &error), VC_OVERFLOW);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_file_or_stated_layers),
		cmocka_unit_test(test_order_of_offload),
		cmocka_unit_test(test_layer_split),
		cmocka_unit_test(test_inputs_in_copies),
		cmocka_unit_test(test_copies_that_do_not_fit),
		cmocka_unit_test(test_results_by_slot),
		cmocka_unit_test(test_cells),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_experts_in_host_memory),
		cmocka_unit_test(test_encoder),
		cmocka_unit_test(test_vision_widens),
		cmocka_unit_test(test_quantized_cache),
		cmocka_unit_test(test_range_and_sums),
		cmocka_unit_test(test_other_quantizers_are_refused),
		cmocka_unit_test(test_overflow_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
