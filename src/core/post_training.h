/* Several models on the same GPUs: reinforcement learning. docs/formulas.md#post-training */
#ifndef VC_POST_TRAINING_H
#define VC_POST_TRAINING_H

#include "vramcalc/vramcalc.h"

/* The ledger of the stage that holds the most; `policy` is resolved and has roles. */
enum vc_status vc_estimate_post_training(const struct vc_request *policy, struct vc_ledger *ledger,
                                         struct vc_error *error);

#endif
