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

/*
 * What other processes hold: as the message names them, or what neither free memory nor the
 * allocator explains, less the 1.5 GiB that a context and its libraries may take.
 */
static uint64_t others_bytes(const struct vc_evidence *evidence)
{
	const uint64_t context_bytes = 3ull << 29;
	uint64_t explained;

	if (knows(evidence, VC_KNOWS_OTHERS)) {
		return evidence->other_processes_bytes;
	}
	if (!knows(evidence, VC_KNOWS_TOTAL | VC_KNOWS_FREE | VC_KNOWS_RESERVED) ||
	    knows(evidence, VC_KNOWS_PROCESS)) {
		return 0;
	}
	explained = sat_add(sat_add(evidence->free_bytes, evidence->reserved_bytes), context_bytes);
	return sat_sub(evidence->total_bytes, explained);
}

static bool others_are_to_blame(const struct vc_evidence *evidence)
{
	uint64_t others = others_bytes(evidence);

	return knows(evidence, VC_KNOWS_REQUESTED | VC_KNOWS_FREE) &&
	       others > evidence->total_bytes / 100 * 3 &&
	       others >= sat_sub(evidence->requested_bytes, evidence->free_bytes);
}

/* Live tensors and the request in thousandths of the card; 0 when not known. */
static uint64_t live_permille(const struct vc_evidence *evidence)
{
	if (!knows(evidence, VC_KNOWS_TOTAL | VC_KNOWS_ALLOCATED | VC_KNOWS_REQUESTED) ||
	    evidence->total_bytes < 1000) {
		return 0;
	}
	return sat_add(evidence->allocated_bytes, evidence->requested_bytes) /
	       (evidence->total_bytes / 1000);
}

static bool idle_would_have_done(const struct vc_evidence *evidence)
{
	uint64_t at_hand = idle_bytes(evidence);

	/* A card that live tensors fill to 92 % is full: context and libraries take the rest. */
	if (!knows(evidence, VC_KNOWS_RESERVED | VC_KNOWS_ALLOCATED | VC_KNOWS_REQUESTED) ||
	    live_permille(evidence) > 920) {
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

static void diagnose_others(const struct vc_evidence *evidence, struct vc_diagnosis *diagnosis)
{
	bool named = knows(evidence, VC_KNOWS_OTHERS) &&
	             others_bytes(evidence) > evidence->total_bytes / 5;

	conclude(diagnosis, VC_CAUSE_OTHER_PROCESS,
	         named ? VC_CONFIDENCE_HIGH : VC_CONFIDENCE_MEDIUM);
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
	} else if (too_large || live_permille(evidence) > 1000) {
		diagnose_capacity(evidence, diagnosis, VC_CONFIDENCE_HIGH);
	} else if (was_free(evidence)) {
		diagnose_unknown(evidence, diagnosis);
	} else if (idle_would_have_done(evidence)) {
		diagnose_fragmentation(evidence, diagnosis);
	} else if (others_are_to_blame(evidence)) {
		diagnose_others(evidence, diagnosis);
	} else if (evidence->used.kind == VC_TREND_RISING) {
		diagnose_leak(diagnosis, VC_CONFIDENCE_MEDIUM);
	} else if (evidence->used.kind == VC_TREND_PLATEAU && evidence->theory_bytes) {
		diagnose_fragmentation(evidence, diagnosis);
	} else if (evidence->refused_at_start || live_permille(evidence) > 0) {
		diagnose_capacity(evidence, diagnosis,
		                  live_permille(evidence) > 920 ? VC_CONFIDENCE_HIGH
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
