/*
 * SGLang's start-up: free memory before and behind each step, and what each took. Wordings of
 * 0.3 to 0.5 (github.com/sgl-project/sglang/pull/4826, pull/11830, pull/29853). Its "GB" are 2^30
 * bytes.
 */
#include "log.h"

#include <string.h>

static struct startup_rank *rank_of(struct log *log, const struct log_hit *hit)
{
	log->startup.engine = VC_ENGINE_SGLANG;
	return startup_line_rank(&log->startup, hit->line);
}

static void know_free(struct log *log, const struct log_hit *hit, enum startup_term term)
{
	uint64_t bytes;

	if (startup_amount_after(hit->behind, "avail mem=", &bytes)) {
		startup_set(rank_of(log, hit), term, bytes);
	}
}

/* A draft model is loaded behind the model: the first is what there was to start with. */
static void read_load_begin(struct log *log, const struct log_hit *hit)
{
	if (!startup_knows(rank_of(log, hit), STARTUP_FREE_START)) {
		know_free(log, hit, STARTUP_FREE_START);
	}
}

static void read_load_end(struct log *log, const struct log_hit *hit)
{
	struct startup_rank *rank = rank_of(log, hit);
	uint64_t used;

	know_free(log, hit, STARTUP_FREE_LOADED);
	if (startup_amount_after(hit->behind, "mem usage=", &used)) {
		startup_add(rank, STARTUP_WEIGHTS, used);
	} else if (startup_knows(rank, STARTUP_FREE_START) &&
	           startup_knows(rank, STARTUP_FREE_LOADED) &&
	           rank->bytes[STARTUP_FREE_START] >= rank->bytes[STARTUP_FREE_LOADED]) {
		startup_set(rank, STARTUP_WEIGHTS,
		            rank->bytes[STARTUP_FREE_START] - rank->bytes[STARTUP_FREE_LOADED]);
	}
}

/* "#tokens: 367404, K size: 8.23 GB, V size: 8.23 GB"; of latent caches "KV size: 160.63 GB" */
static void read_cache(struct log *log, const struct log_hit *hit)
{
	static const char *const parts[] = { " K size: ", " V size: ", " KV size: " };
	const char *tokens = strstr(hit->behind, "#tokens: ");
	struct startup_rank *rank = rank_of(log, hit);
	uint64_t bytes, count;

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		if (startup_amount_after(hit->line, parts[i], &bytes)) {
			startup_add(rank, STARTUP_CACHE, bytes);
		}
	}
	if (tokens && log->startup.kv_tokens == 0 &&
	    log_count(tokens + strlen("#tokens: "), &count)) {
		log->startup.kv_tokens = count;
	}
}

static void read_states(struct log *log, const struct log_hit *hit)
{
	static const char *const parts[] = { "conv_state size: ", "ssm_state size: " };
	uint64_t bytes;

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		if (startup_amount_after(hit->behind, parts[i], &bytes)) {
			startup_add(rank_of(log, hit), STARTUP_STATE, bytes);
		}
	}
}

static void read_pool_end(struct log *log, const struct log_hit *hit)
{
	know_free(log, hit, STARTUP_FREE_POOL);
}

/* What is missing since the pool was made, attention's kernels have taken. */
static void read_graphs_begin(struct log *log, const struct log_hit *hit)
{
	struct startup_rank *rank = rank_of(log, hit);
	uint64_t free_bytes;

	if (startup_knows(rank, STARTUP_FREE_POOL) && !startup_knows(rank, STARTUP_GRAPHS) &&
	    startup_amount_after(hit->behind, "avail mem=", &free_bytes) &&
	    free_bytes <= rank->bytes[STARTUP_FREE_POOL]) {
		startup_set(rank, STARTUP_WORKSPACE, rank->bytes[STARTUP_FREE_POOL] - free_bytes);
	}
}

/* "Capture cuda graph end. ... mem usage=1.44 GB. avail mem=38.05 GB."; once for decoding, once
 * for prefill or a draft. */
static void read_graphs(struct log *log, const struct log_hit *hit)
{
	uint64_t used;

	if (strstr(hit->line, "Capture ") &&
	    startup_amount_after(hit->behind, "mem usage=", &used)) {
		startup_add(rank_of(log, hit), STARTUP_GRAPHS, used);
		know_free(log, hit, STARTUP_FREE_END);
	}
}

static bool count_after(const char *line, const char *phrase, uint64_t *value)
{
	const char *at = strstr(line, phrase);

	return at && log_count(at + strlen(phrase), value) && *value < 1u << 31;
}

/* req_to_token: an int32 for each token of each request (mem_cache/memory_pool.py) */
static void read_tables(struct log *log, const struct log_hit *hit)
{
	uint64_t requests, length;

	if (count_after(hit->behind, "max_running_requests=", &requests) &&
	    count_after(hit->behind, "context_len=", &length) && requests < 1u << 20) {
		startup_set(rank_of(log, hit), STARTUP_TABLES, 4 * requests * length);
	}
}

static void read_ready(struct log *log, const struct log_hit *hit)
{
	uint64_t tokens, bytes;

	read_tables(log, hit);

	if (log_count(hit->behind, &tokens)) {
		log->startup.kv_tokens = tokens;
	}
	if (startup_amount_after(hit->behind, "available_gpu_mem=", &bytes)) {
		startup_set(rank_of(log, hit), STARTUP_FREE_END, bytes);
	}
}

#define SGLANG .software = VC_SOFTWARE_SGLANG

static const struct log_phrase phrases[] = {
	{ "Load weight begin. ", SGLANG, .read = read_load_begin },
	{ "Load weight end. ", SGLANG, .read = read_load_end },
	{ "KV Cache is allocated. ", SGLANG, .read = read_cache },
	{ "Mamba Cache is allocated. ", SGLANG, .read = read_states },
	{ "Memory pool end. ", SGLANG, .read = read_pool_end },
	{ "cuda graph begin. ", SGLANG, .read = read_graphs_begin },
	{ "CUDA graph begin. ", SGLANG, .read = read_graphs_begin },
	{ "cuda graph end. ", SGLANG, .read = read_graphs },
	{ "CUDA graph end. ", SGLANG, .read = read_graphs },
	{ "max_total_num_tokens=", SGLANG, .read = read_ready },
};

const struct log_phrases log_sglang_phrases = { phrases, sizeof phrases / sizeof *phrases };
