/*
 * vLLM: it loads the weights, profiles one step of the most tokens and sequences that it will ever
 * take, and gives what its share of the GPU leaves to the cache. docs/serving.md#vllm
 */
#include "detailed.h"

#include "device.h"
#include "encoder_profile.h"
#include "ledger.h"
#include "sat.h"
#include "version.h"
#include "vllm.h"

#include <string.h>

enum {
	MIB = 1 << 20
};

#define GIB (1ull << 30)

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static bool one_of(const char *name, const char *const *names)
{
	while (*names && strcmp(*names, name) != 0) {
		names++;
	}
	return *names != NULL;
}

/* Gemma 3 from 4B on scales its global rope by 8 (rope_scaling of its config.json), and a table of
 * a linear rope has that many times the positions (layers/rotary_embedding). */
static uint32_t rotary_stretch(const struct vllm *vllm)
{
	const struct vc_model *model = vllm->request->model;
	bool gemma3 =
	        strcmp(model->family, "gemma3") == 0 || strcmp(model->family, "gemma3_text") == 0;

	return gemma3 && vllm->widths.hidden >= 2560 ? 8 : 1;
}

static void set_weights(struct vllm *vllm)
{
	const struct vc_request *request = vllm->request;
	uint32_t capability = request->gpu->compute_capability;
	bool triton = capability >= 90 && vllm_property(vllm, VLLM_TRITON_MXFP4);
	bool gemma2 = strcmp(request->model->family, "gemma2") == 0;
	bool gemma3 = strncmp(request->model->family, "gemma3", 6) == 0;
	bool mrope = family_has_mrope(request->model->family);
	struct weight_traits traits = {
		.vocab_multiple = 64,
		.latent_copies = (enum latent_copies)vllm_property(vllm, VLLM_LATENT_COPIES),
		.marlin = capability >= 80,
		.mxfp4_hidden_multiple = 256,
		.mxfp4_width_multiple = triton ? 64 : 128,
		.remainder_on_last_stage = !vllm_property(vllm, VLLM_EVEN_STAGES),
		.rotary_per_layer = gemma2 && !vllm_property(vllm, VLLM_SHARED_GEMMA2_ROPE),
		.rotary_factor = mrope ? (uint32_t)vllm_property(vllm, VLLM_MROPE_FACTOR) : 1,
		.rotary_stretch = rotary_stretch(vllm),
		/* its sliding layers have a base of their own */
		.rotary_tables = gemma3 ? 2 : 1,
		.rotary_positions = family_positions(request->model->family),
	};

	vllm->parts.weights = serving_weights(request, &traits);
	vllm->parts.weight_bytes = vllm->parts.weights.allocated_bytes;
}

/* Around a feed-forward part three hidden states are alive (its input, the residual and what the
 * caller still holds), and without compilation a fourth where the module keeps gate and up until
 * the output exists, and a fifth where that is summed over ranks into a tensor of its own. */
static uint32_t hidden_copies(const struct vllm *vllm)
{
	static const char *const llama_modules[] = { "llama", "mistral", "phi3",   "glm",
		                                     "yi",    "xverse",  "aquila", NULL };
	bool eager = vllm->request->engine.enforce_eager || !vllm->v1;
	bool frees = one_of(vllm->request->model->family, llama_modules) &&
	             vllm_property(vllm, VLLM_FREES_GATE_UP);
	bool apart = vllm->request->parallelism.tensor > 1 && !vllm->experts &&
	             vllm_property(vllm, VLLM_REDUCES_APART);

	if (!eager || frees) {
		return 3;
	}
	return apart ? 5 : 4;
}

static uint64_t block_bytes(const struct vllm *vllm)
{
	struct forward_traits traits = {
		.hidden_copies = hidden_copies(vllm),
		.expert_chunk = vllm_property(vllm, VLLM_EXPERT_CHUNK),
		.expert_caches_separate = !vllm_property(vllm, VLLM_EXPERT_CACHES_SHARED),
		.element_bytes = 2,
	};

	return forward_block_bytes(&vllm->widths, &traits, vllm->tokens);
}

/* Checking drafted tokens takes two rows of logits and a row of probabilities more: 3.04 GiB for
 * Qwen3-8B and 1024 sequences (github.com/vllm-project/vllm/issues/48037). */
static uint64_t logit_bytes(const struct vllm *vllm)
{
	uint64_t bytes = vllm->runner_v2 ? 2 : vllm_property(vllm, VLLM_LOGIT_BYTES);
	bool drafts = vllm->request->engine.speculative_tokens > 0;

	return drafts && bytes < 20 ? 20 : bytes;
}

/* The last stage samples: a row of logits for each sequence. */
static void set_sampler(struct vllm *vllm, uint64_t sequences, uint64_t kept)
{
	uint64_t per_logit = logit_bytes(vllm);
	uint64_t rows = vllm->parts.weights.last && !vllm->pooling ? sequences : 0;
	uint64_t hidden = sat_mul3(sat_add(vllm->tokens, 2 * rows), vllm->widths.hidden, 2);
	struct vc_line *line = &vllm->parts.logits;

	serving_line(line, sat_mul3(per_logit, rows, vllm->widths.vocab), "c × R × V");
	vc_line_input(line, "c", per_logit);
	vc_line_input(line, "R", rows);
	vc_line_input(line, "V", vllm->widths.vocab);
	line = &vllm->parts.activations;
	serving_line(line, sat_add(hidden, kept), "hidden + kept");
	vc_line_input(line, "hidden", hidden);
	vc_line_input(line, "kept", kept);
}

/* Without a sampler: the widest moment of a block decides. */
static void set_block(struct vllm *vllm, uint64_t block, uint64_t kept)
{
	struct vc_line *line = &vllm->parts.activations;

	serving_line(&vllm->parts.logits, 0, "");
	serving_line(line, sat_add(block, kept), "block + kept");
	vc_line_input(line, "T", vllm->tokens);
	vc_line_input(line, "block", block);
	vc_line_input(line, "kept", kept);
}

/* The vision or audio tower's, before the language model runs. */
static void set_tower(struct vllm *vllm, uint64_t tower)
{
	serving_line(&vllm->parts.logits, 0, "");
	serving_line(&vllm->parts.activations, tower, "tower");
	vc_line_input(&vllm->parts.activations, "tower", tower);
}

static uint64_t peak_bytes(const struct vllm *vllm)
{
	return sat_add(vllm->parts.logits.bytes, vllm->parts.activations.bytes);
}

/* One sequence, and no item: "too short to hold the multi-modal embeddings in the worst case". */
static bool skips_items(const struct vllm *vllm, const struct encoder_profile *encoder)
{
	return encoder->known && !encoder->cross_attention && !vllm->v1 &&
	       vllm_property(vllm, VLLM_SKIPS_ITEMS) && vllm->tokens <= encoder->item_tokens;
}

/* The sampler, the widest block, or the tower: whichever takes most. What the tower makes is kept
 * while the language model runs. */
static void set_peak(struct vllm *vllm)
{
	struct encoder_profile encoder =
	        encoder_profile(vllm->request, vllm->multimodal ? vllm->tokens : 0);
	uint64_t kept = device_blas_workspace_bytes(vllm->request->gpu);
	uint64_t sequences = vllm->sequences, block = block_bytes(vllm);

	if (skips_items(vllm, &encoder)) {
		encoder = (struct encoder_profile){ 0 };
		sequences = 1;
	}
	if (encoder.known && encoder.cross_attention) {
		encoder = encoder_profile(vllm->request, sat_mul(sequences, encoder.item_tokens));
	}
	if (encoder.known) {
		/* V0 takes as many sequences as have room for the largest item each. */
		uint64_t items = max_u64(vllm->tokens / encoder.item_tokens, 1);
		bool fewer = !vllm->v1 && !encoder.cross_attention && items < sequences;
		uint64_t embedded = vllm->v1 ? 0 : sat_mul3(vllm->tokens, vllm->widths.hidden, 2);

		sequences = fewer ? items : sequences;
		kept = sat_add(sat_add(kept, embedded),
		               sat_add(encoder.input_bytes, encoder.output_bytes));
	}
	set_sampler(vllm, sequences, kept);
	if (sat_add(block, kept) > peak_bytes(vllm)) {
		set_block(vllm, block, kept);
	}
	if (encoder.peak_bytes > peak_bytes(vllm)) {
		set_tower(vllm, encoder.peak_bytes);
	}
}

/* Sizes that graphs are captured for: 1, 2, 4, then every 8th; later every 16th above 256. */
static uint64_t capture_sizes(const struct vllm *vllm, uint64_t largest)
{
	if (largest <= 256 || !vllm_property(vllm, VLLM_COARSE_SIZES)) {
		return 3 + largest / 8;
	}
	return 3 + 256 / 8 + (largest - 256) / 16;
}

static uint64_t at_most(uint64_t value, uint64_t limit)
{
	return value < limit ? value : limit;
}

/* What a graph of one layer takes, measured: V0 0.17 GiB for 28 layers and 35 sizes (T4), 0.27 for
 * 40 and 35; with adapters 0.58 for 32 and 23, 0.55 for 24 and 39, 1.12 for 40 and 43; runner V2
 * 0.23 for 32 layers, 51 piecewise and 35 full sizes (0.31, A100). Experts take a fifth more. */
static uint64_t graph_layer_bytes(const struct vllm *vllm)
{
	uint64_t bytes = vllm->v1 ? vllm_property(vllm, VLLM_GRAPH_BYTES) : 200000;

	if (!vllm->v1 && vllm->request->engine.max_loras > 0) {
		bytes = 700000;
	}
	if (vllm->runner_v2) {
		bytes = 100000;
	}
	return vllm->experts ? bytes + bytes / 5 : bytes;
}

/* What NCCL and all-reduce add to graphs, however many: 0.47 GiB with two sizes on eight A100 (V0,
 * 27 layers); 1.92 with 102 on four RTX 3090 (48 layers of experts). */
static uint64_t graph_rank_bytes(const struct vllm *vllm)
{
	return vllm->request->parallelism.tensor > 1 ? 450ull * MIB : 0;
}

/* Runner V2 captures two full graphs; the second, a fresh 32 MiB segment, stands for each of the
 * others. 0.31, A100: 1.44 GiB of peak of which 0.21 are the block's. V1's estimate is close to
 * what graphs take. */
static uint64_t graph_estimate(const struct vllm *vllm, uint64_t full)
{
	uint64_t budgets = vllm_property(vllm, VLLM_BUDGETS_GRAPHS);

	if (vllm->runner_v2) {
		return budgets == 2 ? sat_add(sat_mul3(32, MIB, full - 1), 100 * MIB) : 0;
	}
	return budgets > 0 ? vllm->parts.graphs.bytes : 0;
}

static void set_graphs(struct vllm *vllm)
{
	uint64_t layers = vllm->parts.weights.range.end - vllm->parts.weights.range.begin;
	uint64_t full = capture_sizes(vllm, at_most(vllm->sequences, 512));
	uint64_t sizes = capture_sizes(vllm, at_most(sat_mul(2, vllm->sequences), 512));
	struct vc_line *line = &vllm->parts.graphs;

	if (vllm->request->engine.enforce_eager || vllm->pooling) {
		return;
	}
	if (!vllm->v1) {
		sizes = full;
	} else if (vllm_property(vllm, VLLM_FULL_GRAPHS)) {
		sizes = sat_add(sizes, full); /* piecewise and full graphs */
	}
	serving_line(
	        line,
	        sat_add(sat_mul3(graph_layer_bytes(vllm), layers, sizes), graph_rank_bytes(vllm)),
	        "graph × layers × sizes + ranks");
	vc_line_input(line, "graph", graph_layer_bytes(vllm));
	vc_line_input(line, "layers", layers);
	vc_line_input(line, "sizes", sizes);
	vc_line_input(line, "ranks", graph_rank_bytes(vllm));
	vllm->parts.reserve_bytes = graph_estimate(vllm, full);
}

/* Outside torch on one GPU, context left out, medians of logs: 0.01 to 0.11 GiB below 30 GiB, 0.05;
 * 0.01 to 0.16 below 70, 0.09; on A100-80 0.26 in two logs and 0.09 to 0.12 in three; 0.07 and 0.16
 * on H100 (github.com/vllm-project/vllm/pull/12126). */
static uint64_t process_bytes(const struct vllm *vllm)
{
	if (vllm->usable_bytes < 30 * GIB) {
		return 51ull * MIB;
	}
	if (vllm->usable_bytes < 70 * GIB) {
		return 92ull * MIB;
	}
	return (vllm->request->gpu->compute_capability == 80 ? 266ull : 164ull) * MIB;
}

static void set_outside(struct vllm *vllm)
{
	const struct vc_gpu *gpu = vllm->request->gpu;
	uint64_t context = device_context_bytes(gpu),
	         counts = vllm_property(vllm, VLLM_COUNTS_CONTEXT);
	struct serving_parts *parts = &vllm->parts;
	uint32_t ranks = vllm->request->parallelism.tensor;

	parts->framework_bytes = process_bytes(vllm);
	if (ranks > 1) {
		parts->communication_bytes =
		        sat_sub(device_communication_bytes(gpu, ranks), parts->framework_bytes);
	}
	if (counts == 2 || (counts == 1 && vllm->v1)) {
		parts->context_bytes = context;
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

/* V0 keeps recurrent states beside the paged cache, for as many sequences as it will ever run
 * (model_executor/models/mamba_cache.py). */
static void set_cache(struct vllm *vllm, struct serving_cache *cache)
{
	bool latent_cache = vllm_property(vllm, VLLM_LATENT_CACHE);
	struct cache_traits traits = {
		.block_tokens = 16,
		.hybrid = vllm->v1 && vllm_property(vllm, VLLM_HYBRID_CACHE),
		/* V0's block tables cover all layers: an image's tokens take whole blocks. */
		.encoder = vllm->v1 ? ENCODER_APART : ENCODER_IN_POOL,
		.latent_expanded = !latent_cache,
		/* V0's kernels want entries of whole 128 elements: 576 become 640. */
		.latent_multiple = vllm->v1 ? 1 : 128,
		.draft_layers = serving_draft_layers(vllm->request),
		.draft_tokens = vllm->request->engine.speculative_tokens,
		.max_num_batched_tokens = vllm->tokens,
	};

	vllm->parts.lora_bytes = serving_lora_bytes(vllm->request, vllm->parts.weights.range,
	                                            vllm_property(vllm, VLLM_EXPERT_LORAS));
	serving_cache_init(cache, vllm->request, vllm->parts.weights.range, &traits);
	vllm->pooling = cache->spec_count == 0;
	if (!vllm->v1) {
		vllm->parts.state_bytes = serving_cache_remove_states(cache);
		vllm->parts.states = vllm->sequences;
	}
}

/* From 0.28 on what the engine calls peak activation includes the estimate of the graphs. */
static void count_reserve_as_peak(struct vllm *vllm)
{
	struct vc_line *line = &vllm->parts.activations;

	if (!vllm_property(vllm, VLLM_PEAK_HOLDS_GRAPHS) || vllm->parts.reserve_bytes == 0) {
		return;
	}
	line->bytes = sat_add(line->bytes, vllm->parts.reserve_bytes);
	line->formula = vllm->parts.logits.bytes > 0          ? "hidden + kept + reserve"
	                : strcmp(line->formula, "tower") == 0 ? "tower + reserve"
	                                                      : "block + kept + reserve";
	vc_line_input(line, "reserve", vllm->parts.reserve_bytes);
	vllm->parts.reserve_bytes = 0;
}

/* layers/quantization/fp8.py: a 16-bit checkpoint that the engine itself is told to quantize is on
 * the GPU whole before it shrinks; from 0.14 layer by layer (pull request 31914). */
static void note_loading(const struct vllm *vllm, struct vc_ledger *ledger)
{
	const struct vc_quantization *scheme = vllm->request->workload.quantization;
	struct vc_request plain = *vllm->request;
	struct weight_traits traits = { .vocab_multiple = 64 };

	if (!scheme || scheme->quantizer != VC_QUANTIZER_FP8 || scheme->group_size > 0 ||
	    scheme->per_row || plain.model->quantization ||
	    version_at_least(vllm->version, (struct vc_version){ 0, 14, 0 })) {
		return;
	}
	plain.workload.quantization = NULL;
	vc_ledger_note(
	        ledger, "vllm-loading",
	        "if the checkpoint itself is in 16 bits and vLLM quantizes it while loading, "
	        "this version holds {0B} of weights first",
	        (const uint64_t[3]){ serving_weights(&plain, &traits).allocated_bytes });
}

enum vc_status vc_estimate_vllm(const struct vc_request *request, struct vc_ledger *ledger,
                                struct vc_error *error)
{
	struct vllm vllm;
	struct serving_cache cache;

	(void)error;
	vllm_setup(&vllm, request);
	vc_ledger_note(
	        ledger, "vllm-step",
	        "profiled with a step of {0} token{0s} and {1} sequence{1s} (defaults of this "
	        "version on this GPU where the spec leaves them out)",
	        (const uint64_t[3]){ vllm.tokens, vllm.sequences, 0 });
	note_loading(&vllm, ledger);
	set_weights(&vllm);
	set_cache(&vllm, &cache);
	set_peak(&vllm);
	set_graphs(&vllm);
	set_outside(&vllm);
	set_budget(&vllm);
	count_reserve_as_peak(&vllm);
	serving_finish(request, &vllm.parts, &cache, ledger);
	return VC_OK;
}
