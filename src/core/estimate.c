/* One request, one ledger: resolves a copy and hands it to the method. */
#include "estimate.h"

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

enum vc_status vc_estimate(const struct vc_request *request, struct vc_ledger *ledger,
                           struct vc_error *error)
{
	struct vc_request resolved = *request;
	enum vc_status status = vc_request_resolve(&resolved, error);

	memset(ledger, 0, sizeof *ledger);
	if (status != VC_OK) {
		return status;
	}
	ledger->method = resolved.method;
	ledger->gpus = vc_layout_gpus(&resolved.parallelism);
	return resolved.method == VC_METHOD_RULE ? vc_estimate_rule(&resolved, ledger, error)
	                                         : vc_estimate_detailed(&resolved, ledger, error);
}
