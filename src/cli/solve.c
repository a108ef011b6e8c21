/* `solve`: the largest value of a field with which a job still fits a GPU. */
#include "commands.h"
#include "json_writer.h"
#include "origin.h"
#include "output.h"
#include "print_text.h"
#include "report.h"
#include "session.h"

#include <inttypes.h>
#include <string.h>

static void print_json(const struct output *out, const struct vc_gpu *gpu,
                       enum vc_solve_field field, const struct vc_solution *solution)
{
	struct json_writer json = { .out = out->file };

	json_open(&json, NULL, '{');
	json_text(&json, "schema", "vramcalc/solve/v1");
	json_gpu(&json, "gpu", gpu, 1);
	json_text(&json, "field", vc_solve_field_name(field));
	if (solution->any) {
		json_null(&json, "value");
	} else {
		json_u64(&json, "value", solution->value);
	}
	json_u64(&json, "bytes_at_value", solution->bytes_at_value);
	json_u64(&json, "bytes_at_next", solution->bytes_at_next);
	json_u64(&json, "limit_bytes", solution->limit_bytes);
	json_close(&json, '}');
}

static void print_text(struct output *out, const struct vc_gpu *gpu, const struct vc_model *model,
                       enum vc_solve_field field, const struct vc_solution *solution)
{
	char at[64], next[64], limit[64], above[64], line[512] = "";
	const char *name = vc_solve_field_name(field);

	format_quantity(at, sizeof at, solution->bytes_at_value, out->unit, ROUND_UP);
	format_quantity(next, sizeof next, solution->bytes_at_next, out->unit, ROUND_UP);
	format_quantity(limit, sizeof limit, solution->limit_bytes, out->unit, ROUND_DOWN);
	format_quantity(above, sizeof above, solution->limit_bytes, out->unit, ROUND_UP);
	if (solution->value > 0 && strcmp(at, above) == 0) {
		/* what fits never reads as more than there is */
		format_quantity(at, sizeof at, solution->bytes_at_value, out->unit, ROUND_DOWN);
	}
	if (solution->value == 0) {
		text_append(line, sizeof line,
		            "%s: none fits: the smallest needs %s, %s offers %s.", name, at,
		            gpu->name, limit);
	} else if (solution->any) {
		text_append(line, sizeof line,
		            "%s: any value fits: it does not change what is needed, %s of the %s "
		            "that %s offers.",
		            name, at, limit, gpu->name);
	} else {
		text_append(line, sizeof line,
		            "%s: %" PRIu64 ": it needs %s of the %s that %s offers", name,
		            solution->value, at, limit, gpu->name);
		if (solution->bytes_at_next) {
			text_append(line, sizeof line, "; the next value would need %s", next);
		}
		text_append(line, sizeof line, ".");
	}
	if (field == VC_SOLVE_SEQUENCE_LENGTH && model->max_position_embeddings > 0 &&
	    solution->value > model->max_position_embeddings) {
		text_append(line, sizeof line, " The model itself knows %" PRIu64 " positions.",
		            model->max_position_embeddings);
	}
	output_paragraph(out, solution->value ? TONE_PLAIN : TONE_BAD, line, 0);
}

static enum exit_status solve(struct session *session, struct output *out,
                              const struct vc_spec *spec)
{
	enum vc_solve_field field = (enum vc_solve_field)session->arguments->solve_for.index;
	struct vc_request request = spec->request;
	struct vc_solution solution;
	const struct vc_gpu *gpu;
	struct vc_error error = { 0 };

	if (!session_catalog(session, spec->budget.currency)) {
		return EXIT_WRONG_INPUT;
	}
	gpu = session_one_gpu(session, spec);
	session_request(session, &request);
	if (!gpu) {
		return EXIT_WRONG_INPUT;
	}
	if (vc_solve(&request, gpu, field, &solution, &error) != VC_OK) {
		session_refuse(spec, &error);
		return EXIT_WRONG_INPUT;
	}
	if (out->format == FORMAT_JSON) {
		print_json(out, gpu, field, &solution);
	} else {
		struct origin_note note = { .count = 0 };

		print_text(out, gpu, request.model, field, &solution);
		origin_add(&note, gpu, false);
		origin_print(out, &note);
	}
	return solution.value ? EXIT_FITS : EXIT_DOES_NOT_FIT;
}

int solve_command(struct arguments *arguments)
{
	return session_run(arguments, solve);
}
