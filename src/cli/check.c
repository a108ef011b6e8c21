/* `check`: the gate for continuous integration. */
#include "check.h"

#include "change.h"
#include "commands.h"
#include "print_text.h"
#include "quantity.h"
#include "report.h"
#include "session.h"
#include "spec_list.h"

#include <stdlib.h>
#include <string.h>

struct gate {
	const struct arguments *arguments;
	struct session session;
	enum byte_unit unit;
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
	uint64_t asked = gate->arguments->min_headroom_ppm;

	return asked == 0 ||
	       (candidate->headroom_bytes >= 0 &&
	        (uint64_t)candidate->headroom_bytes >= candidate->have_bytes / 1000000 * asked);
}

/* Nothing is cheap enough when its price is not known. */
static bool cheap_enough(const struct gate *gate, const struct vc_candidate *candidate)
{
	const struct vc_price *price = &candidate->gpu->price;
	uint64_t limit = gate->arguments->max_price_micros;

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
	uint64_t most = gate->arguments->max_gpus;

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
	result->have_bytes = gate->arguments->max_memory_bytes;
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
	if (gate->arguments->max_increase_bytes) {
		return gate->arguments->max_increase_bytes;
	}
	return old_bytes / 1000000 * gate->arguments->max_increase_ppm;
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
	bool judged = list.gpus != NULL;

	if (!judged) {
		report_no_memory();
	}
	judged = judged && session_choose(&gate->session, spec, &list);
	for (size_t i = 0; judged && i < list.count; i++) {
		judged = check_gpu(gate, spec, request, list.gpus[i]);
	}
	free(list.gpus);
	return judged;
}

static bool check_spec(struct gate *gate, const struct vc_spec *spec)
{
	const struct arguments *arguments = gate->arguments;
	bool gpus = arguments->gpus.count || vc_spec_gives(spec, "hardware.gpus");
	struct vc_request request = spec->request;
	bool judged = session_catalog(&gate->session, spec->budget.currency);

	session_request(&gate->session, &request);
	if (judged && !gpus && !arguments->max_memory_bytes && !arguments->max_price_micros &&
	    !arguments->base) {
		fprintf(stderr,
		        "vramcalc check: %s: nothing to check against (expected --gpu, "
		        "--max-memory, --max-price, --base or hardware.gpus)\n",
		        spec->source);
		return false;
	}
	if (judged && gpus) {
		judged = check_gpus(gate, spec, &request);
	}
	if (judged && arguments->max_memory_bytes) {
		judged = check_memory(gate, spec, &request);
	}
	if (judged && arguments->max_price_micros && !gpus) {
		judged = check_price(gate, spec, &request);
	}
	if (judged && arguments->base) {
		judged = check_increase(gate, spec, &request);
	}
	return judged;
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

/* --max-increase is a share with a percent sign, else a size. */
static bool read_increase(struct arguments *arguments)
{
	const char *text = arguments->max_increase;
	char number[64];
	size_t length = text ? strlen(text) : 0;

	if (!text) {
		return true;
	}
	if (length > 1 && length < sizeof number && text[length - 1] == '%') {
		memcpy(number, text, length - 1);
		number[length - 1] = '\0';
		if (vc_quantity_parse(VC_QUANTITY_PPM, number, &arguments->max_increase_ppm) ==
		            VC_QUANTITY_OK &&
		    arguments->max_increase_ppm <= 100000000) {
			arguments->max_increase_ppm /= 100;
			return true;
		}
	} else if (vc_quantity_parse(VC_QUANTITY_BYTES, text, &arguments->max_increase_bytes) ==
	           VC_QUANTITY_OK) {
		return true;
	}
	fprintf(stderr,
	        "vramcalc check: --max-increase: %s is neither (expected a share such as 5%% "
	        "or a size such as 2GB)\n",
	        text);
	return false;
}

int check_command(struct arguments *arguments)
{
	struct gate gate = { .arguments = arguments, .session.arguments = arguments };
	struct spec_list specs;
	struct output out;
	bool all;

	output_open(&out, arguments);
	gate.unit = out.unit;
	if (!read_increase(arguments)) {
		return EXIT_WRONG_INPUT;
	}
	all = spec_list_open(&specs, &arguments->operands);
	for (size_t i = 0; i < specs.count; i++) {
		all = read_and_check(&gate, specs.names[i]) && all;
	}
	all = report(&gate, &out) && all;
	session_close(&gate.session);
	free(gate.results.items);
	spec_list_close(&specs);
	return all ? gate.results.failed ? EXIT_DOES_NOT_FIT : EXIT_FITS : EXIT_WRONG_INPUT;
}
