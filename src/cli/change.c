#include "change.h"

#include "names.h"
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- The fields that size something, as texts ---------------------------------------------------
 */

static void count_text(char to[CHANGE_TEXT], uint64_t value)
{
	snprintf(to, CHANGE_TEXT, "%" PRIu64, value);
}

static void name_text(char to[CHANGE_TEXT], const char *name)
{
	snprintf(to, CHANGE_TEXT, "%s", name);
}

/* What a spec that states only parameters, or only a shape, does not say. */
static void known_text(char to[CHANGE_TEXT], uint64_t value)
{
	if (value) {
		count_text(to, value);
	} else {
		name_text(to, "not given");
	}
}

#define COUNT_GETTER(name, member)                                                                 \
	static void name(const struct vc_request *request, char to[CHANGE_TEXT])                   \
	{                                                                                          \
		count_text(to, request->member);                                                   \
	}
#define KNOWN_GETTER(name, member)                                                                 \
	static void name(const struct vc_request *request, char to[CHANGE_TEXT])                   \
	{                                                                                          \
		known_text(to, request->member);                                                   \
	}
#define NAME_GETTER(name, text)                                                                    \
	static void name(const struct vc_request *request, char to[CHANGE_TEXT])                   \
	{                                                                                          \
		name_text(to, text);                                                               \
	}

KNOWN_GETTER(get_params, model->params)
COUNT_GETTER(get_batch, workload.batch_size)
COUNT_GETTER(get_length, workload.sequence_length)
COUNT_GETTER(get_concurrency, workload.concurrency)
COUNT_GETTER(get_rank, training.lora.rank)
COUNT_GETTER(get_data, parallelism.data)
COUNT_GETTER(get_tensor, parallelism.tensor)
COUNT_GETTER(get_pipeline, parallelism.pipeline)
COUNT_GETTER(get_context, parallelism.context)
COUNT_GETTER(get_zero, parallelism.zero_stage)
COUNT_GETTER(get_utilization, engine.gpu_memory_utilization_ppm)
KNOWN_GETTER(get_layers, model->stacks[0].layers)
KNOWN_GETTER(get_hidden, model->stacks[0].hidden_size)
KNOWN_GETTER(get_vocab, model->vocab_size)
NAME_GETTER(get_task, name_of_task(request->workload.task))
NAME_GETTER(get_precision, vc_dtype_info(request->workload.precision)->name)
NAME_GETTER(get_kv_precision, vc_dtype_info(request->workload.kv_cache_precision)->name)
NAME_GETTER(get_method, name_of_training_method(request->training.method))
NAME_GETTER(get_optimizer, vc_optimizer_info(request->training.optimizer)->name)
NAME_GETTER(get_checkpointing, name_of_checkpointing(request->training.gradient_checkpointing))
NAME_GETTER(get_engine, vc_engine_name(request->engine.name))
NAME_GETTER(get_family, *request->model->family ? request->model->family : "not given")
NAME_GETTER(get_quantization,
            request->workload.quantization ? request->workload.quantization->name : "none")

static const struct {
	const char *name;
	void (*get)(const struct vc_request *request, char to[CHANGE_TEXT]);
} fields[] = {
	{ "model.params", get_params },
	{ "model.architecture.model_type", get_family },
	{ "model.architecture.num_hidden_layers", get_layers },
	{ "model.architecture.hidden_size", get_hidden },
	{ "model.architecture.vocab_size", get_vocab },
	{ "workload.task", get_task },
	{ "workload.precision", get_precision },
	{ "workload.quantization", get_quantization },
	{ "workload.batch_size", get_batch },
	{ "workload.sequence_length", get_length },
	{ "workload.concurrency", get_concurrency },
	{ "workload.kv_cache_precision", get_kv_precision },
	{ "training.method", get_method },
	{ "training.optimizer", get_optimizer },
	{ "training.gradient_checkpointing", get_checkpointing },
	{ "training.lora.rank", get_rank },
	{ "parallelism.data", get_data },
	{ "parallelism.tensor", get_tensor },
	{ "parallelism.pipeline", get_pipeline },
	{ "parallelism.context", get_context },
	{ "parallelism.zero_stage", get_zero },
	{ "engine.name", get_engine },
	{ "engine.gpu_memory_utilization", get_utilization },
};

static void find_fields(const struct vc_request *old, const struct vc_request *new,
                        struct change *change)
{
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
		struct change_field *field = &change->fields[change->field_count];

		field->name = fields[i].name;
		fields[i].get(old, field->old_value);
		fields[i].get(new, field->new_value);
		if (strcmp(field->old_value, field->new_value) != 0) {
			change->field_count++;
		}
	}
}

enum vc_status change_find(const struct vc_request *old, const struct vc_request *new,
                           struct change *change, struct vc_error *error)
{
	struct vc_request requests[] = { *old, *new };
	struct vc_ledger ledgers[2];

	memset(change, 0, sizeof *change);
	for (int i = 0; i < 2; i++) {
		enum vc_status status = vc_request_resolve(&requests[i], error);

		if (status == VC_OK) {
			status = vc_estimate(&requests[i], &ledgers[i], error);
		}
		if (status != VC_OK) {
			return status;
		}
	}
	change->old_bytes = ledgers[0].total_bytes;
	change->new_bytes = ledgers[1].total_bytes;
	for (int c = 0; c < VC_COMPONENT_COUNT; c++) {
		enum vc_component component = (enum vc_component)c;
		struct change_component both = { component,
			                         vc_ledger_component(&ledgers[0], component),
			                         vc_ledger_component(&ledgers[1], component) };

		if (both.old_bytes || both.new_bytes) {
			change->components[change->component_count++] = both;
		}
	}
	find_fields(&requests[0], &requests[1], change);
	return VC_OK;
}

/* ---- The earlier version
 * ------------------------------------------------------------------------- */

enum {
	MOST_BYTES = 4 << 20 /* as of any spec */
};

/* Standard output of `git show REV:./PATH`, run where the file lies; NULL when git fails. */
static char *git_show(char *folder, char *object, size_t *length)
{
	char git[] = "git", in[] = "-C", show[] = "show";
	char *argv[] = { git, in, folder, show, object, NULL };
	posix_spawn_file_actions_t actions;
	extern char **environ;
	char *text = malloc(MOST_BYTES + 1);
	int ends[2], status = -1;
	ssize_t got;
	pid_t child;

	if (!text || pipe(ends) != 0) {
		free(text);
		return NULL;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addclose(&actions, ends[0]);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	status = posix_spawnp(&child, "git", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	*length = 0;
	while (status == 0 && *length < MOST_BYTES &&
	       (got = read(ends[0], text + *length, MOST_BYTES - *length)) != 0) {
		if (got < 0 && errno != EINTR) {
			break;
		}
		*length += got > 0 ? (size_t)got : 0;
	}
	close(ends[0]);
	if (status == 0 && (waitpid(child, &status, 0) < 0 || status != 0)) {
		status = -1;
	}
	if (status != 0) {
		free(text);
		return NULL;
	}
	return text;
}

static bool read_revision(const struct session *session, const char *revision, const char *source,
                          struct vc_spec *spec)
{
	const char *slash = strrchr(source, '/');
	char folder[4096] = ".", object[4096], name[4200];
	struct vc_spec_options options = { .overrides = session->arguments->settings.items,
		                           .override_count = session->arguments->settings.count };
	struct vc_error_list errors = { 0 };
	size_t length = 0;
	char *text;
	bool read;

	if (slash) {
		snprintf(folder, sizeof folder, "%.*s", (int)(slash - source), source);
	}
	snprintf(object, sizeof object, "%s:./%s", revision, slash ? slash + 1 : source);
	snprintf(name, sizeof name, "%s at %s", source, revision);
	text = git_show(folder, object, &length);
	if (!text) {
		fprintf(stderr,
		        "%s: git does not have it (a revision that holds the file is "
		        "expected)\n",
		        name);
		return false;
	}
	read = vc_spec_read_memory(
	               &(struct vc_spec_text){ name, text, length, slash ? folder : NULL },
	               &options, spec, &errors) == VC_OK;
	report_errors(&errors);
	free(text);
	return read;
}

bool change_read_base(const struct session *session, const char *base, const char *source,
                      struct vc_spec *spec)
{
	const char *slash = strrchr(source, '/');
	char path[4096];
	struct stat facts;

	if (strncmp(base, "git:", 4) == 0) {
		return read_revision(session, base + 4, source, spec);
	}
	if (stat(base, &facts) == 0 && S_ISDIR(facts.st_mode)) {
		snprintf(path, sizeof path, "%s/%s", base, slash ? slash + 1 : source);
		return session_read(session, path, spec);
	}
	return session_read(session, base, spec);
}
