/* What the estimate and the log say, side by side, and whether the log adds up. */
#include "verify.h"

#include <string.h>

#define BIT(component) (1u << VC_COMPONENT_##component)
#define ALL            ((1u << VC_COMPONENT_COUNT) - 1)
#define TERM(term)     (1u << STARTUP_##term)
#define LENGTH(array)  (sizeof(array) / sizeof *(array))

/* Terms of a start-up and the components that they are held against. docs/verify.md */
static const struct term_row {
	enum startup_term term;
	const char *name, *label, *llamacpp;
	uint32_t components;
} term_rows[] = {
	{ STARTUP_WEIGHTS, "weights", "weights", "weights", BIT(WEIGHTS) | BIT(ADAPTERS) },
	{ STARTUP_CACHE, "kv_cache", "KV cache (pool)", "KV cache", BIT(KV_CACHE) },
	{ STARTUP_STATE, "recurrent_state", "recurrent state", "recurrent state",
	  BIT(RECURRENT_STATE) },
	{ STARTUP_PEAK, "activations", "activation peak", "compute buffer",
	  BIT(ACTIVATIONS) | BIT(LOGITS) },
	{ STARTUP_OUTSIDE, "framework", "outside PyTorch", "context and kernels",
	  BIT(FRAMEWORK) | BIT(COMMUNICATION) },
	{ STARTUP_GRAPHS, "cuda_graphs", "CUDA graphs", "CUDA graphs", BIT(CUDA_GRAPHS) },
};

uint64_t verify_components(const struct vc_ledger *ledger, uint32_t components)
{
	uint64_t sum = 0;

	for (int i = 0; i < VC_COMPONENT_COUNT; i++) {
		if (components >> i & 1) {
			sum += vc_ledger_component(ledger, (enum vc_component)i);
		}
	}
	return sum;
}

/* Where the range ends on either side is as far from the total as from any part of it. */
static bool is_within(const struct vc_ledger *ledger, uint64_t said, uint64_t measured)
{
	if (measured < said) {
		return said - measured <= ledger->total_bytes - ledger->low_bytes;
	}
	return measured - said <= ledger->high_bytes - ledger->total_bytes;
}

static struct verify_row *add(struct verification *v, const char *name, const char *label,
                              uint32_t components)
{
	struct verify_row *row = &v->rows[v->row_count++];

	*row = (struct verify_row){ .name = name,
		                    .label = label,
		                    .components = components,
		                    .said = verify_components(&v->ledger, components),
		                    .within = true };
	return row;
}

static void measure(const struct verification *v, struct verify_row *row, uint64_t bytes)
{
	row->measured_known = true;
	row->measured = bytes;
	row->within = is_within(&v->ledger, row->said, bytes);
}

/* ---- An engine's start-up ------------------------------------------------------------------ */

static bool is_llamacpp(const struct verification *v)
{
	return v->log->startup.engine == VC_ENGINE_LLAMACPP;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* llama.cpp keeps on the GPU what no buffer of its own is: that is the driver's and the kernels'.
 * SGLang says what was free before the weights: what is missing to the whole was taken by then. */
static bool outside_by_difference(const struct verification *v, uint64_t *bytes)
{
	const struct startup_rank *rank = v->rank;

	if (startup_knows(rank, STARTUP_UNACCOUNTED)) {
		*bytes = rank->bytes[STARTUP_UNACCOUNTED];
		return *bytes < v->gpu.usable_bytes || v->gpu.usable_bytes == 0;
	}
	if (v->log->startup.engine != VC_ENGINE_SGLANG ||
	    !startup_knows(rank, STARTUP_FREE_START)) {
		return false;
	}
	*bytes = less(vc_gpu_offers_bytes(&v->gpu, VC_METHOD_DETAILED),
	              rank->bytes[STARTUP_FREE_START]);
	return true;
}

static void compare_term(struct verification *v, const struct term_row *term)
{
	const struct startup_rank *rank = v->rank;
	bool known = startup_knows(rank, term->term);
	uint64_t bytes = known ? rank->bytes[term->term] : 0;
	bool by_difference = false;
	struct verify_row *row;

	if (!known && term->term == STARTUP_OUTSIDE) {
		known = by_difference = outside_by_difference(v, &bytes);
	}
	if (!known && verify_components(&v->ledger, term->components) == 0) {
		return;
	}
	row = add(v, term->name, is_llamacpp(v) ? term->llamacpp : term->label, term->components);
	row->by_difference = by_difference;
	if (known) {
		measure(v, row, bytes);
	}
}

/* A pool that the log counts in tokens alone, at the estimate's bytes a token. */
static void compare_pool_by_tokens(struct verification *v)
{
	const struct vc_serving *serving = &v->ledger.serving;
	uint64_t tokens = v->log->startup.kv_tokens;

	for (size_t i = 0; i < v->row_count; i++) {
		struct verify_row *row = &v->rows[i];

		if (row->components == BIT(KV_CACHE) && !row->measured_known && tokens > 0 &&
		    tokens < 1ull << 40 && serving->known && serving->kv_tokens > 0) {
			row->by_difference = true;
			measure(v, row,
			        (uint64_t)((double)serving->kv_bytes_available /
			                   (double)serving->kv_tokens * (double)tokens));
		}
	}
}

static void compare_tokens(struct verification *v)
{
	const struct vc_serving *serving = &v->ledger.serving;
	struct verify_row *row;

	if (!serving->known || v->log->startup.kv_tokens == 0) {
		return;
	}
	row = add(v, "kv_tokens", "tokens of the pool", 0);
	row->tokens = true;
	row->said = serving->kv_tokens;
	row->measured_known = true;
	row->measured = v->log->startup.kv_tokens;
}

/* Where neither the peak nor what lies outside PyTorch is said, the budget leaves their sum. */
static void compare_rest(struct verification *v)
{
	const struct startup_rank *rank = v->rank;
	uint32_t taken = TERM(WEIGHTS) | TERM(CACHE) | TERM(RESERVE) | TERM(STATE);
	struct verify_row *row;

	if (!v->sum.whole || !v->sum.absent || !startup_knows(rank, STARTUP_WEIGHTS) ||
	    !startup_knows(rank, STARTUP_CACHE) || v->log->startup.engine != VC_ENGINE_VLLM) {
		return;
	}
	row = add(v, "activations_and_framework", "peak and outside PyTorch",
	          BIT(ACTIVATIONS) | BIT(LOGITS) | BIT(FRAMEWORK) | BIT(COMMUNICATION));
	row->by_difference = true;
	measure(v, row, less(v->sum.whole_bytes, startup_sum(rank, taken)));
}

/* ---- Whether the log adds up --------------------------------------------------------------- */

static void close_sum(struct verify_sum *sum)
{
	uint64_t gap = sum->whole_bytes > sum->sum_bytes ? sum->whole_bytes - sum->sum_bytes
	                                                 : sum->sum_bytes - sum->whole_bytes;

	sum->closes = !sum->absent && gap <= VERIFY_CLOSE_BYTES;
}

/* budget = weights + peak + outside + set aside for graphs + pool */
static void sum_vllm(struct verification *v)
{
	const struct startup_rank *rank = v->rank;
	uint32_t terms = TERM(WEIGHTS) | TERM(PEAK) | TERM(OUTSIDE) | TERM(CACHE) | TERM(STATE);
	struct verify_sum *sum = &v->sum;
	uint64_t reserve = startup_sum(rank, TERM(RESERVE));

	if (startup_knows(rank, STARTUP_BUDGET)) {
		sum->whole = "what the engine may use";
		sum->whole_bytes = rank->bytes[STARTUP_BUDGET];
	} else if (startup_knows(rank, STARTUP_CACHE)) {
		sum->whole = "the GPU's memory × gpu_memory_utilization";
		sum->whole_bytes = vc_gpu_offers_bytes(&v->gpu, VC_METHOD_DETAILED) / 1000000 *
		                   v->request.engine.gpu_memory_utilization_ppm;
	} else {
		return;
	}
	sum->sum_bytes = startup_sum(rank, terms);
	if (!startup_knows(rank, STARTUP_WEIGHTS)) {
		sum->absent = "the weights";
	} else if (!startup_knows(rank, STARTUP_CACHE)) {
		sum->absent = "the pool";
	} else if (!startup_knows(rank, STARTUP_PEAK) || !startup_knows(rank, STARTUP_OUTSIDE)) {
		sum->absent = "the activation peak and what lies outside PyTorch";
	}
	/* from 0.28 on the peak holds what is set aside for graphs */
	if (less(sum->whole_bytes, sum->sum_bytes) >= reserve / 2) {
		sum->sum_bytes += reserve;
	}
	close_sum(sum);
}

/* free before - free behind = weights + caches + graphs */
static void sum_sglang(struct verification *v)
{
	const struct startup_rank *rank = v->rank;
	bool pool = !startup_knows(rank, STARTUP_FREE_END);
	enum startup_term end = pool ? STARTUP_FREE_POOL : STARTUP_FREE_END;
	uint32_t terms = TERM(WEIGHTS) | TERM(CACHE) | TERM(STATE) | TERM(TABLES);

	if (!startup_knows(rank, STARTUP_FREE_START) || !startup_knows(rank, end)) {
		return;
	}
	v->sum.whole = "what was taken from the free memory";
	v->sum.whole_bytes = less(rank->bytes[STARTUP_FREE_START], rank->bytes[end]);
	v->sum.sum_bytes = startup_sum(rank, pool ? terms : terms | TERM(WORKSPACE) | TERM(GRAPHS));
	close_sum(&v->sum);
	if (!startup_knows(rank, STARTUP_CACHE)) {
		v->sum.absent = "the pool";
		v->sum.closes = false;
	} else if (!v->sum.closes) {
		v->sum.absent = startup_knows(rank, STARTUP_WORKSPACE) || pool
		                        ? "what lies beside the pool"
		                        : "the attention's workspace";
	}
}

/* llama.cpp's own sum, and with it what the GPU lost */
static void sum_llamacpp(struct verification *v)
{
	const struct startup_rank *rank = v->rank;

	if (!startup_knows(rank, STARTUP_SELF)) {
		return;
	}
	v->sum.whole = "llama.cpp's own sum on the GPU";
	v->sum.whole_bytes = rank->bytes[STARTUP_SELF];
	v->sum.sum_bytes =
	        startup_sum(rank, TERM(WEIGHTS) | TERM(CACHE) | TERM(STATE) | TERM(PEAK));
	close_sum(&v->sum);
	if (!v->sum.closes) {
		v->sum.absent = "a buffer without a line of its own";
	}
}

static void compare_startup(struct verification *v)
{
	switch (v->log->startup.engine) {
	case VC_ENGINE_VLLM:
		sum_vllm(v);
		break;
	case VC_ENGINE_SGLANG:
		sum_sglang(v);
		break;
	default:
		sum_llamacpp(v);
		break;
	}
	for (size_t i = 0; i < LENGTH(term_rows); i++) {
		compare_term(v, &term_rows[i]);
	}
	compare_pool_by_tokens(v);
	compare_rest(v);
	compare_tokens(v);
}

/* ---- PyTorch's counters and nvidia-smi ----------------------------------------------------- */

static void compare_whole(struct verification *v, uint32_t member, struct verify_row row)
{
	const struct vc_evidence *evidence = &v->log->evidence;

	if (evidence->known & member) {
		struct verify_row *whole = add(v, row.name, row.label, row.components);

		measure(v, whole, row.measured);
		whole->cut_short = evidence->out_of_memory && whole->measured < whole->said;
		whole->within = whole->within || whole->cut_short;
	}
}

/* The most that any reading of the log shows on the fullest GPU. */
static uint64_t most_used(const struct log *log)
{
	uint64_t most = log->evidence.used_bytes;

	for (size_t i = 0; i < LOG_MAX_GPUS; i++) {
		const struct vc_series *used = &log->gpus[i].used;

		for (uint32_t k = 0; k < used->count; k++) {
			most = used->samples[k] > most ? used->samples[k] : most;
		}
	}
	return most;
}

static void compare_counters(struct verification *v)
{
	const struct vc_evidence *evidence = &v->log->evidence;
	bool peak = evidence->known & VC_KNOWS_PEAK;

	compare_whole(
	        v, peak ? VC_KNOWS_PEAK : VC_KNOWS_ALLOCATED,
	        (struct verify_row){
	                .name = "total_allocated",
	                .label = peak || !evidence->out_of_memory ? "allocated at the peak"
	                                                          : "allocated at the failure",
	                .components = ALL & ~BIT(FRAMEWORK) & ~BIT(FRAGMENTATION),
	                .measured = peak ? evidence->peak_bytes : evidence->allocated_bytes });
	compare_whole(v, VC_KNOWS_RESERVED,
	              (struct verify_row){ .name = "total_reserved",
	                                   .label = "reserved by PyTorch",
	                                   .components = ALL & ~BIT(FRAMEWORK),
	                                   .measured = evidence->reserved_bytes });
	compare_whole(v, VC_KNOWS_USED,
	              (struct verify_row){ .name = "process",
	                                   .label = "nvidia-smi",
	                                   .components = ALL,
	                                   .measured = most_used(v->log) });
}

/* The whole range again: parts may each be off by less and together by more. */
static bool total_within(const struct verification *v)
{
	uint64_t said = 0, measured = 0;

	for (size_t i = 0; i < v->row_count; i++) {
		const struct verify_row *row = &v->rows[i];

		if (row->measured_known && !row->within) {
			return false;
		}
		if (row->measured_known && !row->tokens && row->components != ALL &&
		    !strstr(row->name, "total_")) {
			said += row->said;
			measured += row->measured;
		}
	}
	return is_within(&v->ledger, said, measured);
}

void verify_compare(struct verification *verification)
{
	verification->row_count = 0;
	verification->sum = (struct verify_sum){ .whole = NULL };
	if (verification->rank) {
		compare_startup(verification);
	}
	compare_counters(verification);
	verification->within = total_within(verification);
}
