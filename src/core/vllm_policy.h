/* vLLM's policies by version: what changed, when, and where that is written. */
#ifndef VC_VLLM_POLICY_H
#define VC_VLLM_POLICY_H

#include "vramcalc/vramcalc.h"

enum vllm_property {
	VLLM_ENGINE_V1,         /* 1: where the GPU allows; 2: always */
	VLLM_V1_LACKS,          /* bits of enum v1_feature: these run on V0 */
	VLLM_RUNNER_V2,         /* 1: dense models; 2: all */
	VLLM_LOGIT_BYTES,       /* of the sampler, per logit */
	VLLM_COUNTS_CONTEXT,    /* V1 takes the context off the cache; 2: V0 does too */
	VLLM_BUDGETS_GRAPHS,    /* 1: takes an estimate of the graphs off; 2: runner V2 too */
	VLLM_COARSE_SIZES,      /* graphs for every 16th size above 256, not every 8th */
	VLLM_FULL_GRAPHS,       /* V1 captures whole models beside their pieces */
	VLLM_GRAPH_BYTES,       /* V1: what a graph of one layer takes */
	VLLM_PEAK_HOLDS_GRAPHS, /* what it calls peak activation includes that estimate */
	VLLM_CHUNKED_TOKENS,    /* V0: tokens a step where chunked prefill is the default */
	VLLM_SHORTEST_BATCH,    /* V0: least tokens a step */
	VLLM_A100_IS_SMALL,     /* V1: an A100 gets the defaults of small GPUs */
	VLLM_GIANT_DEFAULTS,    /* 16384 tokens a step from 160 GiB on */
	VLLM_EXPERT_CHUNK,      /* tokens the experts' kernel takes at once; 0: all */
	VLLM_EXPERT_CACHES_SHARED,
	VLLM_HYBRID_CACHE,
	VLLM_LATENT_COPIES, /* enum latent_copies */
	VLLM_LATENT_CACHE,  /* the latent itself is cached, not keys and values */
	VLLM_TRITON_MXFP4,  /* from sm_90 on */
	VLLM_EVEN_STAGES,   /* a remainder of layers does not all go to the last stage */
	VLLM_SHARED_GEMMA2_ROPE,
	VLLM_EXPERT_LORAS,  /* experts take adapters too */
	VLLM_FREES_GATE_UP, /* the Llama module's own feed-forward part */
	VLLM_MROPE_FACTOR,  /* positions of a multimodal rotary table */
	VLLM_REDUCES_APART, /* an all-reduce leaves its input as it is */
	VLLM_SKIPS_ITEMS,   /* V0 profiles no item that is longer than its step */
	VLLM_PROPERTY_COUNT
};

/* What V1 did not take up at once. */
enum v1_feature {
	V1_LORAS = 1,
	V1_STAGES = 2, /* of a pipeline, without Ray */
	V1_BITSANDBYTES = 4,
	V1_GGUF = 8,
	V1_FP8_CACHE = 16,
	V1_FP32 = 32,
	V1_OWN_DRAFTS = 64,
	V1_DRAFT_MODEL = 128,
	V1_STATES = 256 /* recurrent layers and cross-attention */
};

uint64_t vllm_policy(enum vllm_property property, struct vc_version version);

/* The rows, for listing and tests: NULL past the end. */
struct vllm_step {
	enum vllm_property property;
	struct vc_version from;
	uint64_t value;
	const char *source; /* file in github.com/vllm-project/vllm at that version */
};
const struct vllm_step *vllm_step_at(size_t index);

#endif
