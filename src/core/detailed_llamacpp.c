/*
 * llama.cpp, and ollama which runs it: GGUF weights by layer, a cache of whole cells, one compute
 * buffer that is reserved at start. Everything is allocated before the first token, so that there
 * is one phase. docs/llamacpp.md
 */
#include "detailed.h"

#include "ledger.h"
#include "llamacpp_job.h"
#include "sat.h"
#include "text.h"

enum {
	MILLION = 1000000,
	MIB = 1 << 20,
	/* Context, kernels, cuBLAS: what llama.cpp's memory table leaves "unaccounted", 451 to 456
	 * MiB on an RTX 4090, 555 on an RTX PRO 6000 (github.com/ggml-org/llama.cpp/pull/23604);
	 * the context alone 107 on an RTX 4060 Ti, with a desktop up to 830. */
	RUNTIME_MIB = 450,
	RUNTIME_LOW_MIB = 150,
	RUNTIME_HIGH_MIB = 800,
	/* ggml's plain order of nodes against the orders of its backends: llama.cpp 0.5.0 with
	 * Vulkan's, 92 points of eight models: -11.8 % to +11.4 %, half of them within 0.4 %;
	 * builds of 2025 up to 19 % larger (github.com/ikawrakow/ik_llama.cpp/pull/344, /562). */
	COMPUTE_LOW_PPM = 120000,
	COMPUTE_HIGH_PPM = 190000
};

struct estimate {
	const struct llamacpp_job *job;
	struct vc_ledger *ledger;
	struct llamacpp_share share;
	uint64_t low_bytes, high_bytes;
};

/* Adds a line and what it may be off by. */
static struct vc_line *add(struct estimate *e, enum vc_component component, uint64_t bytes,
                           const char *formula)
{
	e->low_bytes = sat_add(e->low_bytes, bytes);
	e->high_bytes = sat_add(e->high_bytes, bytes);
	return vc_ledger_add(e->ledger, component, bytes, formula);
}

static void widen(struct estimate *e, uint64_t below, uint64_t above)
{
	e->low_bytes = sat_sub(e->low_bytes, below);
	e->high_bytes = sat_add(e->high_bytes, above);
}

/* Of one line. */
static void widen_line(struct estimate *e, struct vc_line *line, uint64_t below, uint64_t above)
{
	vc_line_range(line, below, above);
	widen(e, below, above);
}

static void add_weights(struct estimate *e)
{
	const struct llamacpp_job *job = e->job;
	struct gguf_spread spread = gguf_spread(job->model, job->request->workload.quantization);
	uint64_t bytes = e->share.weights_bytes;
	struct vc_line *line;

	if (bytes == 0) {
		return;
	}
	line = add(e, VC_COMPONENT_WEIGHTS, bytes,
	           "tensors of this GPU's layers, each in the type its mixture gives it");
	vc_line_input(line, "layers", e->share.layers);
	vc_line_input(line, "of", job->stack->layers);
	vc_line_input(line, "file", job->weights.total_bytes);
	widen_line(e, line,
	           sat_add(sat_scale_up(bytes, spread.below, MILLION), job->charged_table_bytes),
	           sat_scale_up(bytes, spread.above, MILLION));
}

static void add_caches(struct estimate *e)
{
	const struct llamacpp_job *job = e->job;
	struct vc_line *line;

	if (e->share.kv_bytes > 0) {
		line = add(e, VC_COMPONENT_KV_CACHE, e->share.kv_bytes,
		           "slots × cells × key and value rows, layer by layer");
		vc_line_input(line, "slots", job->slots);
		vc_line_input(line, "cells", job->run.cells);
		vc_line_input(line, "cells of windows", job->run.window_cells);
	}
	if (e->share.state_bytes > 0) {
		line = add(e, VC_COMPONENT_RECURRENT_STATE, e->share.state_bytes,
		           "slots × convolution and recurrent state in 32 bits");
		vc_line_input(line, "slots", job->slots);
	}
}

static void add_compute(struct estimate *e)
{
	const struct llamacpp_job *job = e->job;
	uint64_t compute = e->share.compute_bytes, logits = e->share.logits_bytes;
	uint64_t least =
	        sat_sub(e->share.least_compute_bytes,
	                sat_scale_up(e->share.least_compute_bytes, COMPUTE_LOW_PPM, MILLION));
	uint64_t below = sat_sub(compute, least);
	uint64_t above = sat_scale_up(compute, COMPUTE_HIGH_PPM, MILLION);
	struct vc_line *line =
	        add(e, VC_COMPONENT_ACTIVATIONS, sat_sub(compute, logits),
	            "compute buffer: peak of ggml's allocator over a batch of n_ubatch tokens");

	widen_line(e, line, below, above);
	vc_line_input(line, "n_ubatch", job->run.tokens);
	vc_line_input(line, "cells", job->run.cells);
	vc_line_input(line, "flash attention", job->run.flash);
	if (logits > 0) {
		line = add(e, VC_COMPONENT_LOGITS, logits, "4 × results × V");
		vc_line_input(line, "results", job->run.outputs);
		vc_line_input(line, "V", job->model->vocab_size);
	}
}

static void add_runtime(struct estimate *e)
{
	uint64_t scratch = e->share.scratch_bytes;

	if (scratch > 0) {
		struct vc_line *line =
		        add(e, VC_COMPONENT_FRAMEWORK, scratch,
		            "one layer's keys and values in 16 bits, for flash attention");

		vc_line_input(line, "cells", e->job->run.cells);
		widen_line(e, line, scratch / 2, 0);
	}
	widen_line(e,
	           add(e, VC_COMPONENT_FRAMEWORK, (uint64_t)RUNTIME_MIB * MIB,
	               "context, kernels and cuBLAS of a process"),
	           (uint64_t)(RUNTIME_MIB - RUNTIME_LOW_MIB) * MIB,
	           (uint64_t)(RUNTIME_HIGH_MIB - RUNTIME_MIB) * MIB);
}

/* Files may carry next-token layers, and a draft context beside the model's own: not counted, but
 * not excluded either. A layer's weights and cache, and logits of the draft's batches. */
static void allow_for_draft(struct estimate *e)
{
	const struct llamacpp_job *job = e->job;
	uint32_t last = job->stack->layers - 1;
	uint64_t bytes;

	for (uint32_t i = 0; i < job->model->stack_count; i++) {
		if (job->model->stacks[i].role != VC_STACK_MTP) {
			continue;
		}
		bytes = sat_add(job->weights.layer_bytes[last],
		                sat_add(llamacpp_layer_kv_bytes(job, last), e->share.logits_bytes));
		widen(e, 0, bytes);
		vc_ledger_note(
		        e->ledger, "llamacpp-draft",
		        "next-token layers are not counted; with them and a draft context up "
		        "to {0B} more",
		        (const uint64_t[3]){ bytes, 0, 0 });
	}
}

/* Ollama's files hold the tower that sees, llama-server loads one from a file beside the model's
 * where it finds it: not counted, not excluded. */
static void allow_for_vision(struct estimate *e)
{
	uint64_t bytes = gguf_vision_bytes(e->job->model);

	if (bytes > 0) {
		widen(e, 0, bytes);
		vc_ledger_note(e->ledger, "llamacpp-vision",
		               "the vision tower's file is not counted; loaded as well it takes "
		               "{0B} and a buffer for its images",
		               (const uint64_t[3]){ bytes, 0, 0 });
	}
}

static void add_host(struct estimate *e)
{
	const struct llamacpp_job *job = e->job;
	uint64_t weights = sat_sub(job->weights.embedding_bytes, job->charged_table_bytes), kv = 0;
	uint64_t out = sat_mul3(4, job->slots, job->model->vocab_size);
	uint64_t mask = sat_mul3(job->run.flash ? 2 : 4, job->run.cells, job->run.tokens);

	for (uint32_t i = 0; i < job->first_layer; i++) {
		weights = sat_add(weights, job->weights.layer_bytes[i]);
		kv = sat_add(kv, sat_add(llamacpp_layer_kv_bytes(job, i),
		                         llamacpp_layer_state_bytes(job, i)));
	}
	for (uint32_t i = job->first_layer; i < job->host_experts; i++) {
		weights = sat_add(weights, job->weights.layer_experts_bytes[i]);
	}
	if (!job->output_offloaded && !job->weights.tied) {
		weights = sat_add(weights, job->weights.output_bytes);
	}
	if (weights > 0) {
		vc_ledger_add_host(
		        e->ledger, VC_COMPONENT_WEIGHTS, weights,
		        "token embedding and what is not on a GPU; mapped from the file");
	}
	if (kv > 0) {
		vc_ledger_add_host(e->ledger, VC_COMPONENT_KV_CACHE, kv,
		                   "caches of the layers in host memory");
	}
	vc_ledger_add_host(e->ledger, VC_COMPONENT_ACTIVATIONS,
	                   sat_add(mask, sat_mul3(4, job->run.tokens, job->stack->hidden_size)),
	                   "inputs of a batch: embedded tokens and attention masks");
	vc_ledger_add_host(e->ledger, VC_COMPONENT_LOGITS, out, "4 × slots × V: output buffer");
}

static void add_placement_notes(const struct estimate *e)
{
	const struct llamacpp_job *job = e->job;
	struct vc_ledger *ledger = e->ledger;

	if (job->charged_table_bytes > 0) {
		vc_ledger_note(ledger, "llamacpp-whole-file",
		               "engine.gpu_layers is not stated: the whole file is charged to the "
		               "GPU; llama.cpp keeps the token embedding, {0B}, in host memory "
		               "(state gpu_layers to have it there)",
		               (const uint64_t[3]){ job->weights.embedding_bytes, 0, 0 });
	}
	if (job->weights.tied) {
		vc_ledger_note(ledger, "llamacpp-tied-twice",
		               "the tied token table is held twice: {0B} on the GPU as the output "
		               "matrix, as much in host memory",
		               (const uint64_t[3]){ job->weights.embedding_bytes, 0, 0 });
	}
	if (job->first_layer > 0) {
		vc_ledger_note(ledger, "llamacpp-partial-offload",
		               "{0} of {1} layers stay in host memory; batches copy their matrices "
		               "to the GPU one at a time",
		               (const uint64_t[3]){ job->first_layer, job->stack->layers, 0 });
	}
	if (job->host_experts > job->first_layer) {
		vc_ledger_note(
		        ledger, "llamacpp-host-experts",
		        "the experts of the first {0} layer{0s} stay in host memory; batches "
		        "copy their matrices, up to {1B}, to the GPU one at a time",
		        (const uint64_t[3]){ job->host_experts, job->weights.largest_expert_bytes,
		                             0 });
	}
	if (job->copies_given_up) {
		vc_ledger_note(ledger, "llamacpp-one-copy",
		               "inputs in several copies do not fit the GPU: llama.cpp starts over "
		               "with one, and without pipeline parallelism",
		               NULL);
	}
	if (job->devices > 1) {
		vc_ledger_note(ledger, "llamacpp-layer-split",
		               "layers are dealt to {0} GPUs in equal shares, the output goes with "
		               "the last; the ledger is for the fullest",
		               (const uint64_t[3]){ job->devices, 0, 0 });
	}
}

static void add_notes(const struct estimate *e)
{
	const struct llamacpp_job *job = e->job;
	const struct vc_request *request = job->request;
	struct vc_ledger *ledger = e->ledger;

	add_placement_notes(e);
	if (job->run.cells != request->workload.sequence_length) {
		vc_ledger_note(ledger, "llamacpp-cells",
		               "the context is rounded up to {0} cell{0s}",
		               (const uint64_t[3]){ job->run.cells, 0, 0 });
	}
	if (!request->engine.ubatch_size) {
		vc_ledger_note(ledger, "llamacpp-ubatch",
		               "batches of {0} token{0s}, llama.cpp's default",
		               (const uint64_t[3]){ job->ubatch, 0, 0 });
	}
	if (job->has_output && job->run.outputs == job->run.tokens) {
		vc_ledger_note(ledger, "llamacpp-outputs",
		               "the compute buffer holds the logits of a whole batch; "
		               "llama-server since June 2026 (engine.version b9464) reserves one "
		               "row per slot",
		               NULL);
	}
	if (job->cache_type_replaced) {
		vc_ledger_note(ledger, "llamacpp-cache-type",
		               "llama.cpp has no such cache type: q8_0 or q4_0 stands for it",
		               (const uint64_t[3]){ 0, 0, 0 });
	}
	if (job->flash_forced) {
		vc_ledger_note(ledger, "llamacpp-flash",
		               "a quantized cache needs flash attention: it is taken as on",
		               (const uint64_t[3]){ 0, 0, 0 });
	}
	if (job->family->expanded_latent && !job->run.latent_cache) {
		vc_ledger_note(ledger, "llamacpp-expanded-latent",
		               "public files of this family hold whole keys and values: the cache "
		               "does not use the latent",
		               (const uint64_t[3]){ 0, 0, 0 });
	}
}

enum vc_status vc_estimate_llamacpp(const struct vc_request *request, struct vc_ledger *ledger,
                                    struct vc_error *error)
{
	struct llamacpp_job job;
	struct estimate e = { .job = &job, .ledger = ledger };
	uint64_t total = 0;

	if (!llamacpp_read(&job, request)) {
		return vc_fail(error, VC_UNSUPPORTED, "workload.quantization",
		               "llama.cpp has no files in %s (q4_k_m, q8_0, iq4_xs, ...)",
		               request->workload.quantization->name);
	}
	e.share = llamacpp_fullest(&job, (uint64_t)RUNTIME_MIB * MIB);
	add_weights(&e);
	add_caches(&e);
	add_compute(&e);
	add_runtime(&e);
	allow_for_draft(&e);
	allow_for_vision(&e);
	add_host(&e);
	add_notes(&e);
	for (uint32_t i = 0; i < ledger->line_count; i++) {
		total = sat_add(total, ledger->lines[i].bytes);
	}
	vc_ledger_phase(ledger, "load", total);
	ledger->low_bytes = e.low_bytes;
	ledger->high_bytes = e.high_bytes;
	/* the table that is charged to the GPU need not be there */
	ledger->need_bytes = sat_sub(e.high_bytes, job.charged_table_bytes);
	ledger->need_expected_bytes = sat_sub(total, job.charged_table_bytes);
	return VC_OK;
}
