/*
 * vLLM's start-up: what the weights take, the profiling run, the pool, the graphs. Wordings of V0
 * (github.com/vllm-project/vllm/pull/10511, issues/11251), of V1 (pull/12569, pull/17122) and of
 * the versions that estimate graphs (pull/30515). Its "GB" are 2^30 bytes.
 */
#include "log.h"

#include <string.h>

static void know(struct log *log, const struct log_hit *hit, enum startup_term term,
                 const char *text)
{
	uint64_t bytes;

	if (startup_amount(text, &bytes)) {
		log->startup.engine = VC_ENGINE_VLLM;
		startup_set(startup_line_rank(&log->startup, hit->line), term, bytes);
	}
}

static void read_weights(struct log *log, const struct log_hit *hit)
{
	know(log, hit, STARTUP_WEIGHTS, hit->behind);
}

static void read_outside(struct log *log, const struct log_hit *hit)
{
	know(log, hit, STARTUP_OUTSIDE, hit->behind);
}

static void read_peak(struct log *log, const struct log_hit *hit)
{
	know(log, hit, STARTUP_PEAK, hit->behind);
}

static void read_cache(struct log *log, const struct log_hit *hit)
{
	know(log, hit, STARTUP_CACHE, hit->behind);
}

static void read_estimated_graphs(struct log *log, const struct log_hit *hit)
{
	know(log, hit, STARTUP_RESERVE, hit->behind);
}

static void read_torch_peak(struct log *log, const struct log_hit *hit)
{
	know(log, hit, STARTUP_TORCH_PEAK, hit->behind);
}

/* "Graph capturing finished in 2 secs, took 0.11 GiB" */
static void read_graphs(struct log *log, const struct log_hit *hit)
{
	const char *took = strstr(hit->behind, " took ");

	if (took) {
		know(log, hit, STARTUP_GRAPHS, took + strlen(" took "));
	}
}

static const char *utilization = "engine.gpu_memory_utilization";

static void state_number(struct log *log, const char *field, const char *at)
{
	at += strspn(at, " \t=(:'\"");
	startup_state(&log->startup, field, at, strspn(at, "0123456789."));
}

/* "total_gpu_memory (79.22GiB) x gpu_memory_utilization (0.90) = 71.29GiB", or its parts as lines
 * of a table or as "total_gpu_memory=79.22GiB ... gpu_memory_utilization=0.90". */
static void read_total(struct log *log, const struct log_hit *hit)
{
	const char *share = strstr(hit->behind, "gpu_memory_utilization"), *equals;

	know(log, hit, STARTUP_TOTAL, hit->behind + strspn(hit->behind, " \t=("));
	if (share) {
		state_number(log, utilization, share + strlen("gpu_memory_utilization"));
		equals = strstr(share, ") = ");
		if (equals) {
			know(log, hit, STARTUP_BUDGET, equals + strlen(") = "));
		}
	}
}

static void read_budget(struct log *log, const struct log_hit *hit)
{
	know(log, hit, STARTUP_BUDGET, hit->behind);
}

/* "(78.6/79.25 GiB) on startup. Desired GPU memory utilization is (0.9, 71.32 GiB). Actual usage
 * is 14.99 GiB for weight, 1.26 GiB for peak activation, 0.16 GiB for non-torch memory, and 0.23
 * GiB for CUDAGraph memory. ... Current kv cache memory in use is 53.6 GiB.", or in bytes; newer
 * ones say "15.26 GiB for consumed memory (weights + non-torch)" of the first and third. */
static void read_desired(struct log *log, const struct log_hit *hit)
{
	static const struct {
		enum startup_term term;
		const char *phrase;
	} rows[] = {
		{ STARTUP_WEIGHTS, " for weight" },
		{ STARTUP_CONSUMED, " for consumed memory" },
		{ STARTUP_PEAK, " for peak activation" },
		{ STARTUP_OUTSIDE, " for non-torch memory" },
		{ STARTUP_GRAPHS, " for CUDAGraph memory" },
	};
	struct startup_rank *rank = startup_line_rank(&log->startup, hit->line);
	const char *comma = strchr(hit->behind, ','), *slash = strchr(hit->line, '/');
	uint64_t bytes;

	log->startup.engine = VC_ENGINE_VLLM;
	state_number(log, utilization, hit->behind);
	if (comma) {
		know(log, hit, STARTUP_BUDGET, comma + 1);
	}
	if (slash && slash < hit->at) {
		know(log, hit, STARTUP_TOTAL, slash + 1);
	}
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (log_amount_before(hit->line, rows[i].phrase, &bytes)) {
			startup_set(rank, rows[i].term, bytes);
		}
	}
	if (startup_amount_after(hit->line, "kv cache memory in use is ", &bytes)) {
		startup_set(rank, STARTUP_CACHE, bytes);
	}
}

/* ---- Tokens -------------------------------------------------------------------------------- */

/* "178,880 tokens" */
static bool grouped_count(const char *text, uint64_t *value)
{
	*value = 0;
	text += strspn(text, " :");
	if (*text < '0' || *text > '9') {
		return false;
	}
	for (; (*text >= '0' && *text <= '9') || *text == ','; text++) {
		if (*text != ',') {
			*value = *value * 10 + (uint64_t)(*text - '0');
		}
		if (*value > 1ull << 50) {
			return false;
		}
	}
	return true;
}

static void read_tokens(struct log *log, const struct log_hit *hit)
{
	uint64_t tokens;

	if (grouped_count(hit->behind, &tokens)) {
		log->startup.kv_tokens = tokens;
	}
}

static void read_blocks(struct log *log, const struct log_hit *hit)
{
	uint64_t blocks;

	if (grouped_count(hit->behind, &blocks)) {
		log->startup.block_count = blocks;
	}
}

/* "Maximum concurrency for 40000 tokens per request: 1.54x" */
static void read_concurrency(struct log *log, const struct log_hit *hit)
{
	const char *colon = strchr(hit->behind, ':');
	uint64_t length, whole, part = 0;

	if (!colon || !grouped_count(hit->behind, &length) || !grouped_count(colon + 1, &whole) ||
	    whole > 1u << 30) {
		return;
	}
	colon += 1 + strspn(colon + 1, " 0123456789,");
	for (int i = 0, digits = *colon == '.'; i < 3; i++) {
		part *= 10;
		digits = digits && colon[1 + i] >= '0' && colon[1 + i] <= '9';
		part += digits ? (uint64_t)(colon[1 + i] - '0') : 0;
	}
	log->startup.concurrency_length = length;
	log->startup.concurrency_milli = whole * 1000 + part;
}

/* ---- Settings ------------------------------------------------------------------------------ */

static void read_version(struct log *log, const struct log_hit *hit)
{
	log->startup.engine = VC_ENGINE_VLLM;
	if (*hit->behind >= '0' && *hit->behind <= '9') {
		startup_state(&log->startup, "engine.version", hit->behind,
		              strspn(hit->behind, "0123456789."));
	}
}

#define VLLM .software = VC_SOFTWARE_VLLM

static const struct log_phrase phrases[] = {
	{ "Loading model weights took ", VLLM, .read = read_weights },
	{ "Model loading took ", VLLM, .read = read_weights },
	{ "model weights take ", VLLM, .read = read_weights },
	{ "model weights take\t", VLLM, .read = read_weights },
	{ "; weights memory: ", VLLM, .read = read_weights },
	{ "non_torch_memory takes ", VLLM, .read = read_outside },
	{ "non_torch_memory=", VLLM, .read = read_outside },
	{ "non_torch_memory ", VLLM, .read = read_outside },
	{ "non-torch forward increase memory: ", VLLM, .read = read_outside },
	{ "PyTorch activation peak memory takes ", VLLM, .read = read_peak },
	{ "PyTorch activation peak memory ", VLLM, .read = read_peak },
	{ "torch peak memory increase: ", VLLM, .read = read_peak },
	{ "peak_torch_memory=", VLLM, .read = read_torch_peak },
	{ "memory reserved for KV Cache is ", VLLM, .read = read_cache },
	{ "available_kv_cache_memory ", VLLM, .read = read_cache },
	{ " kv_cache_size=", VLLM, .read = read_cache },
	{ "Available KV cache memory: ", VLLM, .read = read_cache },
	{ "Estimated CUDA graph memory: ", VLLM, .read = read_estimated_graphs },
	{ "Graph capturing finished in ", VLLM, .read = read_graphs },
	{ "total_gpu_memory", VLLM, .read = read_total },
	{ "the current vLLM instance can use ", VLLM, .read = read_budget },
	{ "Desired GPU memory utilization is (", VLLM, .read = read_desired },
	{ "GPU KV cache size: ", VLLM, .read = read_tokens },
	{ "# GPU blocks: ", VLLM, .read = read_blocks },
	{ "# cuda blocks: ", VLLM, .read = read_blocks },
	{ "Maximum concurrency for ", VLLM, .read = read_concurrency },
	{ "LLM engine (v", VLLM, .read = read_version },
	{ "vLLM API server version ", VLLM, .read = read_version },
};

const struct log_phrases log_vllm_phrases = { phrases, sizeof phrases / sizeof *phrases };
