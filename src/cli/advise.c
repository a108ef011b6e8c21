/* `advise`: the few changes that make a job fit, the easiest first. */
#include "advise_plans.h"
#include "commands.h"
#include "print_text.h"
#include "report.h"

static void print_json(const struct output *out, const struct advise_result *result)
{
	struct json_writer json = { .out = out->file };

	json_open(&json, NULL, '{');
	json_text(&json, "schema", "vramcalc/advise/v1");
	json_gpu(&json, "gpu", result->gpu, 1);
	json_bool(&json, "fits_as_is", result->advice.fits_as_is);
	json_u64(&json, "total_bytes", result->advice.total_bytes);
	json_u64(&json, "need_bytes", result->advice.need_bytes);
	json_u64(&json, "have_bytes", result->advice.have_bytes);
	json_open(&json, "plans", '[');
	for (size_t i = 0; i < result->advice.plan_count; i++) {
		advise_json_plan(&json, NULL, &result->plans[i]);
	}
	json_close(&json, ']');
	if (!result->advice.fits_as_is && result->advice.plan_count == 0 &&
	    result->advice.closest.step_count) {
		advise_json_plan(&json, "closest", &result->advice.closest);
	}
	json_close(&json, '}');
}

static void print_text(struct output *out, const struct advise_result *result)
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
		advise_print_hopeless(out, result);
		return;
	}
	output_heading(out, "What makes it fit, the easiest first");
	for (size_t i = 0; i < result->advice.plan_count; i++) {
		advise_print_plan(out, result, i);
	}
}

static enum exit_status advise(struct session *session, struct output *out,
                               const struct vc_spec *spec)
{
	struct advise_result result = { 0 };
	struct origin_note note = { .count = 0 };
	struct vc_request request = spec->request;
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
	session_request(session, &request);
	if (advise_search(session, &request, &result, &error) != VC_OK) {
		session_refuse(spec, &error);
		return EXIT_WRONG_INPUT;
	}
	if (out->format == FORMAT_JSON) {
		print_json(out, &result);
	} else {
		print_text(out, &result);
		if (!result.advice.fits_as_is) {
			advise_print_others(out, &request);
		}
		origin_add(&note, result.gpu, false);
		advise_add_origins(&note, &result);
		origin_print(out, &note);
	}
	return result.advice.fits_as_is || result.advice.plan_count ? EXIT_FITS : EXIT_DOES_NOT_FIT;
}

int advise_command(struct arguments *arguments)
{
	return session_run(arguments, advise);
}
