/* What the founding documents say of a full GPU; docs/diagnose.md names each statement's test. */
#include "log.h"
#include "test.h"

static struct log log_of_text;

static struct vc_diagnosis diagnose_with_theory(const char *text, uint64_t theory_bytes)
{
	log_open(&log_of_text);
	log_feed(&log_of_text, text, strlen(text));
	log_finish(&log_of_text);
	log_of_text.evidence.theory_bytes = theory_bytes;
	return vc_diagnose(&log_of_text.evidence);
}

static struct vc_diagnosis diagnose(const char *text)
{
	return diagnose_with_theory(text, 0);
}

static bool advises(const struct vc_diagnosis *diagnosis, const char *words)
{
	for (uint32_t i = 0; i < diagnosis->advice_count; i++) {
		if (strstr(diagnosis->advice[i], words)) {
			return true;
		}
	}
	return false;
}

#define FAILED                                                                                     \
	"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a "     \
	"total capacity of 39.39 GiB of which 1.00 GiB is free. "
#define HOLDING(allocated, idle)                                                                   \
	"Of the allocated memory " allocated " is allocated by PyTorch, and " idle                 \
	" is reserved by PyTorch but unallocated.\n"

static void the_symptom_is_found(void **state)
{
	struct vc_diagnosis diagnosis = diagnose("RuntimeError: CUDA out of memory.");

	(void)state;
	assert_true(log_of_text.evidence.out_of_memory);
	assert_int_equal(diagnosis.cause, VC_CAUSE_UNKNOWN);
	assert_true(advises(&diagnosis, "Add the whole message"));
}

/* 60.9 GB in theory, a card of 40 */
static void theory_above_the_card_is_capacity(void **state)
{
	struct vc_diagnosis diagnosis =
	        diagnose_with_theory(FAILED HOLDING("20.00 GiB", "1.00 GiB"), 60900000000);

	(void)state;
	assert_int_equal(diagnosis.cause, VC_CAUSE_CAPACITY);
	assert_int_equal(diagnosis.confidence, VC_CONFIDENCE_HIGH);
	assert_true(advises(&diagnosis, "larger GPU, or more of them"));
}

/* 30 GB in theory; 20 live, 16 idle: 2 GiB would fit, but not in one piece */
static void theory_below_the_card_and_much_idle_is_fragmentation(void **state)
{
	struct vc_diagnosis diagnosis =
	        diagnose_with_theory(FAILED HOLDING("20.00 GiB", "16.00 GiB"), 30000000000);

	(void)state;
	assert_int_equal(diagnosis.cause, VC_CAUSE_FRAGMENTATION);
	assert_true(advises(&diagnosis, "Preallocate"));
	assert_true(advises(&diagnosis, "torch.cuda.empty_cache()"));
	assert_true(advises(&diagnosis, "does not lower a single live peak"));
}

static const char *readings(const int *megabytes, size_t count, const char *behind)
{
	static char text[8192];
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		used += (size_t)snprintf(text + used, sizeof text - used, "%d MiB, 40960 MiB\n",
		                         megabytes[i]);
	}
	snprintf(text + used, sizeof text - used, "%s", behind);
	return text;
}

/* 10, 11, ..., 19 GB: memory grows linearly with the iterations, then it crashes */
static void a_rising_curve_is_a_leak(void **state)
{
	const int rise[] = { 10000, 11000, 12000, 13000, 14000, 15000, 16000, 17000, 18000, 19000 };
	struct vc_diagnosis diagnosis =
	        diagnose(readings(rise, 10, "RuntimeError: CUDA out of memory."));

	(void)state;
	assert_int_equal(diagnosis.cause, VC_CAUSE_LEAK);
	assert_true(advises(&diagnosis, "loss.item() or .detach()"));
	assert_true(advises(&diagnosis, "Delete references to outputs and graphs"));
	assert_true(advises(&diagnosis, "end of ten steps"));
	/* nine are too few, and more are asked for */
	diagnosis = diagnose(readings(rise, 9, ""));
	assert_int_equal(diagnosis.cause, VC_CAUSE_UNKNOWN);
	assert_true(advises(&diagnosis, "at least ten steps"));
}

/* 38, 39.5, 39.6, 39.6 GB, then a crash: it rose at once and stayed */
static void a_fast_plateau_is_capacity(void **state)
{
	const int full[] = { 38000, 39500, 39600, 39600 }, one[] = { 39600 };
	const char *crash = "RuntimeError: CUDA out of memory.";
	struct vc_diagnosis diagnosis = diagnose(readings(full, 4, crash));

	(void)state;
	assert_int_equal(diagnosis.cause, VC_CAUSE_CAPACITY);
	assert_int_equal(diagnosis.confidence, VC_CONFIDENCE_MEDIUM);
	/* the first iteration fails */
	diagnosis = diagnose(readings(one, 1, crash));
	assert_int_equal(diagnosis.cause, VC_CAUSE_CAPACITY);
	assert_int_equal(diagnosis.confidence, VC_CONFIDENCE_LOW);
}

/* The same plateau fits "fragmentation" as well: theory against the card decides. */
static void theory_decides_what_a_plateau_means(void **state)
{
	const int warm[] = { 8000,  30000, 38000, 38000, 38100, 38000,
		             38000, 38100, 38000, 38000, 38000, 38100 };
	const char *crash = "RuntimeError: CUDA out of memory.";
	struct vc_diagnosis diagnosis =
	        diagnose_with_theory(readings(warm, 12, crash), 60900000000);

	(void)state;
	assert_int_equal(diagnosis.cause, VC_CAUSE_CAPACITY);
	diagnosis = diagnose_with_theory(readings(warm, 12, crash), 20000000000);
	assert_int_equal(diagnosis.cause, VC_CAUSE_FRAGMENTATION);
}

/* ---- Growth that is no leak ------------------------------------------------------------------ */

/* Ten or more summaries: live now, live at most, held; in MiB, each with its growth a step. */
static struct vc_diagnosis summaries(const int start[3], const int growth[3], const char *behind)
{
	static char text[16384];
	size_t used = 0;

	for (int i = 0; i < 20; i++) {
		used += (size_t)snprintf(text + used, sizeof text - used,
		                         "| Allocated memory      | %6d MiB | %6d MiB |\n"
		                         "| GPU reserved memory   | %6d MiB | %6d MiB |\n",
		                         start[0] + i * growth[0], start[1] + i * growth[1],
		                         start[2] + i * growth[2], start[2] + i * growth[2]);
	}
	snprintf(text + used, sizeof text - used, "%s", behind);
	return diagnose(text);
}

static void growth_is_told_apart(void **state)
{
	const int start[] = { 8000, 12000, 14000 };
	const int leak[] = { 300, 300, 300 }, batches[] = { 0, 300, 300 }, pieces[] = { 0, 0, 300 },
	          nothing[] = { 0, 0, 0 };
	struct vc_diagnosis diagnosis = summaries(start, leak, "");

	(void)state;
	assert_int_equal(diagnosis.cause, VC_CAUSE_LEAK);
	assert_int_equal(diagnosis.confidence, VC_CONFIDENCE_HIGH);
	diagnosis = summaries(start, batches, "");
	assert_int_equal(diagnosis.cause, VC_CAUSE_NONE);
	assert_non_null(strstr(diagnosis.reason, "the batches grow, nothing leaks"));
	diagnosis = summaries(start, batches, FAILED HOLDING("30.00 GiB", "100.00 MiB"));
	assert_int_equal(diagnosis.cause, VC_CAUSE_CAPACITY);
	diagnosis = summaries(start, pieces, "");
	assert_int_equal(diagnosis.cause, VC_CAUSE_FRAGMENTATION);
	diagnosis = summaries(start, nothing, "");
	assert_int_equal(diagnosis.cause, VC_CAUSE_NONE);
}

/* ---- Nothing is advised that is set ---------------------------------------------------------- */

static void what_is_set_is_not_advised(void **state)
{
	static const struct {
		const char *before; /* what the log shows in front of the failure */
		const char *failure;
		const char *advice;
	} rows[] = {
		{ "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
		  FAILED HOLDING("20.00 GiB", "16.00 GiB"), "expandable_segments" },
		{ "'PYTORCH_CUDA_ALLOC_CONF': 'expandable_segments:True'",
		  FAILED HOLDING("20.00 GiB", "16.00 GiB"), "expandable_segments" },
		{ "UserWarning: expandable_segments not supported on this platform",
		  FAILED HOLDING("20.00 GiB", "16.00 GiB"), "expandable_segments:True" },
		{ "args: --gradient_checkpointing true",
		  "loss.backward()\n" FAILED HOLDING("38.00 GiB", "0 bytes"),
		  "gradient_checkpointing" },
		{ "TrainingArguments(per_device_train_batch_size=1, bf16=True)",
		  "loss.backward()\n" FAILED HOLDING("38.00 GiB", "0 bytes"),
		  "per_device_train_batch_size" },
		{ "BitsAndBytesConfig(load_in_4bit=True)",
		  "AutoModel.from_pretrained(name)\n" FAILED HOLDING("38.00 GiB", "0 bytes"),
		  "load_in_4bit" },
		{ "optim=adamw_bnb_8bit",
		  "optimizer.step()\n" FAILED HOLDING("38.00 GiB", "0 bytes"), "adamw_bnb_8bit" },
		{ "vllm serve m --gpu-memory-utilization 0.95",
		  "ValueError: No available memory for the cache blocks.",
		  "--gpu-memory-utilization" },
		{ "vllm serve m --kv-cache-dtype fp8",
		  "ValueError: No available memory for the cache blocks.", "--kv-cache-dtype" },
		{ "llama-server -m m.gguf --cache-type-k q8_0",
		  "alloc_buffer: allocating 4480.00 MiB on device 3: cudaMalloc failed: out of "
		  "memory\nllama_kv_cache_init: failed to allocate buffer for kv cache",
		  "--cache-type-k" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char text[2048];
		struct vc_diagnosis diagnosis = diagnose(rows[i].failure);

		if (!advises(&diagnosis, rows[i].advice)) {
			fail_msg("row %zu: %s is not advised", i, rows[i].advice);
		}
		snprintf(text, sizeof text, "%s\n%s", rows[i].before, rows[i].failure);
		diagnosis = diagnose(text);
		if (advises(&diagnosis, rows[i].advice)) {
			fail_msg("row %zu: %s is advised though set", i, rows[i].advice);
		}
	}
}

/* "try setting ...", "use '--enforce-eager'", "quantization=None" set nothing */
static void advice_in_a_log_is_no_setting(void **state)
{
	(void)state;
	diagnose("If reserved but unallocated memory is large try setting "
	         "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.\n"
	         "To run the model in eager mode, set 'enforce_eager=True' or use "
	         "'--enforce-eager' in the CLI.\n"
	         "dtype=torch.bfloat16, quantization=None, enforce_eager=False, "
	         "kv_cache_dtype=auto\n"
	         "per_device_train_batch_size=16\ngradient_checkpointing=False\n");
	assert_int_equal(log_of_text.evidence.applied, 0);
}

/* The engine's own figure becomes the setting. */
static void an_engine_names_the_length_that_fits(void **state)
{
	struct vc_diagnosis diagnosis =
	        diagnose("ValueError: The model's max seq len (29000) is larger than the maximum "
	                 "number of tokens that can be stored in KV cache (23648). Try increasing "
	                 "`gpu_memory_utilization` or decreasing `max_model_len`.");

	(void)state;
	assert_true(advises(&diagnosis, "Set --max-model-len 23648:"));
	diagnosis =
	        diagnose("ValueError: Free memory on device cuda:1 (19.77/22.05 GiB) on startup "
	                 "is less than desired GPU memory utilization (0.9, 19.84 GiB).");
	/* 19.77 / 22.05 = 0.8966 */
	assert_true(advises(&diagnosis, "--gpu-memory-utilization 0.89:"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_symptom_is_found),
		cmocka_unit_test(theory_above_the_card_is_capacity),
		cmocka_unit_test(theory_below_the_card_and_much_idle_is_fragmentation),
		cmocka_unit_test(a_rising_curve_is_a_leak),
		cmocka_unit_test(a_fast_plateau_is_capacity),
		cmocka_unit_test(theory_decides_what_a_plateau_means),
		cmocka_unit_test(growth_is_told_apart),
		cmocka_unit_test(what_is_set_is_not_advised),
		cmocka_unit_test(advice_in_a_log_is_no_setting),
		cmocka_unit_test(an_engine_names_the_length_that_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
