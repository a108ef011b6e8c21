/* What `plan` says below the ledger: the memory to look for, phases, host memory, serving. */
#include "plan.h"

#include "names.h"
#include "note.h"
#include "print_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool say_recommended(const struct plan *plan, enum byte_unit unit, char to[PLAN_TEXT])
{
	const struct vc_rule_options *rule = &plan->request.rule;
	const struct vc_ledger *ledger = &plan->rule;
	char total[64], overhead[64], need[64], low[64], high[64], margin[40];

	if (plan_ledger(plan) != ledger) {
		return false;
	}
	format_quantity(total, sizeof total, ledger->total_bytes, unit, ROUND_NEAREST);
	format_quantity(overhead, sizeof overhead, rule->overhead_bytes, unit, ROUND_NEAREST);
	format_quantity(need, sizeof need, ledger->recommended_bytes, unit, ROUND_UP);
	format_quantity(low, sizeof low, ledger->low_bytes, unit, ROUND_NEAREST);
	format_quantity(high, sizeof high, ledger->high_bytes, unit, ROUND_NEAREST);
	format_ratio(margin, sizeof margin, rule->margin_ppm, 1000000);
	text_append(to, PLAN_TEXT,
	            "M_rec = %s × (M + %s) = %s × (%s + %s) = %s: the memory to look for.", margin,
	            overhead, margin, total, overhead, need);
	if (ledger->low_bytes != ledger->high_bytes) {
		text_append(to, PLAN_TEXT, " M is usually %s to %s.", low, high);
	}
	return true;
}

static bool say_need(const struct plan *plan, enum byte_unit unit, char to[PLAN_TEXT])
{
	const struct vc_ledger *ledger = &plan->detailed;
	char need[64], expected[64];

	if (plan_ledger(plan) != ledger) {
		return false;
	}
	format_quantity(need, sizeof need, ledger->need_bytes, unit, ROUND_UP);
	format_quantity(expected, sizeof expected, ledger->need_expected_bytes, unit,
	                ROUND_NEAREST);
	if (ledger->need_expected_bytes == ledger->need_bytes) {
		text_append(to, PLAN_TEXT,
		            "A GPU must offer %s; what the allocator holds idle beyond that "
		            "gives way where there is less room.",
		            need);
	} else {
		text_append(to, PLAN_TEXT,
		            "A GPU must offer %s to be sure; %s is the expected value.", need,
		            expected);
	}
	return true;
}

static bool say_phases(const struct plan *plan, enum byte_unit unit, char to[PLAN_TEXT])
{
	const struct vc_ledger *ledger = plan_ledger(plan);
	char quantity[64];

	if (ledger->phase_count < 2) {
		return false;
	}
	text_append(to, PLAN_TEXT, "Phases:");
	for (uint32_t i = 0; i < ledger->phase_count; i++) {
		format_quantity(quantity, sizeof quantity, ledger->phases[i].total_bytes, unit,
		                ROUND_NEAREST);
		text_append(to, PLAN_TEXT, "%s %s %s", i ? "," : "", ledger->phases[i].name,
		            quantity);
	}
	text_append(to, PLAN_TEXT, "; the lines are those of the largest.");
	return true;
}

static bool say_host(const struct plan *plan, enum byte_unit unit, char to[PLAN_TEXT])
{
	const struct vc_ledger *ledger = plan_ledger(plan);
	char quantity[64];

	if (ledger->host.line_count == 0) {
		return false;
	}
	format_quantity(quantity, sizeof quantity, ledger->host.total_bytes, unit, ROUND_NEAREST);
	text_append(to, PLAN_TEXT, "Host memory: %s", quantity);
	for (uint32_t i = 0; i < ledger->host.line_count; i++) {
		const struct vc_line *line = &ledger->host.lines[i];

		format_quantity(quantity, sizeof quantity, line->bytes, unit, ROUND_NEAREST);
		text_append(to, PLAN_TEXT, "%s%s %s", i ? ", " : ": ",
		            name_of_component(line->component), quantity);
	}
	text_append(to, PLAN_TEXT, ".");
	return true;
}

static bool say_serving(const struct plan *plan, enum byte_unit unit, char to[PLAN_TEXT])
{
	const struct vc_serving *serving = &plan->detailed.serving;
	char quantity[64], requests[40];

	if (!plan->has_detailed || !serving->known) {
		return false;
	}
	format_quantity(quantity, sizeof quantity, serving->kv_bytes_available, unit, ROUND_DOWN);
	format_ratio(requests, sizeof requests, serving->max_concurrency_milli / 100, 10);
	text_append(to, PLAN_TEXT,
	            "Serving on %" PRIu32 " × %s: %s of KV cache%s hold %" PRIu64
	            " tokens, %s requests of %" PRIu64 " tokens at once.",
	            plan->detailed_for->gpus, plan->detailed_for->gpu->name, quantity,
	            plan->detailed_for->gpus > 1 ? " on each" : "", serving->kv_tokens, requests,
	            plan->request.workload.sequence_length);
	return true;
}

bool plan_remark(const struct plan *plan, enum byte_unit unit, size_t index, char to[PLAN_TEXT])
{
	static bool (*const remarks[])(const struct plan *plan, enum byte_unit unit,
	                               char to[PLAN_TEXT]) = { say_recommended, say_need,
		                                               say_phases, say_host, say_serving };

	for (size_t i = 0; i < sizeof remarks / sizeof *remarks; i++) {
		*to = '\0';
		if (remarks[i](plan, unit, to) && index-- == 0) {
			return true;
		}
	}
	return false;
}

void plan_formula(const struct vc_line *line, enum byte_unit unit, char to[PLAN_TEXT])
{
	char numbers[512], quantity[64], bytes[32], low[64], high[64];

	*to = '\0';
	formula_render(numbers, sizeof numbers, line);
	format_quantity(quantity, sizeof quantity, line->bytes, unit, ROUND_NEAREST);
	text_append(to, PLAN_TEXT, "%s%s%s = %s", vc_component_name(line->component),
	            line->role ? ", " : "", line->role ? line->role : "", line->formula);
	snprintf(bytes, sizeof bytes, "%" PRIu64, line->bytes);
	/* A formula that is one name has nothing to work out. */
	if (line->input_count > 0 && strcmp(numbers, bytes) != 0) {
		text_append(to, PLAN_TEXT, " = %s", numbers);
	}
	text_append(to, PLAN_TEXT, " = %s B", bytes);
	if (unit != UNIT_B) {
		text_append(to, PLAN_TEXT, " (%s)", quantity);
	}
	if (line->high_bytes > 0) {
		format_quantity(low, sizeof low, line->low_bytes, unit, ROUND_NEAREST);
		format_quantity(high, sizeof high, line->high_bytes, unit, ROUND_NEAREST);
		text_append(to, PLAN_TEXT, ", measured within %s to %s", low, high);
	}
}
