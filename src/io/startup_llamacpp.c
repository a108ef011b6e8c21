/*
 * llama.cpp's start-up, and Ollama's, which prints the same: buffers device by device, and at its
 * end a table of them. Wordings of llm_load_tensors (2024), load_tensors, llama_kv_cache_init,
 * llama_kv_cache_unified, llama_memory_recurrent, sched_reserve (github.com/ggml-org/llama.cpp,
 * src/llama-model.cpp, llama-kv-cache.cpp, llama-context.cpp).
 */
#include "log.h"

#include <string.h>

/* The word that ends at `end`; NULL where there is none. */
static const char *word_before(const char *line, const char *end, size_t *length)
{
	const char *at;

	while (end > line && end[-1] == ' ') {
		end--;
	}
	at = end;
	while (at > line && at[-1] != ' ' && at[-1] != ':') {
		at--;
	}
	*length = (size_t)(end - at);
	return *length > 0 ? at : NULL;
}

static bool is_word(const char *at, size_t length, const char *word)
{
	return length == strlen(word) && memcmp(at, word, length) == 0;
}

/* "load_tensors:   CUDA0 model buffer size =  4403.49 MiB": what for, and where. In 2024 a buffer
 * of weights had no name. */
static void read_buffer(struct log *log, const struct log_hit *hit)
{
	static const struct {
		const char *name;
		enum startup_term term;
	} kinds[] = {
		{ "model", STARTUP_WEIGHTS }, { "LoRA", STARTUP_WEIGHTS },
		{ "KV", STARTUP_CACHE },      { "RS", STARTUP_STATE },
		{ "compute", STARTUP_PEAK },  { "output", STARTUP_OUTPUT },
	};
	enum startup_term term = STARTUP_WEIGHTS;
	size_t length, device_length;
	const char *kind = word_before(hit->line, hit->at, &length), *device = NULL;
	struct startup_rank *rank;
	uint64_t bytes;

	if (!kind || !startup_amount(hit->behind, &bytes)) {
		return;
	}
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (is_word(kind, length, kinds[i].name)) {
			term = kinds[i].term;
			device = word_before(hit->line, kind, &device_length);
		}
	}
	if (!device) {
		if (!strstr(hit->line, "load_tensors")) {
			return;
		}
		device = kind;
		device_length = length;
	}
	log->startup.engine = VC_ENGINE_LLAMACPP;
	rank = startup_rank_named(&log->startup, device, device_length);
	if (term == STARTUP_PEAK) {
		startup_set(rank, term, bytes); /* it is said again when it grows */
	} else {
		startup_add(rank, term, bytes);
	}
}

/* A count of MiB behind any of ` `, `=`, `+`, `(`; *at is behind it. */
static bool cell(const char **at, uint64_t *bytes)
{
	*at += strspn(*at, " =+()|");
	if (!log_count(*at, bytes) || *bytes > 1u << 30) {
		return false;
	}
	*bytes <<= 20;
	*at += strspn(*at, "0123456789");
	return true;
}

/* "|   - CUDA0 (RTX 5090) | 32606 = 1057 + (29365 = 28609 + 397 + 358) + 2183 |": total, free, own
 * sum, weights, caches, compute, unaccounted for. */
static void read_breakdown(struct log *log, const struct log_hit *hit)
{
	static const enum startup_term terms[] = { STARTUP_TOTAL,      STARTUP_FREE_END,
		                                   STARTUP_SELF,       STARTUP_WEIGHTS,
		                                   STARTUP_CACHE,      STARTUP_PEAK,
		                                   STARTUP_UNACCOUNTED };
	const char *at = strstr(hit->behind, " - "), *bar;
	uint64_t bytes[sizeof terms / sizeof *terms];
	struct startup_rank *rank;
	size_t length;

	bar = at ? strchr(at, '|') : NULL;
	if (!bar) {
		return;
	}
	at += 3;
	length = strcspn(at, " |");
	for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
		if (!cell(&bar, &bytes[i])) {
			return; /* the heading, and the host's line, which has no free memory */
		}
	}
	log->startup.engine = VC_ENGINE_LLAMACPP;
	rank = startup_rank_named(&log->startup, at, length);
	for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
		bool cached = terms[i] == STARTUP_CACHE && startup_knows(rank, STARTUP_STATE);

		if (!startup_knows(rank, terms[i]) && !cached) {
			startup_set(rank, terms[i], bytes[i]); /* rounded: buffers are exact */
		}
	}
}

/* ---- Settings ------------------------------------------------------------------------------ */

/* "offloaded 33/33 layers to GPU" */
static void read_offloaded(struct log *log, const struct log_hit *hit)
{
	size_t digits = strspn(hit->behind, "0123456789");

	if (hit->behind[digits] == '/') {
		startup_state(&log->startup, "engine.gpu_layers", hit->behind, digits);
	}
}

static void keep_count(const struct log_hit *hit, uint64_t *value)
{
	uint64_t found;

	if (log_count(hit->behind + strspn(hit->behind, " ="), &found)) {
		*value = found;
	}
}

static void read_context(struct log *log, const struct log_hit *hit)
{
	keep_count(hit, &log->startup.context);
}

static void read_context_each(struct log *log, const struct log_hit *hit)
{
	keep_count(hit, &log->startup.context_each);
}

static void read_sequences(struct log *log, const struct log_hit *hit)
{
	keep_count(hit, &log->startup.sequences);
}

static void read_ubatch(struct log *log, const struct log_hit *hit)
{
	const char *at = hit->behind + strspn(hit->behind, " =");

	startup_state(&log->startup, "engine.ubatch_size", at, strspn(at, "0123456789"));
}

static void state_attention(struct log *log, bool flash)
{
	const char *value = flash ? "flash" : "eager";

	startup_state(&log->startup, "workload.attn_implementation", value, strlen(value));
}

static void read_attention(struct log *log, const struct log_hit *hit)
{
	const char *at = hit->behind + strspn(hit->behind, " =");

	if (*at == '1' || strncmp(at, "enabled", 7) == 0) {
		state_attention(log, true);
	} else if (*at == '0' || strncmp(at, "disabled", 8) == 0) {
		state_attention(log, false);
	}
}

/* "Flash Attention was auto, set to enabled" */
static void read_attention_chosen(struct log *log, const struct log_hit *hit)
{
	state_attention(log, strncmp(hit->behind, "enabled", 7) == 0);
}

/* "build: 5401 (a4090d12) with ..." */
static void read_build(struct log *log, const struct log_hit *hit)
{
	const char *at = hit->behind + strspn(hit->behind, " =");
	size_t digits = strspn(at, "0123456789");
	char version[16] = "b";

	if (digits > 0 && digits < 8 && strncmp(at + digits, " (", 2) == 0) {
		memcpy(version + 1, at, digits);
		startup_state(&log->startup, "engine.version", version, digits + 1);
	}
}

/* "Q4_K - Medium" is q4_k_m, "IQ4_XS - 4.25 bpw" iq4_xs. */
static void read_type(struct log *log, const struct log_hit *hit)
{
	const char *at = hit->behind + strspn(hit->behind, " =");
	size_t length = strcspn(at, " \t");
	const char *size = strncmp(at + length, " - ", 3) == 0 ? at + length + 3 : "";
	char label[24] = "";

	if (length == 0 || length > 16) {
		return;
	}
	for (size_t i = 0; i < length; i++) {
		label[i] = (char)(at[i] >= 'A' && at[i] <= 'Z' ? at[i] + ('a' - 'A') : at[i]);
	}
	if (*size == 'M' || *size == 'S' || *size == 'L') {
		label[length] = '_';
		label[length + 1] = (char)(*size + ('a' - 'A'));
	}
	if (!vc_quantization_by_name(label)) {
		label[length] = '\0'; /* "Q2_K - Medium" is the only one of its kind */
	}
	if (vc_quantization_by_name(label)) {
		startup_state(&log->startup, "workload.quantization", label, strlen(label));
	}
}

/* "K (f16): 256.00 MiB": of the cache; f16 and f32 are the spec's fp16 and fp32. */
static void read_cache_type(struct log *log, const struct log_hit *hit)
{
	size_t length = strcspn(hit->behind, ")");
	char name[16] = "fp";
	bool plain = hit->behind[0] == 'f';

	if (length >= 2 && length < 8 && strncmp(hit->behind + length, "):", 2) == 0) {
		memcpy(name + (plain ? 2 : 0), hit->behind + plain, length - plain);
		name[length + plain] = '\0';
		if (vc_dtype_by_name(name) != VC_DTYPE_NONE) {
			startup_state(&log->startup, "workload.kv_cache_precision", name,
			              strlen(name));
		}
	}
}

static void keep_gpu(struct log *log, const char *name, size_t length)
{
	startup_state(&log->startup, "hardware.gpus", name, length);
}

/* "using device CUDA0 (NVIDIA GeForce RTX 3090) - 23306 MiB free" */
static void read_device(struct log *log, const struct log_hit *hit)
{
	const char *bracket = strchr(hit->behind, '(');
	size_t length = strcspn(hit->behind, " (");
	uint64_t bytes;

	if (bracket && length > 0 && log_amount_before(hit->line, " free", &bytes)) {
		keep_gpu(log, bracket + 1, strcspn(bracket + 1, ")"));
		startup_set(startup_rank_named(&log->startup, hit->behind, length),
		            STARTUP_FREE_START, bytes);
	}
}

/* "Device 0: NVIDIA GeForce RTX 3090, compute capability 8.6, VMM: yes" */
static void read_device_name(struct log *log, const struct log_hit *hit)
{
	keep_gpu(log, hit->behind, strcspn(hit->behind, ","));
}

#define LLAMACPP .software = VC_SOFTWARE_LLAMACPP

static const struct log_phrase phrases[] = {
	{ " buffer size =", .read = read_buffer },
	{ "memory_breakdown_print: |", LLAMACPP, .read = read_breakdown },
	{ "offloaded ", .read = read_offloaded },
	{ " n_ctx ", .read = read_context },
	{ " n_ctx_per_seq ", .read = read_context_each },
	{ " n_ctx_seq ", .read = read_context_each },
	{ " n_seq_max ", .read = read_sequences },
	{ " n_ubatch ", .read = read_ubatch },
	{ " flash_attn ", .read = read_attention },
	{ "Flash Attention was auto, set to ", .read = read_attention_chosen },
	{ "build: ", .read = read_build },
	{ "build = ", .read = read_build },
	{ " file type ", .read = read_type },
	{ " model ftype ", .read = read_type },
	{ " K (", .read = read_cache_type },
	{ "using device ", .read = read_device },
	{ "Device 0: ", .read = read_device_name },
	{ "GPU 0: ", .read = read_device_name },
};

const struct log_phrases log_llamacpp_phrases = { phrases, sizeof phrases / sizeof *phrases };
