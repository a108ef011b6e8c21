/*
 * AMD's GPUs through sysfs: mem_info_vram_total and _used of the amdgpu driver (Linux kernel,
 * Documentation/gpu/amdgpu/driver-misc.rst), its product_name, and else the PCI device id.
 */
#include "local_gpu.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	PATH = 1024,
	CARDS = 256
};

/* Names of /usr/share/misc/pci.ids (pci-ids.ucw.cz), as the catalog has them. */
static const struct {
	const char *device, *name;
} products[] = {
	{ "0x738c", "AMD Instinct MI100" },    { "0x740f", "AMD Instinct MI210" },
	{ "0x740c", "AMD Instinct MI250" },    { "0x7408", "AMD Instinct MI250X" },
	{ "0x74a0", "AMD Instinct MI300A" },   { "0x74a1", "AMD Instinct MI300X" },
	{ "0x74a5", "AMD Instinct MI325X" },   { "0x744c", "AMD Radeon RX 7900 XTX" },
	{ "0x7448", "AMD Radeon PRO W7900" },  { "0x73bf", "AMD Radeon RX 6900 XT" },
	{ "0x7550", "AMD Radeon RX 9070 XT" },
};

/* The first line of a file under a card, without its end; false where there is none. */
static bool read_line(const char *folder, const char *file, char *to, size_t size)
{
	char path[PATH];
	FILE *in;
	bool read;

	if (snprintf(path, sizeof path, "%s/%s", folder, file) >= (int)sizeof path) {
		return false;
	}
	in = fopen(path, "re");
	if (!in) {
		return false;
	}
	read = fgets(to, (int)size, in) != NULL;
	fclose(in);
	if (read) {
		to[strcspn(to, "\r\n")] = '\0';
	}
	return read && *to;
}

static bool read_number(const char *folder, const char *file, uint64_t *value)
{
	char text[32], *end;

	if (!read_line(folder, file, text, sizeof text) || text[0] < '0' || text[0] > '9') {
		return false;
	}
	*value = strtoull(text, &end, 10);
	return *end == '\0' && *value < 1ull << 56;
}

static void name_card(const char *folder, struct local_gpu *gpu)
{
	char device[16] = "";

	if (read_line(folder, "product_name", gpu->name, sizeof gpu->name)) {
		return;
	}
	(void)read_line(folder, "device", device, sizeof device);
	snprintf(gpu->name, sizeof gpu->name, "AMD GPU %s", device);
	for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
		if (strcmp(products[i].device, device) == 0) {
			snprintf(gpu->name, sizeof gpu->name, "%s", products[i].name);
		}
	}
}

static void read_card(const char *root, unsigned card, struct local_gpus *list)
{
	char folder[PATH], vendor[16];
	uint64_t total, used;
	struct local_gpu *gpu;

	if (snprintf(folder, sizeof folder, "%s/class/drm/card%u/device", root, card) >=
	            (int)sizeof folder ||
	    !read_line(folder, "vendor", vendor, sizeof vendor) || strcmp(vendor, "0x1002") != 0 ||
	    !read_number(folder, "mem_info_vram_total", &total) || total == 0) {
		return;
	}
	gpu = local_gpu_add(list);
	if (!gpu) {
		return;
	}
	gpu->vendor = VC_VENDOR_AMD;
	snprintf(gpu->id, sizeof gpu->id, "local-%zu", list->count - 1);
	name_card(folder, gpu);
	gpu->total_bytes = total;
	if (read_number(folder, "mem_info_vram_used", &used) && used <= total) {
		gpu->used_bytes = used;
		gpu->free_bytes = total - used;
	} else {
		gpu->usable = false;
		gpu->why = "the driver does not tell how much is free";
	}
}

void local_sysfs_read(struct local_gpus *list, const char *root)
{
	bool cards[CARDS] = { false };
	char folder[PATH];
	struct dirent *entry;
	DIR *directory;

	if (snprintf(folder, sizeof folder, "%s/class/drm", root) >= (int)sizeof folder) {
		return;
	}
	directory = opendir(folder);
	while (directory && (entry = readdir(directory)) != NULL) {
		const char *digits = entry->d_name + 4;
		unsigned long card;
		char *end;

		/* "card0", not its connectors "card0-DP-1" */
		if (strncmp(entry->d_name, "card", 4) == 0 && *digits >= '0' && *digits <= '9') {
			card = strtoul(digits, &end, 10);
			if (*end == '\0' && card < CARDS) {
				cards[card] = true;
			}
		}
	}
	if (directory) {
		closedir(directory);
	}
	for (unsigned i = 0; i < CARDS; i++) {
		if (cards[i]) {
			read_card(root, i, list);
		}
	}
}
