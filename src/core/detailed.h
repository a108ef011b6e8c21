/*
 * The detailed method's estimators, one per engine. Each gets a resolved request whose model has a
 * shape and whose GPU is given, and an empty ledger; it adds the lines of the phase that peaks, the
 * phases, notes, low_bytes and high_bytes, need_bytes and need_expected_bytes where they differ
 * from high_bytes and the total, and `serving` where the engine fills the GPU with cache. The
 * dispatcher finishes the ledger.
 */
#ifndef VC_DETAILED_H
#define VC_DETAILED_H

#include "vramcalc/vramcalc.h"

typedef enum vc_status detailed_estimator(const struct vc_request *request,
                                          struct vc_ledger *ledger, struct vc_error *error);

detailed_estimator vc_estimate_training;
detailed_estimator vc_estimate_transformers;

/* The engines that serve; detailed_*.c */
detailed_estimator vc_estimate_vllm, vc_estimate_sglang, vc_estimate_tgi, vc_estimate_tensorrt_llm,
        vc_estimate_plain, vc_estimate_llamacpp;

#endif
