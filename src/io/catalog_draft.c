/* A catalog's lists, and what holds between their entries: derived memory, offers of known GPUs,
 * prices. */
#include "catalog_draft.h"
#include "gpu_name.h"
#include "name_set.h"
#include "nearest.h"
#include "platform.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MIB UINT64_C(1048576)

void vc_draft_no_memory(struct vc_catalog_draft *draft)
{
	const struct vc_error error = { .status = VC_NO_MEMORY, .message = "out of memory" };

	vc_errors_append(draft->errors, &error);
}

/* A list that doubles in the draft's memory. */
struct list {
	void **items;
	size_t *count, *room, size;
};

/* Room for one more; NULL without memory. */
static void *add(struct vc_catalog_draft *draft, const struct list *list)
{
	if (*list->count == *list->room) {
		size_t room = *list->count * 2 + 16;
		void *larger = vc_arena_take(&draft->arena, room * list->size);

		if (!larger) {
			vc_draft_no_memory(draft);
			return NULL;
		}
		if (*list->count) {
			memcpy(larger, *list->items, *list->count * list->size);
		}
		*list->items = larger;
		*list->room = room;
	}
	return (char *)*list->items + (*list->count)++ * list->size;
}

struct vc_catalog_gpu *vc_draft_add_gpu(struct vc_catalog_draft *draft)
{
	void *items = draft->gpus;
	const struct list list = { &items, &draft->gpu_count, &draft->gpu_room,
		                   sizeof *draft->gpus };
	struct vc_catalog_gpu *added = add(draft, &list);

	draft->gpus = items;
	return added;
}

struct vc_offer *vc_draft_add_offer(struct vc_catalog_draft *draft)
{
	void *items = draft->offers;
	const struct list list = { &items, &draft->offer_count, &draft->offer_room,
		                   sizeof *draft->offers };
	struct vc_offer *added = add(draft, &list);

	draft->offers = items;
	return added;
}

struct vc_offer *vc_draft_add_replaced(struct vc_catalog_draft *draft)
{
	void *items = draft->replaced;
	const struct list list = { &items, &draft->replaced_count, &draft->replaced_room,
		                   sizeof *draft->replaced };
	struct vc_offer *added = add(draft, &list);

	draft->replaced = items;
	return added;
}

struct vc_platform *vc_draft_add_platform(struct vc_catalog_draft *draft)
{
	void *items = draft->platforms;
	const struct list list = { &items, &draft->platform_count, &draft->platform_room,
		                   sizeof *draft->platforms };
	struct vc_platform *added = add(draft, &list);

	draft->platforms = items;
	return added;
}

const char *vc_draft_keep(struct vc_catalog_draft *draft, const char *text)
{
	const char *copy = vc_arena_text(&draft->arena, text, strlen(text));

	if (!copy) {
		vc_draft_no_memory(draft);
		return "";
	}
	return copy;
}

struct vc_origin vc_draft_origin(struct vc_catalog_draft *draft, const char *file, uint32_t line)
{
	enum {
		NUMBER = 12 /* ":4294967295" */
	};
	size_t length = strlen(file);
	char *text = vc_arena_take(&draft->arena, length + NUMBER);

	if (!text) {
		vc_draft_no_memory(draft);
		return (struct vc_origin){ .line = line };
	}
	memcpy(text, file, length);
	snprintf(text + length, NUMBER, ":%" PRIu32, line);
	return (struct vc_origin){ file, line, text };
}

bool vc_draft_start(struct vc_catalog_draft *draft, const struct vc_catalog *base,
                    struct vc_error_list *errors)
{
	*draft = (struct vc_catalog_draft){ .errors = errors,
		                            .errors_before = errors->count,
		                            .is_users = base != NULL,
		                            .criteria = base ? base->criteria : NULL };
	for (size_t i = 0; base && i < base->count; i++) {
		struct vc_catalog_gpu *gpu = vc_draft_add_gpu(draft);

		if (!gpu) {
			return false;
		}
		*gpu = base->gpus[i];
	}
	for (size_t i = 0; base && i < base->offer_count; i++) {
		struct vc_offer *offer = vc_draft_add_offer(draft);

		if (!offer) {
			return false;
		}
		*offer = base->offers[i];
	}
	for (size_t i = 0; base && i < base->platform_count; i++) {
		struct vc_platform *platform = vc_draft_add_platform(draft);

		if (!platform) {
			return false;
		}
		*platform = base->platforms[i];
	}
	return true;
}

/* ---- Memory that a process gets, where nobody has read it ---- */

/*
 * CUDA's total is the driver's less 0.35 to 0.75 GiB, more on larger cards; ROCm and Metal give
 * all. docs/catalog.md#memory has the readings behind the steps.
 */
static uint64_t usable(const struct vc_gpu *gpu)
{
	static const struct {
		uint64_t up_to_gb, less_mib;
	} steps[] = { { 16, 358 }, { 32, 461 }, { 100, 615 }, { UINT64_MAX, 717 } };
	uint64_t gb = gpu->memory_bytes / 1000000000;
	uint64_t total = gpu->driver_bytes ? gpu->driver_bytes : gb << 30;
	size_t i = 0;

	if (gpu->vendor == VC_VENDOR_AMD || gpu->vendor == VC_VENDOR_APPLE) {
		return total;
	}
	while (gb > steps[i].up_to_gb) {
		i++;
	}
	return total > steps[i].less_mib * MIB ? total - steps[i].less_mib * MIB : total;
}

/* ---- Offers ---- */

static struct vc_catalog_gpu *gpu_of(struct vc_catalog_draft *draft, const char *name)
{
	const struct vc_catalog all = { .gpus = draft->gpus, .count = draft->gpu_count };
	const struct vc_gpu *found;

	return vc_catalog_find(&all, name, &found, 1) == 1
	               ? &draft->gpus[vc_catalog_entry(found) - draft->gpus]
	               : NULL;
}

static void refuse_gpu(struct vc_catalog_draft *draft, const struct vc_offer *offer)
{
	const struct vc_catalog all = { .gpus = draft->gpus, .count = draft->gpu_count };
	const char *nearest;
	struct vc_place place = { offer->origin.file, offer->origin.line, offer->gpu_column };

	if (draft->errors->count >= VC_MAX_ERRORS) {
		vc_errors_add(draft->errors, &place, "gpu", "unknown"); /* counted only */
		return;
	}
	nearest = vc_catalog_nearest(&all, offer->gpu_id);
	if (vc_catalog_find(&all, offer->gpu_id, NULL, 0) > 1) {
		vc_errors_add(draft->errors, &place, "gpu", "'%s' names several GPUs (one of them)",
		              offer->gpu_id);
	} else if (nearest) {
		vc_errors_add(draft->errors, &place, "gpu", "unknown GPU '%s' (did you mean %s?)",
		              offer->gpu_id, nearest);
	} else {
		vc_errors_add(draft->errors, &place, "gpu",
		              "unknown GPU '%s' (one that `vramcalc gpus` lists)", offer->gpu_id);
	}
}

/* ---- The end ---- */

static void drop_hidden(struct vc_catalog_draft *draft)
{
	size_t kept = 0;

	for (size_t i = 0; i < draft->gpu_count; i++) {
		if (!draft->gpus[i].hidden) {
			draft->gpus[kept++] = draft->gpus[i];
		}
	}
	draft->gpu_count = kept;
	kept = 0;
	for (size_t i = 0; i < draft->platform_count; i++) {
		if (!draft->platforms[i].hidden) {
			draft->platforms[kept++] = draft->platforms[i];
		}
	}
	draft->platform_count = kept;
}

/* Names that were looked up, by hash: a file of offers names the same few GPUs again and again. */
enum {
	MEMO = 256
};
struct memo {
	const char *names[MEMO];
	struct vc_catalog_gpu *gpus[MEMO];
};

/* The GPU that an offer names, whose id becomes the offer's own; NULL with a message. */
static struct vc_catalog_gpu *resolve(struct vc_catalog_draft *draft, struct vc_offer *offer,
                                      struct memo *memo)
{
	size_t at = vc_name_hash(offer->gpu_id, strlen(offer->gpu_id)) % MEMO;
	struct vc_catalog_gpu *gpu;

	if (!memo->names[at] || strcmp(memo->names[at], offer->gpu_id) != 0) {
		memo->names[at] = offer->gpu_id;
		memo->gpus[at] = gpu_of(draft, offer->gpu_id);
	}
	gpu = memo->gpus[at];
	if (gpu) {
		offer->gpu_id = gpu->gpu.id;
	} else {
		refuse_gpu(draft, offer);
	}
	return gpu;
}

/* Offers of GPUs that are left out go with them. */
static void resolve_offers(struct vc_catalog_draft *draft)
{
	struct memo memo = { .names = { NULL } };
	size_t kept = 0;

	for (size_t i = 0; i < draft->replaced_count; i++) {
		(void)resolve(draft, &draft->replaced[i], &memo);
	}
	for (size_t i = 0; i < draft->offer_count; i++) {
		struct vc_offer *offer = &draft->offers[i];
		struct vc_catalog_gpu *gpu = resolve(draft, offer, &memo);

		if (!gpu || gpu->hidden) {
			continue;
		}
		if (draft->is_users && offer->origin.file && vc_offer_ranks(offer)) {
			gpu->documented = !gpu->unlisted;
		}
		draft->offers[kept++] = *offer;
	}
	draft->offer_count = kept;
}

static void complete_gpus(struct vc_catalog_draft *draft, const char *currency)
{
	for (size_t i = 0; i < draft->gpu_count; i++) {
		struct vc_catalog_gpu *gpu = &draft->gpus[i];

		if (gpu->gpu.usable_bytes == 0) {
			gpu->gpu.usable_bytes = usable(&gpu->gpu);
			gpu->usable_derived = true;
		}
		vc_draft_set_prices(draft, gpu, currency);
	}
}

bool vc_draft_finish(struct vc_catalog_draft *draft, const char *currency,
                     struct vc_catalog *catalog)
{
	resolve_offers(draft);
	complete_gpus(draft, currency);
	drop_hidden(draft);
	*catalog = (struct vc_catalog){ .gpus = draft->gpus,
		                        .count = draft->gpu_count,
		                        .offers = draft->offers,
		                        .offer_count = draft->offer_count,
		                        .platforms = draft->platforms,
		                        .platform_count = draft->platform_count,
		                        .criteria = draft->criteria };
	if (draft->errors->count > draft->errors_before) {
		vc_arena_free(&draft->arena);
		return false;
	}
	catalog->memory = draft->arena.blocks;
	return true;
}
