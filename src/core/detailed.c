/* The detailed method: which estimator answers for a task and an engine. */
#include "detailed.h"

#include "calibration.h"
#include "estimate.h"
#include "ledger.h"
#include "sat.h"
#include "text.h"
#include "version.h"

/* NULL: the engine does not do this task, or is not modelled. */
static detailed_estimator *const estimators[2][VC_ENGINE_COUNT] = {
	[VC_TASK_INFERENCE] = {
	        [VC_ENGINE_NONE] = vc_estimate_plain,
	        [VC_ENGINE_VLLM] = vc_estimate_vllm,
	        [VC_ENGINE_SGLANG] = vc_estimate_sglang,
	        [VC_ENGINE_TGI] = vc_estimate_tgi,
	        [VC_ENGINE_TRANSFORMERS] = vc_estimate_transformers,
	        [VC_ENGINE_LLAMACPP] = vc_estimate_llamacpp,
	        [VC_ENGINE_TENSORRT_LLM] = vc_estimate_tensorrt_llm,
	},
	[VC_TASK_TRAINING] = { [VC_ENGINE_NONE] = vc_estimate_training,
	                       [VC_ENGINE_TRANSFORMERS] = vc_estimate_training,
	                       [VC_ENGINE_TORCHTUNE] = vc_estimate_training,
	                       [VC_ENGINE_LITGPT] = vc_estimate_training,
	                       [VC_ENGINE_FSDP] = vc_estimate_training,
	                       [VC_ENGINE_DEEPSPEED] = vc_estimate_training,
	                       [VC_ENGINE_MEGATRON] = vc_estimate_training },
};

static enum vc_status unsupported(const struct vc_request *request, struct vc_error *error)
{
	static const char *const tasks[] = { "inference", "training" };

	return vc_fail(error, VC_UNSUPPORTED, "engine.name",
	               "the detailed method does not model %s with %s",
	               tasks[request->workload.task], vc_engine_name(request->engine.name));
}

/* Replicas share the requests out: the estimate is for the one with the most. */
static struct vc_request of_one_replica(const struct vc_request *request)
{
	struct vc_request one = *request;
	struct vc_workload *workload = &one.workload;
	uint64_t replicas = request->parallelism.data;

	if (workload->task != VC_TASK_INFERENCE || replicas <= 1) {
		return one;
	}
	workload->concurrency = sat_div_up(request->workload.concurrency, replicas);
	if (replicas > request->workload.concurrency) {
		workload->batch_size = sat_div_up(
		        sat_mul(request->workload.batch_size, request->workload.concurrency),
		        replicas);
	}
	return one;
}

enum vc_status vc_estimate_detailed(const struct vc_request *request, struct vc_ledger *ledger,
                                    struct vc_error *error)
{
	detailed_estimator *estimator = estimators[request->workload.task][request->engine.name];
	struct vc_request replica;
	enum vc_status status;

	if (!vc_model_has_shape(request->model)) {
		return vc_fail(error, VC_UNSUPPORTED, "model",
		               "the detailed method needs the architecture (model.config, "
		               "model.architecture or model.weights)");
	}
	if (!request->gpu) {
		return vc_fail(error, VC_UNSUPPORTED, "hardware.gpus",
		               "the detailed method needs a GPU (a name from the catalog)");
	}
	if (!estimator) {
		return unsupported(request, error);
	}
	replica = of_one_replica(request);
	status = estimator(&replica, ledger, error);
	if (status != VC_OK) {
		return status;
	}
	engine_note_version(&request->engine, ledger);
	calibrate(request, ledger);
	status = vc_ledger_finish(ledger, error);
	ledger->recommended_bytes = ledger->high_bytes;
	if (ledger->need_bytes == 0) {
		ledger->need_bytes = ledger->high_bytes;
	}
	/* Where more room only means more idle cache, less than the total will do. */
	if (ledger->need_expected_bytes == 0) {
		ledger->need_expected_bytes = ledger->total_bytes < ledger->need_bytes
		                                      ? ledger->total_bytes
		                                      : ledger->need_bytes;
	}
	return status;
}
