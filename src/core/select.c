/*
 * Ranks GPUs for a request: for each GPU the smallest layout with which the job fits, then the
 * order that a buyer wants. Every judgement is a ledger; nothing is added up here.
 */
#include "sat.h"
#include "text.h"
#include "vramcalc/vramcalc.h"

#include <string.h>

enum {
	MAX_DOUBLINGS = 16 /* layouts of 1, 2, 4, ... up to 32768 GPUs */
};

struct judgement {
	enum vc_verdict verdict;
	uint64_t total_bytes, need_bytes, have_bytes;
};

uint64_t vc_gpu_offers_bytes(const struct vc_gpu *gpu, enum vc_method method)
{
	if (method == VC_METHOD_RULE || (gpu->usable_bytes == 0 && gpu->driver_bytes == 0)) {
		return gpu->memory_bytes;
	}
	return gpu->usable_bytes ? gpu->usable_bytes : gpu->driver_bytes;
}

static bool computes_in(const struct vc_gpu *gpu, const struct vc_request *request)
{
	switch (request->workload.precision) {
	case VC_DTYPE_BF16:
		return gpu->supports_bf16;
	case VC_DTYPE_FP8:
		return gpu->supports_fp8;
	case VC_DTYPE_FP4:
		return gpu->supports_fp4;
	default:
		return true;
	}
}

static int64_t difference(uint64_t have, uint64_t need)
{
	/* Both are at most 2^63-1, so the difference is exact. */
	return (int64_t)have - (int64_t)need;
}

static enum vc_status judge(struct vc_request *request, const struct vc_gpu *gpu,
                            struct vc_ledger *ledger, struct judgement *judgement,
                            struct vc_error *error)
{
	enum vc_status status;

	request->gpu = gpu;
	status = vc_estimate(request, ledger, error);
	if (status != VC_OK) {
		return status;
	}
	judgement->total_bytes = ledger->total_bytes;
	judgement->need_bytes = ledger->need_bytes;
	judgement->have_bytes = vc_gpu_offers_bytes(gpu, request->method);
	judgement->verdict = judgement->have_bytes >= ledger->need_bytes ? VC_VERDICT_FITS
	                     : judgement->have_bytes >= ledger->need_expected_bytes
	                             ? VC_VERDICT_TIGHT
	                             : VC_VERDICT_NO;
	return VC_OK;
}

static void record(struct vc_candidate *candidate, const struct vc_request *request,
                   const struct judgement *judgement)
{
	candidate->verdict = judgement->verdict;
	candidate->layout = request->parallelism;
	candidate->gpus = vc_layout_gpus(&request->parallelism);
	candidate->gpus_needed = judgement->verdict == VC_VERDICT_FITS ? candidate->gpus : 0;
	candidate->total_bytes = judgement->total_bytes;
	candidate->need_bytes = judgement->need_bytes;
	candidate->have_bytes = judgement->have_bytes;
	candidate->headroom_bytes = difference(judgement->have_bytes, judgement->need_bytes);
}

/* Tensor parallelism spreads a model that serves; ZeRO-3 one that trains. */
static void spread(struct vc_parallelism *layout, enum vc_task task, uint32_t gpus)
{
	if (task == VC_TASK_TRAINING) {
		layout->data = gpus;
		layout->zero_stage = gpus > 1 ? 3 : 0;
	} else {
		layout->tensor = gpus;
	}
}

static enum vc_status search(struct vc_request *request, const struct vc_gpu *gpu,
                             uint32_t max_gpus, struct vc_candidate *candidate,
                             struct vc_error *error)
{
	struct vc_ledger ledger;
	struct judgement judgement;
	bool any = false;

	for (uint32_t gpus = 1, n = 0; gpus <= max_gpus && n < MAX_DOUBLINGS; gpus *= 2, n++) {
		enum vc_status status;

		spread(&request->parallelism, request->workload.task, gpus);
		status = judge(request, gpu, &ledger, &judgement, error);
		if (status == VC_INVALID && any) {
			continue; /* heads do not divide over so many: a layout less */
		}
		if (status != VC_OK) {
			return status;
		}
		if (!any || judgement.verdict < candidate->verdict ||
		    (judgement.verdict == candidate->verdict &&
		     difference(judgement.have_bytes, judgement.need_bytes) >
		             candidate->headroom_bytes)) {
			record(candidate, request, &judgement);
		}
		any = true;
		if (judgement.verdict == VC_VERDICT_FITS) {
			break;
		}
	}
	return VC_OK;
}

static int group(const struct vc_candidate *candidate)
{
	return candidate->gpus_needed == 0 ? 2 : candidate->gpus_needed == 1 ? 0 : 1;
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Prices in the wanted currency first, then other currencies, then none; a class never mixes them.
 */
static int price_class(const struct vc_candidate *candidate, const char *currency)
{
	const struct vc_price *price = &candidate->gpu->price;

	return !price->known ? 2 : strcmp(price->currency, currency) != 0;
}

static int by_price(const struct vc_candidate *a, const struct vc_candidate *b,
                    const char *currency)
{
	int order = price_class(a, currency) - price_class(b, currency);

	if (order != 0 || !a->gpu->price.known) {
		return order;
	}
	order = strcmp(a->gpu->price.currency, b->gpu->price.currency);
	return order ? order
	             : compare_u64(sat_mul(a->gpu->price.per_hour_micros, a->gpus),
	                           sat_mul(b->gpu->price.per_hour_micros, b->gpus));
}

static int by_waste(const struct vc_candidate *a, const struct vc_candidate *b)
{
	/* Fitting candidates have a headroom that is not negative. */
	return compare_u64(sat_mul((uint64_t)a->headroom_bytes, a->gpus),
	                   sat_mul((uint64_t)b->headroom_bytes, b->gpus));
}

static int compare(const struct vc_candidate *a, const struct vc_candidate *b,
                   const struct vc_select_options *options)
{
	int order = group(a) - group(b);

	if (order == 0 && group(a) == 2) {
		order = (int)a->verdict - (int)b->verdict;
		order = order ? order
		              : (a->headroom_bytes < b->headroom_bytes) -
		                        (a->headroom_bytes > b->headroom_bytes);
	} else if (order == 0) {
		int price = by_price(a, b, options->currency);
		int waste = by_waste(a, b);

		order = options->sort == VC_SORT_PRICE ? (price ? price : waste)
		                                       : (waste ? waste : price);
	}
	return order ? order : strcmp(a->gpu->name, b->gpu->name);
}

/* A hundred GPUs: insertion is quick enough and, unlike qsort, stable. */
static void sort(struct vc_candidate *candidates, size_t count,
                 const struct vc_select_options *options)
{
	for (size_t i = 1; i < count; i++) {
		struct vc_candidate moved = candidates[i];
		size_t at = i;

		for (; at > 0 && compare(&moved, &candidates[at - 1], options) < 0; at--) {
			candidates[at] = candidates[at - 1];
		}
		candidates[at] = moved;
	}
}

enum vc_status vc_select(const struct vc_request *request, const struct vc_gpu *const *gpus,
                         size_t count, const struct vc_select_options *options,
                         struct vc_candidate *candidates, struct vc_error *error)
{
	struct vc_select_options wanted = options ? *options : (struct vc_select_options){ 0 };
	uint32_t max_gpus = wanted.max_gpus ? wanted.max_gpus : 8;
	struct vc_request resolved = *request;
	enum vc_status status = vc_request_resolve(&resolved, error);

	if (status != VC_OK) {
		return status;
	}
	if (wanted.currency[0] == '\0') {
		memcpy(wanted.currency, "USD", sizeof "USD");
	}
	for (size_t i = 0; i < count; i++) {
		struct vc_request tried = resolved;
		struct vc_candidate *candidate = &candidates[i];

		memset(candidate, 0, sizeof *candidate);
		if (request->parallelism.stated) {
			struct vc_ledger ledger;
			struct judgement judgement;

			status = judge(&tried, gpus[i], &ledger, &judgement, error);
			if (status == VC_OK) {
				record(candidate, &tried, &judgement);
			}
		} else {
			status = search(&tried, gpus[i], max_gpus, candidate, error);
		}
		if (status != VC_OK) {
			return status;
		}
		candidate->gpu = gpus[i];
		candidate->precision_supported = computes_in(gpus[i], &resolved);
	}
	sort(candidates, count, &wanted);
	return VC_OK;
}
