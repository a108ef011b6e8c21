#include "plan_change.h"

#include "print_text.h"

#include <inttypes.h>

void plan_find_change(struct plan *plan)
{
	struct vc_advise_options options = { .gpus = plan->options.max_gpus };
	struct vc_error error = { 0 };
	struct vc_advice advice;

	if (plan->count == 0 || plan_best(plan) || plan->candidates[0].host_short) {
		return;
	}
	plan->change_for = plan->candidates[0].gpu;
	for (size_t i = 0; i < plan->count; i++) {
		if (plan->candidates[i].verdict == VC_VERDICT_TIGHT) {
			plan->change_for = plan->candidates[i].gpu;
			break;
		}
	}
	if (vc_advise(&plan->request, plan->change_for, &options, &plan->change, 1, &advice,
	              &error) != VC_OK) {
		plan->change_for = NULL;
		return;
	}
	plan->change_found = advice.plan_count > 0;
}

bool plan_note_change(const struct plan *plan, enum byte_unit unit, char to[PLAN_TEXT])
{
	const struct vc_plan *change = &plan->change;
	uint32_t gpus = vc_layout_gpus(&change->request.parallelism);
	char need[64];

	if (!plan->change_for) {
		return false;
	}
	if (!plan->change_found) {
		text_append(to, PLAN_TEXT,
		            "No measure that advise knows makes it fit %s; the nearest is what "
		            "vramcalc advise --gpu %s shows.",
		            plan->change_for->name, plan->change_for->id);
		return true;
	}
	text_append(to, PLAN_TEXT, "It would fit ");
	if (gpus > 1) {
		text_append(to, PLAN_TEXT, "%" PRIu32 " × ", gpus);
	}
	text_append(to, PLAN_TEXT, "%s with ", plan->change_for->name);
	for (uint32_t i = 0, shown = 0; i < change->step_count; i++) {
		const struct vc_step *step = &change->steps[i];

		for (uint32_t k = 0; k < step->setting_count; k++) {
			text_append(to, PLAN_TEXT, "%s%s=%s", shown++ ? ", " : "",
			            step->settings[k].field, step->settings[k].value);
		}
	}
	format_quantity(need, sizeof need, change->need_bytes, unit, ROUND_UP);
	text_append(to, PLAN_TEXT,
	            ": %s needed. vramcalc advise --gpu %s shows other ways, and what each costs.",
	            need, plan->change_for->id);
	return true;
}
