/*
 * What engines and systems say when memory runs out: JAX, TensorFlow, vLLM, SGLang, llama.cpp, CUDA
 * itself, and the host's own out-of-memory killer. One row per wording.
 */
#include "log.h"

#include <string.h>

enum consequence {
	FAILED,  /* an allocation failed */
	REFUSED, /* no room for a cache of the wanted size: it would never have fitted */
	HOST     /* of the host's memory */
};

struct wording {
	const char *phrase;
	const char *kind;
	enum consequence consequence;
	const char *request; /* the phrase before the amount that was asked for; NULL: none */
};

static const struct wording wordings[] = {
	{ "Out of memory while trying to allocate ", "JAX", FAILED,
	  "Out of memory while trying to allocate " },
	{ "Out of memory allocating ", "JAX", FAILED, "Out of memory allocating " },
	{ "RESOURCE_EXHAUSTED", "JAX", FAILED, NULL },
	{ "OOM when allocating tensor", "TensorFlow", FAILED, NULL },
	{ "an out of memory trying to allocate ", "TensorFlow", FAILED,
	  "an out of memory trying to allocate " },
	{ "No available memory for the cache blocks", "vLLM", REFUSED, NULL },
	{ "larger than the maximum number of tokens that can be stored in KV cache", "vLLM",
	  REFUSED, NULL },
	{ "larger than the available KV cache memory", "vLLM", REFUSED, NULL },
	{ "is less than desired GPU memory utilization", "vLLM", FAILED, NULL },
	{ "Not enough memory. Please try to increase --mem-fraction-static", "SGLang", REFUSED,
	  NULL },
	{ "failed to allocate CUDA", "llama.cpp", FAILED, "of size " },
	{ "failed to allocate ROCm", "llama.cpp", FAILED, "of size " },
	{ "failed to allocate Vulkan", "llama.cpp", FAILED, "of size " },
	{ "cudaMalloc failed: out of memory", "llama.cpp", FAILED, "allocating " },
	{ "ErrorOutOfDeviceMemory", "Vulkan", FAILED, NULL },
	{ "CUDA error: out of memory", "CUDA", FAILED, NULL },
	{ "CUDA_ERROR_OUT_OF_MEMORY", "CUDA", FAILED, NULL },
	{ "cudaErrorMemoryAllocation", "CUDA", FAILED, NULL },
	{ "CUBLAS_STATUS_ALLOC_FAILED", "cuBLAS", FAILED, NULL },
	{ "DefaultCPUAllocator: ", "host", HOST, "you tried to allocate " },
	{ "Out of memory: Kill", "host", HOST, NULL },
	{ "Memory cgroup out of memory", "host", HOST, NULL },
	{ "oom-kill:constraint=", "host", HOST, NULL },
	{ "OOMKilled", "host", HOST, NULL },
};

/* Amounts without a unit are bytes: "of size 8849.72 MiB" has one, "of size 9279600640" none. */
static bool plain_bytes(const char *line, const char *phrase, uint64_t *bytes)
{
	const char *at = strstr(line, phrase);
	size_t digits;

	if (!at) {
		return false;
	}
	at += strlen(phrase);
	digits = strspn(at, "0123456789");
	if (digits == 0 || digits > 18 || at[digits] == '.') {
		return false;
	}
	*bytes = 0;
	for (size_t i = 0; i < digits; i++) {
		*bytes = *bytes * 10 + (uint64_t)(at[i] - '0');
	}
	return true;
}

static void read_request(struct log *log, const char *line, const char *phrase)
{
	uint64_t bytes;

	if (log->message_done || !phrase) {
		return;
	}
	if (log_amount_after(line, phrase, &bytes) || plain_bytes(line, phrase, &bytes)) {
		log_know(log, VC_KNOWS_REQUESTED, &log->evidence.requested_bytes, bytes);
		log->message_done = true;
	}
}

/* "Free memory on device (9.5/23.68 GiB) on startup is less than ..." */
static void read_startup(struct log *log, const char *line)
{
	const char *at = strstr(line, "Free memory on device"), *end;
	char number[32];
	uint64_t bytes;
	size_t length;

	at = at ? strchr(at, '(') : NULL;
	if (!at) {
		return;
	}
	length = strcspn(at + 1, "/");
	if (length == 0 || length > sizeof number - 8 || at[1 + length] != '/') {
		return;
	}
	memcpy(number, at + 1, length);
	memcpy(number + length, " GiB", 5);
	if (log_amount(number, &bytes, &end)) {
		log_know(log, VC_KNOWS_FREE, &log->evidence.free_bytes, bytes);
	}
	if (log_amount(at + 2 + length, &bytes, &end)) {
		log_know(log, VC_KNOWS_TOTAL, &log->evidence.total_bytes, bytes);
	}
}

bool log_engine_message(struct log *log, const char *line)
{
	for (size_t i = 0; i < sizeof wordings / sizeof *wordings; i++) {
		const struct wording *wording = &wordings[i];

		if (!strstr(line, wording->phrase)) {
			continue;
		}
		log->kind = log->kind ? log->kind : wording->kind;
		log->evidence.out_of_memory |= wording->consequence == FAILED;
		log->evidence.refused_at_start |= wording->consequence == REFUSED;
		log->evidence.host_memory |= wording->consequence == HOST;
		read_request(log, line, wording->request);
		read_startup(log, line);
		return true;
	}
	return false;
}
