/*
 * Bin packing of jobs onto equal GPUs. First-fit decreasing, and for few jobs an exhaustive search
 * that starts from its result; where first-fit meets the lower bound it is proved optimal as well.
 * A GPU in MIG mode holds a set of instances when they can be placed (mig.c).
 */
#include "sat.h"
#include "text.h"
#include "vramcalc/vramcalc.h"

#include <string.h>

enum {
	MOST_NODES = 2000000 /* of the exhaustive search: some tenths of a second */
};

struct packer {
	const uint64_t *need_bytes;
	const struct vc_mig_table *mig;
	uint64_t capacity_bytes;
	struct vc_placement *placements; /* the best so far */
	struct vc_pack_bin *bins;
	size_t jobs; /* that fit a GPU at all, in order[] */
	uint32_t order[VC_PACK_EXACT_JOBS];
	uint32_t trial[VC_PACK_EXACT_JOBS]; /* GPU of order[i] in the search */
	uint32_t best, bound;
	uint64_t nodes;
};

/* The least slice that holds a job: by memory, then by compute. Media variants are left alone. */
static const struct vc_mig_profile *least_profile(const struct vc_mig_table *mig, uint64_t need)
{
	const struct vc_mig_profile *best = NULL;

	for (size_t i = 0; i < mig->profile_count; i++) {
		const struct vc_mig_profile *profile = &mig->profiles[i];
		bool whole = profile->size == mig->memory_slots;

		if (profile->memory_bytes < need || profile->start_count == 0 ||
		    (profile->media && !whole) || strpbrk(profile->name, "+-")) {
			continue;
		}
		if (!best || profile->size < best->size ||
		    (profile->size == best->size && profile->compute < best->compute)) {
			best = profile;
		}
	}
	return best;
}

static bool fits_any(const struct packer *packer, uint64_t need)
{
	return packer->mig ? least_profile(packer->mig, need) != NULL
	                   : need <= packer->capacity_bytes;
}

static bool add(const struct packer *packer, struct vc_pack_bin *bin, uint64_t need)
{
	uint8_t starts[VC_MAX_MIG_INSTANCES];

	if (!packer->mig) {
		if (sat_add(bin->used_bytes, need) > packer->capacity_bytes) {
			return false;
		}
	} else {
		if (bin->count == VC_MAX_MIG_INSTANCES) {
			return false;
		}
		bin->profiles[bin->count] = least_profile(packer->mig, need);
		if (!vc_mig_place(packer->mig, bin->profiles, bin->count + 1, starts)) {
			return false;
		}
	}
	bin->used_bytes += need;
	bin->count++;
	return true;
}

static void take_back(struct vc_pack_bin *bin, uint64_t need)
{
	bin->count--;
	bin->used_bytes -= need;
}

/* The largest job that has no GPU yet; SIZE_MAX when all have. Quadratic, for some thousand jobs.
 */
static size_t next_largest(const struct packer *packer, size_t jobs)
{
	size_t largest = SIZE_MAX;

	for (size_t i = 0; i < jobs; i++) {
		if (packer->placements[i].gpu == VC_PACK_NONE &&
		    fits_any(packer, packer->need_bytes[i]) &&
		    (largest == SIZE_MAX || packer->need_bytes[i] > packer->need_bytes[largest])) {
			largest = i;
		}
	}
	return largest;
}

static uint32_t first_fit(struct packer *packer, size_t jobs)
{
	uint32_t gpus = 0;

	for (;;) {
		size_t job = next_largest(packer, jobs);
		uint32_t gpu = 0;

		if (job == SIZE_MAX) {
			return gpus;
		}
		while (gpu < gpus && !add(packer, &packer->bins[gpu], packer->need_bytes[job])) {
			gpu++;
		}
		if (gpu == gpus) {
			memset(&packer->bins[gpus], 0, sizeof *packer->bins);
			add(packer, &packer->bins[gpus++], packer->need_bytes[job]);
		}
		packer->placements[job].gpu = gpu;
		if (packer->jobs < VC_PACK_EXACT_JOBS) {
			packer->order[packer->jobs] = (uint32_t)job;
		}
		packer->jobs++;
	}
}

/* No packing has fewer GPUs than memory, or compute slices, in all need. */
static uint32_t lower_bound(const struct packer *packer, size_t jobs)
{
	uint64_t bytes = 0, slots = 0, compute = 0, bound;

	for (size_t i = 0; i < jobs; i++) {
		if (!fits_any(packer, packer->need_bytes[i])) {
			continue;
		}
		bytes = sat_add(bytes, packer->need_bytes[i]);
		if (packer->mig) {
			const struct vc_mig_profile *profile =
			        least_profile(packer->mig, packer->need_bytes[i]);

			slots += profile->size;
			compute += profile->compute;
		}
	}
	if (!packer->mig) {
		return (uint32_t)sat_div_up(bytes, packer->capacity_bytes);
	}
	bound = sat_div_up(slots, packer->mig->memory_slots);
	compute = sat_div_up(compute, packer->mig->compute_slices);
	return (uint32_t)(bound > compute ? bound : compute);
}

/* Every assignment of jobs, the largest first, to used GPUs or to one new GPU. */
static void search(struct packer *packer, size_t next, uint32_t gpus)
{
	if (gpus >= packer->best || packer->best == packer->bound || ++packer->nodes > MOST_NODES) {
		return;
	}
	if (next == packer->jobs) {
		packer->best = gpus;
		for (size_t i = 0; i < packer->jobs; i++) {
			packer->placements[packer->order[i]].gpu = packer->trial[i];
		}
		return;
	}
	for (uint32_t gpu = 0; gpu <= gpus; gpu++) {
		uint64_t need = packer->need_bytes[packer->order[next]];

		if (gpu == gpus) {
			memset(&packer->bins[gpu], 0, sizeof *packer->bins);
		}
		if (gpu + 1 < packer->best && add(packer, &packer->bins[gpu], need)) {
			packer->trial[next] = gpu;
			search(packer, next + 1, gpu == gpus ? gpus + 1 : gpus);
			take_back(&packer->bins[gpu], need);
		}
	}
}

/* The jobs of one GPU and the profiles that they might have: as much memory, more compute. */
struct sharing {
	const struct vc_mig_table *mig;
	size_t count;
	const struct vc_mig_profile *chosen[VC_MAX_MIG_INSTANCES];
	const struct vc_mig_profile *best[VC_MAX_MIG_INSTANCES];
	uint32_t least_ppm, sum; /* of the best: smallest compute per memory, compute in all */
};

static void judge_sharing(struct sharing *sharing)
{
	uint32_t least = UINT32_MAX, sum = 0;
	uint8_t starts[VC_MAX_MIG_INSTANCES];

	for (size_t i = 0; i < sharing->count; i++) {
		uint32_t ppm = sharing->chosen[i]->compute * 1000000 / sharing->chosen[i]->size;

		least = ppm < least ? ppm : least;
		sum += sharing->chosen[i]->compute;
	}
	if ((least > sharing->least_ppm || (least == sharing->least_ppm && sum > sharing->sum)) &&
	    vc_mig_place(sharing->mig, sharing->chosen, sharing->count, starts)) {
		sharing->least_ppm = least;
		sharing->sum = sum;
		memcpy(sharing->best, sharing->chosen, sizeof sharing->best);
	}
}

static void share_compute(struct sharing *sharing, size_t next)
{
	const struct vc_mig_profile *least;

	if (next == sharing->count) {
		judge_sharing(sharing);
		return;
	}
	least = sharing->chosen[next];
	for (size_t i = 0; i < sharing->mig->profile_count; i++) {
		const struct vc_mig_profile *profile = &sharing->mig->profiles[i];

		if (profile->size == least->size && profile->compute >= least->compute &&
		    (!profile->media || profile == least) && !strpbrk(profile->name, "+-")) {
			sharing->chosen[next] = profile;
			share_compute(sharing, next + 1);
		}
	}
	sharing->chosen[next] = least;
}

static void place_instances(struct packer *packer, size_t jobs, uint32_t gpu)
{
	struct sharing sharing = { .mig = packer->mig };
	uint8_t starts[VC_MAX_MIG_INSTANCES] = { 0 };
	size_t members[VC_MAX_MIG_INSTANCES] = { 0 };

	for (size_t i = 0; i < jobs && sharing.count < VC_MAX_MIG_INSTANCES; i++) {
		if (packer->placements[i].gpu == gpu) {
			members[sharing.count] = i;
			sharing.chosen[sharing.count] =
			        least_profile(packer->mig, packer->need_bytes[i]);
			sharing.count++;
		}
	}
	share_compute(&sharing, 0);
	vc_mig_place(packer->mig, sharing.best, sharing.count, starts);
	for (size_t i = 0; i < sharing.count; i++) {
		packer->placements[members[i]].profile = sharing.best[i];
		packer->placements[members[i]].start = starts[i];
	}
}

enum vc_status vc_pack(const uint64_t *need_bytes, size_t jobs, uint64_t capacity_bytes,
                       const struct vc_mig_table *mig, struct vc_placement *placements,
                       struct vc_pack_bin *bins, struct vc_packing *packing, struct vc_error *error)
{
	struct packer packer = { .need_bytes = need_bytes,
		                 .mig = mig,
		                 .capacity_bytes = capacity_bytes,
		                 .placements = placements,
		                 .bins = bins };

	if (capacity_bytes == 0 || jobs >= VC_PACK_NONE) {
		return vc_fail(error, VC_INVALID, "gpu", "has no memory to pack into");
	}
	for (size_t i = 0; i < jobs; i++) {
		placements[i] = (struct vc_placement){ .gpu = VC_PACK_NONE };
	}
	packer.best = first_fit(&packer, jobs);
	packer.bound = lower_bound(&packer, jobs);
	if (packer.jobs <= VC_PACK_EXACT_JOBS && packer.best > packer.bound) {
		search(&packer, 0, 0);
	}
	*packing = (struct vc_packing){ .gpus = packer.best,
		                        .unplaced = (uint32_t)(jobs - packer.jobs) };
	packing->optimal = packer.best == packer.bound ||
	                   (packer.jobs <= VC_PACK_EXACT_JOBS && packer.nodes <= MOST_NODES);
	for (uint32_t gpu = 0; mig && gpu < packer.best; gpu++) {
		place_instances(&packer, jobs, gpu);
	}
	return VC_OK;
}
