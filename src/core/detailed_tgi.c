/*
 * Text Generation Inference: a warm-up prefill of the largest batch, then a paged cache in 95 % of
 * the memory less what is used by then. github.com/huggingface/text-generation-inference,
 * server/text_generation_server/models/flash_causal_lm.py warmup, TGI_WIGGLE_ROOM.
 * docs/serving.md#tgi
 */
#include "detailed.h"

#include "device.h"
#include "forward.h"
#include "ledger.h"
#include "sat.h"
#include "serving.h"

enum {
	DEFAULT_PREFILL_TOKENS = 4096, /* launcher: --max-batch-prefill-tokens */
	BUDGET_PPM = 950000
};

enum vc_status vc_estimate_tgi(const struct vc_request *request, struct vc_ledger *ledger,
                               struct vc_error *error)
{
	static const struct weight_traits weight_traits = {
		.vocab_multiple = 64,
		.latent_copies = LATENT_COPIES_SPLIT,
		.mxfp4_hidden_multiple = 1,
		.mxfp4_width_multiple = 1,
	};
	static const struct forward_traits forward_traits = { .hidden_copies = 4,
		                                              .element_bytes = 2 };
	/* custom_modeling/flash_mllama.py: projected states of the images stay with the batch */
	struct cache_traits cache_traits = { .block_tokens = 16,
		                             .latent_multiple = 1,
		                             .encoder = ENCODER_OUTSIDE };
	struct forward_widths widths = forward_widths(request);
	struct serving_parts parts = { .budget_ppm = BUDGET_PPM, .spread_ppm = 70000 };
	struct serving_cache cache;
	uint64_t tokens = request->engine.max_num_batched_tokens;
	uint64_t block, workspace = device_blas_workspace_bytes(request->gpu);

	(void)error;
	tokens = tokens > 0 ? tokens : DEFAULT_PREFILL_TOKENS;
	block = forward_block_bytes(&widths, &forward_traits, tokens);
	parts.weights = serving_weights(request, &weight_traits);
	parts.weight_bytes = parts.weights.allocated_bytes;
	serving_line(&parts.logits, sat_mul(6, widths.vocab), "c × V");
	vc_line_input(&parts.logits, "c", 6);
	vc_line_input(&parts.logits, "V", widths.vocab);
	serving_line(&parts.activations, sat_add(block, workspace), "block + workspace");
	vc_line_input(&parts.activations, "T", tokens);
	vc_line_input(&parts.activations, "block", block);
	vc_line_input(&parts.activations, "workspace", workspace);
	parts.framework_bytes = device_context_bytes(request->gpu);
	parts.communication_bytes =
	        device_communication_bytes(request->gpu, request->parallelism.tensor);
	parts.budget_bytes = device_usable_bytes(request->gpu) / 1000000 * BUDGET_PPM;
	serving_cache_init(&cache, request, parts.weights.range, &cache_traits);
	parts.outside_bytes =
	        sat_mul3(sat_mul(request->workload.batch_size, request->workload.concurrency),
	                 cache.encoder_tokens, sat_mul(2, widths.hidden));
	serving_finish(request, &parts, &cache, ledger);
	return VC_OK;
}
