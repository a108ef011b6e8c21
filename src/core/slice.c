/*
 * Which MIG slices hold a job. A slice is a small GPU of its own: its memory, its share of the
 * bandwidth, and no link to others.
 */
#include "sat.h"
#include "vramcalc/vramcalc.h"

#include <string.h>

/* Without the media variants, "+me" and its kin; the whole GPU has every engine anyway. */
static bool is_plain(const struct vc_mig_table *table, const struct vc_mig_profile *profile)
{
	return profile->memory_bytes > 0 && profile->start_count > 0 &&
	       (!profile->media || profile->size == table->memory_slots) &&
	       !strpbrk(profile->name, "+-");
}

static struct vc_gpu as_gpu(const struct vc_gpu *whole, const struct vc_mig_profile *profile,
                            const struct vc_mig_table *table)
{
	struct vc_gpu gpu = *whole;

	gpu.memory_bytes = profile->memory_bytes;
	gpu.driver_bytes = profile->memory_bytes;
	gpu.usable_bytes = profile->memory_bytes;
	gpu.bandwidth_gbs = whole->bandwidth_gbs * profile->size / table->memory_slots;
	gpu.link = VC_LINK_NONE;
	gpu.link_gbs = gpu.link_gpus = 0;
	return gpu;
}

static void place_instances(const struct vc_mig_table *table, struct vc_slice *slice)
{
	const struct vc_mig_profile *wanted[VC_MAX_MIG_INSTANCES];
	uint8_t starts[VC_MAX_MIG_INSTANCES] = { 0 };

	slice->instances = 0;
	while (slice->instances < VC_MAX_MIG_INSTANCES) {
		wanted[slice->instances] = slice->profile;
		if (!vc_mig_place(table, wanted, slice->instances + 1, starts)) {
			return;
		}
		slice->instances++;
		memcpy(slice->starts, starts, sizeof starts);
	}
}

/* Fewest slots, then most compute. */
static bool precedes(const struct vc_mig_profile *a, const struct vc_mig_profile *b)
{
	return a->size < b->size || (a->size == b->size && a->compute > b->compute);
}

static void insert(struct vc_slice *slices, size_t *count, const struct vc_slice *slice)
{
	size_t at;

	if (*count && slices[0].profile->size < slice->profile->size) {
		return;
	}
	if (*count && slices[0].profile->size > slice->profile->size) {
		*count = 0;
	}
	for (at = (*count)++; at > 0 && precedes(slice->profile, slices[at - 1].profile); at--) {
		slices[at] = slices[at - 1];
	}
	slices[at] = *slice;
}

enum vc_status vc_slices(const struct vc_request *request, const struct vc_gpu *gpu,
                         const struct vc_mig_table *table, struct vc_slice *slices, size_t *count,
                         struct vc_error *error)
{
	struct vc_request tried = *request;

	*count = 0;
	if (vc_layout_gpus(&request->parallelism) > 1) {
		return VC_OK;
	}
	for (size_t i = 0; i < table->profile_count; i++) {
		const struct vc_mig_profile *profile = &table->profiles[i];
		struct vc_gpu small = as_gpu(gpu, profile, table);
		struct vc_slice slice = { .gpu = gpu, .profile = profile };
		struct vc_ledger ledger;
		enum vc_status status;

		if (!is_plain(table, profile)) {
			continue;
		}
		tried.gpu = &small;
		status = vc_estimate(&tried, &ledger, error);
		if (status != VC_OK) {
			return status;
		}
		slice.total_bytes = ledger.total_bytes;
		slice.need_bytes = ledger.need_bytes;
		slice.headroom_bytes = sat_sub(profile->memory_bytes, ledger.need_bytes);
		slice.share_ppm = profile->size * 1000000 / table->memory_slots;
		if (ledger.need_bytes <= profile->memory_bytes) {
			place_instances(table, &slice);
			insert(slices, count, &slice);
		}
	}
	return VC_OK;
}
