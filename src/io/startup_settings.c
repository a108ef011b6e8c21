/*
 * Settings that a server's log states, as arguments, as key=value, or as keys of a dictionary: what
 * they are in a spec. Only values that are set are taken: "auto" and "None" say nothing.
 */
#include "log.h"

#include <string.h>

/* A spec's name for what the log writes; the text may go on behind it. */
struct spelling {
	const char *log, *spec;
};

static const struct spelling precisions[] = {
	{ "bfloat16", "bf16" }, { "torch.bfloat16", "bf16" }, { "float16", "fp16" },
	{ "half", "fp16" },     { "torch.float16", "fp16" },  { "float32", "fp32" },
	{ "float", "fp32" },    { "torch.float32", "fp32" },  { NULL, NULL },
};
static const struct spelling cache_precisions[] = {
	{ "fp8", "fp8" },
	{ "bfloat16", "bf16" },
	{ "bf16", "bf16" },
	{ NULL, NULL },
};
static const struct spelling quantizations[] = {
	{ "fp8", "fp8" },
	{ "awq", "awq-int4-g128" },
	{ "gptq", "gptq-int4-g128" },
	{ "bitsandbytes", "bnb-nf4" },
	{ "mxfp4", "mxfp4" },
	{ NULL, NULL },
};
static const struct spelling flags[] = {
	{ "True", "true" },
	{ "true", "true" },
	{ "False", "false" },
	{ NULL, NULL },
};

/* The key as it is written in code; on a command line with dashes, behind two of them. */
static const struct {
	const char *key, *field;
	const struct spelling *spellings; /* NULL: a number */
} rows[] = {
	{ "tensor_parallel_size", "parallelism.tensor", NULL },
	{ "tensor-parallel-size", "parallelism.tensor", NULL },
	{ "tp_size", "parallelism.tensor", NULL },
	{ "pipeline_parallel_size", "parallelism.pipeline", NULL },
	{ "pipeline-parallel-size", "parallelism.pipeline", NULL },
	{ "max_seq_len", "workload.sequence_length", NULL },
	{ "max_model_len", "workload.sequence_length", NULL },
	{ "max-model-len", "workload.sequence_length", NULL },
	{ "context_length", "workload.sequence_length", NULL },
	{ "context_len", "workload.sequence_length", NULL },
	{ "context-length", "workload.sequence_length", NULL },
	{ "max_num_seqs", "engine.max_num_seqs", NULL },
	{ "max-num-seqs", "engine.max_num_seqs", NULL },
	{ "max_num_batched_tokens", "engine.max_num_batched_tokens", NULL },
	{ "max-num-batched-tokens", "engine.max_num_batched_tokens", NULL },
	{ "chunked_prefill_size", "engine.max_num_batched_tokens", NULL },
	{ "gpu_memory_utilization", "engine.gpu_memory_utilization", NULL },
	{ "gpu-memory-utilization", "engine.gpu_memory_utilization", NULL },
	{ "mem_fraction_static", "engine.gpu_memory_utilization", NULL },
	{ "mem-fraction-static", "engine.gpu_memory_utilization", NULL },
	{ "dtype", "workload.precision", precisions },
	{ "kv_cache_dtype", "workload.kv_cache_precision", cache_precisions },
	{ "kv-cache-dtype", "workload.kv_cache_precision", cache_precisions },
	{ "quantization", "workload.quantization", quantizations },
	{ "enforce_eager", "engine.enforce_eager", flags },
	{ "disable_cuda_graph", "engine.enforce_eager", flags },
};

/* "tp_size" is no part of a longer word. */
static bool is_whole(const struct log_hit *hit)
{
	char before = hit->at > hit->line ? hit->at[-1] : ' ';

	return strchr(" ,({'\"-\t[", before) != NULL && strchr("=:' \"", *hit->behind) != NULL;
}

static void read_setting(struct log *log, const struct log_hit *hit)
{
	const char *value = hit->behind + strspn(hit->behind, "=:'\" ");
	size_t row = 0;

	while (strcmp(rows[row].key, hit->phrase->text) != 0) {
		row++;
	}
	if (!is_whole(hit) || *hit->behind == '\0') {
		return;
	}
	if (!rows[row].spellings) {
		size_t length = strspn(value, "0123456789.");

		length -= length > 0 && value[length - 1] == '.';
		if (strncmp(value, "0", length) != 0 && strchr(" .,)}'\"\n]", value[length])) {
			startup_state(&log->startup, rows[row].field, value, length);
		}
		return;
	}
	for (const struct spelling *word = rows[row].spellings; word->log; word++) {
		if (strncmp(value, word->log, strlen(word->log)) == 0) {
			startup_state(&log->startup, rows[row].field, word->spec,
			              strlen(word->spec));
			return;
		}
	}
}

#define SETTING(key)                                                                               \
	{                                                                                          \
		(key), .read = read_setting                                                        \
	}

static const struct log_phrase phrases[] = {
	SETTING("tensor_parallel_size"),
	SETTING("tensor-parallel-size"),
	SETTING("tp_size"),
	SETTING("pipeline_parallel_size"),
	SETTING("pipeline-parallel-size"),
	SETTING("max_seq_len"),
	SETTING("max_model_len"),
	SETTING("max-model-len"),
	SETTING("context_length"),
	SETTING("context_len"),
	SETTING("context-length"),
	SETTING("max_num_seqs"),
	SETTING("max-num-seqs"),
	SETTING("max_num_batched_tokens"),
	SETTING("max-num-batched-tokens"),
	SETTING("chunked_prefill_size"),
	SETTING("gpu_memory_utilization"),
	SETTING("gpu-memory-utilization"),
	SETTING("mem_fraction_static"),
	SETTING("mem-fraction-static"),
	SETTING("dtype"),
	SETTING("kv_cache_dtype"),
	SETTING("kv-cache-dtype"),
	SETTING("quantization"),
	SETTING("enforce_eager"),
	SETTING("disable_cuda_graph"),
};

const struct log_phrases log_server_phrases = { phrases, sizeof phrases / sizeof *phrases };
