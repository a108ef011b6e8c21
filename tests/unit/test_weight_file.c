#include "config.h"
#include "gguf_config.h"
#include "source.h"
#include "spec.h"
#include "test.h"
#include "weight_file.h"

#include <cjson/cJSON.h>

#define FORMATS TESTS_DIR "/data/formats/"

struct row {
	const char *name;
	uint64_t tensors, elements, bytes, table_bytes; /* of the token table */
};

/*
 * Headers written from public descriptions of these files, without tensor data. Elements and bytes
 * are what llama.cpp prints for the whole files ("model params", "model size"), next to the address
 * where it does; of safetensors the parameters are the published counts of the models.
 */
static const struct row rows[] = {
	/* github.com/lhl/strix-halo-testing, llm-bench/llama-2-7b.Q4_0 */
	{ "llama-2-7b.Q4_0.gguf", 291, 6738415616, 3825065984, 73728000 },
	/* the same, llm-bench/shisa-v2-llama3.1-8b.i1-Q4_K_M; 64 elements are rope_freqs */
	{ "llama-3.1-8b.Q4_K_M.gguf", 292, 8030261312, 4912898304, 295501824 },
	/* the same, llm-bench/shisa-v2-llama3.3-70b.i1-Q4_K_M */
	{ "llama-3.3-70b.Q4_K_M.gguf", 724, 70553706560, 42512531712, 591003648 },
	/* github.com/ikawrakow/ik_llama.cpp/issues/380 */
	{ "qwen3-30b-a3b.Q5_K_M.gguf", 579, 30532122624, 21719611392, 213925888 },
	/* github.com/ikawrakow/ik_llama.cpp/issues/539 */
	{ "qwen3-32b.Q4_0-imatrix.gguf", 707, 32762123264, 18697112576, 437575680 },
	/* github.com/ikawrakow/ik_llama.cpp/discussions/334 */
	{ "gemma-3-27b.Q4_K_M.gguf", 808, 27009346304, 16540125824, 1156337280 },
	/* github.com/ikawrakow/ik_llama.cpp/issues/230 */
	{ "deepseek-v2-lite.Q4_K_M.gguf", 377, 15706484224, 10360420352, 117964800 },
	/* github.com/lhl/strix-halo-testing, llm-bench/gpt-oss-20b-F16 */
	{ "gpt-oss-20b.F16-mxfp4.gguf", 459, 20914757184, 13779630336, 1158266880 },
	/* github.com/ggml-org/ci, results of ggml-4-x86-cuda-v100, pythia_2_8b-tg-q4_k.log */
	{ "pythia-2.8b.Q4_K_M.gguf", 388, 2775208960, 1784711680, 72437760 },
	/* 48 layers of Mamba-1.4B in 16 bits, norms and small tensors in 32 */
	{ "mamba-1.4b.F16.gguf", 482, 1372178432, 2753601536, 205946880 },
	/* all three parts: 4 tensors */
	{ "split-test-00001-of-00003.gguf", 4, 229632, 192128, 87040 },
	/* huggingface.co/meta-llama/Llama-2-7b-hf: 6738415616 parameters in 16 bits */
	{ "llama-2-7b-sharded.safetensors.index.json", 291, 6738415616, 13476831232, 262144000 },
	/* the same in AWQ, 4 bits in groups of 128 */
	{ "llama-2-7b-awq-4bit-g128.safetensors", 739, 6738415616, 3889307648, 262144000 },
	/* huggingface.co/meta-llama/Llama-3.1-8B: 8030261248 */
	{ "llama-3.1-8b-fp8-per-tensor.safetensors", 739, 8030261248, 9081201536, 1050673152 },
	{ "llama-3.1-8b-w4a16-pack-quantized.safetensors", 739, 8030261248, 5700595200,
	  1050673152 },
	{ "llama-3.1-8b-nvfp4.safetensors", 963, 8030261248, 6027749120, 1050673152 },
	/* huggingface.co/openai/gpt-oss-20b: 20914757184, total_size 13761264768 */
	{ "gpt-oss-20b-mxfp4.safetensors", 459, 20914757184, 13761264768, 1158266880 },
	/* 64 and 64 elements of F4, and 4 bytes more */
	{ "ok-f4.safetensors", 2, 128, 68, 0 },
	{ "ok-scalar-and-zero.safetensors", 2, 1, 4, 0 },
	{ "ok-empty.safetensors", 0, 0, 0, 0 },
	{ "ok-empty.gguf", 0, 0, 0, 0 },
	{ "ok-zero-dim.gguf", 1, 0, 0, 0 },
	/* 2048 elements of F16 under version 1, counts of 32 bits */
	{ "ok-v1.gguf", 1, 2048, 4096, 4096 },
	{ "big-endian-v3.gguf", 0, 0, 0, 0 },
};

static enum vc_status read_named(const char *name, struct vc_weight_file *file,
                                 struct vc_error_list *errors)
{
	char path[512];

	(void)snprintf(path, sizeof path, "%s%s", FORMATS, name);
	memset(errors, 0, sizeof *errors);
	return vc_weight_file_read(path, NULL, file, errors);
}

static void headers_give_published_totals(void **state)
{
	struct vc_weight_file file;
	struct vc_error_list errors;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (read_named(rows[i].name, &file, &errors) != VC_OK) {
			fail_msg("%s: %s", rows[i].name, errors.errors[0].message);
		}
		if (file.tensors != rows[i].tensors || file.weights.total_bytes != rows[i].bytes ||
		    file.weights.params + file.weights.buffers != rows[i].elements ||
		    file.weights.embedding_bytes != rows[i].table_bytes) {
			fail_msg("%s: %" PRIu64 " tensors, %" PRIu64 " elements, %" PRIu64
			         " bytes, table %" PRIu64,
			         rows[i].name, file.tensors,
			         file.weights.params + file.weights.buffers,
			         file.weights.total_bytes, file.weights.embedding_bytes);
		}
		vc_weight_file_drop(&file);
	}
}

static void parts_add_up(void **state)
{
	struct vc_weight_file file;
	struct vc_error_list errors;
	uint64_t sum;

	(void)state;
	for (size_t i = 0; i < 10; i++) {
		assert_int_equal(read_named(rows[i].name, &file, &errors), VC_OK);
		sum = file.weights.embedding_bytes + file.weights.output_bytes;
		for (uint32_t layer = 0; layer < file.weights.layers; layer++) {
			sum += file.weights.layer_bytes[layer];
		}
		/* rope_freqs is in neither: 64 elements of F32 */
		assert_u64(sum + file.weights.buffers * 4, file.weights.total_bytes);
		assert_true(file.header_only);
		vc_weight_file_drop(&file);
	}
}

static void bad_files_say_where(void **state)
{
	static const struct {
		const char *name, *message;
	} bad[] = {
		{ "bad-version-0.gguf", "GGUF version 0 (1 to 3 are expected) at byte 4" },
		{ "bad-count-huge.gguf",
		  "1152921504606846976 tensors are more than the file holds at byte 8" },
		{ "bad-count-negative.gguf",
		  "18446744073709551615 tensors are more than the file holds at byte 8" },
		{ "bad-string-len.gguf", "1 keys are more than the file holds at byte 16" },
		{ "bad-nested-array.gguf",
		  "an array of arrays (numbers, flags or strings are expected) at byte 39" },
		{ "bad-empty-key.gguf", "a key of 0 bytes (1 to 511 are expected) at byte 24" },
		{ "bad-alignment.gguf",
		  "general.alignment is not a power of two in 32 bits at byte 49" },
		{ "bad-ndims.gguf",
		  "tensor 't' has 5 dimensions (0 to 4 are expected) at byte 33" },
		{ "bad-dims-overflow.gguf",
		  "tensor 't' has a negative size, or more elements than 2^63 at byte 45" },
		{ "bad-dim-negative.gguf",
		  "tensor 't' has a negative size, or more elements than 2^63 at byte 37" },
		{ "bad-offset-gap.gguf", "tensor 'b' lies at 4096 rather than at 128 at byte 82" },
		{ "bad-offset-unaligned.gguf", "tensor 'a' lies at 4 rather than at 0 at byte 49" },
		{ "bad-dup-tensor.gguf", "a tensor's name 'a' is there twice at byte 57" },
		{ "bad-name-too-long.gguf",
		  "a tensor's name of 64 bytes (1 to 63 are expected) at byte 24" },
		{ "bad-short.safetensors",
		  "ends within the header's length (8 bytes are expected) at byte 3" },
		{ "bad-len-huge.safetensors",
		  "the header is longer than 100000000 bytes at byte 0" },
		{ "bad-len-past-end.safetensors", "the header is longer than the file at byte 0" },
		{ "bad-start.safetensors", "the header does not begin with '{' at byte 8" },
		{ "bad-json.safetensors", "the JSON ends early ('{' is expected) at byte 13" },
		{ "bad-dtype.safetensors", "'a' has the unknown dtype 'Q4' at byte 22" },
		{ "bad-hole.safetensors", "no tensor covers the data at byte 62" },
		{ "bad-overlap.safetensors", "two tensors overlap in the data at byte 124" },
		{ "bad-size.safetensors",
		  "'a' has another size by its shape than by its offsets at byte 13" },
		{ "bad-reversed.safetensors", "'a' ends before it begins at byte 13" },
	};
	struct vc_weight_file file;
	struct vc_error_list errors;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_not_equal(read_named(bad[i].name, &file, &errors), VC_OK);
		assert_int_equal(errors.count, 1);
		assert_string_equal(errors.errors[0].message, bad[i].message);
		vc_weight_file_drop(&file);
	}
}

/* Converted back to a config.json, each file counts as many parameters as it holds. */
static void metadata_becomes_the_same_model(void **state)
{
	struct vc_model *model = calloc(1, sizeof *model);
	struct vc_weight_file file;
	struct vc_error_list errors;
	struct vc_counts counts;
	struct vc_error error;

	(void)state;
	assert_non_null(model);
	for (size_t i = 0; i < 10; i++) {
		cJSON *config;

		assert_int_equal(read_named(rows[i].name, &file, &errors), VC_OK);
		config = vc_gguf_config(&file);
		assert_non_null(config);
		memset(model, 0, sizeof *model);
		if (vc_config_to_model(config, model, &error) != VC_OK) {
			fail_msg("%s: %s %s", rows[i].name, error.field, error.message);
		}
		assert_true(model->known_family);
		assert_int_equal(vc_model_count(model, &counts, &error), VC_OK);
		assert_u64(counts.total, file.weights.params);
		cJSON_Delete(config);
		vc_weight_file_drop(&file);
	}
	free(model);
}

static void labels_become_quantizations(void **state)
{
	struct vc_weight_file file;
	struct vc_error_list errors;

	(void)state;
	assert_int_equal(read_named("llama-2-7b.Q4_0.gguf", &file, &errors), VC_OK);
	assert_string_equal(vc_gguf_quantization(&file), "q4_0");
	vc_weight_file_drop(&file);
	assert_int_equal(read_named("gemma-3-27b.Q4_K_M.gguf", &file, &errors), VC_OK);
	assert_string_equal(vc_gguf_quantization(&file), "q4_k_m");
	vc_weight_file_drop(&file);
	assert_int_equal(read_named("mamba-1.4b.F16.gguf", &file, &errors), VC_OK);
	assert_null(vc_gguf_quantization(&file));
	vc_weight_file_drop(&file);
}

static void formats_are_told_apart(void **state)
{
	static const unsigned char gguf[] = "GGUF\3\0\0\0\0\0\0\0\0\0\0\0";
	static const unsigned char tensors[] = "\2\0\0\0\0\0\0\0{}";
	static const unsigned char text[] = "model: {params: ";

	(void)state;
	assert_int_equal(vc_weight_format_of("x", gguf, 16), VC_WEIGHTS_GGUF);
	assert_int_equal(vc_weight_format_of("x", tensors, 10), VC_WEIGHTS_SAFETENSORS);
	assert_int_equal(vc_weight_format_of("a.yaml", text, 16), VC_WEIGHTS_NONE);
	assert_int_equal(vc_weight_format_of("a.gguf", text, 16), VC_WEIGHTS_GGUF);
	assert_int_equal(vc_weight_format_of("m.safetensors.index.json", text, 16),
	                 VC_WEIGHTS_INDEX);
	assert_int_equal(vc_weight_format_of("config.json", text, 0), VC_WEIGHTS_NONE);
}

static void write_file(const char *folder, const char *name, const char *text)
{
	char path[256];
	FILE *file;

	(void)snprintf(path, sizeof path, "%s/%s", folder, name);
	file = fopen(path, "wb");
	assert_non_null(file);
	(void)fputs(text, file);
	(void)fclose(file);
}

/* A clone without its large files has the model's configuration alone. */
static void pointers_are_no_weights(void **state)
{
	static const char pointer[] = "version https://git-lfs.github.com/spec/v1\n"
	                              "oid sha256:0\nsize 4938985352\n";
	char folder[] = "/tmp/vramcalc-weights-XXXXXX", path[256];
	static const char *const names[] = { "model-00001-of-00001.safetensors",
		                             "model.safetensors.index.json" };
	bool several;
	char *picked;

	(void)state;
	assert_non_null(mkdtemp(folder));
	write_file(folder, names[1],
	           "{\"weight_map\": {\"a\": \"model-00001-of-00001.safetensors\"}}");
	picked = vc_weight_folder_pick(folder, &several);
	assert_non_null(picked);
	free(picked);
	write_file(folder, names[0], pointer);
	assert_null(vc_weight_folder_pick(folder, &several));
	for (size_t i = 0; i < 2; i++) {
		(void)snprintf(path, sizeof path, "%s/%s", folder, names[i]);
		(void)remove(path);
	}
	(void)remove(folder);
}

/* GPT-2's shape, made small: 10 x 4 + 6 x 4 tables, a layer of 12 x 4^2 + 13 x 4, a norm of 8. */
static void a_folder_holds_weights_and_their_shape(void **state)
{
	static const char header[] = "{\"wte.weight\":{\"dtype\":\"F16\",\"shape\":[79,4],"
	                             "\"data_offsets\":[0,632]}}";
	char folder[] = "/tmp/vramcalc-weights-XXXXXX", path[256], text[256];
	const unsigned char length[8] = { sizeof header - 1 };
	struct vc_spec_text source = { .name = "m.yaml", .text = text };
	struct vc_error_list errors = { 0 };
	struct vc_counts counts;
	struct vc_error error;
	struct vc_spec spec;
	FILE *file;

	(void)state;
	assert_non_null(mkdtemp(folder));
	write_file(folder, "config.json",
	           "{\"model_type\": \"gpt2\", \"n_embd\": 4, \"n_layer\": 1, \"n_head\": 2, "
	           "\"vocab_size\": 10, \"n_positions\": 6}");
	(void)snprintf(path, sizeof path, "%s/model.safetensors", folder);
	file = fopen(path, "wb");
	assert_non_null(file);
	(void)fwrite(length, 1, sizeof length, file);
	(void)fputs(header, file);
	(void)fclose(file);
	(void)snprintf(text, sizeof text, "model: {weights: %s}", folder);
	source.length = strlen(text);
	assert_int_equal(vc_spec_read_memory(&source, NULL, &spec, &errors), VC_OK);
	assert_u64(spec.model->file.total_bytes, 632);
	assert_int_equal(vc_model_count(spec.model, &counts, &error), VC_OK);
	assert_u64(counts.total, 40 + 24 + 192 + 52 + 8);
	vc_spec_free(&spec);
	(void)remove(path);
	(void)snprintf(path, sizeof path, "%s/config.json", folder);
	(void)remove(path);
	(void)remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_give_published_totals),
		cmocka_unit_test(parts_add_up),
		cmocka_unit_test(bad_files_say_where),
		cmocka_unit_test(metadata_becomes_the_same_model),
		cmocka_unit_test(labels_become_quantizations),
		cmocka_unit_test(formats_are_told_apart),
		cmocka_unit_test(pointers_are_no_weights),
		cmocka_unit_test(a_folder_holds_weights_and_their_shape),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
