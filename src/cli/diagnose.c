/* `diagnose`: why memory ran out, from whatever the user has at hand. */
#include "commands.h"
#include "json_writer.h"
#include "log.h"
#include "output.h"
#include "print_text.h"
#include "report.h"
#include "session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct finding {
	const char *file;
	const struct log *log;
	struct vc_diagnosis diagnosis;
};

/* ---- For programs ---- */

static void json_known(struct json_writer *json, const struct vc_evidence *evidence,
                       uint32_t member, const char *key, uint64_t bytes)
{
	if (evidence->known & member) {
		json_u64(json, key, bytes);
	} else {
		json_null(json, key);
	}
}

static void json_evidence(struct json_writer *json, const struct vc_evidence *evidence)
{
	const struct vc_trend *trend = evidence->allocated.kind != VC_TREND_UNKNOWN
	                                       ? &evidence->allocated
	                                       : &evidence->used;

	json_open(json, "evidence", '{');
	json_known(json, evidence, VC_KNOWS_TOTAL, "total_bytes", evidence->total_bytes);
	json_known(json, evidence, VC_KNOWS_REQUESTED, "requested_bytes",
	           evidence->requested_bytes);
	json_known(json, evidence, VC_KNOWS_ALLOCATED, "allocated_bytes",
	           evidence->allocated_bytes);
	json_known(json, evidence, VC_KNOWS_RESERVED, "reserved_bytes", evidence->reserved_bytes);
	json_known(json, evidence, VC_KNOWS_FREE, "free_bytes", evidence->free_bytes);
	json_known(json, evidence, VC_KNOWS_OTHERS, "other_processes_bytes",
	           evidence->other_processes_bytes);
	if (trend->kind == VC_TREND_UNKNOWN) {
		json_null(json, "slope_bytes_per_sample");
	} else {
		json_i64(json, "slope_bytes_per_sample", trend->slope_bytes_per_sample);
	}
	if (evidence->theory_bytes) {
		json_u64(json, "theory_bytes", evidence->theory_bytes);
	}
	json_close(json, '}');
}

static void print_json(struct json_writer *json, const struct finding *finding)
{
	json_open(json, NULL, '{');
	json_text(json, "schema", "vramcalc/diagnose/v1");
	json_text(json, "file", finding->file);
	json_text(json, "cause", vc_cause_name(finding->diagnosis.cause));
	json_text(json, "confidence", vc_confidence_name(finding->diagnosis.confidence));
	json_text(json, "recognized", finding->log->kind);
	json_evidence(json, &finding->log->evidence);
	json_open(json, "advice", '[');
	for (uint32_t i = 0; i < finding->diagnosis.advice_count; i++) {
		json_text(json, NULL, finding->diagnosis.advice[i]);
	}
	json_close(json, ']');
	json_close(json, '}');
}

/* ---- For people ---- */

static void append_known(char *to, size_t size, const struct output *out, const char *what,
                         uint64_t bytes)
{
	char quantity[64];

	format_quantity(quantity, sizeof quantity, bytes, out->unit, ROUND_NEAREST);
	text_append(to, size, "%s%s %s", *to ? ", " : "", quantity, what);
}

static void print_evidence(struct output *out, const struct vc_evidence *evidence)
{
	const struct {
		uint32_t member;
		uint64_t bytes;
		const char *what;
	} rows[] = {
		{ VC_KNOWS_REQUESTED, evidence->requested_bytes, "asked for" },
		{ VC_KNOWS_FREE, evidence->free_bytes, "free" },
		{ VC_KNOWS_TOTAL, evidence->total_bytes, "on the GPU" },
		{ VC_KNOWS_ALLOCATED, evidence->allocated_bytes, "in live tensors" },
		{ VC_KNOWS_RESERVED, evidence->reserved_bytes, "held by the allocator" },
		{ VC_KNOWS_OTHERS, evidence->other_processes_bytes, "in other processes" },
	};
	char line[512] = "";

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (evidence->known & rows[i].member) {
			append_known(line, sizeof line, out, rows[i].what, rows[i].bytes);
		}
	}
	if (evidence->theory_bytes) {
		append_known(line, sizeof line, out, "by the estimate", evidence->theory_bytes);
	}
	if (*line) {
		text_append(line, sizeof line, ".");
		fputs("  ", out->file);
		output_paragraph(out, TONE_PLAIN, line, 2);
	}
}

static void print_trend(struct output *out, const char *what, const struct vc_trend *trend)
{
	static const char *const kinds[] = {
		[VC_TREND_FLAT] = "is flat",
		[VC_TREND_PLATEAU] = "rose and then stayed",
		[VC_TREND_RISING] = "keeps rising",
	};
	char line[256] = "", slope[64];

	if (trend->kind == VC_TREND_UNKNOWN) {
		return;
	}
	text_append(line, sizeof line, "%s %s", what, kinds[trend->kind]);
	if (trend->kind == VC_TREND_RISING) {
		format_quantity(slope, sizeof slope, (uint64_t)trend->slope_bytes_per_sample,
		                out->unit, ROUND_NEAREST);
		text_append(line, sizeof line, ", by %s a sample", slope);
	}
	text_append(line, sizeof line, ".");
	fputs("  ", out->file);
	output_paragraph(out, TONE_PLAIN, line, 2);
}

static void print_text(struct output *out, const struct finding *finding)
{
	const struct vc_diagnosis *diagnosis = &finding->diagnosis;
	char line[512] = "", shown[256];

	text_copy(shown, sizeof shown, finding->file, out->utf8);
	text_append(line, sizeof line, "%s: %s (%s confidence)", shown,
	            vc_cause_name(diagnosis->cause), vc_confidence_name(diagnosis->confidence));
	output_heading(out, line);
	print_evidence(out, &finding->log->evidence);
	print_trend(out, "Memory of live tensors", &finding->log->evidence.allocated);
	print_trend(out, "Memory in use", &finding->log->evidence.used);
	for (uint32_t i = 0; i < diagnosis->advice_count; i++) {
		fputs("- ", out->file);
		output_paragraph(out, TONE_PLAIN, diagnosis->advice[i], 2);
	}
}

/* ---- Reading ---- */

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

/* What the estimate says of the job on the GPU that failed. */
static bool read_theory(struct session *session, uint64_t *theory_bytes)
{
	struct vc_request request;
	struct vc_ledger ledger;
	struct vc_error error = { 0 };
	struct vc_spec spec;
	bool estimated;

	*theory_bytes = 0;
	if (!session->arguments->spec) {
		return true;
	}
	if (!session_read(session, session->arguments->spec, &spec)) {
		return false;
	}
	request = spec.request;
	request.method = VC_METHOD_RULE;
	estimated =
	        vc_estimate(&request, &ledger, &error) == VC_OK || session_refuse(&spec, &error);
	*theory_bytes = estimated ? ledger.total_bytes : 0;
	vc_spec_free(&spec);
	return estimated;
}

int diagnose_command(struct arguments *arguments)
{
	struct session session = { .arguments = arguments };
	struct log *log = malloc(sizeof *log);
	enum exit_status status = EXIT_FITS;
	struct json_writer json = { 0 };
	uint64_t theory_bytes = 0;
	struct output out;
	bool array = arguments->json && arguments->operands.count > 1;

	output_open(&out, arguments);
	json.out = out.file;
	if (!log) {
		report_no_memory();
		return EXIT_WRONG_INPUT;
	}
	if (!read_theory(&session, &theory_bytes)) {
		free(log);
		return EXIT_WRONG_INPUT;
	}
	if (array) {
		json_open(&json, NULL, '[');
	}
	for (size_t i = 0; i < arguments->operands.count; i++) {
		struct finding finding = { .file = arguments->operands.items[i], .log = log };

		memset(log, 0, sizeof *log);
		if (!read_log(finding.file, log)) {
			status = EXIT_WRONG_INPUT;
			continue;
		}
		log_finish(log);
		log->evidence.theory_bytes = theory_bytes;
		finding.diagnosis = vc_diagnose(&log->evidence);
		if (out.format == FORMAT_JSON) {
			print_json(&json, &finding);
		} else {
			print_text(&out, &finding);
		}
	}
	if (array) {
		json_close(&json, ']');
	}
	free(log);
	return (int)status;
}
