#include "list.h"
#include "names.h"
#include "origin.h"
#include "print_text.h"
#include "table.h"
#include "verify.h"

#include <inttypes.h>
#include <string.h>

/* ---- For people ---------------------------------------------------------------------------- */

static void get_label(const void *data, struct cell *cell)
{
	cell_text(cell, ((const struct verify_row *)data)->label);
}

static void get_said(const void *data, struct cell *cell)
{
	const struct verify_row *row = data;

	cell_number(cell, row->said);
	cell->known = row->said > 0 || row->measured_known;
}

static void get_measured(const void *data, struct cell *cell)
{
	const struct verify_row *row = data;

	cell_number(cell, row->measured);
	cell->known = row->measured_known;
}

static void get_difference(const void *data, struct cell *cell)
{
	const struct verify_row *row = data;

	cell_number(cell, row->measured > row->said ? row->measured - row->said
	                                            : row->said - row->measured);
	cell->known = row->measured_known;
	cell->negative = row->measured < row->said;
	cell->tone = row->within ? TONE_PLAIN : TONE_BAD;
}

static void get_how(const void *data, struct cell *cell)
{
	const struct verify_row *row = data;

	cell_text(cell, !row->measured_known ? "not in the log"
	                : row->by_difference ? "by difference"
	                : row->cut_short     ? "before the peak"
	                : !row->within       ? "outside the range"
	                                     : NULL);
	cell->tone = row->measured_known && !row->within ? TONE_BAD : TONE_FAINT;
}

static const struct column columns[] = {
	{ .id = "component", .heading = "component", .get = get_label },
	{ .id = "said", .heading = "said", .type = CELL_BYTES, .get = get_said },
	{ .id = "measured", .heading = "measured", .type = CELL_BYTES, .get = get_measured },
	{ .id = "difference", .heading = "difference", .type = CELL_CHANGE, .get = get_difference },
	{ .id = "how", .heading = "", .get = get_how },
};

/* A paragraph behind a mark. */
static void print_point(struct output *out, const char *text)
{
	fputs("- ", out->file);
	output_paragraph(out, TONE_PLAIN, text, 2);
}

static void quantity(const struct output *out, char *to, size_t size, uint64_t bytes)
{
	format_quantity(to, size, bytes, out->unit, ROUND_NEAREST);
}

static void print_tokens(struct output *out, const struct verify_row *row)
{
	char line[512] = "";

	text_append(line, sizeof line, "The pool holds %" PRIu64 " tokens; %" PRIu64 " were said.",
	            row->measured, row->said);
	if (*row->why) {
		text_append(line, sizeof line, " It is %s.", row->why);
	}
	print_point(out, line);
}

static void print_reasons(struct output *out, const struct verification *v)
{
	for (size_t i = 0; i < v->row_count; i++) {
		const struct verify_row *row = &v->rows[i];
		char line[512] = "", gap[64];

		if (row->tokens) {
			print_tokens(out, row);
		} else if (*row->why) {
			quantity(out, gap, sizeof gap,
			         row->measured > row->said ? row->measured - row->said
			                                   : row->said - row->measured);
			text_append(line, sizeof line, "%s, %s %s: %s.", row->label, gap,
			            row->measured > row->said ? "more than said" : "less than said",
			            row->why);
			print_point(out, line);
		}
	}
}

static void print_joined(struct output *out, const struct verification *v)
{
	char line[160] = "";

	if (v->log->startup.joined) {
		text_append(line, sizeof line,
		            "%u GPUs are taken together, as llama.cpp splits a model by what is "
		            "free on each; the compute buffer is the largest.",
		            (unsigned)v->log->startup.joined);
		print_point(out, line);
	}
}

static void print_sum(struct output *out, const struct verification *v)
{
	const struct verify_sum *sum = &v->sum;
	char line[512] = "", whole[64], parts[64], gap[64];
	bool more = sum->sum_bytes > sum->whole_bytes;

	if (!sum->whole) {
		return;
	}
	quantity(out, whole, sizeof whole, sum->whole_bytes);
	quantity(out, parts, sizeof parts, sum->sum_bytes);
	quantity(out, gap, sizeof gap,
	         more ? sum->sum_bytes - sum->whole_bytes : sum->whole_bytes - sum->sum_bytes);
	text_append(line, sizeof line, "The log's terms make %s of %s, %s", parts, whole,
	            sum->whole);
	if (sum->closes) {
		text_append(line, sizeof line, ": it adds up.");
	} else if (sum->absent) {
		text_append(line, sizeof line, ": %s %s, which no line says: %s.", gap,
		            more ? "too much" : "are left", sum->absent);
	} else {
		text_append(line, sizeof line, ": %s %s, and no term is absent.", gap,
		            more ? "too much" : "are missing");
	}
	print_point(out, line);
}

static void print_settings(struct output *out, const struct verification *v)
{
	char taken[1024] = "", line[512];

	for (size_t i = 0; i < v->setting_count; i++) {
		const struct verify_setting *setting = &v->settings[i];

		if (setting->differs && setting->given) {
			line[0] = '\0';
			text_append(line, sizeof line, "%s is %s in the spec and %s in the log.",
			            setting->log->field, setting->spec, setting->log->value);
			print_point(out, line);
		} else if (setting->differs) {
			text_append(taken, sizeof taken, "%s%s %s",
			            *taken ? ", "
			                   : "Taken from the log, as the spec leaves it open: ",
			            setting->log->field, setting->log->value);
		}
	}
	if (*taken) {
		text_append(taken, sizeof taken, ".");
		print_point(out, taken);
	}
}

static void print_heading(struct output *out, const struct verification *v)
{
	char line[512] = "", shown[200], version[80] = "";
	const struct vc_engine_options *engine = &v->request.engine;

	name_of_engine(version, sizeof version, engine);
	text_copy(shown, sizeof shown, v->source, out->utf8);
	text_append(line, sizeof line, "%s%s%s on %s%s%s%s", shown, *version ? ", " : "", version,
	            v->gpu.name, v->gpu_guessed ? " (taken by its memory)" : "",
	            v->rank && *v->rank->name ? ", " : "",
	            v->rank && *v->rank->name ? v->rank->name : "");
	output_heading(out, line);
}

void verify_print(struct output *out, const struct verification *verification)
{
	struct origin_note note = { .count = 0 };
	struct verify_row bytes[VERIFY_ROWS];
	struct table table = { .id = "components",
		               .columns = columns,
		               .column_count = sizeof columns / sizeof *columns,
		               .rows = bytes,
		               .row_size = sizeof *bytes };

	for (size_t i = 0; i < verification->row_count; i++) {
		if (!verification->rows[i].tokens) {
			bytes[table.row_count++] = verification->rows[i];
		}
	}
	print_heading(out, verification);
	table_print(out, &table);
	putc('\n', out->file);
	print_joined(out, verification);
	print_reasons(out, verification);
	print_sum(out, verification);
	print_settings(out, verification);
	print_point(out, verification->within
	                         ? "Every figure lies in the range of the estimate."
	                         : "The measurement lies outside the range of the estimate.");
	origin_add(&note, &verification->gpu, false);
	origin_print(out, &note);
}

/* ---- For programs -------------------------------------------------------------------------- */

static void json_row(struct json_writer *json, const struct verify_row *row)
{
	json_open(json, NULL, '{');
	json_text(json, "name", row->name);
	json_u64(json, "said_bytes", row->said);
	if (row->measured_known) {
		json_u64(json, "measured_bytes", row->measured);
		json_i64(json, "difference_bytes", (int64_t)(row->measured - row->said));
	} else {
		json_null(json, "measured_bytes");
		json_null(json, "difference_bytes");
	}
	json_bool(json, "by_difference", row->by_difference);
	json_bool(json, "within_range", row->within);
	json_text(json, "explanation", *row->why ? row->why : NULL);
	json_close(json, '}');
}

static void json_tokens(struct json_writer *json, const struct verification *v)
{
	for (size_t i = 0; i < v->row_count; i++) {
		if (v->rows[i].tokens) {
			json_open(json, "kv_tokens", '{');
			json_u64(json, "said", v->rows[i].said);
			json_u64(json, "measured", v->rows[i].measured);
			json_close(json, '}');
			return;
		}
	}
	json_null(json, "kv_tokens");
}

static void json_sum(struct json_writer *json, const struct verify_sum *sum)
{
	if (!sum->whole) {
		json_null(json, "sum");
		return;
	}
	json_open(json, "sum", '{');
	json_text(json, "of", sum->whole);
	json_u64(json, "whole_bytes", sum->whole_bytes);
	json_u64(json, "terms_bytes", sum->sum_bytes);
	json_bool(json, "closes", sum->closes);
	json_text(json, "absent", sum->absent);
	json_close(json, '}');
}

static void json_settings(struct json_writer *json, const struct verification *v)
{
	json_open(json, "settings", '[');
	for (size_t i = 0; i < v->setting_count; i++) {
		const struct verify_setting *setting = &v->settings[i];

		json_open(json, NULL, '{');
		json_text(json, "field", setting->log->field);
		json_text(json, "log", setting->log->value);
		json_text(json, "spec", setting->given ? setting->spec : NULL);
		json_bool(json, "contradicts", setting->given && setting->differs);
		json_close(json, '}');
	}
	json_close(json, ']');
}

void verify_json(struct json_writer *json, const struct verification *verification)
{
	char engine[80] = "";

	name_of_engine(engine, sizeof engine, &verification->request.engine);
	json_open(json, NULL, '{');
	json_text(json, "schema", "vramcalc/verify/v1");
	json_text(json, "spec", verification->source);
	json_text(json, "engine", *engine ? engine : NULL);
	json_gpu(json, "gpu", &verification->gpu, 1);
	json_text(json, "rank",
	          verification->rank && *verification->rank->name ? verification->rank->name
	                                                          : NULL);
	json_u64(json, "total_bytes", verification->ledger.total_bytes);
	json_u64(json, "low_bytes", verification->ledger.low_bytes);
	json_u64(json, "high_bytes", verification->ledger.high_bytes);
	json_bool(json, "within_range", verification->within);
	json_open(json, "components", '[');
	for (size_t i = 0; i < verification->row_count; i++) {
		if (!verification->rows[i].tokens) {
			json_row(json, &verification->rows[i]);
		}
	}
	json_close(json, ']');
	json_tokens(json, verification);
	json_sum(json, &verification->sum);
	json_settings(json, verification);
	json_close(json, '}');
}
