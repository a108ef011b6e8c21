/* `diagnose`: why memory ran out, from whatever the user has at hand. */
#include "commands.h"
#include "diagnose_print.h"
#include "log_file.h"
#include "report.h"

#include <stdlib.h>

/* Everything about one file. */
static bool diagnose(struct session *session, const struct vc_spec *spec, struct finding *finding,
                     struct log *log, struct theory *theory)
{
	log_open(log);
	if (!log_file_read(finding->file, log)) {
		return false;
	}
	log_finish(log);
	if (spec && !theory_estimate(theory, session, spec, log)) {
		return false;
	}
	finding->diagnosis = vc_diagnose(&log->evidence);
	return !spec || theory_search(theory, session, &finding->diagnosis);
}

static enum exit_status diagnose_files(struct session *session, const struct vc_spec *spec,
                                       struct log *log, struct theory *theory)
{
	const struct text_list *files = &session->arguments->operands;
	bool array = session->arguments->json && files->count > 1;
	struct json_writer json = { 0 };
	enum exit_status status = EXIT_FITS;
	struct output out;

	output_open(&out, session->arguments);
	json.out = out.file;
	if (array) {
		json_open(&json, NULL, '[');
	}
	for (size_t i = 0; i < files->count; i++) {
		struct finding finding = { .file = files->items[i],
			                   .log = log,
			                   .theory = spec ? theory : NULL };

		if (!diagnose(session, spec, &finding, log, theory)) {
			status = EXIT_WRONG_INPUT;
		} else if (out.format == FORMAT_JSON) {
			finding_json(&json, &finding);
		} else {
			finding_text(&out, &finding);
		}
	}
	if (array) {
		json_close(&json, ']');
	}
	return status;
}

int diagnose_command(struct arguments *arguments)
{
	struct session session = { .arguments = arguments };
	struct log *log = malloc(sizeof *log);
	struct theory *theory = malloc(sizeof *theory);
	enum exit_status status = EXIT_WRONG_INPUT;
	struct vc_spec spec;

	if (!log || !theory) {
		report_no_memory();
	} else if (!arguments->spec) {
		if (arguments->settings.count) {
			fprintf(stderr, "vramcalc diagnose: options of a job are about a spec "
			                "(expected --spec SPEC)\n");
		} else {
			status = diagnose_files(&session, NULL, log, theory);
		}
	} else if (session_read(&session, arguments->spec, &spec)) {
		status = diagnose_files(&session, &spec, log, theory);
		vc_spec_free(&spec);
	}
	session_close(&session);
	free(theory);
	free(log);
	return (int)status;
}
