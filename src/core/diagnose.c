/*
 * From the numbers of a failure to its cause. Capacity: live tensors and the request together
 * exceed the GPU. Fragmentation: they do not, and what the allocator holds idle would have been
 * enough. Leak: live memory still rises late in the run. docs/diagnose.md
 */
#include "diagnose.h"
#include "sat.h"

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

static const char *const software_names[VC_SOFTWARE_COUNT] = {
	[VC_SOFTWARE_UNKNOWN] = "",
	[VC_SOFTWARE_HOST] = "host",
	[VC_SOFTWARE_NVIDIA_SMI] = "nvidia-smi",
	[VC_SOFTWARE_CUDA] = "CUDA",
	[VC_SOFTWARE_PYTORCH] = "PyTorch",
	[VC_SOFTWARE_TENSORFLOW] = "TensorFlow",
	[VC_SOFTWARE_JAX] = "JAX",
	[VC_SOFTWARE_ONNX_RUNTIME] = "ONNX Runtime",
	[VC_SOFTWARE_LLAMACPP] = "llama.cpp",
	[VC_SOFTWARE_OLLAMA] = "Ollama",
	[VC_SOFTWARE_TGI] = "TGI",
	[VC_SOFTWARE_TENSORRT_LLM] = "TensorRT-LLM",
	[VC_SOFTWARE_SGLANG] = "SGLang",
	[VC_SOFTWARE_VLLM] = "vLLM",
};

static const char *const memory_names[VC_MEMORY_COUNT] = {
	[VC_MEMORY_GPU] = "gpu",         [VC_MEMORY_HOST] = "host",
	[VC_MEMORY_SHARED] = "shared",   [VC_MEMORY_ON_CHIP] = "on-chip",
	[VC_MEMORY_POOL] = "cache-pool",
};

const char *vc_cause_name(enum vc_cause cause)
{
	return causes[cause];
}

const char *vc_confidence_name(enum vc_confidence confidence)
{
	return confidences[confidence];
}

const char *vc_software_name(enum vc_software software)
{
	return software_names[software];
}

const char *vc_memory_name(enum vc_memory memory)
{
	return memory_names[memory];
}

/* ---- What the figures say ------------------------------------------------------------------ */

static bool knows(const struct vc_evidence *evidence, uint32_t members)
{
	return diagnose_knows(evidence, members);
}

/* Held by the allocator but by no tensor. */
static uint64_t idle_bytes(const struct vc_evidence *evidence)
{
	return sat_sub(evidence->reserved_bytes, evidence->allocated_bytes);
}

/* What the program may have at most: its own limit, else the GPU; 0 when not known. */
static uint64_t ceiling_bytes(const struct vc_evidence *evidence)
{
	bool total = knows(evidence, VC_KNOWS_TOTAL), limit = knows(evidence, VC_KNOWS_LIMIT);

	if (limit && (!total || evidence->limit_bytes < evidence->total_bytes)) {
		return evidence->limit_bytes;
	}
	return total ? evidence->total_bytes : 0;
}

/* Live tensors and the request in thousandths of the ceiling; 0 when not known. */
static uint64_t live_permille(const struct vc_evidence *evidence)
{
	uint64_t ceiling = ceiling_bytes(evidence);

	if (!knows(evidence, VC_KNOWS_ALLOCATED | VC_KNOWS_REQUESTED) || ceiling < 1000) {
		return 0;
	}
	return sat_add(evidence->allocated_bytes, evidence->requested_bytes) / (ceiling / 1000);
}

/* The request would have fitted into what was free: neither memory nor its pieces were short. */
static bool was_free(const struct vc_evidence *evidence)
{
	const uint64_t rounding = 64u << 20;

	return knows(evidence, VC_KNOWS_FREE | VC_KNOWS_REQUESTED) &&
	       evidence->free_bytes > sat_add(evidence->requested_bytes, rounding);
}

/*
 * What other processes hold: as the message names them, or what neither free memory nor this
 * process explains. Where only the allocator is known, 1.5 GiB may be its context and libraries.
 */
static uint64_t others_bytes(const struct vc_evidence *evidence)
{
	const uint64_t context_bytes = 3ull << 29;
	uint64_t own;

	if (knows(evidence, VC_KNOWS_OTHERS)) {
		return evidence->other_processes_bytes;
	}
	if (knows(evidence, VC_KNOWS_TOTAL | VC_KNOWS_START_FREE)) {
		return sat_sub(evidence->total_bytes, evidence->start_free_bytes);
	}
	if (!knows(evidence, VC_KNOWS_TOTAL | VC_KNOWS_FREE)) {
		return 0;
	}
	if (knows(evidence, VC_KNOWS_PROCESS) &&
	    evidence->process_bytes >= evidence->reserved_bytes) {
		own = evidence->process_bytes; /* containers may hide it: then it reads 0 */
	} else if (knows(evidence, VC_KNOWS_RESERVED)) {
		own = sat_add(evidence->reserved_bytes, context_bytes);
	} else {
		return 0;
	}
	return sat_sub(evidence->total_bytes, sat_add(evidence->free_bytes, own));
}

/*
 * A desktop holds up to a fifth of a small card: that is no other job. And where live tensors fill
 * the card, what is inferred from the rest is the process's own.
 */
static bool others_are_to_blame(const struct vc_evidence *evidence)
{
	uint64_t others = others_bytes(evidence);
	bool named = knows(evidence, VC_KNOWS_OTHERS);
	/* What is only inferred has to be more than contexts and desktops differ by. */
	uint64_t least_percent = named ? 3 : knows(evidence, VC_KNOWS_PROCESS) ? 20 : 10;

	if (!named && live_permille(evidence) > 920) {
		return false;
	}
	return knows(evidence, VC_KNOWS_REQUESTED | VC_KNOWS_FREE) &&
	       others > evidence->total_bytes / 100 * least_percent &&
	       others >= sat_sub(evidence->requested_bytes, evidence->free_bytes);
}

static bool idle_would_have_done(const struct vc_evidence *evidence)
{
	const uint64_t worth_it = 256u << 20;
	uint64_t at_hand = idle_bytes(evidence);

	/* A card that live tensors fill to 92 % is full: context and libraries take the rest. */
	if (!knows(evidence, VC_KNOWS_RESERVED | VC_KNOWS_ALLOCATED | VC_KNOWS_REQUESTED) ||
	    live_permille(evidence) > 920) {
		return false;
	}
	if (knows(evidence, VC_KNOWS_FREE)) {
		at_hand = sat_add(at_hand, evidence->free_bytes);
	}
	return at_hand >= evidence->requested_bytes && idle_bytes(evidence) > worth_it;
}

static bool theory_exceeds(const struct vc_evidence *evidence)
{
	return evidence->theory_bytes && ceiling_bytes(evidence) &&
	       evidence->theory_bytes > ceiling_bytes(evidence);
}

static bool theory_fits(const struct vc_evidence *evidence)
{
	return evidence->theory_bytes && ceiling_bytes(evidence) && !theory_exceeds(evidence);
}

/* The readings end with the GPU full; fewer than a trend needs. */
static bool ended_full(const struct vc_evidence *evidence)
{
	return knows(evidence, VC_KNOWS_USED | VC_KNOWS_TOTAL) &&
	       evidence->used_bytes / 92 > evidence->total_bytes / 100;
}

static bool rises(const struct vc_trend *trend)
{
	return trend->kind == VC_TREND_RISING;
}

static bool stays(const struct vc_trend *trend)
{
	return trend->kind == VC_TREND_FLAT || trend->kind == VC_TREND_PLATEAU;
}

/* ---- The rules ----------------------------------------------------------------------------- */

static bool conclude(struct vc_diagnosis *diagnosis, enum vc_cause cause,
                     enum vc_confidence confidence, const char *reason)
{
	diagnosis->cause = cause;
	diagnosis->confidence = confidence;
	diagnosis->reason = reason;
	return true;
}

static bool by_trend(const struct vc_evidence *evidence, struct vc_diagnosis *diagnosis)
{
	/* One request for a quarter of the GPU is no drop that makes a leak overflow. */
	bool large = knows(evidence, VC_KNOWS_REQUESTED) && ceiling_bytes(evidence) &&
	             evidence->requested_bytes > ceiling_bytes(evidence) / 4;
	bool failed = evidence->out_of_memory;

	if (rises(&evidence->allocated)) {
		return conclude(diagnosis, VC_CAUSE_LEAK, VC_CONFIDENCE_HIGH,
		                "Live tensors grow from sample to sample, and still do late in the "
		                "run.");
	}
	if (stays(&evidence->allocated) && rises(&evidence->peak)) {
		return conclude(diagnosis, failed ? VC_CAUSE_CAPACITY : VC_CAUSE_NONE,
		                VC_CONFIDENCE_MEDIUM,
		                "Between steps live tensors stay the same while their peak grows: "
		                "the batches grow, nothing leaks.");
	}
	if (stays(&evidence->allocated) && rises(&evidence->reserved)) {
		return conclude(diagnosis, VC_CAUSE_FRAGMENTATION, VC_CONFIDENCE_MEDIUM,
		                "The allocator holds more and more while live tensors stay the "
		                "same: freed blocks are not used again.");
	}
	if (rises(&evidence->used) && !large) {
		return conclude(diagnosis, VC_CAUSE_LEAK, VC_CONFIDENCE_MEDIUM,
		                stays(&evidence->allocated)
		                        ? "Memory in use keeps rising, but not that of live "
		                          "tensors: it is taken outside the allocator."
		                        : "Memory in use keeps rising late in the run. Growing "
		                          "batches look the same from outside.");
	}
	return false;
}

static bool by_capacity(const struct vc_evidence *evidence, struct vc_diagnosis *diagnosis)
{
	if (theory_exceeds(evidence)) {
		return conclude(diagnosis, VC_CAUSE_CAPACITY, VC_CONFIDENCE_HIGH,
		                "By the estimate the job needs more than the GPU has.");
	}
	if (live_permille(evidence) > 1000) {
		return conclude(diagnosis, VC_CAUSE_CAPACITY, VC_CONFIDENCE_HIGH,
		                ceiling_bytes(evidence) < evidence->total_bytes ||
		                                !knows(evidence, VC_KNOWS_TOTAL)
		                        ? "Live tensors and the request together exceed the "
		                          "process's own limit."
		                        : "Live tensors and the request together exceed the "
		                          "GPU.");
	}
	if (knows(evidence, VC_KNOWS_LIMIT) && live_permille(evidence) > 920) {
		return conclude(
		        diagnosis, VC_CAUSE_CAPACITY, VC_CONFIDENCE_HIGH,
		        "Live tensors fill the limit that the process has, whatever else is "
		        "free on the GPU.");
	}
	return false;
}

/* K10: the same plateau is capacity or fragmentation; only theory tells them apart. */
static bool by_theory(const struct vc_evidence *evidence, struct vc_diagnosis *diagnosis)
{
	if (!theory_fits(evidence) || live_permille(evidence) > 0) {
		return false;
	}
	if (evidence->used.kind == VC_TREND_PLATEAU) {
		return conclude(diagnosis, VC_CAUSE_FRAGMENTATION, VC_CONFIDENCE_MEDIUM,
		                "By the estimate the job fits, and memory in use had stopped "
		                "rising.");
	}
	return conclude(diagnosis, VC_CAUSE_FRAGMENTATION, VC_CONFIDENCE_LOW,
	                "By the estimate the job fits the GPU; what was held when it failed is not "
	                "said.");
}

static bool by_pieces(const struct vc_evidence *evidence, struct vc_diagnosis *diagnosis)
{
	/* A tenth of the card held idle is more than rounding to segments explains; and with more
	 * live than that, a card of this size is nearly too small in any case. */
	bool plain = ceiling_bytes(evidence) &&
	             idle_bytes(evidence) > ceiling_bytes(evidence) / 10 &&
	             live_permille(evidence) <= 850;
	bool named = knows(evidence, VC_KNOWS_OTHERS) &&
	             others_bytes(evidence) > evidence->total_bytes / 5;

	if (!knows(evidence, VC_KNOWS_LIMIT) && was_free(evidence)) {
		return conclude(diagnosis, VC_CAUSE_UNKNOWN, VC_CONFIDENCE_LOW,
		                "More was free than was asked for: neither the GPU nor PyTorch's "
		                "cache was short.");
	}
	if (idle_would_have_done(evidence)) {
		return conclude(diagnosis, VC_CAUSE_FRAGMENTATION,
		                plain ? VC_CONFIDENCE_HIGH : VC_CONFIDENCE_MEDIUM,
		                "What the allocator holds idle, with what is free, is enough for "
		                "the request, but not in one piece.");
	}
	if (others_are_to_blame(evidence)) {
		return conclude(diagnosis, VC_CAUSE_OTHER_PROCESS,
		                named ? VC_CONFIDENCE_HIGH : VC_CONFIDENCE_MEDIUM,
		                named ? "Other processes hold what is missing."
		                      : "Neither this process nor free memory accounts for the "
		                        "rest of the GPU.");
	}
	return false;
}

static bool by_start(const struct vc_evidence *evidence, struct vc_diagnosis *diagnosis)
{
	bool much = knows(evidence, VC_KNOWS_TOTAL | VC_KNOWS_START_FREE) &&
	            others_bytes(evidence) > evidence->total_bytes / 100 * 15;

	if (evidence->occupied) {
		return conclude(diagnosis, VC_CAUSE_OTHER_PROCESS,
		                much ? VC_CONFIDENCE_HIGH : VC_CONFIDENCE_MEDIUM,
		                "Before the engine took anything, less was free than it was told "
		                "to take.");
	}
	if (evidence->refused_at_start) {
		return conclude(
		        diagnosis, VC_CAUSE_CAPACITY, VC_CONFIDENCE_MEDIUM,
		        evidence->fitting_tokens
		                ? "The cache that is left holds fewer tokens than the model "
		                  "length asks for."
		                : "Weights and working memory leave no room for the cache "
		                  "that the engine wants.");
	}
	if (much && knows(evidence, VC_KNOWS_REQUESTED) &&
	    evidence->requested_bytes > evidence->start_free_bytes &&
	    evidence->requested_bytes < evidence->total_bytes) {
		return conclude(diagnosis, VC_CAUSE_OTHER_PROCESS, VC_CONFIDENCE_MEDIUM,
		                "Before the program took anything, others held what is missing.");
	}
	if (knows(evidence, VC_KNOWS_REQUESTED | VC_KNOWS_START_FREE) &&
	    evidence->requested_bytes > evidence->start_free_bytes) {
		return conclude(diagnosis, VC_CAUSE_CAPACITY, VC_CONFIDENCE_MEDIUM,
		                "More was asked for in one piece than was free before the program "
		                "started.");
	}
	return false;
}

/* A summary without the failing request: what was live at most against what was held. */
static bool by_summary(const struct vc_evidence *evidence, struct vc_diagnosis *diagnosis)
{
	uint64_t live = evidence->allocated_bytes;

	if (!evidence->out_of_memory || knows(evidence, VC_KNOWS_REQUESTED) ||
	    !knows(evidence, VC_KNOWS_ALLOCATED | VC_KNOWS_RESERVED)) {
		return false;
	}
	if (knows(evidence, VC_KNOWS_PEAK) && evidence->peak_bytes > live) {
		live = evidence->peak_bytes;
	}
	if (evidence->reserved_bytes / 4 * 3 > live) {
		return conclude(diagnosis, VC_CAUSE_FRAGMENTATION, VC_CONFIDENCE_MEDIUM,
		                "The allocator holds much more than tensors ever used, and still "
		                "had to fail.");
	}
	return conclude(diagnosis, VC_CAUSE_CAPACITY, VC_CONFIDENCE_LOW,
	                "Tensors used nearly all that the allocator holds.");
}

/* Engines fill the GPU as they start; what they cannot place then came on top. */
static bool by_start_of_engine(const struct vc_evidence *evidence, struct vc_diagnosis *diagnosis)
{
	bool engine = evidence->software >= VC_SOFTWARE_TGI;

	if (live_permille(evidence) > 0 || !engine || !evidence->out_of_memory) {
		return false;
	}
	if (evidence->stage == VC_STAGE_LOADING) {
		return conclude(diagnosis, VC_CAUSE_CAPACITY, VC_CONFIDENCE_LOW,
		                "The engine failed while it loaded the weights.");
	}
	if (evidence->stage != VC_STAGE_GRAPHS && evidence->stage != VC_STAGE_CACHE) {
		return false;
	}
	return conclude(diagnosis, VC_CAUSE_CAPACITY, VC_CONFIDENCE_MEDIUM,
	                "The engine had filled its share of the GPU, and the last steps of its "
	                "start need more.");
}

static bool by_fill(const struct vc_evidence *evidence, struct vc_diagnosis *diagnosis)
{
	const uint64_t small = 512u << 20;
	uint64_t live = live_permille(evidence);

	if (live > 920) {
		return conclude(diagnosis, VC_CAUSE_CAPACITY, VC_CONFIDENCE_HIGH,
		                "Live tensors and the request fill the GPU; context and libraries "
		                "take the rest.");
	}
	if (live > 500) {
		return conclude(diagnosis, VC_CAUSE_CAPACITY, VC_CONFIDENCE_MEDIUM,
		                "Little is free or idle: live tensors and what the process holds "
		                "outside PyTorch leave no room for the request.");
	}
	if (live > 0) {
		return conclude(diagnosis, VC_CAUSE_UNKNOWN, VC_CONFIDENCE_LOW,
		                "Less than half of the GPU is live tensors; who holds the rest is "
		                "not said.");
	}
	if (evidence->used.kind == VC_TREND_PLATEAU || ended_full(evidence)) {
		return conclude(
		        diagnosis, VC_CAUSE_CAPACITY,
		        evidence->used_samples > 1 ? VC_CONFIDENCE_MEDIUM : VC_CONFIDENCE_LOW,
		        "Memory in use rose at once and stayed near the GPU's size until it "
		        "failed.");
	}
	if (evidence->buffer_limited) {
		return conclude(diagnosis, VC_CAUSE_UNKNOWN, VC_CONFIDENCE_LOW,
		                "One buffer is larger than the driver allows in one piece; the "
		                "memory as a whole may be enough.");
	}
	if (knows(evidence, VC_KNOWS_REQUESTED) && evidence->requested_bytes < small) {
		return conclude(
		        diagnosis, VC_CAUSE_UNKNOWN, VC_CONFIDENCE_LOW,
		        "A small request failed: the GPU was full, but who filled it is not "
		        "said.");
	}
	if (knows(evidence, VC_KNOWS_REQUESTED)) {
		return conclude(diagnosis, VC_CAUSE_CAPACITY, VC_CONFIDENCE_LOW,
		                "Only the request is said: a job too large for the GPU is the "
		                "commonest cause.");
	}
	return false;
}

static void diagnose_failure(const struct vc_evidence *evidence, struct vc_diagnosis *diagnosis)
{
	static bool (*const rules[])(const struct vc_evidence *, struct vc_diagnosis *) = {
		by_capacity, by_pieces,  by_start, by_start_of_engine,
		by_theory,   by_summary, by_fill,
	};

	if (!theory_exceeds(evidence) && by_trend(evidence, diagnosis)) {
		return;
	}
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
		if (rules[i](evidence, diagnosis)) {
			return;
		}
	}
	conclude(diagnosis, VC_CAUSE_UNKNOWN, VC_CONFIDENCE_LOW,
	         evidence->masked
	                 ? "A library failed as it does when memory is short, and for other "
	                   "reasons too."
	                 : "An allocation failed, but no figures stand beside it.");
}

static void diagnose_elsewhere(const struct vc_evidence *evidence, struct vc_diagnosis *diagnosis)
{
	switch (evidence->memory) {
	case VC_MEMORY_ON_CHIP:
		conclude(diagnosis, VC_CAUSE_UNKNOWN, VC_CONFIDENCE_LOW,
		         "It is a kernel's on-chip memory that ran out, not the GPU's.");
		break;
	case VC_MEMORY_POOL:
		conclude(diagnosis, VC_CAUSE_CAPACITY, VC_CONFIDENCE_MEDIUM,
		         "Running requests fill the engine's own cache; the GPU's memory is not "
		         "short.");
		break;
	case VC_MEMORY_SHARED:
		conclude(diagnosis, VC_CAUSE_CAPACITY, VC_CONFIDENCE_HIGH,
		         "The host's shared memory ran out, not the GPU's.");
		break;
	default:
		conclude(diagnosis, VC_CAUSE_CAPACITY,
		         evidence->masked ? VC_CONFIDENCE_LOW : VC_CONFIDENCE_HIGH,
		         evidence->masked ? "A process was killed or failed as it does when the "
		                            "host's memory ends."
		                          : "The host ran out of memory, not the GPU.");
		break;
	}
}

struct vc_diagnosis vc_diagnose(const struct vc_evidence *evidence)
{
	struct vc_diagnosis diagnosis = { 0 };

	if (evidence->memory != VC_MEMORY_GPU) {
		diagnose_elsewhere(evidence, &diagnosis);
	} else if (evidence->out_of_memory || evidence->refused_at_start || evidence->occupied ||
	           evidence->masked) {
		diagnose_failure(evidence, &diagnosis);
	} else if (by_trend(evidence, &diagnosis)) {
		/* it has not failed yet */
	} else if (stays(&evidence->used) || stays(&evidence->allocated)) {
		conclude(&diagnosis, VC_CAUSE_NONE, VC_CONFIDENCE_MEDIUM,
		         "Memory does not keep rising, and nothing failed.");
	} else {
		conclude(&diagnosis, VC_CAUSE_UNKNOWN, VC_CONFIDENCE_LOW,
		         "No failure and no series of readings was found.");
	}
	diagnose_advise(evidence, &diagnosis);
	return diagnosis;
}
