#include "local_catalog.h"

#include "print_text.h"
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void local_catalog_read(struct local_gpus *list)
{
	const char *sysfs = getenv("VRAMCALC_SYSFS");

	local_gpus_read(list, sysfs && *sysfs ? sysfs : NULL);
}

bool local_catalog_asked(const struct arguments *arguments)
{
	for (size_t i = 0; i < arguments->gpus.count; i++) {
		const char *name = arguments->gpus.items[i];

		if (strncmp(name, "local", 5) == 0 && strchr("-: ", name[5])) {
			return true;
		}
	}
	return false;
}

void local_catalog_complain(const struct local_gpus *list, const char *command)
{
	if (list->count == 0) {
		fprintf(stderr,
		        "vramcalc %s: local: this machine shows no GPU (NVIDIA's driver with NVML, "
		        "or "
		        "AMD's in /sys/class/drm, is expected)\n",
		        command);
	}
	for (size_t i = 0; i < list->count; i++) {
		fprintf(stderr,
		        "vramcalc %s: %s: %s (a GPU that tells its free memory is expected)\n",
		        command, list->gpus[i].id,
		        list->gpus[i].usable ? "nothing of it is free" : list->gpus[i].why);
	}
}

struct local_catalog *local_catalog_add(struct vc_catalog *catalog, const char *command)
{
	struct local_catalog *local = calloc(1, sizeof *local);

	if (local) {
		local->gpus = malloc((catalog->count + LOCAL_GPUS) * sizeof *local->gpus);
	}
	if (!local || !local->gpus) {
		report_no_memory();
		local_catalog_free(local);
		return NULL;
	}
	local_catalog_read(&local->list);
	memcpy(local->gpus, catalog->gpus, catalog->count * sizeof *local->gpus);
	local->usable = local_catalog_entries(&local->list, catalog, local->gpus + catalog->count,
	                                      local->names);
	if (local->usable == 0) {
		local_catalog_complain(&local->list, command);
		local_catalog_free(local);
		return NULL;
	}
	catalog->gpus = local->gpus;
	catalog->count += local->usable;
	return local;
}

void local_catalog_free(struct local_catalog *local)
{
	if (local) {
		free(local->gpus);
		free(local);
	}
}

static const struct local_gpu *find(const struct local_catalog *local, const struct vc_gpu *gpu)
{
	for (size_t i = 0; local && i < local->list.count; i++) {
		if (strcmp(local->list.gpus[i].id, gpu->id) == 0) {
			return &local->list.gpus[i];
		}
	}
	return NULL;
}

uint32_t local_catalog_count(const struct local_catalog *local, const struct vc_gpu *gpu)
{
	const struct local_gpu *own = find(local, gpu);
	uint32_t count = 0;

	if (!own) {
		return UINT32_MAX;
	}
	if (own->mig) {
		return 1; /* instances do not reach each other */
	}
	for (size_t i = 0; i < local->list.count; i++) {
		const struct local_gpu *other = &local->list.gpus[i];

		/* idle GPUs of one kind differ by some MiB */
		count += other->usable && !other->mig && strcmp(other->name, own->name) == 0 &&
		         other->free_bytes >= own->free_bytes - own->free_bytes / 100;
	}
	return count;
}

bool local_catalog_note(const struct local_catalog *local, const struct vc_gpu *gpu,
                        enum byte_unit unit, char *to, size_t size)
{
	const struct local_gpu *own = find(local, gpu);
	char free_text[64], total[64], held[64];

	if (!own) {
		return false;
	}
	format_quantity(free_text, sizeof free_text, own->free_bytes, unit, ROUND_DOWN);
	format_quantity(total, sizeof total, own->total_bytes, unit, ROUND_NEAREST);
	text_append(to, size, "%s is judged by what is free of it now: %s of %s", own->id,
	            free_text, total);
	for (uint32_t i = 0; i < own->process_count && i < LOCAL_PROCESSES; i++) {
		format_quantity(held, sizeof held, own->processes[i].bytes, unit, ROUND_NEAREST);
		text_append(to, size, "%s process %" PRIu32 "%s%s", i ? "," : "; taken by",
		            own->processes[i].pid, own->processes[i].bytes ? " with " : "",
		            own->processes[i].bytes ? held : "");
	}
	if (own->process_count > LOCAL_PROCESSES) {
		text_append(to, size, " and %" PRIu32 " more",
		            own->process_count - LOCAL_PROCESSES);
	}
	text_append(to, size, ".");
	return true;
}
