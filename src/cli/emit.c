#include "emit.h"

#include "plan_slices.h"
#include "plan_table.h"
#include "print_text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef bool write_file(struct emit_job *job, FILE *file);
typedef bool write_words(struct emit_job *job, struct words *words);

static bool torchrun_alone(struct emit_job *job, struct words *words)
{
	return emit_torchrun_words(job, words, NULL);
}

static const struct {
	const char *name;
	bool inference, training;
	bool slices;        /* can ask for one */
	write_words *words; /* a command line, or */
	write_file *file;
} targets[] = {
	{ "vllm", true, false, false, emit_vllm_words, NULL },
	{ "sglang", true, false, false, emit_sglang_words, NULL },
	{ "llama.cpp", true, false, false, emit_llamacpp_words, NULL },
	{ "deepspeed", false, true, false, NULL, emit_deepspeed },
	{ "accelerate", false, true, false, NULL, emit_accelerate },
	{ "torchrun", false, true, false, torchrun_alone, NULL },
	{ "slurm", true, true, true, NULL, emit_slurm },
	{ "kubernetes", true, true, true, NULL, emit_kubernetes },
	{ "skypilot", true, true, false, NULL, emit_skypilot },
};

enum {
	TARGETS = sizeof targets / sizeof targets[0]
};

const char *emit_target(size_t index)
{
	return index < TARGETS ? targets[index].name : NULL;
}

/* ---- What is told ---- */

const char *emit_torch_dtype(const struct emit_job *job)
{
	switch (job->request->workload.precision) {
	case VC_DTYPE_FP32:
	case VC_DTYPE_TF32:
		return "float32";
	case VC_DTYPE_FP16:
		return "float16";
	case VC_DTYPE_BF16:
		return "bfloat16";
	default:
		return NULL;
	}
}

const char *emit_revision(const struct emit_job *job)
{
	bool other = *job->hub.model && strcmp(job->hub.revision, "main") != 0 &&
	             strcmp(job->model, "MODEL") != 0;

	return other && *job->hub.revision != '-' ? job->hub.revision : NULL;
}

bool emit_has_tokens(const struct emit_job *job)
{
	const struct vc_model *model = job->request->model;

	return !vc_model_has_shape(model) || model->vocab_size > 0;
}

bool emit_is_bf16(const struct emit_job *job)
{
	return job->request->workload.precision == VC_DTYPE_BF16;
}

bool emit_is_fp16(const struct emit_job *job)
{
	return job->request->workload.precision == VC_DTYPE_FP16;
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);

	return length > tail && strcmp(text + length - tail, end) == 0;
}

/* A line break would leave the block that a name stands in. */
static bool has_control(const char *text)
{
	while (*text && (unsigned char)*text >= 0x20 && *text != 0x7f) {
		text++;
	}
	return *text != '\0';
}

/* What a program can load: the hub's id, the weight file or the folder that was read, a name that
 * is an id. */
static void find_model(struct emit_job *job)
{
	const char *source = job->plan->spec->source, *name = job->request->model->name;
	size_t length = strlen(source);
	struct stat facts;

	if (strncmp(source, "hf:", 3) == 0 && vc_hub_name_parse(source, &job->hub)) {
		source += 3;
		length = strcspn(source, "@:");
	} else if (ends_with(source, "/config.json")) {
		length -= strlen("/config.json");
	} else if (!ends_with(source, ".gguf") &&
	           !(stat(source, &facts) == 0 && S_ISDIR(facts.st_mode))) {
		source = strchr(name, '/') ? name : "MODEL";
		length = strlen(source);
	}
	/* and a program would take a leading dash for an option */
	if (length >= sizeof job->model || has_control(source) || *source == '-') {
		source = "MODEL";
		length = strlen(source);
	}
	(void)snprintf(job->model, sizeof job->model, "%.*s", (int)length, source);
}

/* The documents ask for twice the VRAM where the spec does not say what a node has. */
static uint64_t host_bytes(const struct emit_job *job)
{
	uint64_t stated = job->plan->spec->hardware.host_memory_bytes;
	uint64_t gpu = job->slice ? job->best->have_bytes : job->best->gpu->memory_bytes;
	uint64_t twice = 2 * gpu * job->node_gpus;

	if (stated > 0) {
		return stated;
	}
	return job->best->host_bytes > twice ? job->best->host_bytes : twice;
}

/* What is written for: the best row, or the best slice as a row of one GPU. */
struct pick {
	struct vc_candidate row;
	struct vc_slice slice;
};

static enum exit_status choose_slice(const struct plan *plan, struct pick *pick)
{
	struct table table;

	if (!plan_slices(plan, &table)) {
		return EXIT_WRONG_INPUT;
	}
	if (table.row_count > 0) {
		pick->slice = *(const struct vc_slice *)table.rows;
		pick->row = (struct vc_candidate){
			.gpu = pick->slice.gpu,
			.layout = { .data = 1,
			            .tensor = 1,
			            .pipeline = 1,
			            .context = 1,
			            .expert = 1 },
			.gpus = 1,
			.node_gpus = 1,
			.need_bytes = pick->slice.need_bytes,
			.have_bytes = pick->slice.profile->memory_bytes,
		};
	}
	free((void *)table.rows);
	return table.row_count > 0 ? EXIT_FITS : EXIT_DOES_NOT_FIT;
}

static enum exit_status choose(const struct plan *plan, struct pick *pick)
{
	const struct vc_candidate *best = plan_best(plan);

	if (plan->arguments->mig) {
		return choose_slice(plan, pick);
	}
	if (best) {
		pick->row = *best;
	}
	return best ? EXIT_FITS : EXIT_DOES_NOT_FIT;
}

static struct emit_job job_of(const struct plan *plan, const struct pick *pick,
                              struct vc_request *request)
{
	struct emit_job job = { .plan = plan, .request = request, .best = &pick->row };
	uint32_t node = job.best->node_gpus > 0 ? job.best->node_gpus : job.best->gpus;

	*request = plan->request;
	request->parallelism = job.best->layout;
	job.slice = pick->slice.profile ? &pick->slice : NULL;
	job.node_gpus = job.best->gpus < node ? job.best->gpus : node;
	job.nodes = (job.best->gpus + job.node_gpus - 1) / job.node_gpus;
	job.sequences = request->workload.batch_size * request->workload.concurrency;
	job.host_bytes = host_bytes(&job);
	find_model(&job);
	return job;
}

/* ---- What is written ---- */

void emit_note(struct emit_job *job, const char *format, ...)
{
	char text[EMIT_NOTE];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	if (job->note_count < EMIT_NOTES) {
		memcpy(job->notes[job->note_count++], text, sizeof text);
	}
}

void emit_comment(FILE *file, const char *format, ...)
{
	char text[1024], shown[1024];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	text_copy(shown, sizeof shown, text, true);
	fprintf(file, "# %s\n", shown);
}

/* Ranked by the rule, which knows nothing of what a framework keeps beside the model. */
static void warn_of_detailed(const struct emit_job *job, FILE *file)
{
	const struct plan *plan = job->plan;
	const struct vc_gpu *gpu = job->best->gpu;
	uint64_t offered = gpu->usable_bytes ? gpu->usable_bytes : gpu->memory_bytes;
	char need[64];

	if (plan->request.method == VC_METHOD_RULE && plan->has_detailed && !job->slice &&
	    plan->detailed.need_bytes > offered) {
		format_quantity(need, sizeof need, plan->detailed.need_bytes, UNIT_GB, ROUND_UP);
		emit_comment(file,
		             "By the detailed method it needs %s on each, more than there is: see "
		             "--method detailed",
		             need);
	}
}

/* Models on the same GPUs that no option here speaks of. */
static void tell_roles(const struct emit_job *job, FILE *file)
{
	const struct vc_role_request *roles = job->request->roles;
	char list[128] = "";

	for (int role = 0; roles && role < VC_ROLE_COUNT; role++) {
		if (roles[role].given) {
			text_append(list, sizeof list, "%s%s", *list ? ", " : "",
			            vc_role_name((enum vc_role)role));
		}
	}
	if (*list) {
		emit_comment(file, "Planned on the same GPUs, for TRAIN.py to load: %s", list);
	}
}

static void tell_training(const struct emit_job *job, FILE *file)
{
	bool megatron = job->request->engine.name == VC_ENGINE_MEGATRON;

	emit_comment(file, "%s",
	             megatron ? "TRAIN.py: Megatron-LM's pretrain_gpt.py or its kin; the model's "
	                        "own options (--num-layers and so on) go beside these"
	                      : "TRAIN.py: a script that takes the options of transformers' "
	                        "TrainingArguments and TRL's ModelConfig");
	tell_roles(job, file);
}

void emit_heading(const struct emit_job *job, FILE *file)
{
	bool training = job->request->workload.task == VC_TASK_TRAINING;
	const struct vc_candidate *best = job->best;
	char need[64], have[64], layout[128], where[320];

	format_quantity(need, sizeof need, best->need_bytes, UNIT_GB, ROUND_UP);
	format_quantity(have, sizeof have, best->have_bytes, UNIT_GB, ROUND_DOWN);
	plan_layout_text(layout, sizeof layout, &best->layout);
	if (job->slice) {
		(void)snprintf(where, sizeof where, "a MIG slice %s of %s",
		               job->slice->profile->name, best->gpu->name);
	} else {
		(void)snprintf(where, sizeof where, "%u x %s%s%s", best->gpus, best->gpu->name,
		               *layout ? ", " : "", layout);
	}
	emit_comment(file, "%s on %s: %s of %s%s, by the %s method", job->request->model->name,
	             where, need, have, job->slice ? "" : " on each",
	             job->plan->request.method == VC_METHOD_RULE ? "rule" : "detailed");
	warn_of_detailed(job, file);
	if (strcmp(job->model, "MODEL") == 0 &&
	    !(training && job->request->engine.name == VC_ENGINE_MEGATRON)) {
		emit_comment(file, "MODEL: %s",
		             *job->model_is ? job->model_is
		                            : "the path or the hub's id of the model");
	}
	for (size_t i = 0; i < job->note_count; i++) {
		emit_comment(file, "%s", job->notes[i]);
	}
	if (training) {
		tell_training(job, file);
	}
}

void emit_host_note(const struct emit_job *job, FILE *file)
{
	if (job->plan->spec->hardware.host_memory_bytes == 0) {
		emit_comment(file, "memory: twice the GPUs', as hardware.host_memory says nothing");
	}
}

static bool suits(size_t target, enum vc_task task)
{
	return task == VC_TASK_TRAINING ? targets[target].training : targets[target].inference;
}

static enum exit_status refuse_task(size_t target, enum vc_task task)
{
	fprintf(stderr, "vramcalc plan: --emit %s: is not for %s (expected one of",
	        targets[target].name, task == VC_TASK_TRAINING ? "training" : "inference");
	for (size_t i = 0, shown = 0; i < TARGETS; i++) {
		if (suits(i, task)) {
			fprintf(stderr, "%s %s", shown++ ? "," : "", targets[i].name);
		}
	}
	fputs(")\n", stderr);
	return EXIT_WRONG_INPUT;
}

static bool write_target(struct emit_job *job, size_t target, FILE *file)
{
	struct words words = { .count = 0 };

	if (targets[target].file) {
		return targets[target].file(job, file);
	}
	if (!targets[target].words(job, &words)) {
		return false;
	}
	emit_heading(job, file);
	if (job->nodes > 1 && job->request->workload.task == VC_TASK_TRAINING) {
		emit_comment(file, "HEAD_NODE: the first node's name or address; on every node");
	}
	words_print_shell(&words, file, "");
	return true;
}

enum exit_status emit_plan(FILE *file, const struct plan *plan, size_t target)
{
	enum vc_task task = plan->request.workload.task;
	struct pick pick = { .slice = { .profile = NULL } };
	enum exit_status status;
	struct vc_request request;
	struct emit_job job;

	if (!suits(target, task)) {
		return refuse_task(target, task);
	}
	if (plan->arguments->mig && !targets[target].slices) {
		fprintf(stderr,
		        "vramcalc plan: --emit %s: cannot ask for a slice (--mig goes with --emit "
		        "slurm and kubernetes)\n",
		        targets[target].name);
		return EXIT_WRONG_INPUT;
	}
	status = choose(plan, &pick);
	if (status == EXIT_DOES_NOT_FIT) {
		fprintf(stderr,
		        "vramcalc plan: --emit %s: %s holds this job, so there is nothing to run "
		        "it on\n",
		        targets[target].name, plan->arguments->mig ? "no MIG slice" : "nothing");
	}
	if (status != EXIT_FITS) {
		return status;
	}
	job = job_of(plan, &pick, &request);
	if (!write_target(&job, target, file)) {
		fprintf(stderr, "vramcalc plan: --emit %s: %s\n", targets[target].name,
		        job.refusal ? job.refusal : "what is to be written is too long");
		return EXIT_WRONG_INPUT;
	}
	return EXIT_FITS;
}
