/* The smallest change with which a spec would pass what it failed: for the sentence of a report. */
#include "check_gate.h"

#include "print_text.h"

#include <inttypes.h>
#include <string.h>

/* The workload's own numbers; which of them may give way differs by task. */
static const char *const numbers[][3] = {
	[VC_TASK_INFERENCE] = { "workload.concurrency", "workload.batch_size",
	                        "workload.sequence_length" },
	[VC_TASK_TRAINING] = { "workload.batch_size", "workload.sequence_length", NULL },
};

static uint64_t *number_of(struct vc_request *request, const char *field)
{
	struct vc_workload *workload = &request->workload;

	return strcmp(field, "workload.batch_size") == 0    ? &workload->batch_size
	       : strcmp(field, "workload.concurrency") == 0 ? &workload->concurrency
	                                                    : &workload->sequence_length;
}

static bool passes_with(const struct check_trial *trial, const char *field, uint64_t value)
{
	struct vc_request changed = *trial->request;

	*number_of(&changed, field) = value;
	return trial->passes(trial->gate, &changed, trial->about);
}

/* The largest value that passes, since memory grows with each of these numbers. */
static bool try_number(const struct check_trial *trial, const char *field,
                       struct check_remedy *remedy)
{
	struct vc_request request = *trial->request;
	uint64_t good = 1, bad = *number_of(&request, field);

	if (bad <= 1 || !passes_with(trial, field, good)) {
		return false;
	}
	while (bad - good > 1) {
		uint64_t middle = good + (bad - good) / 2;

		if (passes_with(trial, field, middle)) {
			good = middle;
		} else {
			bad = middle;
		}
	}
	remedy->count = 1;
	remedy->up_to = true;
	remedy->settings[0].field = field;
	snprintf(remedy->settings[0].value, sizeof remedy->settings[0].value, "%" PRIu64, good);
	return true;
}

static bool is_among(const struct change *change, const char *field)
{
	for (size_t i = 0; change && i < change->field_count; i++) {
		if (strcmp(change->fields[i].name, field) == 0) {
			return true;
		}
	}
	return false;
}

/* The easiest plan of `advise` on this GPU that passes. */
static bool try_plans(const struct check_trial *trial, struct check_remedy *remedy)
{
	struct vc_advise_options options = { .gpus = 1 };
	struct vc_plan plans[4];
	struct vc_advice advice = { 0 };
	struct vc_error error;

	if (vc_advise(trial->request, trial->gpu, &options, plans, sizeof plans / sizeof *plans,
	              &advice, &error) != VC_OK) {
		return false;
	}
	for (size_t i = 0; i < advice.plan_count; i++) {
		if (plans[i].gpu != trial->gpu ||
		    !trial->passes(trial->gate, &plans[i].request, trial->about)) {
			continue;
		}
		for (uint32_t s = 0; s < plans[i].step_count; s++) {
			const struct vc_step *step = &plans[i].steps[s];

			memcpy(remedy->settings + remedy->count, step->settings,
			       step->setting_count * sizeof *step->settings);
			remedy->count += step->setting_count;
		}
		return true;
	}
	return false;
}

static bool find(const struct check_trial *trial, struct check_remedy *remedy)
{
	const char *const *fields = numbers[trial->request->workload.task];

	for (int changed = 1; changed >= 0; changed--) {
		for (int i = 0; i < 3 && fields[i]; i++) {
			if (is_among(trial->change, fields[i]) == (changed != 0) &&
			    try_number(trial, fields[i], remedy)) {
				return true;
			}
		}
	}
	return trial->gpu && try_plans(trial, remedy);
}

void check_find_remedy(const struct check_trial *trial, struct check_result *result)
{
	struct check_remedy *remedy = &result->remedy;

	if (!find(trial, remedy)) {
		return;
	}
	if (remedy->up_to) {
		text_append(result->message, sizeof result->message, "; %s up to %s would pass",
		            remedy->settings[0].field, remedy->settings[0].value);
		return;
	}
	for (size_t i = 0; i < remedy->count; i++) {
		text_append(result->message, sizeof result->message, "%s%s=%s",
		            i ? ", " : "; would pass with ", remedy->settings[i].field,
		            remedy->settings[i].value);
	}
}
