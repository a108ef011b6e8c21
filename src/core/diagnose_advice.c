/*
 * What to do about a cause: the setting to change first, in the words of the program that failed.
 * What the log shows to be set is not advised.
 */
#include "diagnose.h"
#include "text.h"

static void advise(struct vc_diagnosis *diagnosis, const char *sentence)
{
	if (diagnosis->advice_count < VC_MAX_ADVICE) {
		vc_format(diagnosis->advice[diagnosis->advice_count++], VC_ADVICE_SIZE, "%s",
		          sentence);
	}
}

static void advise_number(struct vc_diagnosis *diagnosis, const char *format, uint64_t number)
{
	if (diagnosis->advice_count < VC_MAX_ADVICE) {
		vc_format(diagnosis->advice[diagnosis->advice_count++], VC_ADVICE_SIZE, format,
		          number);
	}
}

static bool applied(const struct vc_evidence *evidence, uint32_t bit)
{
	return evidence->applied & bit;
}

static void advise_unless(struct vc_diagnosis *diagnosis, const struct vc_evidence *evidence,
                          uint32_t bit, const char *sentence)
{
	if (!applied(evidence, bit)) {
		advise(diagnosis, sentence);
	}
}

/* ---- Capacity ------------------------------------------------------------------------------ */

static void vllm_refused(const struct vc_evidence *evidence, struct vc_diagnosis *diagnosis)
{
	if (!evidence->fitting_tokens) {
		advise(diagnosis, "Lower --max-model-len or --max-num-seqs.");
	}
	if (evidence->share_permille < 950) {
		advise(diagnosis, "Or raise --gpu-memory-utilization, to 0.95 at most.");
	}
	advise_unless(diagnosis, evidence, VC_APPLIED_KV_QUANTIZATION,
	              "--kv-cache-dtype fp8 halves the cache.");
	advise_unless(diagnosis, evidence, VC_APPLIED_QUANTIZATION,
	              "A quantized checkpoint, or --tensor-parallel-size 2, leaves more room.");
}

static void vllm_failed(const struct vc_evidence *evidence, struct vc_diagnosis *diagnosis)
{
	if (evidence->stage == VC_STAGE_LOADING) {
		advise_unless(diagnosis, evidence, VC_APPLIED_QUANTIZATION,
		              "The weights do not fit: load a quantized checkpoint.");
		advise(diagnosis, "Split them with --tensor-parallel-size, or keep a part on the "
		                  "host with --cpu-offload-gb.");
		return;
	}
	advise(diagnosis, "Lower --gpu-memory-utilization by 0.05: the engine fills what it is "
	                  "given, and this came on top.");
	advise(diagnosis,
	       "Or lower --max-num-seqs or --max-num-batched-tokens: warm-up and prompts "
	       "take working memory by them.");
	if (evidence->stage == VC_STAGE_GRAPHS) {
		advise_unless(diagnosis, evidence, VC_APPLIED_EAGER,
		              "--enforce-eager does without CUDA graphs and their memory.");
	}
}

static void sglang(const struct vc_evidence *evidence, struct vc_diagnosis *diagnosis)
{
	if (evidence->refused_at_start) {
		advise(diagnosis, "Raise --mem-fraction-static: weights and cache have to fit into "
		                  "it.");
		advise(diagnosis,
		       "Or lower --context-length, load a quantized checkpoint, or split "
		       "with --tp 2.");
		return;
	}
	if (evidence->stage == VC_STAGE_LOADING) {
		advise(diagnosis, "The weights do not fit: load a quantized checkpoint, or split "
		                  "them with --tp.");
		return;
	}
	advise(diagnosis,
	       "Lower --mem-fraction-static by 0.05: working memory and CUDA graphs take "
	       "what it leaves.");
	advise(diagnosis, "Or lower --cuda-graph-max-bs and --chunked-prefill-size.");
}

static void tgi(const struct vc_evidence *evidence, struct vc_diagnosis *diagnosis)
{
	advise(diagnosis, "Lower --max-batch-prefill-tokens, then --max-total-tokens.");
	advise_unless(diagnosis, evidence, VC_APPLIED_QUANTIZATION,
	              "Or load the weights with --quantize.");
}

static void llamacpp(const struct vc_evidence *evidence, struct vc_diagnosis *diagnosis)
{
	switch (evidence->stage) {
	case VC_STAGE_CACHE:
		advise(diagnosis, "Lower --ctx-size (-c) or --parallel.");
		advise_unless(diagnosis, evidence, VC_APPLIED_KV_QUANTIZATION,
		              "--cache-type-k q8_0 --cache-type-v q8_0 halves the cache.");
		advise(diagnosis, "Or lower --n-gpu-layers (-ngl): the layers left out keep their "
		                  "cache on the host.");
		break;
	case VC_STAGE_COMPUTE:
		advise(diagnosis, "Lower --ubatch-size (-ub), and set --flash-attn on: the buffer "
		                  "for the graph shrinks with both.");
		advise(diagnosis, "Or lower --ctx-size (-c), or --n-gpu-layers (-ngl).");
		break;
	default:
		advise(diagnosis, "Lower --n-gpu-layers (-ngl), or --n-cpu-moe for a mixture of "
		                  "experts, or take a smaller quantization.");
		advise(diagnosis, "With several GPUs set --tensor-split by what is free on each.");
		break;
	}
}

static void pytorch_training(const struct vc_evidence *evidence, struct vc_diagnosis *diagnosis)
{
	if (evidence->stage == VC_STAGE_OPTIMIZER) {
		advise_unless(diagnosis, evidence, VC_APPLIED_8BIT_OPTIMIZER,
		              "The optimizer's states do not fit: set optim=\"adamw_bnb_8bit\".");
		advise_unless(diagnosis, evidence, VC_APPLIED_ADAPTER,
		              "Or train LoRA adapters, or shard the states (ZeRO, FSDP).");
		return;
	}
	advise_unless(diagnosis, evidence, VC_APPLIED_BATCH_OF_ONE,
	              "Lower per_device_train_batch_size, and raise gradient_accumulation_steps "
	              "as much.");
	advise_unless(diagnosis, evidence, VC_APPLIED_GRADIENT_CHECKPOINTING,
	              "Set gradient_checkpointing=True.");
	advise(diagnosis, "Or cut sequences shorter, or shard over more GPUs (ZeRO, FSDP).");
}

static void pytorch_inference(const struct vc_evidence *evidence, struct vc_diagnosis *diagnosis)
{
	if (evidence->stage == VC_STAGE_LOADING) {
		advise_unless(diagnosis, evidence, VC_APPLIED_QUANTIZATION,
		              "The weights do not fit: load them with load_in_4bit=True, or in 8 "
		              "bits.");
		advise(diagnosis, "Or spread them: device_map=\"auto\" takes more GPUs, then the "
		                  "host.");
		return;
	}
	advise(diagnosis, "Lower the batch, the length or the resolution of what is processed at "
	                  "once.");
	advise_unless(diagnosis, evidence, VC_APPLIED_QUANTIZATION,
	              "Or load the weights in 16, 8 or 4 bits.");
}

static void by_software(const struct vc_evidence *evidence, struct vc_diagnosis *diagnosis)
{
	bool training = evidence->stage == VC_STAGE_TRAINING ||
	                evidence->stage == VC_STAGE_BACKWARD ||
	                evidence->stage == VC_STAGE_OPTIMIZER;

	switch (evidence->software) {
	case VC_SOFTWARE_VLLM:
		if (evidence->refused_at_start) {
			vllm_refused(evidence, diagnosis);
		} else {
			vllm_failed(evidence, diagnosis);
		}
		break;
	case VC_SOFTWARE_SGLANG:
		sglang(evidence, diagnosis);
		break;
	case VC_SOFTWARE_TGI:
		tgi(evidence, diagnosis);
		break;
	case VC_SOFTWARE_LLAMACPP:
	case VC_SOFTWARE_OLLAMA:
		llamacpp(evidence, diagnosis);
		break;
	case VC_SOFTWARE_JAX:
		advise(diagnosis, "Lower the batch, or recompute activations with jax.checkpoint.");
		break;
	case VC_SOFTWARE_TENSORFLOW:
		advise(diagnosis, "Lower the batch, or set the policy mixed_float16.");
		break;
	case VC_SOFTWARE_TENSORRT_LLM:
		advise(diagnosis, "Lower max_num_tokens, max_batch_size or "
		                  "free_gpu_memory_fraction.");
		break;
	case VC_SOFTWARE_PYTORCH:
	case VC_SOFTWARE_CUDA:
		if (training) {
			pytorch_training(evidence, diagnosis);
		} else {
			pytorch_inference(evidence, diagnosis);
		}
		break;
	default:
		break;
	}
}

static void advise_capacity(const struct vc_evidence *evidence, struct vc_diagnosis *diagnosis)
{
	uint64_t ceiling = diagnose_knows(evidence, VC_KNOWS_LIMIT) ? evidence->limit_bytes : 0;

	if (diagnose_knows(evidence, VC_KNOWS_TOTAL) && ceiling &&
	    ceiling < evidence->total_bytes) {
		advise(diagnosis, "Raise the process's own limit: "
		                  "torch.cuda.set_per_process_memory_fraction, or the framework's "
		                  "share of the GPU.");
	}
	if (evidence->fitting_tokens) {
		advise_number(diagnosis, "Set --max-model-len %u: by the engine itself that fits.",
		              evidence->fitting_tokens);
	}
	if (diagnose_knows(evidence, VC_KNOWS_TOTAL) &&
	    evidence->theory_bytes > evidence->total_bytes) {
		advise(diagnosis,
		       "Make the job smaller ('vramcalc advise SPEC --gpu NAME' lists "
		       "what fits), or take a larger GPU, or more of them ('vramcalc plan "
		       "SPEC').");
		return;
	}
	by_software(evidence, diagnosis);
	if (!evidence->theory_bytes) {
		advise(diagnosis,
		       "'vramcalc diagnose FILE --spec SPEC' computes which changes make "
		       "the job fit.");
	}
	advise(diagnosis,
	       "Or take a larger GPU, or more of them: 'vramcalc plan SPEC' ranks both.");
}

/* ---- The other causes ---------------------------------------------------------------------- */

static void advise_fragmentation(const struct vc_evidence *evidence, struct vc_diagnosis *diagnosis)
{
	const char *variable = evidence->allocator_variable ? evidence->allocator_variable
	                                                    : "PYTORCH_CUDA_ALLOC_CONF";

	if (evidence->software == VC_SOFTWARE_TENSORFLOW) {
		advise(diagnosis, "Set TF_GPU_ALLOCATOR=cuda_malloc_async before the process "
		                  "starts.");
	} else if (evidence->software == VC_SOFTWARE_JAX) {
		advise(diagnosis, "Set XLA_PYTHON_CLIENT_ALLOCATOR=cuda_async before the process "
		                  "starts.");
	} else if (evidence->old_allocator) {
		advise_unless(
		        diagnosis, evidence, VC_APPLIED_MAX_SPLIT,
		        "Set PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:512 before the process "
		        "starts (PyTorch 1.10 and later).");
		advise(diagnosis, "Better, take PyTorch 2.1 or later and "
		                  "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True.");
	} else if (!applied(evidence, VC_APPLIED_EXPANDABLE_SEGMENTS) &&
	           !evidence->no_expandable_segments) {
		vc_format(diagnosis->advice[diagnosis->advice_count++], VC_ADVICE_SIZE,
		          "Set %s=expandable_segments:True before the process starts.", variable);
	} else if (!applied(evidence, VC_APPLIED_MAX_SPLIT) && evidence->no_expandable_segments) {
		vc_format(diagnosis->advice[diagnosis->advice_count++], VC_ADVICE_SIZE,
		          "Set %s=max_split_size_mb:512: this platform has no expandable segments.",
		          variable);
	}
	advise(diagnosis, "Preallocate: run the largest batch first, or keep shapes fixed, so that "
	                  "blocks can be used again.");
	advise(diagnosis, "Call torch.cuda.empty_cache() between phases; it does not lower a "
	                  "single live peak.");
}

static void advise_others(const struct vc_evidence *evidence, struct vc_diagnosis *diagnosis)
{
	const uint64_t known = VC_KNOWS_TOTAL | VC_KNOWS_START_FREE;

	advise(diagnosis, "Other processes hold the memory: nvidia-smi lists them. End them or "
	                  "take another GPU.");
	if (evidence->occupied && diagnose_knows(evidence, (uint32_t)known) &&
	    evidence->total_bytes >= 100) {
		uint64_t percent = evidence->start_free_bytes / (evidence->total_bytes / 100);

		if (percent > 0 && percent < 100) {
			vc_format(diagnosis->advice[diagnosis->advice_count++], VC_ADVICE_SIZE,
			          "Or set --gpu-memory-utilization 0.%s%u: that much is free.",
			          percent < 10 ? "0" : "", percent);
		}
	}
}

static void advise_leak(const struct vc_evidence *evidence, struct vc_diagnosis *diagnosis)
{
	advise(diagnosis, "Keep numbers, not tensors: loss.item() or .detach() where values are "
	                  "collected in a loop.");
	advise(diagnosis, "Delete references to outputs and graphs at the end of each step, and "
	                  "look for retain_graph=True.");
	if (evidence->allocated.kind == VC_TREND_UNKNOWN) {
		advise(diagnosis, "Print torch.cuda.memory_allocated() at the end of ten steps: if "
		                  "it stays the same, batches grow and nothing leaks.");
	}
	advise(diagnosis, "Confirm with torch.cuda.memory_snapshot(): the growing blocks name the "
	                  "line that allocates them.");
}

static bool was_free(const struct vc_evidence *evidence)
{
	return diagnose_knows(evidence, VC_KNOWS_FREE | VC_KNOWS_REQUESTED) &&
	       evidence->free_bytes > evidence->requested_bytes;
}

static void advise_unknown(const struct vc_evidence *evidence, struct vc_diagnosis *diagnosis)
{
	if (evidence->memory == VC_MEMORY_ON_CHIP) {
		advise(diagnosis, "Lower the kernel's block sizes or num_stages, or update the "
		                  "library that holds the kernel.");
		return;
	}
	if (was_free(evidence)) {
		advise(diagnosis, "Enough memory was free: look at a per-process limit, the driver "
		                  "(WDDM, WSL), or another device than the one reported.");
		return;
	}
	if (evidence->masked) {
		advise(diagnosis,
		       "Run once with CUDA_LAUNCH_BLOCKING=1: an index out of range fails "
		       "in the same words.");
	}
	if ((evidence->out_of_memory || evidence->masked) &&
	    !diagnose_knows(evidence, VC_KNOWS_TOTAL | VC_KNOWS_ALLOCATED)) {
		advise(diagnosis, "Add the whole message: capacity, allocated and reserved memory "
		                  "stand in it.");
	}
	if (evidence->out_of_memory) {
		advise(diagnosis,
		       "Run nvidia-smi while the job runs: it shows which processes hold "
		       "the GPU.");
	}
	advise(diagnosis,
	       "Add torch.cuda.memory_summary() from just before the failure, or readings "
	       "of at least ten steps: nvidia-smi --query-gpu=memory.used,memory.total "
	       "--format=csv -l 1.");
}

static bool advise_elsewhere(const struct vc_evidence *evidence, struct vc_diagnosis *diagnosis)
{
	switch (evidence->memory) {
	case VC_MEMORY_HOST:
		if (evidence->masked) {
			advise(diagnosis, "Look for \"Out of memory: Killed process\" in dmesg: a "
			                  "scheduler or a person may have ended it as well.");
		}
		advise(diagnosis, "Add host memory, or lower offloading, data workers and pinned "
		                  "buffers; the GPU is not short.");
		return true;
	case VC_MEMORY_SHARED:
		advise(diagnosis, "Start the container with --ipc=host or a larger --shm-size, or "
		                  "lower num_workers.");
		return true;
	case VC_MEMORY_POOL:
		advise(diagnosis, "Lower --max-running-requests, or give the cache more: "
		                  "--mem-fraction-static.");
		return true;
	default:
		return false;
	}
}

void diagnose_advise(const struct vc_evidence *evidence, struct vc_diagnosis *diagnosis)
{
	if (advise_elsewhere(evidence, diagnosis)) {
		return;
	}
	switch (diagnosis->cause) {
	case VC_CAUSE_CAPACITY:
		advise_capacity(evidence, diagnosis);
		break;
	case VC_CAUSE_FRAGMENTATION:
		advise_fragmentation(evidence, diagnosis);
		break;
	case VC_CAUSE_LEAK:
		advise_leak(evidence, diagnosis);
		break;
	case VC_CAUSE_OTHER_PROCESS:
		advise_others(evidence, diagnosis);
		break;
	case VC_CAUSE_UNKNOWN:
		advise_unknown(evidence, diagnosis);
		break;
	default:
		break;
	}
}
