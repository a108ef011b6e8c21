#include "diagnose_theory.h"

#include "report.h"

#include <stdlib.h>

/* Memory that a log shows is within this of a catalog's GPU, in thousandths. */
static const uint64_t near_permille = 30;

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* How far the GPU's total is from what was logged: nvidia-smi's or CUDA's, whichever is nearer. */
static uint64_t gpu_distance(const struct vc_gpu *gpu, uint64_t total_bytes)
{
	uint64_t usable = distance(vc_gpu_offers_bytes(gpu, VC_METHOD_DETAILED), total_bytes);
	uint64_t driver = gpu->driver_bytes ? distance(gpu->driver_bytes, total_bytes) : usable;

	return usable < driver ? usable : driver;
}

static bool is_near(const struct vc_gpu *gpu, uint64_t total_bytes)
{
	return gpu_distance(gpu, total_bytes) <= total_bytes / 1000 * near_permille;
}

static const struct vc_gpu *nearest_gpu(const struct gpu_list *list, uint64_t total_bytes)
{
	const struct vc_gpu *best = NULL;

	for (size_t i = 0; i < list->count; i++) {
		const struct vc_gpu *gpu = list->gpus[i];

		if (is_near(gpu, total_bytes) &&
		    (!best || gpu_distance(gpu, total_bytes) + total_bytes / 200 <
		                      gpu_distance(best, total_bytes))) {
			best = gpu; /* nearer by more than readings of one model differ */
		}
	}
	return best;
}

/* The GPUs that --gpu or the spec name; else the whole catalog, the usual ones first. */
static bool candidates(const struct session *session, const struct vc_spec *spec,
                       struct gpu_list *list, bool *named)
{
	*named = session->arguments->gpus.count || spec->hardware.gpu_count;
	if (*named) {
		return session_choose(session, spec, list);
	}
	for (int usual = 1; usual >= 0; usual--) {
		for (size_t i = 0; i < session->catalog.count; i++) {
			if (session->catalog.gpus[i].documented == (usual == 1)) {
				list->gpus[list->count++] = &session->catalog.gpus[i].gpu;
			}
		}
	}
	return true;
}

static const struct vc_gpu *logged_gpu(const struct session *session, const struct log *log)
{
	const struct vc_gpu *gpu = NULL;

	if (*log->gpu_name && vc_catalog_find(&session->catalog, log->gpu_name, &gpu, 1) != 1) {
		gpu = NULL;
	}
	return gpu;
}

bool theory_gpu(struct theory *theory, const struct session *session, const struct log *log)
{
	const struct vc_evidence *evidence = &log->evidence;
	struct gpu_list list = { .gpus = malloc(session->catalog.count * sizeof *list.gpus) };
	const struct vc_gpu *gpu = NULL;
	bool named, good;

	if (!list.gpus) {
		report_no_memory();
		return false;
	}
	good = candidates(session, theory->spec, &list, &named);
	if (good && !named) {
		gpu = logged_gpu(session, log);
	}
	if (good && !gpu && named && list.count == 1) {
		gpu = list.gpus[0];
	} else if (good && !gpu && (evidence->known & VC_KNOWS_TOTAL)) {
		gpu = nearest_gpu(&list, evidence->total_bytes);
		theory->gpu_guessed = gpu != NULL;
	}
	if (gpu) {
		theory->gpu = *gpu;
		theory->gpu_known = true;
		if ((evidence->known & VC_KNOWS_TOTAL) && is_near(gpu, evidence->total_bytes)) {
			theory->gpu.usable_bytes = evidence->total_bytes;
		}
	}
	free(list.gpus);
	return good;
}

/* Engines are estimated in detail where that can be done; else by the rule. */
static bool estimate(struct theory *theory, const struct session *session,
                     struct vc_request *request)
{
	struct vc_error error = { 0 };
	struct vc_ledger ledger;
	bool free_choice = !session->arguments->method.given;

	*request = theory->spec->request;
	session_request(session, request);
	request->gpu = theory->gpu_known ? &theory->gpu : NULL;
	if (free_choice && theory->gpu_known) {
		request->method = VC_METHOD_DETAILED;
		if (vc_estimate(request, &ledger, &error) == VC_OK) {
			theory->method = VC_METHOD_DETAILED;
			theory->need_bytes = ledger.need_expected_bytes;
			theory->high_bytes = ledger.need_bytes;
			return true;
		}
		request->method = VC_METHOD_RULE;
	}
	if (vc_estimate(request, &ledger, &error) != VC_OK) {
		return session_refuse(theory->spec, &error);
	}
	theory->method = request->method;
	theory->need_bytes =
	        request->method == VC_METHOD_RULE ? ledger.total_bytes : ledger.need_expected_bytes;
	theory->high_bytes = ledger.need_bytes;
	return true;
}

bool theory_estimate(struct theory *theory, struct session *session, const struct vc_spec *spec,
                     struct log *log)
{
	struct vc_evidence *evidence = &log->evidence;
	struct vc_request request;

	*theory = (struct theory){ .spec = spec };
	if (!session_catalog(session, spec->budget.currency) || !theory_gpu(theory, session, log) ||
	    !estimate(theory, session, &request)) {
		return false;
	}
	evidence->theory_bytes = theory->need_bytes;
	if (theory->gpu_known && !(evidence->known & VC_KNOWS_TOTAL)) {
		evidence->known |= VC_KNOWS_TOTAL;
		evidence->total_bytes = vc_gpu_offers_bytes(&theory->gpu, VC_METHOD_DETAILED);
	}
	return true;
}

static bool fits_with_layers(const struct theory *theory, struct vc_request *request,
                             uint32_t layers)
{
	struct vc_error error = { 0 };
	struct vc_ledger ledger;

	request->engine.gpu_layers_given = true;
	request->engine.gpu_layers = layers;
	return vc_estimate(request, &ledger, &error) == VC_OK &&
	       ledger.need_bytes <= vc_gpu_offers_bytes(&theory->gpu, request->method);
}

/* The most layers that fit; memory grows with each. */
static void search_layers(struct theory *theory, struct vc_request request)
{
	uint32_t fits = 0, fails;

	theory->layers = request.model->stacks[0].layers;
	request.gpu = &theory->gpu;
	for (fails = theory->layers + 1; fails - fits > 1;) {
		uint32_t middle = fits + (fails - fits) / 2;

		if (fits_with_layers(theory, &request, middle)) {
			fits = middle;
		} else {
			fails = middle;
		}
	}
	theory->gpu_layers = fits;
}

bool theory_search(struct theory *theory, struct session *session,
                   const struct vc_diagnosis *diagnosis)
{
	struct vc_error error = { 0 };
	struct vc_request request;

	if (!theory->gpu_known ||
	    (diagnosis->cause != VC_CAUSE_CAPACITY && diagnosis->cause != VC_CAUSE_UNKNOWN)) {
		return true;
	}
	request = theory->spec->request;
	session_request(session, &request);
	request.method = theory->method;
	theory->result.gpu = &theory->gpu;
	if (advise_search(session, &request, &theory->result, &error) != VC_OK) {
		return session_refuse(theory->spec, &error);
	}
	theory->searched = true;
	if (request.engine.name == VC_ENGINE_LLAMACPP && !request.engine.gpu_layers_given &&
	    request.method == VC_METHOD_DETAILED && !theory->result.advice.fits_as_is) {
		search_layers(theory, request);
	}
	return true;
}
