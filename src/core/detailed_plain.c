/*
 * No engine named: weights as PyTorch holds them, a cache of exactly the stated sequences, one
 * prefill at a time, logits of one token per sequence. docs/serving.md#plain-engine
 */
#include "detailed.h"

#include "device.h"
#include "forward.h"
#include "ledger.h"
#include "sat.h"
#include "serving.h"

enum {
	MILLION = 1000000,
	PREFILL_TOKENS = 8192, /* longer prompts are taken in chunks */
	LOGIT_BYTES = 6,       /* a 16-bit and an fp32 row per sequence */
	SLACK_PPM = 30000,     /* reserved over allocated at fixed shapes */
	SPREAD_PPM = 80000
};

struct plain {
	const struct vc_request *request;
	struct vc_ledger *ledger;
	struct serving_weights weights;
	uint64_t sequences, allocated;
};

static struct vc_line *add(struct plain *plain, enum vc_component component, uint64_t bytes,
                           const char *formula)
{
	plain->allocated = sat_add(plain->allocated, bytes);
	return vc_ledger_add(plain->ledger, component, bytes, formula);
}

static void add_cache(struct plain *plain)
{
	const struct vc_workload *workload = &plain->request->workload;
	struct cache_traits traits = { .block_tokens = 1, .hybrid = true, .latent_multiple = 1 };
	struct serving_cache cache;
	uint64_t kv = 0, state = 0;

	serving_cache_init(&cache, plain->request, plain->weights.range, &traits);
	for (uint32_t i = 0; i < cache.spec_count; i++) {
		const struct cache_spec *spec = &cache.specs[i];
		uint64_t tokens =
		        spec->encoder_tokens > 0 ? spec->encoder_tokens : workload->sequence_length;

		tokens = spec->window > 0 && spec->window < tokens ? spec->window : tokens;
		kv = sat_add(kv, sat_mul3(spec->layers, spec->token_bytes, tokens));
		state = sat_add(state, sat_mul(spec->layers, spec->state_bytes));
	}
	if (kv > 0) {
		struct vc_line *line = add(plain, VC_COMPONENT_KV_CACHE,
		                           sat_mul(kv, plain->sequences), "batch × cache");

		vc_line_range(line, 0, 0);
		vc_line_input(line, "batch", plain->sequences);
		vc_line_input(line, "cache", kv);
	}
	if (state > 0) {
		struct vc_line *line = add(plain, VC_COMPONENT_RECURRENT_STATE,
		                           sat_mul(state, plain->sequences), "batch × state");

		vc_line_range(line, 0, 0);
		vc_line_input(line, "batch", plain->sequences);
		vc_line_input(line, "state", state);
	}
}

static void add_step(struct plain *plain)
{
	static const struct forward_traits traits = { .hidden_copies = 4, .element_bytes = 2 };
	struct forward_widths widths = forward_widths(plain->request);
	uint64_t workspace = device_blas_workspace_bytes(plain->request->gpu);
	uint64_t tokens = plain->request->workload.sequence_length, block;
	struct vc_line *line;

	tokens = tokens < PREFILL_TOKENS ? tokens : PREFILL_TOKENS;
	block = forward_block_bytes(&widths, &traits, tokens);
	line = add(plain, VC_COMPONENT_ACTIVATIONS, sat_add(block, workspace), "block + workspace");
	vc_line_input(line, "T", tokens);
	vc_line_input(line, "block", block);
	vc_line_input(line, "workspace", workspace);
	line = add(plain, VC_COMPONENT_LOGITS,
	           sat_mul3(LOGIT_BYTES, plain->sequences, widths.vocab), "c × R × V");
	vc_line_input(line, "c", LOGIT_BYTES);
	vc_line_input(line, "R", plain->sequences);
	vc_line_input(line, "V", widths.vocab);
}

static void add_fixed(struct plain *plain)
{
	uint32_t ranks = plain->request->parallelism.tensor;
	uint64_t slack = sat_scale_up(plain->allocated, SLACK_PPM, MILLION);

	vc_ledger_add(plain->ledger, VC_COMPONENT_FRAMEWORK,
	              device_context_bytes(plain->request->gpu), "CUDA context");
	if (ranks > 1) {
		vc_ledger_add(plain->ledger, VC_COMPONENT_COMMUNICATION,
		              device_communication_bytes(plain->request->gpu, ranks),
		              "NCCL's buffers");
	}
	vc_ledger_add(plain->ledger, VC_COMPONENT_FRAGMENTATION, slack, "3 % of what is allocated");
}

enum vc_status vc_estimate_plain(const struct vc_request *request, struct vc_ledger *ledger,
                                 struct vc_error *error)
{
	static const struct weight_traits traits = { .vocab_multiple = 1,
		                                     .mxfp4_hidden_multiple = 1,
		                                     .mxfp4_width_multiple = 1 };
	struct plain plain = { .request = request, .ledger = ledger };
	struct vc_line *line;
	uint64_t total = 0, spread;

	(void)error;
	plain.sequences = sat_mul(request->workload.batch_size, request->workload.concurrency);
	plain.weights = serving_weights(request, &traits);
	line = add(&plain, VC_COMPONENT_WEIGHTS, plain.weights.allocated_bytes,
	           "tensors + rounding");
	vc_line_input(line, "tensors", plain.weights.tensor_bytes);
	vc_line_input(line, "rounding",
	              sat_sub(plain.weights.allocated_bytes, plain.weights.tensor_bytes));
	add_cache(&plain);
	add_step(&plain);
	add_fixed(&plain);
	for (uint32_t i = 0; i < ledger->line_count; i++) {
		total = sat_add(total, ledger->lines[i].bytes);
	}
	serving_line_ranges(ledger);
	spread = sat_scale_up(total, SPREAD_PPM, MILLION);
	ledger->low_bytes = sat_sub(total, spread);
	ledger->high_bytes = sat_add(total, spread);
	vc_ledger_phase(ledger, "prefill", total);
	vc_ledger_note(ledger, "plain-engine",
	               "no engine is named: a cache of exactly the stated sequences, prompts in "
	               "chunks of {0} tokens, no CUDA graphs",
	               (const uint64_t[3]){ PREFILL_TOKENS, 0, 0 });
	return VC_OK;
}
