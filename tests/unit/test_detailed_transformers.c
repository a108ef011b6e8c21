#include "shapes.h"
#include "test.h"

#include <math.h>
#include <string.h>

/* Published totals: github.com/QwenLM/Qwen3, docs/source/benchmark/hf_infer.rst of its tags for
 * Qwen2, Qwen2.5 and Qwen3: torch's peak of allocated memory, one sequence on one GPU, 2048 tokens
 * generated, flash attention. */
static const struct decoder qwen2_7b = { 3584, 28, 28, 4, 18944, 152064 };
static const struct decoder qwen3_8b = { 4096, 36, 32, 8, 12288, 151936 };

static const struct vc_gpu card = { .id = "card", .usable_bytes = 85000000000 };
static struct vc_model model;

static struct vc_request request_for(struct vc_version version, uint64_t length)
{
	return (struct vc_request){
		.model = &model,
		.method = VC_METHOD_DETAILED,
		.workload = { .precision = VC_DTYPE_BF16, .sequence_length = length },
		.engine = { .name = VC_ENGINE_TRANSFORMERS, .version = version },
		.gpu = &card,
	};
}

static struct vc_ledger ledger_of(const struct vc_request *request)
{
	struct vc_ledger ledger;
	struct vc_error error = { 0 };

	if (vc_estimate(request, &ledger, &error) != VC_OK) {
		fail_msg("%s: %s", error.field, error.message);
	}
	return ledger;
}

static uint64_t allocated(const struct vc_ledger *ledger)
{
	return ledger->total_bytes - vc_ledger_component(ledger, VC_COMPONENT_FRAMEWORK) -
	       vc_ledger_component(ledger, VC_COMPONENT_FRAGMENTATION);
}

struct row {
	const struct decoder *shape;
	const char *family;
	struct vc_version version;
	uint64_t length;
	double gib;
};

static const struct row rows[] = {
	{ &qwen2_7b, "qwen2", { 4, 38, 2 }, 2049, 14.92 },
	{ &qwen2_7b, "qwen2", { 4, 38, 2 }, 8192, 20.26 },
	{ &qwen2_7b, "qwen2", { 4, 38, 2 }, 32768, 42.62 },
	{ &qwen2_7b, "qwen2", { 4, 46, 0 }, 2049, 14.38 },
	{ &qwen2_7b, "qwen2", { 4, 46, 0 }, 32768, 19.97 },
	{ &qwen3_8b, "qwen3", { 4, 51, 3 }, 2049, 15.573 },
	{ &qwen3_8b, "qwen3", { 4, 51, 3 }, 32768, 19.792 },
};

static void totals_match_published_tables(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct vc_request request = request_for(rows[i].version, rows[i].length);
		double want = rows[i].gib * 1073741824, got;
		struct vc_ledger ledger;

		shape_decoder(&model, rows[i].shape);
		strcpy(model.family, rows[i].family);
		ledger = ledger_of(&request);
		got = (double)allocated(&ledger);
		if (got < want * 0.985 || got > want * 1.015) {
			fail_msg("row %zu: %.2f GiB, published %.2f", i, got / 1073741824,
			         rows[i].gib);
		}
		assert_true(ledger.low_bytes <= ledger.total_bytes);
		assert_true(ledger.high_bytes >= ledger.total_bytes);
	}
}

static const struct vc_note *note(const struct vc_ledger *ledger, const char *code)
{
	for (uint32_t i = 0; i < ledger->note_count; i++) {
		if (strcmp(ledger->notes[i].code, code) == 0) {
			return &ledger->notes[i];
		}
	}
	return NULL;
}

static void a_version_that_is_not_given_is_the_hungriest(void **state)
{
	struct vc_request request = request_for((struct vc_version){ 0 }, 8192);
	struct vc_ledger ledger;

	(void)state;
	shape_decoder(&model, &qwen2_7b);
	ledger = ledger_of(&request);
	/* 6 bytes x (8192 - 2048) tokens x 152064 */
	assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_LOGITS), 5605687296);
	assert_non_null(note(&ledger, "transformers-version"));
	request.engine.version = (struct vc_version){ 4, 45, 0 };
	ledger = ledger_of(&request);
	assert_null(note(&ledger, "transformers-version"));
	assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_LOGITS), 6 * 152064);
}

static void a_family_is_no_older_than_its_code(void **state)
{
	struct vc_request request = request_for((struct vc_version){ 0 }, 8192);
	struct vc_ledger ledger;

	(void)state;
	shape_decoder(&model, &qwen3_8b);
	strcpy(model.family, "qwen3");
	ledger = ledger_of(&request);
	assert_null(note(&ledger, "transformers-version"));
	assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_LOGITS), 0);
}

static void eager_attention_forms_its_scores(void **state)
{
	struct vc_request request = request_for((struct vc_version){ 4, 46, 0 }, 8192);
	struct vc_ledger flash, eager;

	(void)state;
	shape_decoder(&model, &qwen2_7b);
	flash = ledger_of(&request);
	request.workload.attn_implementation = VC_ATTENTION_EAGER;
	eager = ledger_of(&request);
	/* 10 bytes x 28 heads x 6144 x 6144 */
	assert_u64(allocated(&eager) - allocated(&flash), 10569646080);
}

/* huggingface.co/docs/transformers/quantization/awq: Mistral-7B with AutoAWQ's modules not fused,
 * 32 tokens and 32 more: 4.50 GiB. Its layers' rotary tables are 32 x 32768 x 128 x 4 bytes. */
static void every_layer_held_rotary_tables(void **state)
{
	static const struct decoder mistral_7b = { 4096, 32, 32, 8, 14336, 32000 };
	struct vc_request request = request_for((struct vc_version){ 4, 35, 0 }, 64);
	struct vc_ledger with, without;

	(void)state;
	shape_decoder(&model, &mistral_7b);
	strcpy(model.family, "mistral");
	model.max_position_embeddings = 32768;
	request.workload.quantization = vc_quantization_by_name("awq-int4-g128");
	with = ledger_of(&request);
	assert_true(fabs((double)allocated(&with) / (4.5 * 1073741824) - 1) < 0.02);
	request.engine.version = (struct vc_version){ 4, 42, 0 };
	without = ledger_of(&request);
	/* the cache's copy, 64 x 131072 bytes, gives way to nothing else between these */
	assert_u64(allocated(&with) - allocated(&without), 536870912);
	model.max_position_embeddings = 4096;
	request.engine.version = (struct vc_version){ 4, 35, 0 };
	without = ledger_of(&request);
	assert_u64(allocated(&with) - allocated(&without), 536870912 / 8 * 7);
}

/* bitsandbytes, nn/modules.py: a matrix lies in 16 bits until it is quantized. Qwen2-7B's largest
 * is 18944 x 3584; one token's cache is smaller. */
static void quantizing_takes_a_matrix_in_16_bits(void **state)
{
	struct vc_request request = request_for((struct vc_version){ 4, 46, 0 }, 1);
	struct vc_ledger ledger;

	(void)state;
	shape_decoder(&model, &qwen2_7b);
	strcpy(model.family, "qwen2");
	request.workload.quantization = vc_quantization_by_name("bnb-nf4");
	ledger = ledger_of(&request);
	assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_ACTIVATIONS),
	           2ull * 18944 * 3584 + 40 * 1048576);
}

static void lines_have_ranges(void **state)
{
	struct vc_request request = request_for((struct vc_version){ 4, 46, 0 }, 8192);
	struct vc_ledger ledger;

	(void)state;
	shape_decoder(&model, &qwen2_7b);
	ledger = ledger_of(&request);
	for (uint32_t i = 0; i < ledger.line_count; i++) {
		const struct vc_line *line = &ledger.lines[i];

		if (line->component == VC_COMPONENT_KV_CACHE) { /* its layout is known */
			assert_u64(line->low_bytes, line->bytes);
			assert_u64(line->high_bytes, line->bytes);
		} else if (line->component != VC_COMPONENT_FRAGMENTATION) {
			assert_true(line->low_bytes < line->bytes);
			assert_true(line->high_bytes > line->bytes);
		}
	}
}

static void longer_never_needs_less(void **state)
{
	static const struct vc_version versions[] = { { 4, 40, 0 }, { 4, 46, 0 }, { 5, 0, 0 } };

	(void)state;
	shape_decoder(&model, &qwen3_8b);
	for (size_t v = 0; v < sizeof versions / sizeof *versions; v++) {
		uint64_t before = 0;

		for (uint64_t length = 1; length < 200000; length = length * 2 + 1) {
			struct vc_request request = request_for(versions[v], length);
			struct vc_ledger ledger = ledger_of(&request);

			assert_true(ledger.total_bytes >= before);
			before = ledger.total_bytes;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(totals_match_published_tables),
		cmocka_unit_test(a_version_that_is_not_given_is_the_hungriest),
		cmocka_unit_test(a_family_is_no_older_than_its_code),
		cmocka_unit_test(eager_attention_forms_its_scores),
		cmocka_unit_test(every_layer_held_rotary_tables),
		cmocka_unit_test(quantizing_takes_a_matrix_in_16_bits),
		cmocka_unit_test(lines_have_ranges),
		cmocka_unit_test(longer_never_needs_less),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
