/* config.json: any bytes give a model that can be counted and estimated, or an error that says
 * where and why. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool condition)
{
	if (!condition) {
		abort();
	}
}

/* A card of no make, so that every engine of the detailed method has something to fill. */
static const struct vc_gpu gpu = {
	.id = "fuzz",
	.name = "fuzz",
	.family = "fuzz",
	.vendor = VC_VENDOR_NVIDIA,
	.architecture = "Ampere",
	.compute_capability = 80,
	.memory_bytes = 80000000000,
	.driver_bytes = 85899345920,
	.supports_bf16 = true,
};

static void estimate(const struct vc_model *model, enum vc_method method, enum vc_task task,
                     enum vc_engine engine)
{
	static struct vc_ledger ledger;
	struct vc_request request = { .model = model,
		                      .method = method,
		                      .workload.task = task,
		                      .engine.name = engine,
		                      .gpu = &gpu };
	struct vc_error error = { .status = VC_OK };
	enum vc_status status = vc_estimate(&request, &ledger, &error);

	need(status == VC_OK || error.message[0] != '\0');
	need(status != VC_OK || ledger.total_bytes <= INT64_MAX);
}

static void use(const struct vc_model *model)
{
	struct vc_error error = { .status = VC_OK };
	struct vc_counts counts;

	need(model->stack_count <= VC_MAX_STACKS && model->kind_count <= VC_MAX_KINDS);
	need(model->extra_count <= VC_MAX_EXTRAS);
	if (vc_model_count(model, &counts, &error) == VC_OK) {
		need(counts.active <= counts.total && counts.total <= INT64_MAX);
	} else {
		need(error.status == VC_OVERFLOW);
	}
	estimate(model, VC_METHOD_RULE, VC_TASK_INFERENCE, VC_ENGINE_NONE);
	for (int i = VC_ENGINE_NONE; i < VC_ENGINE_COUNT; i++) {
		estimate(model, VC_METHOD_DETAILED, VC_TASK_INFERENCE, (enum vc_engine)i);
		estimate(model, VC_METHOD_DETAILED, VC_TASK_TRAINING, (enum vc_engine)i);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct vc_model model;
	struct vc_error error = { .status = VC_OK };
	uint32_t line, column;
	char *text = malloc(size + 1);
	cJSON *tree;

	if (!text) {
		return 0;
	}
	memcpy(text, data, size);
	text[size] = '\0';
	tree = json_parse(text, size, &error);
	if (!tree) {
		need(error.status == VC_INVALID && error.message[0] != '\0' && error.line > 0);
	} else if (vc_config_to_model(tree, &model, &error) == VC_OK) {
		use(&model);
	} else {
		need(error.status == VC_INVALID && error.message[0] != '\0' && error.field[0]);
		json_locate(text, error.field, &line, &column);
	}
	cJSON_Delete(tree);
	free(text);
	return 0;
}
