/*
 * From the numbers of a failure to its cause. Capacity: live tensors and the request together
 * exceed the GPU. Fragmentation: they do not, and what the allocator holds idle would have been
 * enough. Leak: live memory still rises late in the run. docs/diagnose.md
 */
#include "sat.h"
#include "vramcalc/vramcalc.h"

static const char *const causes[VC_CAUSE_COUNT] = {
	[VC_CAUSE_NONE] = "none",
	[VC_CAUSE_CAPACITY] = "capacity",
	[VC_CAUSE_FRAGMENTATION] = "fragmentation",
	[VC_CAUSE_LEAK] = "leak",
	[VC_CAUSE_OTHER_PROCESS] = "other-process",
	[VC_CAUSE_UNKNOWN] = "unknown",
};

static const char *const confidences[] = {
	[VC_CONFIDENCE_LOW] = "low",
	[VC_CONFIDENCE_MEDIUM] = "medium",
	[VC_CONFIDENCE_HIGH] = "high",
};

const char *vc_cause_name(enum vc_cause cause)
{
	return causes[cause];
}

const char *vc_confidence_name(enum vc_confidence confidence)
{
	return confidences[confidence];
}

static bool knows(const struct vc_evidence *evidence, uint32_t members)
{
	return (evidence->known & members) == members;
}

static void advise(struct vc_diagnosis *diagnosis, const char *sentence)
{
	if (diagnosis->advice_count < VC_MAX_ADVICE) {
		diagnosis->advice[diagnosis->advice_count++] = sentence;
	}
}

static void conclude(struct vc_diagnosis *diagnosis, enum vc_cause cause,
                     enum vc_confidence confidence)
{
	diagnosis->cause = cause;
	diagnosis->confidence = confidence;
}

/* Held by the allocator but by no tensor. */
static uint64_t idle_bytes(const struct vc_evidence *evidence)
{
	return sat_sub(evidence->reserved_bytes, evidence->allocated_bytes);
}

/* The request would have fitted into what was free: neither memory nor its pieces were short. */
static bool was_free(const struct vc_evidence *evidence)
{
	return knows(evidence, VC_KNOWS_FREE | VC_KNOWS_REQUESTED) &&
	       evidence->free_bytes > sat_add(evidence->requested_bytes, 64u << 20);
}

static bool others_are_to_blame(const struct vc_evidence *evidence)
{
	uint64_t wanted;

	if (!knows(evidence, VC_KNOWS_OTHERS | VC_KNOWS_REQUESTED | VC_KNOWS_FREE) ||
	    evidence->other_processes_bytes < evidence->total_bytes / 20) {
		return false;
	}
	wanted = sat_sub(evidence->requested_bytes, evidence->free_bytes);
	return evidence->other_processes_bytes >= wanted;
}

static bool idle_would_have_done(const struct vc_evidence *evidence)
{
	uint64_t at_hand = idle_bytes(evidence);

	if (!knows(evidence, VC_KNOWS_RESERVED | VC_KNOWS_ALLOCATED | VC_KNOWS_REQUESTED)) {
		return false;
	}
	if (knows(evidence, VC_KNOWS_FREE)) {
		at_hand = sat_add(at_hand, evidence->free_bytes);
	}
	return at_hand >= evidence->requested_bytes && idle_bytes(evidence) > (256u << 20);
}

static void diagnose_fragmentation(const struct vc_evidence *evidence,
                                   struct vc_diagnosis *diagnosis)
{
	/* A tenth of the card held idle is more than rounding to segments explains. */
	bool plain = idle_bytes(evidence) > evidence->total_bytes / 10;

	conclude(diagnosis, VC_CAUSE_FRAGMENTATION,
	         plain ? VC_CONFIDENCE_HIGH : VC_CONFIDENCE_MEDIUM);
	if (!evidence->expandable_segments) {
		advise(diagnosis, "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True before the "
		                  "process starts.");
	}
	advise(diagnosis, "Allocate the largest batch first, or keep shapes fixed, so that blocks "
	                  "can be used again.");
	advise(diagnosis, "Call torch.cuda.empty_cache() between phases; it does not lower a "
	                  "single live peak.");
}

static void diagnose_capacity(const struct vc_evidence *evidence, struct vc_diagnosis *diagnosis,
                              enum vc_confidence confidence)
{
	conclude(diagnosis, VC_CAUSE_CAPACITY, confidence);
	if (evidence->refused_at_start) {
		advise(diagnosis, "Lower the model length or the number of sequences, or raise the "
		                  "engine's share of the GPU.");
	}
	advise(diagnosis, "Run 'vramcalc advise SPEC --gpu NAME' for the changes that make it fit, "
	                  "the easiest first.");
	advise(diagnosis,
	       "Or take a larger GPU, or more of them: 'vramcalc plan SPEC' ranks both.");
}

static void diagnose_others(struct vc_diagnosis *diagnosis)
{
	conclude(diagnosis, VC_CAUSE_OTHER_PROCESS, VC_CONFIDENCE_HIGH);
	advise(diagnosis, "Other processes hold the memory: nvidia-smi lists them. End them or "
	                  "take another GPU.");
}

static void diagnose_leak(struct vc_diagnosis *diagnosis, enum vc_confidence confidence)
{
	conclude(diagnosis, VC_CAUSE_LEAK, confidence);
	advise(diagnosis, "Keep numbers, not tensors: loss.item() or .detach() where values are "
	                  "collected in a loop.");
	advise(diagnosis, "Delete references to outputs and graphs at the end of each step, and "
	                  "look for retain_graph=True.");
	advise(diagnosis, "Confirm with torch.cuda.memory_snapshot(): the growing blocks name the "
	                  "line that allocates them.");
}

static void diagnose_unknown(const struct vc_evidence *evidence, struct vc_diagnosis *diagnosis)
{
	conclude(diagnosis, VC_CAUSE_UNKNOWN, VC_CONFIDENCE_LOW);
	if (was_free(evidence)) {
		advise(diagnosis, "Enough memory was free: look at a per-process limit, the driver "
		                  "(WDDM, WSL), or another device than the one reported.");
		return;
	}
	if (!knows(evidence, VC_KNOWS_TOTAL | VC_KNOWS_ALLOCATED)) {
		advise(diagnosis, "Add the whole message: capacity, allocated and reserved memory "
		                  "stand in it.");
	}
	advise(diagnosis, "Add torch.cuda.memory_summary() from just before the failure, or "
	                  "nvidia-smi readings of at least ten steps.");
}

/* A failed allocation with numbers beside it. */
static void diagnose_failure(const struct vc_evidence *evidence, struct vc_diagnosis *diagnosis)
{
	bool too_large = evidence->theory_bytes && knows(evidence, VC_KNOWS_TOTAL) &&
	                 evidence->theory_bytes > evidence->total_bytes;

	if (evidence->allocated.kind == VC_TREND_RISING && !too_large) {
		diagnose_leak(diagnosis, VC_CONFIDENCE_HIGH);
	} else if (was_free(evidence)) {
		diagnose_unknown(evidence, diagnosis);
	} else if (too_large) {
		diagnose_capacity(evidence, diagnosis, VC_CONFIDENCE_HIGH);
	} else if (idle_would_have_done(evidence)) {
		diagnose_fragmentation(evidence, diagnosis);
	} else if (others_are_to_blame(evidence)) {
		diagnose_others(diagnosis);
	} else if (evidence->used.kind == VC_TREND_RISING) {
		diagnose_leak(diagnosis, VC_CONFIDENCE_MEDIUM);
	} else if (evidence->used.kind == VC_TREND_PLATEAU && evidence->theory_bytes) {
		diagnose_fragmentation(evidence, diagnosis);
	} else if (evidence->refused_at_start) {
		diagnose_capacity(evidence, diagnosis, VC_CONFIDENCE_HIGH);
	} else if (knows(evidence, VC_KNOWS_REQUESTED) &&
	           (knows(evidence, VC_KNOWS_ALLOCATED) || knows(evidence, VC_KNOWS_FREE))) {
		diagnose_capacity(evidence, diagnosis,
		                  knows(evidence, VC_KNOWS_ALLOCATED | VC_KNOWS_TOTAL)
		                          ? VC_CONFIDENCE_HIGH
		                          : VC_CONFIDENCE_MEDIUM);
	} else if (evidence->used.kind == VC_TREND_PLATEAU) {
		diagnose_capacity(evidence, diagnosis, VC_CONFIDENCE_MEDIUM);
	} else if (knows(evidence, VC_KNOWS_REQUESTED)) {
		diagnose_capacity(evidence, diagnosis, VC_CONFIDENCE_LOW);
	} else {
		diagnose_unknown(evidence, diagnosis);
	}
}

struct vc_diagnosis vc_diagnose(const struct vc_evidence *evidence)
{
	struct vc_diagnosis diagnosis = { 0 };

	if (evidence->host_memory) {
		conclude(&diagnosis, VC_CAUSE_CAPACITY, VC_CONFIDENCE_HIGH);
		advise(&diagnosis, "The host ran out of memory, not the GPU: add memory, or lower "
		                   "offloading, data workers and pinned buffers.");
	} else if (evidence->out_of_memory || evidence->refused_at_start) {
		diagnose_failure(evidence, &diagnosis);
	} else if (evidence->allocated.kind == VC_TREND_RISING) {
		diagnose_leak(&diagnosis, VC_CONFIDENCE_HIGH);
	} else if (evidence->used.kind == VC_TREND_RISING) {
		diagnose_leak(&diagnosis, VC_CONFIDENCE_MEDIUM);
	} else if (evidence->used.kind != VC_TREND_UNKNOWN ||
	           evidence->allocated.kind != VC_TREND_UNKNOWN) {
		conclude(&diagnosis, VC_CAUSE_NONE, VC_CONFIDENCE_MEDIUM);
	} else {
		diagnose_unknown(evidence, &diagnosis);
	}
	return diagnosis;
}
