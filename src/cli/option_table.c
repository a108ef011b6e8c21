/* Every option of the program, in the order in which --help lists them. */
#include "arguments.h"
#include "help.h"
#include "option.h"

#include "vramcalc/vramcalc.h"

#define AT(member) offsetof(struct arguments, member)

static const char *pick(const char *const *list, size_t length, size_t index)
{
	return index < length ? list[index] : NULL;
}

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static const char *method_choice(size_t index)
{
	static const char *const names[] = {
		[VC_METHOD_RULE] = "rule", [VC_METHOD_DETAILED] = "detailed"
	};

	return pick(names, LENGTH(names), index);
}

static const char *sort_choice(size_t index)
{
	static const char *const names[] = {
		[VC_SORT_PRICE] = "price", [VC_SORT_MEMORY] = "memory"
	};

	return pick(names, LENGTH(names), index);
}

static const char *solve_choice(size_t index)
{
	static const char *const names[] = {
		[VC_SOLVE_BATCH_SIZE] = "batch_size",
		[VC_SOLVE_SEQUENCE_LENGTH] = "sequence_length",
		[VC_SOLVE_CONCURRENCY] = "concurrency",
		[VC_SOLVE_LORA_RANK] = "lora_rank",
		[VC_SOLVE_GPUS] = "gpus",
	};

	return pick(names, LENGTH(names), index);
}

static const char *color_choice(size_t index)
{
	static const char *const names[] = {
		[COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never"
	};

	return pick(names, LENGTH(names), index);
}

static const char *unit_choice(size_t index)
{
	return index < UNIT_COUNT ? format_unit_name((enum byte_unit)index) : NULL;
}

static const char *shell_choice(size_t index)
{
	static const char *const names[] = {
		[SHELL_BASH] = "bash", [SHELL_ZSH] = "zsh", [SHELL_FISH] = "fish"
	};

	return pick(names, LENGTH(names), index);
}

/* Another spelling of --set: help, values and default are those of the spec's field. */
#define FIELD(option, heading, path)                                                               \
	{                                                                                          \
		.name = (option), .kind = OPTION_FIELD, .group = (heading), .commands = ON_JOBS,   \
		.field = (path)                                                                    \
	}

const struct option_row option_table[] = {
	FIELD("task", GROUP_WORKLOAD, "workload.task"),
	FIELD("precision", GROUP_WORKLOAD, "workload.precision"),
	FIELD("quantization", GROUP_WORKLOAD, "workload.quantization"),
	FIELD("batch-size", GROUP_WORKLOAD, "workload.batch_size"),
	FIELD("sequence-length", GROUP_WORKLOAD, "workload.sequence_length"),
	FIELD("concurrency", GROUP_WORKLOAD, "workload.concurrency"),
	FIELD("kv-cache-precision", GROUP_WORKLOAD, "workload.kv_cache_precision"),
	FIELD("attn-implementation", GROUP_WORKLOAD, "workload.attn_implementation"),
	{ .name = "set",
	  .letter = 's',
	  .kind = OPTION_LIST,
	  .group = GROUP_WORKLOAD,
	  .commands = ON_JOBS,
	  .offset = AT(settings),
	  .value = "FIELD=VALUE",
	  .help = "override any field of the spec; may be repeated" },
	{ .name = "offline",
	  .kind = OPTION_FLAG,
	  .group = GROUP_WORKLOAD,
	  .commands = ON_JOBS,
	  .offset = AT(offline),
	  .help = "take hf:ORG/NAME from the cache alone" },
	{ .name = "vary",
	  .kind = OPTION_LIST,
	  .group = GROUP_WORKLOAD,
	  .commands = ON_COMPARE,
	  .offset = AT(vary),
	  .value = "FIELD=V1,V2,...",
	  .help = "one row for each value; A..B, A..B+STEP and A..B*FACTOR are ranges; may be "
	          "repeated for all combinations" },

	FIELD("training-method", GROUP_TRAINING, "training.method"),
	FIELD("optimizer", GROUP_TRAINING, "training.optimizer"),
	FIELD("mixed-precision", GROUP_TRAINING, "training.mixed_precision"),
	FIELD("gradient-checkpointing", GROUP_TRAINING, "training.gradient_checkpointing"),
	FIELD("lora-rank", GROUP_TRAINING, "training.lora.rank"),

	FIELD("data-parallel", GROUP_LAYOUT, "parallelism.data"),
	FIELD("tensor-parallel", GROUP_LAYOUT, "parallelism.tensor"),
	FIELD("pipeline-parallel", GROUP_LAYOUT, "parallelism.pipeline"),
	FIELD("zero-stage", GROUP_LAYOUT, "parallelism.zero_stage"),
	FIELD("engine", GROUP_LAYOUT, "engine.name"),
	FIELD("engine-version", GROUP_LAYOUT, "engine.version"),
	FIELD("gpu-memory-utilization", GROUP_LAYOUT, "engine.gpu_memory_utilization"),

	{ .name = "method",
	  .letter = 'm',
	  .kind = OPTION_CHOICE,
	  .group = GROUP_HARDWARE,
	  .commands = ON_JOBS,
	  .offset = AT(method),
	  .value = "METHOD",
	  .choice = method_choice,
	  .fallback = "rule",
	  .help = "which estimate ranks the GPUs" },
	{ .name = "gpu",
	  .letter = 'g',
	  .kind = OPTION_LIST,
	  .group = GROUP_HARDWARE,
	  .commands = ON_JOBS,
	  .offset = AT(gpus),
	  .value = "GPU",
	  .completion = COMPLETE_GPUS,
	  .help = "consider this GPU only, or all sizes of a family; may be repeated" },
	{ .name = "all",
	  .letter = 'a',
	  .kind = OPTION_FLAG,
	  .group = GROUP_HARDWARE,
	  .commands = ON_PLAN,
	  .offset = AT(all),
	  .help = "consider every GPU of the catalog, not T4, A10, V100, A100 and H100 only" },
	{ .name = "max-gpus",
	  .kind = OPTION_COUNT,
	  .group = GROUP_HARDWARE,
	  .commands = ON_PLAN | ON_COMPARE | ON_CHECK,
	  .offset = AT(max_gpus),
	  .value = "N",
	  .fallback = "8",
	  .help = "use up to this many GPUs of one kind" },
	{ .name = "sort",
	  .kind = OPTION_CHOICE,
	  .group = GROUP_HARDWARE,
	  .commands = ON_PLAN | ON_PACK,
	  .offset = AT(sort),
	  .value = "KEY",
	  .choice = sort_choice,
	  .fallback = "price",
	  .help = "what ranks first among the GPUs that fit" },
	{ .name = "gpus",
	  .kind = OPTION_COUNT,
	  .group = GROUP_HARDWARE,
	  .commands = ON_ADVISE,
	  .offset = AT(gpus_at_hand),
	  .value = "N",
	  .fallback = "1",
	  .help = "how many of the GPU are at hand" },
	{ .name = "for",
	  .kind = OPTION_CHOICE,
	  .group = GROUP_HARDWARE,
	  .commands = ON_SOLVE,
	  .offset = AT(solve_for),
	  .value = "FIELD",
	  .choice = solve_choice,
	  .fallback = "batch_size",
	  .help = "what to find the largest value of; of gpus the smallest number" },
	{ .name = "overhead",
	  .kind = OPTION_BYTES,
	  .group = GROUP_HARDWARE,
	  .commands = ON_JOBS,
	  .offset = AT(overhead_bytes),
	  .value = "SIZE",
	  .fallback = "2GB",
	  .help = "what the rule adds to M on each GPU; usually 1 to 3 GB" },
	{ .name = "margin",
	  .kind = OPTION_RATIO,
	  .group = GROUP_HARDWARE,
	  .commands = ON_JOBS,
	  .offset = AT(margin_ppm),
	  .value = "FACTOR",
	  .fallback = "1.2",
	  .help = "the rule's factor for fragmentation" },
	{ .name = "activation-share",
	  .kind = OPTION_RATIO,
	  .group = GROUP_HARDWARE,
	  .commands = ON_JOBS,
	  .offset = AT(activation_ppm),
	  .value = "SHARE",
	  .help = "the rule's activations as a share of the weights; else 0.2, in training 0.35" },
	{ .name = "spec",
	  .kind = OPTION_TEXT,
	  .group = GROUP_HARDWARE,
	  .commands = ON_DIAGNOSE,
	  .offset = AT(spec),
	  .value = "SPEC",
	  .completion = COMPLETE_MODELS,
	  .help = "the job that failed: its estimate tells capacity from fragmentation" },
	{ .name = "mig",
	  .kind = OPTION_FLAG,
	  .group = GROUP_HARDWARE,
	  .commands = ON_PACK,
	  .offset = AT(mig),
	  .help = "slice the GPUs into MIG instances, with explicit placements" },
	{ .name = "max-memory",
	  .kind = OPTION_BYTES,
	  .group = GROUP_HARDWARE,
	  .commands = ON_CHECK,
	  .offset = AT(max_memory_bytes),
	  .value = "SIZE",
	  .help = "M_rec may be at most this" },
	{ .name = "min-headroom",
	  .kind = OPTION_RATIO,
	  .group = GROUP_HARDWARE,
	  .commands = ON_CHECK,
	  .offset = AT(min_headroom_ppm),
	  .value = "SHARE",
	  .help = "this share of the GPU has to stay free, such as 0.1" },
	{ .name = "max-price",
	  .kind = OPTION_MONEY,
	  .group = GROUP_HARDWARE,
	  .commands = ON_CHECK,
	  .offset = AT(max_price_micros),
	  .value = "PRICE",
	  .help = "the GPUs may cost at most this an hour, all together" },
	{ .name = "base",
	  .kind = OPTION_TEXT,
	  .group = GROUP_HARDWARE,
	  .commands = ON_CHECK,
	  .offset = AT(base),
	  .value = "BASE",
	  .completion = COMPLETE_FILES,
	  .help = "compare with an earlier version: a file, a folder, or git:REV" },
	{ .name = "max-increase",
	  .kind = OPTION_TEXT,
	  .group = GROUP_HARDWARE,
	  .commands = ON_CHECK,
	  .offset = AT(max_increase),
	  .value = "SHARE|SIZE",
	  .fallback = "0",
	  .help = "how much M may grow over the base: 5% or 2GB" },
	{ .name = "catalog",
	  .kind = OPTION_LIST,
	  .group = GROUP_HARDWARE,
	  .commands = ON_JOBS | ON_GPUS,
	  .offset = AT(catalogs),
	  .value = "FILE",
	  .completion = COMPLETE_FILES,
	  .help = "add or override GPUs (.yaml) or offers (.csv); may be repeated" },

	{ .name = "explain",
	  .letter = 'e',
	  .kind = OPTION_FLAG,
	  .group = GROUP_OUTPUT,
	  .commands = ON_PLAN,
	  .offset = AT(explain),
	  .help = "show each line's formula with its numbers put in" },
	{ .name = "unit",
	  .letter = 'u',
	  .kind = OPTION_CHOICE,
	  .group = GROUP_OUTPUT,
	  .commands = ON_JOBS | ON_GPUS | ON_DIAGNOSE,
	  .offset = AT(unit),
	  .value = "UNIT",
	  .choice = unit_choice,
	  .fallback = "GB",
	  .help = "show sizes in this unit: GB is 10^9 bytes, GiB 2^30" },
	{ .name = "json",
	  .letter = 'j',
	  .kind = OPTION_FLAG,
	  .group = GROUP_OUTPUT,
	  .commands = ON_JOBS | ON_LISTS | ON_DIAGNOSE,
	  .offset = AT(json),
	  .help = "print JSON, with exact byte counts" },
	{ .name = "csv",
	  .kind = OPTION_FLAG,
	  .group = GROUP_OUTPUT,
	  .commands = ON_PLAN | ON_COMPARE | ON_LISTS,
	  .offset = AT(csv),
	  .help = "print CSV, with exact byte counts" },
	{ .name = "markdown",
	  .kind = OPTION_FLAG,
	  .group = GROUP_OUTPUT,
	  .commands = ON_PLAN | ON_COMPARE | ON_LISTS | ON_CHECK,
	  .offset = AT(markdown),
	  .help = "print Markdown" },
	{ .name = "github",
	  .kind = OPTION_FLAG,
	  .group = GROUP_OUTPUT,
	  .commands = ON_CHECK,
	  .offset = AT(github),
	  .help = "print GitHub workflow annotations for what fails" },
	{ .name = "junit",
	  .kind = OPTION_TEXT,
	  .group = GROUP_OUTPUT,
	  .commands = ON_CHECK,
	  .offset = AT(junit),
	  .value = "FILE",
	  .completion = COMPLETE_FILES,
	  .help = "write JUnit XML as well" },
	{ .name = "sarif",
	  .kind = OPTION_TEXT,
	  .group = GROUP_OUTPUT,
	  .commands = ON_CHECK,
	  .offset = AT(sarif),
	  .value = "FILE",
	  .completion = COMPLETE_FILES,
	  .help = "write SARIF 2.1.0 as well" },
	{ .name = "color",
	  .kind = OPTION_CHOICE,
	  .group = GROUP_OUTPUT,
	  .commands = ON_JOBS | ON_LISTS | ON_DIAGNOSE,
	  .offset = AT(color),
	  .value = "WHEN",
	  .choice = color_choice,
	  .fallback = "auto",
	  .help = "color the output; auto: on a terminal, unless NO_COLOR is set" },
	{ .name = "columns",
	  .kind = OPTION_TEXT,
	  .group = GROUP_OUTPUT,
	  .commands = ON_COMPARE,
	  .offset = AT(columns),
	  .value = "ID,ID,...",
	  .help = "show these columns only, in this order" },
	{ .name = "sort",
	  .kind = OPTION_TEXT,
	  .group = GROUP_OUTPUT,
	  .commands = ON_COMPARE,
	  .offset = AT(sort_column),
	  .value = "ID",
	  .help = "sort the rows by this column; -ID: the largest first" },
	{ .name = "jobs",
	  .kind = OPTION_COUNT,
	  .group = GROUP_OUTPUT,
	  .commands = ON_COMPARE,
	  .offset = AT(jobs),
	  .value = "N",
	  .fallback = "1",
	  .help = "read a stream with this many threads; the output is the same" },
	{ .name = "output",
	  .letter = 'o',
	  .kind = OPTION_TEXT,
	  .group = GROUP_OUTPUT,
	  .commands = ON_COMPARE,
	  .offset = AT(output),
	  .value = "FILE",
	  .completion = COMPLETE_FILES,
	  .help = "write to this file, which appears only when it is complete" },
	{ .name = "quiet",
	  .letter = 'q',
	  .kind = OPTION_FLAG,
	  .group = GROUP_OUTPUT,
	  .commands = ON_PLAN | ON_CHECK,
	  .offset = AT(quiet),
	  .help = "print errors only; the exit status tells whether the job fits" },

	{ .name = "man",
	  .kind = OPTION_FLAG,
	  .group = GROUP_OTHER,
	  .commands = ON_HELP,
	  .offset = AT(manual),
	  .help = "print the manual page, as mdoc" },
	{ .name = "completion",
	  .kind = OPTION_CHOICE,
	  .group = GROUP_OTHER,
	  .commands = ON_HELP,
	  .offset = AT(completion),
	  .value = "SHELL",
	  .choice = shell_choice,
	  .help = "print a completion script" },
	{ .name = "help",
	  .letter = 'h',
	  .kind = OPTION_FLAG,
	  .group = GROUP_OTHER,
	  .commands = ON_ALL,
	  .offset = AT(help),
	  .help = "print this help" },
	{ .name = "version",
	  .letter = 'V',
	  .kind = OPTION_FLAG,
	  .group = GROUP_OTHER,
	  .commands = ON_ALL,
	  .offset = AT(version),
	  .help = "print the version" },
	{ .name = NULL },
};
