/* The search for changes and how its plans are shown: for `advise`, and for `diagnose` with a spec.
 */
#include "advise_plans.h"

#include "print_text.h"

#include <stdlib.h>

/* ---- For programs ---- */

static void json_step(struct json_writer *json, const struct vc_step *step, enum vc_engine engine)
{
	const struct vc_measure_info *info = vc_measure_info(step->measure);

	json_open(json, NULL, '{');
	json_text(json, "measure", info->name);
	json_open(json, "set", '{');
	for (uint32_t i = 0; i < step->setting_count; i++) {
		json_value(json, step->settings[i].field, step->settings[i].value);
	}
	json_close(json, '}');
	json_u64(json, "saves_bytes", step->saves_bytes);
	json_text(json, "cost", info->cost);
	json_text(json, "call", vc_measure_call(step->measure, engine));
	json_close(json, '}');
}

void advise_json_plan(struct json_writer *json, const char *key, const struct vc_plan *plan)
{
	json_open(json, key, '{');
	json_open(json, "steps", '[');
	for (uint32_t i = 0; i < plan->step_count; i++) {
		json_step(json, &plan->steps[i], plan->request.engine.name);
	}
	json_close(json, ']');
	json_gpu(json, "gpu", plan->gpu, vc_layout_gpus(&plan->request.parallelism));
	json_u64(json, "total_bytes", plan->total_bytes);
	json_u64(json, "need_bytes", plan->need_bytes);
	json_text(json, "verdict", vc_verdict_name(plan->verdict));
	json_close(json, '}');
}

/* ---- For people ---- */

static void print_step(struct output *out, const struct vc_step *step, enum vc_engine engine)
{
	const struct vc_measure_info *info = vc_measure_info(step->measure);
	const char *call = vc_measure_call(step->measure, engine);
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
	text_append(line, sizeof line, "price: %s%s%s", info->cost, call ? "; use " : "",
	            call ? call : "");
	fputs("     ", out->file);
	output_paragraph(out, TONE_FAINT, line, 5);
}

void advise_print_plan(struct output *out, const struct advise_result *result, size_t index)
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
		print_step(out, &plan->steps[i], plan->request.engine.name);
	}
}

void advise_print_hopeless(struct output *out, const struct advise_result *result)
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
		print_step(out, &closest->steps[i], closest->request.engine.name);
	}
}

void advise_add_origins(struct origin_note *note, const struct advise_result *result)
{
	for (size_t i = 0; i < result->advice.plan_count; i++) {
		origin_add(note, result->plans[i].gpu, true);
	}
}

void advise_print_others(struct output *out, const struct vc_request *request)
{
	char line[256] = "";

	for (int i = 0; request->roles && i < VC_ROLE_COUNT; i++) {
		if (request->roles[i].given && request->roles[i].request) {
			text_append(line, sizeof line, "%s%s",
			            *line ? ", "
			                  : "Only the policy's spec was varied. Other models of "
			                    "the job have settings of their own: ",
			            vc_role_name((enum vc_role)i));
		}
	}
	if (*line) {
		text_append(line, sizeof line, ".");
		putc('\n', out->file);
		output_paragraph(out, TONE_PLAIN, line, 0);
	}
}

/* ---- The search ---- */

enum vc_status advise_search(struct session *session, const struct vc_request *request,
                             struct advise_result *result, struct vc_error *error)
{
	struct vc_advise_options options = { .gpus = (uint32_t)session->arguments->gpus_at_hand };
	const struct vc_gpu **others = malloc(session->catalog.count * sizeof *others);
	enum vc_status status;

	for (size_t i = 0; others && i < session->catalog.count; i++) {
		if (session->catalog.gpus[i].documented) {
			others[options.other_count++] = &session->catalog.gpus[i].gpu;
		}
	}
	options.others = others;
	status = vc_advise(request, result->gpu, &options, result->plans, ADVISE_MOST_PLANS,
	                   &result->advice, error);
	free(others);
	return status;
}
