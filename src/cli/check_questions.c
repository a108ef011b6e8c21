/* What `check` asks of a spec, question by question. */
#include "check_gate.h"

#include "print_text.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>

struct check_result *check_add(struct check_results *results, enum check_kind kind,
                               const char *spec)
{
	struct check_result *items = realloc(results->items, (results->count + 1) * sizeof *items);

	if (!items) {
		report_no_memory();
		return NULL;
	}
	results->items = items;
	items[results->count] = (struct check_result){ .kind = kind, .spec = spec };
	return &items[results->count++];
}

void check_settle(struct check_results *results, struct check_result *result, bool pass)
{
	result->pass = pass;
	results->failed += !pass;
	results->errors += result->kind == CHECK_INPUT;
}

static void say(struct check_result *result, const char *format, const char *a, const char *b,
                const char *c)
{
	text_append(result->message, sizeof result->message, format, a, b, c);
}

/* ---- One question each ---- */

static bool enough_headroom(const struct gate *gate, const struct vc_candidate *candidate)
{
	uint64_t asked = gate->limits.min_headroom_ppm;

	return asked == 0 ||
	       (candidate->headroom_bytes >= 0 &&
	        (uint64_t)candidate->headroom_bytes >= candidate->have_bytes / 1000000 * asked);
}

/* Nothing is cheap enough when its price is not known in the limit's currency. */
static bool cheap_enough(const struct gate *gate, const char *currency,
                         const struct vc_candidate *candidate)
{
	const struct vc_price *price = &candidate->gpu->price;
	uint64_t limit = gate->limits.max_price_micros;

	return limit == 0 ||
	       (price->known && strcmp(price->currency, currency) == 0 &&
	        price->per_hour_micros <= limit / (candidate->gpus ? candidate->gpus : 1));
}

static void explain_gpu(const struct gate *gate, const char *currency,
                        const struct vc_candidate *candidate, struct check_result *result)
{
	char need[64], have[64], gap[64];
	uint64_t missing = result->need_bytes > result->have_bytes
	                           ? result->need_bytes - result->have_bytes
	                           : 0;

	format_quantity(need, sizeof need, result->need_bytes, gate->unit, ROUND_UP);
	format_quantity(have, sizeof have, result->have_bytes, gate->unit, ROUND_DOWN);
	format_quantity(gap, sizeof gap, missing, gate->unit, ROUND_UP);
	text_append(result->message, sizeof result->message, "needs %s of %s's %s", need,
	            candidate->gpu->name, have);
	if (candidate->gpus > 1) {
		text_append(result->message, sizeof result->message, " on each of %u",
		            (unsigned)candidate->gpus);
	}
	if (missing) {
		say(result, ": %s too much%s%s", gap, "", "");
	} else if (!enough_headroom(gate, candidate)) {
		say(result, ": less headroom than is asked for%s%s%s", "", "", "");
	} else if (!cheap_enough(gate, currency, candidate)) {
		say(result, ": dearer than is allowed, or its price is not known%s%s%s", "", "",
		    "");
	}
}

static uint32_t gpus_allowed(const struct gate *gate, const struct vc_spec *spec)
{
	uint64_t most = gate->limits.max_gpus;

	if (most == 0) {
		return vc_spec_gives(spec, "hardware.max_gpus") ? spec->hardware.max_gpus : 1;
	}
	return most > UINT32_MAX ? UINT32_MAX : (uint32_t)most;
}

struct gpu_question {
	const struct vc_gpu *gpu;
	struct vc_select_options options;
};

static bool suits(const struct gate *gate, const char *currency,
                  const struct vc_candidate *candidate)
{
	return candidate->gpus_needed && enough_headroom(gate, candidate) &&
	       cheap_enough(gate, currency, candidate);
}

static bool passes_gpu(const struct gate *gate, const struct vc_request *request, const void *about)
{
	const struct gpu_question *question = about;
	struct vc_candidate candidate;
	struct vc_error error;

	return vc_select(request, &question->gpu, 1, &question->options, &candidate, &error) ==
	               VC_OK &&
	       suits(gate, question->options.currency, &candidate);
}

bool check_gpu(struct gate *gate, const struct vc_spec *spec, const struct vc_request *request,
               const struct vc_gpu *gpu)
{
	struct gpu_question question = { gpu, { .max_gpus = gpus_allowed(gate, spec) } };
	struct vc_candidate candidate;
	struct vc_error error = { 0 };
	struct check_result *result;
	uint32_t there = local_catalog_count(gate->session.local, gpu);

	if (there < question.options.max_gpus) {
		question.options.max_gpus = there;
	}
	memcpy(question.options.currency, spec->budget.currency, sizeof spec->budget.currency);
	if (vc_select(request, &gpu, 1, &question.options, &candidate, &error) != VC_OK) {
		return session_refuse(spec, &error);
	}
	result = check_add(&gate->results, CHECK_GPU, spec->source);
	if (!result) {
		return false;
	}
	result->gpu = gpu->id;
	result->judged = gpu;
	result->judged_gpus = candidate.gpus;
	result->priced = gate->limits.max_price_micros != 0;
	result->need_bytes = candidate.need_bytes;
	result->have_bytes = candidate.have_bytes;
	explain_gpu(gate, question.options.currency, &candidate, result);
	check_settle(&gate->results, result, suits(gate, question.options.currency, &candidate));
	if (!result->pass) {
		check_find_remedy(&(struct check_trial){ .gate = gate,
		                                         .request = request,
		                                         .passes = passes_gpu,
		                                         .about = &question,
		                                         .gpu = gpu },
		                  result);
	}
	return true;
}

static bool passes_memory(const struct gate *gate, const struct vc_request *request,
                          const void *about)
{
	struct vc_ledger ledger;
	struct vc_error error;

	(void)about;
	return vc_estimate(request, &ledger, &error) == VC_OK &&
	       ledger.recommended_bytes <= gate->limits.max_memory_bytes;
}

bool check_memory(struct gate *gate, const struct vc_spec *spec, const struct vc_request *request)
{
	struct vc_request plain = *request;
	struct vc_ledger ledger;
	struct vc_error error = { 0 };
	struct check_result *result;
	char need[64], limit[64];

	plain.method = VC_METHOD_RULE;
	if (vc_estimate(&plain, &ledger, &error) != VC_OK) {
		return session_refuse(spec, &error);
	}
	result = check_add(&gate->results, CHECK_MEMORY, spec->source);
	if (!result) {
		return false;
	}
	result->need_bytes = ledger.recommended_bytes;
	result->have_bytes = gate->limits.max_memory_bytes;
	format_quantity(need, sizeof need, result->need_bytes, gate->unit, ROUND_UP);
	format_quantity(limit, sizeof limit, result->have_bytes, gate->unit, ROUND_DOWN);
	say(result, "needs %s; at most %s is allowed%s", need, limit, "");
	check_settle(&gate->results, result, result->need_bytes <= result->have_bytes);
	if (!result->pass) {
		check_find_remedy(&(struct check_trial){ .gate = gate,
		                                         .request = &plain,
		                                         .passes = passes_memory },
		                  result);
	}
	return true;
}

/* Both are cheap enough, so that the products do not overflow; no GPUs: none was found. */
static bool is_cheaper(const struct vc_candidate *a, const struct vc_candidate *b)
{
	return b->gpus == 0 ||
	       a->gpu->price.per_hour_micros * a->gpus < b->gpu->price.per_hour_micros * b->gpus;
}

/* The cheapest GPU of the catalog that suits; its `gpus` are 0 where none does. */
static struct vc_candidate cheapest(const struct gate *gate, const struct vc_spec *spec,
                                    const struct vc_request *request)
{
	struct vc_select_options options = { .max_gpus = gpus_allowed(gate, spec) };
	struct vc_candidate best = { 0 };

	memcpy(options.currency, spec->budget.currency, sizeof options.currency);
	for (size_t i = 0; i < gate->session.catalog.count; i++) {
		const struct vc_gpu *gpu = &gate->session.catalog.gpus[i].gpu;
		struct vc_candidate candidate;
		struct vc_error error;

		if (vc_select(request, &gpu, 1, &options, &candidate, &error) == VC_OK &&
		    candidate.gpus_needed && cheap_enough(gate, options.currency, &candidate) &&
		    is_cheaper(&candidate, &best)) {
			best = candidate;
		}
	}
	return best;
}

bool check_price(struct gate *gate, const struct vc_spec *spec, const struct vc_request *request)
{
	struct check_result *result = check_add(&gate->results, CHECK_PRICE, spec->source);
	struct vc_candidate best;

	if (!result) {
		return false;
	}
	best = cheapest(gate, spec, request);
	if (best.gpus) {
		result->need_bytes = best.need_bytes;
		result->have_bytes = best.have_bytes;
		result->judged = best.gpu;
		result->judged_gpus = best.gpus;
		result->priced = true;
		say(result, "%s holds it at that price%s%s", best.gpu->name, "", "");
	} else {
		say(result, "no GPU of the catalog holds it at that price%s%s%s", "", "", "");
	}
	check_settle(&gate->results, result, best.gpus > 0);
	return true;
}

static void explain_increase(const struct gate *gate, const struct change *change,
                             struct check_result *result)
{
	char old[64], new[64];

	format_quantity(old, sizeof old, change->old_bytes, gate->unit, ROUND_NEAREST);
	format_quantity(new, sizeof new, change->new_bytes, gate->unit, ROUND_NEAREST);
	say(result, "M is %s, was %s%s", new, old, "");
	for (size_t i = 0; i < change->component_count; i++) {
		const struct change_component *component = &change->components[i];

		if (component->old_bytes != component->new_bytes) {
			format_quantity(old, sizeof old, component->old_bytes, gate->unit,
			                ROUND_NEAREST);
			format_quantity(new, sizeof new, component->new_bytes, gate->unit,
			                ROUND_NEAREST);
			say(result, "; %s %s to %s", vc_component_name(component->component), old,
			    new);
		}
	}
	for (size_t i = 0; i < change->field_count; i++) {
		say(result, i ? ", %s %s to %s" : "; because %s went from %s to %s",
		    change->fields[i].name, change->fields[i].old_value,
		    change->fields[i].new_value);
	}
}

/* "5%" of the old total, or "2GB". */
static uint64_t allowed_increase(const struct gate *gate, uint64_t old_bytes)
{
	if (gate->limits.max_increase_bytes) {
		return gate->limits.max_increase_bytes;
	}
	return old_bytes / 1000000 * gate->limits.max_increase_ppm;
}

static bool grew_too_much(const struct gate *gate, uint64_t old_bytes, uint64_t new_bytes)
{
	return new_bytes > old_bytes && new_bytes - old_bytes > allowed_increase(gate, old_bytes);
}

static bool passes_increase(const struct gate *gate, const struct vc_request *request,
                            const void *about)
{
	const struct change *change = about;
	struct vc_ledger ledger;
	struct vc_error error;

	return vc_estimate(request, &ledger, &error) == VC_OK &&
	       !grew_too_much(gate, change->old_bytes, ledger.total_bytes);
}

bool check_increase(struct gate *gate, const struct vc_spec *spec, const struct vc_request *request)
{
	struct vc_request plain = *request;
	struct vc_error error = { 0 };
	struct check_result *result;
	struct vc_spec base;
	struct change change;
	enum vc_status status;

	if (!change_read_base(&gate->session, gate->arguments->base, spec->source, &base)) {
		return false;
	}
	session_request(&gate->session, &base.request);
	base.request.method = VC_METHOD_RULE;
	plain.method = VC_METHOD_RULE;
	status = change_find(&base.request, &plain, &change, &error);
	vc_spec_free(&base);
	if (status != VC_OK) {
		return session_refuse(spec, &error);
	}
	result = check_add(&gate->results, CHECK_INCREASE, spec->source);
	if (!result) {
		return false;
	}
	result->need_bytes = change.new_bytes;
	result->have_bytes = change.old_bytes;
	explain_increase(gate, &change, result);
	check_settle(&gate->results, result,
	             !grew_too_much(gate, change.old_bytes, change.new_bytes));
	if (!result->pass) {
		check_find_remedy(&(struct check_trial){ .gate = gate,
		                                         .request = &plain,
		                                         .passes = passes_increase,
		                                         .about = &change,
		                                         .change = &change },
		                  result);
	}
	return true;
}
