#include "log.h"
#include "test.h"

/* Messages as people reported them (github.com/ and the name); process numbers are changed. */
struct report {
	const char *source;
	const char *text; /* lines with \n between */
	enum vc_cause cause;
	enum vc_confidence at_most; /* never surer than this */
};

/* The message of PyTorch 1.4 to 2.0, that of 2.1 on, and that of 1.0 to 1.3. */
#define OLD(request, total, allocated, free, reserved)                                             \
	"RuntimeError: CUDA out of memory. Tried to allocate " request " (GPU 0; " total           \
	" total capacity; " allocated " already allocated; " free " free; " reserved               \
	" reserved in total by PyTorch)"
#define OLDEST(request, total, allocated, free, cached)                                            \
	"RuntimeError: CUDA out of memory. Tried to allocate " request " (GPU 0; " total           \
	" total capacity; " allocated " already allocated; " free " free; " cached " cached)"
#define NEW(request, total, free, processes, allocated, idle)                                      \
	"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate " request                   \
	". GPU 0 has a total capacity of " total " of which " free " is free. " processes          \
	"Of the allocated memory " allocated " is allocated by PyTorch, and " idle                 \
	" is reserved by PyTorch but unallocated. If reserved but unallocated memory is large "    \
	"try "                                                                                     \
	"setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation."
#define OWN(used)   "Including non-PyTorch memory, this process has " used " memory in use. "
#define OTHER(used) "Process 4711 has " used " memory in use. "

#define CAPACITY      VC_CAUSE_CAPACITY, VC_CONFIDENCE_HIGH
#define FRAGMENTATION VC_CAUSE_FRAGMENTATION, VC_CONFIDENCE_HIGH
#define OTHERS        VC_CAUSE_OTHER_PROCESS, VC_CONFIDENCE_HIGH
#define UNSURE        VC_CAUSE_UNKNOWN, VC_CONFIDENCE_LOW

static const struct report reports[] = {
	{ "pytorch/pytorch#59778",
	  OLD("2.26 GiB", "6.00 GiB", "781.59 MiB", "3.03 GiB", "1.24 GiB"), UNSURE },
	{ "wxian3/NeuroLens#2",
	  NEW("55.57 GiB", "12.00 GiB", "9.02 GiB", "", "984.52 MiB", "463.48 MiB"), CAPACITY },
	{ "carolchenyx/MGFN.#35",
	  NEW("1.70 GiB", "6.00 GiB", "0 bytes", "", "2.93 GiB", "2.30 GiB"), FRAGMENTATION },
	{ "murong-xu/CADS#4",
	  NEW("22.78 GiB", "31.47 GiB", "12.73 GiB", OWN("18.73 GiB"), "9.08 GiB", "9.35 GiB"),
	  CAPACITY },
	{ "Synthintel0/MyGirlGPT#11",
	  NEW("32.00 MiB", "4.00 GiB", "41.56 MiB", OWN("3.44 GiB"), "2.58 GiB", "1.90 MiB"),
	  VC_CAUSE_CAPACITY, VC_CONFIDENCE_MEDIUM },
	{ "pytorch/pytorch#16417",
	  OLDEST("12.50 MiB", "10.92 GiB", "8.57 MiB", "9.28 GiB", "4.68 MiB"), UNSURE },
	{ "pytorch/pytorch#16417, 2024",
	  NEW("22.00 MiB", "23.65 GiB", "11.06 MiB", OWN("23.60 GiB"), "22.90 GiB", "194.87 MiB"),
	  CAPACITY },
	{ "kerrj/lerf#73",
	  NEW("3.00 GiB", "23.65 GiB", "1.66 GiB", OWN("20.81 GiB"), "12.09 GiB", "4.84 GiB"),
	  FRAGMENTATION },
	{ "levihsu/OOTDiffusion#167",
	  NEW("2.00 GiB", "4.00 GiB", "2.80 GiB", "", "0 bytes", "0 bytes"), UNSURE },
	{ "YingqianWang/iPASSR#9",
	  OLD("10.73 GiB", "8.00 GiB", "17.20 GiB", "0 bytes", "19.15 GiB"), CAPACITY },
	{ "microsoft/unilm#137",
	  OLD("128.00 MiB", "11.17 GiB", "10.85 GiB", "24.81 MiB", "10.86 GiB"), CAPACITY },
	{ "One-2-3-45/One-2-3-45#25",
	  OLD("1.69 GiB", "14.56 GiB", "649.97 MiB", "1.31 GiB", "1.01 GiB"), OTHERS },
	{ "FoundationVision/GenerateU#10",
	  NEW("496.00 MiB", "14.75 GiB", "235.06 MiB", OTHER("14.52 GiB"), "14.06 GiB",
	      "330.42 MiB"),
	  CAPACITY },
	{ "facebookresearch/denoiser#135",
	  OLD("752.00 MiB", "14.76 GiB", "9.84 GiB", "53.94 MiB", "10.03 GiB"), OTHERS },
	{ "pp00704831/Stripformer#21",
	  OLD("1.65 GiB", "7.79 GiB", "3.53 GiB", "1.40 GiB", "5.28 GiB"), FRAGMENTATION },
	{ "phamquiluan/ResidualMaskingNetwork#15",
	  OLD("36.00 MiB", "10.76 GiB", "996.23 MiB", "8.81 MiB", "1010.00 MiB"), OTHERS },
	{ "awslabs/keys_values#92",
	  NEW("572.00 MiB", "39.49 GiB", "321.31 MiB",
	      OTHER("414.00 MiB") OWN("37.46 GiB") OTHER("414.00 MiB") OTHER("414.00 MiB")
	              OTHER("414.00 MiB"),
	      "36.04 GiB", "321.37 MiB"),
	  VC_CAUSE_OTHER_PROCESS, VC_CONFIDENCE_MEDIUM },
	{ "cornellius-gp/gpytorch#1448",
	  OLD("28.09 GiB", "31.75 GiB", "28.08 GiB", "3.22 GiB", "28.09 GiB"), CAPACITY },
	{ "RenYurui/StructureFlow#35",
	  OLDEST("8.13 GiB", "10.76 GiB", "643.57 MiB", "8.20 GiB", "32.43 MiB"), UNSURE },
	{ "singhsourabh/Resume-NER#4",
	  OLD("92.00 MiB", "1.96 GiB", "1.46 GiB", "16.38 MiB", "1.51 GiB"), CAPACITY },
	{ "ryujaehun/pytorch-gpu-benchmark#1",
	  OLDEST("32.00 MiB", "7.79 GiB", "6.64 GiB", "21.00 MiB", "150.86 MiB"), CAPACITY },
	{ "rshaojimmy/MADDoG#11",
	  OLD("2.87 GiB", "14.76 GiB", "8.77 GiB", "19.75 MiB", "13.71 GiB"), FRAGMENTATION },
	{ "easydiffusion/easydiffusion#104",
	  OLD("64.00 MiB", "4.00 GiB", "3.35 GiB", "0 bytes", "3.41 GiB"), CAPACITY },
	{ "shllln/GenerativeGraph#5",
	  OLDEST("1024.00 KiB", "11.17 GiB", "10.90 GiB", "576.00 KiB", "30.96 MiB"), CAPACITY },
	{ "2KangHo/vdsr_pytorch#2",
	  OLD("512.00 MiB", "15.90 GiB", "13.13 GiB", "415.88 MiB", "14.80 GiB"), FRAGMENTATION },
	{ "googlecolab/colabtools#867",
	  OLDEST("20.00 MiB", "11.17 GiB", "10.67 GiB", "2.81 MiB", "185.39 MiB"), CAPACITY },
	{ "pytorch/pytorch#13751",
	  OLDEST("16.00 GiB", "11.93 GiB", "4.00 GiB", "7.33 GiB", "179.00 KiB"), CAPACITY },
	{ "kaito-project/kaito#976",
	  NEW("546.00 MiB", "15.77 GiB", "514.19 MiB", OTHER("15.25 GiB"), "13.73 GiB",
	      "736.86 MiB"),
	  VC_CAUSE_FRAGMENTATION, VC_CONFIDENCE_MEDIUM },
	{ "OpenHelix-Team/cobra#24",
	  NEW("158.00 MiB", "23.69 GiB", "115.69 MiB", OTHER("23.57 GiB"), "22.14 GiB",
	      "910.35 MiB"),
	  CAPACITY },
	{ "derrian-distro/LoRA_Easy_Training_Scripts#178",
	  NEW("90.00 MiB", "8.00 GiB", "0 bytes", "", "7.13 GiB", "127.09 MiB"), CAPACITY },
	{ "vllm-project/vllm#7721",
	  NEW("16.00 GiB", "44.53 GiB", "187.94 MiB", OTHER("44.34 GiB"), "43.67 GiB",
	      "335.07 MiB"),
	  CAPACITY },
	{ "huggingface/meshgen#7",
	  NEW("1002.00 MiB", "8.00 GiB", "0 bytes", "", "13.98 GiB", "129.48 MiB"), CAPACITY },
	{ "QwenLM/Qwen2.5-Omni#240",
	  NEW("124.68 GiB", "95.22 GiB", "51.23 GiB", OTHER("14.91 GiB") OTHER("29.07 GiB"),
	      "25.50 GiB", "3.14 GiB"),
	  CAPACITY },
	{ "CompVis/taming-transformers#194",
	  OLD("1.39 GiB", "6.00 GiB", "4.04 GiB", "478.00 MiB", "4.15 GiB"), CAPACITY },
	{ "Tianhao-Qi/Mask2DiT#4",
	  NEW("35.60 GiB", "79.33 GiB", "26.16 GiB", "", "11.97 GiB", "40.69 GiB"), FRAGMENTATION },
	{ "zju3dv/Diffuman4D#20",
	  NEW("960.00 MiB", "23.99 GiB", "15.52 GiB", "", "6.10 GiB", "120.00 MiB"), UNSURE },
	{ "jhc13/taggui#188",
	  "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n" NEW(
	          "20.00 MiB", "4.00 GiB", "2.35 GiB", "", "825.15 MiB", "24.85 MiB"),
	  UNSURE },
	{ "vllm-project/vllm#2248",
	  "ValueError: No available memory for the cache blocks. Try increasing "
	  "`gpu_memory_utilization` when initializing the engine.",
	  VC_CAUSE_CAPACITY, VC_CONFIDENCE_MEDIUM },
	{ "vllm-project/vllm#27508",
	  "(EngineCore_DP0 pid=4711) ERROR 10-25 13:08:43 [core.py:708]     raise "
	  "ValueError(\"No available memory for the cache blocks. \"",
	  VC_CAUSE_CAPACITY, VC_CONFIDENCE_MEDIUM },
	{ "vLLM 0.6 to 0.9, a model length that the cache does not hold",
	  "ValueError: The model's max seq len (131072) is larger than the maximum number of "
	  "tokens "
	  "that can be stored in KV cache (37696). Try increasing `gpu_memory_utilization` or "
	  "decreasing `max_model_len` when initializing the engine.",
	  VC_CAUSE_CAPACITY, VC_CONFIDENCE_MEDIUM },
	{ "ggml-org/llama.cpp#20431",
	  "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 144817.04 MiB on device 0: "
	  "cudaMalloc failed: out of memory\n"
	  "alloc_tensor_range: failed to allocate CUDA0 buffer of size 151851674624\n"
	  "llama_model_load: error loading model: unable to allocate CUDA0 buffer",
	  VC_CAUSE_CAPACITY, VC_CONFIDENCE_LOW },
	{ "ikawrakow/ik_llama.cpp#749",
	  "ggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 292926534144",
	  VC_CAUSE_CAPACITY, VC_CONFIDENCE_LOW },
	{ "ggml-org/llama.cpp#16725",
	  "ggml_gallocr_reserve_n: failed to allocate ROCm0 buffer of size 14822711296",
	  VC_CAUSE_CAPACITY, VC_CONFIDENCE_LOW },
	{ "tensorflow/models#848",
	  "W tensorflow/core/common_runtime/bfc_allocator.cc:275] Ran out of memory trying to "
	  "allocate "
	  "24.38MiB.  See logs for memory state.",
	  UNSURE },
	{ "Azure/MachineLearningNotebooks#880",
	  "(0) Resource exhausted: OOM when allocating tensor with shape[16,112,112,147] and type "
	  "float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc",
	  UNSURE },
	{ "XLA's allocator",
	  "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to "
	  "allocate 17179869184 bytes.",
	  VC_CAUSE_CAPACITY, VC_CONFIDENCE_LOW },
	{ "the kernel's OOM killer",
	  "[12345.6] Out of memory: Killed process 4711 (python) total-vm:98765432kB", CAPACITY },
	{ "torch on the host",
	  "RuntimeError: [enforce fail at alloc_cpu.cpp:117] . DefaultCPUAllocator: not enough "
	  "memory: you tried to allocate 117440512 bytes.",
	  CAPACITY },
	{ "nothing of the kind", "Epoch 1/3: loss 2.31, 120 tokens/s", UNSURE },
};

static struct log read_text(const char *text)
{
	static struct log log;
	FILE *in = fmemopen((void *)(uintptr_t)text, strlen(text), "r");

	assert_non_null(in);
	log_open(&log);
	assert_true(log_read(&log, in));
	fclose(in);
	log_finish(&log);
	return log;
}

static void reports_are_told_apart(void **state)
{
	size_t wrong = 0;

	(void)state;
	for (size_t i = 0; i < sizeof reports / sizeof *reports; i++) {
		struct log log = read_text(reports[i].text);
		struct vc_diagnosis diagnosis = vc_diagnose(&log.evidence);

		if (diagnosis.cause != reports[i].cause ||
		    diagnosis.confidence > reports[i].at_most) {
			print_error("%s: %s (%s), expected %s\n", reports[i].source,
			            vc_cause_name(diagnosis.cause),
			            vc_confidence_name(diagnosis.confidence),
			            vc_cause_name(reports[i].cause));
			wrong++;
		}
	}
	assert_int_equal(wrong, 0);
}

static void amounts_are_exact(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} rows[] = {
		{ "0 bytes", 0 },
		{ "512 bytes", 512 },
		{ "1.50 GiB", 1610612736 },
		{ "781.59 MiB", 819556515 }, /* 781.59 x 2^20 = 819,556,515.8 */
		{ "24.38MiB.", 25564282 },   /* 24.38 x 2^20 = 25,564,282.9 */
		{ "17179869184.00 GiB", UINT64_MAX },
		{ "3 GB", 3000000000 },
	};
	uint64_t bytes;
	const char *end;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_true(log_amount(rows[i].text, &bytes, &end));
		assert_u64(bytes, rows[i].bytes);
	}
	assert_false(log_amount("GiB", &bytes, &end));
	assert_false(log_amount("12 apples", &bytes, &end));
	assert_false(log_amount("", &bytes, &end));
}

static void a_container_hides_the_own_process(void **state)
{
	struct log log = read_text(NEW("546.00 MiB", "15.77 GiB", "514.19 MiB", OTHER("15.25 GiB"),
	                               "13.73 GiB", "736.86 MiB"));

	(void)state;
	assert_u64(log.evidence.other_processes_bytes, 0);
	assert_true(log.evidence.process_bytes > 15ull << 30);
}

static void the_setting_is_told_from_the_advice(void **state)
{
	struct log log =
	        read_text(NEW("1.70 GiB", "6.00 GiB", "0 bytes", "", "2.93 GiB", "2.30 GiB"));

	(void)state;
	assert_false(log.evidence.applied & VC_APPLIED_EXPANDABLE_SEGMENTS);
	log = read_text("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n" NEW(
	        "1.70 GiB", "6.00 GiB", "0 bytes", "", "2.93 GiB", "2.30 GiB"));
	assert_true(log.evidence.applied & VC_APPLIED_EXPANDABLE_SEGMENTS);
	assert_int_equal(vc_diagnose(&log.evidence).cause, VC_CAUSE_FRAGMENTATION);
}

static void csv_queries_make_series(void **state)
{
	char text[4096] = "timestamp, index, memory.used [MiB], memory.total [MiB]\n";
	struct log log;

	(void)state;
	for (int i = 0; i < 12; i++) {
		char row[128];

		snprintf(row, sizeof row,
		         "2026/01/01 00:00:%02d.000, 0, 500 MiB, 24576 MiB\n"
		         "2026/01/01 00:00:%02d.000, 1, %d MiB, 24576 MiB\n",
		         i, i, 1000 + 1000 * i);
		strcat(text, row);
	}
	log = read_text(text);
	assert_int_equal(log.evidence.used.kind, VC_TREND_RISING);
	assert_true(log.evidence.used.slope_bytes_per_sample == 1000 * 1048576);
	assert_int_equal(vc_diagnose(&log.evidence).cause, VC_CAUSE_LEAK);
	assert_u64(log.evidence.total_bytes, 24576ull << 20);
	/* without units, as --format=csv,nounits prints them, and without a header */
	log = read_text("index, memory.used [MiB], memory.total [MiB]\n0, 1234, 24576\n");
	assert_u64(log.gpus[0].used_bytes, 1234ull << 20);
	log = read_text("1234 MiB, 24576 MiB\n");
	assert_u64(log.gpus[0].total_bytes, 24576ull << 20);
	/* what no GPU has is no reading, and not one of 0 either */
	log = read_text("index, memory.used [MiB], memory.total [MiB]\n"
	                "0, 99999999999999999999999 MiB, 24576 MiB\n");
	assert_false(log.evidence.known & VC_KNOWS_USED);
}

static void tables_and_monitors_are_read(void **state)
{
	struct log log = read_text(
	        "|   0  NVIDIA A100-SXM4-80GB          On  | 00000000:07:00.0 Off |          0 |\n"
	        "| N/A   32C    P0              62W / 400W |  70012MiB / 81920MiB |      0%   "
	        "Default |\n"
	        "|   1  NVIDIA A100-SXM4-80GB          On  | 00000000:0F:00.0 Off |          0 |\n"
	        "| N/A   30C    P0              60W / 400W |      5MiB / 81920MiB |      0%   "
	        "Default |\n");

	(void)state;
	assert_u64(log.gpus[0].used_bytes, 70012ull << 20);
	assert_u64(log.gpus[1].used_bytes, 5ull << 20);
	assert_u64(log.evidence.free_bytes, 11908ull << 20);
	assert_string_equal(log.gpu_name, "NVIDIA A100-SXM4-80GB");
	log = read_text("# gpu    sm   mem   enc   dec    fb  bar1\n"
	                "# Idx     %     %     %     %    MB    MB\n"
	                "    0    45    20     0     0  1234     5\n");
	assert_u64(log.gpus[0].used_bytes, 1234ull << 20);
}

static void summaries_are_read(void **state)
{
	struct log log = read_text(
	        "|            CUDA OOMs: 1            |        cudaMalloc retries: 2         |\n"
	        "| Allocated memory      |  12288 MiB |  20480 MiB |    100 GiB |     88 GiB |\n"
	        "| GPU reserved memory   |  22528 MiB |  22528 MiB |     30 GiB |      8 GiB |\n");

	(void)state;
	assert_true(log.evidence.out_of_memory);
	assert_u64(log.evidence.allocated_bytes, 12288ull << 20);
	assert_u64(log.evidence.reserved_bytes, 22528ull << 20);
	log = read_text("{\n  \"allocated_bytes.all.current\": 1234567,\n"
	                "  \"reserved_bytes.all.current\": 2097152,\n  \"num_ooms\": 0\n}\n");
	assert_u64(log.evidence.allocated_bytes, 1234567);
	assert_u64(log.evidence.reserved_bytes, 2097152);
	assert_false(log.evidence.out_of_memory);
}

static void statistics_are_read_in_every_form(void **state)
{
	static const char *const forms[] = {
		"{\"allocated_bytes.all.current\": 1234567, \"reserved_bytes.all.current\": "
		"2097152}",
		"{'allocated_bytes.all.current': 1234567, 'reserved_bytes.all.current': 2097152}",
		"OrderedDict([('allocated_bytes.all.current', 1234567), "
		"('reserved_bytes.all.current', 2097152)])",
		"{\"step\": 1, \"memory\": {\"allocated_bytes\": {\"all\": {\"current\": 1234567, "
		"\"peak\": 9}, \"small_pool\": {\"current\": 5}}, \"reserved_bytes\": {\"all\": "
		"{\"current\": 2097152}}}}",
		"noise {not json} INFO {\"allocated_bytes\":{\"all\":{\"current\":1234567}},"
		"\"reserved_bytes\":{\"all\":{\"current\":2097152}}} more",
	};

	(void)state;
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		struct log log = read_text(forms[i]);

		assert_u64(log.evidence.allocated_bytes, 1234567);
		assert_u64(log.evidence.reserved_bytes, 2097152);
	}
}

/* 24 MiB and 20 MiB held, 2 MiB in use; 9 MiB refused with 1 MiB free */
static void snapshots_are_read(void **state)
{
	struct log log = read_text(
	        "{\"segments\": [{\"device\": 0, \"total_size\": 25165824, \"allocated_size\": "
	        "1048576, \"blocks\": [{\"size\": 1048576, \"state\": \"active_allocated\", "
	        "\"frames\": [{\"name\": \"f {x}\", \"line\": 3}]}]}, {\"device\": 0, "
	        "\"total_size\": 20971520, \"allocated_size\": 1048576, \"blocks\": []}, "
	        "{\"device\": 1, \"total_size\": 512, \"allocated_size\": 512}],\n"
	        "\"device_traces\": [[{\"action\": \"alloc\", \"size\": 7}, {\"size\": 9437184, "
	        "\"device_free\": 1048576, \"action\": \"oom\", \"frames\": []}]]}");

	(void)state;
	assert_true(log.evidence.out_of_memory);
	assert_u64(log.evidence.reserved_bytes, 44ull << 20);
	assert_u64(log.evidence.allocated_bytes, 2ull << 20);
	assert_u64(log.evidence.requested_bytes, 9ull << 20);
	assert_u64(log.evidence.free_bytes, 1ull << 20);
	log = read_text("\x80\x04\x95 segments");
	assert_true(log.pickle);
}

static void training_programs_print_series(void **state)
{
	struct log log = read_text("MA 12.5 GB         Max_MA 15.5 GB         CA 16.0 GB         "
	                           "Max_CA 16 GB\n");

	(void)state;
	assert_u64(log.evidence.allocated_bytes, 12800ull << 20);
	assert_u64(log.evidence.peak_bytes, 15872ull << 20);
	assert_u64(log.evidence.reserved_bytes, 16ull << 30);
	log = read_text("[Rank 0] (after 10 iterations) memory (MB) | allocated: 1000.5 | max "
	                "allocated: 2000.0 | reserved: 3000.0 | max reserved: 3000.0\n");
	assert_u64(log.evidence.allocated_bytes, 2001ull << 19);
	assert_u64(log.evidence.peak_bytes, 2000ull << 20);
	assert_u64(log.evidence.reserved_bytes, 3000ull << 20);
	log = read_text("eta: 1:00:00  max_mem: 3217M\nlr: 0.1, memory: 6814, loss: 5.5\n");
	assert_int_equal(log.peak.count, 2);
	assert_u64(log.peak.samples[0], 3217ull << 20);
	assert_u64(log.peak.samples[1], 6814ull << 20);
}

/* The first GPU's reading of each form is 1234 MiB. */
static void readings_come_in_many_forms(void **state)
{
	static const char *const forms[] = {
		"uuid, memory.free [MiB], memory.total [MiB]\nGPU-5b1b, 22000, 23234\n",
		"pid, process_name, used_gpu_memory [MiB]\n4711, python, 1234 MiB\n",
		"#Date       Time        gpu     sm    mem     fb   bar1\n"
		"#YYYYMMDD   HH:MM:SS    Idx      %      %     MB     MB\n"
		" 20260101   00:00:00      0     45     20   1234      5\n"
		" 20260101   00:00:01      0     45     20      -      5\n",
		"# gpu         pid   type     fb   command\n# Idx           #    C/G     MB   "
		"name\n"
		"    0       4711     C   1234   python\n    0       4712     C    300   python\n",
		"GPU[0]\t\t: VRAM Total Memory (B): 17163091968\n"
		"GPU[0]\t\t: VRAM Total Used Memory (B): 1293942784\n",
		"1234 MiB\n",
		"2026-01-01T00:00:00Z stdout F index, memory.used [MiB], memory.total [MiB]\n"
		"2026-01-01T00:00:00Z stdout F 0, 1234 MiB, 24576 MiB\n",
		"| 1     | 1234MiB/12196MiB  |\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		struct log log = read_text(forms[i]);

		assert_u64(log.gpus[0].used_bytes, 1234ull << 20);
		assert_int_equal(log.gpus[0].used.count, 1);
		assert_true(log.recognized > 0);
	}
}

static void processes_have_series_of_their_own(void **state)
{
	char text[4096] = "pid, used_gpu_memory [MiB]\n";
	struct log log;

	(void)state;
	for (int i = 0; i < 12; i++) {
		char row[64];

		snprintf(row, sizeof row, "4711, 9000 MiB\n4712, %d MiB\n", 1000 + 100 * i);
		strcat(text, row);
	}
	log = read_text(text);
	assert_int_equal(log.evidence.used.kind, VC_TREND_RISING);
	assert_true(log.evidence.used.slope_bytes_per_sample == 100 * 1048576);
}

/* Numbers alone are readings only where there are ten, and nothing else was recognized. */
static void bare_numbers_count_where_nothing_else_is(void **state)
{
	struct log log = read_text("1000\n1100\n1200\n1300\n1400\n1500\n1600\n1700\n1800\n1900\n");

	(void)state;
	assert_int_equal(log.evidence.used.kind, VC_TREND_RISING);
	log = read_text("1000\n1100\n1200\n");
	assert_int_equal(log.evidence.used_samples, 0);
}

/* A line longer than the buffer is read in pieces, and no figure is cut in two. */
static void endless_lines_are_read(void **state)
{
	static struct log log;

	(void)state;
	log_open(&log);
	for (int i = 0; i < 5000; i++) {
		log_feed(&log, "some words without an end, ", 27);
	}
	log_feed(&log, "CUDA out of memory. Tried to allocate 2.00 GiB. ", 48);
	for (int i = 0; i < 5000; i++) {
		log_feed(&log, "some words without an end, ", 27);
	}
	log_finish(&log);
	assert_u64(log.evidence.requested_bytes, 2ull << 30);
}

/* A message over several lines, each with a time and a rank in front. */
/* A log that a crash left with a hole is read on; a device of zeros ends. */
static void zeros_without_end_are_refused(void **state)
{
	static const char hole[1 << 16];
	static struct log log;
	FILE *zeros = fopen("/dev/zero", "r");

	(void)state;
	log_open(&log);
	log_feed(&log, hole, sizeof hole);
	log_feed(&log, "1234 MiB, 24576 MiB\n", 20);
	log_finish(&log);
	assert_u64(log.gpus[0].used_bytes, 1234ull << 20);
	if (!zeros) {
		skip();
	}
	log_open(&log);
	assert_false(log_read(&log, zeros));
	fclose(zeros);
}

static void prefixes_of_continued_lines_go(void **state)
{
	struct log log = read_text(
	        "2026-01-01T00:00:01Z pod-1 [rank3]: RuntimeError: CUDA out of memory. Tried to "
	        "allocate 1.25 GiB (GPU 1; 79.10 GiB total capacity; 76.13 GiB\n"
	        "2026-01-01T00:00:02Z pod-1 [rank3]: already allocated; 290.12 MiB free; 77.47\n"
	        "2026-01-01T00:00:02Z pod-1 [rank3]: GiB reserved in total by PyTorch)\n");

	(void)state;
	assert_u64(log.evidence.allocated_bytes, 81743965061); /* 76.13 x 2^30 = 81,743,965,061.1 */
	assert_u64(log.evidence.reserved_bytes, 83182779105);  /* 77.47 x 2^30 = 83,182,779,105.3 */
	log = read_text(
	        "> CUDA out of memory. Tried to\n> allocate 1.25 GiB (GPU 1; 79.10 GiB\n"
	        "> total capacity; 76.13 GiB already\n> allocated; 290.12 MiB free; 77.47 GiB\n"
	        "> reserved in total by PyTorch)\n");
	assert_u64(log.evidence.requested_bytes, 5ull << 28);
	assert_u64(log.evidence.allocated_bytes, 81743965061);
}

/* Windows: paths with backslashes, and no expandable segments. */
static void windows_has_no_expandable_segments(void **state)
{
	struct log log = read_text(
	        "  File \"D:\\tools\\venv\\lib\\site-packages\\torch\\nn\\modules\\module.py\", "
	        "line 1\n" NEW("1.70 GiB", "6.00 GiB", "0 bytes", "", "2.93 GiB", "2.30 GiB"));
	struct vc_diagnosis diagnosis = vc_diagnose(&log.evidence);

	(void)state;
	assert_int_equal(diagnosis.cause, VC_CAUSE_FRAGMENTATION);
	assert_non_null(strstr(diagnosis.advice[0], "max_split_size_mb:512"));
}

/* Every phrase has a place in the index, can be found in a seam, and what it collects is read. */
static void tables_of_phrases_are_sound(void **state)
{
	static const struct log_phrases *const tables[] = {
		&log_torch_phrases, &log_engine_phrases, &log_setting_phrases,  &log_smi_phrases,
		&log_vllm_phrases,  &log_sglang_phrases, &log_llamacpp_phrases, &log_server_phrases,
	};
	static struct log log;
	size_t count = 0;

	(void)state;
	log_open(&log);
	for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
		for (size_t i = 0; i < tables[t]->count; i++, count++) {
			const struct log_phrase *phrase = &tables[t]->rows[i];

			assert_in_range(strlen(phrase->text), 3, LOG_SEAM - 1);
			assert_true(!phrase->collects || phrase->read);
		}
	}
	assert_int_equal(log.index.count, count);
}

static void the_first_failure_speaks(void **state)
{
	struct log log = read_text(NEW("1.00 GiB", "24.00 GiB", "0 bytes", "", "23.50 GiB",
	                               "10.00 MiB") "\n" NEW("9.00 GiB", "80.00 GiB", "70.00 GiB",
	                                                     "", "1.00 GiB", "0 bytes"));

	(void)state;
	assert_u64(log.evidence.requested_bytes, 1ull << 30);
	assert_u64(log.evidence.total_bytes, 24ull << 30);
}

static void noise_is_harmless(void **state)
{
	static char noise[200000];
	uint64_t seed = 99;
	static struct log log;
	FILE *in;

	(void)state;
	for (size_t i = 0; i < sizeof noise; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		noise[i] = (char)(seed >> 56);
	}
	in = fmemopen(noise, sizeof noise, "r");
	assert_non_null(in);
	log_open(&log);
	assert_true(log_read(&log, in));
	fclose(in);
	log_finish(&log);
	assert_false(log.evidence.out_of_memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reports_are_told_apart),
		cmocka_unit_test(amounts_are_exact),
		cmocka_unit_test(a_container_hides_the_own_process),
		cmocka_unit_test(the_setting_is_told_from_the_advice),
		cmocka_unit_test(csv_queries_make_series),
		cmocka_unit_test(tables_and_monitors_are_read),
		cmocka_unit_test(summaries_are_read),
		cmocka_unit_test(statistics_are_read_in_every_form),
		cmocka_unit_test(snapshots_are_read),
		cmocka_unit_test(training_programs_print_series),
		cmocka_unit_test(readings_come_in_many_forms),
		cmocka_unit_test(processes_have_series_of_their_own),
		cmocka_unit_test(bare_numbers_count_where_nothing_else_is),
		cmocka_unit_test(tables_of_phrases_are_sound),
		cmocka_unit_test(endless_lines_are_read),
		cmocka_unit_test(zeros_without_end_are_refused),
		cmocka_unit_test(prefixes_of_continued_lines_go),
		cmocka_unit_test(windows_has_no_expandable_segments),
		cmocka_unit_test(the_first_failure_speaks),
		cmocka_unit_test(noise_is_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
