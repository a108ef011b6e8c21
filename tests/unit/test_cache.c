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

/* Bytes of one token of one sequence in the layers that keep all tokens, and of one whole
 * sequence. Windows, latents, patterns: see the comment beside each row. */
static const struct {
	const char *config;
	uint64_t tokens, kv_bytes;
} patterns[] = {
	/* even layers slide: 2 x 8 x 256 x 2 x (21 x 8192 + 21 x 4096) */
	{ "gemma-2-9b", 8192, 2113929216 },
	/* every sixth layer is global: 2 x 16 x 128 x 2 x (10 x 32768 + 52 x 1024) */
	{ "gemma-3-27b-text", 32768, 3120562176 },
	/* 4 global, 22 local of 512: 2 x 256 x 2 x (4 x 32768 + 22 x 512), github.com/lablup/mlxcel
	 * issue 172 gives 139 MiB with its 256-token rounding */
	{ "gemma-3-1b", 32768, 145752064 },
	/* 2 x 8 x 64 x 2 x (12 x 131072 + 12 x 128) */
	{ "gpt-oss-20b", 131072, 3224371200 },
	/* every fourth layer is global: 2 x 8 x 128 x 2 x (8 x 32768 + 24 x 4096) */
	{ "command-r7b", 32768, 1476395008 },
	/* "LLLG", every fourth layer is global: 2 x 8 x 128 x 2 x (16 x 32768 + 48 x 4096) */
	{ "exaone-4.0-32b", 32768, 2952790016 },
	/* 61 x 576 x 2 and, of the indexer, 61 x 132 a token */
	{ "deepseek-v3.2", 32768, 32768ull * (70272 + 8052) },
	/* the same latent with half the heads: 70,272 a token, github.com/llm-d planner's case */
	{ "kimi-k2", 32768, 2302672896 },
	/* one layer in four: 2 x 12 x 2 x 256 x 2 x 32768, 0.750 GiB */
	{ "qwen3-coder-next", 32768, 805306368 },
	/* explicit head size: 2 x 94 x 4 x 128 x 2 a token, 4 ranks hold a quarter */
	{ "qwen3-235b-a22b", 1000, 192512000 },
	/* 2 x 4 x 8 x 128 x 2 x 32768 */
	{ "jamba-v0.1", 32768, 536870912 },
	/* 2 x 6 x 2 x 128 x 2 x 1000: six of 52 layers attend */
	{ "nemotron-3-nano-30b-a3b", 1000, 6144000 },
	/* 2 x 13 x 32 x 224 x 2 x 1000: each use of a shared block has a cache of its own */
	{ "zamba2-7b", 1000, 372736000 },
	/* no attention at all */
	{ "mamba-2.8b", 1000, 0 },
};

static void patterns_by_hand(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
		struct vc_model *model = fixture_model(patterns[i].config);
		struct cache_format format = { .tokens = patterns[i].tokens };

		print_message("%s\n", patterns[i].config);
		assert_u64(cache_of(model, format, (struct rank){ 0 }).kv_bytes,
		           patterns[i].kv_bytes);
		free(model);
	}
}

/* Of one sequence, constant in tokens. */
static void states_by_hand(void **state)
{
	static const struct {
		const char *config;
		bool whole_conv_window;
		uint64_t bytes;
	} rows[] = {
		/* 64 x (5120 x 3 + 5120 x 16) x 2; transformers keeps 4 columns */
		{ "mamba-2.8b", false, 12451840 },
		{ "mamba-2.8b", true, 13107200 },
		/* 24 x ((8192 + 2 x 8 x 128) x 3 + 128 x 64 x 128) x 2 */
		{ "nemotron-h-8b", false, 24ull * (10240 * 3 + 128 * 64 * 128) * 2 },
		/* fp32 states: 23 x ((4096 + 2048) x 3 x 2 + 64 x 64 x 128 x 4) */
		{ "nemotron-3-nano-30b-a3b", false, 23ull * (6144 * 6 + 64 * 64 * 128 * 4) },
		/* 36 x 1,097,728 */
		{ "qwen3-coder-next", false, 36ull * 1097728 },
		/* 28 x (8192 x 3 + 8192 x 16) x 2 */
		{ "jamba-v0.1", false, 545587200 - 536870912 },
		/* 10 x 2048 x 2 x 2 */
		{ "lfm2-1.2b", false, 81920 },
		{ "llama-2-7b", false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct vc_model *model = fixture_model(rows[i].config);
		struct cache_format format = { .tokens = 32768,
			                       .whole_conv_window = rows[i].whole_conv_window };

		print_message("%s\n", rows[i].config);
		assert_u64(cache_of(model, format, (struct rank){ 0 }).state_bytes, rows[i].bytes);
		free(model);
	}
}

/* DeepSeek's latent: absorbed is on every rank, expanded divides by heads, fp8_ds_mla is 656 bytes
 * a token and layer (512 fp8, 4 fp32 scales, 64 bf16). */
static void latents_by_hand(void **state)
{
	struct vc_model *model = fixture_model("kimi-k2");
	struct cache_format format = { .tokens = 1 };
	struct rank eight = { .tensor = 8 };

	(void)state;
	assert_u64(cache_of(model, format, (struct rank){ 0 }).token_bytes, 70272);
	assert_u64(cache_of(model, format, eight).kv_bytes, 70272);
	format.latent = LATENT_FP8_DS;
	assert_u64(cache_of(model, format, eight).kv_bytes, 40016);
	format.latent = LATENT_EXPANDED;
	/* 61 x 64 x (192 + 128) x 2 */
	assert_u64(cache_of(model, format, (struct rank){ 0 }).kv_bytes, 2498560);
	assert_u64(cache_of(model, format, eight).kv_bytes, 312320);
	free(model);
}

/* DeepSeek-V4: every layer keeps 128 tokens of 512 elements; beside them one entry per 4 tokens
 * with an indexer's key of 128 + 4 bytes, or one per 128 tokens. 1024 tokens: 2 x 128 x 1024,
 * 256 x (1024 + 132), 8 x 1024. */
static void compressed_pasts_by_hand(void **state)
{
	const char text[] =
	        "{\"model_type\": \"deepseek_v4\", \"hidden_size\": 64, \"num_hidden_layers\": 2, "
	        "\"num_attention_heads\": 4, \"num_key_value_heads\": 1, \"head_dim\": 512, "
	        "\"qk_rope_head_dim\": 64, \"q_lora_rank\": 32, \"o_lora_rank\": 16, "
	        "\"o_groups\": 2, \"index_n_heads\": 2, \"index_head_dim\": 128, "
	        "\"n_routed_experts\": 4, \"num_experts_per_tok\": 2, "
	        "\"moe_intermediate_size\": 32, \"sliding_window\": 128, \"vocab_size\": 100, "
	        "\"compress_ratios\": [4, 128]}";
	struct vc_model *model = fixture_text("deepseek_v4", text, strlen(text));
	struct cache_format format = { .tokens = 1024 };

	(void)state;
	assert_u64(cache_of(model, format, (struct rank){ 0 }).kv_bytes,
	           262144 + 256 * 1156 + 8192);
	free(model);
}

/* What one more token costs, as public reports of wrong estimates have it. */
static const struct {
	const char *report, *text;
	uint32_t tensor, kv_layers;
	uint64_t token_bytes;
} reports[] = {
	/* 16 of 64 layers attend: 16 x 2 x 4 x 256 x 2 */
	{ "lmstudio-ai/lmstudio-bug-tracker#1862, Qwen3.6-27B",
	  "{\"model_type\": \"qwen3_5_text\", \"hidden_size\": 5120, \"num_hidden_layers\": 64, "
	  "\"num_attention_heads\": 24, \"num_key_value_heads\": 4, \"head_dim\": 256, "
	  "\"intermediate_size\": 17408, \"vocab_size\": 248320, \"linear_num_key_heads\": 16, "
	  "\"linear_key_head_dim\": 128, \"linear_num_value_heads\": 48, "
	  "\"linear_value_head_dim\": 128, \"full_attention_interval\": 4}",
	  1, 16, 65536 },
	/* 8 of 32 layers attend */
	{ "AlexsJones/llmfit#951, a 9B of Qwen3.5's shape",
	  "{\"model_type\": \"qwen3_5_text\", \"hidden_size\": 4096, \"num_hidden_layers\": 32, "
	  "\"num_attention_heads\": 16, \"num_key_value_heads\": 4, \"head_dim\": 256, "
	  "\"intermediate_size\": 12288, \"vocab_size\": 248320, \"linear_num_key_heads\": 16, "
	  "\"linear_key_head_dim\": 128, \"linear_num_value_heads\": 32, "
	  "\"linear_value_head_dim\": 128}",
	  1, 8, 32768 },
	/* eight global layers of one head of 512, forty local ones of eight of 256 */
	{ "raullenchai/Rapid-MLX#1423, gemma-4-12b",
	  "{\"model_type\": \"gemma4_text\", \"hidden_size\": 3840, \"num_hidden_layers\": 48, "
	  "\"num_attention_heads\": 16, \"num_key_value_heads\": 8, \"head_dim\": 256, "
	  "\"global_head_dim\": 512, \"num_global_key_value_heads\": 1, "
	  "\"attention_k_eq_v\": true, \"intermediate_size\": 15360, \"sliding_window\": 1024, "
	  "\"hidden_size_per_layer_input\": 0, \"vocab_size\": 262144}",
	  1, 48, 16384 },
	/* the last 15 of 35 layers share; of the first 20 every fifth keeps all: 4 x 2 x 2 x 256 x
	 * 2 */
	{ "unslothai/unsloth#5225, gemma-3n-E4B",
	  "{\"model_type\": \"gemma3n_text\", \"hidden_size\": 2048, \"num_hidden_layers\": 35, "
	  "\"num_attention_heads\": 8, \"num_key_value_heads\": 2, \"head_dim\": 256, "
	  "\"intermediate_size\": 16384, \"sliding_window\": 512, "
	  "\"num_kv_shared_layers\": 15, \"vocab_size\": 262400}",
	  1, 20, 8192 },
	/* three of four layers are Kimi Delta Attention; here two of eight attend: 2 x 576 x 2 */
	{ "inference-sim/inference-sim#1635, Kimi-Linear's shape",
	  "{\"model_type\": \"kimi_linear\", \"hidden_size\": 2304, \"num_hidden_layers\": 8, "
	  "\"num_attention_heads\": 32, \"num_key_value_heads\": 32, "
	  "\"intermediate_size\": 9216, \"vocab_size\": 163840, \"kv_lora_rank\": 512, "
	  "\"qk_nope_head_dim\": 128, \"qk_rope_head_dim\": 64, \"v_head_dim\": 128, "
	  "\"linear_attn_config\": {\"full_attn_layers\": [4, 8], \"num_heads\": 32, "
	  "\"head_dim\": 128, \"short_conv_kernel_size\": 4}}",
	  1, 2, 2304 },
};

static void public_reports_are_met(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof reports / sizeof reports[0]; i++) {
		struct vc_model *model =
		        fixture_text(reports[i].report, reports[i].text, strlen(reports[i].text));
		struct cache cache = cache_of(model, (struct cache_format){ .tokens = 65536 },
		                              (struct rank){ .tensor = reports[i].tensor });

		print_message("%s\n", reports[i].report);
		assert_u64(cache.token_bytes, reports[i].token_bytes);
		assert_u64(cache.kv_layers, reports[i].kv_layers);
		free(model);
	}
}

/* vllm-project/vllm#21348: Qwen3-235B-A22B on four ranks, 94 x 2 x 1 x 128 x 2 a token. */
static void a_rank_keeps_its_own_heads(void **state)
{
	struct vc_model *model = fixture_model("qwen3-235b-a22b");
	struct rank four = { .tensor = 4 };

	(void)state;
	assert_u64(cache_of(model, (struct cache_format){ .tokens = 1 }, four).token_bytes, 48128);
	free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dense_caches_by_hand),
		cmocka_unit_test(quantized_caches_by_hand),
		cmocka_unit_test(windows_cap_the_cache),
		cmocka_unit_test(patterns_by_hand),
		cmocka_unit_test(states_by_hand),
		cmocka_unit_test(latents_by_hand),
		cmocka_unit_test(compressed_pasts_by_hand),
		cmocka_unit_test(public_reports_are_met),
		cmocka_unit_test(a_rank_keeps_its_own_heads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
