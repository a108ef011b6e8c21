#include "ledger.h"

#include "sat.h"
#include "text.h"

#include <string.h>

static struct vc_line *add(struct vc_line *lines, uint32_t *count, uint32_t max)
{
	/* A full list folds into its last line, so that the sum stays right. */
	if (*count < max) {
		(*count)++;
	}
	return &lines[*count - 1];
}

static struct vc_line *fill(struct vc_line *line, enum vc_component component, uint64_t bytes,
                            const char *formula)
{
	line->component = component;
	line->bytes = sat_add(line->bytes, bytes);
	line->formula = formula;
	return line;
}

struct vc_line *vc_ledger_add(struct vc_ledger *ledger, enum vc_component component, uint64_t bytes,
                              const char *formula)
{
	return fill(add(ledger->lines, &ledger->line_count, VC_MAX_LINES), component, bytes,
	            formula);
}

struct vc_line *vc_ledger_add_host(struct vc_ledger *ledger, enum vc_component component,
                                   uint64_t bytes, const char *formula)
{
	struct vc_host *host = &ledger->host;

	return fill(add(host->lines, &host->line_count, sizeof host->lines / sizeof *host->lines),
	            component, bytes, formula);
}

void vc_line_range(struct vc_line *line, uint64_t below, uint64_t above)
{
	line->low_bytes = sat_sub(line->bytes, below);
	line->high_bytes = sat_add(line->bytes, above);
}

void vc_line_ratio(struct vc_line *line, const char *name, uint64_t value, uint64_t divisor)
{
	if (line->input_count < VC_MAX_INPUTS) {
		line->inputs[line->input_count++] = (struct vc_input){ name, value, divisor };
	}
}

void vc_line_input(struct vc_line *line, const char *name, uint64_t value)
{
	vc_line_ratio(line, name, value, 1);
}

void vc_ledger_note(struct vc_ledger *ledger, const char *code, const char *text,
                    const uint64_t args[3])
{
	struct vc_note *note = &ledger->notes[ledger->note_count];

	if (ledger->note_count == VC_MAX_NOTES) {
		return;
	}
	for (uint32_t i = 0; i < ledger->note_count; i++) {
		if (strcmp(ledger->notes[i].code, code) == 0) {
			return;
		}
	}
	note->code = code;
	note->text = text;
	if (args) {
		memcpy(note->args, args, sizeof note->args);
	}
	ledger->note_count++;
}

void vc_ledger_phase(struct vc_ledger *ledger, const char *name, uint64_t total_bytes)
{
	if (ledger->phase_count < VC_MAX_PHASES) {
		ledger->phases[ledger->phase_count++] = (struct vc_phase){ name, total_bytes };
	}
}

static uint64_t sum(const struct vc_line *lines, uint32_t count)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < count; i++) {
		total = sat_add(total, lines[i].bytes);
	}
	return total;
}

static bool ranges_ok(const struct vc_ledger *ledger)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < ledger->line_count; i++) {
		total = sat_add(total, ledger->lines[i].high_bytes);
	}
	return sat_ok(total);
}

enum vc_status vc_ledger_finish(struct vc_ledger *ledger, struct vc_error *error)
{
	ledger->total_bytes = sum(ledger->lines, ledger->line_count);
	ledger->host.total_bytes = sum(ledger->host.lines, ledger->host.line_count);
	if (!ranges_ok(ledger) || !sat_ok(ledger->total_bytes) ||
	    !sat_ok(ledger->host.total_bytes) || !sat_ok(ledger->low_bytes) ||
	    !sat_ok(ledger->high_bytes) || !sat_ok(ledger->recommended_bytes) ||
	    !sat_ok(ledger->need_bytes) || !sat_ok(ledger->need_expected_bytes)) {
		return vc_fail(error, VC_OVERFLOW, "",
		               "the estimate exceeds 2^63-1 bytes (a model, batch and length "
		               "that stay below it)");
	}
	return VC_OK;
}

uint64_t vc_ledger_component(const struct vc_ledger *ledger, enum vc_component component)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < ledger->line_count; i++) {
		if (ledger->lines[i].component == component) {
			total = sat_add(total, ledger->lines[i].bytes);
		}
	}
	return total;
}
