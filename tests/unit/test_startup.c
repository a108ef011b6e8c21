/* Start-up lines as people published them: what is read of each. Sizes are as printed, in GiB. */
#include "log.h"
#include "test.h"

#define MIB 1048576ull

enum {
	MOST_TERMS = 10
};

struct wanted {
	enum startup_term term;
	double mib;
};

struct report {
	const char *source; /* github.com/ and the name, or "public log" */
	const char *text;
	enum vc_engine engine;
	const char *rank;
	uint64_t tokens;
	struct wanted terms[MOST_TERMS]; /* 0 MiB ends them */
};

static const struct report reports[] = {
	{ "vllm-project/vllm/pull/10511",
	  "INFO 12-13 19:54:18 worker.py:243] total_gpu_memory     79.22GiB\n"
	  "INFO 12-13 19:54:18 worker.py:243] gpu_memory_utilization       0.90\n"
	  "INFO 12-13 19:54:18 worker.py:243] the current vLLM instance can use    71.29GiB\n"
	  "INFO 12-13 19:54:18 worker.py:243] model weights take   14.96GiB\n"
	  "INFO 12-13 19:54:18 worker.py:243] non_torch_memory     1.79GiB\n"
	  "INFO 12-13 19:54:18 worker.py:243] PyTorch activation peak memory       1.26GiB\n"
	  "INFO 12-13 19:54:18 worker.py:243] available_kv_cache_memory    53.29GiB\n",
	  VC_ENGINE_VLLM,
	  "",
	  0,
	  { { STARTUP_TOTAL, 79.22 * 1024 },
	    { STARTUP_BUDGET, 71.29 * 1024 },
	    { STARTUP_WEIGHTS, 14.96 * 1024 },
	    { STARTUP_OUTSIDE, 1.79 * 1024 },
	    { STARTUP_PEAK, 1.26 * 1024 },
	    { STARTUP_CACHE, 53.29 * 1024 } } },
	{ "vllm-project/vllm/issues/11251",
	  "INFO 12-20 20:25:46 worker.py:241] the current vLLM instance can use total_gpu_memory "
	  "(15.77GiB) x gpu_memory_utilization (0.90) = 14.20GiB\n"
	  "INFO 12-20 20:25:46 worker.py:241] model weights take 7.51GiB; non_torch_memory takes "
	  "0.39GiB; PyTorch activation peak memory takes 2.53GiB; the rest of the memory reserved "
	  "for KV Cache is 3.76GiB.\n"
	  "INFO 12-20 20:25:46 distributed_gpu_executor.py:57] # GPU blocks: 3852, # CPU blocks: "
	  "4096\n",
	  VC_ENGINE_VLLM,
	  "",
	  3852 * 16,
	  { { STARTUP_TOTAL, 15.77 * 1024 },
	    { STARTUP_BUDGET, 14.20 * 1024 },
	    { STARTUP_WEIGHTS, 7.51 * 1024 },
	    { STARTUP_OUTSIDE, 0.39 * 1024 },
	    { STARTUP_PEAK, 2.53 * 1024 },
	    { STARTUP_CACHE, 3.76 * 1024 } } },
	{ "vllm-project/vllm/pull/12569",
	  "INFO 01-30 03:18:12 gpu_model_runner.py:848] Loading model weights took 67.7229 GB\n"
	  "INFO 01-30 03:19:14 kv_cache_utils.py:395] # GPU blocks: 1381\n"
	  "INFO 01-30 03:19:14 kv_cache_utils.py:398] Maximum concurrency for 2048 tokens per "
	  "request: 10.79x\n",
	  VC_ENGINE_VLLM,
	  "",
	  1381 * 16,
	  { { STARTUP_WEIGHTS, 67.7229 * 1024 } } },
	{ "Sandermage/genesis-vllm-patches/issues/24",
	  "(Worker_TP0 pid=92375) INFO 05-08 16:18:24 [gpu_model_runner.py:4960] Model loading "
	  "took "
	  "15.26 GiB memory and 23.107530 seconds\n",
	  VC_ENGINE_VLLM,
	  "TP0",
	  0,
	  { { STARTUP_WEIGHTS, 15.26 * 1024 } } },
	{ "gpustack/runner/pull/251",
	  "(Worker_TP0 pid=447) INFO 08-14 14:07:22 [gpu_model_runner.py:6806] Estimated CUDA "
	  "graph "
	  "memory: 0.36 GiB total\n"
	  "(Worker_TP0 pid=447) INFO 08-14 14:07:22 [gpu_worker.py:563] Available KV cache memory: "
	  "6.87 GiB\n",
	  VC_ENGINE_VLLM,
	  "TP0",
	  0,
	  { { STARTUP_RESERVE, 0.36 * 1024 }, { STARTUP_CACHE, 6.87 * 1024 } } },
	{ "public log, vLLM 0.10.2 on an H100",
	  "(EngineCore_DP0 pid=3021) INFO 09-23 18:12:34 [kv_cache_utils.py:864] GPU KV cache "
	  "size: "
	  "451,744 tokens\n"
	  "(EngineCore_DP0 pid=3021) INFO 09-23 18:12:39 [gpu_worker.py:391] Free memory on device "
	  "(78.66/79.19 GiB) on startup. Desired GPU memory utilization is (0.9, 71.27 GiB). "
	  "Actual "
	  "usage is 14.08 GiB for weight, 1.97 GiB for peak activation, 0.07 GiB for non-torch "
	  "memory, and 0.67 GiB for CUDAGraph memory. Replace gpu_memory_utilization config with "
	  "`--kv-cache-memory=58333988249` to fit into requested memory, or "
	  "`--kv-cache-memory=66273897472` to fully utilize gpu memory. Current kv cache memory in "
	  "use is 59212694937 bytes.\n",
	  VC_ENGINE_VLLM,
	  "DP0",
	  451744,
	  { { STARTUP_TOTAL, 79.19 * 1024 },
	    { STARTUP_BUDGET, 71.27 * 1024 },
	    { STARTUP_WEIGHTS, 14.08 * 1024 },
	    { STARTUP_PEAK, 1.97 * 1024 },
	    { STARTUP_OUTSIDE, 0.07 * 1024 },
	    { STARTUP_GRAPHS, 0.67 * 1024 },
	    { STARTUP_CACHE, 59212694937 / 1048576.0 } } },
	{ "public log, vLLM 0.31 on an A100",
	  "(EngineCore pid=326) INFO 10-06 17:00:11 [model_runner.py:407] Model loading took 15.0 "
	  "GiB memory and 5.420225 seconds\n"
	  "(EngineCore pid=326) INFO 10-06 17:00:33 [kv_cache_utils.py:2464] GPU KV cache size: "
	  "460,496 tokens, Maximum concurrency for 131,072 tokens per request: 3.51x\n"
	  "(EngineCore pid=326) INFO 10-06 17:00:41 [gpu_worker.py:955] Free memory on device "
	  "(78.84/79.25 GiB) on startup. Desired GPU memory utilization is (0.92, 72.91 GiB). "
	  "Actual usage is 15.26 GiB for consumed memory (weights + non-torch), 1.44 GiB for peak "
	  "activation, and 0.23 GiB for CUDAGraph memory.\n"
	  "(EngineCore pid=326) INFO 10-06 17:00:33 [gpu_worker.py:692] Available KV cache memory: "
	  "56.21 GiB\n",
	  VC_ENGINE_VLLM,
	  "",
	  460496,
	  { { STARTUP_WEIGHTS, 15.0 * 1024 },
	    { STARTUP_OUTSIDE, 0.26 * 1024 },
	    { STARTUP_PEAK, 1.44 * 1024 },
	    { STARTUP_GRAPHS, 0.23 * 1024 },
	    { STARTUP_BUDGET, 72.91 * 1024 },
	    { STARTUP_CACHE, 56.21 * 1024 } } },
	{ "public log, SGLang of February 2025",
	  "[2025-02-04 05:21:40 TP0] Load weight begin. avail mem=22.76 GB\n"
	  "[2025-02-04 05:29:17 TP0] Load weight end. type=Qwen2ForCausalLM, dtype=torch.bfloat16, "
	  "avail mem=8.37 GB\n"
	  "[2025-02-04 05:29:17 TP0] KV Cache is allocated. K size: 2.82 GB, V size: 2.82 GB.\n"
	  "[2025-02-04 05:29:17 TP0] Memory pool end. avail mem=1.68 GB\n"
	  "[2025-02-04 05:29:20 TP0] max_total_num_tokens=105531, chunked_prefill_size=2048, "
	  "max_prefill_tokens=16384, max_running_requests=2049, context_len=131072\n",
	  VC_ENGINE_SGLANG,
	  "TP0",
	  105531,
	  { { STARTUP_FREE_START, 22.76 * 1024 },
	    { STARTUP_WEIGHTS, 14.39 * 1024 },
	    { STARTUP_CACHE, 5.64 * 1024 },
	    { STARTUP_FREE_POOL, 1.68 * 1024 },
	    /* 2049 requests x 131072 tokens x 4 bytes */
	    { STARTUP_TABLES, 1024.5 } } },
	{ "public log, SGLang of February 2026",
	  "[2026-02-01 00:05:03 TP0] Load weight end. elapsed=1.25 s, "
	  "type=GraniteMoeHybridForCausalLM, dtype=torch.bfloat16, avail mem=9.26 GB, mem "
	  "usage=5.98 GB.\n"
	  "[2026-02-01 00:05:03 TP0] Mamba Cache is allocated. max_mamba_cache_size: 38, "
	  "conv_state "
	  "size: 0.03GB, ssm_state size: 2.74GB \n"
	  "[2026-02-01 00:05:03 TP0] KV Cache is allocated. #tokens: 399740, K size: 1.52 GB, V "
	  "size: 1.52 GB\n"
	  "[2026-02-01 00:05:03 TP0] Memory pool end. avail mem=3.42 GB\n"
	  "[2026-02-01 00:05:03 TP0] Capture cuda graph begin. This can take up to several "
	  "minutes. avail mem=2.98 GB\n"
	  "[2026-02-01 00:05:04 TP0] Capture cuda graph end. Time elapsed: 1.24 s. mem usage=0.09 "
	  "GB. avail mem=2.89 GB.\n",
	  VC_ENGINE_SGLANG,
	  "TP0",
	  399740,
	  { { STARTUP_WEIGHTS, 5.98 * 1024 },
	    { STARTUP_STATE, 2.77 * 1024 },
	    { STARTUP_CACHE, 3.04 * 1024 },
	    { STARTUP_WORKSPACE, 0.44 * 1024 },
	    { STARTUP_GRAPHS, 0.09 * 1024 },
	    { STARTUP_FREE_END, 2.89 * 1024 } } },
	{ "public log, SGLang with a latent cache",
	  "[2026-02-26 16:41:18 TP6] KV Cache is allocated. #tokens: 2454421, KV size: 160.63 GB\n",
	  VC_ENGINE_SGLANG,
	  "TP6",
	  2454421,
	  { { STARTUP_CACHE, 160.63 * 1024 } } },
	{ "ggml-org/llama.cpp/pull/6122",
	  "llm_load_tensors:        CPU buffer size =  1640.62 MiB\n"
	  "llm_load_tensors:      CUDA0 buffer size =  5434.38 MiB\n"
	  "llm_load_tensors:      CUDA1 buffer size = 13989.53 MiB\n"
	  "llama_new_context_with_model: n_ctx      = 4096\n"
	  "llama_kv_cache_init:      CUDA0 KV buffer size =  1536.00 MiB\n"
	  "llama_kv_cache_init:      CUDA1 KV buffer size =  3584.00 MiB\n"
	  "llama_new_context_with_model:  CUDA_Host  output buffer size =     1.95 MiB\n"
	  "llama_new_context_with_model:      CUDA0 compute buffer size =   672.01 MiB\n",
	  VC_ENGINE_LLAMACPP,
	  "all GPUs",
	  0,
	  { { STARTUP_WEIGHTS, 5434.38 + 13989.53 },
	    { STARTUP_CACHE, 1536 + 3584 },
	    { STARTUP_PEAK, 672.01 } } },
	{ "public log, llama-server of September 2026",
	  "0.00.772.198 I load_tensors:        CUDA0 model buffer size =  4168.09 MiB\n"
	  "0.02.013.235 I llama_kv_cache:      CUDA0 KV buffer size =   476.00 MiB\n"
	  "0.02.023.184 I sched_reserve:      CUDA0 compute buffer size =   148.09 MiB\n"
	  "~llama_context:      CUDA0 compute buffer size is 148.0938 MiB, matches expectation\n",
	  VC_ENGINE_LLAMACPP,
	  "CUDA0",
	  0,
	  { { STARTUP_WEIGHTS, 4168.09 }, { STARTUP_CACHE, 476 }, { STARTUP_PEAK, 148.09 } } },
	{ "public log, llama.cpp on an RTX 5090",
	  "llama_memory_breakdown_print: | memory breakdown [MiB] | total   free     self   model  "
	  " "
	  "context   compute    unaccounted |\n"
	  "llama_memory_breakdown_print: |   - CUDA0 (RTX 5090)   | 32606 = 1057 + (29365 = 28609 "
	  "+ "
	  "    397 +     358) +        2183 |\n"
	  "llama_memory_breakdown_print: |   - Host               |                 30956 = 30940 "
	  "+ "
	  "      0 +      16                |\n",
	  VC_ENGINE_LLAMACPP,
	  "CUDA0",
	  0,
	  { { STARTUP_TOTAL, 32606 },
	    { STARTUP_FREE_END, 1057 },
	    { STARTUP_SELF, 29365 },
	    { STARTUP_WEIGHTS, 28609 },
	    { STARTUP_CACHE, 397 },
	    { STARTUP_PEAK, 358 },
	    { STARTUP_UNACCOUNTED, 2183 } } },
};

static struct log *read_text(const char *text)
{
	static struct log log;

	log_open(&log);
	log_feed(&log, text, strlen(text));
	log_finish(&log);
	return &log;
}

/* The sums of amounts that were printed in hundredths of a GiB are met to a MiB. */
static void reads_what_engines_print(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof reports / sizeof *reports; i++) {
		const struct report *report = &reports[i];
		const struct startup *startup = &read_text(report->text)->startup;
		const struct startup_rank *rank = startup_fullest(startup);

		if (!rank || strcmp(rank->name, report->rank) != 0 ||
		    startup->engine != report->engine || startup->kv_tokens != report->tokens) {
			fail_msg("%s: rank, engine or tokens", report->source);
		}
		for (size_t k = 0; k < MOST_TERMS && report->terms[k].mib > 0; k++) {
			const struct wanted *wanted = &report->terms[k];
			double got = (double)rank->bytes[wanted->term] / (double)MIB;

			if (!startup_knows(rank, wanted->term) || got - wanted->mib > 1 ||
			    wanted->mib - got > 1) {
				fail_msg("%s: term %d is %.2f MiB, expected %.2f", report->source,
				         (int)wanted->term, got, wanted->mib);
			}
		}
	}
}

static void assert_states(const struct log *log, const char *field, const char *value)
{
	const char *got = startup_value(&log->startup, field);

	if (!got || strcmp(got, value) != 0) {
		fail_msg("%s is %s, expected %s", field, got ? got : "not stated", value);
	}
}

static void takes_settings_of_servers(void **state)
{
	const struct log *log = read_text(
	        "Initializing a V0 LLM engine (v0.8.3) with config: model='x', "
	        "dtype=torch.float16, max_seq_len=8192, tensor_parallel_size=2, "
	        "quantization=awq, enforce_eager=True, kv_cache_dtype=fp8_e5m2, seed=None\n"
	        "Chunked prefill is enabled with max_num_batched_tokens=2048.\n"
	        "The current --gpu-memory-utilization=0.8200 is equivalent to "
	        "--gpu-memory-utilization=0.8048 without CUDA graph memory profiling.\n");

	(void)state;
	assert_states(log, "engine.name", "vllm");
	assert_states(log, "engine.version", "0.8.3");
	assert_states(log, "workload.precision", "fp16");
	assert_states(log, "workload.sequence_length", "8192");
	assert_states(log, "parallelism.tensor", "2");
	assert_states(log, "workload.quantization", "awq-int4-g128");
	assert_states(log, "engine.enforce_eager", "true");
	assert_states(log, "workload.kv_cache_precision", "fp8");
	assert_states(log, "engine.max_num_batched_tokens", "2048");
	assert_states(log, "engine.gpu_memory_utilization", "0.8200");
}

static void takes_settings_of_llamacpp(void **state)
{
	const struct log *log = read_text(
	        "build: 5401 (a4090d12) with cc for x86_64-linux-gnu\n"
	        "print_info: file type   = Q4_K - Medium\n"
	        "load_tensors: offloaded 33/33 layers to GPU\n"
	        "load_tensors:        CUDA0 model buffer size =  4403.49 MiB\n"
	        "llama_context: n_seq_max     = 4\n"
	        "llama_context: n_ctx         = 16384\n"
	        "llama_context: n_ctx_per_seq = 4096\n"
	        "llama_context: n_ubatch      = 256\n"
	        "llama_context: flash_attn    = 1\n"
	        "llama_kv_cache_unified: size = 476.00 MiB (16384 cells), K (q8_0):  238.00 MiB\n"
	        "using device CUDA0 (NVIDIA GeForce RTX 3090) - 23306 MiB free\n");

	(void)state;
	assert_states(log, "engine.name", "llama.cpp");
	assert_states(log, "engine.version", "b5401");
	assert_states(log, "workload.quantization", "q4_k_m");
	assert_states(log, "engine.gpu_layers", "33");
	assert_states(log, "workload.sequence_length", "4096");
	assert_states(log, "workload.batch_size", "4");
	assert_states(log, "engine.ubatch_size", "256");
	assert_states(log, "workload.attn_implementation", "flash");
	assert_states(log, "workload.kv_cache_precision", "q8_0");
	assert_states(log, "hardware.gpus", "NVIDIA GeForce RTX 3090");
}

/* "auto" and "None" say nothing, nor do words that only contain a key. */
static void takes_nothing_from_what_says_nothing(void **state)
{
	const struct log *log = read_text("dtype='auto', quantization=None, kv_cache_dtype=auto, "
	                                  "max_num_seqs=None, my_tp_size=4, context_length=None, "
	                                  "tp_size=99999999999999999999999999999999999999999999\n"
	                                  "general.quantization_version u32 = 2\n");

	(void)state;
	for (uint32_t i = 0; i < log->startup.setting_count; i++) {
		assert_string_equal(log->startup.settings[i].field, "parallelism.tensor");
	}
}

/* Ranks beyond the room share the last place; nothing is written behind it. */
static void keeps_to_its_room(void **state)
{
	char text[128 * 96] = "";
	const struct log *log;

	(void)state;
	for (int i = 0; i < 128; i++) {
		snprintf(text + strlen(text), sizeof text - strlen(text),
		         "(Worker_TP%d pid=1) Model loading took 1.0 GiB memory and 1 seconds\n",
		         i);
	}
	log = read_text(text);
	assert_u64(log->startup.rank_count, STARTUP_RANKS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_engines_print),
		cmocka_unit_test(takes_settings_of_servers),
		cmocka_unit_test(takes_settings_of_llamacpp),
		cmocka_unit_test(takes_nothing_from_what_says_nothing),
		cmocka_unit_test(keeps_to_its_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
