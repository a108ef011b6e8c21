/* The reports of `check`: text, JSON, Markdown, annotations, JUnit XML, SARIF. */
#include "check.h"

#include "json_writer.h"
#include "markup.h"
#include "origin.h"
#include "print_text.h"
#include "whole_file.h"

#include "vramcalc/vramcalc.h"

#include <string.h>

const char *check_kind_name(enum check_kind kind)
{
	static const char *const names[] = {
		[CHECK_GPU] = "gpu",         [CHECK_MEMORY] = "max-memory",
		[CHECK_PRICE] = "max-price", [CHECK_INCREASE] = "max-increase",
		[CHECK_INPUT] = "input",
	};

	return names[kind];
}

static const char *label(const struct check_result *result)
{
	return result->gpu ? result->gpu : check_kind_name(result->kind);
}

/* What of the GPUs judged, and of prices that were asked about, is from files of the user's. */
static void print_origins(struct output *out, const struct check_results *results)
{
	struct origin_note note = { .count = 0 };

	for (size_t i = 0; i < results->count; i++) {
		if (results->items[i].judged) {
			origin_add(&note, results->items[i].judged, results->items[i].priced);
		}
	}
	origin_print(out, &note);
}

void check_print_text(struct output *out, const struct check_results *results)
{
	for (size_t i = 0; i < results->count; i++) {
		const struct check_result *result = &results->items[i];
		char line[1536] = "";

		text_append(line, sizeof line, "%s  %s: %s", result->pass ? "ok  " : "FAIL",
		            result->spec, result->message);
		fputs(output_tone_on(out, result->pass ? TONE_GOOD : TONE_BAD), out->file);
		fprintf(out->file, "%s", result->pass ? "ok    " : "FAIL  ");
		fputs(output_tone_off(out, result->pass ? TONE_GOOD : TONE_BAD), out->file);
		output_paragraph(out, TONE_PLAIN, line + 6, 6);
	}
	fprintf(out->file, "%zu checked, %zu failed\n", results->count, results->failed);
	print_origins(out, results);
}

static void json_remedy(struct json_writer *json, const struct check_remedy *remedy)
{
	if (remedy->count == 0) {
		json_null(json, "remedy");
		return;
	}
	json_open_line(json, "remedy", '{');
	for (size_t i = 0; i < remedy->count; i++) {
		json_value(json, remedy->settings[i].field, remedy->settings[i].value);
	}
	json_close(json, '}');
}

void check_print_json(struct output *out, const struct check_results *results)
{
	struct json_writer json = { .out = out->file };

	json_open(&json, NULL, '{');
	json_text(&json, "schema", "vramcalc/check/v1");
	json_bool(&json, "pass", results->failed == 0);
	json_open(&json, "results", '[');
	for (size_t i = 0; i < results->count; i++) {
		const struct check_result *result = &results->items[i];
		bool short_by = !result->pass && result->need_bytes > result->have_bytes;

		json_open(&json, NULL, '{');
		json_text(&json, "spec", result->spec);
		json_text(&json, "gpu", result->gpu);
		json_text(&json, "kind", check_kind_name(result->kind));
		json_bool(&json, "pass", result->pass);
		json_u64(&json, "need_bytes", result->need_bytes);
		json_u64(&json, "have_bytes", result->have_bytes);
		json_u64(&json, "short_by_bytes",
		         short_by ? result->need_bytes - result->have_bytes : 0);
		json_remedy(&json, &result->remedy);
		json_text(&json, "origin", result->judged ? result->judged->origin : NULL);
		if (result->judged) {
			json_price(&json, "price", result->judged, result->judged_gpus);
		} else {
			json_null(&json, "price");
		}
		json_text(&json, "message", result->message);
		json_close(&json, '}');
	}
	json_close(&json, ']');
	json_close(&json, '}');
}

/* ---- Markdown, for a comment ---- */

static void markdown_cell(FILE *file, const char *text)
{
	for (; *text; text++) {
		if (strchr("|\\`<>", *text)) {
			putc('\\', file);
		}
		putc(*text == '\n' ? ' ' : *text, file);
	}
}

void check_print_markdown(struct output *out, const struct check_results *results)
{
	fprintf(out->file, "### GPU memory: %s\n\n",
	        results->failed ? "some checks failed" : "all checks passed");
	fputs("| | spec | check | result |\n| --- | --- | --- | --- |\n", out->file);
	for (size_t i = 0; i < results->count; i++) {
		const struct check_result *result = &results->items[i];

		fprintf(out->file, "| %s | ", result->pass ? "✅" : "❌");
		markdown_cell(out->file, result->spec);
		fputs(" | ", out->file);
		markdown_cell(out->file, label(result));
		fputs(" | ", out->file);
		markdown_cell(out->file, result->message);
		fputs(" |\n", out->file);
	}
	print_origins(out, results);
}

/* ---- GitHub's workflow commands ---- */

static void github_escape(FILE *file, const char *text, bool property)
{
	for (; *text; text++) {
		if (*text == '%' || *text == '\n' || *text == '\r' ||
		    (property && (*text == ':' || *text == ','))) {
			fprintf(file, "%%%02X", (unsigned)*text);
		} else {
			putc(*text, file);
		}
	}
}

void check_print_github(struct output *out, const struct check_results *results)
{
	for (size_t i = 0; i < results->count; i++) {
		const struct check_result *result = &results->items[i];

		if (result->pass) {
			continue;
		}
		fputs("::error file=", out->file);
		github_escape(out->file, result->spec, true);
		fputs(",title=vramcalc ", out->file);
		github_escape(out->file, label(result), true);
		fputs("::", out->file);
		github_escape(out->file, result->message, false);
		putc('\n', out->file);
	}
}

/* ---- Files ---- */

static void junit_case(FILE *file, const struct check_result *result)
{
	fputs("  <testcase classname=\"", file);
	markup_text(file, result->spec);
	fputs("\" name=\"", file);
	markup_text(file, label(result));
	if (result->pass) {
		fputs("\"/>\n", file);
		return;
	}
	fprintf(file, "\">\n    <%s message=\"", result->kind == CHECK_INPUT ? "error" : "failure");
	markup_text(file, result->message);
	fprintf(file, "\" type=\"%s\"/>\n  </testcase>\n", check_kind_name(result->kind));
}

bool check_write_junit(const char *path, const struct check_results *results)
{
	struct whole_file report;

	if (!whole_file_open(&report, path)) {
		return false;
	}
	fprintf(report.file,
	        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"vramcalc\" "
	        "tests=\"%zu\" failures=\"%zu\" errors=\"%zu\">\n",
	        results->count, results->failed - results->errors, results->errors);
	for (size_t i = 0; i < results->count; i++) {
		junit_case(report.file, &results->items[i]);
	}
	fputs("</testsuite>\n", report.file);
	return whole_file_close(&report);
}

static void sarif_rules(struct json_writer *json)
{
	static const char *const texts[] = {
		[CHECK_GPU] = "The job fits the GPU.",
		[CHECK_MEMORY] = "The job needs at most so much memory.",
		[CHECK_PRICE] = "A GPU holds the job at this price.",
		[CHECK_INCREASE] = "The job's memory did not grow by more than is allowed.",
		[CHECK_INPUT] = "The spec can be read and estimated.",
	};

	json_open(json, "rules", '[');
	for (int kind = CHECK_GPU; kind <= CHECK_INPUT; kind++) {
		json_open(json, NULL, '{');
		json_text(json, "id", check_kind_name((enum check_kind)kind));
		json_open(json, "shortDescription", '{');
		json_text(json, "text", texts[kind]);
		json_close(json, '}');
		json_close(json, '}');
	}
	json_close(json, ']');
}

/* A path as a URI reference (RFC 3986): what is no letter, digit or one of -._~/ is escaped. */
static void uri_of(const char *path, char *to, size_t size)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	                            "0123456789-._~/";

	*to = '\0';
	for (; *path; path++) {
		text_append(to, size, strchr(plain, *path) ? "%c" : "%%%02X",
		            (unsigned)(unsigned char)*path);
	}
}

static void sarif_result(struct json_writer *json, const struct check_result *result)
{
	char uri[3 * 4096];

	json_open(json, NULL, '{');
	json_text(json, "ruleId", check_kind_name(result->kind));
	json_text(json, "level", "error");
	json_open(json, "message", '{');
	json_text(json, "text", result->message);
	json_close(json, '}');
	json_open(json, "locations", '[');
	json_open(json, NULL, '{');
	json_open(json, "physicalLocation", '{');
	json_open(json, "artifactLocation", '{');
	uri_of(result->spec, uri, sizeof uri);
	json_text(json, "uri", uri);
	json_close(json, '}');
	/* readers show a result at a line, also one that is about the whole file */
	json_open_line(json, "region", '{');
	json_u64(json, "startLine", result->line ? result->line : 1);
	if (result->column) {
		json_u64(json, "startColumn", result->column);
	}
	json_close(json, '}');
	json_close(json, '}');
	json_close(json, '}');
	json_close(json, ']');
	json_close(json, '}');
}

bool check_write_sarif(const char *path, const struct check_results *results)
{
	struct whole_file report;
	struct json_writer json = { 0 };

	if (!whole_file_open(&report, path)) {
		return false;
	}
	json.out = report.file;
	json_open(&json, NULL, '{');
	json_text(&json, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
	json_text(&json, "version", "2.1.0");
	json_open(&json, "runs", '[');
	json_open(&json, NULL, '{');
	json_open(&json, "tool", '{');
	json_open(&json, "driver", '{');
	json_text(&json, "name", "vramcalc");
	json_text(&json, "version", VC_VERSION_STRING);
	sarif_rules(&json);
	json_close(&json, '}');
	json_close(&json, '}');
	json_text(&json, "columnKind", "unicodeCodePoints");
	json_open(&json, "results", '[');
	for (size_t i = 0; i < results->count; i++) {
		if (!results->items[i].pass) {
			sarif_result(&json, &results->items[i]);
		}
	}
	json_close(&json, ']');
	json_close(&json, '}');
	json_close(&json, ']');
	json_close(&json, '}');
	return whole_file_close(&report);
}
