/*
 * The short cut for plain JSON against the long way round: a comment in front of the same text is
 * YAML, and leads through the guard and libcyaml.
 */
#include "test.h"

#include "spec.h"
#include "spec_json.h"

#define LLAMA                                                                                      \
	"{\"model_type\": \"llama\", \"hidden_size\": 4096, \"num_hidden_layers\": 32, "           \
	"\"num_attention_heads\": 32, \"intermediate_size\": 11008, \"vocab_size\": 32000, "       \
	"\"rms_norm_eps\": 1e-05, \"tie_word_embeddings\": false}"

static const char *const texts[] = {
	"{\"model\": {\"params\": \"7B\"}}",
	"{\"model\":{\"params\":7000000000,\"name\":\"a \xc3\x97 b\"},\"version\":1}",
	"{ \"model\" : { \"architecture\" : " LLAMA " } }",
	"{\"model\": {\"architecture\": " LLAMA ", \"params\": \"6_738_415_616\"},\n"
	" \"workload\": {\"task\": \"training\", \"precision\": \"bf16\", \"batch_size\": 8,\n"
	"  \"sequence_length\": \"2Ki\", \"quantization\": \"bnb-nf4\"},\n"
	" \"training\": {\"method\": \"qlora\", \"compile\": true, \"optimizer\": \"adamw-8bit\",\n"
	"  \"lora\": {\"rank\": 8, \"targets\": [\"q_proj\", \"v_proj\"], \"dora\": false}},\n"
	" \"parallelism\": {\"data\": 4, \"zero_stage\": 3, \"offload\": {\"optimizer\": "
	"\"cpu\"}},\n"
	" \"engine\": {\"name\": \"torchtune\", \"version\": \"0.5\", \"gpu_layers\": 10,\n"
	"  \"gpu_memory_utilization\": \"0.95\"},\n"
	" \"hardware\": {\"gpus\": [\"A100-80GB\", \"H100-80GB\"], \"max_gpus\": 4,\n"
	"  \"host_memory\": \"512GB\"},\n"
	" \"budget\": {\"price_per_hour\": \"2.5\", \"currency\": \"EUR\"}}\n",
};

static enum vc_status read(const char *prefix, const char *text, size_t length,
                           struct vc_spec_cache *cache, struct vc_spec *spec)
{
	struct vc_spec_options options = { .cache = cache };
	struct vc_error_list errors = { 0 };
	size_t begin = strlen(prefix);
	char *whole = malloc(begin + length + 1);
	struct vc_spec_text source = { .name = "t", .text = whole, .length = begin + length };
	enum vc_status status;

	assert_non_null(whole);
	memcpy(whole, prefix, begin);
	memcpy(whole + begin, text, length);
	status = vc_spec_read_memory(&source, &options, spec, &errors);
	free(whole);
	return status;
}

static void assert_equal_specs(const struct vc_spec *a, const struct vc_spec *b)
{
	struct vc_request x = a->request, y = b->request;

	x.model = y.model = NULL;
	assert_memory_equal(&x, &y, sizeof x);
	assert_memory_equal(a->model, b->model, sizeof *a->model);
	assert_memory_equal(a->given, b->given, sizeof a->given);
	assert_memory_equal(&a->budget, &b->budget, sizeof a->budget);
	assert_u64(a->hardware.gpu_count, b->hardware.gpu_count);
	for (uint32_t i = 0; i < a->hardware.gpu_count; i++) {
		assert_string_equal(a->hardware.gpus[i], b->hardware.gpus[i]);
	}
	assert_u64(a->hardware.max_gpus, b->hardware.max_gpus);
	assert_u64(a->hardware.host_memory_bytes, b->hardware.host_memory_bytes);
}

/* Whether the short cut takes the text. */
static bool is_taken(const char *text, size_t length)
{
	struct vc_spec spec = { .length = length };
	struct vc_spec_json json;
	bool taken;

	spec.text = malloc(length + 1);
	assert_non_null(spec.text);
	memcpy(spec.text, text, length);
	spec.text[length] = '\0';
	taken = vc_spec_json(&spec, NULL, &json);
	cJSON_Delete(json.architecture);
	free(json.text);
	vc_spec_free(&spec);
	return taken;
}

static void both_ways_read_the_same(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct vc_spec_cache cache = { 0 };
		struct vc_spec fast, slow;
		size_t length = strlen(texts[i]);

		if (!is_taken(texts[i], length)) {
			print_error("not taken: %s\n", texts[i]);
			fail();
		}
		assert_int_equal(read("#\n", texts[i], length, NULL, &slow), VC_OK);
		for (int pass = 0; pass < 3; pass++) {
			/* without a cache, with one that is empty, with one that knows the model */
			assert_int_equal(read("", texts[i], length, pass ? &cache : NULL, &fast),
			                 VC_OK);
			assert_equal_specs(&fast, &slow);
			vc_spec_free(&fast);
		}
		vc_spec_cache_free(&cache);
		vc_spec_free(&slow);
	}
}

static void what_needs_judgement_is_left_to_the_guard(void **state)
{
	static const char *const left[] = {
		"{\"model\": {\"params\": \"7B\", \"params\": \"7B\"}}",
		"{\"model\": {\"params\": \"7B\"}, \"model\": {\"name\": \"x\"}}",
		"{\"model\": {\"params\": \"7B\"}, \"workload\": {}, \"workload\": {}}",
		"{\"model\": {\"params\": \"7Q\"}}",
		"{\"model\": {\"params\": -1}}",
		"{\"model\": {\"params\": 010}}",
		"{\"model\": {\"params\": null}}",
		"{\"model\": {\"params\": \"\"}}",
		"{\"model\": {\"pramas\": \"7B\"}}",
		"{\"model\": {\"params\": \"7\\u0042\"}}",
		"{\"model\": {\"params\": \"7B\",}}",
		"{\"model\": {\"params\": \"7B\"}} x",
		"{\"model\": {\"architecture\": {}}}",
		"{\"model\": {\"architecture\": {\"hidden_size\": 1, \"hidden_size\": 1}}}",
		"{\"model\": {\"params\": \"7B\"}, \"workload\": {\"batch_size\": true}}",
		"{\"model\": {\"params\": \"7B\"}, \"training\": {\"compile\": 1}}",
		"{\"hidden_size\": 4096}",
		"[]",
		"{}",
		"{",
		"",
	};

	(void)state;
	for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
		assert_false(is_taken(left[i], strlen(left[i])));
	}
	assert_false(is_taken("{\"model\": {\"params\": \"7B\"}}\0", 29));
}

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* What the short cut takes of texts with a few wrong bytes, the long way reads alike. */
static void mutations_never_part_the_ways(void **state)
{
	static const char alphabet[] = "{}[]\",:0123456789.eE+-_ \\ntruefalsBKi\n\t";
	uint32_t seed = 1;
	size_t taken = 0;

	(void)state;
	for (int round = 0; round < 6000; round++) {
		const char *original = texts[next_random(&seed) % (sizeof texts / sizeof *texts)];
		size_t length = strlen(original);
		char *text = malloc(length + 1);
		struct vc_spec fast, slow;

		assert_non_null(text);
		memcpy(text, original, length + 1);
		for (uint32_t n = next_random(&seed) % 3; n < 3; n++) {
			text[next_random(&seed) % length] =
			        alphabet[next_random(&seed) % (sizeof alphabet - 1)];
		}
		if (is_taken(text, length)) {
			enum vc_status status = read("", text, length, NULL, &fast);

			taken++;
			if (read("#\n", text, length, NULL, &slow) != status) {
				print_error("the ways part at: %s\n", text);
				fail();
			}
			if (status == VC_OK) {
				assert_equal_specs(&fast, &slow);
				vc_spec_free(&fast);
				vc_spec_free(&slow);
			}
		}
		free(text);
	}
	assert_true(taken > 500);
}

static void a_cache_follows_the_stream(void **state)
{
	struct vc_spec_cache cache = { 0 };

	(void)state;
	for (size_t i = 0; i < 40; i++) {
		const char *text = texts[(i * i / 3) % (sizeof texts / sizeof *texts)];
		struct vc_spec with, without;

		assert_int_equal(read("", text, strlen(text), &cache, &with), VC_OK);
		assert_int_equal(read("", text, strlen(text), NULL, &without), VC_OK);
		assert_equal_specs(&with, &without);
		vc_spec_free(&with);
		vc_spec_free(&without);
	}
	vc_spec_cache_free(&cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_ways_read_the_same),
		cmocka_unit_test(what_needs_judgement_is_left_to_the_guard),
		cmocka_unit_test(mutations_never_part_the_ways),
		cmocka_unit_test(a_cache_follows_the_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
