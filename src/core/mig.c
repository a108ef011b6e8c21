/*
 * MIG placement: which instances can coexist. The rules are the driver's own: an instance lies at
 * one of its profile's starts, ranges on the memory axis are disjoint, compute slices and counts
 * stay within the table's. At most a dozen instances, so every placement is tried.
 */
#include "vramcalc/vramcalc.h"

struct placement {
	const struct vc_mig_table *table;
	const struct vc_mig_profile *const *wanted;
	size_t count;
	size_t order[VC_MAX_MIG_INSTANCES]; /* by size, the largest first */
	uint8_t *starts;
};

static bool within_limits(const struct placement *placement)
{
	uint32_t compute = 0, whole_media = 0, media = 0;

	for (size_t i = 0; i < placement->count; i++) {
		const struct vc_mig_profile *profile = placement->wanted[i];
		uint32_t same = 0;

		for (size_t k = 0; k < placement->count; k++) {
			same += placement->wanted[k] == profile;
		}
		if (same > profile->max) {
			return false;
		}
		compute += profile->compute;
		media += profile->media != 0;
		whole_media += profile->media == 9;
	}
	/* One instance holds the media extension; whoever takes all engines leaves none. */
	return compute <= placement->table->compute_slices && media <= 1 &&
	       (whole_media == 0 || media == whole_media);
}

static void order_by_size(struct placement *placement)
{
	for (size_t i = 0; i < placement->count; i++) {
		size_t at = i;

		for (; at > 0 && placement->wanted[placement->order[at - 1]]->size <
		                         placement->wanted[i]->size;
		     at--) {
			placement->order[at] = placement->order[at - 1];
		}
		placement->order[at] = i;
	}
}

/* A profile of three compute slices takes half the axis: put it right, where a 4g cannot lie. */
static uint8_t nth_start(const struct vc_mig_profile *profile, uint32_t n)
{
	return profile->starts[profile->compute == 3 ? profile->start_count - 1 - n : n];
}

static bool place_next(struct placement *placement, size_t next, uint32_t occupied)
{
	const struct vc_mig_profile *profile;

	if (next == placement->count) {
		return true;
	}
	profile = placement->wanted[placement->order[next]];
	for (uint32_t n = 0; n < profile->start_count; n++) {
		uint8_t start = nth_start(profile, n);
		uint32_t range = ((1u << profile->size) - 1) << start;

		if (start + profile->size <= placement->table->memory_slots &&
		    (occupied & range) == 0) {
			placement->starts[placement->order[next]] = start;
			if (place_next(placement, next + 1, occupied | range)) {
				return true;
			}
		}
	}
	return false;
}

bool vc_mig_place(const struct vc_mig_table *table, const struct vc_mig_profile *const *wanted,
                  size_t count, uint8_t starts[VC_MAX_MIG_INSTANCES])
{
	struct placement placement = {
		.table = table, .wanted = wanted, .count = count, .starts = starts
	};

	if (count > VC_MAX_MIG_INSTANCES || !within_limits(&placement)) {
		return false;
	}
	order_by_size(&placement);
	return place_next(&placement, 0, 0);
}
