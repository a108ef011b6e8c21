/* One row of `compare`: the estimates of one spec with one combination of varied fields. */
#include "compare.h"
#include "json_writer.h"
#include "origin.h"
#include "quantity.h"

#include <string.h>

enum {
	MOST_SETTINGS = 256
};

/* A line's errors count from the stream's begin; those of files that it names stay there. */
static void place_in_stream(const struct compare_source *source, struct vc_error_list *errors)
{
	for (size_t i = 0; source->line > 1 && i < vc_errors_kept(errors); i++) {
		struct vc_error *error = &errors->errors[i];

		if (!*error->file || strcmp(error->file, "-") == 0) {
			error->line += source->line - (error->line > 0);
		}
	}
}

static enum vc_status read_spec(const struct comparison *comparison,
                                const struct compare_source *source, const struct compare_row *row,
                                struct vc_spec *spec, struct vc_error_list *errors)
{
	const struct text_list *settings = &comparison->arguments->settings;
	const char *overrides[MOST_SETTINGS + VARY_FIELDS];
	struct vc_spec_options options = { .overrides = overrides,
		                           .cache = source->cache,
		                           .offline = comparison->arguments->offline };
	struct vc_spec_text text = { .name = "-", .text = source->text, .length = source->length };

	for (size_t i = 0; i < settings->count && i < MOST_SETTINGS; i++) {
		overrides[options.override_count++] = settings->items[i];
	}
	for (size_t i = 0; i < comparison->variations.count; i++) {
		overrides[options.override_count++] = row->settings[i];
	}
	return source->text ? vc_spec_read_memory(&text, &options, spec, errors)
	                    : vc_spec_read(source->name, &options, spec, errors);
}

static enum vc_status fill_detailed(const struct comparison *comparison,
                                    const struct vc_request *request, struct compare_row *row,
                                    struct vc_error *error)
{
	struct vc_request detailed = *request;
	struct vc_ledger ledger;
	enum vc_status status;

	if (!comparison->with_detailed || !vc_model_has_shape(request->model)) {
		return VC_OK;
	}
	detailed.method = VC_METHOD_DETAILED;
	detailed.gpu = comparison->reference;
	status = vc_estimate(&detailed, &ledger, error);
	row->has_detailed = status == VC_OK;
	row->total_bytes = ledger.total_bytes;
	row->low_bytes = ledger.low_bytes;
	row->high_bytes = ledger.high_bytes;
	return status == VC_UNSUPPORTED && request->method == VC_METHOD_RULE ? VC_OK : status;
}

static enum vc_status fill_fits(const struct comparison *comparison, const struct vc_spec *spec,
                                const struct vc_request *request, struct compare_row *row,
                                struct vc_error *error)
{
	struct vc_select_options options = { .max_gpus = spec->hardware.max_gpus };
	enum vc_status status = VC_OK;

	if (comparison->arguments->max_gpus) {
		options.max_gpus = (uint32_t)comparison->arguments->max_gpus;
	}
	for (size_t i = 0; i < comparison->gpus.count && status == VC_OK; i++) {
		struct vc_candidate candidate;

		status = vc_select(request, &comparison->gpus.gpus[i], 1, &options, &candidate,
		                   error);
		if (status == VC_OK) {
			row->fits[i] =
			        (struct compare_fit){ candidate.verdict, candidate.gpus_needed,
				                      candidate.need_bytes };
		}
	}
	return status;
}

static enum vc_status estimate(const struct comparison *comparison, const struct vc_spec *spec,
                               struct compare_row *row, struct vc_error *error)
{
	struct vc_request request = spec->request, rule;
	struct vc_counts counts;
	struct vc_ledger ledger;
	enum vc_status status;

	session_request(&comparison->session, &request);
	rule = request;
	rule.method = VC_METHOD_RULE;
	status = vc_model_count(request.model, &counts, error);
	status = status == VC_OK ? vc_estimate(&rule, &ledger, error) : status;
	if (status != VC_OK) {
		return status;
	}
	row->params = request.model->params ? request.model->params : counts.total;
	row->rule_total_bytes = ledger.total_bytes;
	row->recommended_bytes = ledger.recommended_bytes;
	status = fill_detailed(comparison, &request, row, error);
	return status == VC_OK ? fill_fits(comparison, spec, &request, row, error) : status;
}

void compare_fill(const struct comparison *comparison, const struct compare_source *source,
                  uint64_t combination, struct compare_row *row, struct vc_error_list *errors)
{
	struct vc_error error = { 0 };
	struct vc_spec spec;

	row->comparison = comparison;
	row->has_detailed = false;
	snprintf(row->spec, sizeof row->spec, "%s", source->name);
	variations_at(&comparison->variations, combination, row->settings);
	row->failed = read_spec(comparison, source, row, &spec, errors) != VC_OK;
	if (!row->failed) {
		if (estimate(comparison, &spec, row, &error) != VC_OK) {
			row->failed = true;
			vc_spec_place(&spec, &error);
			vc_errors_append(errors, &error);
		}
		vc_spec_free(&spec);
	}
	if (row->failed) {
		place_in_stream(source, errors);
		row->error = errors->errors[0];
	}
}

/* ---- NDJSON ---- */

static void write_error(struct json_writer *json, const struct vc_error *error)
{
	json_open(json, "error", '{');
	json_text(json, "file", *error->file ? error->file : NULL);
	json_u64(json, "line", error->line);
	json_u64(json, "column", error->column);
	json_text(json, "field", *error->field ? error->field : NULL);
	json_text(json, "message", error->message);
	json_close(json, '}');
}

static void write_results(struct json_writer *json, const struct compare_row *row)
{
	const struct gpu_list *gpus = &row->comparison->gpus;

	json_u64(json, "parameters", row->params);
	json_open(json, "rule", '{');
	json_u64(json, "total_bytes", row->rule_total_bytes);
	json_u64(json, "recommended_bytes", row->recommended_bytes);
	json_close(json, '}');
	if (row->has_detailed) {
		json_open(json, "detailed", '{');
		json_text(json, "gpu", row->comparison->reference->id);
		json_u64(json, "total_bytes", row->total_bytes);
		json_u64(json, "low_bytes", row->low_bytes);
		json_u64(json, "high_bytes", row->high_bytes);
		json_close(json, '}');
	} else {
		json_null(json, "detailed");
	}
	json_open(json, "gpus", '[');
	for (size_t i = 0; i < gpus->count; i++) {
		const struct compare_fit *fit = &row->fits[i];

		json_open(json, NULL, '{');
		json_gpu(json, "id", gpus->gpus[i], fit->gpus_needed ? fit->gpus_needed : 1);
		json_bool(json, "fits", fit->verdict == VC_VERDICT_FITS);
		json_text(json, "verdict", vc_verdict_name(fit->verdict));
		json_u64(json, "need_bytes", fit->need_bytes);
		if (fit->gpus_needed) {
			json_u64(json, "gpus_needed", fit->gpus_needed);
		} else {
			json_null(json, "gpus_needed");
		}
		json_close(json, '}');
	}
	json_close(json, ']');
}

void compare_json(FILE *file, const struct compare_row *row)
{
	struct json_writer json = { .out = file, .compact = true };
	const struct variations *variations = &row->comparison->variations;

	json_open(&json, NULL, '{');
	json_text(&json, "schema", "vramcalc/compare/v1");
	json_text(&json, "spec", row->spec);
	json_open(&json, "vary", '{');
	for (size_t i = 0; i < variations->count; i++) {
		json_value(&json, variations->fields[i].field, setting_value(row->settings[i]));
	}
	json_close(&json, '}');
	if (row->failed) {
		write_error(&json, &row->error);
	} else {
		write_results(&json, row);
	}
	json_close(&json, '}');
}
