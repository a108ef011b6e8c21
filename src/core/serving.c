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

#define MIB 1048576ull

/*
 * What a part may be off by, so that 95 % of the figures that vLLM logged lie within it
 * (docs/accuracy.md): 57 of weights, 26 of peaks, 16 of what is outside torch, 9 of graphs. The
 * other engines run on the same allocator and kernels.
 */
struct spread {
	uint32_t below_ppm, above_ppm;
	uint64_t below_bytes, above_bytes;
};

static const struct spread weights_spread = { 16000, 16000, 0, 0 };
static const struct spread peak_spread = { 160000, 70000, 0, 0 };
/* With ranks 26 % less was logged, on NVLink: 1.39 GiB where another log has 1.84. */
static const struct spread communication_spread = { 260000, 260000, 0, 0 };
static const struct spread outside_spread = { 0, 0, 180 * MIB, 110 * MIB };
static const struct spread graphs_spread = { 200000, 1000000, 0, 0 };
/* What CUDA's total is short of the catalog's by driver and firmware, or beyond it: A100 39.39 to
 * 39.56 GiB, RTX 4090 23.52 to 23.65; T4 14.56, on Colab and Kaggle up to 2025 14.74. */
static const struct spread device_spread = { 0, 0, 190 * MIB, 100 * MIB };
/* 0.3 to 0.7 GiB on GPUs of one kind: docs/serving.md#fixed-costs */
static const struct spread context_spread = { 0, 0, 150 * MIB, 250 * MIB };

static uint64_t below(uint64_t bytes, const struct spread *spread)
{
	return sat_add(sat_scale_up(bytes, spread->below_ppm, MILLION), spread->below_bytes);
}

static uint64_t above(uint64_t bytes, const struct spread *spread)
{
	return sat_add(sat_scale_up(bytes, spread->above_ppm, MILLION), spread->above_bytes);
}

static void put_range(struct vc_line *line, const struct spread *spread)
{
	vc_line_range(line, below(line->bytes, spread), above(line->bytes, spread));
}

void serving_line_ranges(struct vc_ledger *ledger)
{
	static const struct spread *const spreads[VC_COMPONENT_COUNT] = {
		[VC_COMPONENT_WEIGHTS] = &weights_spread,
		[VC_COMPONENT_ACTIVATIONS] = &peak_spread,
		[VC_COMPONENT_LOGITS] = &peak_spread,
		[VC_COMPONENT_COMMUNICATION] = &communication_spread,
		[VC_COMPONENT_FRAMEWORK] = &context_spread,
	};

	for (uint32_t i = 0; i < ledger->line_count; i++) {
		struct vc_line *line = &ledger->lines[i];

		if (line->high_bytes == 0 && spreads[line->component]) {
			put_range(line, spreads[line->component]);
		}
	}
}

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
                      const char *formula, const struct spread *spread)
{
	if (bytes > 0) {
		put_range(vc_ledger_add(ledger, component, bytes, formula), spread);
	}
}

static void add_line(struct vc_ledger *ledger, enum vc_component component,
                     const struct vc_line *line, const struct spread *spread)
{
	struct vc_line *added;

	if (line->bytes == 0) {
		return;
	}
	added = vc_ledger_add(ledger, component, line->bytes, line->formula);
	put_range(added, spread);
	for (uint32_t i = 0; i < line->input_count; i++) {
		vc_line_ratio(added, line->inputs[i].name, line->inputs[i].value,
		              line->inputs[i].divisor);
	}
}

static void add_weights(const struct serving_parts *parts, struct vc_ledger *ledger)
{
	struct vc_line *line = vc_ledger_add(ledger, VC_COMPONENT_WEIGHTS, parts->weight_bytes,
	                                     "tensors + rounding");

	put_range(line, &weights_spread);
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

/* The root of the sum of squares, in KiB so that squares do not overflow. */
static uint64_t together(const uint64_t *parts, size_t count)
{
	uint64_t squares = 0, low = 0, high = UINT32_MAX;

	for (size_t i = 0; i < count; i++) {
		squares = sat_add(squares, sat_mul(parts[i] / 1024, parts[i] / 1024));
	}
	while (low < high) {
		uint64_t middle = low + (high - low + 1) / 2;

		if (sat_mul(middle, middle) <= squares) {
			low = middle;
		} else {
			high = middle - 1;
		}
	}
	return sat_mul(low, 1024);
}

/* What the parts of the budget are off by, the pool is off by the other way; they are independent
 * of each other. */
static void put_pool_range(struct vc_line *line, const struct serving_parts *parts)
{
	const struct {
		uint64_t bytes;
		const struct spread *spread;
	} taken[] = { { sat_add(parts->weight_bytes, parts->lora_bytes), &weights_spread },
		      { peak_bytes(parts), &peak_spread },
		      { parts->framework_bytes, &outside_spread },
		      { parts->context_bytes, &context_spread },
		      { parts->communication_bytes, &communication_spread },
		      { parts->reserve_bytes, &graphs_spread },
		      { parts->budget_bytes, &device_spread } };
	uint64_t share = parts->cache_ppm ? parts->cache_ppm : MILLION;
	uint64_t less[sizeof taken / sizeof *taken] = { 0 },
	                                    more[sizeof less / sizeof *less] = { 0 };

	for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
		if (taken[i].bytes > 0) {
			less[i] = above(taken[i].bytes, taken[i].spread);
			more[i] = below(taken[i].bytes, taken[i].spread);
		}
	}
	vc_line_range(line,
	              sat_scale_up(together(less, sizeof less / sizeof *less), share, MILLION),
	              sat_scale_up(together(more, sizeof more / sizeof *more), share, MILLION));
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

	put_pool_range(line, parts);
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
	          "loras × rank × (inputs + outputs) × 2", &weights_spread);
	if (pool) {
		add_pool(request, parts, cache, ledger);
		note_pool(request, wanted, ledger);
	}
	add_line(ledger, VC_COMPONENT_LOGITS, &parts->logits, &peak_spread);
	add_line(ledger, VC_COMPONENT_ACTIVATIONS, &parts->activations, &peak_spread);
	add_states(parts, ledger);
	add_bytes(ledger, VC_COMPONENT_COMMUNICATION, parts->communication_bytes,
	          "buffers of NCCL and all-reduce", &communication_spread);
	add_line(ledger, VC_COMPONENT_CUDA_GRAPHS, &parts->graphs, &graphs_spread);
	add_bytes(ledger, VC_COMPONENT_FRAMEWORK, parts->framework_bytes,
	          "outside torch, as the engine counts it", &outside_spread);
	add_bytes(ledger, VC_COMPONENT_FRAGMENTATION, parts->context_bytes,
	          "CUDA context, which the engine takes off its share", &context_spread);
	add_bytes(ledger, VC_COMPONENT_FRAGMENTATION, parts->outside_bytes,
	          "CUDA context and slack that the engine does not count", &context_spread);
	vc_ledger_phase(ledger, "profiling run", taken_bytes(parts));
	vc_ledger_phase(ledger, "serving", total_bytes(ledger));
	set_range(parts, ledger);
	ledger->need_expected_bytes = need(parts, pool, wanted, 0);
	ledger->need_bytes = need(parts, pool, wanted, surplus_ppm);
}
