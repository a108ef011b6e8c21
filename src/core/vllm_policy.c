/*
 * vLLM's policies. A property has the value of its last row whose version is not newer; before its
 * first row it is 0. Read in the source distributions of 0.1.7, 0.2.7, 0.3.0, 0.4.2, 0.4.3, 0.5.3,
 * 0.5.5, 0.6.3 to 0.6.6, 0.7.0 to 0.7.3, 0.8.0 to 0.8.5, 0.9.0 to 0.9.2, 0.10.0, 0.11.0, 0.14.0,
 * 0.19.0 to 0.21.0, 0.23.0, 0.25.0, 0.26.0, 0.28.0 to 0.31.0 and 0.33.0. docs/serving.md#vllm
 */
#include "vllm_policy.h"

#include "serving_weights.h"
#include "version.h"

static const struct vllm_step steps[] = {
	{ VLLM_ENGINE_V1, { 0, 8, 0 }, 1, "engine/arg_utils.py _is_v1_supported_oracle" },
	{ VLLM_ENGINE_V1, { 0, 11, 0 }, 2, "engine/arg_utils.py: V0 is gone" },
	{ VLLM_V1_LACKS,
	  { 0, 8, 0 },
	  V1_LORAS | V1_STAGES | V1_BITSANDBYTES | V1_GGUF | V1_FP8_CACHE | V1_FP32 |
	          V1_OWN_DRAFTS | V1_DRAFT_MODEL | V1_STATES,
	  "engine/arg_utils.py _is_v1_supported_oracle" },
	{ VLLM_V1_LACKS,
	  { 0, 8, 2 },
	  V1_LORAS | V1_STAGES | V1_BITSANDBYTES | V1_GGUF | V1_FP32 | V1_OWN_DRAFTS |
	          V1_DRAFT_MODEL | V1_STATES,
	  "engine/arg_utils.py: an fp8 cache with Hopper's kernels" },
	{ VLLM_V1_LACKS,
	  { 0, 8, 3 },
	  V1_STAGES | V1_GGUF | V1_FP32 | V1_OWN_DRAFTS | V1_DRAFT_MODEL | V1_STATES,
	  "engine/arg_utils.py _is_v1_supported_oracle" },
	{ VLLM_V1_LACKS,
	  { 0, 9, 0 },
	  V1_FP32 | V1_DRAFT_MODEL | V1_STATES,
	  "engine/arg_utils.py _is_v1_supported_oracle" },
	{ VLLM_V1_LACKS,
	  { 0, 9, 2 },
	  V1_DRAFT_MODEL | V1_STATES,
	  "engine/arg_utils.py _is_v1_supported_oracle" },
	{ VLLM_V1_LACKS, { 0, 10, 0 }, 0, "engine/arg_utils.py _is_v1_supported_oracle" },
	{ VLLM_RUNNER_V2, { 0, 26, 0 }, 1, "config/vllm.py _is_default_v2_model_runner_model" },
	{ VLLM_RUNNER_V2, { 0, 29, 0 }, 2, "config/vllm.py use_v2_model_runner" },
	/* torch.sort of a row per sequence: 16-bit logits 2, fp32 logits 4, values 4, indices 8,
	 * reversed indices 8, the radix sort's second buffers 12 (ATen/native/cuda/Sort.cpp) */
	{ VLLM_LOGIT_BYTES, { 0, 1, 0 }, 38, "model_executor/layers/sampler.py" },
	/* no sort: 16-bit logits 2, fp32 logits 4, probabilities 4, noise or masked logits 4 */
	{ VLLM_LOGIT_BYTES, { 0, 19, 0 }, 14, "v1/sample/ops/topk_topp_triton.py" },
	{ VLLM_COUNTS_CONTEXT, { 0, 2, 7 }, 2, "worker/worker.py: total less free" },
	{ VLLM_COUNTS_CONTEXT, { 0, 4, 0 }, 0, "worker/worker.py init_gpu_memory" },
	{ VLLM_COUNTS_CONTEXT, { 0, 6, 4 }, 2, "worker/worker.py non_torch_allocations" },
	{ VLLM_COUNTS_CONTEXT, { 0, 6, 5 }, 0, "utils.py memory_profiling" },
	{ VLLM_COUNTS_CONTEXT, { 0, 8, 0 }, 1, "v1/worker/gpu_worker.py: total less free" },
	{ VLLM_COUNTS_CONTEXT, { 0, 9, 1 }, 0, "v1/worker/gpu_worker.py memory_profiling" },
	{ VLLM_BUDGETS_GRAPHS, { 0, 20, 0 }, 1, "v1/worker/gpu_worker.py; off by default in 0.19" },
	{ VLLM_BUDGETS_GRAPHS, { 0, 29, 0 }, 2, "v1/worker/gpu/cudagraph_utils.py" },
	{ VLLM_COARSE_SIZES, { 0, 11, 1 }, 1, "config/vllm.py _set_cudagraph_sizes" },
	{ VLLM_FULL_GRAPHS, { 0, 11, 0 }, 1, "config/compilation.py FULL_AND_PIECEWISE" },
	/* measured: 0.47 GiB for 32 layers and 67 sizes (0.9, A10G), 0.68 for 36 and 67 (0.10, RTX
	 * 4090), 0.65 for 34 and 67 (0.10, B200); 0.39 for 32 and 51 twice (0.14, H100) */
	{ VLLM_GRAPH_BYTES, { 0, 8, 0 }, 270000, "v1/worker/gpu_model_runner.py capture_model" },
	{ VLLM_GRAPH_BYTES, { 0, 11, 1 }, 130000, "v1/worker/gpu_model_runner.py capture_model" },
	{ VLLM_PEAK_HOLDS_GRAPHS, { 0, 28, 0 }, 1, "v1/worker/gpu_worker.py" },
	{ VLLM_CHUNKED_TOKENS, { 0, 5, 5 }, 512, "config.py SchedulerConfig" },
	{ VLLM_CHUNKED_TOKENS, { 0, 6, 5 }, 2048, "config.py SchedulerConfig" },
	{ VLLM_SHORTEST_BATCH, { 0, 1, 0 }, 2560, "engine/arg_utils.py" },
	{ VLLM_SHORTEST_BATCH, { 0, 2, 0 }, 2048, "config.py SchedulerConfig" },
	{ VLLM_A100_IS_SMALL, { 0, 9, 0 }, 1, "engine/arg_utils.py" },
	{ VLLM_GIANT_DEFAULTS, { 0, 28, 0 }, 1, "engine/arg_utils.py get_batch_defaults" },
	{ VLLM_EXPERT_CHUNK, { 0, 5, 0 }, 65536, "envs.py VLLM_FUSED_MOE_CHUNK_SIZE" },
	{ VLLM_EXPERT_CHUNK, { 0, 6, 0 }, 32768, "envs.py VLLM_FUSED_MOE_CHUNK_SIZE" },
	{ VLLM_EXPERT_CHUNK, { 0, 14, 0 }, 16384, "envs.py VLLM_FUSED_MOE_CHUNK_SIZE" },
	{ VLLM_EXPERT_CHUNK, { 0, 19, 0 }, 0, "fused_moe/modular_kernel.py" },
	{ VLLM_EXPERT_CACHES_SHARED, { 0, 8, 0 }, 1, "fused_moe/fused_moe.py cache13" },
	{ VLLM_HYBRID_CACHE, { 0, 9, 2 }, 1, "v1/core/kv_cache_utils.py" },
	{ VLLM_LATENT_COPIES,
	  { 0, 7, 1 },
	  LATENT_COPIES_ABSORBED,
	  "attention/backends/mla/utils.py" },
	{ VLLM_LATENT_COPIES,
	  { 0, 8, 0 },
	  LATENT_COPIES_SPLIT,
	  "v1/attention/backends/mla/common.py" },
	{ VLLM_LATENT_CACHE, { 0, 7, 1 }, 1, "attention/backends/mla/utils.py" },
	{ VLLM_TRITON_MXFP4, { 0, 11, 1 }, 1, "layers/quantization/mxfp4.py" },
	{ VLLM_EVEN_STAGES, { 0, 7, 0 }, 1, "distributed/utils.py get_pp_indices" },
	{ VLLM_SHARED_GEMMA2_ROPE, { 0, 5, 4 }, 1, "model_executor/models/gemma2.py" },
	{ VLLM_EXPERT_LORAS, { 0, 14, 0 }, 1, "lora/layers/fused_moe.py" },
	{ VLLM_FREES_GATE_UP, { 0, 6, 3 }, 1, "model_executor/models/llama.py LlamaMLP" },
	{ VLLM_MROPE_FACTOR, { 0, 1, 0 }, 1, "layers/rotary_embedding.py" },
	{ VLLM_MROPE_FACTOR, { 0, 7, 0 }, 4, "layers/rotary_embedding.py MRotaryEmbedding" },
	{ VLLM_REDUCES_APART, { 0, 6, 5 }, 1, "distributed/device_communicators/pynccl.py" },
	{ VLLM_SKIPS_ITEMS, { 0, 7, 0 }, 1, "multimodal/profiling.py" },
	{ VLLM_SKIPS_ITEMS, { 0, 8, 3 }, 0, "multimodal/profiling.py" },
};

uint64_t vllm_policy(enum vllm_property property, struct vc_version version)
{
	uint64_t value = 0;

	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		if (steps[i].property == property && version_at_least(version, steps[i].from)) {
			value = steps[i].value;
		}
	}
	return value;
}

const struct vllm_step *vllm_step_at(size_t index)
{
	return index < sizeof steps / sizeof *steps ? &steps[index] : NULL;
}
