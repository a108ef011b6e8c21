/*
 * TensorRT-LLM: engine, buffers of the largest step, then free_gpu_memory_fraction of what is left
 * for the paged cache. github.com/NVIDIA/TensorRT-LLM, docs/source/reference/memory.md.
 * docs/serving.md#tensorrt-llm
 */
#include "detailed.h"

#include "device.h"
#include "forward.h"
#include "ledger.h"
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
	uint64_t block, workspace = device_blas_workspace_bytes(request->gpu);

	(void)error;
	tokens = tokens > 0 ? tokens : DEFAULT_TOKENS;
	sequences = sequences > 0 ? sequences : DEFAULT_SEQUENCES;
	sequences = sequences < tokens ? sequences : tokens;
	block = forward_block_bytes(&widths, &forward_traits, tokens);
	parts.weights = serving_weights(request, &weight_traits);
	parts.weight_bytes = parts.weights.allocated_bytes;
	serving_line(&parts.logits, sat_mul3(4, sequences, widths.vocab), "c × R × V");
	vc_line_input(&parts.logits, "c", 4);
	vc_line_input(&parts.logits, "R", sequences);
	vc_line_input(&parts.logits, "V", widths.vocab);
	serving_line(&parts.activations, sat_add(block, workspace), "block + workspace");
	vc_line_input(&parts.activations, "T", tokens);
	vc_line_input(&parts.activations, "block", block);
	vc_line_input(&parts.activations, "workspace", workspace);
	parts.framework_bytes = device_context_bytes(request->gpu);
	parts.communication_bytes =
	        device_communication_bytes(request->gpu, request->parallelism.tensor);
	parts.budget_bytes = device_usable_bytes(request->gpu);
	parts.cache_ppm = request->engine.gpu_memory_utilization_ppm;
	serving_cache_init(&cache, request, parts.weights.range, &cache_traits);
	serving_finish(request, &parts, &cache, ledger);
	return VC_OK;
}
