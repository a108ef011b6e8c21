#include "diagnose_print.h"

#include "origin.h"
#include "print_text.h"

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
	json_known(json, evidence, VC_KNOWS_LIMIT, "limit_bytes", evidence->limit_bytes);
	json_known(json, evidence, VC_KNOWS_PROCESS, "process_bytes", evidence->process_bytes);
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

/* The GPU, the estimate on it, and the plans that fit. */
static void json_theory(struct json_writer *json, const struct theory *theory)
{
	const struct advise_result *result = &theory->result;

	json_gpu(json, "gpu", theory->gpu_known ? &theory->gpu : NULL, 1);
	json_text(json, "method", theory->method == VC_METHOD_RULE ? "rule" : "detailed");
	if (!theory->searched) {
		return;
	}
	json_bool(json, "fits_as_is", result->advice.fits_as_is);
	json_open(json, "plans", '[');
	for (size_t i = 0; i < result->advice.plan_count; i++) {
		advise_json_plan(json, NULL, &result->plans[i]);
	}
	json_close(json, ']');
	if (theory->gpu_layers) {
		json_u64(json, "gpu_layers", theory->gpu_layers);
	}
}

static void json_recognized(struct json_writer *json, enum vc_software software)
{
	if (software == VC_SOFTWARE_UNKNOWN) {
		json_null(json, "recognized");
	} else {
		json_text(json, "recognized", vc_software_name(software));
	}
}

void finding_json(struct json_writer *json, const struct finding *finding)
{
	json_open(json, NULL, '{');
	json_text(json, "schema", "vramcalc/diagnose/v1");
	json_text(json, "file", finding->file);
	json_text(json, "cause", vc_cause_name(finding->diagnosis.cause));
	json_text(json, "confidence", vc_confidence_name(finding->diagnosis.confidence));
	json_text(json, "reason", finding->diagnosis.reason);
	json_recognized(json, finding->log->evidence.software);
	json_text(json, "memory", vc_memory_name(finding->log->evidence.memory));
	json_evidence(json, &finding->log->evidence);
	json_open(json, "advice", '[');
	for (uint32_t i = 0; i < finding->diagnosis.advice_count; i++) {
		json_text(json, NULL, finding->diagnosis.advice[i]);
	}
	json_close(json, ']');
	if (finding->theory) {
		json_theory(json, finding->theory);
	}
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

/* A paragraph behind two characters. */
static void print_line(struct output *out, const char *mark, const char *text)
{
	fputs(mark, out->file);
	output_paragraph(out, TONE_PLAIN, text, 2);
}

static void print_evidence(struct output *out, const struct vc_evidence *evidence)
{
	bool cache = evidence->refused_at_start;
	const struct {
		uint32_t member;
		uint64_t bytes;
		const char *what;
	} rows[] = {
		{ VC_KNOWS_REQUESTED, evidence->requested_bytes,
		  cache ? "wanted for the cache" : "asked for" },
		{ VC_KNOWS_FREE, evidence->free_bytes, cache ? "left for it" : "free" },
		{ VC_KNOWS_TOTAL, evidence->total_bytes, "on the GPU" },
		{ VC_KNOWS_ALLOCATED, evidence->allocated_bytes, "in live tensors" },
		{ VC_KNOWS_RESERVED, evidence->reserved_bytes, "held by the allocator" },
		{ VC_KNOWS_LIMIT, evidence->limit_bytes, "allowed to the process" },
		{ VC_KNOWS_PROCESS, evidence->process_bytes, "in the whole process" },
		{ VC_KNOWS_OTHERS, evidence->other_processes_bytes, "in other processes" },
		{ VC_KNOWS_START_FREE, evidence->start_free_bytes, "free at the start" },
	};
	char line[512] = "";

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		/* Containers hide processes: then they read 0. */
		bool hidden = rows[i].bytes == 0 &&
		              (rows[i].member & (VC_KNOWS_PROCESS | VC_KNOWS_OTHERS));

		if ((evidence->known & rows[i].member) && !hidden) {
			append_known(line, sizeof line, out, rows[i].what, rows[i].bytes);
		}
	}
	if (*line) {
		text_append(line, sizeof line, ".");
		print_line(out, "  ", line);
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
	print_line(out, "  ", line);
}

static void print_theory(struct output *out, const struct finding *finding)
{
	const struct theory *theory = finding->theory;
	char line[512] = "", need[64], high[64], have[64];

	format_quantity(need, sizeof need, theory->need_bytes, out->unit, ROUND_NEAREST);
	format_quantity(high, sizeof high, theory->high_bytes, out->unit, ROUND_UP);
	text_append(line, sizeof line, "By the %s method the job needs %s, at most %s",
	            theory->method == VC_METHOD_RULE ? "rule" : "detailed", need, high);
	if (!theory->gpu_known) {
		text_append(line, sizeof line, "; --gpu NAME says on which GPU it has to fit.");
	} else {
		format_quantity(have, sizeof have,
		                vc_gpu_offers_bytes(&theory->gpu, VC_METHOD_DETAILED), out->unit,
		                ROUND_DOWN);
		text_append(line, sizeof line, "; %s has %s%s.", theory->gpu.name, have,
		            theory->gpu_guessed ? " (taken by that size; --gpu names another)"
		                                : "");
	}
	print_line(out, "  ", line);
}

static void print_layers(struct output *out, const struct theory *theory)
{
	char line[256] = "";

	if (theory->gpu_layers) {
		text_append(
		        line, sizeof line,
		        "Set --n-gpu-layers %u (engine.gpu_layers): so many of the %u layers fit; "
		        "the others stay on the host, and slow it down.",
		        (unsigned)theory->gpu_layers, (unsigned)theory->layers);
		print_line(out, "- ", line);
	}
}

static bool rents(const struct vc_plan *plan)
{
	return plan->steps[0].measure == VC_MEASURE_MORE_GPUS ||
	       plan->steps[0].measure == VC_MEASURE_BIGGER_GPU;
}

/* A few changes of the job, and in any case the same job on other GPUs. */
static void print_plans(struct output *out, const struct advise_result *result)
{
	const size_t most = 3;

	putc('\n', out->file);
	if (result->advice.plan_count == 0) {
		advise_print_hopeless(out, result);
		return;
	}
	output_heading(out, "What makes it fit, the easiest first");
	for (size_t i = 0; i < result->advice.plan_count; i++) {
		if (i < most || rents(&result->plans[i])) {
			advise_print_plan(out, result, i);
		}
	}
}

static void print_finding(struct output *out, const struct finding *finding)
{
	const struct vc_diagnosis *diagnosis = &finding->diagnosis;
	char line[512] = "", shown[256];

	text_copy(shown, sizeof shown, finding->file, out->utf8);
	text_append(line, sizeof line, "%s: %s (%s confidence)", shown,
	            vc_cause_name(diagnosis->cause), vc_confidence_name(diagnosis->confidence));
	output_heading(out, line);
	print_line(out, "  ", diagnosis->reason);
	print_evidence(out, &finding->log->evidence);
	print_trend(out, "Memory of live tensors", &finding->log->evidence.allocated);
	print_trend(out, "Memory in use", &finding->log->evidence.used);
	if (finding->theory) {
		print_theory(out, finding);
	}
	if (finding->log->pickle && !finding->log->recognized) {
		print_line(out, "- ",
		           "This is a pickle, which only Python reads: write the snapshot as JSON, "
		           "with json.dump(torch.cuda.memory._snapshot(), file).");
	}
	if (finding->theory && finding->theory->searched &&
	    !finding->theory->result.advice.fits_as_is) {
		if (finding->log->evidence.fitting_tokens) {
			print_line(out, "- ", diagnosis->advice[0]);
		}
		print_layers(out, finding->theory);
		print_plans(out, &finding->theory->result);
		return;
	}
	if (finding->theory && finding->theory->searched) {
		print_line(out, "- ",
		           "By the estimate the job fits as it is: what runs differs from the "
		           "spec, in batch, length or precision.");
	}
	for (uint32_t i = 0; i < diagnosis->advice_count; i++) {
		print_line(out, "- ", diagnosis->advice[i]);
	}
}

void finding_text(struct output *out, const struct finding *finding)
{
	struct origin_note note = { .count = 0 };

	print_finding(out, finding);
	if (finding->theory && finding->theory->gpu_known) {
		origin_add(&note, &finding->theory->gpu, false);
		advise_add_origins(&note, &finding->theory->result);
		origin_print(out, &note);
	}
}
