/*
 * What engines, libraries and systems say when memory runs out: JAX, TensorFlow, vLLM, SGLang, TGI,
 * llama.cpp, CUDA itself, and the host. One row per wording.
 */
#include "log.h"

#include <string.h>

/* ---- vLLM ---------------------------------------------------------------------------------- */

/* "19.77/22.05 GiB": the amount before the slash has the unit of the one behind it. */
static bool pair_of_gib(const char *at, uint64_t *first, uint64_t *second)
{
	char number[32];
	size_t length = strcspn(at, "/");
	const char *end;

	if (length == 0 || length > sizeof number - 8 || at[length] != '/') {
		return false;
	}
	memcpy(number, at, length);
	memcpy(number + length, " GiB", 5);
	return log_amount(number, first, &end) && log_amount(at + length + 1, second, &end);
}

/*
 * "Free memory on device cuda:1 (19.77/22.05 GiB) on startup is less than desired GPU memory
 * utilization (0.9, 19.84 GiB)."
 */
static void read_startup(struct log *log, const struct log_hit *hit)
{
	const char *at = strchr(hit->behind, '('), *desired;
	uint64_t free_bytes, total_bytes;

	if (!at || !pair_of_gib(at + 1, &free_bytes, &total_bytes)) {
		return;
	}
	log_know(log, VC_KNOWS_START_FREE, free_bytes);
	log_know(log, VC_KNOWS_TOTAL, total_bytes);
	desired = strstr(at, "less than desired GPU memory utilization");
	if (desired) {
		log->evidence.occupied = true;
		log->recognized++;
		desired = strchr(desired, '(');
		log->evidence.share_permille = desired ? log_permille(desired + 1) : 0;
	}
}

static void read_number_after(const char *text, const char *phrase, uint64_t *value)
{
	const char *at = strstr(text, phrase);
	uint64_t found;

	if (at && log_count(at + strlen(phrase), &found)) {
		*value = found;
	}
}

/*
 * "The model's max seq len (4096) is larger than the maximum number of tokens that can be stored in
 * KV cache (3664)." and, from 0.8 on, "To serve at least one request with the model's max seq len
 * (100000), (4.26 GiB KV cache is needed, which is larger than the available KV cache memory (4.25
 * GiB). Based on the available memory, the estimated maximum model length is 99712."
 */
static void read_length(struct log *log, const struct log_hit *hit)
{
	struct vc_evidence *evidence = &log->evidence;
	const char *needed = strstr(hit->line, " KV cache is needed");
	uint64_t bytes;

	read_number_after(hit->line, "max seq len (", &evidence->wanted_tokens);
	read_number_after(hit->line, "can be stored in KV cache (", &evidence->fitting_tokens);
	read_number_after(hit->line, "estimated maximum model length is ",
	                  &evidence->fitting_tokens);
	if (evidence->fitting_tokens || needed) {
		evidence->refused_at_start = true;
		log->recognized++;
	}
	if (needed && log_amount_ending(hit->line, needed, &bytes)) {
		log_know(log, VC_KNOWS_REQUESTED, bytes);
	}
	if (log_amount_after(hit->line, "available KV cache memory (", &bytes)) {
		log_know(log, VC_KNOWS_FREE, bytes);
	}
}

/* ---- Others -------------------------------------------------------------------------------- */

/* "Ran out of memory in memory space hbm. Used 21.95G of 15.48G hbm." */
static void read_tpu(struct log *log, const struct log_hit *hit)
{
	uint64_t bytes;

	if (strncmp(hit->behind, "hbm", 3) != 0) {
		log->evidence.memory = VC_MEMORY_ON_CHIP;
		return;
	}
	log->evidence.out_of_memory = true;
	if (log_amount_after(hit->line, "Used ", &bytes)) {
		log_know(log, VC_KNOWS_REQUESTED, bytes);
	}
	if (log_amount_before(hit->line, " hbm.", &bytes)) {
		log_know(log, VC_KNOWS_TOTAL, bytes);
		log_know(log, VC_KNOWS_ALLOCATED, 0);
	}
}

/* The allocator's statistics that TensorFlow and XLA print below a failure. */
static void read_pool(struct log *log, const struct log_hit *hit)
{
	const uint64_t least = 1 << 20;
	uint64_t bytes;

	if (hit->at > hit->line && hit->at[-1] == 'x') {
		return; /* MaxInUse */
	}
	if (log->evidence.memory == VC_MEMORY_GPU && log->evidence.out_of_memory &&
	    log_count(hit->behind + strspn(hit->behind, " "), &bytes) && bytes >= least) {
		log_know(log, hit->phrase->text[0] == 'L' ? VC_KNOWS_LIMIT : VC_KNOWS_ALLOCATED,
		         bytes);
	}
}

/* "failed to allocate 10.57G (11353838848 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY" */
static void read_device_failure(struct log *log, const struct log_hit *hit)
{
	const char *before = hit->at;
	uint64_t bytes;

	while (before > hit->line && *before != '(') {
		before--;
	}
	if (log_bytes(before + 1, &bytes)) {
		log_know(log, VC_KNOWS_REQUESTED, bytes);
	}
}

/* "using device CUDA0 (NVIDIA GeForce RTX 3090) - 23306 MiB free" */
static void read_llamacpp_device(struct log *log, const struct log_hit *hit)
{
	const char *name = strchr(hit->behind, '(');
	uint64_t bytes;

	if (log_amount_before(hit->line, " free", &bytes)) {
		log_know(log, VC_KNOWS_START_FREE, bytes);
	}
	if (name) {
		log_name_gpu(log, name + 1, strcspn(name + 1, ")"));
	}
}

/* A shell's whole message is "Killed", or a process number before it and a command behind it. */
static void read_killed(struct log *log, const struct log_hit *hit)
{
	const char *before = hit->at, *rest = hit->behind + strspn(hit->behind, " ");

	while (before > hit->line && (before[-1] == ' ' || before[-1] == '>')) {
		before--;
	}
	if ((*rest == '\0' && (before == hit->line || before[-1] == ':')) ||
	    (before > hit->line && before[-1] >= '0' && before[-1] <= '9' &&
	     rest > hit->behind + 4)) {
		log->recognized++;
		if (!log->host_certain && !log->evidence.out_of_memory) {
			log->evidence.memory = VC_MEMORY_HOST;
			log->evidence.masked = true;
		}
	}
}

#define VLLM      .software = VC_SOFTWARE_VLLM
#define SGLANG    .software = VC_SOFTWARE_SGLANG
#define TGI       .software = VC_SOFTWARE_TGI
#define LLAMACPP  .software = VC_SOFTWARE_LLAMACPP
#define JAX       .software = VC_SOFTWARE_JAX
#define TF        .software = VC_SOFTWARE_TENSORFLOW
#define CUDA      .software = VC_SOFTWARE_CUDA
#define HOST      .software = VC_SOFTWARE_HOST
#define REQUESTED .member = VC_KNOWS_REQUESTED

static const struct log_phrase phrases[] = {
	{ "No available memory for the cache blocks", VLLM, .event = LOG_REFUSED,
	  .stage = VC_STAGE_CACHE },
	{ "larger than the available KV cache memory", VLLM, .event = LOG_REFUSED,
	  .stage = VC_STAGE_CACHE },
	{ "max seq len (", VLLM, .stage = VC_STAGE_CACHE, .read = read_length, .collects = true },
	{ "Free memory on device", VLLM, .read = read_startup, .collects = true },
	{ "out of memory occurred when warming up sampler", VLLM, .event = LOG_FAILED,
	  .stage = VC_STAGE_GRAPHS },
	{ "Error in memory profiling", VLLM, .event = LOG_OCCUPIED },
	{ "(EngineCore", VLLM },
	{ "(VllmWorker", VLLM },
	{ "/vllm/", VLLM },
	{ "vllm serve ", VLLM },
	{ "vllm.entrypoints", VLLM },

	{ "Not enough memory. Please try", SGLANG, .event = LOG_REFUSED, .stage = VC_STAGE_CACHE },
	{ "Loading the model weights failed because of insufficient memory", SGLANG,
	  .event = LOG_FAILED, .stage = VC_STAGE_LOADING },
	{ "The memory capacity is unbalanced", SGLANG, .event = LOG_OCCUPIED },
	{ "Capture cuda graph failed: CUDA out of memory", SGLANG, .event = LOG_FAILED,
	  .stage = VC_STAGE_GRAPHS },
	{ "Prefill out of memory", SGLANG, .event = LOG_POOL },
	{ "Decode out of memory", SGLANG, .event = LOG_POOL },
	{ "alloc_req_slots runs out of memory", SGLANG, .event = LOG_POOL },
	{ "alloc_token_slots", SGLANG },
	{ "sglang/srt/", SGLANG },
	{ "sglang.launch_server", SGLANG },

	{ "Not enough memory to handle", TGI, .event = LOG_REFUSED, .stage = VC_STAGE_CACHE },
	{ "text_generation_server", TGI },
	{ "text_generation_launcher", TGI },
	{ "[TensorRT-LLM]", .software = VC_SOFTWARE_TENSORRT_LLM },
	{ "tensorrt_llm", .software = VC_SOFTWARE_TENSORRT_LLM },

	{ "cudaMalloc failed: out of memory", LLAMACPP, .event = LOG_FAILED },
	{ "hipMalloc failed: out of memory", LLAMACPP, .event = LOG_FAILED },
	{ "alloc_buffer: allocating ", LLAMACPP, REQUESTED },
	{ "failed to allocate CUDA", LLAMACPP, .event = LOG_FAILED },
	{ "failed to allocate ROCm", LLAMACPP, .event = LOG_FAILED },
	{ "failed to allocate Vulkan", LLAMACPP, .event = LOG_FAILED },
	{ "failed to allocate SYCL", LLAMACPP, .event = LOG_FAILED },
	{ "failed to allocate Metal", LLAMACPP, .event = LOG_FAILED },
	{ "failed to allocate CPU buffer", LLAMACPP, .event = LOG_HOST },
	{ " buffer of size ", REQUESTED },
	{ "alloc_tensor_range: ", LLAMACPP, .stage = VC_STAGE_LOADING },
	{ "unable to allocate CUDA", LLAMACPP, .event = LOG_FAILED, .stage = VC_STAGE_LOADING },
	{ "unable to allocate backend buffer", LLAMACPP, .event = LOG_FAILED,
	  .stage = VC_STAGE_LOADING },
	{ "failed to allocate buffer for kv cache", LLAMACPP, .event = LOG_FAILED,
	  .stage = VC_STAGE_CACHE },
	{ "failed to allocate compute", LLAMACPP, .event = LOG_FAILED, .stage = VC_STAGE_COMPUTE },
	{ "ggml_gallocr_reserve_n", LLAMACPP, .stage = VC_STAGE_COMPUTE },
	{ "retrying without pipeline parallelism", LLAMACPP, .event = LOG_RETRIED },
	{ "using device ", LLAMACPP, .read = read_llamacpp_device },
	{ "ggml_vulkan: Device memory allocation of size ", LLAMACPP, REQUESTED,
	  .event = LOG_FAILED },
	{ "Requested buffer size exceeds device", LLAMACPP, .event = LOG_BUFFER_LIMIT },
	{ "ErrorOutOfDeviceMemory", LLAMACPP, .event = LOG_FAILED },
	{ "kIOGPUCommandBufferCallbackErrorOutOfMemory", LLAMACPP, .event = LOG_FAILED },
	{ "ggml_aligned_malloc: insufficient memory", LLAMACPP, .event = LOG_HOST },
	{ "ggml_cuda_error", LLAMACPP },
	{ "/ggml-cuda", LLAMACPP },
	{ "llama_model_load", LLAMACPP },
	{ "requires more system memory (", .software = VC_SOFTWARE_OLLAMA, REQUESTED,
	  .event = LOG_HOST },
	{ "llama runner process", .software = VC_SOFTWARE_OLLAMA },
	{ "llama runner exited", .software = VC_SOFTWARE_OLLAMA },

	{ "Out of memory while trying to allocate ", JAX, REQUESTED, .event = LOG_FAILED },
	{ "Out of memory allocating ", JAX, REQUESTED, .event = LOG_FAILED },
	{ "Failed to allocate request for ", JAX, REQUESTED, .event = LOG_FAILED },
	{ "Ran out of memory in memory space ", JAX, .read = read_tpu, .collects = true },
	{ "jaxlib", JAX },
	{ "OOM when allocating tensor", TF, .event = LOG_FAILED },
	{ "an out of memory trying to allocate ", TF, REQUESTED, .event = LOG_FAILED },
	{ "ran out of memory trying to allocate ", TF, REQUESTED, .event = LOG_FAILED },
	{ "(cuda_host_bfc)", TF, .event = LOG_HOST },
	{ "Ran out of memory trying to allocate ", TF, REQUESTED, .event = LOG_FAILED },
	{ " bytes) from device: CUDA_ERROR_OUT_OF_MEMORY", TF, .event = LOG_FAILED,
	  .read = read_device_failure },
	{ "Limit: ", .read = read_pool },
	{ "InUse: ", .read = read_pool },
	{ "totalMemory: ", TF, .member = VC_KNOWS_TOTAL },
	{ "freeMemory: ", TF, .member = VC_KNOWS_START_FREE },
	{ "Failed to allocate memory for requested buffer of size ",
	  .software = VC_SOFTWARE_ONNX_RUNTIME, REQUESTED, .event = LOG_FAILED },
	{ "cupy.cuda.memory.OutOfMemoryError", CUDA, .event = LOG_FAILED },
	{ " bytes (allocated so far: ", CUDA, .member = VC_KNOWS_ALLOCATED },

	/* "CUDA error: out of memory", "cuda runtime error (2) : out of memory", and more */
	{ ": out of memory", CUDA, .event = LOG_FAILED },
	{ "hipErrorOutOfMemory", CUDA, .event = LOG_FAILED },
	{ "CUDA_ERROR_OUT_OF_MEMORY", CUDA, .event = LOG_FAILED },
	{ "cudaErrorMemoryAllocation", CUDA, .event = LOG_FAILED },
	{ "failed with error: 'out of memory'", CUDA, .event = LOG_FAILED },
	{ "Cuda failure 'out of memory'", CUDA, .event = LOG_FAILED },
	{ "Cuda failure 2 'out of memory'", CUDA, .event = LOG_FAILED },
	{ "Error out of memory at line", CUDA, .event = LOG_FAILED },
	{ "CUBLAS_STATUS_ALLOC_FAILED", CUDA, .event = LOG_FAILED },
	{ "CUDNN_STATUS_ALLOC_FAILED", CUDA, .event = LOG_FAILED },
	{ "UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY", CUDA, .event = LOG_FAILED },
	{ "CUBLAS_STATUS_NOT_INITIALIZED", CUDA, .event = LOG_MASKED },
	{ "CUDNN_STATUS_NOT_INITIALIZED", CUDA, .event = LOG_MASKED },
	{ "CUDNN_STATUS_INTERNAL_ERROR", CUDA, .event = LOG_MASKED },
	{ "dispatched on the CPU or the disk", .stage = VC_STAGE_LOADING,
	  .software = VC_SOFTWARE_PYTORCH, .event = LOG_FAILED },
	{ "out of resource: shared memory", CUDA, .event = LOG_ON_CHIP },

	{ "DefaultCPUAllocator: ", HOST, .event = LOG_HOST },
	{ "you tried to allocate ", HOST, REQUESTED },
	{ "Out of memory: Kill", HOST, .event = LOG_HOST },
	{ "Memory cgroup out of memory", HOST, .event = LOG_HOST },
	{ "oom-kill:constraint=", HOST, .event = LOG_HOST },
	{ "oom_kill event", HOST, .event = LOG_HOST },
	{ "oom-kill event", HOST, .event = LOG_HOST },
	{ "OOMKilled", HOST, .event = LOG_HOST },
	{ "ray.exceptions.OutOfMemoryError", HOST, .event = LOG_HOST },
	{ "due to the node running low on memory", HOST, .event = LOG_HOST },
	{ "java.lang.OutOfMemoryError", HOST, .event = LOG_HOST },
	{ "_ArrayMemoryError", HOST, .event = LOG_HOST },
	{ "The paging file is too small", HOST, .event = LOG_HOST },
	{ "Cannot allocate memory", HOST, .event = LOG_HOST_HINT },
	{ "std::bad_alloc", HOST, .event = LOG_HOST_HINT },
	{ "exitcode : -9", HOST, .event = LOG_HOST_HINT },
	{ "exitcode: -9", HOST, .event = LOG_HOST_HINT },
	{ "exit code 137", HOST, .event = LOG_HOST_HINT },
	{ "Signal 9 (SIGKILL)", HOST, .event = LOG_HOST_HINT },
	{ "killed by signal: Killed", HOST, .event = LOG_HOST_HINT },
	{ "Killed", .read = read_killed },
	{ "out of shared memory", HOST, .event = LOG_SHARED },
	{ "insufficient shared memory (shm)", HOST, .event = LOG_SHARED },
};

const struct log_phrases log_engine_phrases = { phrases, sizeof phrases / sizeof *phrases };
