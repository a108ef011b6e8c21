#include "local_gpu.h"

#include <stdio.h>
#include <string.h>

struct local_gpu *local_gpu_add(struct local_gpus *list)
{
	struct local_gpu *gpu = &list->gpus[list->count];

	if (list->count == LOCAL_GPUS) {
		return NULL;
	}
	list->count++;
	*gpu = (struct local_gpu){ .usable = true, .why = "" };
	return gpu;
}

/* Names of hardware are ASCII; what else a file holds does not reach a terminal. */
static void make_plain(char *name)
{
	for (; *name; name++) {
		if (*name < ' ' || *name > '~') {
			*name = '?';
		}
	}
}

void local_gpus_read(struct local_gpus *list, const char *sysfs)
{
	list->count = 0;
	if (!sysfs) {
		local_nvml_read(list);
	}
	local_sysfs_read(list, sysfs ? sysfs : "/sys");
	for (size_t i = 0; i < list->count; i++) {
		make_plain(list->gpus[i].name);
	}
}

/* ---- In a catalog -------------------------------------------------------------------------- */

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* A MIG instance is named behind its GPU: "NVIDIA A100-SXM4-40GB MIG 3g.20gb". */
static void name_of_whole(char *to, size_t size, const char *name)
{
	const char *mig = strstr(name, " MIG ");

	snprintf(to, size, "%.*s", (int)(mig ? (size_t)(mig - name) : strlen(name)), name);
}

const struct vc_gpu *local_gpu_known(const struct vc_catalog *catalog,
                                     const struct local_gpu *local)
{
	const struct vc_gpu *found[16], *best = NULL;
	char name[LOCAL_NAME];
	size_t count;

	name_of_whole(name, sizeof name, local->name);
	count = vc_catalog_find(catalog, name, found, sizeof found / sizeof *found);
	count = count < sizeof found / sizeof *found ? count : sizeof found / sizeof *found;
	/* of several sizes the one that has as much */
	for (size_t i = 0; i < count; i++) {
		if (!best || distance(found[i]->driver_bytes, local->total_bytes) <
		                     distance(best->driver_bytes, local->total_bytes)) {
			best = found[i];
		}
	}
	return best;
}

static void fill(struct vc_catalog_gpu *entry, const struct vc_gpu *known,
                 const struct local_gpu *local, const char *name)
{
	static const char *const none[] = { NULL };
	struct vc_gpu *gpu = &entry->gpu;

	memset(entry, 0, sizeof *entry);
	if (known) {
		*entry = *vc_catalog_entry(known);
	} else {
		gpu->architecture = "";
		gpu->compute_capability = local->compute_capability;
		gpu->supports_int8 = true;
		gpu->supports_bf16 =
		        local->compute_capability >= 80 || local->vendor == VC_VENDOR_AMD;
		gpu->supports_fp8 = local->compute_capability >= 89;
		entry->form = entry->memory_type = entry->link_scope = entry->note = "";
		entry->mig_table = "";
	}
	gpu->id = local->id;
	gpu->name = name;
	gpu->family = "local";
	gpu->aliases = none;
	gpu->vendor = local->vendor;
	gpu->memory_bytes = gpu->driver_bytes = gpu->usable_bytes = local->free_bytes;
	if (local->mig) {
		gpu->mig_capable = false;
		entry->mig_table = "";
		gpu->link = VC_LINK_NONE;
	}
	/* what is at hand has no price */
	gpu->price = (struct vc_price){ .known = false };
	entry->prices = NULL;
	entry->price_count = 0;
	entry->documented = false;
}

size_t local_catalog_entries(const struct local_gpus *list, const struct vc_catalog *catalog,
                             struct vc_catalog_gpu *entries, char (*names)[LOCAL_NAME + 48])
{
	size_t count = 0;

	for (size_t i = 0; i < list->count; i++) {
		const struct local_gpu *local = &list->gpus[i];

		if (local->usable && local->free_bytes > 0) {
			snprintf(names[count], sizeof *names, "%s (what is free of %s)",
			         local->name, local->id);
			fill(&entries[count], local_gpu_known(catalog, local), local, names[count]);
			count++;
		}
	}
	return count;
}
