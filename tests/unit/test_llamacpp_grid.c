/*
 * data/llamacpp_grid.csv against the detailed method, through config.json: caches to the byte;
 * compute buffers, whose nodes Vulkan reorders, within bounds.
 */
#include "fixture.h"
#include "vramcalc/vramcalc.h"

#include <math.h>

enum {
	MOST_POINTS = 200
};

struct point {
	char config[64], cache[16];
	uint64_t context, ubatch, flash, kv_bytes, compute_bytes;
};

static struct point points[MOST_POINTS];
static size_t point_count;
static struct vc_ledger ledgers[MOST_POINTS];

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
	point->flash = next_number(&at);
	if (!next_word(&at, point->cache, sizeof point->cache)) {
		return false;
	}
	point->kv_bytes = next_number(&at);
	point->compute_bytes = next_number(&at);
	return true;
}

static void estimate(const struct vc_model *model, const struct point *point,
                     struct vc_ledger *ledger)
{
	static const struct vc_gpu gpu = { .id = "any", .vendor = VC_VENDOR_NVIDIA };
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
	if (vc_estimate(&request, ledger, &error) != VC_OK) {
		fail_msg("%s: %s", error.field, error.message);
	}
}

static int read_and_estimate(void **state)
{
	FILE *file = fopen(TESTS_DIR "/data/llamacpp_grid.csv", "r");
	struct vc_model *model = NULL;
	char line[200], of[64] = "";

	(void)state;
	if (!file) {
		return -1;
	}
	while (point_count < MOST_POINTS && fgets(line, sizeof line, file)) {
		struct point *point = &points[point_count];

		if (!read_point(line, point)) {
			continue;
		}
		if (strcmp(point->config, of) != 0) {
			free(model);
			model = fixture_model(point->config);
			memcpy(of, point->config, sizeof of);
		}
		estimate(model, point, &ledgers[point_count++]);
	}
	free(model);
	return fclose(file);
}

static void test_caches_are_exact(void **state)
{
	(void)state;
	assert_int_equal(point_count, 92);
	for (size_t i = 0; i < point_count; i++) {
		assert_u64(vc_ledger_component(&ledgers[i], VC_COMPONENT_KV_CACHE) +
		                   vc_ledger_component(&ledgers[i], VC_COMPONENT_RECURRENT_STATE),
		           points[i].kv_bytes);
	}
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void test_compute_buffers_are_near(void **state)
{
	double errors[MOST_POINTS];

	(void)state;
	for (size_t i = 0; i < point_count; i++) {
		uint64_t bytes = vc_ledger_component(&ledgers[i], VC_COMPONENT_ACTIVATIONS) +
		                 vc_ledger_component(&ledgers[i], VC_COMPONENT_LOGITS);

		errors[i] = fabs((double)bytes / (double)points[i].compute_bytes - 1);
	}
	qsort(errors, point_count, sizeof errors[0], by_size);
	print_message("compute buffers: median %.2f %%, 90 %% within %.1f %%, worst %.1f %%\n",
	              100 * errors[point_count / 2], 100 * errors[point_count * 9 / 10],
	              100 * errors[point_count - 1]);
	assert_true(errors[point_count / 2] < 0.005);
	assert_true(errors[point_count * 9 / 10] < 0.10);
	assert_true(errors[point_count - 1] < 0.12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_caches_are_exact),
		cmocka_unit_test(test_compute_buffers_are_near),
	};

	return cmocka_run_group_tests(tests, read_and_estimate, NULL);
}
