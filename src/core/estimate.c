/* One request, one ledger: resolves a copy and hands it to the method. */
#include "estimate.h"

#include "ledger.h"
#include "post_training.h"
#include "sat.h"

#include <string.h>

uint32_t vc_layout_gpus(const struct vc_parallelism *layout)
{
	uint64_t gpus = sat_mul(
	        sat_mul(layout->data ? layout->data : 1, layout->tensor ? layout->tensor : 1),
	        sat_mul(layout->pipeline ? layout->pipeline : 1,
	                layout->context ? layout->context : 1));

	return gpus > UINT32_MAX ? UINT32_MAX : (uint32_t)gpus;
}

uint64_t vc_recommended_bytes(uint64_t total_bytes, const struct vc_rule_options *options)
{
	uint64_t overhead_bytes =
	        options && options->overhead_given ? options->overhead_bytes : 2000000000;
	uint32_t margin_ppm = options && options->margin_ppm ? options->margin_ppm : 1200000;

	return sat_scale_up(sat_add(total_bytes, overhead_bytes), margin_ppm, 1000000);
}

/* What reading the model took for granted, and what that does to the certainty of the result. */
static void note_model(const struct vc_model *model, struct vc_ledger *ledger)
{
	uint64_t spread = vc_ledger_component(ledger, VC_COMPONENT_WEIGHTS) / 10;

	if (model->assumed_positions) {
		vc_ledger_note(ledger, "positions-assumed",
		               "The size of the learned position table is not given: {0} positions "
		               "are assumed, as the architecture's default.",
		               (const uint64_t[3]){ model->assumed_positions, 0, 0 });
	}
	if (model->unread_quantization[0]) {
		vc_ledger_note(ledger, "quantization-unread",
		               "The checkpoint says that it is quantized by a method that is not "
		               "known: its weights are taken to be of the stated precision.",
		               NULL);
	}
	if (model->known_family || !vc_model_has_shape(model)) {
		return;
	}
	vc_ledger_note(ledger, "family-unknown",
	               "This model type is not known: its keys are read as the nearest kind of "
	               "model, and the range is wider by 10 % of the weights.",
	               NULL);
	ledger->low_bytes = sat_sub(ledger->low_bytes, spread);
	ledger->high_bytes = sat_add(ledger->high_bytes, spread);
	if (ledger->method == VC_METHOD_DETAILED) {
		ledger->need_bytes = sat_add(ledger->need_bytes, spread);
		ledger->recommended_bytes = ledger->high_bytes;
	}
}

static enum vc_status begin(struct vc_request *request, struct vc_ledger *ledger,
                            struct vc_error *error)
{
	enum vc_status status = vc_request_resolve(request, error);

	memset(ledger, 0, sizeof *ledger);
	if (status == VC_OK) {
		ledger->method = request->method;
		ledger->gpus = vc_layout_gpus(&request->parallelism);
	}
	return status;
}

enum vc_status vc_estimate(const struct vc_request *request, struct vc_ledger *ledger,
                           struct vc_error *error)
{
	struct vc_request resolved = *request;
	enum vc_status status = begin(&resolved, ledger, error);
	bool trainer = resolved.workload.task == VC_TASK_TRAINING;

	if (status != VC_OK) {
		return status;
	}
	if (resolved.roles) {
		return vc_estimate_post_training(&resolved, ledger, error);
	}
	status = resolved.method == VC_METHOD_RULE
	                 ? vc_estimate_rule(&resolved, trainer, ledger, error)
	                 : vc_estimate_detailed(&resolved, ledger, error);
	if (status == VC_OK) {
		note_model(resolved.model, ledger);
	}
	return status;
}

enum vc_status vc_estimate_frozen(const struct vc_request *request, struct vc_ledger *ledger,
                                  struct vc_error *error)
{
	struct vc_request resolved = *request;
	enum vc_status status = begin(&resolved, ledger, error);

	if (status == VC_OK) {
		status = vc_estimate_rule(&resolved, true, ledger, error);
	}
	if (status == VC_OK) {
		note_model(resolved.model, ledger);
	}
	return status;
}
