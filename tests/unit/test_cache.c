#include "cache.h"
#include "fixture.h"

static struct cache cache_of(const struct vc_model *model, struct cache_format format,
                             struct rank rank)
{
	struct cache cache;

	format.dtype = format.dtype ? format.dtype : VC_DTYPE_BF16;
	format.state_dtype = VC_DTYPE_BF16;
	format.sequences = format.sequences ? format.sequences : 1;
	cache_bytes(model, &format, &rank, &cache);
	return cache;
}

/* 2 x layers x kv_heads x head_dim x sequences x tokens x bytes */
static void dense_caches_by_hand(void **state)
{
	struct vc_model *llama2 = fixture_model("llama-2-7b");
	struct vc_model *llama3 = fixture_model("llama-3.1-8b");
	struct cache_format long8 = { .tokens = 8192 };
	struct rank one = { 0 };

	(void)state;
	assert_u64(cache_of(llama2, (struct cache_format){ .tokens = 4096 }, one).kv_bytes,
	           2147483648);
	assert_u64(cache_of(llama2, (struct cache_format){ .tokens = 4096 }, one).token_bytes,
	           524288);
	assert_u64(cache_of(llama3, long8, one).kv_bytes, 1073741824);
	long8.sequences = 8;
	assert_u64(cache_of(llama3, long8, one).kv_bytes, 8ull * 1073741824);
	long8.sequences = 1;
	assert_u64(cache_of(llama3, long8, (struct rank){ .tensor = 8 }).kv_bytes, 134217728);
	assert_u64(cache_of(llama3, long8, (struct rank){ .tensor = 32 }).kv_bytes, 134217728);
	assert_u64(cache_of(llama3, long8, (struct rank){ .pipeline = 4 }).kv_bytes, 268435456);
	/* pages of 16 tokens: 1000 are 63 of them, 131,072 bytes a token */
	assert_u64(cache_of(llama3, (struct cache_format){ .tokens = 1000, .block = 16 }, one)
	                   .kv_bytes,
	           132120576);
	free(llama2);
	free(llama3);
}

/* Llama-3-8B, 8192 tokens, 8 heads of 128 in 32 layers */
static void quantized_caches_by_hand(void **state)
{
	static const struct {
		enum vc_dtype dtype;
		enum cache_scales scales;
		uint64_t bytes;
	} rows[] = {
		{ VC_DTYPE_FP8, CACHE_SCALES_NONE, 536870912 },
		{ VC_DTYPE_INT8, CACHE_SCALES_HEAD, 553648128 }, /* d + 4 bytes a token and head */
		{ VC_DTYPE_INT4, CACHE_SCALES_HEAD, 285212672 },
		{ VC_DTYPE_Q8_0, CACHE_SCALES_NONE, 570425344 },
		{ VC_DTYPE_Q4_0, CACHE_SCALES_NONE, 301989888 },
		/* 4 bits and 4 bytes per 64: 536,870,912 elements x 36 / 64 */
		{ VC_DTYPE_INT4, CACHE_SCALES_GROUP, 301989888 },
	};
	struct vc_model *model = fixture_model("llama-3.1-8b");

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct cache_format format = { .tokens = 8192,
			                       .dtype = rows[i].dtype,
			                       .scales = rows[i].scales };

		assert_u64(cache_of(model, format, (struct rank){ 0 }).kv_bytes, rows[i].bytes);
	}
	free(model);
}

/* Mistral-7B-v0.1: 2 x 32 x 8 x 128 x min(32768, 4096) x 2 */
static void windows_cap_the_cache(void **state)
{
	struct vc_model *model = fixture_model("mistral-7b-v0.1");
	struct cache_format format = { .tokens = 32768 };

	(void)state;
	assert_u64(cache_of(model, format, (struct rank){ 0 }).kv_bytes, 536870912);
	format.windows_ignored = true;
	assert_u64(cache_of(model, format, (struct rank){ 0 }).kv_bytes, 8ull * 536870912);
	format.windows_ignored = false;
	format.block = 16;
	format.batched_tokens = 8192;
	/* vLLM: cdiv(min(4095 + 8192, 32768), 16) + 1 = 769 pages of 16 x 4096 bytes, 32 layers */
	assert_u64(cache_of(model, format, (struct rank){ 0 }).kv_bytes, 32ull * 769 * 16 * 4096);
	free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dense_caches_by_hand),
		cmocka_unit_test(quantized_caches_by_hand),
		cmocka_unit_test(windows_cap_the_cache),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
