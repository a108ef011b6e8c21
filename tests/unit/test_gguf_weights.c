/* llama.cpp's mixtures, tensor by tensor, against files and against llama.cpp's own quantizer. */
#include "fixture.h"
#include "gguf_mixture.h"

#include <math.h>

static struct gguf_weights weights;

static void measure(const struct vc_model *model, const char *label, struct gguf_format format)
{
	struct vc_quantization row = { .name = label, .quantizer = VC_QUANTIZER_GGUF };

	format.dtype = VC_DTYPE_FP16;
	format.quantization = strcmp(label, "none") == 0 ? NULL : &row;
	assert_true(gguf_weights(model, &format, &weights));
}

/* Tensor bytes that llama-bench and llama.cpp's loader print for public files ("model size"), to
 * the byte. */
static void test_public_files(void **state)
{
	static const struct {
		const char *config, *label;
		bool expanded;
		uint64_t bytes, embedding_bytes;
	} files[] = {
		/* https://github.com/lhl/strix-halo-testing, llm-bench/llama-2-7b.Q4_K_M, .Q4_0 */
		{ "llama-2-7b", "q4_k_m", false, 4080263168, 73728000 },
		{ "llama-2-7b", "q4_0", false, 3825065984, 73728000 },
		/* the same, shisa-v2-llama3.1-8b.i1-Q4_K_M, less the 256 bytes of its rotary
		 * factors */
		{ "llama-3.1-8b", "q4_k_m", false, 4912898304 - 256, 295501824 },
		/* the same, gpt-oss-20b-F16: experts in MXFP4 whatever the label says */
		{ "gpt-oss-20b", "none", false, 13779630336, 1158266880 },
		/* https://github.com/ikawrakow/ik_llama.cpp/discussions/334: 15.404 GiB and 4.899
		 * bits; of it 1102.77 MiB once more on the host */
		{ "gemma-3-27b", "q4_k_m", false, 16540125824, 1156337280 },
		/* https://github.com/ikawrakow/ik_llama.cpp/issues/539: 13.747 GiB */
		{ "gemma-3-27b", "iq4_xs", false, 14760884864, 1156337280 },
		/* https://github.com/ikawrakow/ik_llama.cpp/issues/230: 9.649 GiB; rows of 1408
		 * and 10944 fall back to blocks of 32 */
		{ "deepseek-v2-lite", "q4_k_m", true, 10360420352, 117964800 },
		/* https://github.com/ikawrakow/ik_llama.cpp/issues/380: 20.228 GiB */
		{ "qwen3-30b-a3b", "q5_k_m", false, 21719611392, 213925888 },
		/* https://github.com/ggml-org/ci, results/llama.cpp, pythia_2_8b-tg-q4_k.log:
		 * 1632.95 MiB on the device, 69.08 on the host */
		{ "pythia-2.8b", "q4_k_m", false, 1784711680, 72437760 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		struct vc_model *model = fixture_model(files[i].config);

		measure(model, files[i].label,
		        (struct gguf_format){ .expanded_latent = files[i].expanded });
		assert_u64(weights.total_bytes, files[i].bytes);
		assert_u64(weights.embedding_bytes, files[i].embedding_bytes);
		free(model);
	}
}

/* One row of data/gguf_sizes.csv; MiB in hundredths. */
struct size_row {
	char config[64], label[32];
	unsigned long whole, hundredths;
};

static bool read_row(FILE *file, struct size_row *row)
{
	char line[160], number[32], *end;

	while (fgets(line, sizeof line, file)) {
		if (sscanf(line, "%63[^,#],%31[^,],%31s", row->config, row->label, number) == 3) {
			row->whole = strtoul(number, &end, 10);
			row->hundredths = strtoul(end + 1, NULL, 10);
			return true;
		}
	}
	return false;
}

/* Printed to 0.01 MiB. */
static void check_row(const struct vc_model *model, const struct size_row *row)
{
	double mib = (double)row->whole + (double)row->hundredths / 100;

	measure(model, row->label, (struct gguf_format){ .fused_as_values = true });
	if (fabs((double)weights.total_bytes / 1048576 - mib) > 0.0051) {
		fail_msg("%s %s: %.2f MiB, expected %.2f", row->config, row->label,
		         (double)weights.total_bytes / 1048576, mib);
	}
}

static void test_llama_quantize(void **state)
{
	FILE *file = fopen(TESTS_DIR "/data/gguf_sizes.csv", "r");
	struct vc_model *model = NULL;
	struct size_row row;
	char of[64] = "";
	int rows = 0;

	(void)state;
	assert_non_null(file);
	while (read_row(file, &row)) {
		if (strcmp(row.config, of) != 0) {
			free(model);
			model = fixture_model(row.config);
			memcpy(of, row.config, sizeof of);
		}
		check_row(model, &row);
		rows++;
	}
	(void)fclose(file);
	free(model);
	assert_true(rows > 250);
}

/* The parts are the whole, and the whole is 16 bits an element where nothing is quantized but
 * norms stay in 32. */
static void test_parts(void **state)
{
	struct vc_model *model = fixture_model("llama-2-7b");
	uint64_t sum = 0;

	(void)state;
	measure(model, "q4_k_m", (struct gguf_format){ 0 });
	for (uint32_t i = 0; i < weights.layers; i++) {
		sum += weights.layer_bytes[i];
	}
	assert_int_equal(weights.layers, 32);
	assert_u64(sum + weights.embedding_bytes + weights.output_bytes, weights.total_bytes);
	/* layers 0, 1, 2 and 31 of 32 have q6_K values and down-projections, layer 4 has not */
	assert_u64(weights.layer_bytes[0], weights.layer_bytes[31]);
	assert_true(weights.layer_bytes[4] < weights.layer_bytes[0]);
	/* down: 11008 x 4096 in q6_K */
	assert_u64(weights.largest_bytes, 11008ull * 4096 / 256 * 210);

	measure(model, "none", (struct gguf_format){ 0 });
	assert_u64(weights.total_bytes, 2 * 6738415616ull + 2ull * 65 * 4096);
	free(model);
}

/* A tied model's table is counted once and is there to be put on the device. */
static void test_tied(void **state)
{
	struct vc_model *model = fixture_model("gemma-3-27b");

	(void)state;
	measure(model, "q8_0", (struct gguf_format){ 0 });
	assert_true(weights.tied);
	assert_u64(weights.embedding_bytes, 262208ull * 5376 / 32 * 34);
	assert_u64(weights.output_bytes, weights.embedding_bytes + 5376ull * 4);
	free(model);
}

static void test_publishers_own_labels(void **state)
{
	struct vc_model *model = fixture_model("gemma-3-27b");
	uint64_t plain;

	(void)state;
	measure(model, "q4_k_m", (struct gguf_format){ 0 });
	plain = weights.total_bytes;
	measure(model, "ud-q4_k_xl", (struct gguf_format){ 0 });
	/* 16,819,763,840 bytes, github.com/lhl/strix-halo-testing: within half a percent */
	assert_true(weights.total_bytes > plain);
	assert_true(fabs((double)weights.total_bytes / 16819763840. - 1) < 0.005);
	free(model);
}

static void test_unknown_label(void **state)
{
	struct vc_model *model = fixture_model("llama-2-7b");
	struct vc_quantization row = { .name = "awq-int4-g128", .quantizer = VC_QUANTIZER_AWQ };
	struct gguf_format format = { .dtype = VC_DTYPE_FP16, .quantization = &row };

	(void)state;
	assert_false(gguf_weights(model, &format, &weights));
	free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_public_files),
		cmocka_unit_test(test_llama_quantize),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_tied),
		cmocka_unit_test(test_publishers_own_labels),
		cmocka_unit_test(test_unknown_label),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
