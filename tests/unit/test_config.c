#include "fixture.h"

enum {
	MAX_ROWS = 400,
	LINE = 512
};

/* A row of data/param_counts.csv: config,parameters,includes,active,model,source */
struct row {
	char config[80];
	uint64_t parameters, active;
	char includes[24];
};

static struct row rows[MAX_ROWS];

static void published_count_is_met(void **state)
{
	const struct row *row = *state;
	struct vc_model *model = fixture_model(row->config);
	struct vc_counts counts;
	struct vc_error error;
	uint64_t total;

	assert_int_equal(vc_model_count(model, &counts, &error), VC_OK);
	assert_true(model->known_family);
	total = counts.total;
	if (strcmp(row->includes, "mtp") == 0) {
		total += counts.mtp;
	} else if (strcmp(row->includes, "stored_head") == 0) {
		total += model->vocab_size * model->stacks[0].hidden_size;
	}
	assert_u64(total, row->parameters);
	if (row->active) {
		assert_u64(counts.active, row->active);
	}
	free(model);
}

static size_t read_rows(struct CMUnitTest *tests)
{
	FILE *file = fopen(TESTS_DIR "/data/param_counts.csv", "r");
	char line[LINE];
	size_t count = 0;

	while (file && fgets(line, sizeof line, file) && count < MAX_ROWS) {
		struct row *row = &rows[count];
		char parameters[32], active[32];

		if (sscanf(line, "%79[^,],%31[0-9],%23[^,],%31[0-9]", row->config, parameters,
		           row->includes, active) < 3) {
			continue;
		}
		row->parameters = strtoull(parameters, NULL, 10);
		row->active = sscanf(line, "%*[^,],%*[^,],%*[^,],%31[0-9]", active) == 1
		                      ? strtoull(active, NULL, 10)
		                      : 0;
		tests[count++] = (struct CMUnitTest){ .name = row->config,
			                              .test_func = published_count_is_met,
			                              .initial_state = row };
	}
	if (file) {
		fclose(file);
	}
	return count;
}

/* ---- Bad configs: the key is named */

#define LLAMA                                                                                      \
	"\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 4, "             \
	"\"intermediate_size\": 128, \"vocab_size\": 100"

static const struct {
	const char *text, *field, *message;
} bad[] = {
	{ "{}", "model_type", "is missing" },
	{ "[]", "model_type", "not an object" },
	{ "{" LLAMA "}", "num_hidden_layers", "is missing" },
	{ "{" LLAMA ", \"num_hidden_layers\": \"32\"}", "num_hidden_layers", "a string" },
	{ "{" LLAMA ", \"num_hidden_layers\": -1}", "num_hidden_layers", "-1 is out of range" },
	{ "{" LLAMA ", \"num_hidden_layers\": 0}", "num_hidden_layers", "0 is out of range" },
	{ "{" LLAMA ", \"num_hidden_layers\": 1.5}", "num_hidden_layers", "1.5 is out of range" },
	{ "{" LLAMA ", \"num_hidden_layers\": 9223372036854775808}", "num_hidden_layers",
	  "too large" },
	{ "{" LLAMA ", \"num_hidden_layers\": 1000000}", "num_hidden_layers", "too many" },
	{ "{" LLAMA ", \"num_hidden_layers\": true}", "num_hidden_layers", "a boolean" },
	{ "{" LLAMA ", \"n_layer\": []}", "n_layer", "a list" },
	{ "{" LLAMA ", \"num_hidden_layers\": 2, \"layer_types\": [\"full_attention\"]}",
	  "layer_types", "has 1 entry (expected 2" },
	{ "{" LLAMA ", \"num_hidden_layers\": 2, \"num_key_value_heads\": 3}",
	  "num_key_value_heads", "does not divide" },
	{ "{" LLAMA ", \"num_hidden_layers\": 2, \"tie_word_embeddings\": \"yes\"}",
	  "tie_word_embeddings", "expected true or false" },
	{ "{" LLAMA ", \"num_hidden_layers\": 2, \"num_local_experts\": 8}", "num_experts_per_tok",
	  "is missing" },
	{ "{" LLAMA ", \"layer_types\": []}", "layer_types", "is empty" },
	{ "{\"model_type\": 7}", "model_type", "a number" },
};

static void bad_configs_name_the_key(void **state)
{
	struct vc_model *model = malloc(sizeof *model);

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct vc_error error;
		cJSON *tree = json_parse(bad[i].text, strlen(bad[i].text), &error);

		assert_non_null(tree);
		assert_int_equal(vc_config_to_model(tree, model, &error), VC_INVALID);
		assert_string_equal(error.field, bad[i].field);
		if (!strstr(error.message, bad[i].message)) {
			fail_msg("%s: \"%s\" is not in \"%s\"", bad[i].text, bad[i].message,
			         error.message);
		}
		cJSON_Delete(tree);
	}
	free(model);
}

static void unknown_family_is_read_by_its_keys(void **state)
{
	const char text[] = "{\"model_type\": \"unheard-of\", \"n_embd\": 64, \"n_layer\": 2, "
	                    "\"n_head\": 4, \"d_ff\": 128, \"vocab_size\": 100}";
	struct vc_model *model = malloc(sizeof *model);
	struct vc_counts counts;
	struct vc_error error;
	cJSON *tree = json_parse(text, strlen(text), &error);

	(void)state;
	assert_int_equal(vc_config_to_model(tree, model, &error), VC_OK);
	assert_false(model->known_family);
	assert_int_equal(vc_model_count(model, &counts, &error), VC_OK);
	/* tables 2 x 100 x 64; per layer 4 x 64 x 64 + 3 x 64 x 128 + 2 x 64; last norm 64 */
	assert_u64(counts.total, 12800 + 2 * (16384 + 24576 + 128) + 64);
	cJSON_Delete(tree);
	free(model);
}

/* A newer Qwen is read like Qwen3: norms of 2 x 16 on queries and keys, no biases. Tables 2 x 6400;
 * per layer 4 x 4096 + 3 x 64 x 128 + 128 + 32; last norm 64. */
static void newer_sibling_is_read_like_the_latest(void **state)
{
	const char text[] = "{\"model_type\": \"qwen9\", \"hidden_size\": 64, "
	                    "\"num_hidden_layers\": 2, \"num_attention_heads\": 4, "
	                    "\"intermediate_size\": 128, \"vocab_size\": 100}";
	struct vc_model *model = fixture_text("qwen9", text, strlen(text));
	struct vc_counts counts;
	struct vc_error error;

	(void)state;
	assert_false(model->known_family);
	assert_int_equal(vc_model_count(model, &counts, &error), VC_OK);
	assert_u64(counts.total, 12800 + 2 * (16384 + 24576 + 128 + 32) + 64);
	free(model);
}

/* ---- Families without a published count in the table */

static const struct {
	const char *text;
	uint64_t total;
} by_hand[] = {
	/* Tables 2 x 6400, last norm 64. Layer 0: two of four heads' keys, q and o 4096 each, k and
	 * v 2048 each, 3 x 64 x 256 (2 x 1.5 x 64 / 3 = 64, a whole 256), norms 128. Layer 1: the
	 * feed-forward part and its norm. Layer 2: 64 x 64 for attention, and its norm. */
	{ "{\"model_type\": \"nemotron-nas\", \"hidden_size\": 64, \"num_attention_heads\": 4, "
	  "\"num_hidden_layers\": 3, \"vocab_size\": 100, \"block_configs\": ["
	  "{\"attention\": {\"n_heads_in_group\": 2}, \"ffn\": {\"ffn_mult\": 1.5}}, "
	  "{\"attention\": {\"no_op\": true}, \"ffn\": {\"ffn_mult\": 1.5}}, "
	  "{\"attention\": {\"replace_with_linear\": true}, \"ffn\": {\"no_op\": true}}]}",
	  12864 + 12288 + 49152 + 128 + 49152 + 64 + 4096 + 64 },
	/* OpenELM, arXiv 2404.14619: tied table 6400, last norm 64. Layer 0: 2 + 2 x 1 heads of 16
	 * from 64 inputs and 32 x 64 out, 3 x 64 x 32, norms 128 and 2 x 16; layer 1: 4 + 2 x 2
	 * heads, 3 x 64 x 64. */
	{ "{\"model_type\": \"openelm\", \"model_dim\": 64, \"num_transformer_layers\": 2, "
	  "\"head_dim\": 16, \"num_query_heads\": [2, 4], \"num_kv_heads\": [1, 2], "
	  "\"ffn_multipliers\": [0.5, 1.0], \"ffn_dim_divisor\": 16, \"vocab_size\": 100, "
	  "\"normalize_qk_projections\": true}",
	  6464 + 4096 + 2048 + 6144 + 160 + 8192 + 4096 + 12288 + 160 },
};

static void irregular_families_by_hand(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof by_hand / sizeof by_hand[0]; i++) {
		struct vc_model *model =
		        fixture_text("by hand", by_hand[i].text, strlen(by_hand[i].text));
		struct vc_counts counts;
		struct vc_error error;

		assert_true(model->known_family);
		assert_int_equal(vc_model_count(model, &counts, &error), VC_OK);
		assert_u64(counts.total, by_hand[i].total);
		free(model);
	}
}

int main(void)
{
	static struct CMUnitTest tests[MAX_ROWS + 16] = {
		cmocka_unit_test(bad_configs_name_the_key),
		cmocka_unit_test(unknown_family_is_read_by_its_keys),
		cmocka_unit_test(irregular_families_by_hand),
		cmocka_unit_test(newer_sibling_is_read_like_the_latest),
	};
	size_t own = 4, count = read_rows(&tests[own]);

	if (count == 0) {
		fprintf(stderr, "param_counts.csv has no rows\n");
		return 1;
	}
	return _cmocka_run_group_tests("config", tests, own + count, NULL, NULL);
}
