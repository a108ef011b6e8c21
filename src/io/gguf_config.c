/*
 * Keys: github.com/ggml-org/llama.cpp, src/llama-arch.cpp and gguf-py/gguf/constants.py;
 * model types: huggingface/transformers. What a family derives from them is its own reader's.
 */
#include "gguf_config.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

/* llama.cpp's architectures whose model_type is another word. */
static const struct {
	const char *architecture, *model_type;
} architectures[] = {
	{ "llama4", "llama4_text" },
	{ "gptneox", "gpt_neox" },
	{ "starcoder", "gpt_bigcode" },
	{ "qwen2moe", "qwen2_moe" },
	{ "qwen2vl", "qwen2_vl_text" },
	{ "qwen3moe", "qwen3_moe" },
	{ "qwen3vl", "qwen3_vl_text" },
	{ "qwen3vlmoe", "qwen3_vl_moe_text" },
	{ "qwen3next", "qwen3_next" },
	{ "qwen35", "qwen3_5_text" },
	{ "qwen35moe", "qwen3_5_moe_text" },
	{ "phi2", "phi" },
	{ "gemma3", "gemma3_text" },
	{ "gemma3n", "gemma3n_text" },
	{ "gemma4", "gemma4_text" },
	{ "command-r", "cohere" },
	{ "deepseek2", "deepseek_v2" },
	{ "glm4moe", "glm4_moe" },
	{ "gpt-oss", "gpt_oss" },
	{ "granitehybrid", "granitemoehybrid" },
	{ "falcon-h1", "falcon_h1" },
	{ "ernie4_5-moe", "ernie4_5_moe" },
	{ "hunyuan-dense", "hunyuan_v1_dense" },
	{ "hunyuan-moe", "hunyuan_v1_moe" },
	{ "lfm2moe", "lfm2_moe" },
	{ "kimi-linear", "kimi_linear" },
	{ "minimax-m2", "minimax_m2" },
	{ "modern-bert", "modernbert" },
	{ "exaone-moe", "exaone_moe" },
	{ "mistral3", "ministral3" },
	{ "mimo2", "mimo_v2_flash" },
};

/* Numbers and lists that keep their meaning. */
static const struct {
	const char *from, *to;
} renamed[] = {
	{ "block_count", "num_hidden_layers" },
	{ "context_length", "max_position_embeddings" },
	{ "embedding_length", "hidden_size" },
	{ "feed_forward_length", "intermediate_size" },
	{ "attention.head_count", "num_attention_heads" },
	{ "attention.head_count_kv", "num_key_value_heads" },
	{ "attention.key_length", "head_dim" },
	{ "attention.sliding_window", "sliding_window" },
	{ "attention.kv_lora_rank", "kv_lora_rank" },
	{ "attention.q_lora_rank", "q_lora_rank" },
	{ "expert_count", "num_experts" },
	{ "expert_used_count", "num_experts_per_tok" },
	{ "expert_feed_forward_length", "moe_intermediate_size" },
	{ "expert_shared_feed_forward_length", "shared_expert_intermediate_size" },
	{ "expert_shared_count", "n_shared_experts" },
	{ "leading_dense_block_count", "first_k_dense_replace" },
	{ "interleave_moe_layer_step", "interleave_moe_layer_step" },
	{ "full_attention_interval", "full_attention_interval" },
	{ "nextn_predict_layers", "num_nextn_predict_layers" },
	{ "ssm.conv_kernel", "conv_kernel" },
	{ "ssm.state_size", "state_size" },
	{ "ssm.time_step_rank", "time_step_rank" },
	{ "ssm.group_count", "n_groups" },
	{ "shortconv.l_cache", "conv_L_cache" },
	{ "vocab_size", "vocab_size" },
};

struct translation {
	const struct vc_weight_file *file;
	const char *architecture;
	cJSON *config;
};

static const cJSON *find(const struct translation *t, const char *key)
{
	char name[192];

	(void)snprintf(name, sizeof name, "%.80s.%.80s", t->architecture, key);
	return cJSON_GetObjectItemCaseSensitive(t->file->metadata, name);
}

static double number(const struct translation *t, const char *key)
{
	const cJSON *item = find(t, key);

	return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

static bool is(const struct translation *t, const char *architecture)
{
	return strcmp(t->architecture, architecture) == 0;
}

static void put(struct translation *t, const char *key, cJSON *item)
{
	cJSON_DeleteItemFromObjectCaseSensitive(t->config, key);
	if (!cJSON_AddItemToObject(t->config, key, item)) {
		cJSON_Delete(item);
	}
}

static void put_number(struct translation *t, const char *key, double value)
{
	put(t, key, cJSON_CreateNumber(value));
}

static void put_flag(struct translation *t, const char *key, bool value)
{
	put(t, key, cJSON_CreateBool(value));
}

static void put_text(struct translation *t, const char *key, const char *value)
{
	put(t, key, cJSON_CreateString(value));
}

static void drop(struct translation *t, const char *key)
{
	cJSON_DeleteItemFromObjectCaseSensitive(t->config, key);
}

/* ---- Lists ------------------------------------------------------------------------------------
 */

static double largest(const cJSON *list)
{
	const cJSON *item;
	double value = 0;

	cJSON_ArrayForEach(item, list)
	{
		value = item->valuedouble > value ? item->valuedouble : value;
	}
	return value;
}

static bool holds(const cJSON *list, double value)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, list)
	{
		if (item->valuedouble == value) {
			return true;
		}
	}
	return false;
}

/* Whether all entries are the same, those of layers without the part (0) left out. */
static bool is_even(const cJSON *list)
{
	const cJSON *item;
	double most = largest(list);

	cJSON_ArrayForEach(item, list)
	{
		if (item->valuedouble != 0 && item->valuedouble != most) {
			return false;
		}
	}
	return true;
}

static void translate_keys(struct translation *t)
{
	for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++) {
		const cJSON *item = find(t, renamed[i].from);

		if (cJSON_IsNumber(item)) {
			put_number(t, renamed[i].to, item->valuedouble);
		} else if (cJSON_IsArray(item) && is_even(item)) {
			put_number(t, renamed[i].to, largest(item));
		} else if (cJSON_IsArray(item)) {
			put(t, renamed[i].to, cJSON_Duplicate(item, true));
		}
	}
}

/* ---- Kinds of layer ---------------------------------------------------------------------------
 */

/* What families call layers with keys and values, and those without. */
static const struct {
	const char *architecture, *attention, *other;
} kind_names[] = {
	{ "granitehybrid", "attention", "mamba" },
	{ "lfm2", "full_attention", "conv" },
	{ "lfm2moe", "full_attention", "conv" },
	{ "qwen3next", "full_attention", "linear_attention" },
	{ "qwen35", "full_attention", "linear_attention" },
	{ "qwen35moe", "full_attention", "linear_attention" },
};

static void put_kinds(struct translation *t, const cJSON *flags, const char *some,
                      const char *others)
{
	cJSON *list = cJSON_CreateArray();
	const cJSON *item;

	cJSON_ArrayForEach(item, flags)
	{
		bool on = cJSON_IsTrue(item) || (cJSON_IsNumber(item) && item->valuedouble != 0);

		(void)cJSON_AddItemToArray(list, cJSON_CreateString(on ? some : others));
	}
	put(t, "layer_types", list);
}

/* Nemotron-H's pattern: M for Mamba, * for attention, - for a feed-forward part alone. */
static void put_pattern(struct translation *t, const cJSON *kv_heads)
{
	const cJSON *sizes = find(t, "feed_forward_length");
	char pattern[VC_MAX_LAYERS + 1];
	int layers = cJSON_GetArraySize(kv_heads);

	if (layers > VC_MAX_LAYERS || cJSON_GetArraySize(sizes) != layers) {
		return;
	}
	for (int i = 0; i < layers; i++) {
		bool attends = cJSON_GetArrayItem(kv_heads, i)->valuedouble != 0;
		bool feeds = cJSON_GetArrayItem(sizes, i)->valuedouble != 0;

		pattern[i] = attends ? '*' : feeds ? '-' : 'M';
	}
	pattern[layers] = '\0';
	put_text(t, "hybrid_override_pattern", pattern);
}

/* Jamba and Zamba: every so many layers one attends. */
static void put_period(struct translation *t, const cJSON *kv_heads)
{
	int first = -1, second = -1, i = 0;
	const cJSON *item;

	cJSON_ArrayForEach(item, kv_heads)
	{
		if (item->valuedouble != 0 && first < 0) {
			first = i;
		} else if (item->valuedouble != 0 && second < 0) {
			second = i;
		}
		i++;
	}
	if (first >= 0) {
		put_number(t, "attn_layer_offset", first);
		put_number(t, "attn_layer_period", second > 0 ? second - first : i);
	}
}

static void translate_kinds(struct translation *t)
{
	const cJSON *kv_heads = find(t, "attention.head_count_kv");
	const cJSON *windows = find(t, "attention.sliding_window_pattern");

	if (cJSON_IsArray(windows)) {
		put_kinds(t, windows, "sliding_attention", "full_attention");
	} else if (cJSON_IsNumber(windows)) {
		put_number(t, "sliding_window_pattern", windows->valuedouble);
	}
	if (!cJSON_IsArray(kv_heads) || !holds(kv_heads, 0)) {
		return;
	}
	if (is(t, "nemotron_h") || is(t, "nemotron_h_moe")) {
		put_pattern(t, kv_heads);
	} else if (is(t, "jamba")) {
		put_period(t, kv_heads);
	}
	for (size_t i = 0; i < sizeof kind_names / sizeof *kind_names; i++) {
		if (is(t, kind_names[i].architecture)) {
			put_kinds(t, kv_heads, kind_names[i].attention, kind_names[i].other);
		}
	}
}

/* ---- What single families need ----------------------------------------------------------------
 */

/* Latent attention: a head's key is a part without position and a part with. */
static void translate_latent(struct translation *t)
{
	double rope = number(t, "rope.dimension_count");
	double key = number(t, "attention.key_length_mla");
	double value = number(t, "attention.value_length_mla");

	if (number(t, "attention.kv_lora_rank") == 0) {
		return;
	}
	put_number(t, "qk_rope_head_dim", rope);
	put_number(t, "qk_nope_head_dim",
	           (key != 0 ? key : number(t, "attention.key_length")) - rope);
	put_number(t, "v_head_dim", value != 0 ? value : number(t, "attention.value_length"));
	/* the compressed cache is one key and value head, which is no fact about the model */
	drop(t, "num_key_value_heads");
	drop(t, "head_dim");
	if (t->file->traits & VC_TRAIT_ROUTER_BIAS) {
		put_text(t, "model_type", "deepseek_v3");
	}
}

static void translate_state_space(struct translation *t)
{
	double inner = number(t, "ssm.inner_size"), heads = number(t, "ssm.time_step_rank");

	if (inner == 0) {
		return;
	}
	if (is(t, "mamba") || is(t, "mamba2")) {
		put_number(t, "intermediate_size", inner);
	}
	put_number(t, "mamba_d_inner", inner);
	if (is(t, "jamba")) {
		put_number(t, "mamba_d_state", number(t, "ssm.state_size"));
		put_number(t, "mamba_d_conv", number(t, "ssm.conv_kernel"));
		put_number(t, "mamba_dt_rank", heads);
		put_number(t, "mamba_expand", inner / number(t, "embedding_length"));
	} else if (!is(t, "mamba") && heads > 0) {
		put_number(t, "num_heads", heads);
		put_number(t, "mamba_num_heads", heads);
		put_number(t, "mamba_n_heads", heads);
		put_number(t, "mamba_d_state", number(t, "ssm.state_size"));
		put_number(t, "mamba_d_conv", number(t, "ssm.conv_kernel"));
		put_number(t, "mamba_n_groups", number(t, "ssm.group_count"));
		put_number(t, "mamba_d_head", inner / heads);
		if (is(t, "mamba2")) {
			put_number(t, "head_dim", inner / heads);
		} else {
			put_number(t, "mamba_head_dim", inner / heads);
		}
	}
}

/* Gated delta nets store their heads under the state-space keys. */
static void translate_delta(struct translation *t)
{
	double heads = number(t, "ssm.time_step_rank"), keys = number(t, "ssm.group_count");

	if (!is(t, "qwen3next") && !is(t, "qwen35") && !is(t, "qwen35moe")) {
		return;
	}
	put_number(t, "linear_num_value_heads", heads);
	put_number(t, "linear_num_key_heads", keys);
	put_number(t, "linear_key_head_dim", number(t, "ssm.state_size"));
	put_number(t, "linear_value_head_dim",
	           heads != 0 ? number(t, "ssm.inner_size") / heads : 0);
	put_number(t, "linear_conv_kernel_dim", number(t, "ssm.conv_kernel"));
}

static void translate_experts(struct translation *t)
{
	double layers = number(t, "block_count"), extra = number(t, "nextn_predict_layers");

	/* llama.cpp counts next-token layers among the blocks */
	if (extra > 0 && extra < layers) {
		put_number(t, "num_hidden_layers", layers - extra);
	}
	if (is(t, "llama") && number(t, "expert_count") > 0) {
		put_text(t, "model_type", "mixtral");
	}
	if (number(t, "expert_count") == 0) {
		drop(t, "num_experts");
	}
}

static void translate_traits(struct translation *t)
{
	unsigned traits = t->file->traits;
	double kv_heads = number(t, "attention.head_count_kv");

	put_flag(t, "attention_bias", traits & VC_TRAIT_QKV_BIAS && traits & VC_TRAIT_O_BIAS);
	put_flag(t, "mlp_bias", traits & VC_TRAIT_FFN_BIAS);
	if (is(t, "stablelm")) {
		put_flag(t, "use_qkv_bias", traits & VC_TRAIT_QKV_BIAS);
		put_flag(t, "qk_layernorm", traits & VC_TRAIT_QK_NORM);
	}
	if (is(t, "command-r")) {
		put_flag(t, "use_qk_norm", traits & VC_TRAIT_QK_NORM);
	}
	if (is(t, "falcon")) {
		put_flag(t, "new_decoder_architecture", traits & VC_TRAIT_SECOND_NORM);
		put_flag(t, "multi_query", kv_heads == 1);
		put_flag(t, "parallel_attn", true);
		put_flag(t, "bias", traits & VC_TRAIT_QKV_BIAS);
	}
	if (is(t, "starcoder")) {
		put_flag(t, "multi_query", kv_heads == 1);
	}
	/* Families whose class has no such key, or means something else by it. */
	if (is(t, "gpt-oss") || is(t, "glm4moe") || is(t, "gptneox")) {
		put_flag(t, "attention_bias", traits & VC_TRAIT_QKV_BIAS);
	}
}

static void translate_windows(struct translation *t)
{
	/* llama.cpp reads the key of these and attends to everything all the same. */
	if (is(t, "phi3") || is(t, "llama") || is(t, "qwen2") || is(t, "qwen3")) {
		drop(t, "sliding_window");
	}
	if (number(t, "attention.sliding_window") == 0) {
		drop(t, "sliding_window");
	}
	if (is(t, "gemma2") && !cJSON_GetObjectItemCaseSensitive(t->config, "sliding_window")) {
		put_number(t, "sliding_window", 4096);
	}
}

static void put_model_type(struct translation *t)
{
	char name[96];

	for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++) {
		if (is(t, architectures[i].architecture)) {
			put_text(t, "model_type", architectures[i].model_type);
			return;
		}
	}
	(void)snprintf(name, sizeof name, "%.90s", t->architecture);
	for (char *p = name; *p; p++) {
		*p = *p == '-' ? '_' : *p;
	}
	put_text(t, "model_type", name);
}

static void put_vocabulary(struct translation *t)
{
	const cJSON *tokens =
	        cJSON_GetObjectItemCaseSensitive(t->file->metadata, "tokenizer.ggml.tokens");

	if (t->file->vocab_rows > 0) {
		put_number(t, "vocab_size", (double)t->file->vocab_rows);
	} else if (cJSON_IsNumber(tokens) && number(t, "vocab_size") == 0) {
		put_number(t, "vocab_size", tokens->valuedouble);
	}
	put_flag(t, "tie_word_embeddings", !t->file->has_output);
}

cJSON *vc_gguf_config(const struct vc_weight_file *file)
{
	const cJSON *name =
	        cJSON_GetObjectItemCaseSensitive(file->metadata, "general.architecture");
	struct translation t = { .file = file };

	if (!cJSON_IsString(name)) {
		return NULL;
	}
	t.architecture = name->valuestring;
	t.config = cJSON_CreateObject();
	if (!t.config) {
		return NULL;
	}
	put_model_type(&t);
	translate_keys(&t);
	translate_kinds(&t);
	translate_latent(&t);
	translate_state_space(&t);
	translate_delta(&t);
	translate_experts(&t);
	translate_traits(&t);
	translate_windows(&t);
	put_vocabulary(&t);
	return t.config;
}

const char *vc_gguf_quantization(const struct vc_weight_file *file)
{
	/* general.file_type: llama.h's enum llama_ftype */
	static const char *const names[] = {
		[2] = "q4_0",    [3] = "q4_1",       [7] = "q8_0",     [8] = "q5_0",
		[9] = "q5_1",    [10] = "q2_k",      [11] = "q3_k_s",  [12] = "q3_k_m",
		[13] = "q3_k_l", [14] = "q4_k_s",    [15] = "q4_k_m",  [16] = "q5_k_s",
		[17] = "q5_k_m", [18] = "q6_k",      [19] = "iq2_xxs", [20] = "iq2_xs",
		[21] = "q2_k_s", [22] = "iq3_xs",    [23] = "iq3_xxs", [24] = "iq1_s",
		[25] = "iq4_nl", [26] = "iq3_s",     [27] = "iq3_m",   [28] = "iq2_s",
		[29] = "iq2_m",  [30] = "iq4_xs",    [31] = "iq1_m",   [36] = "tq1_0",
		[37] = "tq2_0",  [38] = "mxfp4_moe", [39] = "nvfp4",
	};
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(file->metadata, "general.file_type");
	/* 1024: guessed by the converter */
	double type = cJSON_IsNumber(item) ? item->valuedouble : 0;

	type -= type >= 1024 ? 1024 : 0;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (type == (double)i) {
			return names[i];
		}
	}
	return NULL;
}
