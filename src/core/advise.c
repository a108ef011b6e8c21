/*
 * Which few changes make a job fit: every set of up to VC_MAX_STEPS measures, in order of
 * difficulty, cut where a set already fits. Each set is judged by its ledger, so that what is saved
 * is what is saved here, not a measure's share of one component.
 */
#include "layout.h"
#include "measure.h"
#include "sat.h"
#include "text.h"

#include <string.h>

struct search {
	const struct measure_scope *scope;
	uint64_t have_bytes;
	struct vc_plan *plans;
	size_t max_plans;
	struct vc_advice *advice;
	struct vc_error *error;
	bool any;
};

/* Of a group only one measure makes sense in a plan. 0: on its own. */
static const uint8_t groups[VC_MEASURE_COUNT] = {
	[VC_MEASURE_QUANTIZATION_8BIT] = 1,
	[VC_MEASURE_QUANTIZATION_4BIT] = 1,
	[VC_MEASURE_LORA] = 2,
	[VC_MEASURE_QLORA] = 2,
	[VC_MEASURE_ZERO_1] = 3,
	[VC_MEASURE_ZERO_2] = 3,
	[VC_MEASURE_ZERO_3] = 3,
	[VC_MEASURE_TENSOR_PARALLEL] = 4,
	[VC_MEASURE_PIPELINE_PARALLEL] = 4,
};

static uint32_t measure_mask(const struct vc_plan *plan)
{
	uint32_t mask = 0;

	for (uint32_t i = 0; i < plan->step_count; i++) {
		mask |= 1u << plan->steps[i].measure;
	}
	return mask;
}

static bool group_taken(const struct vc_plan *plan, enum vc_measure measure)
{
	for (uint32_t i = 0; i < plan->step_count; i++) {
		if (groups[measure] && groups[plan->steps[i].measure] == groups[measure]) {
			return true;
		}
	}
	return false;
}

static enum vc_status judge(struct search *search, struct vc_plan *plan)
{
	struct vc_ledger ledger;
	enum vc_status status;

	plan->request.gpu = plan->gpu;
	status = vc_estimate(&plan->request, &ledger, search->error);
	if (status != VC_OK) {
		return status;
	}
	plan->total_bytes = ledger.total_bytes;
	plan->need_bytes = ledger.need_bytes;
	plan->verdict = ledger.need_bytes <= search->have_bytes            ? VC_VERDICT_FITS
	                : ledger.need_expected_bytes <= search->have_bytes ? VC_VERDICT_TIGHT
	                                                                   : VC_VERDICT_NO;
	return VC_OK;
}

/* Keeps the list sorted by difficulty, then by number of steps, and free of supersets. */
static void insert(struct search *search, const struct vc_plan *plan)
{
	struct vc_advice *advice = search->advice;
	uint32_t mask = measure_mask(plan);
	size_t kept = 0, at;

	for (size_t i = 0; i < advice->plan_count; i++) {
		uint32_t other = measure_mask(&search->plans[i]);

		if ((mask & other) == other) {
			return; /* an easier plan is part of this one */
		}
		if ((mask & other) != mask) {
			search->plans[kept++] = search->plans[i];
		}
	}
	advice->plan_count = kept;
	for (at = kept; at > 0 && search->plans[at - 1].difficulty > plan->difficulty; at--) {
	}
	if (at >= search->max_plans) {
		return;
	}
	if (kept == search->max_plans) {
		kept--;
	}
	memmove(&search->plans[at + 1], &search->plans[at], (kept - at) * sizeof *search->plans);
	search->plans[at] = *plan;
	advice->plan_count = kept + 1;
}

static uint64_t *searched_field(struct vc_plan *plan, enum vc_measure measure)
{
	return measure == VC_MEASURE_BATCH_SIZE ? &plan->request.workload.batch_size
	                                        : &plan->request.workload.sequence_length;
}

/* All layers were taken from the GPU: gives back as many as fit. */
static enum vc_status fill_layers(struct search *search, struct vc_plan *plan,
                                  const struct vc_request *original)
{
	struct vc_step *last = &plan->steps[plan->step_count - 1];
	uint32_t fit = 0, most = measure_gpu_layers(original);

	if (last->measure != VC_MEASURE_GPU_LAYERS) {
		return judge(search, plan);
	}
	while (fit < most) {
		uint32_t middle = fit + (most - fit + 1) / 2;
		enum vc_status status;

		plan->request.engine.gpu_layers = middle;
		status = judge(search, plan);
		if (status != VC_OK) {
			return status;
		}
		if (plan->verdict == VC_VERDICT_FITS) {
			fit = middle;
		} else {
			most = middle - 1;
		}
	}
	plan->request.engine.gpu_layers = fit;
	vc_format(last->settings[0].value, sizeof last->settings[0].value, "%u", (uint64_t)fit);
	return judge(search, plan);
}

/* Batch and length were cut to the least that is sensible: give back what fits. */
static enum vc_status grow(struct search *search, struct vc_plan *plan,
                           const struct vc_request *original)
{
	static const char *const names[] = { "workload.batch_size", "workload.sequence_length" };

	for (uint32_t i = 0; i < plan->step_count; i++) {
		enum vc_measure measure = plan->steps[i].measure;
		bool batch = measure == VC_MEASURE_BATCH_SIZE;
		struct vc_solution solution;
		struct vc_error text;
		enum vc_status status;
		uint64_t most, value;

		if (!batch && measure != VC_MEASURE_SEQUENCE_LENGTH) {
			continue;
		}
		status = vc_solve(&plan->request, plan->gpu,
		                  batch ? VC_SOLVE_BATCH_SIZE : VC_SOLVE_SEQUENCE_LENGTH, &solution,
		                  search->error);
		if (status != VC_OK) {
			return status;
		}
		most = batch ? original->workload.batch_size : original->workload.sequence_length;
		value = solution.value < most ? solution.value : most;
		value = batch || value < 512 ? value : value - value % 128;
		*searched_field(plan, measure) = value;
		vc_fail(&text, VC_OK, "", "%u", value);
		plan->steps[i].setting_count = 1;
		plan->steps[i].settings[0].field = names[!batch];
		memcpy(plan->steps[i].settings[0].value, text.message, 24);
	}
	return fill_layers(search, plan, original);
}

/* A step is worth its price where it saves a hundredth of the GPU. */
static uint64_t need_and_price(const struct search *search, const struct vc_plan *plan)
{
	return sat_add(plan->need_bytes, sat_mul(search->have_bytes / 100, plan->step_count));
}

static void consider_closest(struct search *search, const struct vc_plan *plan)
{
	const struct vc_plan *closest = &search->advice->closest;

	if (!search->any || need_and_price(search, plan) < need_and_price(search, closest)) {
		search->advice->closest = *plan;
		search->any = true;
	}
}

static enum vc_status deepen(struct search *search, const struct vc_plan *plan,
                             const struct vc_request *original);

/* A degree that the engine cannot be told, or that does not divide, is no advice. */
static bool engine_can(enum vc_measure measure, const struct vc_request *request,
                       struct vc_error *error)
{
	const char *why;

	return (measure != VC_MEASURE_TENSOR_PARALLEL && measure != VC_MEASURE_PIPELINE_PARALLEL) ||
	       layout_problem(request, UINT32_MAX, &why, error) == VC_LAYOUT_CHOSEN;
}

/* One more measure on a plan. */
static enum vc_status extend(struct search *search, const struct vc_plan *plan,
                             enum vc_measure measure, const struct vc_request *original)
{
	struct vc_plan next = *plan;
	struct vc_step *step = &next.steps[next.step_count++];
	enum vc_status status;

	measure_apply(measure, &next.request, search->scope, step);
	if (!engine_can(measure, &next.request, search->error)) {
		return VC_OK;
	}
	next.difficulty += vc_measure_info(measure)->difficulty;
	status = judge(search, &next);
	if (status == VC_INVALID || status == VC_UNSUPPORTED) {
		return VC_OK; /* heads do not divide so, or the engine has no such mode */
	}
	if (status != VC_OK || next.total_bytes > plan->total_bytes) {
		return status;
	}
	/* What saves nothing now may do so where a later measure has moved the peak. */
	step->saves_bytes = plan->total_bytes - next.total_bytes;
	if (next.verdict != VC_VERDICT_FITS) {
		consider_closest(search, &next);
		return deepen(search, &next, original);
	}
	status = grow(search, &next, original);
	if (measure == VC_MEASURE_GPU_LAYERS) {
		step->saves_bytes = sat_sub(plan->total_bytes, next.total_bytes);
	}
	if (status == VC_OK) {
		insert(search, &next);
	}
	return status;
}

static enum vc_status deepen(struct search *search, const struct vc_plan *plan,
                             const struct vc_request *original)
{
	int first = plan->step_count ? (int)plan->steps[plan->step_count - 1].measure + 1 : 0;
	enum vc_status status = VC_OK;

	if (plan->step_count == VC_MAX_STEPS) {
		return VC_OK;
	}
	for (int m = first; status == VC_OK && m < VC_MEASURE_MORE_GPUS; m++) {
		enum vc_measure measure = (enum vc_measure)m;

		if (!group_taken(plan, measure) &&
		    measure_applies(measure, &plan->request, search->scope)) {
			status = extend(search, plan, measure, original);
		}
	}
	return status;
}

/* The same job on more GPUs, or on a larger one: one step each, found by the ranking. */
static enum vc_status rent(struct search *search, const struct vc_plan *start,
                           enum vc_measure measure, const struct vc_gpu *gpu)
{
	struct vc_select_options options = { .max_gpus = measure == VC_MEASURE_MORE_GPUS ? 64 : 1 };
	struct vc_plan plan = *start;
	struct vc_step *step = &plan.steps[plan.step_count++];
	struct vc_candidate candidate;
	struct vc_error text;
	enum vc_status status;

	plan.request.parallelism.stated = false;
	status = vc_select(&plan.request, &gpu, 1, &options, &candidate, search->error);
	if (status != VC_OK || candidate.gpus_needed == 0) {
		return status;
	}
	*step = (struct vc_step){ .measure = measure, .setting_count = 1 };
	plan.request.parallelism = candidate.layout;
	plan.request.parallelism.stated = true;
	plan.gpu = gpu;
	plan.request.gpu = gpu;
	plan.difficulty += vc_measure_info(measure)->difficulty;
	plan.total_bytes = candidate.total_bytes;
	plan.need_bytes = candidate.need_bytes;
	plan.verdict = candidate.verdict;
	step->saves_bytes = sat_sub(start->total_bytes, plan.total_bytes);
	vc_fail(&text, VC_OK, "", "%u", (uint64_t)candidate.gpus_needed);
	step->settings[0].field = "hardware.max_gpus";
	if (measure == VC_MEASURE_BIGGER_GPU) {
		step->settings[0].field = "hardware.gpus";
		vc_fail(&text, VC_OK, "", "%s", gpu->id);
	}
	memcpy(step->settings[0].value, text.message, sizeof step->settings[0].value - 1);
	insert(search, &plan);
	return VC_OK;
}

static const struct vc_gpu *next_bigger(const struct vc_request *request, const struct vc_gpu *gpu,
                                        const struct vc_advise_options *options,
                                        struct vc_error *error)
{
	const struct vc_gpu *best = NULL;

	for (size_t i = 0; i < options->other_count; i++) {
		const struct vc_gpu *other = options->others[i];
		struct vc_select_options alone = { .max_gpus = 1 };
		struct vc_candidate candidate;

		if (other->memory_bytes <= gpu->memory_bytes || !other->price.known ||
		    vc_select(request, &other, 1, &alone, &candidate, error) != VC_OK ||
		    candidate.gpus_needed != 1) {
			continue;
		}
		if (!best || (strcmp(other->price.currency, best->price.currency) == 0 &&
		              other->price.per_hour_micros < best->price.per_hour_micros)) {
			best = other;
		}
	}
	return best;
}

enum vc_status vc_advise(const struct vc_request *request, const struct vc_gpu *gpu,
                         const struct vc_advise_options *options, struct vc_plan *plans,
                         size_t max_plans, struct vc_advice *advice, struct vc_error *error)
{
	static const struct vc_advise_options nothing = { 0 };
	const struct vc_advise_options *wanted = options ? options : &nothing;
	struct measure_scope scope = { .gpu = gpu, .gpus = wanted->gpus };
	struct search search = { .scope = &scope,
		                 .have_bytes = vc_gpu_offers_bytes(gpu, request->method),
		                 .plans = plans,
		                 .max_plans = max_plans,
		                 .advice = advice,
		                 .error = error };
	struct vc_plan start = { .request = *request, .gpu = gpu };
	enum vc_status status;

	*advice = (struct vc_advice){ 0 };
	status = vc_request_resolve(&start.request, error);
	if (status != VC_OK) {
		return status;
	}
	if (scope.gpus == 0) {
		scope.gpus = vc_layout_gpus(&start.request.parallelism);
	}
	status = judge(&search, &start);
	if (status != VC_OK) {
		return status;
	}
	advice->total_bytes = start.total_bytes;
	advice->need_bytes = start.need_bytes;
	advice->have_bytes = search.have_bytes;
	advice->fits_as_is = start.verdict == VC_VERDICT_FITS;
	if (advice->fits_as_is || max_plans == 0) {
		return VC_OK;
	}
	status = deepen(&search, &start, &start.request);
	if (status == VC_OK) {
		status = rent(&search, &start, VC_MEASURE_MORE_GPUS, gpu);
	}
	scope.bigger = next_bigger(&start.request, gpu, wanted, error);
	if (status == VC_OK && scope.bigger) {
		status = rent(&search, &start, VC_MEASURE_BIGGER_GPU, scope.bigger);
	}
	return status;
}
