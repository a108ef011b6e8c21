#include "plan_hardware.h"

#include "local_catalog.h"

#include "plan_table.h"
#include "print_text.h"

#include <inttypes.h>

enum {
	ADVISED_MBS = 31000, /* PCIe 4.0 x16, one way */
	NVLINK_3_MBS = 300000
};

static const struct vc_candidate *first(const struct plan *plan)
{
	return plan->count ? &plan->candidates[0] : NULL;
}

static void append_bytes(char *to, uint64_t bytes, enum byte_unit unit)
{
	char quantity[64];

	format_quantity(quantity, sizeof quantity, bytes, unit, ROUND_NEAREST);
	text_append(to, PLAN_TEXT, "%s", quantity);
}

/* "31.5", of 31504 MB/s */
static void append_rate(char *to, uint64_t mbs)
{
	text_append(to, PLAN_TEXT, "%" PRIu64 ".%" PRIu64, (mbs + 50) / 1000,
	            (mbs + 50) / 100 % 10);
}

/* ---- Links ---- */

/* Slowly, and to some purpose. */
static bool talks(const struct vc_candidate *candidate)
{
	return candidate->tensor_over_pcie && candidate->verdict != VC_VERDICT_NO;
}

bool plan_note_pcie(const struct plan *plan, enum byte_unit unit, char to[PLAN_TEXT])
{
	const struct vc_candidate *candidate = first(plan);
	const struct vc_gpu *gpu;
	uint64_t rate;

	if (!candidate || !talks(candidate) ||
	    candidate->traffic.slowest == VC_INTERCONNECT_NETWORK) {
		return false;
	}
	gpu = candidate->gpu;
	rate = vc_interconnect_mbs(gpu, VC_INTERCONNECT_PCIE);
	text_append(to, PLAN_TEXT, "On %s tensor ranks talk over PCIe", gpu->name);
	if (rate) {
		text_append(to, PLAN_TEXT, " %" PRIu32 ".0 x%" PRIu32 ", ", gpu->pcie_generation,
		            gpu->pcie_lanes);
		append_rate(to, rate);
		text_append(to, PLAN_TEXT, " GB/s one way");
	}
	if (gpu->link_gpus > 1) {
		text_append(to, PLAN_TEXT, " (a bridge joins %" PRIu32 ")", gpu->link_gpus);
	}
	text_append(to, PLAN_TEXT, ", and every layer waits for it");
	if (candidate->traffic.bytes) {
		text_append(to, PLAN_TEXT, ": ");
		append_bytes(to, candidate->traffic.bytes, unit);
		text_append(to, PLAN_TEXT, " a pass, of which pipeline stages send little");
	}
	if (rate && rate < ADVISED_MBS) {
		text_append(to, PLAN_TEXT,
		            ". NVLink 3 is %" PRIu64 " times as fast; PCIe 4.0 x16 or NVLink is "
		            "advised.",
		            NVLINK_3_MBS / rate);
	} else {
		text_append(to, PLAN_TEXT,
		            ". That takes a full slot: PCIe 3.0 x8 has 7.9 GB/s, a 38th of "
		            "NVLink 3.");
	}
	return true;
}

bool plan_note_network(const struct plan *plan, enum byte_unit unit, char to[PLAN_TEXT])
{
	const struct vc_candidate *candidate = first(plan);

	if (!candidate || !talks(candidate) ||
	    candidate->traffic.slowest != VC_INTERCONNECT_NETWORK) {
		return false;
	}
	text_append(to, PLAN_TEXT,
	            "%" PRIu32 " tensor ranks lie in several nodes and exchange every layer over "
	            "the network",
	            candidate->layout.tensor);
	if (candidate->traffic.bytes) {
		text_append(to, PLAN_TEXT, ", ");
		append_bytes(to, candidate->traffic.bytes, unit);
		text_append(to, PLAN_TEXT, " a pass");
	}
	text_append(
	        to, PLAN_TEXT,
	        "; at 100 Gbit/s that is 12.5 GB/s. Pipeline stages between nodes send little.");
	return true;
}

/* ---- Host memory ---- */

bool plan_note_host_short(const struct plan *plan, enum byte_unit unit, char to[PLAN_TEXT])
{
	const struct vc_candidate *candidate = first(plan);

	if (!candidate || !candidate->host_short) {
		return false;
	}
	text_append(to, PLAN_TEXT, "What is offloaded takes ");
	append_bytes(to, candidate->host_bytes, unit);
	text_append(to, PLAN_TEXT, " of host memory in a node; hardware.host_memory is ");
	append_bytes(to, plan->options.host_memory_bytes, unit);
	text_append(to, PLAN_TEXT, ".");
	return true;
}

/* Twice the marketed memory of the GPUs in one node. */
static uint64_t twice_bytes(const struct vc_candidate *candidate)
{
	return candidate->gpu->memory_bytes * candidate->node_gpus * 2;
}

bool plan_note_host_twice(const struct plan *plan, enum byte_unit unit, char to[PLAN_TEXT])
{
	const struct vc_candidate *candidate = first(plan);
	uint64_t host_bytes = plan->options.host_memory_bytes;

	if (!candidate || candidate->host_short || host_bytes >= twice_bytes(candidate) ||
	    (!host_bytes && !candidate->host_bytes)) {
		return false;
	}
	text_append(to, PLAN_TEXT, "Host memory should be twice that of a node's GPUs, ");
	append_bytes(to, twice_bytes(candidate), unit);
	text_append(to, PLAN_TEXT, " here, or offloading, loading and checkpoints may fail");
	if (host_bytes) {
		text_append(to, PLAN_TEXT, "; it is ");
		append_bytes(to, host_bytes, unit);
	} else {
		text_append(to, PLAN_TEXT, "; hardware.host_memory is not given");
	}
	text_append(to, PLAN_TEXT, ".");
	return true;
}

bool plan_note_offload(const struct plan *plan, enum byte_unit unit, char to[PLAN_TEXT])
{
	const struct vc_candidate *candidate = first(plan);
	uint64_t host_bytes = plan->options.host_memory_bytes;

	(void)unit;
	if (!candidate || candidate->gpus_needed || candidate->host_bytes ||
	    plan->request.workload.task != VC_TASK_TRAINING ||
	    host_bytes < twice_bytes(candidate)) {
		return false;
	}
	text_append(to, PLAN_TEXT,
	            "Host memory is at least twice that of the GPUs: offloading suits it "
	            "(parallelism.offload).");
	return true;
}

static uint64_t host_component(const struct vc_host *host, enum vc_component component)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < host->line_count; i++) {
		total += host->lines[i].component == component ? host->lines[i].bytes : 0;
	}
	return total;
}

/* A rank moves what is its own part: all of it without ZeRO, a share of the replicas with it. */
static uint64_t own_part(const struct vc_parallelism *layout, uint64_t bytes, uint32_t from_stage)
{
	bool whole = layout->zero_stage == 0 || layout->zero_stage >= from_stage;

	return whole ? bytes : bytes / layout->data;
}

/* By the rule's ledger: gradients go out and weights come back; offloaded weights come in for the
 * forward and the backward pass as well. */
static uint64_t moved_bytes(const struct plan *plan)
{
	const struct vc_parallelism *layout = &plan->request.parallelism;
	const struct vc_ledger *rule = &plan->rule;
	uint64_t weights = vc_ledger_component(rule, VC_COMPONENT_WEIGHTS) +
	                   host_component(&rule->host, VC_COMPONENT_WEIGHTS) / rule->gpus;
	uint64_t gradients = vc_ledger_component(rule, VC_COMPONENT_GRADIENTS);
	uint64_t passes = layout->offload_parameters == VC_OFFLOAD_NONE ? 1 : 3;

	return own_part(layout, weights, 3) * passes + own_part(layout, gradients, 2);
}

bool plan_note_moved(const struct plan *plan, enum byte_unit unit, char to[PLAN_TEXT])
{
	const struct vc_candidate *candidate = first(plan);
	uint64_t rate, bytes;

	if (!candidate || !candidate->host_bytes || plan->rule.need_bytes > INT64_MAX / 8 ||
	    plan->rule.host.total_bytes > INT64_MAX / 8 ||
	    plan->request.workload.task != VC_TASK_TRAINING ||
	    plan->request.training.method != VC_TRAINING_FULL) {
		return false;
	}
	bytes = moved_bytes(plan);
	rate = vc_interconnect_mbs(candidate->gpu, VC_INTERCONNECT_PCIE);
	text_append(to, PLAN_TEXT, "Offloading moves ");
	append_bytes(to, bytes, unit);
	text_append(to, PLAN_TEXT,
	            " a step between each GPU and the host: gradients out, weights back%s",
	            plan->request.parallelism.offload_parameters == VC_OFFLOAD_NONE
	                    ? ""
	                    : " and in for each pass");
	if (rate) {
		text_append(to, PLAN_TEXT, "; at the ");
		append_rate(to, rate);
		text_append(to, PLAN_TEXT, " GB/s of PCIe %" PRIu32 ".0 x%" PRIu32 " that takes ",
		            candidate->gpu->pcie_generation, candidate->gpu->pcie_lanes);
		append_rate(to, bytes / rate / 1000);
		text_append(to, PLAN_TEXT, " s");
	}
	text_append(to, PLAN_TEXT, ".");
	return true;
}

/* ---- Idle memory ---- */

bool plan_note_idle(const struct plan *plan, enum byte_unit unit, char to[PLAN_TEXT])
{
	const struct vc_candidate *candidate = first(plan);

	(void)unit;
	if (!candidate || candidate->gpus_needed != 1 ||
	    (uint64_t)candidate->headroom_bytes <= candidate->have_bytes / 2) {
		return false;
	}
	text_append(to, PLAN_TEXT,
	            "Less than half of %s is needed%s: pack puts several jobs on it%s.",
	            candidate->gpu->name,
	            plan_fills_gpu(plan) ? ", though the engine fills it with cache" : "",
	            candidate->gpu->mig_capable ? ", and --mig shows the slices that do" : "");
	return true;
}

/* ---- This machine ---- */

bool plan_note_local(const struct plan *plan, enum byte_unit unit, char to[PLAN_TEXT])
{
	bool any = false;

	for (size_t i = 0; i < plan->count; i++) {
		char text[PLAN_TEXT] = "";

		if (local_catalog_note(plan->local, plan->candidates[i].gpu, unit, text,
		                       sizeof text)) {
			text_append(to, PLAN_TEXT, "%s%s", any ? " " : "", text);
			any = true;
		}
	}
	return any;
}

/* ---- Number and price ---- */

bool plan_note_fewer(const struct plan *plan, enum byte_unit unit, char to[PLAN_TEXT])
{
	const struct vc_candidate *fewer = &plan->fewer;
	char layout[160];

	(void)unit;
	if (fewer->gpus == 0) {
		return false;
	}
	plan_layout_text(layout, sizeof layout, &fewer->layout);
	text_append(to, PLAN_TEXT,
	            "%" PRIu32 " × %s hold it too (%s), where so many are for rent and the "
	            "framework can; --layouts shows all.",
	            fewer->gpus, fewer->gpu->name, layout);
	return true;
}

bool plan_note_budget(const struct plan *plan, enum byte_unit unit, char to[PLAN_TEXT])
{
	const struct vc_candidate *candidate = first(plan);
	char price[64];

	(void)unit;
	if (!candidate || !candidate->over_budget || !candidate->gpus_needed) {
		return false;
	}
	format_price(price, sizeof price, plan->options.max_price_micros, plan->options.currency);
	text_append(to, PLAN_TEXT, "What fits costs more than the %s an hour of the budget.",
	            price);
	return true;
}

bool plan_note_engine(const struct plan *plan, enum byte_unit unit, char to[PLAN_TEXT])
{
	(void)unit;
	if (!plan->engine_lacks) {
		return false;
	}
	text_append(to, PLAN_TEXT, "The stated layout is not one that %s can do: %s.",
	            vc_engine_name(plan->request.engine.name), plan->engine_lacks);
	return true;
}
