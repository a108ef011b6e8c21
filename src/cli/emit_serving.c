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

/* GPTQ, AWQ, compressed-tensors, MXFP4, NVFP4 are told by the checkpoint; these may be asked for.
 */
static const char *online_quantization(const struct emit_job *job)
{
	enum vc_quantizer quantizer = quantizer_of(job);

	if (quantizer == VC_QUANTIZER_BNB_INT8 || quantizer == VC_QUANTIZER_BNB_4BIT) {
		return "bitsandbytes";
	}
	if ((quantizer == VC_QUANTIZER_FP8 && !job->request->model->file.quantized) ||
	    job->request->workload.precision == VC_DTYPE_FP8) {
		return "fp8";
	}
	return NULL;
}

static bool refuse_offline_kind(struct emit_job *job)
{
	enum vc_quantizer quantizer = quantizer_of(job);
	enum vc_dtype precision = job->request->workload.precision;

	if (quantizer == VC_QUANTIZER_PLAIN ||
	    (quantizer == VC_QUANTIZER_NONE &&
	     (precision == VC_DTYPE_INT8 || precision == VC_DTYPE_INT4))) {
		job->refusal = "int8 and int4 alone are no format that it loads (expected a "
		               "quantization such as awq-int4-g128, gptq-int8-g128 or fp8)";
		return false;
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
		words_add(words, "%u.%02u", ppm / 1000000, ppm % 1000000 / 10000);
	}
}

static bool caches_in_fp8(const struct emit_job *job)
{
	return job->request->workload.kv_cache_precision == VC_DTYPE_FP8;
}

static bool refuse_cache(struct emit_job *job)
{
	const struct vc_workload *workload = &job->request->workload;

	if (workload->kv_cache_precision != workload->precision && !caches_in_fp8(job) &&
	    workload->kv_cache_precision != VC_DTYPE_FP16 &&
	    workload->kv_cache_precision != VC_DTYPE_BF16) {
		job->refusal =
		        "it keeps its KV cache in 16 bits or fp8 (workload.kv_cache_precision)";
		return false;
	}
	return true;
}

bool emit_vllm_words(struct emit_job *job, struct words *words)
{
	const struct vc_engine_options *engine = &job->request->engine;
	const struct vc_parallelism *layout = &job->best->layout;

	if (!refuse_offline_kind(job) || !refuse_cache(job)) {
		return false;
	}
	words_add(words, "vllm");
	words_add(words, "serve");
	words_add(words, "%s", job->model);
	add_text(words, "--dtype", emit_torch_dtype(job));
	add_text(words, "--quantization", online_quantization(job));
	add_count(words, "--tensor-parallel-size", layout->tensor, 1);
	add_count(words, "--pipeline-parallel-size", layout->pipeline, 1);
	add_count(words, "--data-parallel-size", layout->data, 1);
	if (layout->expert > 1) {
		words_add(words, "--enable-expert-parallel");
	}
	add_text(words, "--distributed-executor-backend", job->nodes > 1 ? "ray" : NULL);
	add_count(words, "--max-model-len", job->request->workload.sequence_length, 0);
	add_count(words, "--max-num-seqs", engine->max_num_seqs, 0);
	add_count(words, "--max-num-batched-tokens", engine->max_num_batched_tokens, 0);
	add_ratio(words, "--gpu-memory-utilization", engine->gpu_memory_utilization_ppm);
	add_text(words, "--kv-cache-dtype", caches_in_fp8(job) ? "fp8" : NULL);
	if (engine->enforce_eager) {
		words_add(words, "--enforce-eager");
	}
	if (engine->max_loras > 0) {
		words_add(words, "--enable-lora");
		add_count(words, "--max-loras", engine->max_loras, 0);
		add_count(words, "--max-lora-rank",
		          engine->max_lora_rank ? engine->max_lora_rank : 16, 0);
	}
	return !words->full;
}

bool emit_sglang_words(struct emit_job *job, struct words *words)
{
	const struct vc_engine_options *engine = &job->request->engine;
	const struct vc_parallelism *layout = &job->best->layout;
	bool own_share = engine->name == VC_ENGINE_SGLANG;

	if (job->nodes > 1) {
		job->refusal = "the row takes several nodes, each with a command of its own "
		               "(--max-gpus)";
		return false;
	}
	if (!refuse_offline_kind(job) || !refuse_cache(job)) {
		return false;
	}
	words_add(words, "python3");
	words_add(words, "-m");
	words_add(words, "sglang.launch_server");
	add_text(words, "--model-path", job->model);
	add_text(words, "--dtype", emit_torch_dtype(job));
	add_text(words, "--quantization", online_quantization(job));
	add_count(words, "--tp-size", layout->tensor, 1);
	add_count(words, "--pp-size", layout->pipeline, 1);
	add_count(words, "--dp-size", layout->data, 1);
	add_count(words, "--ep-size", layout->expert, 1);
	add_count(words, "--context-length", job->request->workload.sequence_length, 0);
	add_count(words, "--max-running-requests", engine->max_num_seqs, 0);
	add_count(words, "--chunked-prefill-size", engine->max_num_batched_tokens, 0);
	add_ratio(words, "--mem-fraction-static",
	          own_share ? engine->gpu_memory_utilization_ppm : 0);
	add_text(words, "--kv-cache-dtype", caches_in_fp8(job) ? "fp8_e5m2" : NULL);
	if (engine->enforce_eager) {
		words_add(words, "--disable-cuda-graph");
	}
	return !words->full;
}

static const char *llamacpp_cache(enum vc_dtype dtype)
{
	switch (dtype) {
	case VC_DTYPE_FP32:
		return "f32";
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
		return NULL; /* f16 is its own default */
	}
}

/* "hf:ORG/NAME:FILE" names the file as well. */
static void add_llamacpp_model(const struct emit_job *job, struct words *words)
{
	const char *source = job->plan->spec->source;
	const char *file = strncmp(source, "hf:", 3) == 0 ? strchr(source + 3, ':') : NULL;

	if (strncmp(source, "hf:", 3) != 0) {
		add_text(words, "--model", job->model);
		return;
	}
	add_text(words, "--hf-repo", job->model);
	add_text(words, "--hf-file", file ? file + 1 : NULL);
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
	words_add(words, "llama-server");
	add_llamacpp_model(job, words);
	/* the context is divided among the slots */
	add_count(words, "--ctx-size", request->workload.sequence_length * job->sequences, 0);
	add_count(words, "--parallel", job->sequences, 0);
	add_count(words, "--n-gpu-layers", engine->gpu_layers_given ? engine->gpu_layers : 999, 0);
	add_count(words, "--n-cpu-moe", engine->cpu_moe_layers, 0);
	add_count(words, "--ubatch-size", engine->ubatch_size, 0);
	add_text(words, "--cache-type-k", cache);
	add_text(words, "--cache-type-v", cache);
	add_text(words, "--flash-attn",
	         request->workload.attn_implementation == VC_ATTENTION_EAGER ? "off" : "on");
	add_text(words, "--split-mode",
	         job->best->gpus == 1           ? "none"
	         : job->best->layout.tensor > 1 ? "row"
	                                        : "layer");
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
