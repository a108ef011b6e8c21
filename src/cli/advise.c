/* `advise`: the few changes that make a job fit, the easiest first. */
#include "commands.h"
#include "json_writer.h"
#include "output.h"
#include "print_text.h"
#include "report.h"
#include "session.h"

#include <stdlib.h>

enum {
	MOST_PLANS = 8
};

struct result {
	const struct vc_gpu *gpu;
	struct vc_advice advice;
	struct vc_plan plans[MOST_PLANS];
};

/* ---- For programs ---- */

static void json_step(struct json_writer *json, const struct vc_step *step)
{
	const struct vc_measure_info *info = vc_measure_info(step->measure);

	json_open(json, NULL, '{');
	json_text(json, "measure", info->name);
	json_open(json, "set", '{');
	for (uint32_t i = 0; i < step->setting_count; i++) {
		json_text(json, step->settings[i].field, step->settings[i].value);
	}
	json_close(json, '}');
	json_u64(json, "saves_bytes", step->saves_bytes);
	json_text(json, "cost", info->cost);
	json_text(json, "call", info->call);
	json_close(json, '}');
}

static void json_plan(struct json_writer *json, const char *key, const struct vc_plan *plan)
{
	json_open(json, key, '{');
	json_open(json, "steps", '[');
	for (uint32_t i = 0; i < plan->step_count; i++) {
		json_step(json, &plan->steps[i]);
	}
	json_close(json, ']');
	json_text(json, "gpu", plan->gpu->id);
	json_u64(json, "total_bytes", plan->total_bytes);
	json_u64(json, "need_bytes", plan->need_bytes);
	json_text(json, "verdict", vc_verdict_name(plan->verdict));
	json_close(json, '}');
}

static void print_json(const struct output *out, const struct result *result)
{
	struct json_writer json = { .out = out->file };

	json_open(&json, NULL, '{');
	json_text(&json, "schema", "vramcalc/advise/v1");
	json_text(&json, "gpu", result->gpu->id);
	json_bool(&json, "fits_as_is", result->advice.fits_as_is);
	json_u64(&json, "total_bytes", result->advice.total_bytes);
	json_u64(&json, "need_bytes", result->advice.need_bytes);
	json_u64(&json, "have_bytes", result->advice.have_bytes);
	json_open(&json, "plans", '[');
	for (size_t i = 0; i < result->advice.plan_count; i++) {
		json_plan(&json, NULL, &result->plans[i]);
	}
	json_close(&json, ']');
	if (!result->advice.fits_as_is && result->advice.plan_count == 0 &&
	    result->advice.closest.step_count) {
		json_plan(&json, "closest", &result->advice.closest);
	}
	json_close(&json, '}');
}

/* ---- For people ---- */

static void print_step(struct output *out, const struct vc_step *step)
{
	const struct vc_measure_info *info = vc_measure_info(step->measure);
	char line[512] = "", saves[64];

	text_append(line, sizeof line, "%s:", info->name);
	for (uint32_t i = 0; i < step->setting_count; i++) {
		text_append(line, sizeof line, "%s %s=%s", i ? "," : "", step->settings[i].field,
		            step->settings[i].value);
	}
	if (step->saves_bytes) {
		format_quantity(saves, sizeof saves, step->saves_bytes, out->unit, ROUND_NEAREST);
		text_append(line, sizeof line, ", saves %s", saves);
	}
	fputs("   - ", out->file);
	output_paragraph(out, TONE_PLAIN, line, 5);
	*line = '\0';
	text_append(line, sizeof line, "price: %s%s%s", info->cost, info->call ? "; use " : "",
	            info->call ? info->call : "");
	fputs("     ", out->file);
	output_paragraph(out, TONE_FAINT, line, 5);
}

static void print_plan(struct output *out, const struct result *result, size_t index)
{
	const struct vc_plan *plan = &result->plans[index];
	char line[256] = "", need[64];

	format_quantity(need, sizeof need, plan->need_bytes, out->unit, ROUND_UP);
	text_append(line, sizeof line, "%zu. needs %s", index + 1, need);
	if (plan->gpu != result->gpu) {
		text_append(line, sizeof line, " on %s", plan->gpu->name);
	} else if (vc_layout_gpus(&plan->request.parallelism) > 1) {
		text_append(line, sizeof line, " on each of %u GPUs",
		            (unsigned)vc_layout_gpus(&plan->request.parallelism));
	}
	output_paragraph(out, TONE_STRONG, line, 3);
	for (uint32_t i = 0; i < plan->step_count; i++) {
		print_step(out, &plan->steps[i]);
	}
}

static void print_hopeless(struct output *out, const struct result *result)
{
	const struct vc_plan *closest = &result->advice.closest;
	char line[512] = "", need[64], missing[64];

	text_append(line, sizeof line, "Not by these means.");
	if (closest->step_count) {
		format_quantity(need, sizeof need, closest->need_bytes, out->unit, ROUND_UP);
		format_quantity(missing, sizeof missing,
		                closest->need_bytes - result->advice.have_bytes, out->unit,
		                ROUND_UP);
		text_append(line, sizeof line, " The nearest still needs %s, %s too much:", need,
		            missing);
	}
	output_paragraph(out, TONE_BAD, line, 0);
	for (uint32_t i = 0; i < closest->step_count; i++) {
		print_step(out, &closest->steps[i]);
	}
}

static void print_text(struct output *out, const struct result *result)
{
	char line[512] = "", need[64], have[64];

	format_quantity(need, sizeof need, result->advice.need_bytes, out->unit, ROUND_UP);
	format_quantity(have, sizeof have, result->advice.have_bytes, out->unit, ROUND_DOWN);
	text_append(line, sizeof line,
	            "As it is, the job needs %s on each GPU; %s offers %s: it %s.", need,
	            result->gpu->name, have, result->advice.fits_as_is ? "fits" : "does not fit");
	output_paragraph(out, TONE_PLAIN, line, 0);
	if (result->advice.fits_as_is) {
		return;
	}
	putc('\n', out->file);
	if (result->advice.plan_count == 0) {
		print_hopeless(out, result);
		return;
	}
	output_heading(out, "What makes it fit, the easiest first");
	for (size_t i = 0; i < result->advice.plan_count; i++) {
		print_plan(out, result, i);
	}
}

static enum vc_status search(struct session *session, const struct vc_spec *spec,
                             struct result *result, struct vc_error *error)
{
	struct vc_advise_options options = { .gpus = (uint32_t)session->arguments->gpus_at_hand };
	const struct vc_gpu **others = malloc(session->catalog.count * sizeof *others);
	struct vc_request request = spec->request;
	enum vc_status status;

	for (size_t i = 0; others && i < session->catalog.count; i++) {
		if (session->catalog.gpus[i].documented) {
			others[options.other_count++] = &session->catalog.gpus[i].gpu;
		}
	}
	session_request(session, &request);
	options.others = others;
	status = vc_advise(&request, result->gpu, &options, result->plans, MOST_PLANS,
	                   &result->advice, error);
	free(others);
	return status;
}

static enum exit_status advise(struct session *session, struct output *out,
                               const struct vc_spec *spec)
{
	struct result result = { 0 };
	struct vc_error error = { 0 };

	if (session->arguments->gpus_at_hand > 65536) {
		fprintf(stderr, "vramcalc advise: --gpus: too many (expected at most 65536)\n");
		return EXIT_WRONG_INPUT;
	}
	if (!session_catalog(session, spec->budget.currency)) {
		return EXIT_WRONG_INPUT;
	}
	result.gpu = session_one_gpu(session, spec);
	if (!result.gpu) {
		return EXIT_WRONG_INPUT;
	}
	if (search(session, spec, &result, &error) != VC_OK) {
		session_refuse(spec, &error);
		return EXIT_WRONG_INPUT;
	}
	if (out->format == FORMAT_JSON) {
		print_json(out, &result);
	} else {
		print_text(out, &result);
	}
	return result.advice.fits_as_is || result.advice.plan_count ? EXIT_FITS : EXIT_DOES_NOT_FIT;
}

int advise_command(struct arguments *arguments)
{
	return session_run(arguments, advise);
}
