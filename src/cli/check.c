/* `check`: the gate for continuous integration. */
#include "check.h"

#include "change.h"
#include "commands.h"
#include "policy.h"
#include "print_text.h"
#include "quantity.h"
#include "report.h"
#include "session.h"
#include "spec_list.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What is asked: by the command line, or by one rule of a policy. */
struct limits {
	const char *rule; /* its name; NULL: the command line's */
	struct text_list gpus;
	uint64_t max_gpus; /* 0: not given; of the following too */
	uint64_t max_memory_bytes, max_price_micros, min_headroom_ppm;
	bool spec_gpus; /* those that a spec names count, where no others are named */
	bool compared;
	uint64_t max_increase_bytes, max_increase_ppm;
};

struct gate {
	const struct arguments *arguments;
	struct session session;
	enum byte_unit unit;
	struct limits asked;  /* by the command line */
	struct limits limits; /* that are being checked */
	struct vc_policy *policy;
	char today[11];
	struct check_results results;
};

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

static void settle(struct check_results *results, struct check_result *result, bool pass)
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

/* Nothing is cheap enough when its price is not known. */
static bool cheap_enough(const struct gate *gate, const struct vc_candidate *candidate)
{
	const struct vc_price *price = &candidate->gpu->price;
	uint64_t limit = gate->limits.max_price_micros;

	return limit == 0 ||
	       (price->known &&
	        price->per_hour_micros <= limit / (candidate->gpus ? candidate->gpus : 1));
}

static void explain_gpu(const struct gate *gate, const struct vc_candidate *candidate,
                        struct check_result *result)
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
	} else if (!cheap_enough(gate, candidate)) {
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

static bool check_gpu(struct gate *gate, const struct vc_spec *spec,
                      const struct vc_request *request, const struct vc_gpu *gpu)
{
	struct vc_select_options options = { .max_gpus = gpus_allowed(gate, spec) };
	struct vc_candidate candidate;
	struct vc_error error = { 0 };
	struct check_result *result;

	memcpy(options.currency, spec->budget.currency, sizeof options.currency);
	if (vc_select(request, &gpu, 1, &options, &candidate, &error) != VC_OK) {
		return session_refuse(spec, &error);
	}
	result = check_add(&gate->results, CHECK_GPU, spec->source);
	if (!result) {
		return false;
	}
	result->gpu = gpu->id;
	result->need_bytes = candidate.need_bytes;
	result->have_bytes = candidate.have_bytes;
	explain_gpu(gate, &candidate, result);
	settle(&gate->results, result,
	       candidate.gpus_needed && enough_headroom(gate, &candidate) &&
	               cheap_enough(gate, &candidate));
	return true;
}

/* By the bytes that one GPU must offer; without --gpu only the rule can say that. */
static bool check_memory(struct gate *gate, const struct vc_spec *spec,
                         const struct vc_request *request)
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
	settle(&gate->results, result, result->need_bytes <= result->have_bytes);
	return true;
}

/* Some GPU of the catalog holds it at the price. */
static bool check_price(struct gate *gate, const struct vc_spec *spec,
                        const struct vc_request *request)
{
	struct check_result *result = check_add(&gate->results, CHECK_PRICE, spec->source);
	struct vc_select_options options = { .max_gpus = gpus_allowed(gate, spec) };
	bool found = false;

	if (!result) {
		return false;
	}
	memcpy(options.currency, spec->budget.currency, sizeof options.currency);
	for (size_t i = 0; i < gate->session.catalog.count && !found; i++) {
		const struct vc_gpu *gpu = &gate->session.catalog.gpus[i].gpu;
		struct vc_candidate candidate;
		struct vc_error error;

		found = vc_select(request, &gpu, 1, &options, &candidate, &error) == VC_OK &&
		        candidate.gpus_needed && cheap_enough(gate, &candidate);
		if (found) {
			result->need_bytes = candidate.need_bytes;
			result->have_bytes = candidate.have_bytes;
			say(result, "%s holds it at that price%s%s", gpu->name, "", "");
		}
	}
	if (!found) {
		say(result, "no GPU of the catalog holds it at that price%s%s%s", "", "", "");
	}
	settle(&gate->results, result, found);
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

static bool check_increase(struct gate *gate, const struct vc_spec *spec,
                           const struct vc_request *request)
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
	settle(&gate->results, result,
	       change.new_bytes <= change.old_bytes ||
	               change.new_bytes - change.old_bytes <=
	                       allowed_increase(gate, change.old_bytes));
	return true;
}

/* ---- All questions of one spec ---- */

static bool check_gpus(struct gate *gate, const struct vc_spec *spec,
                       const struct vc_request *request)
{
	struct gpu_list list = { .gpus = malloc(gate->session.catalog.count * sizeof *list.gpus) };
	struct arguments named = *gate->arguments;
	struct session session = gate->session;
	bool judged = list.gpus != NULL;

	if (!judged) {
		report_no_memory();
	}
	named.gpus = gate->limits.gpus;
	session.arguments = &named;
	judged = judged && session_choose(&session, spec, &list);
	for (size_t i = 0; judged && i < list.count; i++) {
		judged = check_gpu(gate, spec, request, list.gpus[i]);
	}
	free(list.gpus);
	return judged;
}

/* What is asked of GPUs where there are none would be passed unchecked. */
static bool means_something(const struct gate *gate, const struct vc_spec *spec, bool gpus)
{
	const struct limits *limits = &gate->limits;
	bool priced = limits->max_price_micros != 0;
	const char *idle = gpus                          ? NULL
	                   : limits->min_headroom_ppm    ? "--min-headroom"
	                   : limits->max_gpus && !priced ? "--max-gpus"
	                   : gate->arguments->method.index == VC_METHOD_DETAILED && !priced
	                           ? "--method detailed"
	                           : NULL;

	if (!gpus && !limits->max_memory_bytes && !priced && !limits->compared) {
		fprintf(stderr,
		        "vramcalc check: %s: nothing to check against (expected --gpu, "
		        "--max-memory, --max-price, --base, --policy or hardware.gpus)\n",
		        spec->source);
		return false;
	}
	if (idle && !limits->rule) {
		fprintf(stderr, "vramcalc check: %s: %s: goes with --gpu or hardware.gpus\n",
		        spec->source, idle);
		return false;
	}
	return true;
}

static bool check_limits(struct gate *gate, const struct vc_spec *spec,
                         const struct vc_request *request)
{
	const struct limits *limits = &gate->limits;
	bool gpus =
	        limits->gpus.count || (limits->spec_gpus && vc_spec_gives(spec, "hardware.gpus"));
	bool judged = means_something(gate, spec, gpus);

	if (judged && gpus) {
		judged = check_gpus(gate, spec, request);
	}
	if (judged && limits->max_memory_bytes) {
		judged = check_memory(gate, spec, request);
	}
	if (judged && limits->max_price_micros && !gpus) {
		judged = check_price(gate, spec, request);
	}
	if (judged && limits->compared) {
		judged = check_increase(gate, spec, request);
	}
	return judged;
}

/* ---- Rules of a policy ---- */

static bool matches(const struct vc_policy_rule *rule, const char *spec)
{
	for (uint32_t i = 0; i < rule->specs_count; i++) {
		if (fnmatch(rule->specs[i], spec, 0) == 0) {
			return true;
		}
	}
	return rule->specs_count == 0;
}

/* Of several the one that ends last. */
static const struct vc_policy_exception *exception_of(const struct vc_policy_rule *rule,
                                                      const char *spec)
{
	const struct vc_policy_exception *last = NULL;

	for (uint32_t i = 0; i < rule->exceptions_count; i++) {
		const struct vc_policy_exception *exception = &rule->exceptions[i];

		if (fnmatch(exception->spec, spec, 0) == 0 &&
		    (!last || strcmp(exception->expires, last->expires) > 0)) {
			last = exception;
		}
	}
	return last;
}

/* The reader has seen to it that the texts are well-formed. */
static struct limits rule_limits(const struct gate *gate, struct vc_policy_rule *rule)
{
	struct limits limits = { .rule = rule->name };

	if (rule->gpu) {
		limits.gpus = (struct text_list){ (const char **)&rule->gpu, 1 };
	}
	if (rule->max_gpus) {
		vc_quantity_parse(VC_QUANTITY_COUNT, rule->max_gpus, &limits.max_gpus);
	}
	if (rule->max_memory) {
		vc_quantity_parse(VC_QUANTITY_BYTES, rule->max_memory, &limits.max_memory_bytes);
	}
	if (rule->min_headroom) {
		vc_quantity_parse(VC_QUANTITY_PPM, rule->min_headroom, &limits.min_headroom_ppm);
	}
	if (rule->max_price) {
		vc_quantity_parse(VC_QUANTITY_MICROS, rule->max_price, &limits.max_price_micros);
	}
	if (rule->max_increase && gate->arguments->base) {
		limits.compared = true;
		vc_policy_increase(rule->max_increase, &limits.max_increase_ppm,
		                   &limits.max_increase_bytes);
	}
	return limits;
}

/* Names the rule in its results, and lets an exception that still holds forgive them. */
static void apply_exception(struct gate *gate, const struct vc_policy_rule *rule, const char *spec,
                            size_t first)
{
	const struct vc_policy_exception *exception = exception_of(rule, spec);
	bool holds = exception && strcmp(gate->today, exception->expires) <= 0;

	for (size_t i = first; i < gate->results.count; i++) {
		struct check_result *result = &gate->results.items[i];

		text_append(result->message, sizeof result->message, " (rule \"%s\"", rule->name);
		if (exception && !result->pass) {
			text_append(result->message, sizeof result->message,
			            holds ? "; excepted until %s: %s"
			                  : "; its exception ended on %s: %s",
			            exception->expires, exception->reason);
		}
		text_append(result->message, sizeof result->message, ")");
		if (holds && !result->pass) {
			result->pass = true;
			gate->results.failed--;
		}
	}
}

/* What the command line asks for beside the policy. */
static bool asks_more(const struct limits *asked)
{
	return asked->gpus.count || asked->max_gpus || asked->max_memory_bytes ||
	       asked->max_price_micros || asked->min_headroom_ppm || asked->compared;
}

static bool check_policy(struct gate *gate, const struct vc_spec *spec,
                         const struct vc_request *request)
{
	bool judged = true, meant = false;

	for (uint32_t i = 0; judged && i < gate->policy->rules_count; i++) {
		struct vc_policy_rule *rule = &gate->policy->rules[i];
		size_t first = gate->results.count;

		if (!matches(rule, spec->source)) {
			continue;
		}
		meant = true;
		gate->limits = rule_limits(gate, rule);
		if (rule->max_increase && !gate->limits.compared && !rule->gpu &&
		    !rule->max_memory && !rule->max_price) {
			continue; /* a rule about growth says nothing without a base */
		}
		judged = check_limits(gate, spec, request);
		apply_exception(gate, rule, spec->source, first);
	}
	if (judged && asks_more(&gate->asked)) {
		gate->limits = gate->asked;
		return check_limits(gate, spec, request);
	}
	if (!meant) {
		fprintf(stderr, "vramcalc check: %s: no rule of %s is about it\n", spec->source,
		        gate->arguments->policy);
	}
	return judged;
}

static bool check_spec(struct gate *gate, const struct vc_spec *spec)
{
	struct vc_request request = spec->request;

	if (!session_catalog(&gate->session, spec->budget.currency)) {
		return false;
	}
	session_request(&gate->session, &request);
	gate->limits = gate->asked;
	return gate->policy ? check_policy(gate, spec, &request)
	                    : check_limits(gate, spec, &request);
}

static bool read_and_check(struct gate *gate, const char *name)
{
	struct check_result *result;
	struct vc_spec spec;
	bool judged = session_read(&gate->session, name, &spec);

	if (judged) {
		size_t first = gate->results.count;

		judged = check_spec(gate, &spec);
		for (size_t i = first; i < gate->results.count; i++) {
			gate->results.items[i].spec = name; /* outlives the spec */
		}
		vc_spec_free(&spec);
	}
	if (judged) {
		return true;
	}
	result = check_add(&gate->results, CHECK_INPUT, name);
	if (result) {
		say(result, "cannot be checked: see standard error%s%s%s", "", "", "");
		settle(&gate->results, result, false);
	}
	return false;
}

static bool report(struct gate *gate, struct output *out)
{
	const struct arguments *arguments = gate->arguments;
	bool written = true;

	if (arguments->junit) {
		written = check_write_junit(arguments->junit, &gate->results);
	}
	if (arguments->sarif) {
		written = check_write_sarif(arguments->sarif, &gate->results) && written;
	}
	if (arguments->quiet) {
		return written;
	}
	if (arguments->github) {
		check_print_github(out, &gate->results);
	} else if (out->format == FORMAT_JSON) {
		check_print_json(out, &gate->results);
	} else if (out->format == FORMAT_MARKDOWN) {
		check_print_markdown(out, &gate->results);
	} else {
		check_print_text(out, &gate->results);
	}
	return written;
}

static bool read_limits(struct gate *gate)
{
	const struct arguments *arguments = gate->arguments;

	gate->asked = (struct limits){ .gpus = arguments->gpus,
		                       .max_gpus = arguments->max_gpus,
		                       .max_memory_bytes = arguments->max_memory_bytes,
		                       .max_price_micros = arguments->max_price_micros,
		                       .min_headroom_ppm = arguments->min_headroom_ppm,
		                       .spec_gpus = !arguments->policy,
		                       .compared = arguments->base && (!arguments->policy ||
		                                                       arguments->max_increase) };
	if (arguments->max_increase &&
	    !vc_policy_increase(arguments->max_increase, &gate->asked.max_increase_ppm,
	                        &gate->asked.max_increase_bytes)) {
		fprintf(stderr,
		        "vramcalc check: --max-increase: %s is neither (expected a share "
		        "such as 5%% or a size such as 2GB)\n",
		        arguments->max_increase);
		return false;
	}
	return true;
}

/* Exceptions end on a day; SOURCE_DATE_EPOCH stands for today where it is set. */
static void read_today(char today[11])
{
	const char *epoch = getenv("SOURCE_DATE_EPOCH");
	time_t now = epoch ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
	struct tm date;

	if (!gmtime_r(&now, &date) || strftime(today, 11, "%Y-%m-%d", &date) == 0) {
		snprintf(today, 11, "9999-12-31");
	}
}

/* With a policy --base serves its rules about growth, or --max-increase. */
static bool compares_with_base(const struct gate *gate)
{
	bool compares = !gate->arguments->base || gate->asked.compared;

	for (uint32_t i = 0; !compares && i < gate->policy->rules_count; i++) {
		compares = gate->policy->rules[i].max_increase != NULL;
	}
	if (!compares) {
		fprintf(stderr,
		        "vramcalc check: --base: no rule of %s has max_increase (expected one, or "
		        "--max-increase)\n",
		        gate->arguments->policy);
	}
	return compares;
}

static bool read_policy(struct gate *gate)
{
	struct vc_error_list errors = { 0 };

	if (!gate->arguments->policy) {
		return true;
	}
	gate->policy = vc_policy_read(gate->arguments->policy, &errors);
	report_errors(&errors);
	read_today(gate->today);
	return gate->policy && compares_with_base(gate);
}

int check_command(struct arguments *arguments)
{
	struct gate gate = { .arguments = arguments, .session.arguments = arguments };
	struct spec_list specs;
	struct output out;
	bool all;

	output_open(&out, arguments);
	gate.unit = out.unit;
	if (!read_limits(&gate) || !read_policy(&gate)) {
		if (gate.policy) {
			vc_policy_free(gate.policy);
		}
		return EXIT_WRONG_INPUT;
	}
	all = spec_list_open(&specs, &arguments->operands);
	for (size_t i = 0; i < specs.count; i++) {
		all = read_and_check(&gate, specs.names[i]) && all;
	}
	all = report(&gate, &out) && all;
	session_close(&gate.session);
	if (gate.policy) {
		vc_policy_free(gate.policy);
	}
	free(gate.results.items);
	spec_list_close(&specs);
	return all ? gate.results.failed ? EXIT_DOES_NOT_FIT : EXIT_FITS : EXIT_WRONG_INPUT;
}
