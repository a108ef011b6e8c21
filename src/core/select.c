/*
 * Ranks GPUs for a request: for each GPU the first layout with which the job fits (search.c), then
 * the order that a buyer wants. Every judgement is a ledger; nothing is added up here.
 */
#include "sat.h"
#include "search.h"
#include "vramcalc/vramcalc.h"

#include <string.h>

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

enum group {
	GROUP_ALONE,
	GROUP_SEVERAL,
	GROUP_TOO_DEAR, /* fits, beyond the budget */
	GROUP_MISSES
};

static int group(const struct vc_candidate *candidate)
{
	if (candidate->gpus_needed == 0) {
		return GROUP_MISSES;
	}
	return candidate->over_budget        ? GROUP_TOO_DEAR
	       : candidate->gpus_needed == 1 ? GROUP_ALONE
	                                     : GROUP_SEVERAL;
}

/* What has no price in the budget's currency cannot be said to exceed it. */
static bool exceeds(const struct vc_candidate *candidate, const struct vc_select_options *options)
{
	const struct vc_price *price = &candidate->gpu->price;

	return options->max_price_micros && price->known &&
	       strcmp(price->currency, options->currency) == 0 &&
	       sat_mul(price->per_hour_micros, candidate->gpus) > options->max_price_micros;
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

/* Fewest GPUs, then the least that goes over the slowest interconnect. */
static int by_talk(const struct vc_candidate *a, const struct vc_candidate *b)
{
	int order = compare_u64(a->gpus, b->gpus);

	order = order ? order : compare_u64(a->traffic.slowest, b->traffic.slowest);
	return order ? order : compare_u64(a->traffic.bytes, b->traffic.bytes);
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

	if (order == 0 && group(a) == GROUP_MISSES) {
		order = (int)a->verdict - (int)b->verdict;
		order = order ? order
		              : (a->headroom_bytes < b->headroom_bytes) -
		                        (a->headroom_bytes > b->headroom_bytes);
	} else if (order == 0) {
		int price = by_price(a, b, options->currency);
		int waste = by_waste(a, b);

		price = price ? price : by_talk(a, b);
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
	struct search search;
	enum vc_status status = search_open(&search, request, options, error);

	for (size_t i = 0; status == VC_OK && i < count; i++) {
		status = search_gpu(&search, gpus[i], &candidates[i]);
		candidates[i].precision_supported = computes_in(gpus[i], &search.request);
		candidates[i].over_budget =
		        status == VC_OK && exceeds(&candidates[i], &search.options);
	}
	if (status == VC_OK) {
		sort(candidates, count, &search.options);
	}
	return status;
}
