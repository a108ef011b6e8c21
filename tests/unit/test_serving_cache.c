#include "serving_fixture.h"

#include "serving_cache.h"

static struct vc_model model;

static void cache_of(struct serving_cache *cache, const struct cache_traits *traits,
                     uint32_t tensor)
{
	struct vc_request request = serving_request(&model, VC_ENGINE_VLLM, &a100_80);
	struct vc_error error;

	request.parallelism.tensor = tensor;
	assert_int_equal(vc_request_resolve(&request, &error), VC_OK);
	serving_cache_init(cache, &request, (struct layer_range){ 0, model.stacks[0].layers },
	                   traits);
}

/* 131,072 bytes a token; 58,192 tokens are 3,637 blocks of 16. */
static void test_uniform(void **state)
{
	static const struct cache_traits traits = { .block_tokens = 16, .latent_multiple = 1 };
	struct serving_cache cache;

	(void)state;
	serving_model(&model, &llama_3_8b, "llama", 8192);
	cache_of(&cache, &traits, 1);
	assert_u64(cache.token_bytes, 131072);
	assert_u64(serving_cache_tokens(&cache, 131072ull * 16 * 3637 + 131072, 4096), 58192);
	assert_u64(serving_cache_bytes(&cache, 17, 2), 2ull * 32 * 131072);
	assert_u64(serving_cache_concurrency_milli(&cache, 131072ull * 4096 * 3, 4096), 3000);
	/* eight heads over sixteen ranks: one each */
	cache_of(&cache, &traits, 16);
	assert_u64(cache.token_bytes, 131072 / 8);
}

/* gpt-oss-20b: 12 full and 12 sliding layers of 8 heads x 64. 32 requests of 8,192 tokens with
 * steps of 8,192 take 12.00 GiB (github.com/alvarobartt/hf-mem/issues/70); without windows of their
 * own 24 layers would take as much, one request of 131,072 half of it. */
static void test_sliding_groups(void **state)
{
	static const struct decoder gpt_oss_20b = { 2880, 24, 64, 8, 2880, 201088 };
	static const struct cache_traits traits = { .block_tokens = 16,
		                                    .hybrid = true,
		                                    .latent_multiple = 1,
		                                    .max_num_batched_tokens = 8192 };
	struct serving_cache cache;

	(void)state;
	serving_model(&model, &gpt_oss_20b, "gpt_oss", 131072);
	model.kinds[0].mixers[0].head_dim = 64;
	model.kinds[1] = model.kinds[0];
	model.kinds[1].mixers[0].window = 128;
	model.kind_count = 2;
	for (uint32_t i = 0; i < 24; i += 2) {
		model.stacks[0].pattern[i] = 1;
	}
	cache_of(&cache, &traits, 1);
	assert_u64(cache.group_layers, 12);
	/* by hand: 512 blocks and 513, of 12 layers x 16 tokens x 2,048 bytes */
	assert_u64(serving_cache_bytes(&cache, 8192, 32), 32ull * 1025 * 12 * 16 * 2048);
	assert_near((double)serving_cache_bytes(&cache, 8192, 32) / GIB, 12.00, 0.2);
	assert_near((double)serving_cache_bytes(&cache, 131072, 1) / GIB, 3.10, 3.0);
}

/* Every layer with other heads, as pruned and searched models have: 1 + 2 + ... + 12 of them, each
 * of 128 x 2 x 2 bytes a token. */
static void test_layers_all_differ(void **state)
{
	static const struct decoder searched = { 2048, 12, 24, 1, 8192, 32000 };
	static const struct cache_traits traits = { .block_tokens = 16, .latent_multiple = 1 };
	struct serving_cache cache;

	(void)state;
	serving_model(&model, &searched, "decilm", 8192);
	model.kinds[0].mixers[0].head_dim = 128;
	for (uint32_t i = 0; i < 12; i++) {
		model.kinds[i] = model.kinds[0];
		model.kinds[i].mixers[0].kv_heads = i + 1;
		model.stacks[0].pattern[i] = (uint8_t)i;
	}
	model.kind_count = 12;
	cache_of(&cache, &traits, 1);
	assert_u64(cache.spec_count, 12);
	assert_u64(cache.token_bytes, 78ull * 128 * 2 * 2);
	assert_u64(serving_cache_bytes(&cache, 16, 1), 16ull * 78 * 128 * 2 * 2);
}

/* DeepSeek-V3: 61 layers of 512 + 64 elements, 70,272 bytes a token in 16 bits, not divided over
 * ranks; 78,080 where entries are padded to 640 (vLLM 0.7.3 logged 78,083). */
static void test_latent(void **state)
{
	static const struct decoder deepseek_v3 = { 7168, 61, 128, 128, 18432, 129280 };
	struct cache_traits traits = { .block_tokens = 16, .latent_multiple = 1 };
	struct vc_mixer *mixer = &model.kinds[0].mixers[0];
	struct serving_cache cache;

	(void)state;
	serving_model(&model, &deepseek_v3, "deepseek_v3", 163840);
	mixer->type = VC_MIXER_LATENT;
	mixer->kv_lora_rank = 512;
	mixer->qk_rope_head_dim = 64;
	mixer->qk_nope_head_dim = 128;
	mixer->v_head_dim = 128;
	cache_of(&cache, &traits, 8);
	assert_u64(cache.token_bytes, 70272);
	traits.latent_multiple = 128;
	cache_of(&cache, &traits, 8);
	assert_u64(cache.token_bytes, 78080);
	traits.latent_expanded = true;
	cache_of(&cache, &traits, 8);
	/* by hand: 61 layers x 2 x 16 heads x 256 x 2 bytes */
	assert_u64(cache.token_bytes, 61ull * 2 * 16 * 256 * 2);
}

/* Qwen3-Next: blocks of attention grow until one holds a state; 3 of 4 layers are linear. */
static void test_states_share_pages(void **state)
{
	static const struct decoder decoder = { 2048, 48, 16, 2, 5120, 151936 };
	static const struct cache_traits traits = { .block_tokens = 16,
		                                    .hybrid = true,
		                                    .latent_multiple = 1,
		                                    .max_num_batched_tokens = 8192 };
	struct vc_mixer *linear = &model.kinds[1].mixers[0];
	struct serving_cache cache;

	(void)state;
	serving_model(&model, &decoder, "qwen3_next", 262144);
	model.kinds[0].mixers[0].head_dim = 256;
	model.kinds[1] = model.kinds[0];
	model.kind_count = 2;
	*linear = (struct vc_mixer){ .type = VC_MIXER_GATED_DELTANET,
		                     .key_heads = 16,
		                     .key_head_dim = 128,
		                     .value_heads = 32,
		                     .value_head_dim = 128,
		                     .conv_kernel = 4 };
	for (uint32_t i = 0; i < 48; i++) {
		model.stacks[0].pattern[i] = i % 4 != 3;
	}
	cache_of(&cache, &traits, 1);
	/* a state of 1,097,728 bytes in blocks of 2,048-byte tokens: 536, in sixteens 544, as vLLM
	 * logs ("Setting attention block size to 544 tokens") */
	assert_u64(cache.page_tokens, 544);
	assert_u64(cache.group_layers, 12);
	/* one group of 12 attention layers, three of states */
	assert_u64(serving_cache_bytes(&cache, 5440, 1), (10ull + 3) * 12 * 544 * 2048);
}

/* whisper-tiny: four decoder layers of 6 heads x 64, each with keys and values of its own tokens
 * and of the encoder's 1,500: 2 x 6 x 64 x 2 = 1,536 bytes a token and layer of either kind. */
static void test_cross_attention(void **state)
{
	static const struct decoder tiny = { 384, 4, 6, 6, 1536, 51865 };
	struct cache_traits traits = { .block_tokens = 1, .latent_multiple = 1 };
	struct serving_cache cache;

	(void)state;
	serving_model(&model, &tiny, "whisper", 448);
	model.kinds[0].mixers[1] = model.kinds[0].mixers[0];
	model.kinds[0].mixers[1].type = VC_MIXER_CROSS_ATTENTION;
	model.kinds[0].mixers[1].causal = false;
	model.kinds[0].mixer_count = 2;
	model.stacks[0].role = VC_STACK_DECODER;
	model.stacks[1] = (struct vc_stack){ .role = VC_STACK_ENCODER, .fixed_tokens = 1500 };
	model.stack_count = 2;
	cache_of(&cache, &traits, 1);
	assert_u64(serving_cache_bytes(&cache, 448, 1), (448 + 1500) * 4 * 1536);
	assert_u64(serving_cache_bytes(&cache, 448, 3), 3 * (448 + 1500) * 4 * 1536);
	assert_u64(serving_cache_tokens(&cache, 2 * 11968512 + 1, 448), 2 * 448);
	/* groups of the two kinds, blocks of 16 tokens: 28 of the sequence, 94 of the encoder */
	traits.hybrid = true;
	traits.block_tokens = 16;
	cache_of(&cache, &traits, 1);
	assert_u64(serving_cache_bytes(&cache, 448, 1), (28 + 94) * 16 * 4 * 1536);
	/* one block table: the encoder's tokens take slots of all eight caches */
	traits = (struct cache_traits){ .block_tokens = 1,
		                        .latent_multiple = 1,
		                        .encoder = ENCODER_IN_POOL };
	cache_of(&cache, &traits, 1);
	assert_u64(serving_cache_bytes(&cache, 448, 1), (448 + 1500) * 8 * 1536);
	assert_u64(serving_cache_tokens(&cache, 8 * 1536 * 5000, 448), 5000);
	/* slots of all eight caches for the sequence, none for the encoder */
	traits.encoder = ENCODER_OUTSIDE;
	cache_of(&cache, &traits, 1);
	assert_u64(cache.encoder_tokens, 1500);
	assert_u64(serving_cache_bytes(&cache, 448, 1), 448 * 8 * 1536);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_uniform),         cmocka_unit_test(test_sliding_groups),
		cmocka_unit_test(test_latent),          cmocka_unit_test(test_states_share_pages),
		cmocka_unit_test(test_cross_attention), cmocka_unit_test(test_layers_all_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
