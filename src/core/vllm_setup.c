/*
 * What vLLM runs and profiles where the spec leaves it open: vllm/engine/arg_utils.py and
 * vllm/config/ of the version. docs/serving.md#vllm
 */
#include "vllm.h"

#include "device.h"
#include "sat.h"
#include "serving_weights.h"
#include "version.h"

#define GIB (1ull << 30)

uint64_t vllm_property(const struct vllm *vllm, enum vllm_property property)
{
	return vllm_policy(property, vllm->version);
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static bool has_latent(const struct vc_model *model)
{
	const struct vc_stack *stack = &model->stacks[model_main_stack(model)];

	return stack->layers > 0 &&
	       model->kinds[stack->pattern[0]].mixers[0].type == VC_MIXER_LATENT;
}

static bool has_tower(const struct vc_model *model)
{
	for (uint32_t i = 0; i < model->stack_count; i++) {
		if (model->stacks[i].role == VC_STACK_VISION ||
		    model->stacks[i].role == VC_STACK_AUDIO) {
			return true;
		}
	}
	return false;
}

static bool has_state_or_encoder(const struct vc_model *model)
{
	for (uint32_t k = 0; k < model->kind_count; k++) {
		for (uint32_t m = 0; m < model->kinds[k].mixer_count; m++) {
			if (model->kinds[k].mixers[m].type >= VC_MIXER_CROSS_ATTENTION) {
				return true;
			}
		}
	}
	return false;
}

/* Bits of enum v1_feature that the request asks for. */
static uint64_t v1_features(const struct vc_request *request)
{
	const struct vc_engine_options *engine = &request->engine;
	const struct vc_quantization *scheme = request->workload.quantization;
	enum vc_quantizer quantizer = scheme ? scheme->quantizer : VC_QUANTIZER_NONE;
	bool bitsandbytes =
	        quantizer == VC_QUANTIZER_BNB_INT8 || quantizer == VC_QUANTIZER_BNB_4BIT;
	bool fp8_cache = vc_dtype_bytes(request->workload.kv_cache_precision, 1) == 1;
	uint64_t features = 0;

	features |= engine->max_loras > 0 ? V1_LORAS : 0;
	features |= request->parallelism.pipeline > 1 ? V1_STAGES : 0;
	features |= bitsandbytes ? V1_BITSANDBYTES : 0;
	features |= quantizer == VC_QUANTIZER_GGUF ? V1_GGUF : 0;
	features |= fp8_cache ? V1_FP8_CACHE : 0;
	features |= request->workload.precision == VC_DTYPE_FP32 ? V1_FP32 : 0;
	if (engine->speculative_tokens > 0) {
		features |= serving_drafts_itself(request) ? V1_OWN_DRAFTS : V1_DRAFT_MODEL;
	}
	features |= has_state_or_encoder(request->model) ? V1_STATES : 0;
	return features;
}

/* V1 needs sm_80, for an fp8 cache Hopper's kernels, and nothing that it has not taken up yet,
 * until V0 is gone. */
static bool runs_v1(const struct vllm *vllm)
{
	uint32_t capability = vllm->request->gpu->compute_capability;
	uint64_t allowed = vllm_property(vllm, VLLM_ENGINE_V1);
	uint64_t features = v1_features(vllm->request);

	if (allowed != 1) {
		return allowed > 1;
	}
	if ((features & vllm_property(vllm, VLLM_V1_LACKS)) != 0) {
		return false;
	}
	return capability >= 80 && (!(features & V1_FP8_CACHE) || capability == 90);
}

static void choose_engine(struct vllm *vllm)
{
	uint64_t runner;

	vllm->version = engine_version(&vllm->request->engine);
	vllm->usable_bytes = device_usable_bytes(vllm->request->gpu);
	vllm->widths = forward_widths(vllm->request);
	vllm->experts = vllm->widths.experts_per_token > 0;
	vllm->latent = has_latent(vllm->request->model);
	vllm->multimodal = has_tower(vllm->request->model);
	vllm->v1 = runs_v1(vllm);
	runner = vllm_property(vllm, VLLM_RUNNER_V2);
	vllm->runner_v2 = runner == 2 || (runner == 1 && !vllm->experts);
}

/* V0: the model's length, so that one prompt fits a step; 256 sequences. */
static void v0_defaults(struct vllm *vllm)
{
	uint64_t length = vllm->request->workload.sequence_length;
	uint64_t chunked = vllm_property(vllm, VLLM_CHUNKED_TOKENS);

	if (vllm->tokens == 0 && chunked > 0 && length > 32768 && !vllm->multimodal &&
	    !vllm->latent) {
		vllm->tokens = chunked;
	}
	if (vllm->tokens == 0) {
		vllm->tokens = max_u64(length, vllm_property(vllm, VLLM_SHORTEST_BATCH));
	}
	if (vllm->multimodal) {
		vllm->tokens = max_u64(vllm->tokens, 5120);
	}
	if (vllm->sequences == 0) {
		vllm->sequences = 256;
	}
}

/* engine/arg_utils.py: by the GPU's memory, the API server's column. Where NVML gives none, as on a
 * GB10 (github.com/vllm-project/vllm/pull/57378), those of small GPUs. */
static void v1_defaults(struct vllm *vllm)
{
	const struct vc_gpu *gpu = vllm->request->gpu;
	bool a100 = gpu->compute_capability == 80 && vllm_property(vllm, VLLM_A100_IS_SMALL);
	bool large = vllm->usable_bytes >= 70 * GIB && !a100 && !gpu->unified_memory;
	bool giant = large && vllm->usable_bytes >= 160 * GIB &&
	             vllm_property(vllm, VLLM_GIANT_DEFAULTS);

	if (vllm->tokens == 0) {
		vllm->tokens = giant ? 16384 : large ? 8192 : 2048;
	}
	if (vllm->sequences == 0) {
		vllm->sequences = large ? 1024 : 256;
	}
}

static void choose_step(struct vllm *vllm)
{
	vllm->tokens = vllm->request->engine.max_num_batched_tokens;
	vllm->sequences = vllm->request->engine.max_num_seqs;
	if (vllm->v1) {
		v1_defaults(vllm);
	} else {
		v0_defaults(vllm);
	}
	if (vllm->sequences > vllm->tokens) {
		vllm->sequences = vllm->tokens;
	}
}

void vllm_setup(struct vllm *vllm, const struct vc_request *request)
{
	*vllm = (struct vllm){ .request = request };
	choose_engine(vllm);
	choose_step(vllm);
}
