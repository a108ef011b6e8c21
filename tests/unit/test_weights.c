#include "fixture.h"
#include "gguf_mixture.h"
#include "weights.h"

/* Weight bytes as formulas and published files give them; P parameters, nl of them in linears. */
static const struct {
	const char *config, *quantization;
	uint64_t bytes;
} rows[] = {
	/* 2 bytes each of 8,030,261,248 and 6,738,415,616 */
	{ "llama-3.1-8b", "none", 16060522496 },
	{ "llama-2-7b", "none", 13476831232 },
	/* tied: 1,235,814,400 */
	{ "llama-3.2-1b", "none", 2471628800 },
	/* nl/2 + nl/128 x 2.5 + (P - nl) x 2 with nl = 6,476,005,376 */
	{ "llama-2-7b", "awq-int4-g128", 3889307648 },
	/* vLLM prints 17.056 GiB with a rotary table of 4 MiB; nl = 33,218,887,680 */
	{ "codellama-34b", "awq-int4-g128", 18308415488 },
	/* the above and g_idx, 4 x (6 x 4096 + 11008) x 32 */
	{ "llama-2-7b", "gptq-int4-g128", 3889307648 + 4554752 },
	/* nl/2 + nl/64 x 4 + (P - nl) x 2 with nl = 6,979,321,856 */
	{ "llama-3.1-8b", "bnb-nf4", 6027747328 },
	/* nl/2 + nl/64 + nl/16384 x 4 + (P - nl) x 2 + 224 x 272 x 4 */
	{ "llama-3.1-8b", "bnb-nf4-dq", 5702539264 },
	/* nl + 4 x 1,376,256 rows + (P - nl) x 2 */
	{ "llama-3.1-8b", "bnb-int8", 9086705664 },
	/* nl + (P - nl) x 2 + 8 x 224 */
	{ "llama-3.1-8b", "fp8", 9081202432 },
	/* nl + 4 x 423,936 blocks + (P - nl) x 2 */
	{ "qwen3-8b", "fp8-block", 9437399040 },
	/* nl/2 + nl/16 + (P - nl) x 2 + 8 x 252 */
	{ "qwen3-8b", "nvfp4", 6396932064 },
	/* the bytes of OpenAI's file: (P - Pe) x 2 + Pe/2 + Pe/32, Pe the experts' matrices */
	{ "gpt-oss-20b", "mxfp4", 13761264768 },
};

static void bytes_are_exact(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct vc_model *model = fixture_model(rows[i].config);
		struct weight_format format = {
			.dtype = VC_DTYPE_BF16,
			.quantization = vc_quantization_by_name(rows[i].quantization),
		};
		struct weights weights;

		assert_non_null(format.quantization);
		weight_bytes(model, &format, &(struct rank){ .tensor = 1 }, &weights);
		print_message("%s %s\n", rows[i].config, rows[i].quantization);
		assert_u64(weights.total_bytes, rows[i].bytes);
		free(model);
	}
}

static uint64_t rank_bytes(const struct vc_model *model, struct rank rank)
{
	struct weights weights;

	weight_bytes(model, &(struct weight_format){ .dtype = VC_DTYPE_BF16 }, &rank, &weights);
	return weights.total_bytes;
}

/* ((P - norms) / 8 + norms) x 2 with P = 8,030,261,248 and norms = 65 x 4096 */
static void tensor_ranks_share_all_but_norms(void **state)
{
	struct vc_model *model = fixture_model("llama-3.1-8b");

	(void)state;
	assert_u64(rank_bytes(model, (struct rank){ .tensor = 8 }),
	           2 * ((8030261248 - 65 * 4096) / 8 + 65 * 4096));
	free(model);
}

static void stages_add_up_and_tied_tables_double(void **state)
{
	struct vc_model *model = fixture_model("llama-3.1-8b");
	uint64_t sum = 0;

	(void)state;
	for (uint32_t stage = 0; stage < 3; stage++) {
		sum += rank_bytes(model, (struct rank){ .pipeline = 3, .stage = stage });
	}
	assert_u64(sum, 16060522496);
	free(model);
	model = fixture_model("llama-3.2-1b");
	sum = rank_bytes(model, (struct rank){ .pipeline = 2, .stage = 0 }) +
	      rank_bytes(model, (struct rank){ .pipeline = 2, .stage = 1 });
	assert_u64(sum, 2471628800 + 2ull * 128256 * 2048);
	free(model);
}

static void a_higher_tensor_degree_never_needs_more(void **state)
{
	struct vc_model *model = fixture_model("qwen2.5-7b");
	uint64_t before = UINT64_MAX;

	(void)state;
	for (uint32_t t = 1; t <= 64; t *= 2) {
		uint64_t bytes = rank_bytes(model, (struct rank){ .tensor = t });

		assert_true(bytes < before);
		assert_true(bytes * t >= rank_bytes(model, (struct rank){ .tensor = 1 }));
		before = bytes;
	}
	free(model);
}

/* Ranks of a llama.cpp mixture share the file: its total is gguf_weights()'s. */
static void mixtures_are_shared_out(void **state)
{
	struct vc_model *model = fixture_model("llama-3.1-8b");
	struct gguf_format gguf = { .dtype = VC_DTYPE_FP16,
		                    .quantization = vc_quantization_by_name("q4_k_m") };
	struct weight_format format = { .dtype = VC_DTYPE_FP16, .quantization = gguf.quantization };
	struct gguf_weights file;
	struct weights weights;

	(void)state;
	assert_true(gguf_weights(model, &gguf, &file));
	weight_bytes(model, &format, &(struct rank){ .tensor = 1 }, &weights);
	assert_u64(weights.total_bytes, file.total_bytes);
	weight_bytes(model, &format, &(struct rank){ .tensor = 2 }, &weights);
	assert_true(weights.total_bytes * 2 >= file.total_bytes);
	assert_true(weights.total_bytes * 2 < file.total_bytes + file.total_bytes / 1000);
	free(model);
}

/* A checkpoint that leaves the last two layers' down_proj, 2 x 4096 x 14336, in 16 bits holds a
 * byte more of each of their elements than FP8 by rule does. */
static void quantized_files_say_what_they_hold(void **state)
{
	struct vc_model *model = fixture_model("llama-3.1-8b");
	struct weight_format format = { .dtype = VC_DTYPE_BF16,
		                        .quantization = vc_quantization_by_name("fp8") };
	const uint64_t by_rule = 9081202432, kept = 2ull * 4096 * 14336;
	struct weights weights;

	(void)state;
	model->source = VC_SOURCE_SAFETENSORS;
	model->file.quantized = true;
	model->file.total_bytes = by_rule + kept;
	model->file.params = 8030261248;
	model->quantization = format.quantization;
	weight_bytes(model, &format, &(struct rank){ .tensor = 1 }, &weights);
	/* a share is rounded up to the next of a million */
	assert_in_range(weights.total_bytes, by_rule + kept, by_rule + kept + 10000);
	weight_bytes(model, &format, &(struct rank){ .tensor = 2 }, &weights);
	/* norms are on both ranks */
	assert_in_range(weights.total_bytes, (by_rule + kept) / 2, (by_rule + kept) / 2 + 300000);
	/* another quantization is asked for, or the file is of another model */
	format.quantization = vc_quantization_by_name("awq-int4-g128");
	assert_u64(weights_file_share(model, &format), WEIGHTS_SHARE);
	format.quantization = model->quantization;
	model->file.params = 7000000000;
	assert_u64(weights_file_share(model, &format), WEIGHTS_SHARE);
	free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_exact),
		cmocka_unit_test(quantized_files_say_what_they_hold),
		cmocka_unit_test(tensor_ranks_share_all_but_norms),
		cmocka_unit_test(stages_add_up_and_tied_tables_double),
		cmocka_unit_test(a_higher_tensor_degree_never_needs_more),
		cmocka_unit_test(mixtures_are_shared_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
