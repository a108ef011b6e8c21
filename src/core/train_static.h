/* What a training job holds between steps, and what the optimizer's step adds. */
#ifndef VC_TRAIN_STATIC_H
#define VC_TRAIN_STATIC_H

#include "train_policy.h"
#include "train_size.h"

struct train_static {
	uint64_t trained; /* elements, on the rank before data-parallel sharding */
	uint64_t weights, adapters, master, states; /* on the GPU */
	uint64_t saved;                             /* trained copies of whole tables, on the GPU */
	uint64_t scales;      /* of the frozen weights: those that every rank keeps whole */
	uint64_t gradients;   /* on the GPU at the step */
	uint64_t step_copy;   /* fp32 gradients and the foreach implementation's temporary */
	uint64_t spared_copy; /* what of these a step in place does without */
	bool gradients_stay;  /* between steps; otherwise they live from backward to the step */
	bool steps;           /* the step runs on the GPU, after backward */
	uint64_t host_weights, host_master, host_states, host_gradients; /* of one rank */
};

struct train_groups {
	uint64_t weights, gradients, states; /* data-parallel ranks that share them */
};
struct train_groups train_sharding(const struct vc_request *request,
                                   const struct train_policy *policy);

void train_static(const struct vc_request *request, const struct train_policy *policy,
                  const struct train_size *size, struct train_static *out);

/* Elements' bytes in the workload's precision: 2, or 4. */
uint32_t train_precision_bytes(const struct vc_request *request);
/* Whether k-bit preparation raised what is not quantized; it does nothing to other models. */
bool train_is_raised(const struct vc_request *request);
/* Bytes of frozen elements that are not quantized. */
uint32_t train_rest_bytes(const struct vc_request *request);

#endif
