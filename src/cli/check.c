/* `check`: the gate for continuous integration. */
#include "check_gate.h"

#include "commands.h"
#include "print_text.h"
#include "quantity.h"
#include "report.h"
#include "spec_list.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

/* The first error, whose file the report names already. */
static void tell_why(struct check_result *result, const struct vc_error_list *errors)
{
	struct vc_error first = errors->errors[0];
	char text[VC_ERROR_TEXT];
	bool elsewhere = strcmp(first.file, result->spec) != 0;

	text_append(result->message, sizeof result->message, "cannot be checked: ");
	if (errors->count == 0) {
		text_append(result->message, sizeof result->message, "see standard error");
		return;
	}
	if (!elsewhere && first.line > 0) {
		text_append(result->message, sizeof result->message, "line %u: ", first.line);
	}
	if (!elsewhere) {
		*first.file = '\0';
		result->line = first.line;
		result->column = first.column;
		first.line = first.column = 0;
	}
	text_append(result->message, sizeof result->message, "%s", vc_error_format(&first, text));
	if (errors->count > 1) {
		text_append(result->message, sizeof result->message, "; %zu more",
		            errors->count - 1);
	}
}

static bool read_and_check(struct gate *gate, const char *name)
{
	struct check_result *result;
	struct vc_error_list errors = { 0 };
	struct vc_spec spec;
	bool judged = session_read_spec(&gate->session, name, &spec, &errors);

	report_errors(&errors);
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
		tell_why(result, &errors);
		check_settle(&gate->results, result, false);
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
