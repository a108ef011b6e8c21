/*
 * Command lines of inference servers. What the estimate took as given is said; what it left to the
 * engine's own default is left to it here as well.
 * vLLM: docs.vllm.ai, "Engine Arguments". SGLang: docs.sglang.ai, "Server Arguments". llama.cpp:
 * tools/server/README.md.
 */
#include "emit.h"

#include <inttypes.h>
#include <string.h>

static enum vc_quantizer quantizer_of(const struct emit_job *job)
{
	const struct vc_quantization *quantization = job->request->workload.quantization;

	return quantization ? quantization->quantizer : VC_QUANTIZER_NONE;
}

/* The checkpoint itself is quantized as the plan has it. */
static bool quantized_so(const struct emit_job *job)
{
	const struct vc_quantization *own = job->request->model->quantization;

	return job->request->model->file.quantized || (own && own->quantizer == quantizer_of(job));
}

/* What an engine quantizes to while it loads; a checkpoint tells of all the rest by itself.
 * bitsandbytes in 8 bits is of those: engines quantize to 4. */
static const char *online_quantization(const struct emit_job *job)
{
	enum vc_quantizer quantizer = quantizer_of(job);

	if (job->request->model->quantization || job->request->model->file.quantized) {
		return NULL;
	}
	if (quantizer == VC_QUANTIZER_BNB_4BIT) {
		return "bitsandbytes";
	}
	if (quantizer == VC_QUANTIZER_FP8 ||
	    (quantizer == VC_QUANTIZER_NONE && job->request->workload.precision == VC_DTYPE_FP8)) {
		return "fp8";
	}
	return NULL;
}

/* Left to the engine where the spec leaves it out: 16 bits all the same, and the checkpoint's own
 * bf16 where fp16 would not do. */
static const char *stated_dtype(const struct emit_job *job)
{
	return vc_spec_gives(job->plan->spec, "workload.precision") ||
	                       job->request->workload.precision != VC_DTYPE_FP16
	               ? emit_torch_dtype(job)
	               : NULL;
}

/*
 * A model that is known not to be quantized as planned, or not to be a GGUF file, is none to start;
 * one that a spec only names may be.
 */
static void replace_model(struct emit_job *job, const char *kind, const char *format)
{
	const char *name = job->request->model->name;

	if (*job->hub.model || strcmp(job->model, name) != 0) {
		(void)snprintf(job->model_is, sizeof job->model_is, "%s of %.100s %s", kind, name,
		               format);
		(void)snprintf(job->model, sizeof job->model, "MODEL");
	} else {
		emit_note(job, "%.100s: has to be %s %s", name, kind, format);
	}
}

static bool refuse_tokenless(struct emit_job *job)
{
	if (emit_has_tokens(job)) {
		return false;
	}
	job->refusal = "it serves models of text, and this one has no vocabulary";
	return true;
}

/* Formats that neither engine loads, and those that it is to find in the checkpoint. */
static bool settle_weights(struct emit_job *job)
{
	enum vc_quantizer quantizer = quantizer_of(job);
	const struct vc_quantization *quantization = job->request->workload.quantization;
	bool plain = quantizer == VC_QUANTIZER_NONE && !emit_torch_dtype(job) &&
	             job->request->workload.precision != VC_DTYPE_FP8;
	char format[64];

	if (refuse_tokenless(job)) {
		return false;
	}
	if (plain || quantizer == VC_QUANTIZER_PLAIN || quantizer == VC_QUANTIZER_HQQ) {
		job->refusal = "it loads no weights of this format (expected workload.precision: "
		               "fp32, fp16, bf16 or fp8, or a workload.quantization such as "
		               "awq-int4-g128, gptq-int8-g128 or fp8)";
		return false;
	}
	if (quantizer != VC_QUANTIZER_NONE && !quantized_so(job) && !online_quantization(job)) {
		(void)snprintf(format, sizeof format, "quantized as %.40s", quantization->name);
		replace_model(job, "a checkpoint", format);
	}
	return true;
}

static void add_count(struct words *words, const char *option, uint64_t value, uint64_t usual)
{
	if (value != usual) {
		words_add(words, "%s", option);
		words_add(words, "%" PRIu64, value);
	}
}

static void add_text(struct words *words, const char *option, const char *value)
{
	if (value) {
		words_add(words, "%s", option);
		words_add(words, "%s", value);
	}
}

static void add_ratio(struct words *words, const char *option, uint32_t ppm)
{
	if (ppm > 0) {
		words_add(words, "%s", option);
		words_add(words, ppm % 10000 ? "%u.%06u" : "%u.%02u", ppm / 1000000,
		          ppm % 10000 ? ppm % 1000000 : ppm % 1000000 / 10000);
	}
}

static bool caches_in_fp8(const struct emit_job *job)
{
	return job->request->workload.kv_cache_precision == VC_DTYPE_FP8;
}

/* Where weights and cache both have 16 bits the cache takes after the weights, at the same size. */
static bool add_cache(struct emit_job *job, struct words *words, const char *fp8)
{
	const struct vc_workload *workload = &job->request->workload;
	bool in_16_bits = workload->kv_cache_precision == VC_DTYPE_FP16 ||
	                  workload->kv_cache_precision == VC_DTYPE_BF16;

	if (caches_in_fp8(job)) {
		add_text(words, "--kv-cache-dtype", fp8);
	} else if (workload->kv_cache_precision != workload->precision &&
	           !(in_16_bits && vc_dtype_info(workload->precision)->block_bytes < 4)) {
		job->refusal = "it keeps its KV cache in fp8, or in 16 bits where the weights have "
		               "no more (workload.kv_cache_precision)";
		return false;
	}
	return true;
}

/* Both engines refuse to start beyond the model's positions. */
static void add_length(struct emit_job *job, struct words *words, const char *option,
                       const char *variable)
{
	uint64_t length = job->request->workload.sequence_length;
	uint64_t positions = job->request->model->max_position_embeddings;

	if (positions > 0 && length > positions) {
		emit_note(job,
		          "%s: the model's %" PRIu64 " positions instead of the plan's %" PRIu64
		          " tokens, which take %s=1",
		          option, positions, length, variable);
		length = positions;
	}
	add_count(words, option, length, 0);
}

static const char *const draft_model = "DRAFT_MODEL";

/* Whether tokens are drafted; what with, where not by the model's own layers, goes to a note. */
static bool settle_drafts(struct emit_job *job)
{
	const struct vc_model *model = job->request->model;
	bool own = false;

	if (job->request->engine.speculative_tokens == 0) {
		return true;
	}
	if (job->request->engine.draft_params > 0) {
		emit_note(job, "%s: the path or the hub's id of the model that drafts",
		          draft_model);
		return true;
	}
	for (uint32_t i = 0; i < model->stack_count; i++) {
		own |= model->stacks[i].role == VC_STACK_MTP;
	}
	if (!own) {
		job->refusal = "the model has no next-token layers to draft with "
		               "(engine.draft_params: the size of a model that drafts)";
	}
	return own;
}

/* ---- vLLM ---- */

/* The ranks that it has kernels for: vllm/config/lora.py, MaxLoRARanks. 0: more than it takes. */
static uint32_t vllm_lora_rank(uint32_t rank)
{
	static const uint32_t ranks[] = { 1, 8, 16, 32, 64, 128, 256, 320, 512 };

	for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
		if (rank <= ranks[i]) {
			return ranks[i];
		}
	}
	return 0;
}

static bool add_vllm_loras(struct emit_job *job, struct words *words)
{
	const struct vc_engine_options *engine = &job->request->engine;
	uint32_t wanted = engine->max_lora_rank ? engine->max_lora_rank : 16;
	uint32_t rank = vllm_lora_rank(wanted);

	if (engine->max_loras == 0) {
		return true;
	}
	if (rank == 0) {
		job->refusal = "its adapters have a rank of 512 or less (engine.max_lora_rank)";
		return false;
	}
	if (rank != wanted) {
		emit_note(
		        job,
		        "--max-lora-rank: vLLM has slots of %u, not of %u, so they take more than "
		        "planned",
		        rank, wanted);
	}
	words_add(words, "--enable-lora");
	add_count(words, "--max-loras", engine->max_loras, 0);
	add_count(words, "--max-lora-rank", rank, 0);
	return true;
}

static void add_vllm_drafts(struct emit_job *job, struct words *words)
{
	const struct vc_engine_options *engine = &job->request->engine;

	if (engine->speculative_tokens == 0) {
		return;
	}
	words_add(words, "--speculative-config");
	words_add(words, "{\"%s\": \"%s\", \"num_speculative_tokens\": %u}",
	          engine->draft_params ? "model" : "method",
	          engine->draft_params ? draft_model : "mtp", engine->speculative_tokens);
}

/* vllm/config/model.py, _FLOAT16_NOT_SUPPORTED_MODELS */
static bool refuse_fp16(struct emit_job *job)
{
	static const char *const families[] = { "gemma2", "gemma3", "gemma3_text", "glm4" };

	for (size_t i = 0;
	     stated_dtype(job) && emit_is_fp16(job) && i < sizeof families / sizeof *families;
	     i++) {
		if (strcmp(job->request->model->family, families[i]) == 0) {
			job->refusal = "it does not run this model in fp16 (workload.precision: "
			               "bf16)";
			return true;
		}
	}
	return false;
}

static void note_plugin(struct emit_job *job)
{
	if (quantizer_of(job) == VC_QUANTIZER_BNB_4BIT ||
	    quantizer_of(job) == VC_QUANTIZER_BNB_INT8) {
		emit_note(job, "bitsandbytes: from vLLM 0.28 on with the package vllm-bnb-plugin");
	}
	if (quantizer_of(job) == VC_QUANTIZER_GGUF) {
		emit_note(job, "GGUF: from vLLM 0.24 on with the package vllm-gguf-plugin");
	}
}

bool emit_vllm_words(struct emit_job *job, struct words *words)
{
	const struct vc_engine_options *engine = &job->request->engine;
	const struct vc_parallelism *layout = &job->best->layout;

	if (!settle_weights(job) || !settle_drafts(job) || refuse_fp16(job)) {
		return false;
	}
	words_add(words, "vllm");
	words_add(words, "serve");
	words_add(words, "%s", job->model);
	add_text(words, "--revision", emit_revision(job));
	add_text(words, "--dtype", stated_dtype(job));
	add_text(words, "--quantization", online_quantization(job));
	add_count(words, "--tensor-parallel-size", layout->tensor, 1);
	add_count(words, "--pipeline-parallel-size", layout->pipeline, 1);
	add_count(words, "--data-parallel-size", layout->data, 1);
	if (layout->expert > 1) {
		words_add(words, "--enable-expert-parallel");
	}
	if (job->nodes > 1) {
		add_text(words, "--distributed-executor-backend", "ray");
		emit_note(job, "on the head of a Ray cluster of the %u nodes", job->nodes);
	}
	add_length(job, words, "--max-model-len", "VLLM_ALLOW_LONG_MAX_MODEL_LEN");
	add_count(words, "--max-num-seqs", engine->max_num_seqs, 0);
	add_count(words, "--max-num-batched-tokens", engine->max_num_batched_tokens, 0);
	add_ratio(words, "--gpu-memory-utilization", engine->gpu_memory_utilization_ppm);
	if (engine->enforce_eager) {
		words_add(words, "--enforce-eager");
	}
	if (!add_cache(job, words, "fp8") || !add_vllm_loras(job, words)) {
		return false;
	}
	add_vllm_drafts(job, words);
	note_plugin(job);
	return !words->full;
}

/* ---- SGLang ---- */

static void add_sglang_extras(struct emit_job *job, struct words *words)
{
	const struct vc_engine_options *engine = &job->request->engine;

	if (engine->max_loras > 0) {
		words_add(words, "--enable-lora");
		add_count(words, "--max-loras-per-batch", engine->max_loras, 0);
		add_count(words, "--max-lora-rank",
		          engine->max_lora_rank ? engine->max_lora_rank : 16, 0);
		add_text(words, "--lora-target-modules", "all");
	}
	if (engine->speculative_tokens > 0) {
		add_text(words, "--speculative-algorithm",
		         engine->draft_params ? "STANDALONE" : "EAGLE");
		add_text(words, "--speculative-draft-model-path",
		         engine->draft_params ? draft_model : NULL);
		add_count(words, "--speculative-num-steps", engine->speculative_tokens, 0);
		add_count(words, "--speculative-eagle-topk", 1, 0);
		add_count(words, "--speculative-num-draft-tokens",
		          (uint64_t)engine->speculative_tokens + 1, 0);
	}
}

bool emit_sglang_words(struct emit_job *job, struct words *words)
{
	const struct vc_engine_options *engine = &job->request->engine;
	const struct vc_parallelism *layout = &job->best->layout;
	const char *quantization = online_quantization(job);
	/* FlashAttention 3 has E4M3 alone, Triton before sm_89 E5M2 alone: arg_groups/overrides.py
	 */
	const char *cache = job->best->gpu->compute_capability >= 89 ? "fp8_e4m3" : "fp8_e5m2";

	if (job->nodes > 1) {
		job->refusal = "the row takes several nodes, each with a command of its own "
		               "(--max-gpus)";
		return false;
	}
	if (!settle_weights(job) || !settle_drafts(job)) {
		return false;
	}
	words_add(words, "python3");
	words_add(words, "-m");
	words_add(words, "sglang.launch_server");
	add_text(words, "--model-path", job->model);
	add_text(words, "--revision", emit_revision(job));
	add_text(words, "--dtype", stated_dtype(job));
	add_text(words, "--quantization", quantization);
	add_text(words, "--load-format",
	         quantization && quantizer_of(job) == VC_QUANTIZER_BNB_4BIT ? quantization : NULL);
	add_count(words, "--tp-size", layout->tensor, 1);
	add_count(words, "--pp-size", layout->pipeline, 1);
	add_count(words, "--dp-size", layout->data, 1);
	add_count(words, "--ep-size", layout->expert, 1);
	add_length(job, words, "--context-length", "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN");
	add_count(words, "--max-running-requests", engine->max_num_seqs, 0);
	add_count(words, "--chunked-prefill-size", engine->max_num_batched_tokens, 0);
	add_ratio(words, "--mem-fraction-static",
	          engine->name == VC_ENGINE_SGLANG ? engine->gpu_memory_utilization_ppm : 0);
	if (engine->enforce_eager) {
		words_add(words, "--disable-cuda-graph");
	}
	if (!add_cache(job, words, cache)) {
		return false;
	}
	add_sglang_extras(job, words);
	return !words->full;
}

/* ---- llama.cpp ---- */

static const char *llamacpp_cache(enum vc_dtype dtype)
{
	switch (dtype) {
	case VC_DTYPE_FP32:
	case VC_DTYPE_TF32:
		return "f32";
	case VC_DTYPE_FP16:
		return "f16";
	case VC_DTYPE_BF16:
		return "bf16";
	case VC_DTYPE_INT8:
	case VC_DTYPE_Q8_0:
		return "q8_0";
	case VC_DTYPE_INT4:
	case VC_DTYPE_Q4_0:
		return "q4_0";
	case VC_DTYPE_Q4_1:
	case VC_DTYPE_Q5_0:
	case VC_DTYPE_Q5_1:
	case VC_DTYPE_IQ4_NL:
		return vc_dtype_info(dtype)->name;
	default:
		return NULL;
	}
}

static void add_llamacpp_model(struct emit_job *job, struct words *words)
{
	if (!*job->hub.model || strcmp(job->model, "MODEL") == 0) {
		add_text(words, "--model", job->model);
		return;
	}
	add_text(words, "--hf-repo", job->model);
	add_text(words, "--hf-file", *job->hub.file ? job->hub.file : NULL);
	if (emit_revision(job)) {
		emit_note(job, "of the revision %.100s, which llama-server has no option for",
		          emit_revision(job));
	}
}

/* It reads GGUF files alone. */
static bool settle_gguf(struct emit_job *job)
{
	const struct vc_request *request = job->request;
	enum vc_quantizer quantizer = quantizer_of(job);
	char format[64];

	if (request->model->source == VC_SOURCE_GGUF) {
		return true;
	}
	if (refuse_tokenless(job)) {
		return false;
	}
	if (quantizer == VC_QUANTIZER_NONE
	            ? !emit_torch_dtype(job)
	            : quantizer != VC_QUANTIZER_GGUF && quantizer != VC_QUANTIZER_MXFP4 &&
	                      quantizer != VC_QUANTIZER_NVFP4) {
		job->refusal = "it loads no weights of this format (expected workload.precision: "
		               "fp32, fp16 or bf16, or a workload.quantization of GGUF files "
		               "such as q4_k_m)";
		return false;
	}
	(void)snprintf(format, sizeof format, "in %.40s",
	               quantizer != VC_QUANTIZER_NONE
	                       ? request->workload.quantization->name
	                       : vc_dtype_info(request->workload.precision)->name);
	(void)snprintf(job->model_is, sizeof job->model_is, "a GGUF file of %.100s %s",
	               request->model->name, format);
	(void)snprintf(job->model, sizeof job->model, "MODEL");
	return true;
}

bool emit_llamacpp_words(struct emit_job *job, struct words *words)
{
	const struct vc_request *request = job->request;
	const struct vc_engine_options *engine = &request->engine;
	const char *cache = llamacpp_cache(request->workload.kv_cache_precision);

	if (job->nodes > 1) {
		job->refusal = "the row takes several nodes, of which it uses one (--max-gpus)";
		return false;
	}
	if (!settle_gguf(job)) {
		return false;
	}
	if (!cache) {
		job->refusal = "it keeps its KV cache in fp32, fp16, bf16, q8_0, q5_1, q5_0, q4_1, "
		               "q4_0 or iq4_nl (workload.kv_cache_precision)";
		return false;
	}
	words_add(words, "llama-server");
	add_llamacpp_model(job, words);
	/* the context is divided among the slots */
	add_count(words, "--ctx-size", request->workload.sequence_length * job->sequences, 0);
	add_count(words, "--parallel", job->sequences, 0);
	add_count(words, "--n-gpu-layers", engine->gpu_layers_given ? engine->gpu_layers : 999, 0);
	add_count(words, "--n-cpu-moe", engine->cpu_moe_layers, 0);
	add_count(words, "--ubatch-size", engine->ubatch_size, 0);
	/* it cuts the smaller batch to the larger, 2048 where none is stated */
	add_count(words, "--batch-size", engine->ubatch_size > 2048 ? engine->ubatch_size : 0, 0);
	if (strcmp(cache, "f16") != 0) { /* its own default */
		add_text(words, "--cache-type-k", cache);
		add_text(words, "--cache-type-v", cache);
	}
	add_text(words, "--flash-attn",
	         request->workload.attn_implementation == VC_ATTENTION_EAGER ? "off" : "on");
	/* by layers even where a layout says tensor: that is how the estimate deals them */
	add_text(words, "--split-mode", job->best->gpus == 1 ? "none" : "layer");
	return !words->full;
}

bool emit_serving_words(struct emit_job *job, struct words *words)
{
	switch (job->request->engine.name) {
	case VC_ENGINE_NONE:
	case VC_ENGINE_VLLM:
		return emit_vllm_words(job, words);
	case VC_ENGINE_SGLANG:
		return emit_sglang_words(job, words);
	case VC_ENGINE_LLAMACPP:
		return emit_llamacpp_words(job, words);
	default:
		job->refusal = "no command line of this engine is known (engine.name: vllm, sglang "
		               "or llama.cpp)";
		return false;
	}
}
