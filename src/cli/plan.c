/* `plan`: reads each spec, estimates it, ranks the GPUs, and prints. */
#include "plan.h"

#include "commands.h"
#include "emit.h"
#include "offer_search.h"
#include "picture.h"
#include "plan_change.h"
#include "plan_folder.h"
#include "print_text.h"
#include "report.h"
#include "session.h"
#include "weight_file.h"

#include <stdlib.h>
#include <string.h>

/* What all specs of a run share. */
struct run {
	const struct arguments *arguments;
	struct session session;
	struct output out;
	struct json_writer json;
	size_t printed;
	struct picture_files pictures;
	struct plan_folder *folder; /* whose files are ranked against each other; NULL: none */
};

bool plan_fills_gpu(const struct plan *plan)
{
	return plan->has_detailed && plan->detailed.serving.known;
}

const struct vc_ledger *plan_ledger(const struct plan *plan)
{
	return plan->request.method == VC_METHOD_DETAILED ? &plan->detailed : &plan->rule;
}

const struct vc_candidate *plan_best(const struct plan *plan)
{
	return plan->count && plan->candidates[0].gpus_needed ? &plan->candidates[0] : NULL;
}

/* ---- One spec ---- */

static bool estimate_detailed(struct plan *plan, struct vc_error *error)
{
	struct vc_request request = plan->request;
	enum vc_status status;

	plan->detailed_for = plan->count ? &plan->candidates[0] : NULL;
	if (!plan->detailed_for || !vc_model_has_shape(request.model)) {
		return true;
	}
	request.method = VC_METHOD_DETAILED;
	request.gpu = plan->detailed_for->gpu;
	request.parallelism = plan->detailed_for->layout;
	status = vc_estimate(&request, &plan->detailed, error);
	plan->has_detailed = status == VC_OK;
	return status == VC_OK ||
	       (status == VC_UNSUPPORTED && plan->request.method == VC_METHOD_RULE);
}

/* Whether fewer of the first GPU would do, laid out in a less usual way. */
static void find_fewer(struct plan *plan)
{
	const struct vc_candidate *best = plan_best(plan);
	struct vc_select_options options = plan->options;
	struct vc_candidate fewer;
	struct vc_error error;

	if (!best || best->gpus < 3 || plan->request.parallelism.stated) {
		return;
	}
	options.max_gpus = best->gpus - 1;
	if (vc_select(&plan->request, &best->gpu, 1, &options, &fewer, &error) == VC_OK &&
	    fewer.gpus_needed) {
		plan->fewer = fewer;
	}
}

static void see_engine(const struct vc_layout_trial *trial, void *context)
{
	struct plan *plan = context;

	if (trial->reason == VC_LAYOUT_ENGINE) {
		plan->engine_lacks = trial->why; /* a literal of the core's */
	}
}

/* A stated layout is kept, whatever the engine can do, but it is said; how a training framework is
 * extended, nobody knows. */
static void ask_engine(struct plan *plan)
{
	struct vc_error error;

	if (plan->request.parallelism.stated && plan->count &&
	    plan->request.workload.task == VC_TASK_INFERENCE) {
		(void)vc_layouts(&plan->request, plan->candidates[0].gpu, &plan->options,
		                 see_engine, plan, &error);
	}
}

static bool estimate(struct plan *plan, const struct gpu_list *gpus,
                     struct vc_candidate *candidates)
{
	struct vc_request request = plan->request;
	struct vc_error error = { 0 };

	request.method = VC_METHOD_RULE;
	if (vc_request_resolve(&plan->request, &error) != VC_OK ||
	    vc_model_count(plan->request.model, &plan->counts, &error) != VC_OK ||
	    vc_estimate(&request, &plan->rule, &error) != VC_OK ||
	    vc_select(&plan->request, gpus->gpus, gpus->count, &plan->options, candidates,
	              &error) != VC_OK) {
		return session_refuse(plan->spec, &error);
	}
	plan->params =
	        plan->request.model->params ? plan->request.model->params : plan->counts.total;
	plan->candidates = candidates;
	plan->count = gpus->count;
	find_fewer(plan);
	ask_engine(plan);
	return estimate_detailed(plan, &error) || session_refuse(plan->spec, &error);
}

static void print(struct run *run, const struct plan *plan)
{
	switch (run->out.format) {
	case FORMAT_TEXT:
	case FORMAT_MARKDOWN:
		if (run->printed) {
			putc('\n', run->out.file);
		}
		plan_print_text(&run->out, plan);
		break;
	case FORMAT_CSV:
		plan_print_csv(&run->out, plan, run->printed == 0);
		break;
	case FORMAT_JSON:
		plan_print_json(&run->json, plan);
		break;
	}
	run->printed++;
}

static uint32_t max_gpus(const struct arguments *arguments, const struct vc_spec *spec)
{
	if (arguments->max_gpus == 0) {
		return spec->hardware.max_gpus;
	}
	return arguments->max_gpus > UINT32_MAX ? UINT32_MAX : (uint32_t)arguments->max_gpus;
}

static struct vc_select_options options_of(const struct arguments *arguments,
                                           const struct vc_spec *spec)
{
	struct vc_select_options options = { .max_gpus = max_gpus(arguments, spec),
		                             .sort = (enum vc_sort)arguments->sort.index,
		                             .host_memory_bytes = spec->hardware.host_memory_bytes,
		                             .max_price_micros =
		                                     spec->budget.price_per_hour_micros };

	memcpy(options.currency, spec->budget.currency, sizeof options.currency);
	return options;
}

/* What was said of offers must be of some. */
static bool knows_offers(const struct run *run)
{
	struct offer_search search = offer_search(run->arguments);

	return !run->arguments->instances || offer_search_check(&search, &run->session.catalog);
}

/* Of this machine's GPUs no more than there are. Always true. */
static bool keep_to_this_machine(struct plan *plan, const struct gpu_list *gpus)
{
	for (size_t i = 0; i < gpus->count; i++) {
		uint32_t there = local_catalog_count(plan->local, gpus->gpus[i]);

		if (there < plan->options.max_gpus) {
			plan->options.max_gpus = there;
		}
	}
	return true;
}

static enum exit_status plan_spec(struct run *run, const struct vc_spec *spec)
{
	struct plan plan = { .arguments = run->arguments,
		             .spec = spec,
		             .request = spec->request,
		             .options = options_of(run->arguments, spec) };
	enum exit_status status = EXIT_WRONG_INPUT;
	struct vc_candidate *candidates;
	struct gpu_list gpus = { 0 };

	if (!session_catalog(&run->session, spec->budget.currency) || !knows_offers(run)) {
		return EXIT_WRONG_INPUT;
	}
	plan.catalog = &run->session.catalog;
	plan.local = run->session.local;
	gpus.gpus = malloc(run->session.catalog.count * sizeof *gpus.gpus);
	candidates = malloc(run->session.catalog.count * sizeof *candidates);
	session_request(&run->session, &plan.request);
	if (!gpus.gpus || !candidates) {
		report_no_memory();
	} else if (session_choose(&run->session, spec, &gpus) &&
	           keep_to_this_machine(&plan, &gpus) && estimate(&plan, &gpus, candidates)) {
		plan.listed_all = gpus.count == run->session.catalog.count;
		status = plan_best(&plan) ? EXIT_FITS : EXIT_DOES_NOT_FIT;
		plan_find_change(&plan);
		if (!picture_files_add(&run->pictures, &plan)) {
			status = EXIT_WRONG_INPUT;
		}
		if (run->folder) {
			plan_folder_add(run->folder, &plan);
		} else if (run->arguments->emit.given && status != EXIT_WRONG_INPUT) {
			status =
			        emit_plan(run->out.file, &plan, (size_t)run->arguments->emit.index);
		} else if (!run->arguments->quiet) {
			print(run, &plan);
		}
	}
	free(candidates);
	free(gpus.gpus);
	return status;
}

static enum exit_status read_and_plan(struct run *run, const char *source)
{
	enum exit_status status;
	struct vc_spec spec;

	if (!session_read(&run->session, source, &spec)) {
		return EXIT_WRONG_INPUT;
	}
	status = plan_spec(run, &spec);
	vc_spec_free(&spec);
	return status;
}

/* A folder of GGUF files: quantizations of one model, ranked by what fits. */
static enum exit_status plan_files(struct run *run, char **paths, size_t count)
{
	bool people = run->out.format == FORMAT_TEXT || run->out.format == FORMAT_MARKDOWN;
	struct plan_folder folder = { .count = 0 };
	int status = EXIT_FITS;

	run->folder = people && !run->arguments->quiet ? &folder : NULL;
	for (size_t i = 0; i < count; i++) {
		int one = (int)read_and_plan(run, paths[i]);

		status = one > status ? one : status;
		free(paths[i]);
	}
	free(paths);
	if (run->folder) {
		plan_folder_print(&run->out, &folder);
		/* the question is whether any of them fits */
		status = status == EXIT_DOES_NOT_FIT && plan_folder_fits(&folder) ? EXIT_FITS
		                                                                  : status;
	}
	plan_folder_free(&folder);
	run->folder = NULL;
	return (enum exit_status)status;
}

static enum exit_status plan_operand(struct run *run, const char *operand)
{
	size_t count;
	char **paths = vc_weight_folder_list(operand, &count);

	return paths ? plan_files(run, paths, count) : read_and_plan(run, operand);
}

static bool names_several(const struct arguments *arguments)
{
	size_t count = 0;
	char **paths = vc_weight_folder_list(arguments->operands.items[0], &count);

	for (size_t i = 0; paths && i < count; i++) {
		free(paths[i]);
	}
	free(paths);
	return arguments->operands.count > 1 || count > 1;
}

/* A configuration is for one job, and nothing else may stand around it. */
static bool emits_alone(const struct arguments *arguments)
{
	const char *beside = arguments->json       ? "--json"
	                     : arguments->csv      ? "--csv"
	                     : arguments->markdown ? "--markdown"
	                     : arguments->explain  ? "--explain"
	                     : arguments->layouts  ? "--layouts"
	                     : arguments->quiet    ? "--quiet"
	                                           : NULL;

	if (!arguments->emit.given || (!beside && !names_several(arguments))) {
		return true;
	}
	fprintf(stderr, "vramcalc plan: --emit: %s%s\n",
	        beside ? "does not go with " : "takes one SPEC at a time", beside ? beside : "");
	return false;
}

static bool is_standard_output(const char *path)
{
	return path && strcmp(path, "-") == 0;
}

/* What goes to standard output beside a picture would spoil it. */
static bool make_room_for_picture(struct arguments *arguments)
{
	bool svg = is_standard_output(arguments->svg), html = is_standard_output(arguments->html);

	if (svg && html) {
		fputs("vramcalc plan: --svg -, --html -: one of them may go to standard output\n",
		      stderr);
		return false;
	}
	if (((svg || html) && (arguments->json || arguments->csv || arguments->markdown ||
	                       arguments->explain || arguments->emit.given)) ||
	    (svg && (arguments->layouts || arguments->mig || arguments->instances))) {
		fprintf(stderr,
		        "vramcalc plan: --%s -: goes to standard output alone (expected a file, or "
		        "nothing else to print)\n",
		        svg ? "svg" : "html");
		return false;
	}
	arguments->quiet = arguments->quiet || svg || html;
	return true;
}

static int plan_all(struct run *run)
{
	const struct arguments *arguments = run->arguments;
	bool array = arguments->json && !arguments->quiet && names_several(arguments);
	int status = EXIT_FITS;

	if (array) {
		json_open(&run->json, NULL, '[');
	}
	for (size_t i = 0; i < arguments->operands.count; i++) {
		int one = (int)plan_operand(run, arguments->operands.items[i]);

		status = one > status ? one : status;
	}
	if (array) {
		json_close(&run->json, ']');
	}
	return status;
}

int plan_command(struct arguments *arguments)
{
	struct run run = { .arguments = arguments, .session.arguments = arguments };
	int status;

	if (!emits_alone(arguments) || !make_room_for_picture(arguments) ||
	    !picture_files_open(&run.pictures, arguments, names_several(arguments))) {
		return EXIT_WRONG_INPUT;
	}
	output_open(&run.out, arguments);
	run.json.out = run.out.file;
	status = plan_all(&run);
	if (!picture_files_close(&run.pictures)) {
		status = EXIT_WRONG_INPUT;
	}
	session_close(&run.session);
	return status;
}
