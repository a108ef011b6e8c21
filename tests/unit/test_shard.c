#include "shard.h"
#include "test.h"

/* vLLM, get_pp_indices: 80 over 3 are 26 each and two left over, for stages 1 and 0. */
static void left_over_layers_go_before_the_last_stage(void **state)
{
	static const struct {
		uint32_t layers, stages, sizes[8];
	} rows[] = {
		{ 32, 1, { 32 } },
		{ 32, 2, { 16, 16 } },
		{ 80, 3, { 27, 27, 26 } },
		{ 61, 4, { 15, 15, 16, 15 } },
		{ 62, 4, { 15, 16, 16, 15 } },
		{ 63, 4, { 16, 16, 16, 15 } },
		{ 3, 4, { 1, 1, 1, 0 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		uint32_t next = 0;

		for (uint32_t stage = 0; stage < rows[i].stages; stage++) {
			struct rank rank = { .pipeline = rows[i].stages, .stage = stage };
			struct layer_range range = rank_layers(&rank, rows[i].layers);

			assert_u64(range.begin, next);
			assert_u64(range.end - range.begin, rows[i].sizes[stage]);
			next = range.end;
		}
		assert_u64(next, rows[i].layers);
	}
}

/* Llama-3-70B's k_proj, 8 heads of 128: one head a rank from 8 ranks on. */
static void no_rank_has_less_than_one_kv_head(void **state)
{
	struct vc_tensor k = { VC_MODULE_K, VC_SPLIT_KV, 1024,           8192,
		               1024,        1,           .kv_out = 1024, .kv_heads = 8 };

	(void)state;
	assert_u64(shard_tensor(&k, &(struct rank){ .tensor = 4 }).out, 256);
	assert_u64(shard_tensor(&k, &(struct rank){ .tensor = 8 }).out, 128);
	assert_u64(shard_tensor(&k, &(struct rank){ .tensor = 16 }).out, 128);
	assert_u64(shard_tensor(&k, &(struct rank){ .tensor = 16 }).bias, 128);
}

static void fused_queries_divide_where_keys_do_not(void **state)
{
	/* Falcon-7B: 71 query heads, one key and one value head of 64 */
	struct vc_tensor qkv = { VC_MODULE_QKV, VC_SPLIT_KV,  73 * 64, 4544, 0, 1,
		                 .kv_out = 128, .kv_heads = 1 };

	(void)state;
	assert_u64(shard_tensor(&qkv, &(struct rank){ .tensor = 71 }).out, 64 + 128);
}

static void experts_go_whole_or_divide(void **state)
{
	struct vc_tensor up = { VC_MODULE_EXPERT_UP, VC_SPLIT_EXPERT_COLUMN, 2048, 7168,
		                .count = 256 };
	struct vc_tensor t;

	(void)state;
	t = shard_tensor(&up, &(struct rank){ .tensor = 8 });
	assert_u64(t.count, 256);
	assert_u64(t.out, 256);
	t = shard_tensor(&up, &(struct rank){ .tensor = 8, .expert = 8 });
	assert_u64(t.count, 32);
	assert_u64(t.out, 2048);
	t = shard_tensor(&up, &(struct rank){ .tensor = 8, .expert = 8, .expert_tensor = 2 });
	assert_u64(t.count, 32);
	assert_u64(t.out, 1024);
}

/* vLLM pads 49155 rows to 49216 */
static void vocabulary_is_padded_first(void **state)
{
	struct vc_tensor table = { VC_MODULE_EMBEDDING, VC_SPLIT_VOCAB, 49155, 1024, .count = 1 };

	(void)state;
	assert_u64(shard_tensor(&table, &(struct rank){ .vocab_multiple = 64 }).out, 49216);
	assert_u64(shard_tensor(&table, &(struct rank){ .tensor = 2, .vocab_multiple = 64 }).out,
	           24608);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(left_over_layers_go_before_the_last_stage),
		cmocka_unit_test(no_rank_has_less_than_one_kv_head),
		cmocka_unit_test(fused_queries_divide_where_keys_do_not),
		cmocka_unit_test(experts_go_whole_or_divide),
		cmocka_unit_test(vocabulary_is_padded_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
