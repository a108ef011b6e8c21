/*
 * TensorRT-LLM: engine, buffers of the largest step, then free_gpu_memory_fraction of what is left
 * for the paged cache. github.com/NVIDIA/TensorRT-LLM, docs/source/reference/memory.md.
 * docs/formulas.md#tensorrt-llm
 */
#include "detailed.h"

#include "device.h"
#include "forward.h"
#include "sat.h"
#include "serving.h"

enum {
	DEFAULT_TOKENS = 8192, /* max_num_tokens */
	DEFAULT_SEQUENCES = 2048,
	BLOCK_TOKENS = 32
};

enum vc_status vc_estimate_tensorrt_llm(const struct vc_request *request, struct vc_ledger *ledger,
                                        struct vc_error *error)
{
	static const struct weight_traits weight_traits = {
		.vocab_multiple = 1,
		.marlin = true,
		.mxfp4_hidden_multiple = 256,
		.mxfp4_width_multiple = 128,
	};
	/* Fused kernels keep the residual and the input beside the feed-forward part. */
	static const struct forward_traits forward_traits = { .hidden_copies = 2,
		                                              .element_bytes = 2 };
	struct cache_traits cache_traits = { .block_tokens = BLOCK_TOKENS, .latent_multiple = 1 };
	struct forward_widths widths = forward_widths(request);
	struct serving_parts parts = { .budget_ppm = 1000000, .spread_ppm = 80000 };
	struct serving_cache cache;
	uint64_t tokens = request->engine.max_num_batched_tokens;
	uint64_t sequences = request->engine.max_num_seqs;

	(void)error;
	tokens = tokens > 0 ? tokens : DEFAULT_TOKENS;
	sequences = sequences > 0 ? sequences : DEFAULT_SEQUENCES;
	sequences = sequences < tokens ? sequences : tokens;
	parts.tokens = (uint32_t)(tokens < UINT32_MAX ? tokens : UINT32_MAX);
	parts.sequences = (uint32_t)(sequences < UINT32_MAX ? sequences : UINT32_MAX);
	parts.weights = serving_weights(request, &weight_traits);
	parts.weight_bytes = parts.weights.allocated_bytes;
	parts.logit_bytes = sat_mul3(4, sequences, widths.vocab);
	parts.logit_formula = "4 bytes x R x vocabulary";
	parts.activation_bytes = sat_add(forward_block_bytes(&widths, &forward_traits, tokens),
	                                 device_blas_workspace_bytes(request->gpu));
	parts.activation_formula = "widest moment of a block of N tokens, workspace";
	parts.framework_bytes = device_context_bytes(request->gpu);
	parts.communication_bytes =
	        device_communication_bytes(request->gpu, request->parallelism.tensor);
	parts.budget_bytes = device_usable_bytes(request->gpu);
	parts.cache_ppm = request->engine.gpu_memory_utilization_ppm;
	serving_cache_init(&cache, request, parts.weights.range, &cache_traits);
	serving_finish(request, &parts, &cache, ledger);
	return VC_OK;
}
