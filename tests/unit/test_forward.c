#include "serving_fixture.h"

#include "forward.h"

static struct vc_model model;

static struct forward_widths widths_of(const struct decoder *decoder, uint32_t tensor)
{
	struct vc_request request;

	serving_model(&model, decoder, "llama", 8192);
	request = serving_request(&model, VC_ENGINE_VLLM, &a100_80);
	request.parallelism.tensor = tensor;
	request.parallelism.expert = 1;
	return forward_widths(&request);
}

/* vLLM 0.8.5 on a V100: 4.35 GiB for 32,768 tokens of Qwen2.5-7B, of which 8.1 MiB are cuBLAS'. */
static void test_qwen_2_5_7b(void **state)
{
	static const struct forward_traits eager = { .hidden_copies = 4, .element_bytes = 2 };
	struct forward_widths widths = widths_of(&qwen_2_5_7b, 1);

	(void)state;
	assert_near(((double)forward_block_bytes(&widths, &eager, 32768) + 8519680) / GIB, 4.35,
	            0.2);
}

/* vLLM 0.6 on an RTX 3090: 2.07 GiB for 20,000 and 2.99 for 29,000 tokens of Llama-3.1-8B
 * (github.com/vllm-project/vllm/issues/10517). */
static void test_llama_3_8b(void **state)
{
	static const struct forward_traits freed = { .hidden_copies = 3, .element_bytes = 2 };
	struct forward_widths widths = widths_of(&llama_3_8b, 1);

	(void)state;
	assert_near(((double)forward_block_bytes(&widths, &freed, 20000) + 8519680) / GIB, 2.07,
	            0.5);
	assert_near(((double)forward_block_bytes(&widths, &freed, 29000) + 8519680) / GIB, 2.99,
	            0.5);
}

static void test_ranks_divide_widths(void **state)
{
	struct forward_widths widths = widths_of(&llama_3_8b, 4);

	(void)state;
	assert_u64(widths.ffn, 14336 / 4);
	assert_u64(widths.hidden, 4096);
	/* queries and output 4096 / 4 each, two key-value heads of 128, keys and values */
	assert_u64(widths.attention, 2048 + 2 * 2 * 128);
}

/* By hand: 100 tokens, 4 of 8 experts of 300, hidden 200. Chunks of 60: 100 x 3 x 200 beside
 * 60 x 4 x (max(600, 200) + 300), in 2 bytes. */
static void test_experts(void **state)
{
	struct forward_traits traits = { .hidden_copies = 2,
		                         .expert_chunk = 60,
		                         .element_bytes = 2 };
	struct forward_widths widths = {
		.hidden = 200, .expert = 300, .experts_per_token = 4, .gated = true
	};

	(void)state;
	assert_u64(forward_block_bytes(&widths, &traits, 100), 2 * (60000 + 60 * 4 * 900));
	traits.expert_caches_separate = true;
	assert_u64(forward_block_bytes(&widths, &traits, 100), 2 * (60000 + 60 * 4 * 1100));
	traits.expert_chunk = 0;
	assert_u64(forward_block_bytes(&widths, &traits, 100), 2 * (60000 + 100 * 4 * 1100));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_qwen_2_5_7b),
		cmocka_unit_test(test_llama_3_8b),
		cmocka_unit_test(test_ranks_divide_widths),
		cmocka_unit_test(test_experts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
