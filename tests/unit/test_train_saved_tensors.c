/* What torch itself keeps for backward, in a table that tests/oracle/saved_tensors.py wrote. */
#include "fixture.h"
#include "train_activation.h"

enum {
	MAX_ROWS = 400,
	LINE = 512
};

struct row {
	char name[128], config[64];
	enum vc_attention attention;
	enum vc_training_method method;
	bool checkpointed;
	uint64_t targets, bytes;
};

static struct row rows[MAX_ROWS];

static struct vc_request request_for(const struct row *row, const struct vc_model *model)
{
	return (struct vc_request){
		.model = model,
		.workload = { .task = VC_TASK_TRAINING,
		              .precision = VC_DTYPE_BF16,
		              .batch_size = 2,
		              .sequence_length = 96,
		              .attn_implementation = row->attention },
		.training = { .method = row->method,
		              .gradient_checkpointing = row->checkpointed ? VC_CHECKPOINTING_FULL
		                                                          : VC_CHECKPOINTING_NONE,
		              .lora = { .rank = 16, .target_modules = row->targets } },
		.parallelism = { .data = 1, .tensor = 1, .pipeline = 1, .context = 1, .expert = 1 },
		.engine.name = VC_ENGINE_TRANSFORMERS,
	};
}

static void torch_keeps_as_much(void **state)
{
	const struct row *row = *state;
	struct vc_model *model = fixture_model(row->config);
	struct vc_request request = request_for(row, model);
	struct rank rank = { .tensor = 1, .pipeline = 1 };
	struct train_activation out;
	uint64_t layer;

	train_activation(&request, train_policy(VC_ENGINE_TRANSFORMERS), &rank, &out);
	layer = out.saved_bytes / model->stacks[0].layers;
	if (layer > row->bytes + row->bytes / 100 || layer < row->bytes - row->bytes / 100) {
		fail_msg("%" PRIu64 " bytes a layer, torch keeps %" PRIu64, layer, row->bytes);
	}
	free(model);
}

/* tests/data/saved_images.csv: convolutional nets, one image in fp32. */
static void torch_keeps_as_much_of_an_image(void **state)
{
	FILE *file = fopen(TESTS_DIR "/data/saved_images.csv", "r");
	char line[LINE], config[64];
	uint64_t bytes;
	int count = 0;

	(void)state;
	assert_non_null(file);
	while (fgets(line, sizeof line, file)) {
		struct rank rank = { .tensor = 1, .pipeline = 1 };
		struct train_activation one, two;
		struct vc_request request = { 0 };
		struct row row = { .method = VC_TRAINING_FULL };
		struct vc_model *model;

		if (sscanf(line, "%63[^,],%" SCNu64, config, &bytes) != 2) {
			continue; /* a heading */
		}
		model = fixture_model(config);
		request = request_for(&row, model);
		request.workload.precision = VC_DTYPE_FP32;
		request.workload.batch_size = 1;
		train_activation(&request, train_policy(VC_ENGINE_NONE), &rank, &one);
		if (one.saved_bytes > bytes + bytes / 100 ||
		    one.saved_bytes < bytes - bytes / 100) {
			fail_msg("%s: %" PRIu64 " bytes an image, torch keeps %" PRIu64, config,
			         one.saved_bytes, bytes);
		}
		request.workload.batch_size = 2;
		train_activation(&request, train_policy(VC_ENGINE_NONE), &rank, &two);
		assert_u64(two.saved_bytes, 2 * one.saved_bytes);
		free(model);
		count++;
	}
	(void)fclose(file);
	assert_int_equal(count, 8);
}

static uint64_t targets_of(const char *method)
{
	const uint64_t qv = 1ull << VC_MODULE_Q | 1ull << VC_MODULE_V;
	const uint64_t qkvo = qv | 1ull << VC_MODULE_K | 1ull << VC_MODULE_O;

	if (strcmp(method, "lora-qv") == 0) {
		return qv;
	}
	if (strcmp(method, "lora-qkvo") == 0) {
		return qkvo;
	}
	return qkvo | 1ull << VC_MODULE_GATE | 1ull << VC_MODULE_UP | 1ull << VC_MODULE_DOWN;
}

static size_t read_rows(struct CMUnitTest *tests)
{
	FILE *file = fopen(TESTS_DIR "/data/saved_tensors.csv", "r");
	char line[LINE], config[64], attention[16], method[16], why[LINE];
	size_t count = 0;

	while (file && fgets(line, sizeof line, file) && count < MAX_ROWS) {
		struct row *row = &rows[count];
		int fields = sscanf(line, "%63[^,],%15[^,],%15[^,],%" SCNu64 ",%511[^\n]", config,
		                    attention, method, &row->bytes, why);

		if (fields != 4 || line[0] == '#') {
			continue; /* a heading, or a row with a reason not to hold it */
		}
		row->attention =
		        strcmp(attention, "eager") == 0 ? VC_ATTENTION_EAGER : VC_ATTENTION_SDPA;
		row->checkpointed = strcmp(method, "checkpointed") == 0;
		row->method = row->checkpointed || strcmp(method, "full") == 0 ? VC_TRAINING_FULL
		                                                               : VC_TRAINING_LORA;
		row->targets = targets_of(method);
		memcpy(row->config, config, sizeof config);
		snprintf(row->name, sizeof row->name, "%s %s %s", config, attention, method);
		tests[count++] = (struct CMUnitTest){ .name = row->name,
			                              .test_func = torch_keeps_as_much,
			                              .initial_state = row };
	}
	if (file) {
		fclose(file);
	}
	return count;
}

int main(void)
{
	static struct CMUnitTest tests[MAX_ROWS + 1];
	size_t count = read_rows(tests);

	if (count < 180) {
		print_error("only %zu rows in saved_tensors.csv\n", count);
		return 1;
	}
	tests[count++] = (struct CMUnitTest)cmocka_unit_test(torch_keeps_as_much_of_an_image);
	return _cmocka_run_group_tests("saved_tensors", tests, count, NULL, NULL);
}
