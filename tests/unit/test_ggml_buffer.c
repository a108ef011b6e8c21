/*
 * llama.cpp's compute buffer. Expected bytes are what llama.cpp 0.5.0 itself reserves for the
 * model (libllama of the npm package node-llama-cpp 3.22.1, no_alloc, header-only GGUF files, a
 * device with CUDA's alignment of 128), one sequence, every token's logits.
 */
#include "ggml_buffer.h"
#include "shapes.h"
#include "test.h"

static struct vc_model model;

static struct ggml_run run_of(uint64_t cells, uint64_t tokens)
{
	return (struct ggml_run){ .tokens = tokens,
		                  .outputs = tokens,
		                  .cells = cells,
		                  .window_cells = cells,
		                  .flash = true,
		                  .latent_cache = true };
}

struct expected {
	uint64_t cells, tokens;
	bool flash, quantized;
	uint64_t bytes;
};

static void check(const struct expected *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct ggml_run run = run_of(rows[i].cells, rows[i].tokens);

		run.flash = rows[i].flash;
		run.quantized_cache = rows[i].quantized;
		assert_u64(ggml_compute_bytes(&model, &run), rows[i].bytes);
	}
}

static void test_llama_2_7b(void **state)
{
	static const struct expected rows[] = {
		{ 4096, 512, true, false, 97005568 },      { 4096, 512, true, true, 97087488 },
		{ 4096, 512, false, false, 327163904 },    { 4096, 2048, true, false, 388022272 },
		{ 32768, 512, true, false, 126365696 },    { 32768, 512, true, true, 118059008 },
		{ 32768, 512, false, false, 2264932352 },  { 32768, 2048, true, true, 471990272 },
		{ 32768, 2048, false, false, 9059729408 }, { 131072, 512, true, false, 227028992 },
		{ 8192, 128, true, false, 25299968 },
	};

	(void)state;
	shape_decoder(&model, &llama_2_7b);
	strcpy(model.family, "llama");
	model.rotary_dim = 128;
	check(rows, sizeof rows / sizeof rows[0]);
}

/* Llama-3.3-70B: the logits outweigh a layer. */
static void test_llama_3_70b(void **state)
{
	static const struct decoder llama_3_70b = { 8192, 80, 64, 8, 28672, 128256 };
	static const struct expected rows[] = {
		{ 4096, 512, true, false, 279445504 },
		{ 4096, 512, false, false, 616570880 },
		{ 32768, 2048, false, false, 17733550080 },
		{ 131072, 512, true, false, 360722432 },
	};

	(void)state;
	shape_decoder(&model, &llama_3_70b);
	strcpy(model.family, "llama");
	model.rotary_dim = 128;
	check(rows, sizeof rows / sizeof rows[0]);
}

/* Pythia-2.8B: fused queries, keys and values, attention and feed-forward side by side. The place
 * of the residual alternates from layer to layer, which the peak shows. */
static void test_pythia(void **state)
{
	static const struct decoder pythia = { 2560, 32, 32, 32, 10240, 50304 };
	static const struct expected rows[] = {
		{ 4096, 512, true, false, 108265472 },
		{ 4096, 512, false, false, 297803776 },
		{ 32768, 512, false, false, 2235572224 },
	};
	struct vc_layer_kind *kind = &model.kinds[0];

	(void)state;
	shape_decoder(&model, &pythia);
	strcpy(model.family, "gpt_neox");
	model.rotary_dim = 20;
	kind->mixers[0].fused_qkv = true;
	kind->mixers[0].q_bias = kind->mixers[0].k_bias = kind->mixers[0].v_bias = true;
	kind->mixers[0].o_bias = true;
	kind->ffns[0].type = VC_FFN_DENSE;
	kind->ffns[0].up_bias = kind->ffns[0].down_bias = true;
	check(rows, sizeof rows / sizeof rows[0]);
}

/* Qwen3-30B-A3B: experts and normalized heads. */
static void test_experts(void **state)
{
	static const struct decoder qwen3 = { 2048, 48, 16, 4, 768, 151936 };
	static const struct expected rows[] = {
		{ 4096, 512, true, false, 315359232 },
		{ 32768, 512, false, false, 2241863680 },
		{ 32768, 2048, true, true, 1261436928 },
	};
	struct vc_layer_kind *kind = &model.kinds[0];
	struct ggml_run run = run_of(4096, 512);

	(void)state;
	shape_decoder(&model, &qwen3);
	strcpy(model.family, "qwen3_moe");
	model.rotary_dim = 128;
	kind->mixers[0].heads = 32;
	kind->mixers[0].head_dim = 128;
	kind->mixers[0].inner_norm_elements = 256;
	kind->ffns[0] = (struct vc_ffn){ .type = VC_FFN_MOE,
		                         .gated = true,
		                         .size = 768,
		                         .experts = 128,
		                         .experts_per_token = 8 };
	check(rows, sizeof rows / sizeof rows[0]);
	/* experts in host memory: their matrices of 384 MiB are copied over one at a time; the
	 * copies' rows begin 2 KiB later than llama.cpp's */
	run.expert_copy_bytes = 402653184;
	assert_u64(ggml_compute_bytes(&model, &run), 469772288 + 2048);
	run = run_of(32768, 2048);
	run.quantized_cache = true;
	run.expert_copy_bytes = 402653184;
	assert_u64(ggml_compute_bytes(&model, &run), 1261436928);
}

/* Mamba-1.4B: no cache, so that nothing depends on the context. */
static void test_mamba(void **state)
{
	static const struct decoder mamba = { 2048, 48, 1, 1, 1, 50280 };
	static const struct expected rows[] = {
		{ 4096, 512, true, false, 111364224 },
		{ 32768, 512, false, false, 111364224 },
		{ 4096, 2048, true, false, 445456512 },
	};
	struct vc_layer_kind *kind = &model.kinds[0];

	(void)state;
	shape_decoder(&model, &mamba);
	strcpy(model.family, "mamba");
	kind->mixers[0] = (struct vc_mixer){ .type = VC_MIXER_MAMBA,
		                             .inner_size = 4096,
		                             .state_size = 16,
		                             .conv_kernel = 4,
		                             .dt_rank = 128,
		                             .conv_bias = true };
	kind->ffn_count = 0;
	kind->norms = 1;
	check(rows, sizeof rows / sizeof rows[0]);
}

/* Only the asked-for logits are formed. */
static void test_fewer_outputs_need_less(void **state)
{
	struct ggml_run run = run_of(4096, 512);
	uint64_t all;

	(void)state;
	shape_decoder(&model, &llama_2_7b);
	strcpy(model.family, "llama");
	model.rotary_dim = 128;
	all = ggml_compute_bytes(&model, &run);
	run.outputs = 1;
	assert_true(ggml_compute_bytes(&model, &run) < all);
}

/* GLM-Z1-32B, gate and up in one tensor: b5192 reserves 353.00 MiB, a fork with one operation for
 * the gate and masks in 16 bits 308.00 (github.com/ikawrakow/ik_llama.cpp/pull/344). */
static void test_an_older_graph(void **state)
{
	static const struct decoder glm = { 6144, 61, 48, 2, 23040, 151552 };
	struct ggml_run run = run_of(32768, 512);

	(void)state;
	shape_decoder(&model, &glm);
	strcpy(model.family, "glm4");
	model.rotary_dim = 64;
	model.kinds[0].ffns[0].fused_gate_up = true;
	assert_u64(ggml_compute_bytes(&model, &run), 308ull << 20);
	run.separate_gates = run.wide_masks = true;
	assert_u64(ggml_compute_bytes(&model, &run), 353ull << 20);
}

/* Mistral Small of 24B on the first of two GPUs, a build of December 2025: 13327728640 bytes, of
 * which the mask is 150272 x 4096 x 4 in four copies, and once more in 16 bits
 * (github.com/ggml-org/llama.cpp/pull/16748, a comment). */
static void test_wide_masks(void **state)
{
	static const struct decoder mistral = { 5120, 40, 32, 8, 32768, 131072 };
	struct ggml_run run = run_of(150272, 4096);

	(void)state;
	shape_decoder(&model, &mistral);
	strcpy(model.family, "llama");
	model.rotary_dim = 128;
	model.kinds[0].mixers[0].head_dim = 128;
	run.copies = 4;
	run.outputs = 1;
	run.without_output = true;
	run.wide_masks = true;
	assert_u64(ggml_compute_bytes(&model, &run), 13327728640);
}

/* What a million layers need is what a hundred need: repeats are left out. */
static void test_depth_costs_nothing(void **state)
{
	struct ggml_run run = run_of(4096, 512);
	struct decoder deep = llama_2_7b;
	uint64_t bytes;

	(void)state;
	shape_decoder(&model, &llama_2_7b);
	bytes = ggml_compute_bytes(&model, &run);
	deep.layers = VC_MAX_LAYERS;
	shape_decoder(&model, &deep);
	assert_u64(ggml_compute_bytes(&model, &run), bytes);
}

/* A run that differs in anything is laid out for itself, and one that returns gives the same. */
static void test_runs_are_told_apart(void **state)
{
	struct ggml_run plain = run_of(4096, 512), runs[13];
	struct vc_model other;

	(void)state;
	shape_decoder(&model, &llama_2_7b);
	shape_decoder(&other, &llama_2_70b);
	for (size_t i = 0; i < 13; i++) {
		runs[i] = plain;
	}
	runs[1].tokens = 256;
	runs[2].outputs = 1;
	runs[3].cells = 8192;
	runs[4].window_cells = 512;
	runs[5].flash = false;
	runs[6].quantized_cache = true;
	runs[7].latent_cache = false;
	runs[8].without_output = true;
	runs[9].separate_gates = true;
	runs[10].wide_masks = true;
	runs[11].copies = 4;
	runs[12].expert_copy_bytes = 1 << 30;
	for (size_t i = 1; i < 13; i++) {
		struct vc_memo memo = { .next = 0 };
		uint64_t bytes = ggml_compute_bytes(&model, &plain);

		assert_u64(ggml_known_compute_bytes(&memo, &model, &plain), bytes);
		assert_u64(ggml_known_compute_bytes(&memo, &model, &runs[i]),
		           ggml_compute_bytes(&model, &runs[i]));
		assert_int_equal(memo.next, 2);
		assert_u64(ggml_known_compute_bytes(&memo, &other, &plain),
		           ggml_compute_bytes(&other, &plain));
		assert_int_equal(memo.next, 3);
		assert_u64(ggml_known_compute_bytes(&memo, &model, &plain), bytes);
		assert_int_equal(memo.next, 3);
	}
	assert_u64(ggml_known_compute_bytes(NULL, &model, &plain),
	           ggml_compute_bytes(&model, &plain));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_llama_2_7b),
		cmocka_unit_test(test_llama_3_70b),
		cmocka_unit_test(test_pythia),
		cmocka_unit_test(test_experts),
		cmocka_unit_test(test_mamba),
		cmocka_unit_test(test_fewer_outputs_need_less),
		cmocka_unit_test(test_an_older_graph),
		cmocka_unit_test(test_wide_masks),
		cmocka_unit_test(test_depth_costs_nothing),
		cmocka_unit_test(test_runs_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
