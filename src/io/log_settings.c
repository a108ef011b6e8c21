/* Settings that a log shows to be on, and where in a program a traceback lies. */
#include "log.h"

#include <string.h>
#include <strings.h>

/* A message's advice to try a setting does not show that it is set. */
static bool is_advice(const struct log_hit *hit)
{
	static const char *const words[] = { "try ",      "setting ",    "set ",
		                             "use ",      "Use ",        "Set ",
		                             "consider ", "increasing ", "decreasing " };
	char before[48];
	size_t length = (size_t)(hit->at - hit->line);

	length = length < sizeof before - 1 ? length : sizeof before - 1;
	memcpy(before, hit->at - length, length);
	before[length] = '\0';
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if (strstr(before, words[i])) {
			return true;
		}
	}
	return false;
}

/* The value behind a key: past "=", ":", quotes and blanks. */
static const char *value_of(const struct log_hit *hit)
{
	return hit->behind + strspn(hit->behind, "\"'`=: ");
}

static bool is_word(const char *text, const char *word)
{
	return strncasecmp(text, word, strlen(word)) == 0;
}

static bool is_off(const char *value)
{
	return is_word(value, "false") || is_word(value, "none") || is_word(value, "null") ||
	       is_word(value, "auto") || *value == '0';
}

static void read_applied(struct log *log, const struct log_hit *hit)
{
	const struct log_phrase *phrase = hit->phrase;
	const char *value = value_of(hit);

	if (is_advice(hit) || (phrase->value ? !is_word(value, phrase->value) : is_off(value))) {
		return;
	}
	/* "1" is not the beginning of "16" */
	if (phrase->applied != VC_APPLIED_BATCH_OF_ONE || strspn(value, "0123456789") == 1) {
		log->evidence.applied |= phrase->applied;
	}
}

/* gpu_memory_utilization=0.95 and its kin. */
static void read_share(struct log *log, const struct log_hit *hit)
{
	uint64_t share = log_permille(value_of(hit));

	if (share && !is_advice(hit)) {
		log->evidence.share_permille = share;
	}
}

static void read_no_segments(struct log *log, const struct log_hit *hit)
{
	(void)hit;
	log->evidence.no_expandable_segments = true;
}

/* A new traceback is another story than the one before. */
static void read_traceback(struct log *log, const struct log_hit *hit)
{
	(void)hit;
	if (!log->message_done && !log->evidence.out_of_memory) {
		log->evidence.stage = VC_STAGE_UNKNOWN;
	}
}

/* The value is what the setting starts with when it is on; NULL: anything but off. */
#define APPLIED(key, bit, is)                                                                      \
	{                                                                                          \
		(key), .applied = (bit), .value = (is), .read = read_applied                       \
	}
#define STAGE(words, where)                                                                        \
	{                                                                                          \
		(words), .stage = (where)                                                          \
	}

static const struct log_phrase phrases[] = {
	APPLIED("expandable_segments", VC_APPLIED_EXPANDABLE_SEGMENTS, "true"),
	APPLIED("max_split_size_mb:", VC_APPLIED_MAX_SPLIT, NULL),
	APPLIED("gradient_checkpointing", VC_APPLIED_GRADIENT_CHECKPOINTING, NULL),
	APPLIED("gradient-checkpointing", VC_APPLIED_GRADIENT_CHECKPOINTING, NULL),
	APPLIED("activation_checkpointing", VC_APPLIED_GRADIENT_CHECKPOINTING, NULL),
	APPLIED("enforce_eager", VC_APPLIED_EAGER, "true"),
	APPLIED("--enforce-eager", VC_APPLIED_EAGER, NULL),
	APPLIED("load_in_4bit", VC_APPLIED_QUANTIZATION, "true"),
	APPLIED("load_in_8bit", VC_APPLIED_QUANTIZATION, "true"),
	APPLIED("quantization=", VC_APPLIED_QUANTIZATION, NULL),
	APPLIED("--quantization", VC_APPLIED_QUANTIZATION, NULL),
	APPLIED("kv_cache_dtype=", VC_APPLIED_KV_QUANTIZATION, "fp8"),
	APPLIED("--kv-cache-dtype", VC_APPLIED_KV_QUANTIZATION, "fp8"),
	APPLIED("--cache-type-k", VC_APPLIED_KV_QUANTIZATION, "q"),
	APPLIED("-ctk", VC_APPLIED_KV_QUANTIZATION, "q"),
	APPLIED("adamw_bnb_8bit", VC_APPLIED_8BIT_OPTIMIZER, ""),
	APPLIED("adamw_8bit", VC_APPLIED_8BIT_OPTIMIZER, ""),
	APPLIED("AdamW8bit", VC_APPLIED_8BIT_OPTIMIZER, ""),
	APPLIED("peft/", VC_APPLIED_ADAPTER, ""),
	APPLIED("LoraConfig(", VC_APPLIED_ADAPTER, ""),
	APPLIED("per_device_train_batch_size", VC_APPLIED_BATCH_OF_ONE, "1"),
	APPLIED("train_micro_batch_size_per_gpu", VC_APPLIED_BATCH_OF_ONE, "1"),
	{ "gpu_memory_utilization", .read = read_share },
	{ "gpu-memory-utilization", .read = read_share },
	{ "mem_fraction_static", .read = read_share },
	{ "mem-fraction-static", .read = read_share },
	{ "expandable_segments not supported", .read = read_no_segments },
	/* Windows has none */
	{ "\\lib\\site-packages", .read = read_no_segments },
	{ "\\Lib\\site-packages", .read = read_no_segments },

	{ "Traceback (most recent call last)", .read = read_traceback },
	STAGE("from_pretrained(", VC_STAGE_LOADING),
	STAGE("load_checkpoint", VC_STAGE_LOADING),
	STAGE("load_state_dict(", VC_STAGE_LOADING),
	STAGE("_load_state_dict_into", VC_STAGE_LOADING),
	STAGE("load_model(", VC_STAGE_LOADING),
	STAGE("set_module_tensor_to_device", VC_STAGE_LOADING),
	STAGE("model.to(", VC_STAGE_LOADING),
	STAGE("model.cuda(", VC_STAGE_LOADING),
	STAGE("module.to(", VC_STAGE_LOADING),
	STAGE("pipe.to(", VC_STAGE_LOADING),
	STAGE("Loading safetensors checkpoint shards", VC_STAGE_LOADING),
	STAGE("Loading checkpoint shards", VC_STAGE_LOADING),
	STAGE("cuda_graph_runner", VC_STAGE_GRAPHS),
	STAGE("capture_model", VC_STAGE_GRAPHS),
	STAGE("capture_end()", VC_STAGE_GRAPHS),
	STAGE(".backward(", VC_STAGE_BACKWARD),
	STAGE("run_backward", VC_STAGE_BACKWARD),
	STAGE("optimizer.step(", VC_STAGE_OPTIMIZER),
	STAGE("exp_avg", VC_STAGE_OPTIMIZER),
	STAGE("training_step", VC_STAGE_TRAINING),
	STAGE("trainer.train(", VC_STAGE_TRAINING),
	STAGE(".generate(", VC_STAGE_GENERATING),
	STAGE("return self._call_impl(", VC_STAGE_FORWARD),
};

const struct log_phrases log_setting_phrases = { phrases, sizeof phrases / sizeof *phrases };
