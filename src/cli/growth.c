#include "growth.h"

#include "names.h"
#include "print_text.h"

#include <inttypes.h>

enum {
	LEAST_LENGTH = 256, /* a shorter one needs no picture */
	LEAST_POINTS = 4
};

const struct growth_words growth_words[VC_SOLVE_FIELD_COUNT] = {
	[VC_SOLVE_BATCH_SIZE] = { "batch", "Batch", "sequences", "sequences at a time" },
	[VC_SOLVE_SEQUENCE_LENGTH] = { "length", "Sequence length", "tokens",
	                               "tokens of a sequence" },
	[VC_SOLVE_CONCURRENCY] = { "concurrency", "Concurrency", "requests", "requests at once" },
};

static uint64_t *field_of(struct vc_request *request, enum vc_solve_field field)
{
	switch (field) {
	case VC_SOLVE_SEQUENCE_LENGTH:
		return &request->workload.sequence_length;
	case VC_SOLVE_CONCURRENCY:
		return &request->workload.concurrency;
	default:
		return &request->workload.batch_size;
	}
}

/* False where the value cannot be estimated: the line ends there. */
static bool add(struct growth *growth, struct vc_request *request, uint64_t value)
{
	struct vc_ledger ledger;
	struct vc_error error;

	*field_of(request, growth->field) = value;
	if (growth->count == GROWTH_POINTS || vc_estimate(request, &ledger, &error) != VC_OK) {
		return false;
	}
	growth->points[growth->count++] =
	        (struct growth_point){ value, ledger.need_bytes, ledger.need_expected_bytes };
	return true;
}

/* Powers of two until it fits no more, and at least as far as the spec goes. */
static void add_points(struct growth *growth, struct vc_request *request)
{
	uint64_t value = growth->field == VC_SOLVE_SEQUENCE_LENGTH ? LEAST_LENGTH : 1;
	uint64_t most = growth->field == VC_SOLVE_SEQUENCE_LENGTH ? 1 << 20 : 1 << 10;
	bool over = false;

	while (value > growth->now) {
		value /= 2;
	}
	for (; value <= UINT64_MAX / 4; value *= 2) {
		bool between = value > growth->now && growth->count &&
		               growth->points[growth->count - 1].value < growth->now;

		if ((between && !add(growth, request, growth->now)) ||
		    !add(growth, request, value)) {
			return;
		}
		over = over || growth->points[growth->count - 1].need_bytes > growth->limit_bytes;
		if (value >= growth->now && growth->count >= LEAST_POINTS &&
		    (over || value >= most)) {
			return;
		}
	}
}

static bool is_flat(const struct growth *growth)
{
	for (size_t i = 1; i < growth->count; i++) {
		if (growth->points[i].need_bytes != growth->points[0].need_bytes) {
			return false;
		}
	}
	return true;
}

static void estimate(const struct plan *plan, struct growth *growth)
{
	const struct vc_candidate *candidate = growth->candidate;
	struct vc_request request = plan->request;
	struct vc_solution solution;
	struct vc_error error;

	request.method = growth->method;
	request.parallelism = candidate->layout;
	request.gpu = candidate->gpu;
	growth->limit_bytes = vc_gpu_offers_bytes(candidate->gpu, growth->method);
	growth->now = *field_of(&request, growth->field);
	growth->count = 0;
	add_points(growth, &request);
	growth->flat = is_flat(growth);
	if (vc_solve(&request, candidate->gpu, growth->field, &solution, &error) == VC_OK) {
		growth->most = solution.value;
		growth->bounded = solution.bytes_at_next != 0;
	}
}

void growth_estimate(const struct plan *plan, enum vc_solve_field field, struct growth *growth)
{
	*growth = (struct growth){ .field = field, .method = plan->request.method };
	if (plan->count == 0) {
		return;
	}
	growth->candidate = &plan->candidates[0];
	estimate(plan, growth);
	if (growth->flat && growth->method == VC_METHOD_RULE && plan->has_detailed) {
		growth->method = VC_METHOD_DETAILED;
		estimate(plan, growth);
	}
}

/* "Batch, at 4096 tokens a sequence: ", "Sequence length, at 16 requests at once: " */
static void append_subject(const struct growth *growth, const struct plan *plan, char to[PLAN_TEXT])
{
	const struct vc_workload *workload = &plan->request.workload;

	text_append(to, PLAN_TEXT, "%s, at ", growth_words[growth->field].name);
	if (growth->field != VC_SOLVE_SEQUENCE_LENGTH) {
		text_append(to, PLAN_TEXT,
		            "%" PRIu64 " tokens a sequence: ", workload->sequence_length);
	} else if (workload->concurrency > 1) {
		text_append(to, PLAN_TEXT, "%" PRIu64 " requests at once: ", workload->concurrency);
	} else {
		text_append(to, PLAN_TEXT, "batch %" PRIu64 ": ", workload->batch_size);
	}
}

void growth_sentence(const struct growth *growth, const struct plan *plan, char to[PLAN_TEXT])
{
	const char *unit = growth_words[growth->field].unit;

	*to = '\0';
	append_subject(growth, plan, to);
	if (growth->flat) {
		text_append(to, PLAN_TEXT, "memory does not depend on it by the %s method.",
		            name_of_method(growth->method));
		return;
	}
	if (growth->most == 0) {
		text_append(to, PLAN_TEXT, "not even 1 fits ");
	} else if (!growth->bounded) {
		text_append(to, PLAN_TEXT, "memory stops growing, so that any number of %s fits ",
		            unit);
	} else if (growth->most == 1) {
		text_append(to, PLAN_TEXT, "only 1 fits ");
	} else {
		text_append(to, PLAN_TEXT, "up to %" PRIu64 " %s fit ", growth->most, unit);
	}
	if (growth->candidate->gpus == 1) {
		text_append(to, PLAN_TEXT, "one %s", growth->candidate->gpu->name);
	} else {
		text_append(to, PLAN_TEXT, "%" PRIu32 " × %s", growth->candidate->gpus,
		            growth->candidate->gpu->name);
	}
	text_append(to, PLAN_TEXT, " by the %s method.", name_of_method(growth->method));
}
