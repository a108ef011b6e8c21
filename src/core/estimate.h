/* The methods behind vc_estimate: each gets a resolved request and an empty ledger. */
#ifndef VC_ESTIMATE_H
#define VC_ESTIMATE_H

#include "vramcalc/vramcalc.h"

/* The founding documents' formulas; `trainer`: what trains holds the model, so that ZeRO
 * divides it. docs/formulas.md#rule */
enum vc_status vc_estimate_rule(const struct vc_request *request, bool trainer,
                                struct vc_ledger *ledger, struct vc_error *error);

/* What a real engine allocates; dispatches on task and engine. VC_UNSUPPORTED without a shape. */
enum vc_status vc_estimate_detailed(const struct vc_request *request, struct vc_ledger *ledger,
                                    struct vc_error *error);

/* As vc_estimate() by the rule, of a model that the policy's framework holds beside it to score. */
enum vc_status vc_estimate_frozen(const struct vc_request *request, struct vc_ledger *ledger,
                                  struct vc_error *error);

#endif
