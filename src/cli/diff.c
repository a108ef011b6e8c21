/* `diff`: two versions of a spec side by side, component by component, and the fields behind it. */
#include "change.h"
#include "commands.h"
#include "list.h"
#include "names.h"
#include "origin.h"
#include "print_text.h"
#include "report.h"

#include <stdlib.h>

struct diff_row {
	const char *name;
	uint64_t old_bytes, new_bytes;
};

static void get_name(const void *row, struct cell *cell)
{
	cell_text(cell, ((const struct diff_row *)row)->name);
}

static void get_old(const void *row, struct cell *cell)
{
	cell_number(cell, ((const struct diff_row *)row)->old_bytes);
}

static void get_new(const void *row, struct cell *cell)
{
	cell_number(cell, ((const struct diff_row *)row)->new_bytes);
}

static void get_change(const void *row, struct cell *cell)
{
	const struct diff_row *diff = row;

	cell->known = true;
	cell->negative = diff->new_bytes < diff->old_bytes;
	cell->value = cell->negative ? diff->old_bytes - diff->new_bytes
	                             : diff->new_bytes - diff->old_bytes;
	cell->tone = cell->value == 0 ? TONE_FAINT : cell->negative ? TONE_GOOD : TONE_BAD;
}

static const struct column columns[] = {
	{ .id = "component", .heading = "memory for", .get = get_name },
	{ .id = "old_bytes", .heading = "old", .type = CELL_BYTES, .get = get_old },
	{ .id = "new_bytes", .heading = "new", .type = CELL_BYTES, .get = get_new },
	{ .id = "change_bytes", .heading = "change", .type = CELL_CHANGE, .get = get_change },
};

/* What is compared, and on which GPUs: NULL by the rule method. */
struct question {
	const struct arguments *arguments;
	const struct vc_gpu *gpus[2];
};

static void print_json(const struct output *out, const struct question *question,
                       const struct change *change, const struct table *table)
{
	const struct arguments *arguments = question->arguments;
	struct json_writer json = { .out = out->file };

	json_open(&json, NULL, '{');
	json_text(&json, "schema", "vramcalc/diff/v1");
	json_text(&json, "old", arguments->operands.items[0]);
	json_text(&json, "new", arguments->operands.items[1]);
	json_u64(&json, "old_bytes", change->old_bytes);
	json_u64(&json, "new_bytes", change->new_bytes);
	table_json(&json, table);
	json_open(&json, "fields", '[');
	for (size_t i = 0; i < change->field_count; i++) {
		json_open(&json, NULL, '{');
		json_text(&json, "field", change->fields[i].name);
		json_text(&json, "old", change->fields[i].old_value);
		json_text(&json, "new", change->fields[i].new_value);
		json_close(&json, '}');
	}
	json_close(&json, ']');
	json_open(&json, "gpus", '[');
	for (size_t i = 0; i < 2 && question->gpus[i]; i++) {
		json_open(&json, NULL, '{');
		json_gpu(&json, "id", question->gpus[i], 1);
		json_close(&json, '}');
	}
	json_close(&json, ']');
	json_close(&json, '}');
}

static void print_fields(struct output *out, const struct change *change)
{
	char line[256];

	if (out->format == FORMAT_CSV) {
		return;
	}
	putc('\n', out->file);
	if (change->field_count == 0) {
		output_paragraph(out, TONE_PLAIN, "No field that sizes memory differs.", 0);
	}
	for (size_t i = 0; i < change->field_count; i++) {
		const struct change_field *field = &change->fields[i];

		snprintf(line, sizeof line, "%s: %s, was %s", field->name, field->new_value,
		         field->old_value);
		fputs("- ", out->file);
		output_paragraph(out, TONE_PLAIN, line, 2);
	}
}

static void print(struct output *out, const struct question *question, const struct change *change)
{
	struct origin_note note = { .count = 0 };
	struct diff_row rows[VC_COMPONENT_COUNT + 1];
	struct table table = { .id = "components",
		               .columns = columns,
		               .column_count = sizeof columns / sizeof *columns,
		               .rows = rows,
		               .row_count = change->component_count + 1,
		               .row_size = sizeof *rows,
		               .rule_before = change->component_count };

	for (size_t i = 0; i < change->component_count; i++) {
		const struct change_component *component = &change->components[i];

		rows[i] = (struct diff_row){ out->format == FORMAT_TEXT ||
			                                     out->format == FORMAT_MARKDOWN
			                             ? name_of_component(component->component)
			                             : vc_component_name(component->component),
			                     component->old_bytes, component->new_bytes };
	}
	rows[change->component_count] =
	        (struct diff_row){ "total", change->old_bytes, change->new_bytes };
	if (out->format == FORMAT_JSON) {
		table.row_count--;
		print_json(out, question, change, &table);
		return;
	}
	out->decimals = format_decimals(change->new_bytes > change->old_bytes ? change->new_bytes
	                                                                      : change->old_bytes,
	                                out->unit);
	table_print(out, &table);
	print_fields(out, change);
	for (size_t i = 0; i < 2 && question->gpus[i]; i++) {
		origin_add(&note, question->gpus[i], false);
	}
	origin_print(out, &note);
}

static enum exit_status compare(struct session *session, struct output *out,
                                struct vc_spec specs[2])
{
	struct question question = { .arguments = session->arguments };
	struct vc_error error = { 0 };
	struct change change;

	for (int i = 0; i < 2; i++) {
		session_request(session, &specs[i].request);
		if (!session_catalog(session, specs[i].budget.currency)) {
			return EXIT_WRONG_INPUT;
		}
		if (specs[i].request.method == VC_METHOD_DETAILED) {
			question.gpus[i] = session_one_gpu(session, &specs[i]);
			if (!question.gpus[i]) {
				return EXIT_WRONG_INPUT;
			}
			specs[i].request.gpu = question.gpus[i];
		}
	}
	if (change_find(&specs[0].request, &specs[1].request, &change, &error) != VC_OK) {
		session_refuse(&specs[1], &error);
		return EXIT_WRONG_INPUT;
	}
	print(out, &question, &change);
	return EXIT_FITS;
}

int diff_command(struct arguments *arguments)
{
	struct session session = { .arguments = arguments };
	enum exit_status status = EXIT_WRONG_INPUT;
	const char *const *names = arguments->operands.items;
	struct vc_spec specs[2];
	struct output out;

	output_open(&out, arguments);
	if (session_read(&session, names[1], &specs[1])) {
		if (change_read_base(&session, names[0], names[1], &specs[0])) {
			status = compare(&session, &out, specs);
			vc_spec_free(&specs[0]);
		}
		vc_spec_free(&specs[1]);
	}
	session_close(&session);
	return (int)status;
}
