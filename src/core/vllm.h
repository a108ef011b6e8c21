/* One estimate of vLLM on its way: which engine runs, the step it profiles, the parts of its
 * budget.
 */
#ifndef VC_VLLM_H
#define VC_VLLM_H

#include "forward.h"
#include "serving.h"
#include "vllm_policy.h"

struct vllm {
	const struct vc_request *request;
	struct vc_version version;
	bool v1, runner_v2, multimodal, latent, experts;
	bool pooling; /* an encoder: neither cache nor sampler */
	uint64_t usable_bytes;
	uint64_t tokens, sequences; /* N and R of the profiled step */
	struct forward_widths widths;
	struct serving_parts parts;
};

uint64_t vllm_property(const struct vllm *vllm, enum vllm_property property);

/* The version, the engine (V0, V1) and runner that it means on this GPU, and the step that they
 * profile by default. */
void vllm_setup(struct vllm *vllm, const struct vc_request *request);

#endif
