/*
 * The largest value of a field that still fits: doubling until it does not, then halving the gap.
 * Each probe is a ledger, so whatever bounds a job (cache, activations, logits) is seen.
 */
#include "text.h"
#include "vramcalc/vramcalc.h"

enum {
	MOST_GPUS = 32768
};

/* As far as the search goes: where the spec's own field ends, or past anything that exists. */
static uint64_t top_of(enum vc_solve_field field)
{
	switch (field) {
	case VC_SOLVE_LORA_RANK:
		return 100000;
	case VC_SOLVE_LORAS:
		return 10000;
	default:
		return 1ull << 40;
	}
}

static const char *const fields[VC_SOLVE_FIELD_COUNT] = {
	[VC_SOLVE_BATCH_SIZE] = "workload.batch_size",
	[VC_SOLVE_SEQUENCE_LENGTH] = "workload.sequence_length",
	[VC_SOLVE_CONCURRENCY] = "workload.concurrency",
	[VC_SOLVE_LORA_RANK] = "training.lora.rank",
	[VC_SOLVE_LORAS] = "engine.max_loras",
	[VC_SOLVE_GPUS] = "hardware.max_gpus",
};

const char *vc_solve_field_name(enum vc_solve_field field)
{
	return fields[field < VC_SOLVE_FIELD_COUNT ? field : VC_SOLVE_BATCH_SIZE];
}

struct probe {
	struct vc_request request;
	enum vc_solve_field field;
	uint64_t limit_bytes;
	uint64_t need_bytes; /* of the last value tried */
	bool fits;
	struct vc_error *error;
};

static void set(struct vc_request *request, enum vc_solve_field field, uint64_t value)
{
	switch (field) {
	case VC_SOLVE_SEQUENCE_LENGTH:
		request->workload.sequence_length = value;
		break;
	case VC_SOLVE_CONCURRENCY:
		request->workload.concurrency = value;
		break;
	case VC_SOLVE_LORA_RANK:
		request->training.lora.rank = (uint32_t)value;
		break;
	case VC_SOLVE_LORAS:
		request->engine.max_loras = (uint32_t)value;
		break;
	default:
		request->workload.batch_size = value;
	}
}

/* What overflows does not fit; other errors end the search. */
static enum vc_status try_value(struct probe *probe, uint64_t value)
{
	struct vc_ledger ledger;
	enum vc_status status;

	set(&probe->request, probe->field, value);
	status = vc_estimate(&probe->request, &ledger, probe->error);
	if (status == VC_OVERFLOW) {
		probe->need_bytes = INT64_MAX;
		probe->fits = false;
		return VC_OK;
	}
	if (status != VC_OK) {
		return status;
	}
	probe->need_bytes = ledger.need_bytes;
	probe->fits = ledger.need_bytes <= probe->limit_bytes;
	return VC_OK;
}

static enum vc_status largest(struct probe *probe, struct vc_solution *solution)
{
	uint64_t top = top_of(probe->field), good = 0, bad = 1, smallest_need;
	enum vc_status status = try_value(probe, 1);

	smallest_need = probe->need_bytes;
	while (status == VC_OK && probe->fits && bad < top) {
		good = bad;
		solution->bytes_at_value = probe->need_bytes;
		bad = bad < top / 2 ? bad * 2 : top;
		status = try_value(probe, bad);
	}
	if (status == VC_OK && probe->fits) {
		solution->value = bad;
		solution->bytes_at_value = probe->need_bytes;
		solution->any = probe->need_bytes == smallest_need;
		return VC_OK;
	}
	solution->bytes_at_next = probe->need_bytes;
	while (status == VC_OK && bad - good > 1) {
		uint64_t middle = good + (bad - good) / 2;

		status = try_value(probe, middle);
		if (probe->fits) {
			good = middle;
			solution->bytes_at_value = probe->need_bytes;
		} else {
			bad = middle;
			solution->bytes_at_next = probe->need_bytes;
		}
	}
	solution->value = good;
	if (good == 0) {
		solution->bytes_at_value = solution->bytes_at_next;
	}
	return status;
}

static enum vc_status choose(const struct probe *probe, uint32_t max_gpus,
                             struct vc_candidate *candidate)
{
	struct vc_select_options options = { .max_gpus = max_gpus };
	const struct vc_gpu *gpu = probe->request.gpu;

	return vc_select(&probe->request, &gpu, 1, &options, candidate, probe->error);
}

/* As the ranking finds it; the next is what comes closest with fewer. */
static enum vc_status fewest(struct probe *probe, struct vc_solution *solution)
{
	struct vc_candidate candidate = { .gpus = 0 }, fewer = candidate;
	uint32_t less = 1;
	enum vc_status status;

	probe->request.parallelism = (struct vc_parallelism){
		.offload_optimizer = probe->request.parallelism.offload_optimizer,
		.offload_parameters = probe->request.parallelism.offload_parameters,
	};
	status = choose(probe, MOST_GPUS, &candidate);
	while (less * 2 < candidate.gpus_needed) {
		less *= 2;
	}
	if (status == VC_OK) {
		status = choose(probe, less, &fewer);
	}
	if (status != VC_OK) {
		return status;
	}
	solution->value = candidate.gpus_needed;
	solution->bytes_at_value = candidate.gpus_needed ? candidate.need_bytes : fewer.need_bytes;
	solution->bytes_at_next = candidate.gpus_needed == 1  ? 0
	                          : candidate.gpus_needed > 1 ? fewer.need_bytes
	                                                      : candidate.need_bytes;
	return VC_OK;
}

enum vc_status vc_solve(const struct vc_request *request, const struct vc_gpu *gpu,
                        enum vc_solve_field field, struct vc_solution *solution,
                        struct vc_error *error)
{
	struct probe probe = { .request = *request, .field = field, .error = error };
	enum vc_status status;

	*solution = (struct vc_solution){ 0 };
	if (field >= VC_SOLVE_FIELD_COUNT) {
		return vc_fail(error, VC_INVALID, "for",
		               "is not a field to solve for (batch_size, "
		               "sequence_length, concurrency, rank, gpus)");
	}
	status = vc_request_resolve(&probe.request, error);
	if (status != VC_OK) {
		return status;
	}
	probe.request.gpu = gpu;
	probe.limit_bytes = vc_gpu_offers_bytes(gpu, request->method);
	solution->limit_bytes = probe.limit_bytes;
	return field == VC_SOLVE_GPUS ? fewest(&probe, solution) : largest(&probe, solution);
}
