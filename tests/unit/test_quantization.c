#include "quantization.h"
#include "test.h"

/* A linear of 4096 inputs and 14336 outputs, n = 58,720,256, by hand:
 * gptq  n/2 + n/128 x 2 + n/128/2 + 4 x 4096
 * awq   the same without g_idx
 * ct    n/2 + n/128 x 2
 * hqq   n/2 + n/64 x 4 */
static void one_linear_by_hand(void **state)
{
	static const struct {
		const char *name;
		uint64_t bytes;
	} rows[] = {
		{ "gptq-int4-g128", 30523392 },
		{ "awq-int4-g128", 30507008 },
		{ "ct-int4-g128", 30277632 },
		{ "hqq-int4", 33030144 },
		{ "int4", 29360128 },
		{ "int8", 58720256 },
		{ "gptq-int4", 29360128 + 2 * 14336 },
		{ "ct-int4-g32", 29360128 + 2 * 58720256 / 32 },
		{ "fp8-channel", 58720256 + 4 * 14336 },
		{ "mxfp4", 29360128 + 58720256 / 32 },
		{ "torchao-int4", 29360128 + 4 * 58720256 / 128 },
		{ "torchao-int8", 58720256 + 2 * 14336 },
		{ "q8_0", 58720256 / 32 * 34 },
	};
	struct vc_tensor linear = {
		VC_MODULE_UP, VC_SPLIT_COLUMN, 14336, 4096, 0, 1, .linear = true
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct vc_quantization *q = vc_quantization_by_name(rows[i].name);

		assert_non_null(q);
		print_message("%s\n", rows[i].name);
		assert_u64(quantized_bytes(q, &linear, VC_DTYPE_FP16), rows[i].bytes);
		linear.bias = 14336;
		assert_u64(quantized_bytes(q, &linear, VC_DTYPE_FP16), rows[i].bytes + 28672);
		linear.bias = 0;
	}
}

static void the_table_is_whole(void **state)
{
	size_t count = 0;

	(void)state;
	for (; vc_quantization_at(count); count++) {
		const struct vc_quantization *q = vc_quantization_at(count);

		assert_ptr_equal(vc_quantization_by_name(q->name), q);
		assert_non_null(q->summary);
		assert_true(count == 0 || q->dtype != VC_DTYPE_NONE);
	}
	assert_true(count > 50);
	assert_string_equal(vc_quantization_at(0)->name, "none");
	assert_null(vc_quantization_by_name("gptq-int5-g128"));
	assert_ptr_equal(vc_quantization_by_name("Q4_K_M"), vc_quantization_by_name("q4_k_m"));
}

static void routers_and_tables_are_left_alone(void **state)
{
	const struct vc_quantization *gptq = vc_quantization_by_name("gptq-int4-g128");
	const struct vc_quantization *mxfp4 = vc_quantization_by_name("mxfp4");
	struct vc_tensor linear = { VC_MODULE_Q, VC_SPLIT_COLUMN, 8, 8, 0, 1, .linear = true };
	struct vc_tensor router = { VC_MODULE_ROUTER, VC_SPLIT_NONE, 8, 8, .count = 1 };
	struct vc_tensor expert = { VC_MODULE_EXPERT_UP, VC_SPLIT_EXPERT_COLUMN, 8, 8, 0, 8,
		                    .linear = true };

	(void)state;
	assert_true(quantization_touches(gptq, &linear));
	assert_false(quantization_touches(gptq, &router));
	assert_false(quantization_touches(mxfp4, &linear));
	assert_true(quantization_touches(mxfp4, &expert));
	assert_false(quantization_touches(vc_quantization_by_name("none"), &linear));
	assert_false(quantization_touches(NULL, &linear));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_linear_by_hand),
		cmocka_unit_test(the_table_is_whole),
		cmocka_unit_test(routers_and_tables_are_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
