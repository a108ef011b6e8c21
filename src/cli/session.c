#include "session.h"

#include "calibration_file.h"
#include "print_text.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>

/* ---- --calibration ------------------------------------------------------------------------- */

struct own_runs {
	struct vc_measurements *measurements;
	struct vc_residual *residuals;
	struct vc_calibration calibration;
};

static void close_own_runs(struct own_runs *runs)
{
	if (runs) {
		free(runs->residuals);
		vc_measurements_free(runs->measurements);
		free(runs);
	}
}

/* A plan has a note of it; the others would leave it unsaid. */
static void state_own_runs(const struct session *session)
{
	const struct arguments *arguments = session->arguments;
	const struct vc_measurements *own = session->own_runs->measurements;
	bool seen[VC_ENGINE_COUNT] = { false };
	char engines[256] = "";

	if (arguments->command->bit == ON_PLAN || arguments->quiet) {
		return;
	}
	for (uint32_t i = 0; i < own->measurements_count; i++) {
		enum vc_engine engine = vc_measurement_figure(&own->measurements[i]).engine;

		if (!seen[engine]) {
			seen[engine] = true;
			text_append(engines, sizeof engines, "%s%s", *engines ? ", " : "",
			            vc_engine_name(engine));
		}
	}
	fprintf(stderr,
	        "vramcalc %s: %s: the detailed method of %s is shifted by %u own measurement%s\n",
	        arguments->command->name, arguments->calibration, engines,
	        (unsigned)own->measurements_count, own->measurements_count == 1 ? "" : "s");
}

static bool open_own_runs(struct session *session)
{
	struct own_runs *runs = calloc(1, sizeof *runs);
	struct vc_error_list errors = { 0 };

	session->own_runs = runs;
	if (!runs) {
		report_no_memory();
		return false;
	}
	runs->measurements = vc_measurements_read(session->arguments->calibration, &errors);
	if (!runs->measurements) {
		report_errors(&errors);
		return false;
	}
	runs->residuals = vc_residuals(runs->measurements, &runs->calibration.count);
	runs->calibration.residuals = runs->residuals;
	if (!runs->residuals) {
		report_no_memory();
		return false;
	}
	state_own_runs(session);
	return true;
}

/* ---- The catalog --------------------------------------------------------------------------- */

struct open_catalog {
	struct open_catalog *next;
	char currency[4];
	struct vc_catalog catalog; /* as it was opened: what is to be closed */
	struct vc_catalog with_local;
	struct local_catalog *local;
};

static void use(struct session *session, const struct open_catalog *opened)
{
	session->catalog = opened->with_local;
	session->local = opened->local;
}

static bool open_catalog(struct session *session, const char *currency)
{
	const struct arguments *arguments = session->arguments;
	struct vc_catalog_options options = { .files = arguments->catalogs.items,
		                              .file_count = arguments->catalogs.count,
		                              .currency = currency };
	struct open_catalog *opened = calloc(1, sizeof *opened);
	struct vc_error_list errors = { 0 };

	if (!opened) {
		report_no_memory();
		return false;
	}
	if (vc_catalog_open(&opened->catalog, &options, &errors) != VC_OK) {
		report_errors(&errors);
		free(opened);
		return false;
	}
	opened->next = session->opened;
	session->opened = opened;
	snprintf(opened->currency, sizeof opened->currency, "%s", currency);
	opened->with_local = opened->catalog;
	if (local_catalog_asked(arguments)) {
		opened->local = local_catalog_add(&opened->with_local, arguments->command->name);
		if (!opened->local) {
			return false;
		}
	}
	use(session, opened);
	return true;
}

bool session_catalog(struct session *session, const char *currency)
{
	if (session->arguments->calibration && !session->own_runs && !open_own_runs(session)) {
		return false;
	}
	for (const struct open_catalog *o = session->opened; o; o = o->next) {
		if (strcmp(o->currency, currency) == 0) {
			use(session, o);
			return true;
		}
	}
	return open_catalog(session, currency);
}

/* --gpu, else with --all all, else the spec's, else those that are shown unasked: the documents'
 * five families and what the user's files name. */
bool session_choose(const struct session *session, const struct vc_spec *spec,
                    struct gpu_list *list)
{
	const struct text_list *named = &session->arguments->gpus;
	bool all_known = true;
	char prefix[64];

	snprintf(prefix, sizeof prefix, "vramcalc %s", session->arguments->command->name);

	for (size_t i = 0; i < named->count; i++) {
		all_known = report_gpu(&session->catalog, named->items[i],
		                       &(struct name_place){ prefix, "--gpu" }, list) &&
		            all_known;
	}
	for (size_t i = 0;
	     !named->count && !session->arguments->all && i < spec->hardware.gpu_count; i++) {
		all_known =
		        report_gpu(&session->catalog, spec->hardware.gpus[i],
		                   &(struct name_place){ spec->source, "hardware.gpus" }, list) &&
		        all_known;
	}
	if (list->count || !all_known) {
		return all_known;
	}
	for (size_t i = 0; i < session->catalog.count; i++) {
		if (session->arguments->all || session->catalog.gpus[i].documented) {
			list->gpus[list->count++] = &session->catalog.gpus[i].gpu;
		}
	}
	return true;
}

const struct vc_gpu *session_one_gpu(const struct session *session, const struct vc_spec *spec)
{
	struct gpu_list list = { .gpus = malloc(session->catalog.count * sizeof *list.gpus) };
	const struct vc_gpu *gpu = NULL;
	bool named = session->arguments->gpus.count || spec->hardware.gpu_count;

	if (!list.gpus) {
		report_no_memory();
		return NULL;
	}
	if (!named) {
		fprintf(stderr,
		        "vramcalc %s: no GPU given (expected --gpu NAME or hardware.gpus)\n",
		        session->arguments->command->name);
	} else if (session_choose(session, spec, &list) && list.count != 1) {
		fprintf(stderr, "vramcalc %s: --gpu: %zu GPUs are named (expected one: %s or %s)\n",
		        session->arguments->command->name, list.count, list.gpus[0]->id,
		        list.gpus[1]->id);
	} else if (list.count == 1) {
		gpu = list.gpus[0];
	}
	free(list.gpus);
	return gpu;
}

bool session_read_spec(const struct session *session, const char *source, struct vc_spec *spec,
                       struct vc_error_list *errors)
{
	struct vc_spec_options options = { .overrides = session->arguments->settings.items,
		                           .override_count = session->arguments->settings.count,
		                           .offline = session->arguments->offline };

	return vc_spec_read(source, &options, spec, errors) == VC_OK;
}

bool session_read(const struct session *session, const char *source, struct vc_spec *spec)
{
	struct vc_error_list errors = { 0 };

	if (!session_read_spec(session, source, spec, &errors)) {
		report_errors(&errors);
		return false;
	}
	return true;
}

void session_request(const struct session *session, struct vc_request *request)
{
	const struct arguments *arguments = session->arguments;

	request->method = (enum vc_method)arguments->method.index;
	request->rule.overhead_given = arguments->overhead_bytes != 0;
	request->rule.overhead_bytes = arguments->overhead_bytes;
	request->rule.margin_ppm = (uint32_t)arguments->margin_ppm;
	request->rule.activation_ppm = (uint32_t)arguments->activation_ppm;
	request->calibration = session->own_runs ? &session->own_runs->calibration : NULL;
}

bool session_refuse(const struct vc_spec *spec, struct vc_error *error)
{
	vc_spec_place(spec, error);
	if (!*error->file) {
		snprintf(error->file, sizeof error->file, "%s", spec->source);
	}
	report_error(error);
	return false;
}

void session_close(struct session *session)
{
	while (session->opened) {
		struct open_catalog *opened = session->opened;

		session->opened = opened->next;
		local_catalog_free(opened->local);
		vc_catalog_close(&opened->catalog);
		free(opened);
	}
	close_own_runs(session->own_runs);
	session->own_runs = NULL;
	session->local = NULL;
}

int session_run(const struct arguments *arguments, session_question *question)
{
	struct session session = { .arguments = arguments };
	enum exit_status status = EXIT_WRONG_INPUT;
	struct output out;
	struct vc_spec spec;

	output_open(&out, arguments);
	if (session_read(&session, arguments->operands.items[0], &spec)) {
		status = question(&session, &out, &spec);
		vc_spec_free(&spec);
	}
	session_close(&session);
	return (int)status;
}
