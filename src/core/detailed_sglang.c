/*
 * SGLang: a token pool of mem_fraction_static of the memory that is free before loading, less the
 * weights; activations and graphs live in the rest. docs/serving.md#sglang
 */
#include "detailed.h"

#include "device.h"
#include "forward.h"
#include "ledger.h"
#include "sat.h"
#include "serving.h"
#include "version.h"

#include <string.h>

enum {
	MIB = 1 << 20,
	MILLION = 1000000,
	SLIDING_PPM = 800000 /* swa_full_tokens_ratio */
};

/* python/sglang/srt/server_args.py (_handle_gpu_memory_settings in 0.5): by the GPU's memory, the
 * tokens of a prefill chunk and the largest captured batch below and from tp 4 on. */
struct size_defaults {
	uint64_t below_mib; /* of GPU memory */
	uint32_t chunk, batch, batch_tp4;
};

static const struct size_defaults size_defaults_0_5[] = {
	{ 20 * 1024, 2048, 8, 8 },       { 35 * 1024, 2048, 24, 80 },
	{ 60 * 1024, 4096, 32, 160 },    { 160 * 1024, 8192, 256, 512 },
	{ UINT64_MAX, 16384, 512, 512 },
};
static const struct size_defaults size_defaults_0_4_8[] = {
	{ 35 * 1024, 2048, 8, 80 },
	{ 160 * 1024, 8192, 160, 160 },
	{ UINT64_MAX, 16384, 160, 160 },
};
static const struct size_defaults size_defaults_0_4[] = {
	{ 25000, 2048, 8, 80 },
	{ UINT64_MAX, 8192, 160, 160 },
};

struct sglang {
	const struct vc_request *request;
	struct vc_version version;
	uint64_t usable_bytes, memory_mib; /* what CUDA sees, what nvidia-smi shows */
	uint64_t chunk, batch;
	struct serving_parts parts;
};

static bool since(const struct sglang *sglang, uint32_t minor, uint32_t patch)
{
	return version_at_least(sglang->version, (struct vc_version){ 0, minor, patch });
}

static void choose_sizes(struct sglang *sglang)
{
	const struct vc_request *request = sglang->request;
	const struct size_defaults *row;

	sglang->version = engine_version(&request->engine);
	row = since(sglang, 5, 0)   ? size_defaults_0_5
	      : since(sglang, 4, 8) ? size_defaults_0_4_8
	                            : size_defaults_0_4;
	sglang->usable_bytes = device_usable_bytes(request->gpu);
	sglang->memory_mib =
	        (request->gpu->driver_bytes ? request->gpu->driver_bytes : sglang->usable_bytes) /
	        MIB;
	while (sglang->memory_mib >= row->below_mib && row->below_mib != UINT64_MAX) {
		row++;
	}
	sglang->chunk = request->engine.max_num_batched_tokens;
	if (sglang->chunk == 0) {
		sglang->chunk = row->chunk;
	}
	sglang->batch = request->engine.max_num_seqs;
	if (sglang->batch == 0) {
		sglang->batch = request->parallelism.tensor >= 4 ? row->batch_tp4 : row->batch;
	}
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* 0.4.8: by classes of GPU, in GiB and eighths; p is the number of ranks. */
static uint64_t reserved_mib_0_4_8(uint64_t memory_mib, uint64_t ranks)
{
	if (memory_mib < 35 * 1024) {
		return 2867 + ranks * 1024 / 10;
	}
	if (memory_mib < 90 * 1024) {
		return 9728 + ranks * 512;
	}
	return memory_mib < 160 * 1024 ? 12288 + ranks * 512 : 32768;
}

/* Before: by the number of ranks; 0.4.6 and 0.4.7 keep a number of GiB free above 80, and 96 GiB.
 */
static uint64_t reserved_mib_0_4(const struct sglang *sglang, uint64_t ranks)
{
	uint64_t thousandths = ranks >= 16  ? 210
	                       : ranks >= 8 ? 190
	                       : ranks >= 4 ? 150
	                       : ranks >= 2 ? 130
	                                    : 120;
	uint64_t memory = sglang->memory_mib, reserved = memory * thousandths / 1000;

	if (!since(sglang, 4, 6) || memory <= 81920) {
		return reserved;
	}
	if (!since(sglang, 4, 7)) {
		return 13 * 1024;
	}
	if (memory > 180000) {
		return memory * 210 / 1000;
	}
	reserved = memory * 120 / 1000;
	return memory > 96 * 1024 ? max_u64(reserved - 48 * 1024 * 120 / 1000, 18 * 1024)
	                          : reserved;
}

static const struct vc_stack *vision_tower(const struct vc_model *model)
{
	for (uint32_t i = 0; i < model->stack_count; i++) {
		if (model->stacks[i].role == VC_STACK_VISION) {
			return &model->stacks[i];
		}
	}
	return NULL;
}

/* adjust_mem_fraction_for_vlm: by layers × hidden² over those of ViT-L. Qwen's towers have a
 * "depth" and count as 24 layers. 0.4: model_runner.py, nine tenths. */
static uint64_t tower_ppm(const struct sglang *sglang)
{
	const struct vc_model *model = sglang->request->model;
	const struct vc_stack *tower = vision_tower(model);
	uint64_t layers, score, tenth;

	if (!tower) {
		return MILLION;
	}
	if (!since(sglang, 5, 0)) {
		return 900000;
	}
	layers = strncmp(model->family, "qwen", 4) == 0 ? 24 : tower->layers;
	score = sat_mul3(layers, tower->hidden_size, tower->hidden_size);
	tenth = sat_mul(score, MILLION / 10) / (24ull * 1024 * 1024);
	tenth = tenth < 50000 ? 50000 : tenth;
	return max_u64(800000, sat_sub(1100000, tenth)) * 19 / 20;
}

/* Share of memory for weights and pool, rounded to thousandths; where nothing is left, as on a
 * small GPU of many ranks, a thousandth, which holds no model. */
static uint64_t static_ppm(const struct sglang *sglang)
{
	uint32_t given = sglang->request->engine.gpu_memory_utilization_ppm;
	uint64_t ranks =
	        sat_mul(sglang->request->parallelism.tensor, sglang->request->parallelism.pipeline);
	uint64_t reserved, share;

	if (given > 0) {
		return given;
	}
	if (!since(sglang, 4, 8)) {
		reserved = reserved_mib_0_4(sglang, ranks);
	} else if (!since(sglang, 5, 0)) {
		reserved = reserved_mib_0_4_8(sglang->memory_mib, ranks);
	} else {
		reserved = sat_add(512 + sat_mul(max_u64(sglang->chunk, 2048), 3) / 2,
		                   sat_add(sat_mul(sglang->batch, 2), sat_mul(ranks, 128)));
		if (sglang->memory_mib > 60 * 1024) {
			reserved = max_u64(reserved, 10 * 1024);
		}
		if (sglang->request->engine.speculative_tokens > 0) {
			reserved = sat_add(reserved, 2 * 1024);
		}
	}
	share = (sat_sub(sglang->memory_mib, reserved) * 1000 + sglang->memory_mib / 2) /
	        sglang->memory_mib * tower_ppm(sglang) / 1000;
	return max_u64(share, 1000);
}

static void set_weights(struct sglang *sglang)
{
	static const struct weight_traits traits = {
		.vocab_multiple = 64,
		.latent_copies = LATENT_COPIES_SPLIT,
		.marlin = true,
		.mxfp4_hidden_multiple = 256,
		.mxfp4_width_multiple = 64,
	};

	sglang->parts.weights = serving_weights(sglang->request, &traits);
	/* What it logs as weights is the memory that is no longer free: whole segments. */
	sglang->parts.weight_bytes = sglang->parts.weights.reserved_bytes;
}

static void set_step(struct sglang *sglang)
{
	static const struct forward_traits traits = { .hidden_copies = 4, .element_bytes = 2 };
	struct forward_widths widths = forward_widths(sglang->request);
	struct vc_line *line = &sglang->parts.activations;
	uint64_t block = forward_block_bytes(&widths, &traits, sglang->chunk);
	uint64_t workspace = device_blas_workspace_bytes(sglang->request->gpu);

	serving_line(line, sat_add(block, workspace), "block + workspace");
	vc_line_input(line, "T", sglang->chunk);
	vc_line_input(line, "block", block);
	vc_line_input(line, "workspace", workspace);
}

/* Decode graphs: 0.07 to 0.11 GiB of a few sizes, 0.13 for 64 layers and 36 sizes; with tensor
 * parallelism all-reduce buffers come along: 0.93 GiB for 40 and for 64 layers at tp 4. */
static void set_graphs(struct sglang *sglang)
{
	struct layer_range range = sglang->parts.weights.range;
	uint64_t sizes = 3 + sglang->batch / 8;
	uint64_t ranks = sglang->request->parallelism.tensor;
	uint64_t buffers = sat_add(90 * MIB, sat_mul3(200, MIB, ranks > 1 ? ranks : 0));
	struct vc_line *line = &sglang->parts.graphs;

	if (sglang->request->engine.enforce_eager) {
		return;
	}
	serving_line(line, sat_add(sat_mul3(16000, range.end - range.begin, sizes), buffers),
	             "graph × layers × sizes + buffers");
	vc_line_input(line, "graph", 16000);
	vc_line_input(line, "layers", range.end - range.begin);
	vc_line_input(line, "sizes", sizes);
	vc_line_input(line, "buffers", buffers);
}

static void set_budget(struct sglang *sglang)
{
	const struct vc_gpu *gpu = sglang->request->gpu;
	struct serving_parts *parts = &sglang->parts;
	uint64_t outside, before;

	parts->framework_bytes = device_context_bytes(gpu);
	parts->communication_bytes =
	        device_communication_bytes(gpu, sglang->request->parallelism.tensor);
	outside = sat_add(parts->framework_bytes, parts->communication_bytes);
	before = sat_sub(sglang->usable_bytes, outside);
	parts->budget_ppm = (uint32_t)static_ppm(sglang);
	parts->budget_bytes = sat_add(before / MILLION * parts->budget_ppm,
	                              sat_add(outside, parts->activations.bytes));
	parts->spread_ppm = 70000;
}

/* mem_cache/swa_memory_pool.py, from 0.5: only these get a smaller pool for sliding layers. */
static bool has_sliding_pool(const struct sglang *sglang)
{
	static const char *const families[] = { "llama4", "gpt_oss", "mimo_v2_flash", "step3p5" };
	const char *family = sglang->request->model->family;

	for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
		if (strncmp(family, families[i], strlen(families[i])) == 0) {
			return since(sglang, 5, 0);
		}
	}
	return false;
}

/* model_runner_kv_cache_mixin.py handle_max_mamba_cache: states take 0.9 of what the keys and
 * values take; each running request needs three. */
static void set_states(struct sglang *sglang, struct serving_cache *cache)
{
	const struct vc_workload *workload = &sglang->request->workload;
	uint64_t state = serving_cache_remove_states(cache);
	uint64_t left = serving_left_bytes(&sglang->parts);

	if (state == 0) {
		return;
	}
	sglang->parts.state_bytes = state;
	sglang->parts.states = left / 19 * 9 / state;
	sglang->parts.states_needed = sat_mul3(3, workload->batch_size, workload->concurrency);
}

enum vc_status vc_estimate_sglang(const struct vc_request *request, struct vc_ledger *ledger,
                                  struct vc_error *error)
{
	struct sglang sglang = { .request = request };
	struct cache_traits traits = { .block_tokens = 1,
		                       .latent_multiple = 1,
		                       .encoder = ENCODER_IN_POOL };
	struct serving_cache cache;

	(void)error;
	choose_sizes(&sglang);
	set_weights(&sglang);
	set_step(&sglang);
	set_graphs(&sglang);
	set_budget(&sglang);
	traits.draft_layers = serving_draft_layers(request);
	sglang.parts.lora_bytes = serving_lora_bytes(request, sglang.parts.weights.range, false);
	traits.sliding_ppm = has_sliding_pool(&sglang) ? SLIDING_PPM : 0;
	serving_cache_init(&cache, request, sglang.parts.weights.range, &traits);
	set_states(&sglang, &cache);
	serving_finish(request, &sglang.parts, &cache, ledger);
	vc_ledger_note(
	        ledger, "sglang-static",
	        "mem_fraction_static {0%}, prefill chunks of {1} token{1s}, graphs up to {2} "
	        "sequence{2s}",
	        (const uint64_t[3]){ sglang.parts.budget_ppm, sglang.chunk, sglang.batch });
	return VC_OK;
}
