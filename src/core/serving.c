/*
 * From the parts of a serving engine's budget to its ledger. The pool is what they leave, so that
 * the total hardly depends on the model; whether a job fits depends on whether the pool holds the
 * spec's sequences. docs/serving.md#serving
 */
#include "serving.h"

#include "ledger.h"
#include "sat.h"

enum {
	MILLION = 1000000
};

static uint64_t spec_sequences(const struct vc_request *request)
{
	return sat_mul(request->workload.batch_size, request->workload.concurrency);
}

static uint64_t peak_bytes(const struct serving_parts *parts)
{
	return sat_add(parts->logits.bytes, parts->activations.bytes);
}

static uint64_t states_bytes(const struct serving_parts *parts)
{
	return sat_mul(parts->states, parts->state_bytes);
}

static uint64_t counted_outside_bytes(const struct serving_parts *parts)
{
	uint64_t outside = sat_add(parts->framework_bytes, parts->context_bytes);

	return sat_add(sat_add(outside, parts->communication_bytes),
	               sat_add(parts->reserve_bytes, states_bytes(parts)));
}

/* What must be there before any cache. */
static uint64_t taken_bytes(const struct serving_parts *parts)
{
	uint64_t loaded = sat_add(parts->weight_bytes, parts->lora_bytes);

	return sat_add(sat_add(loaded, peak_bytes(parts)), counted_outside_bytes(parts));
}

uint64_t serving_left_bytes(const struct serving_parts *parts)
{
	return sat_sub(parts->budget_bytes, taken_bytes(parts));
}

/* With the states that the spec's sequences need, not those that there is room for. */
static uint64_t needed_bytes(const struct serving_parts *parts)
{
	uint64_t taken = taken_bytes(parts);

	if (parts->states_needed == 0) {
		return taken;
	}
	return sat_add(sat_sub(taken, states_bytes(parts)),
	               sat_mul(parts->states_needed, parts->state_bytes));
}

static void add_bytes(struct vc_ledger *ledger, enum vc_component component, uint64_t bytes,
                      const char *formula)
{
	if (bytes > 0) {
		vc_ledger_add(ledger, component, bytes, formula);
	}
}

static void add_line(struct vc_ledger *ledger, enum vc_component component,
                     const struct vc_line *line)
{
	struct vc_line *added;

	if (line->bytes == 0) {
		return;
	}
	added = vc_ledger_add(ledger, component, line->bytes, line->formula);
	for (uint32_t i = 0; i < line->input_count; i++) {
		vc_line_ratio(added, line->inputs[i].name, line->inputs[i].value,
		              line->inputs[i].divisor);
	}
}

static void add_weights(const struct serving_parts *parts, struct vc_ledger *ledger)
{
	struct vc_line *line = vc_ledger_add(ledger, VC_COMPONENT_WEIGHTS, parts->weight_bytes,
	                                     "tensors + rounding");

	vc_line_input(line, "tensors", parts->weights.tensor_bytes);
	vc_line_input(line, "rounding", sat_sub(parts->weight_bytes, parts->weights.tensor_bytes));
}

static void add_states(const struct serving_parts *parts, struct vc_ledger *ledger)
{
	struct vc_line *line;

	if (states_bytes(parts) == 0) {
		return;
	}
	line = vc_ledger_add(ledger, VC_COMPONENT_RECURRENT_STATE, states_bytes(parts),
	                     "R × state");
	vc_line_input(line, "R", parts->states);
	vc_line_input(line, "state", parts->state_bytes);
}

static void add_pool(const struct vc_request *request, const struct serving_parts *parts,
                     const struct serving_cache *cache, struct vc_ledger *ledger)
{
	uint64_t left = serving_left_bytes(parts);
	uint64_t pool = parts->cache_ppm ? left / MILLION * parts->cache_ppm : left;
	uint64_t length = request->workload.sequence_length;
	struct vc_line *line =
	        vc_ledger_add(ledger, VC_COMPONENT_KV_CACHE, pool,
	                      parts->cache_ppm ? "share × (budget - weights - peak - outside)"
	                                       : "budget - weights - peak - outside");

	if (parts->cache_ppm) {
		vc_line_ratio(line, "share", parts->cache_ppm, MILLION);
	}
	vc_line_input(line, "budget", parts->budget_bytes);
	vc_line_input(line, "weights", sat_add(parts->weight_bytes, parts->lora_bytes));
	vc_line_input(line, "peak", peak_bytes(parts));
	vc_line_input(line, "outside", counted_outside_bytes(parts));
	ledger->serving.known = true;
	ledger->serving.kv_bytes_available = pool;
	ledger->serving.kv_tokens = serving_cache_tokens(cache, pool, length);
	ledger->serving.max_concurrency_milli =
	        serving_cache_concurrency_milli(cache, pool, length);
}

/* An encoder keeps no cache: then the engine's share of the GPU stays free. */
static bool keeps_cache(const struct serving_cache *cache)
{
	return cache->spec_count > 0;
}

static void note_pool(const struct vc_request *request, uint64_t wanted, struct vc_ledger *ledger)
{
	vc_ledger_note(ledger, "serving-pool",
	               "the engine fills its share of the GPU with cache; {0} sequence{0s} of {1} "
	               "token{1s}, as the spec has it, would do with {2B}",
	               (const uint64_t[3]){ spec_sequences(request),
	                                    request->workload.sequence_length, wanted });
}

/* The least memory of a GPU with which the budget covers everything, the spec's sequences
 * included. */
static uint64_t need(const struct serving_parts *parts, bool pool_kept, uint64_t cache_bytes,
                     uint32_t surplus_ppm)
{
	uint64_t taken = sat_scale_up(needed_bytes(parts), MILLION + surplus_ppm, MILLION);
	uint64_t pool = parts->cache_ppm ? sat_scale_up(cache_bytes, MILLION, parts->cache_ppm)
	                                 : cache_bytes;
	uint64_t inside = sat_add(taken, pool);
	uint64_t graphs = parts->reserve_bytes > 0 ? 0 : parts->graphs.bytes;
	uint64_t whole = sat_add(inside, sat_add(graphs, parts->outside_bytes));
	uint64_t by_budget = sat_scale_up(inside, MILLION, parts->budget_ppm);

	return pool_kept && by_budget > whole ? by_budget : whole;
}

static uint64_t total_bytes(const struct vc_ledger *ledger)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < ledger->line_count; i++) {
		total = sat_add(total, ledger->lines[i].bytes);
	}
	return total;
}

static void set_range(const struct serving_parts *parts, struct vc_ledger *ledger)
{
	uint64_t total = total_bytes(ledger);
	uint64_t spread = sat_scale_up(total, parts->spread_ppm, MILLION);

	ledger->low_bytes = sat_sub(total, spread);
	ledger->high_bytes = sat_add(total, spread);
}

void serving_finish(const struct vc_request *request, const struct serving_parts *parts,
                    const struct serving_cache *cache, struct vc_ledger *ledger)
{
	uint64_t wanted = serving_cache_bytes(cache, request->workload.sequence_length,
	                                      spec_sequences(request));
	/* Weights are certain; the peak and what lies outside torch less so. */
	uint32_t surplus_ppm = parts->spread_ppm / 3;
	bool pool = keeps_cache(cache);

	add_weights(parts, ledger);
	add_bytes(ledger, VC_COMPONENT_ADAPTERS, parts->lora_bytes,
	          "loras × rank × (inputs + outputs) × 2");
	if (pool) {
		add_pool(request, parts, cache, ledger);
		note_pool(request, wanted, ledger);
	}
	add_line(ledger, VC_COMPONENT_LOGITS, &parts->logits);
	add_line(ledger, VC_COMPONENT_ACTIVATIONS, &parts->activations);
	add_states(parts, ledger);
	add_bytes(ledger, VC_COMPONENT_COMMUNICATION, parts->communication_bytes,
	          "buffers of NCCL and all-reduce");
	add_line(ledger, VC_COMPONENT_CUDA_GRAPHS, &parts->graphs);
	add_bytes(ledger, VC_COMPONENT_FRAMEWORK, parts->framework_bytes,
	          "outside torch, as the engine counts it");
	add_bytes(ledger, VC_COMPONENT_FRAGMENTATION, parts->context_bytes,
	          "CUDA context, which the engine takes off its share");
	add_bytes(ledger, VC_COMPONENT_FRAGMENTATION, parts->outside_bytes,
	          "CUDA context and slack that the engine does not count");
	vc_ledger_phase(ledger, "profiling run", taken_bytes(parts));
	vc_ledger_phase(ledger, "serving",
	                pool ? sat_add(parts->budget_bytes, parts->outside_bytes)
	                     : total_bytes(ledger));
	set_range(parts, ledger);
	ledger->need_expected_bytes = need(parts, pool, wanted, 0);
	ledger->need_bytes = need(parts, pool, wanted, surplus_ppm);
}
