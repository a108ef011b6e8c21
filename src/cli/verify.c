#include "verify.h"

#include "commands.h"
#include "diagnose_theory.h"
#include "log_file.h"
#include "print_text.h"
#include "spec_fields.h"

#include <stdlib.h>
#include <string.h>

/* A spec as it is; with what it leaves open taken from the log; with all that the log says. */
struct readings {
	struct vc_spec given, completed, as_run;
	unsigned count;
};

/* ---- What the log states ------------------------------------------------------------------- */

static void free_readings(struct readings *readings)
{
	struct vc_spec *const specs[] = { &readings->given, &readings->completed,
		                          &readings->as_run };

	while (readings->count > 0) {
		vc_spec_free(specs[--readings->count]);
	}
}

static bool read_with(const struct session *session, const struct text_list *settings,
                      const char *source, struct readings *readings)
{
	struct vc_spec *const specs[] = { &readings->given, &readings->completed,
		                          &readings->as_run };
	struct arguments arguments = *session->arguments;
	struct session changed = *session;

	arguments.settings = *settings;
	changed.arguments = &arguments;
	if (!session_read(&changed, source, specs[readings->count])) {
		return false;
	}
	readings->count++;
	return true;
}

/* A model that says how it is quantized is believed: the log names the method alone. */
static bool is_settled(const struct vc_spec *spec, const char *field)
{
	return strcmp(field, "hardware.gpus") == 0 ||
	       (strcmp(field, "workload.quantization") == 0 &&
	        (spec->model->quantization || spec->model->file.total_bytes > 0));
}

static uint64_t stored(const struct vc_spec *spec, const struct vc_field_row *row)
{
	const char *at = (const char *)spec + row->offset;
	uint64_t wide = 0;
	uint32_t narrow = 0;
	bool flag = false;

	switch (row->store) {
	case VC_STORE_U64:
		memcpy(&wide, at, sizeof wide);
		return wide;
	case VC_STORE_BOOL:
		memcpy(&flag, at, sizeof flag);
		return flag;
	default: /* an enumeration is as wide as an int */
		memcpy(&narrow, at, sizeof narrow);
		return narrow;
	}
}

static const char *quantization_of(const struct vc_spec *spec)
{
	const struct vc_quantization *one = spec->request.workload.quantization;

	return one ? one->name : "none";
}

/* A field's value as a spec would say it. */
static void show(char to[STARTUP_VALUE], const struct vc_spec *spec, const char *field)
{
	const struct vc_version *version = &spec->request.engine.version;
	size_t index;
	const struct vc_field_row *row = vc_field_row_by_path(field, &index);

	to[0] = '\0';
	if (row->field.kind == VC_FIELD_VERSION) {
		text_append(to, STARTUP_VALUE, "%u.%u.%u", (unsigned)version->major,
		            (unsigned)version->minor, (unsigned)version->patch);
	} else if (row->store == VC_STORE_NONE) {
		text_append(to, STARTUP_VALUE, "%s", quantization_of(spec));
	} else {
		verify_value(to, STARTUP_VALUE, row, stored(spec, row));
	}
}

/* The command line's settings, and some of the log's behind them. */
struct settings {
	struct text_list list;
	size_t own;
	char texts[STARTUP_SETTINGS][STARTUP_VALUE + 80];
};

static struct settings *settings_open(const struct text_list *own)
{
	struct settings *settings = calloc(1, sizeof *settings);

	if (!settings) {
		return NULL;
	}
	settings->list.items = calloc(own->count + STARTUP_SETTINGS, sizeof *own->items);
	settings->own = settings->list.count = own->count;
	for (size_t i = 0; settings->list.items && i < own->count; i++) {
		settings->list.items[i] = own->items[i];
	}
	return settings;
}

static void settings_close(struct settings *settings)
{
	if (settings) {
		free(settings->list.items);
		free(settings);
	}
}

static void settings_add(struct settings *settings, const struct startup_setting *setting)
{
	char *text = settings->texts[settings->list.count - settings->own];

	(void)snprintf(text, sizeof settings->texts[0], "the log:%s=%s", setting->field,
	               setting->value);
	settings->list.items[settings->list.count++] = text;
}

/* Settings that the spec leaves open are taken from the log; others may contradict it. */
static void sort_settings(struct verification *v, const struct vc_spec *given,
                          struct settings *open, struct settings *all)
{
	const struct startup *startup = &v->log->startup;

	for (uint32_t i = 0; i < startup->setting_count; i++) {
		const struct startup_setting *setting = &startup->settings[i];

		if (!is_settled(given, setting->field)) {
			settings_add(all, setting);
			if (!vc_spec_gives(given, setting->field)) {
				settings_add(open, setting);
			}
			v->settings[v->setting_count++].log = setting;
		}
	}
}

/* With its defaults, where it holds together. */
static struct vc_spec resolved(const struct vc_spec *spec)
{
	struct vc_spec copy = *spec;
	struct vc_error error;

	return vc_request_resolve(&copy.request, &error) == VC_OK ? copy : *spec;
}

static void find_contradictions(struct verification *v, const struct readings *readings)
{
	const struct vc_spec given = resolved(&readings->given), run = resolved(&readings->as_run);

	for (size_t i = 0; i < v->setting_count; i++) {
		struct verify_setting *setting = &v->settings[i];
		const char *field = setting->log->field;
		char value[STARTUP_VALUE];

		show(setting->spec, &given, field);
		show(value, &run, field);
		setting->given = vc_spec_gives(&given, field);
		setting->differs = strcmp(setting->spec, value) != 0;
	}
}

static bool complete(struct session *session, const char *source, struct verification *v,
                     struct readings *readings)
{
	struct text_list own = session->arguments->settings;
	struct settings *open = settings_open(&own), *all = settings_open(&own);
	bool good = open && all && open->list.items && all->list.items;

	if (!good) {
		report_no_memory();
	}
	good = good && read_with(session, &own, source, readings);
	if (good) {
		sort_settings(v, &readings->given, open, all);
		good = read_with(session, &open->list, source, readings) &&
		       read_with(session, &all->list, source, readings);
	}
	if (good) {
		find_contradictions(v, readings);
	}
	settings_close(open);
	settings_close(all);
	return good;
}

/* ---- One run ------------------------------------------------------------------------------- */

static bool refuse(const char *source, const char *what, const char *expected)
{
	char shown[512];

	text_copy(shown, sizeof shown, source, true);
	fprintf(stderr, "vramcalc verify: %s: %s (%s)\n", shown, what, expected);
	return false;
}

static bool refuse_figureless(const char *file)
{
	return refuse(file, "no memory figure was found",
	              "a start-up log, torch.cuda.memory_summary() or nvidia-smi's CSV is "
	              "expected");
}

/* What llama.cpp calls its devices, and what engines say of the GPU, in the places of all logs. */
static void tell_gpu(struct log *log)
{
	const struct startup_rank *rank = startup_fullest(&log->startup);
	const char *name = startup_value(&log->startup, "hardware.gpus");

	if (!*log->gpu_name && name) {
		snprintf(log->gpu_name, sizeof log->gpu_name, "%s", name);
	}
	if (rank && startup_knows(rank, STARTUP_TOTAL)) {
		log->evidence.known |= VC_KNOWS_TOTAL;
		log->evidence.total_bytes = rank->bytes[STARTUP_TOTAL];
	}
}

static bool choose_gpu(struct session *session, const struct vc_spec *spec, struct log *log,
                       struct verification *v)
{
	struct theory *theory = calloc(1, sizeof *theory);
	bool good = theory != NULL;

	if (!good) {
		report_no_memory();
		return false;
	}
	tell_gpu(log);
	theory->spec = spec;
	good = session_catalog(session, spec->budget.currency) && theory_gpu(theory, session, log);
	if (good && !theory->gpu_known) {
		good = refuse(v->source, "neither the log nor the spec tells which GPU ran it",
		              "--gpu NAME is expected");
	}
	v->gpu = theory->gpu;
	v->gpu_guessed = theory->gpu_guessed;
	free(theory);
	return good;
}

static bool is_of_engine(const struct verification *v, const struct vc_spec *spec)
{
	enum vc_engine engine = v->log->startup.engine;
	char what[160] = "";

	if (engine == VC_ENGINE_NONE || spec->request.engine.name == engine) {
		return true;
	}
	text_append(what, sizeof what, "the log is %s's, the spec's engine is %s",
	            vc_engine_name(engine), vc_engine_name(spec->request.engine.name));
	return refuse(v->source, what, "a log of that engine is expected");
}

static bool estimate(struct verification *v, const struct vc_spec *spec)
{
	struct vc_error error = { 0 };

	v->request = spec->request;
	v->request.method = VC_METHOD_DETAILED;
	v->request.gpu = &v->gpu;
	if (vc_request_resolve(&v->request, &error) != VC_OK ||
	    vc_estimate(&v->request, &v->ledger, &error) != VC_OK) {
		return session_refuse(spec, &error);
	}
	return true;
}

/* Logs of one run are of one engine. */
static bool same_engine(const char *file, enum vc_engine before, enum vc_engine now)
{
	char what[160] = "";

	if (before == VC_ENGINE_NONE || now == before) {
		return true;
	}
	text_append(what, sizeof what, "is a log of %s, those before it are of %s",
	            vc_engine_name(now), vc_engine_name(before));
	return refuse(file, what, "logs of one run are expected");
}

static bool read_logs(const struct arguments *arguments, struct log *log)
{
	log_open(log);
	for (size_t i = 1; i < arguments->operands.count; i++) {
		const char *file = arguments->operands.items[i];
		enum vc_engine before = log->startup.engine;

		if (!log_file_read(file, log)) {
			return false;
		}
		log_feed(log, "\n", 1);
		if (!same_engine(file, before, log->startup.engine)) {
			return false;
		}
	}
	log_finish(log);
	return true;
}

/* Before anything else is asked for: without a figure nothing would come of it. */
static bool tells_memory(const struct log *log, const char *file)
{
	const uint32_t figures =
	        VC_KNOWS_PEAK | VC_KNOWS_ALLOCATED | VC_KNOWS_RESERVED | VC_KNOWS_USED;

	return (log->evidence.known & figures) || startup_fullest(&log->startup) ||
	       log->startup.kv_tokens > 0 || refuse_figureless(file);
}

static bool verify(struct session *session, struct log *log, struct verification *v)
{
	struct readings readings = { .count = 0 };
	const char *file;
	bool good;

	v->source = session->arguments->operands.items[0];
	v->log = log;
	if (strcmp(v->source, "-") == 0) {
		return refuse("-", "the spec is read more than once", "a file is expected");
	}
	file = session->arguments->operands.items[1];
	good = read_logs(session->arguments, log) && tells_memory(log, file) &&
	       complete(session, v->source, v, &readings) && is_of_engine(v, &readings.completed);
	if (good) {
		v->rank = startup_fullest(&log->startup);
		good = choose_gpu(session, &readings.completed, log, v) &&
		       estimate(v, &readings.completed);
	}
	if (good) {
		verify_compare(v);
		verify_explain(v, &readings.as_run);
		good = v->row_count > 0 || refuse_figureless(file);
	}
	free_readings(&readings);
	return good;
}

int verify_command(struct arguments *arguments)
{
	struct session session = { .arguments = arguments };
	struct log *log = malloc(sizeof *log);
	struct verification *v = calloc(1, sizeof *v);
	enum exit_status status = EXIT_WRONG_INPUT;

	if (!log || !v) {
		report_no_memory();
	} else if (verify(&session, log, v)) {
		struct output out;
		struct json_writer json = { 0 };

		output_open(&out, arguments);
		json.out = out.file;
		if (out.format == FORMAT_JSON) {
			verify_json(&json, v);
		} else {
			verify_print(&out, v);
		}
		status = v->within ? EXIT_FITS : EXIT_DOES_NOT_FIT;
		if (arguments->calibrate && !verify_calibrate(v, arguments->calibrate)) {
			status = EXIT_WRONG_INPUT;
		}
	}
	session_close(&session);
	free(v);
	free(log);
	return (int)status;
}
