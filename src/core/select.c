/*
 * Ranks GPUs for a request: for each GPU the smallest layout with which the job fits, then the
 * order that a buyer wants. Every judgement is a ledger; nothing is added up here.
 */
#include "sat.h"
#include "text.h"
#include "vramcalc/vramcalc.h"

#include <string.h>

enum {
	MAX_DOUBLINGS = 16, /* layouts of 1, 2, 4, ... up to 32768 GPUs */
	NODE_GPUS = 8,      /* of the usual server */
	ALL_LAYOUTS = 32
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

/* How many GPUs, and how many ways to lay a job out on them. */
struct breadth {
	uint32_t gpus, layouts;
};

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

/*
 * The layouts of so many GPUs, best first: all of them one tensor-parallel (training: ZeRO-3)
 * group, then the group halved and the rest made of pipeline stages (training: tensor-parallel
 * ranks). Tensor parallelism stays within a node of 8, where links are fast.
 */
static bool nth_layout(struct vc_parallelism *layout, enum vc_task task, uint32_t gpus, uint32_t n)
{
	uint32_t rest = n < 31 ? 1u << n : 0;
	uint32_t group = rest ? gpus / rest : 0;

	if (group == 0) {
		return false;
	}
	if (task == VC_TASK_TRAINING) {
		layout->data = group;
		layout->zero_stage = gpus > 1 ? 3 : 0;
		layout->tensor = rest;
		return rest <= NODE_GPUS;
	}
	layout->tensor = group;
	layout->pipeline = rest;
	return true;
}

static bool is_better(const struct judgement *judgement, const struct vc_candidate *best)
{
	int64_t headroom = difference(judgement->have_bytes, judgement->need_bytes);

	return judgement->verdict < best->verdict ||
	       (judgement->verdict == best->verdict && headroom > best->headroom_bytes);
}

/* Judges up to so many layouts of so many GPUs until one fits; the best goes into the candidate. */
static enum vc_status try_count(struct vc_request *request, const struct vc_gpu *gpu,
                                struct breadth breadth, struct vc_candidate *candidate,
                                struct vc_error *error)
{
	struct vc_ledger ledger;
	struct judgement judgement;
	uint32_t gpus = breadth.gpus;

	for (uint32_t n = 0; n < breadth.layouts &&
	                     nth_layout(&request->parallelism, request->workload.task, gpus, n);
	     n++) {
		enum vc_status status;

		if (request->workload.task == VC_TASK_INFERENCE &&
		    request->parallelism.tensor > NODE_GPUS) {
			continue;
		}
		status = judge(request, gpu, &ledger, &judgement, error);
		if (status == VC_INVALID && gpus > 1) {
			continue; /* heads or layers do not divide so */
		}
		if (status != VC_OK) {
			return status;
		}
		if (candidate->gpus == 0 || is_better(&judgement, candidate)) {
			record(candidate, request, &judgement);
		}
		if (judgement.verdict == VC_VERDICT_FITS) {
			break;
		}
	}
	return VC_OK;
}

static enum vc_status try_counts(struct vc_request *request, const struct vc_gpu *gpu,
                                 struct breadth most, struct vc_candidate *candidate,
                                 struct vc_error *error)
{
	enum vc_status status = VC_OK;

	for (uint32_t gpus = 1, n = 0; status == VC_OK && candidate->gpus_needed == 0 &&
	                               gpus <= most.gpus && n < MAX_DOUBLINGS;
	     gpus *= 2, n++) {
		status = try_count(request, gpu, (struct breadth){ gpus, most.layouts }, candidate,
		                   error);
	}
	return status;
}

static enum vc_status search(struct vc_request *request, const struct vc_gpu *gpu,
                             uint32_t max_gpus, struct vc_candidate *candidate,
                             struct vc_error *error)
{
	/* Training: more GPUs before tensor ranks, which need a framework that has them. */
	uint32_t first = request->workload.task == VC_TASK_TRAINING ? 1 : ALL_LAYOUTS;
	enum vc_status status =
	        try_counts(request, gpu, (struct breadth){ max_gpus, first }, candidate, error);

	if (status == VC_OK && candidate->gpus_needed == 0 && first != ALL_LAYOUTS) {
		status = try_counts(request, gpu, (struct breadth){ max_gpus, ALL_LAYOUTS },
		                    candidate, error);
	}
	return status;
}

/* Tensor parallelism exchanges activations in every layer; PCIe carries them ten times slower. */
static bool crosses_pcie(const struct vc_candidate *candidate)
{
	return candidate->layout.tensor > 1 &&
	       (candidate->gpu->link == VC_LINK_NONE || candidate->layout.tensor > NODE_GPUS);
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
		candidate->tensor_over_pcie = crosses_pcie(candidate);
	}
	sort(candidates, count, &wanted);
	return VC_OK;
}
