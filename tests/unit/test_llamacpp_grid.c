/*
 * What llama.cpp itself would allocate against the detailed method, through config.json: caches to
 * the byte; compute buffers in the order of the graph to the byte but for a few KiB of inputs
 * (data/llamacpp_plain_grid.csv), those whose nodes Vulkan reorders within bounds
 * (data/llamacpp_grid.csv).
 */
#include "fixture.h"
#include "vramcalc/vramcalc.h"

#include <math.h>

enum {
	MOST_POINTS = 600
};

struct point {
	char config[64], cache[16];
	uint64_t context, ubatch, results, flash, kv_bytes, compute_bytes;
	uint64_t said_kv_bytes, said_compute_bytes;
};

struct grid {
	struct point points[MOST_POINTS];
	size_t count;
};

static struct grid reordered, plain;

static uint64_t next_number(char **at)
{
	uint64_t value = strtoull(*at, at, 10);

	*at += **at == ',';
	return value;
}

static bool next_word(char **at, char *word, size_t size)
{
	char *comma = strchr(*at, ',');
	size_t length = comma ? (size_t)(comma - *at) : size;

	if (length >= size) {
		return false;
	}
	memcpy(word, *at, length);
	word[length] = '\0';
	*at = comma + 1;
	return true;
}

static bool read_point(char *line, struct point *point)
{
	char *at = line;

	if (line[0] == '#' || !next_word(&at, point->config, sizeof point->config)) {
		return false;
	}
	point->context = next_number(&at);
	point->ubatch = next_number(&at);
	point->results = next_number(&at);
	point->flash = next_number(&at);
	if (!next_word(&at, point->cache, sizeof point->cache)) {
		return false;
	}
	point->kv_bytes = next_number(&at);
	point->compute_bytes = next_number(&at);
	return true;
}

static void estimate(const struct vc_model *model, struct point *point)
{
	static const struct vc_gpu gpu = { .id = "any", .vendor = VC_VENDOR_NVIDIA };
	static struct vc_ledger ledger;
	struct vc_request request = { .model = model, .method = VC_METHOD_DETAILED, .gpu = &gpu };
	struct vc_error error = { .message = "" };

	request.workload.precision = VC_DTYPE_FP16;
	request.workload.quantization = vc_quantization_by_name("q4_k_m");
	request.workload.sequence_length = point->context;
	request.workload.attn_implementation =
	        point->flash ? VC_ATTENTION_FLASH : VC_ATTENTION_EAGER;
	request.workload.kv_cache_precision =
	        strcmp(point->cache, "q8_0") == 0 ? VC_DTYPE_Q8_0 : VC_DTYPE_FP16;
	request.engine.name = VC_ENGINE_LLAMACPP;
	request.engine.ubatch_size = point->ubatch;
	if (point->results == 1) { /* as llama-server asks, where a build is named */
		request.engine.version = (struct vc_version){ 9999, 0, 0 };
	}
	if (vc_estimate(&request, &ledger, &error) != VC_OK) {
		fail_msg("%s: %s", error.field, error.message);
	}
	point->said_kv_bytes = vc_ledger_component(&ledger, VC_COMPONENT_KV_CACHE) +
	                       vc_ledger_component(&ledger, VC_COMPONENT_RECURRENT_STATE);
	point->said_compute_bytes = vc_ledger_component(&ledger, VC_COMPONENT_ACTIVATIONS) +
	                            vc_ledger_component(&ledger, VC_COMPONENT_LOGITS);
}

static bool read_and_estimate(const char *path, struct grid *grid)
{
	FILE *file = fopen(path, "r");
	struct vc_model *model = NULL;
	char line[200], of[64] = "";

	if (!file) {
		return false;
	}
	while (grid->count < MOST_POINTS && fgets(line, sizeof line, file)) {
		struct point *point = &grid->points[grid->count];

		if (!read_point(line, point)) {
			continue;
		}
		if (strcmp(point->config, of) != 0) {
			free(model);
			model = fixture_model(point->config);
			memcpy(of, point->config, sizeof of);
		}
		estimate(model, point);
		grid->count++;
	}
	free(model);
	return fclose(file) == 0;
}

static int read_both(void **state)
{
	(void)state;
	return read_and_estimate(TESTS_DIR "/data/llamacpp_grid.csv", &reordered) &&
	                       read_and_estimate(TESTS_DIR "/data/llamacpp_plain_grid.csv", &plain)
	               ? 0
	               : -1;
}

static void check_caches(const struct grid *grid)
{
	for (size_t i = 0; i < grid->count; i++) {
		const struct point *point = &grid->points[i];

		if (point->said_kv_bytes != point->kv_bytes) {
			fail_msg("%s, %llu tokens: %llu, expected %llu", point->config,
			         (unsigned long long)point->context,
			         (unsigned long long)point->said_kv_bytes,
			         (unsigned long long)point->kv_bytes);
		}
	}
}

static void test_caches_are_exact(void **state)
{
	(void)state;
	assert_int_equal(reordered.count, 92);
	assert_int_equal(plain.count, 463);
	check_caches(&reordered);
	check_caches(&plain);
}

static void test_plain_compute_buffers_are_exact(void **state)
{
	(void)state;
	for (size_t i = 0; i < plain.count; i++) {
		const struct point *point = &plain.points[i];
		double error = (double)point->said_compute_bytes / (double)point->compute_bytes - 1;

		if (fabs(error) > 0.001) {
			fail_msg("%s, %llu tokens, batches of %llu, %llu results: %+.2f %%",
			         point->config, (unsigned long long)point->context,
			         (unsigned long long)point->ubatch,
			         (unsigned long long)point->results, 100 * error);
		}
	}
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void test_reordered_compute_buffers_are_near(void **state)
{
	double errors[MOST_POINTS];
	size_t count = reordered.count;

	(void)state;
	for (size_t i = 0; i < count; i++) {
		errors[i] = fabs((double)reordered.points[i].said_compute_bytes /
		                         (double)reordered.points[i].compute_bytes -
		                 1);
	}
	qsort(errors, count, sizeof errors[0], by_size);
	print_message("compute buffers: median %.2f %%, 90 %% within %.1f %%, worst %.1f %%\n",
	              100 * errors[count / 2], 100 * errors[count * 9 / 10],
	              100 * errors[count - 1]);
	assert_true(errors[count / 2] < 0.005);
	assert_true(errors[count * 9 / 10] < 0.10);
	assert_true(errors[count - 1] < 0.12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_caches_are_exact),
		cmocka_unit_test(test_plain_compute_buffers_are_exact),
		cmocka_unit_test(test_reordered_compute_buffers_are_near),
	};

	return cmocka_run_group_tests(tests, read_both, NULL);
}
