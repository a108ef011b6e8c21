/*
 * vLLM: it loads the weights, profiles one step of the most tokens and sequences that it will ever
 * take, and gives what its share of the GPU leaves to the cache. docs/formulas.md#vllm
 */
#include "detailed.h"

#include "device.h"
#include "encoder_profile.h"
#include "forward.h"
#include "ledger.h"
#include "sat.h"
#include "serving.h"
#include "version.h"
#include "vllm_policy.h"

#include <string.h>

enum {
	MIB = 1 << 20
};

#define GIB (1ull << 30)

struct vllm {
	const struct vc_request *request;
	struct vc_ledger *ledger;
	struct vc_version version;
	bool v1, runner_v2, multimodal, latent, experts;
	uint64_t usable_bytes;
	uint64_t tokens, sequences; /* N and R of the profiled step */
	struct forward_widths widths;
	struct serving_parts parts;
};

static uint64_t policy(const struct vllm *vllm, enum vllm_property property)
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

/* V1 needs sm_80, for an fp8 cache Hopper's kernels, and up to 0.9 a model without states and
 * cross-attention, until V0 is gone. */
static bool runs_v1(const struct vllm *vllm)
{
	const struct vc_gpu *gpu = vllm->request->gpu;
	bool fp8_cache = vc_dtype_bytes(vllm->request->workload.kv_cache_precision, 1) == 1;
	uint64_t allowed = policy(vllm, VLLM_ENGINE_V1);

	if (allowed != 1) {
		return allowed > 1;
	}
	if (!version_at_least(vllm->version, (struct vc_version){ 0, 10, 0 }) &&
	    has_state_or_encoder(vllm->request->model)) {
		return false;
	}
	return gpu->compute_capability >= 80 && (!fp8_cache || gpu->compute_capability == 90);
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
	runner = policy(vllm, VLLM_RUNNER_V2);
	vllm->runner_v2 = runner == 2 || (runner == 1 && !vllm->experts);
}

/* V0: the model's length, so that one prompt fits a step; 256 sequences. */
static void v0_defaults(struct vllm *vllm)
{
	uint64_t length = vllm->request->workload.sequence_length;
	uint64_t chunked = policy(vllm, VLLM_CHUNKED_TOKENS);

	if (vllm->tokens == 0 && chunked > 0 && length > 32768 && !vllm->multimodal &&
	    !vllm->latent) {
		vllm->tokens = chunked;
	}
	if (vllm->tokens == 0) {
		vllm->tokens = max_u64(length, policy(vllm, VLLM_SHORTEST_BATCH));
	}
	if (vllm->multimodal) {
		vllm->tokens = max_u64(vllm->tokens, 5120);
	}
	if (vllm->sequences == 0) {
		vllm->sequences = 256;
	}
}

/* engine/arg_utils.py: by the GPU's memory, the API server's column. */
static void v1_defaults(struct vllm *vllm)
{
	const struct vc_gpu *gpu = vllm->request->gpu;
	bool a100 = gpu->compute_capability == 80 && policy(vllm, VLLM_A100_IS_SMALL);
	bool large = vllm->usable_bytes >= 70 * GIB && !a100;
	bool giant = vllm->usable_bytes >= 160 * GIB && policy(vllm, VLLM_GIANT_DEFAULTS);

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
	vllm->parts.tokens = (uint32_t)(vllm->tokens < UINT32_MAX ? vllm->tokens : UINT32_MAX);
	vllm->parts.sequences =
	        (uint32_t)(vllm->sequences < UINT32_MAX ? vllm->sequences : UINT32_MAX);
	vc_ledger_note(vllm->ledger, "vllm-step",
	               "profiled with a step of {0} tokens and {1} sequences (defaults of this "
	               "version on this GPU where the spec leaves them out)",
	               (const uint64_t[3]){ vllm->tokens, vllm->sequences, 0 });
}

static bool one_of(const char *name, const char *const *names)
{
	while (*names && strcmp(*names, name) != 0) {
		names++;
	}
	return *names != NULL;
}

static void set_weights(struct vllm *vllm)
{
	const struct vc_request *request = vllm->request;
	uint32_t capability = request->gpu->compute_capability;
	bool triton = capability >= 90 && policy(vllm, VLLM_TRITON_MXFP4);
	bool gemma2 = strcmp(request->model->family, "gemma2") == 0;
	bool gemma3 = strncmp(request->model->family, "gemma3", 6) == 0;
	bool mrope = family_has_mrope(request->model->family);
	struct weight_traits traits = {
		.vocab_multiple = 64,
		.latent_copies = (enum latent_copies)policy(vllm, VLLM_LATENT_COPIES),
		.marlin = capability >= 80,
		.mxfp4_hidden_multiple = 256,
		.mxfp4_width_multiple = triton ? 64 : 128,
		.remainder_on_last_stage = !policy(vllm, VLLM_EVEN_STAGES),
		.rotary_per_layer = gemma2 && !policy(vllm, VLLM_SHARED_GEMMA2_ROPE),
		.rotary_factor = mrope ? (uint32_t)policy(vllm, VLLM_MROPE_FACTOR) : 1,
		/* its sliding layers have a base of their own */
		.rotary_tables = gemma3 ? 2 : 1,
		.rotary_positions = family_positions(request->model->family),
	};

	vllm->parts.weights = serving_weights(request, &traits);
	vllm->parts.weight_bytes = vllm->parts.weights.allocated_bytes;
}

/* Around a feed-forward part three hidden states are alive without compilation, and a fourth where
 * the module keeps gate and up until the output exists; compiled code frees all but two. */
static uint32_t hidden_copies(const struct vllm *vllm)
{
	static const char *const llama_modules[] = { "llama", "mistral", "phi3",   "glm",
		                                     "yi",    "xverse",  "aquila", NULL };
	bool eager = vllm->request->engine.enforce_eager || !vllm->v1;

	if (!eager) {
		return 2;
	}
	return one_of(vllm->request->model->family, llama_modules) &&
	                       policy(vllm, VLLM_FREES_GATE_UP)
	               ? 3
	               : 4;
}

static uint64_t block_bytes(const struct vllm *vllm)
{
	struct forward_traits traits = {
		.hidden_copies = hidden_copies(vllm),
		.expert_chunk = policy(vllm, VLLM_EXPERT_CHUNK),
		.expert_caches_separate = !policy(vllm, VLLM_EXPERT_CACHES_SHARED),
		.element_bytes = 2,
	};

	return forward_block_bytes(&vllm->widths, &traits, vllm->tokens);
}

/* The last stage samples: a row of logits for each sequence. */
static uint64_t logit_bytes(const struct vllm *vllm, uint64_t sequences)
{
	uint64_t per_logit = vllm->runner_v2 ? 2 : policy(vllm, VLLM_LOGIT_BYTES);

	return vllm->parts.weights.last ? sat_mul3(per_logit, sequences, vllm->widths.vocab) : 0;
}

static void set_peak(struct vllm *vllm)
{
	struct encoder_profile encoder =
	        encoder_profile(vllm->request, vllm->multimodal ? vllm->tokens : 0);
	uint64_t hidden = sat_mul3(vllm->tokens, vllm->widths.hidden, 2);
	uint64_t workspace = device_blas_workspace_bytes(vllm->request->gpu);
	uint64_t sequences = vllm->sequences, kept = 0, logits, sampler, block;
	struct serving_parts *parts = &vllm->parts;

	if (encoder.known) {
		/* V0 takes as many sequences as have room for the largest item each. */
		uint64_t items = max_u64(vllm->tokens / encoder.item_tokens, 1);

		sequences = !vllm->v1 && items < sequences ? items : sequences;
		kept = sat_add(encoder.input_bytes, encoder.output_bytes);
		kept = vllm->v1 ? kept : sat_add(kept, hidden);
	}
	logits = logit_bytes(vllm, sequences);
	sampler = sat_add(hidden, sat_mul3(2 * sequences, vllm->widths.hidden, 2));
	block = block_bytes(vllm);
	parts->logit_formula = "bytes per logit x R x vocabulary";
	parts->activation_formula = "hidden states of N tokens, workspace";
	if (sat_add(logits, sampler) >= block) {
		parts->logit_bytes = logits;
		parts->activation_bytes = sampler;
	} else {
		parts->activation_bytes = block;
		parts->activation_formula = "widest moment of a block of N tokens, workspace";
	}
	parts->activation_bytes = sat_add(parts->activation_bytes, sat_add(kept, workspace));
	if (encoder.peak_bytes > sat_add(parts->logit_bytes, parts->activation_bytes)) {
		parts->logit_bytes = 0;
		parts->activation_bytes = encoder.peak_bytes;
		parts->activation_formula = "largest images through the tower";
	}
}

/* Sizes that graphs are captured for: 1, 2, 4, then every 8th up to 256, every 16th above. */
static uint64_t capture_sizes(uint64_t largest)
{
	uint64_t to_256 = largest < 256 ? largest : 256;

	return 3 + to_256 / 8 + (largest > 256 ? (largest - 256) / 16 : 0);
}

static uint64_t at_most(uint64_t value, uint64_t limit)
{
	return value < limit ? value : limit;
}

/* Measured per layer and captured size: V0 0.17 GiB for 28 layers and 35 sizes (T4), 0.27 for 40
 * and 35; V1 0.47 GiB for 32 layers and 67 sizes (0.9, A10G), 0.68 for 36 (0.10); runner V2 0.23
 * for 32 layers, 51 piecewise and 35 full sizes (0.31, A100). */
static void set_graphs(struct vllm *vllm)
{
	uint64_t layers = vllm->parts.weights.range.end - vllm->parts.weights.range.begin;
	uint64_t full = capture_sizes(at_most(vllm->sequences, 512));
	uint64_t mixed = capture_sizes(at_most(sat_mul(2, vllm->sequences), 512));
	uint64_t estimates = policy(vllm, VLLM_BUDGETS_GRAPHS);

	if (vllm->request->engine.enforce_eager) {
		return;
	}
	if (!vllm->v1) {
		vllm->parts.graph_bytes = sat_mul3(200000, layers, full);
		return;
	}
	if (version_at_least(vllm->version, (struct vc_version){ 0, 11, 0 })) {
		mixed = sat_add(mixed, full);
	}
	vllm->parts.graph_bytes = sat_mul3(vllm->runner_v2 ? 100000 : 300000, layers, mixed);
	if (estimates == 1 && !vllm->runner_v2) {
		vllm->parts.reserve_bytes = vllm->parts.graph_bytes;
	} else if (estimates == 2 && vllm->runner_v2) {
		/* Two full graphs are captured; the second, a fresh 32 MiB segment, stands for each
		 * of the others. 0.31, A100: 1.44 GiB of peak of which 0.21 are the block's. */
		vllm->parts.reserve_bytes = sat_add(sat_mul3(32, MIB, full - 1), 100 * MIB);
	} else if (estimates == 2) {
		vllm->parts.reserve_bytes = vllm->parts.graph_bytes;
	}
}

/* Outside torch on one GPU, context left out: 0.05 GiB on T4 and A10; 0.08 to 0.10 on L40S, V100
 * and A100-40 (github.com/vllm-project/vllm/issues/12330); 0.26 on A100-80, 0.16 on H100
 * (github.com/vllm-project/vllm/pull/12126). */
static uint64_t process_bytes(const struct vllm *vllm)
{
	if (vllm->usable_bytes < 30 * GIB) {
		return 51ull * MIB;
	}
	if (vllm->usable_bytes < 70 * GIB) {
		return 102ull * MIB;
	}
	return (vllm->request->gpu->compute_capability == 80 ? 266ull : 164ull) * MIB;
}

static void set_outside(struct vllm *vllm)
{
	const struct vc_gpu *gpu = vllm->request->gpu;
	uint64_t context = device_context_bytes(gpu), counts = policy(vllm, VLLM_COUNTS_CONTEXT);
	struct serving_parts *parts = &vllm->parts;
	uint32_t ranks = vllm->request->parallelism.tensor;

	parts->framework_bytes = process_bytes(vllm);
	if (ranks > 1) {
		parts->communication_bytes =
		        sat_sub(device_communication_bytes(gpu, ranks), parts->framework_bytes);
	}
	if (counts == 2 || (counts == 1 && vllm->v1)) {
		parts->framework_bytes = sat_add(parts->framework_bytes, context);
	} else {
		parts->outside_bytes = context;
	}
}

static void set_budget(struct vllm *vllm)
{
	uint32_t ppm = vllm->request->engine.gpu_memory_utilization_ppm;

	vllm->parts.budget_ppm = ppm;
	vllm->parts.budget_bytes = vllm->usable_bytes / 1000000 * ppm;
	/* 90 % of logged weights, peaks and pools lie within this of the prediction. */
	vllm->parts.spread_ppm = 70000;
}

static void set_cache(const struct vllm *vllm, struct serving_cache *cache)
{
	bool latent_cache = policy(vllm, VLLM_LATENT_CACHE);
	struct cache_traits traits = {
		.block_tokens = 16,
		.hybrid = vllm->v1 && policy(vllm, VLLM_HYBRID_CACHE),
		.latent_expanded = !latent_cache,
		/* V0's kernels want entries of whole 128 elements: 576 become 640. */
		.latent_multiple = vllm->v1 ? 1 : 128,
		.max_num_batched_tokens = vllm->tokens,
	};

	serving_cache_init(cache, vllm->request, vllm->parts.weights.range, &traits);
}

enum vc_status vc_estimate_vllm(const struct vc_request *request, struct vc_ledger *ledger,
                                struct vc_error *error)
{
	struct vllm vllm = { .request = request, .ledger = ledger };
	struct serving_cache cache;

	(void)error;
	choose_engine(&vllm);
	choose_step(&vllm);
	set_weights(&vllm);
	set_peak(&vllm);
	set_graphs(&vllm);
	set_outside(&vllm);
	set_budget(&vllm);
	if (policy(&vllm, VLLM_PEAK_HOLDS_GRAPHS)) {
		vllm.parts.activation_bytes =
		        sat_add(vllm.parts.activation_bytes, vllm.parts.reserve_bytes);
		vllm.parts.reserve_bytes = 0;
	}
	set_cache(&vllm, &cache);
	serving_finish(request, &vllm.parts, &cache, ledger);
	return VC_OK;
}
