/* `diagnose`: why memory ran out, from whatever the user has at hand. */
#include "commands.h"
#include "diagnose_print.h"
#include "report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool complain(const char *file, const char *why)
{
	fprintf(stderr, "%s: %s (expected a log or an error message)\n", file, why);
	return false;
}

static bool read_log(const char *file, struct log *log)
{
	bool standard = strcmp(file, "-") == 0;
	FILE *in = standard ? stdin : fopen(file, "rb");
	struct stat facts;
	bool read;

	if (!in) {
		return complain(file, strerror(errno));
	}
	if (fstat(fileno(in), &facts) == 0 && S_ISDIR(facts.st_mode)) {
		fclose(in);
		return complain(file, "is a directory");
	}
	read = log_read(log, in);
	if (!standard) {
		fclose(in);
	}
	return read || complain(file, "cannot be read to its end");
}

/* Everything about one file. */
static bool diagnose(struct session *session, const struct vc_spec *spec, struct finding *finding,
                     struct log *log, struct theory *theory)
{
	log_open(log);
	if (!read_log(finding->file, log)) {
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
