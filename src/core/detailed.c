/* The detailed method: which estimator answers for a task and an engine. */
#include "estimate.h"

#include "text.h"

enum vc_status vc_estimate_detailed(const struct vc_request *request, struct vc_ledger *ledger,
                                    struct vc_error *error)
{
	(void)ledger;
	return vc_fail(error, VC_UNSUPPORTED, "engine.name",
	               "the detailed method does not cover %s yet",
	               vc_engine_name(request->engine.name));
}
