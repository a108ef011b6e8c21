/*
 * llama.cpp's placement: which layers go where, how many cells a cache has, what is reserved.
 * github.com/ggml-org/llama.cpp, src/llama-model.cpp (load_tensors), src/llama-kv-cache*.cpp,
 * src/llama-context.cpp. docs/llamacpp.md
 */
#include "llamacpp_job.h"

#include "cache.h"
#include "device.h"
#include "sat.h"
#include "version.h"

enum {
	DEFAULT_UBATCH = 512, /* common/common.h */
	CELL_MULTIPLE = 256,
	PIPELINE_COPIES = 4 /* GGML_SCHED_MAX_COPIES */
};

/* Builds from which a behaviour holds; b7475 is of 18 December 2025. */
static const struct vc_version output_first = { 7475, 0, 0 };       /* pull 18148 */
static const struct vc_version padded_always = { 6980, 0, 0 };      /* pull 17046 */
static const struct vc_version window_caches = { 5430, 0, 0 };      /* pull 13194 */
static const struct vc_version latent_caches = { 5140, 0, 0 };      /* pull 12801 */
static const struct vc_version fused_as_values = { 8250, 0, 0 };    /* pull 19770 */
static const struct vc_version scratch_reserved = { 9489, 0, 0 };   /* pull 23907 */
static const struct vc_version cacheless_encoders = { 5310, 0, 0 }; /* pull 13108 */
static const struct vc_version fused_gates = { 5775, 0, 0 };        /* pull 14158 */
static const struct vc_version narrow_masks = { 9410, 0, 0 };       /* pull 23764 */
static const struct vc_version copies_given_up = { 6980, 0, 0 };    /* pull 16748, before it */
static const struct vc_version outputs_by_slot = { 9464, 0, 0 };    /* pull 23861, in it */

/* No version given: the newest. Versions 0.x are of 2026, or Ollama's own. */
static bool since(const struct vc_request *request, struct vc_version from)
{
	struct vc_version version = request->engine.version;

	return version.major == 0 || version_at_least(version, from);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The types that --cache-type-k takes; others stand for the next wider one. */
static enum vc_dtype cache_type(enum vc_dtype dtype, bool *replaced)
{
	switch (dtype) {
	case VC_DTYPE_FP8:
	case VC_DTYPE_INT8:
		*replaced = true;
		return VC_DTYPE_Q8_0;
	case VC_DTYPE_INT4:
	case VC_DTYPE_FP4:
	case VC_DTYPE_NVFP4:
	case VC_DTYPE_MXFP4:
		*replaced = true;
		return VC_DTYPE_Q4_0;
	case VC_DTYPE_TF32:
		return VC_DTYPE_FP32;
	case VC_DTYPE_NONE:
		return VC_DTYPE_FP16;
	default:
		return dtype;
	}
}

static bool keeps_window(const struct llamacpp_job *job, const struct vc_mixer *mixer)
{
	return mixer->window > 0 && !job->family->full_window && since(job->request, window_caches);
}

static uint64_t largest_window(const struct llamacpp_job *job)
{
	uint64_t window = 0;

	for (uint32_t i = 0; i < job->stack->layers; i++) {
		const struct vc_layer_kind *kind = &job->model->kinds[job->stack->pattern[i]];

		for (uint32_t m = 0; m < kind->mixer_count; m++) {
			if (kind->mixers[m].window > window) {
				window = kind->mixers[m].window;
			}
		}
	}
	return window;
}

static void read_context(struct llamacpp_job *job)
{
	const struct vc_request *request = job->request;
	struct ggml_run *run = &job->run;
	uint64_t multiple = CELL_MULTIPLE, total, window = largest_window(job);

	run->flash = request->workload.attn_implementation != VC_ATTENTION_EAGER;
	run->quantized_cache = vc_dtype_info(job->cache_dtype)->block_elements > 1;
	if (run->quantized_cache && !run->flash) {
		run->flash = job->flash_forced = true;
	}
	if (!run->flash && !since(request, padded_always)) {
		multiple = 32;
	}
	job->slots = sat_mul(request->workload.batch_size, request->workload.concurrency);
	job->ubatch = request->engine.ubatch_size ? request->engine.ubatch_size : DEFAULT_UBATCH;
	run->cells = sat_round_up(request->workload.sequence_length, multiple);
	total = sat_mul(run->cells, job->slots);
	run->tokens = least(job->ubatch, total);
	/* llama-server asks for one result per slot; other programs for those of a whole batch */
	run->outputs = request->engine.version.major > 0 && since(request, outputs_by_slot)
	                       ? least(job->slots, run->tokens)
	                       : run->tokens;
	run->window_cells =
	        since(request, window_caches)
	                ? sat_round_up(least(run->cells, sat_add(window, run->tokens)), multiple)
	                : run->cells;
	run->separate_gates = !since(request, fused_gates);
	run->wide_masks = !since(request, narrow_masks);
	run->latent_cache = !job->family->expanded_latent && since(request, latent_caches);
	job->scratch_reserved = since(request, scratch_reserved);
}

/* -ngl: since December 2025 the output goes first, before it came last; either way the devices
 * get the last layers. */
static void deal_layers(struct llamacpp_job *job)
{
	const struct vc_engine_options *engine = &job->request->engine;
	uint32_t layers = job->stack->layers, wanted = engine->gpu_layers;

	job->all_on_devices = !engine->gpu_layers_given;
	if (job->all_on_devices || wanted > layers) {
		job->output_offloaded = true;
		wanted = layers;
	} else if (since(job->request, output_first)) {
		job->output_offloaded = wanted > 0;
		wanted = wanted > 0 ? wanted - 1 : 0;
	}
	job->first_layer = layers - wanted;
	if (job->weights.experts_bytes > 0) {
		job->host_experts = (uint32_t)least(engine->cpu_moe_layers, layers);
	}
	job->units = wanted + (job->output_offloaded ? 1 : 0);
}

static bool has_head(const struct vc_model *model)
{
	for (uint32_t i = 0; i < model->extra_count; i++) {
		if (model->extras[i].tensor.module == VC_MODULE_LM_HEAD && !model->extras[i].tied) {
			return true;
		}
	}
	return false;
}

/* Encoders give embeddings, no logits. */
static bool has_causal(const struct llamacpp_job *job)
{
	const struct vc_layer_kind *kind = &job->model->kinds[job->stack->pattern[0]];

	return kind->mixer_count == 0 || kind->mixers[0].causal ||
	       ggml_is_recurrent(&kind->mixers[0]);
}

bool llamacpp_read(struct llamacpp_job *job, const struct vc_request *request)
{
	struct gguf_format format = { .dtype = request->workload.precision,
		                      .quantization = request->workload.quantization };
	const struct vc_parallelism *layout = &request->parallelism;

	*job = (struct llamacpp_job){ .request = request, .model = request->model };
	job->family = ggml_family_of(request->model);
	job->stack = &request->model->stacks[0];
	for (uint32_t i = 0; i < request->model->stack_count; i++) {
		if (request->model->stacks[i].role == VC_STACK_DECODER) {
			job->stack = &request->model->stacks[i];
		}
	}
	job->cache_dtype =
	        cache_type(request->workload.kv_cache_precision, &job->cache_type_replaced);
	job->devices =
	        (layout->tensor ? layout->tensor : 1) * (layout->pipeline ? layout->pipeline : 1);
	read_context(job);
	format.expanded_latent = !job->run.latent_cache;
	format.fused_as_values =
	        request->engine.version.major > 0 && since(request, fused_as_values);
	if (!gguf_weights(request->model, &format, &job->weights)) {
		return false;
	}
	deal_layers(job);
	job->has_output = job->weights.tied ? has_causal(job) : has_head(request->model);
	if (job->all_on_devices && job->has_output && !job->weights.tied) {
		job->charged_table_bytes = job->weights.embedding_bytes;
	}
	return true;
}

/* A row is rounded up to whole blocks. */
static uint64_t row_bytes(enum vc_dtype dtype, uint64_t elements)
{
	return vc_dtype_bytes(dtype, sat_round_up(elements, vc_dtype_info(dtype)->block_elements));
}

static uint64_t token_kv_bytes(const struct llamacpp_job *job, const struct vc_mixer *mixer)
{
	uint64_t heads = mixer->kv_heads, k = mixer->head_dim;
	uint64_t v = mixer->v_head_dim ? mixer->v_head_dim : mixer->head_dim;

	if (mixer->type == VC_MIXER_LATENT) {
		if (job->run.latent_cache) {
			return row_bytes(job->cache_dtype,
			                 (uint64_t)mixer->kv_lora_rank + mixer->qk_rope_head_dim);
		}
		heads = mixer->heads;
		k = (uint64_t)mixer->qk_nope_head_dim + mixer->qk_rope_head_dim;
		v = mixer->v_head_dim;
	}
	return sat_add(row_bytes(job->cache_dtype, sat_mul(heads, k)),
	               row_bytes(job->cache_dtype, sat_mul(heads, v)));
}

uint64_t llamacpp_layer_kv_bytes(const struct llamacpp_job *job, uint32_t layer)
{
	const struct vc_layer_kind *kind = &job->model->kinds[job->stack->pattern[layer]];
	uint64_t bytes = 0;

	for (uint32_t m = 0; m < kind->mixer_count; m++) {
		const struct vc_mixer *mixer = &kind->mixers[m];
		bool attends = mixer->type == VC_MIXER_ATTENTION || mixer->type == VC_MIXER_LATENT;
		uint64_t cells = keeps_window(job, mixer) ? job->run.window_cells : job->run.cells;

		if (attends && (mixer->causal || !since(job->request, cacheless_encoders)) &&
		    !mixer->shares_kv) {
			bytes = sat_add(bytes,
			                sat_mul3(token_kv_bytes(job, mixer), cells, job->slots));
		}
	}
	return bytes;
}

uint64_t llamacpp_layer_weights_bytes(const struct llamacpp_job *job, uint32_t layer)
{
	const struct gguf_weights *weights = &job->weights;

	return sat_sub(weights->layer_bytes[layer],
	               layer < job->host_experts ? weights->layer_experts_bytes[layer] : 0);
}

/* States are kept in 32-bit floats whatever the model's type. */
uint64_t llamacpp_layer_state_bytes(const struct llamacpp_job *job, uint32_t layer)
{
	const struct vc_layer_kind *kind = &job->model->kinds[job->stack->pattern[layer]];
	struct cache_format format = { .state_dtype = VC_DTYPE_FP32 };
	uint64_t bytes = 0;

	for (uint32_t m = 0; m < kind->mixer_count; m++) {
		struct vc_mixer mixer = kind->mixers[m];

		mixer.state_dtype = VC_DTYPE_FP32;
		bytes = sat_add(bytes,
		                layer_state_bytes(&mixer, job->stack->hidden_size, &format, 1));
	}
	return sat_mul(bytes, job->slots);
}

/* Unit u of the layers and the output goes to the first device whose share of the whole, an equal
 * one, lies beyond u. */
static uint32_t device_of(const struct llamacpp_job *job, uint32_t unit)
{
	return (uint32_t)((uint64_t)unit * job->devices / job->units);
}

/* A batch is computed on the device even where weights are in host memory: the largest of them is
 * copied over, and half of a layer's cache beside it. */
static uint64_t copied_bytes(const struct llamacpp_job *job)
{
	if (job->first_layer > 0) {
		return sat_add(job->weights.largest_bytes, llamacpp_layer_kv_bytes(job, 0) / 2);
	}
	return 0;
}

/* Devices that hold all layers between them take batches in turn. */
static bool takes_turns(const struct llamacpp_job *job)
{
	return job->devices > 1 && job->first_layer == 0 && job->output_offloaded &&
	       job->host_experts == 0;
}

/* Of a device with the output: the others reserve less. */
static uint64_t compute_bytes(const struct llamacpp_job *job, const struct ggml_run *of)
{
	struct vc_memo *memo = job->request->memo;
	struct ggml_run run = *of, layers;
	uint64_t bytes, behind;

	run.without_output = !job->has_output;
	if (job->host_experts > job->first_layer) {
		run.expert_copy_bytes = job->weights.largest_expert_bytes;
	}
	bytes = ggml_known_compute_bytes(memo, job->model, &run);
	if (!job->output_offloaded && job->has_output) {
		return sat_add(bytes, job->weights.output_bytes);
	}
	layers = run;
	layers.without_output = true;
	behind = sat_add(ggml_known_compute_bytes(memo, job->model, &layers), copied_bytes(job));
	return behind > bytes ? behind : bytes;
}

/* Inputs in one copy, as other builds and row splits have them; where no version is stated, results
 * by slot, as the newest llama-server asks for them. */
static uint64_t least_compute_bytes(const struct llamacpp_job *job, uint64_t compute)
{
	struct ggml_run run = job->run;

	run.copies = 1;
	if (job->request->engine.version.major == 0) {
		run.outputs = least(job->slots, run.tokens);
	}
	if (job->run.copies == run.copies && job->run.outputs == run.outputs) {
		return compute;
	}
	return compute_bytes(job, &run);
}

/* Flash attention on CUDA reads 16-bit keys and values: a quantized cache of one layer is
 * expanded, all its cells. In a pool that grows with use until it was reserved (b9489). */
static uint64_t scratch_bytes(const struct llamacpp_job *job)
{
	struct llamacpp_job expanded = *job;
	uint64_t most = 0;

	if (!job->run.flash || !job->run.quantized_cache) {
		return 0;
	}
	expanded.cache_dtype = VC_DTYPE_FP16;
	for (uint32_t i = 0; i < job->stack->layers; i++) {
		uint64_t bytes = llamacpp_layer_kv_bytes(&expanded, i);

		most = bytes > most ? bytes : most;
	}
	return most;
}

/* What every device reserves alike. */
static struct llamacpp_share common_share(const struct llamacpp_job *job)
{
	struct llamacpp_share share = { .compute_bytes = compute_bytes(job, &job->run),
		                        .scratch_bytes = scratch_bytes(job) };

	share.logits_bytes = sat_mul3(4, job->run.outputs, job->model->vocab_size);
	if (!job->has_output || share.logits_bytes > share.compute_bytes) {
		share.logits_bytes = 0;
	}
	return share;
}

static struct llamacpp_share share_of(const struct llamacpp_job *job,
                                      const struct llamacpp_share *common, uint32_t device)
{
	struct llamacpp_share share = *common;

	for (uint32_t unit = 0; unit < job->units; unit++) {
		uint32_t layer = job->first_layer + unit;

		if (device_of(job, unit) != device) {
			continue;
		}
		if (layer == job->stack->layers) {
			share.output = true;
			share.weights_bytes =
			        sat_add(share.weights_bytes, job->weights.output_bytes);
			continue;
		}
		share.layers++;
		share.weights_bytes =
		        sat_add(share.weights_bytes, llamacpp_layer_weights_bytes(job, layer));
		share.kv_bytes = sat_add(share.kv_bytes, llamacpp_layer_kv_bytes(job, layer));
		share.state_bytes =
		        sat_add(share.state_bytes, llamacpp_layer_state_bytes(job, layer));
	}
	if (device == 0) {
		share.weights_bytes = sat_add(share.weights_bytes, job->charged_table_bytes);
	}
	if (share.layers == 0) {
		share.scratch_bytes = 0;
	}
	return share;
}

static uint64_t share_bytes(const struct llamacpp_share *share)
{
	return sat_add(
	        sat_add(share->weights_bytes, share->kv_bytes),
	        sat_add(share->state_bytes, sat_add(share->compute_bytes, share->scratch_bytes)));
}

/* Of the device that holds the most. */
static struct llamacpp_share fullest(const struct llamacpp_job *job)
{
	struct llamacpp_share common = common_share(job);
	struct llamacpp_share best = share_of(job, &common, 0);

	for (uint32_t i = 1; i < job->devices; i++) {
		struct llamacpp_share share = share_of(job, &common, i);

		if (share_bytes(&share) > share_bytes(&best)) {
			best = share;
		}
	}
	return best;
}

/* Builds before b6980 keep several copies, whether they fit or not. */
static bool gives_up_copies(const struct llamacpp_job *job, uint64_t bytes)
{
	const struct vc_gpu *gpu = job->request->gpu;
	uint64_t usable = gpu ? device_usable_bytes(gpu) : 0;

	return job->run.copies > 1 && usable > 0 && since(job->request, copies_given_up) &&
	       bytes > usable;
}

struct llamacpp_share llamacpp_fullest(struct llamacpp_job *job, uint64_t runtime_bytes)
{
	struct llamacpp_share share;

	job->run.copies = takes_turns(job) ? PIPELINE_COPIES : 1;
	share = fullest(job);
	if (gives_up_copies(job, sat_add(share_bytes(&share), runtime_bytes))) {
		job->run.copies = 1;
		job->copies_given_up = true;
		share = fullest(job);
	}
	share.least_compute_bytes = least_compute_bytes(job, share.compute_bytes);
	return share;
}
