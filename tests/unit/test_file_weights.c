#include "file_weights.h"
#include "shapes.h"
#include "test.h"

static struct vc_model model;

/* A file of 1000 parameters in 16 bits. */
static void begin(enum vc_model_source source, const char *quantization)
{
	memset(&model, 0, sizeof model);
	model.source = source;
	model.dtype = VC_DTYPE_BF16;
	model.quantization = quantization ? vc_quantization_by_name(quantization) : NULL;
	model.file.total_bytes = 2000;
	model.file.params = 1000;
}

static bool holds(enum vc_dtype precision, const char *quantization)
{
	return file_weights_hold(&model, precision,
	                         quantization ? vc_quantization_by_name(quantization) : NULL);
}

static void plain_files_may_be_converted(void **state)
{
	(void)state;
	begin(VC_SOURCE_SAFETENSORS, NULL);
	assert_true(holds(VC_DTYPE_FP16, NULL));
	assert_true(holds(VC_DTYPE_BF16, "none"));
	assert_false(holds(VC_DTYPE_FP32, NULL));
	assert_false(holds(VC_DTYPE_FP16, "bnb-nf4"));
	model.file.total_bytes = 0;
	assert_false(holds(VC_DTYPE_FP16, NULL));
}

static void quantized_files_are_taken_as_they_are(void **state)
{
	(void)state;
	begin(VC_SOURCE_SAFETENSORS, "awq-int4-g128");
	assert_true(holds(VC_DTYPE_FP32, "awq-int4-g128"));
	assert_false(holds(VC_DTYPE_FP16, "gptq-int4-g128"));
	/* packed, though no configuration says how */
	begin(VC_SOURCE_SAFETENSORS, NULL);
	model.file.quantized = true;
	assert_true(holds(VC_DTYPE_FP32, NULL));
	begin(VC_SOURCE_GGUF, "q4_k_m");
	assert_true(holds(VC_DTYPE_FP32, "q4_k_m"));
	assert_false(holds(VC_DTYPE_FP16, "q8_0"));
}

static bool has_note(const struct vc_ledger *ledger, const char *code)
{
	for (uint32_t i = 0; i < ledger->note_count; i++) {
		if (strcmp(ledger->notes[i].code, code) == 0) {
			return true;
		}
	}
	return false;
}

static void differences_are_said(void **state)
{
	static struct vc_ledger ledger;
	struct vc_request request = { .model = &model };

	(void)state;
	begin(VC_SOURCE_GGUF, NULL);
	file_weights_note(&request, 1000, &ledger);
	assert_true(has_note(&ledger, "weights-from-file"));
	assert_false(has_note(&ledger, "weights-differ"));
	assert_false(has_note(&ledger, "weights-layers-differ"));
	memset(&ledger, 0, sizeof ledger);
	model.stack_count = 1;
	model.stacks[0].layers = 32;
	model.file.layers = 80;
	model.file.buffers = 64;
	file_weights_note(&request, 900, &ledger);
	assert_true(has_note(&ledger, "weights-differ"));
	assert_true(has_note(&ledger, "weights-layers-differ"));
	assert_true(has_note(&ledger, "weights-buffers"));
	memset(&ledger, 0, sizeof ledger);
	model.file = (struct vc_file_weights){ 0 };
	file_weights_note(&request, 0, &ledger);
	assert_true(has_note(&ledger, "weights-empty"));
}

static const struct vc_note *find(const struct vc_ledger *ledger, const char *code)
{
	for (uint32_t i = 0; i < ledger->note_count; i++) {
		if (strcmp(ledger->notes[i].code, code) == 0) {
			return &ledger->notes[i];
		}
	}
	return NULL;
}

/* Llama-2-7B in 16 bits: a table of 32000 x 4096 takes 262,144,000 B, a layer 202,383,360
 * parameters or 404,766,720 B, the head and the last norm 262,152,192 B. */
static void the_part_that_differs_is_named(void **state)
{
	static struct vc_ledger ledger;
	struct vc_request request = { .model = &model };

	(void)state;
	shape_decoder(&model, &llama_2_7b);
	model.source = VC_SOURCE_SAFETENSORS;
	model.dtype = VC_DTYPE_BF16;
	model.file.params = 6738415616 - 131072000;
	model.file.total_bytes = 2 * model.file.params;
	model.file.embedding_bytes = 262144000;
	model.file.output_bytes = 8192;
	model.file.layers = 32;
	for (uint32_t i = 0; i < 32; i++) {
		model.file.layer_bytes[i] = 404766720;
	}
	/* a head that is tied in the file and is not in the configuration */
	file_weights_note(&request, 6738415616, &ledger);
	assert_non_null(find(&ledger, "weights-head-differs"));
	assert_u64(find(&ledger, "weights-head-differs")->args[0], 8192);
	assert_u64(find(&ledger, "weights-head-differs")->args[1], 262152192);
	assert_null(find(&ledger, "weights-embedding-differs"));
	assert_null(find(&ledger, "weights-of-layers-differ"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_files_may_be_converted),
		cmocka_unit_test(quantized_files_are_taken_as_they_are),
		cmocka_unit_test(differences_are_said),
		cmocka_unit_test(the_part_that_differs_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
