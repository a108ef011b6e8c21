/*
 * The search for the layout of one GPU with which a job fits: from few GPUs to many, first the
 * usual layouts, then the others; see vc_select(). Layouts whose GPUs could not even hold their
 * share are passed over.
 */
#include "search.h"

#include "file_weights.h"
#include "lora.h"
#include "sat.h"

#include <string.h>

enum {
	MOST_GPUS = 32768, /* of powers of two */
	MOST_UNUSUAL = 64  /* of other numbers */
};

/* ---- One layout ---- */

/* A model that cannot be counted has failed in its estimate before. */
static void set_basis(struct search *search)
{
	const struct vc_request *request = &search->request;
	const struct vc_quantization *quantization = request->workload.quantization;
	enum vc_dtype precision = request->workload.precision;
	enum vc_dtype held = quantization && quantization->dtype ? quantization->dtype : precision;
	struct vc_counts counts = { .total = request->model->params };
	struct vc_error error;

	search->has_basis = true;
	if (counts.total == 0 && vc_model_has_shape(request->model)) {
		(void)vc_model_count(request->model, &counts, &error);
	}
	search->basis.weight_bytes = file_weights_hold(request->model, precision, quantization)
	                                     ? request->model->file.total_bytes
	                                     : vc_dtype_bytes(held, counts.total);
	search->basis.gradient_bytes = vc_dtype_bytes(
	        precision, request->training.method == VC_TRAINING_FULL
	                           ? counts.total
	                           : vc_lora_params(request->model, &request->training.lora));
}

static struct layout_traffic traffic(struct search *search)
{
	if (vc_layout_gpus(&search->request.parallelism) == 1) {
		return (struct layout_traffic){ .network_bytes = 0 };
	}
	if (!search->has_basis) {
		set_basis(search);
	}
	return layout_traffic(&search->request, search->node_gpus, &search->basis);
}

static int64_t difference(uint64_t have, uint64_t need)
{
	/* Both are at most 2^63-1, so the difference is exact. */
	return (int64_t)have - (int64_t)need;
}

static uint32_t in_node(const struct search *search, uint32_t gpus)
{
	return gpus < search->node_gpus ? gpus : search->node_gpus;
}

/* Of what lies in host memory, a node holds what its own GPUs put there; NVMe needs none. */
static uint64_t host_bytes(const struct search *search, const struct vc_ledger *ledger)
{
	const struct vc_parallelism *layout = &search->request.parallelism;
	uint32_t gpus = vc_layout_gpus(layout);

	if (layout->offload_optimizer == VC_OFFLOAD_NVME ||
	    layout->offload_parameters == VC_OFFLOAD_NVME) {
		return 0;
	}
	return sat_scale_up(ledger->host.total_bytes, in_node(search, gpus), gpus);
}

static enum vc_verdict verdict(const struct vc_ledger *ledger, uint64_t have_bytes)
{
	return have_bytes >= ledger->need_bytes            ? VC_VERDICT_FITS
	       : have_bytes >= ledger->need_expected_bytes ? VC_VERDICT_TIGHT
	                                                   : VC_VERDICT_NO;
}

/* Tensor parallelism exchanges activations in every layer; PCIe carries them ten times slower. */
static bool crosses_pcie(const struct search *search, const struct vc_parallelism *layout)
{
	const struct vc_gpu *gpu = search->request.gpu;

	return layout->tensor > 1 &&
	       (gpu->link == VC_LINK_NONE || layout->tensor > search->node_gpus ||
	        (gpu->link_gpus && layout->tensor > gpu->link_gpus));
}

/* What n GPUs hold between them at least, from what one holds of it: all by the rule; in detail the
 * weights, and what full training keeps beside them at all times. */
static uint64_t least_bytes(const struct vc_request *request, const struct vc_ledger *ledger)
{
	uint64_t bytes = vc_ledger_component(ledger, VC_COMPONENT_WEIGHTS);

	if (request->method == VC_METHOD_RULE) {
		return ledger->total_bytes;
	}
	if (request->workload.task == VC_TASK_TRAINING &&
	    request->training.method == VC_TRAINING_FULL) {
		bytes = sat_add(bytes, vc_ledger_component(ledger, VC_COMPONENT_MASTER_WEIGHTS));
		bytes = sat_add(bytes, vc_ledger_component(ledger, VC_COMPONENT_OPTIMIZER_STATES));
	}
	return bytes;
}

static enum vc_status judge(struct search *search, struct vc_candidate *candidate)
{
	const struct vc_request *request = &search->request;
	struct vc_ledger ledger;
	enum vc_status status = vc_estimate(request, &ledger, search->error);

	if (status != VC_OK) {
		return status;
	}
	*candidate = (struct vc_candidate){
		.gpu = request->gpu,
		.layout = request->parallelism,
		.gpus = vc_layout_gpus(&request->parallelism),
		.total_bytes = ledger.total_bytes,
		.need_bytes = ledger.need_bytes,
		.have_bytes = vc_gpu_offers_bytes(request->gpu, request->method),
		.tensor_over_pcie = crosses_pcie(search, &request->parallelism),
		.host_bytes = host_bytes(search, &ledger),
	};
	candidate->node_gpus = in_node(search, candidate->gpus);
	candidate->headroom_bytes = difference(candidate->have_bytes, candidate->need_bytes);
	candidate->host_short = search->options.host_memory_bytes &&
	                        candidate->host_bytes > search->options.host_memory_bytes;
	candidate->verdict =
	        candidate->host_short ? VC_VERDICT_NO : verdict(&ledger, candidate->have_bytes);
	candidate->gpus_needed = candidate->verdict == VC_VERDICT_FITS ? candidate->gpus : 0;
	candidate->traffic = traffic(search).slowest;
	if (candidate->gpus == 1) {
		search->least_bytes = least_bytes(request, &ledger);
	}
	return VC_OK;
}

static bool is_nearer(const struct vc_candidate *a, const struct vc_candidate *b)
{
	return b->gpus == 0 || a->verdict < b->verdict ||
	       (a->verdict == b->verdict && a->headroom_bytes > b->headroom_bytes);
}

/* Tries a layout and keeps it when it comes before what was found so far. */
static bool try_layout(const struct vc_parallelism *layout, void *context)
{
	struct search *search = context;
	struct vc_candidate tried;
	uint64_t network_bytes;
	enum vc_status status;
	const char *why;

	search->request.parallelism = *layout;
	if (vc_layout_gpus(layout) > 1 && layout_problem(&search->request, search->node_gpus, &why,
	                                                 search->error) != VC_LAYOUT_CHOSEN) {
		return true;
	}
	network_bytes = traffic(search).network_bytes;
	if (search->best->gpus_needed && network_bytes >= search->network_bytes) {
		return true;
	}
	status = judge(search, &tried);
	if (status != VC_OK) {
		/* several ranks may be what an engine does not do; one cannot be */
		search->status =
		        vc_layout_gpus(layout) > 1 && status == VC_INVALID ? VC_OK : status;
		return search->status == VC_OK;
	}
	if (tried.gpus_needed || is_nearer(&tried, search->best)) {
		*search->best = tried;
		search->network_bytes = network_bytes;
	}
	return !tried.gpus_needed || network_bytes > 0;
}

/* ---- All of them ---- */

static bool is_power_of_two(uint32_t n)
{
	return (n & (n - 1)) == 0;
}

/* A GPU of so many cannot hold its share, whatever the layout: no need to try. */
static bool is_hopeless(const struct search *search, uint32_t gpus)
{
	return sat_div_up(search->least_bytes, gpus) >
	       vc_gpu_offers_bytes(search->request.gpu, search->request.method);
}

static bool is_over(const struct search *search)
{
	return search->status != VC_OK || search->best->gpus_needed;
}

/* As instances have them: powers of two, or one tensor group that the heads divide over; layers
 * are dealt to any number. */
static void try_usual(struct search *search, uint32_t gpus)
{
	bool training = search->request.workload.task == VC_TASK_TRAINING;
	struct vc_parallelism layout = search->stated;

	if (training && is_power_of_two(gpus) && gpus <= search->node_gpus) {
		layout.data = gpus;
		layout.zero_stage = gpus > 1 ? 3 : 0;
		try_layout(&layout, search);
	} else if (!training && is_power_of_two(gpus)) {
		layout_each(&search->request, gpus, try_layout, search);
	} else if (!training && gpus <= search->node_gpus && layout_by_layers(&search->request)) {
		layout.pipeline = gpus;
		try_layout(&layout, search);
	} else if (!training && gpus <= search->node_gpus &&
	           layout_heads_divide(search->request.model, gpus)) {
		layout.tensor = gpus;
		try_layout(&layout, search);
	}
}

static void try_powers(struct search *search, uint32_t gpus)
{
	if (search->request.workload.task == VC_TASK_TRAINING && is_power_of_two(gpus)) {
		layout_each(&search->request, gpus, try_layout, search);
	}
}

static uint32_t last_power(uint32_t max_gpus)
{
	uint32_t power = 1;

	while (power <= max_gpus / 2 && power < MOST_GPUS) {
		power *= 2;
	}
	return power;
}

/* What the largest power of two does not hold, fewer GPUs do not: only more than that. */
static void try_others(struct search *search, uint32_t gpus)
{
	if (gpus > last_power(search->options.max_gpus)) {
		layout_each(&search->request, gpus, try_layout, search);
	}
}

static void try_counts(struct search *search, void (*try_count)(struct search *, uint32_t))
{
	uint32_t max_gpus = search->options.max_gpus, last = last_power(max_gpus);

	for (uint32_t gpus = 1; !is_over(search) && gpus <= max_gpus && gpus <= MOST_GPUS;
	     gpus = gpus < MOST_UNUSUAL ? gpus + 1 : last_power(gpus) * 2) {
		/* The largest is tried all the same, to say how much is missing. */
		if (gpus == 1 || gpus == last || !is_hopeless(search, gpus)) {
			try_count(search, gpus);
		}
	}
}

enum vc_status search_gpu(struct search *search, const struct vc_gpu *gpu,
                          struct vc_candidate *candidate)
{
	memset(candidate, 0, sizeof *candidate);
	search->request.gpu = gpu;
	search->request.parallelism = search->stated;
	search->node_gpus = layout_node_gpus(gpu, &search->options);
	search->status = VC_OK;
	search->best = candidate;
	if (search->stated.stated) {
		search->status = judge(search, candidate);
	} else {
		try_counts(search, try_usual);
		try_counts(search, try_powers);
		try_counts(search, try_others);
	}
	return search->status;
}

/* ---- Setting out ---- */

enum vc_status search_open(struct search *search, const struct vc_request *request,
                           const struct vc_select_options *options, struct vc_error *error)
{
	enum vc_status status;

	memset(search, 0, sizeof *search);
	search->request = *request;
	search->request.memo = &search->memo;
	search->error = error;
	search->options = options ? *options : (struct vc_select_options){ 0 };
	if (search->options.max_gpus == 0) {
		search->options.max_gpus = 8;
	}
	if (search->options.currency[0] == '\0') {
		memcpy(search->options.currency, "USD", sizeof "USD");
	}
	status = vc_request_resolve(&search->request, error);
	search->stated = search->request.parallelism;
	return status;
}

/* ---- What became of each ---- */

struct report {
	struct search *search;
	struct vc_candidate chosen;
	vc_layout_visitor *visitor;
	void *context;
};

static bool same_layout(const struct vc_parallelism *a, const struct vc_parallelism *b)
{
	return a->data == b->data && a->tensor == b->tensor && a->pipeline == b->pipeline &&
	       a->expert == b->expert && a->zero_stage == b->zero_stage;
}

static enum vc_layout_reason fitting_reason(const struct report *report,
                                            const struct vc_candidate *tried)
{
	if (same_layout(&tried->layout, &report->chosen.layout)) {
		return VC_LAYOUT_CHOSEN;
	}
	return tried->gpus > report->chosen.gpus   ? VC_LAYOUT_MORE_GPUS
	       : tried->gpus < report->chosen.gpus ? VC_LAYOUT_UNUSUAL
	                                           : VC_LAYOUT_ALTERNATIVE;
}

static bool report_layout(const struct vc_parallelism *layout, void *context)
{
	struct report *report = context;
	struct search *search = report->search;
	struct vc_layout_trial trial = { .why = "" };
	enum vc_status status = VC_OK;

	search->request.parallelism = *layout;
	trial.reason =
	        layout_problem(&search->request, search->node_gpus, &trial.why, search->error);
	if (trial.reason == VC_LAYOUT_NODES && search->stated.stated) {
		trial.reason = VC_LAYOUT_CHOSEN; /* as its user wants it */
	}
	if (trial.reason == VC_LAYOUT_CHOSEN) {
		status = judge(search, &trial.candidate);
	}
	if (status == VC_INVALID) {
		trial.reason = VC_LAYOUT_INVALID;
		trial.why = search->error->message;
	} else if (status != VC_OK) {
		search->status = status;
		return false;
	} else if (trial.reason == VC_LAYOUT_CHOSEN) {
		trial.reason = trial.candidate.gpus_needed
		                       ? fitting_reason(report, &trial.candidate)
		               : trial.candidate.host_short ? VC_LAYOUT_HOST_MEMORY
		                                            : VC_LAYOUT_MEMORY;
	}
	trial.candidate.gpu = search->request.gpu;
	trial.candidate.layout = *layout;
	trial.candidate.gpus = vc_layout_gpus(layout);
	report->visitor(&trial, report->context);
	return true;
}

enum vc_status vc_layouts(const struct vc_request *request, const struct vc_gpu *gpu,
                          const struct vc_select_options *options, vc_layout_visitor *visitor,
                          void *context, struct vc_error *error)
{
	struct search search;
	struct report report = { .search = &search, .visitor = visitor, .context = context };
	enum vc_status status = search_open(&search, request, options, error);

	if (status != VC_OK) {
		return status;
	}
	status = search_gpu(&search, gpu, &report.chosen);
	if (search.stated.stated) {
		return status == VC_OK && !report_layout(&search.stated, &report) ? search.status
		                                                                  : status;
	}
	for (uint32_t gpus = 1;
	     status == VC_OK && gpus <= search.options.max_gpus && gpus <= MOST_GPUS;
	     gpus = gpus < MOST_UNUSUAL ? gpus + 1 : last_power(gpus) * 2) {
		search.request.parallelism = search.stated;
		layout_each(&search.request, gpus, report_layout, &report);
		status = search.status;
	}
	return status;
}
