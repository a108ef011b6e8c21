/* Names of the ledger's components and of verdicts, as the JSON output spells them. */
#include "vramcalc/vramcalc.h"

static const char *const components[VC_COMPONENT_COUNT] = {
	[VC_COMPONENT_WEIGHTS] = "weights",
	[VC_COMPONENT_KV_CACHE] = "kv_cache",
	[VC_COMPONENT_RECURRENT_STATE] = "recurrent_state",
	[VC_COMPONENT_ACTIVATIONS] = "activations",
	[VC_COMPONENT_LOGITS] = "logits",
	[VC_COMPONENT_GRADIENTS] = "gradients",
	[VC_COMPONENT_MASTER_WEIGHTS] = "master_weights",
	[VC_COMPONENT_OPTIMIZER_STATES] = "optimizer_states",
	[VC_COMPONENT_ADAPTERS] = "adapters",
	[VC_COMPONENT_COMMUNICATION] = "communication",
	[VC_COMPONENT_CUDA_GRAPHS] = "cuda_graphs",
	[VC_COMPONENT_FRAMEWORK] = "framework",
	[VC_COMPONENT_FRAGMENTATION] = "fragmentation",
};

static const char *const verdicts[] = {
	[VC_VERDICT_FITS] = "fits",
	[VC_VERDICT_TIGHT] = "tight",
	[VC_VERDICT_NO] = "no",
};

const char *vc_component_name(enum vc_component component)
{
	return components[component];
}

const char *vc_verdict_name(enum vc_verdict verdict)
{
	return verdicts[verdict];
}
