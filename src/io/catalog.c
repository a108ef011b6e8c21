/* Looking GPUs up by the names that people use. */
#include "catalog.h"
#include "arena.h"
#include "gpu_name.h"
#include "nearest.h"

#include <string.h>

const struct vc_catalog_gpu *vc_catalog_entry(const struct vc_gpu *gpu)
{
	return (const struct vc_catalog_gpu *)(const void *)gpu;
}

static bool answers_to(const struct vc_gpu *gpu, const char *name)
{
	if (vc_names_equal(gpu->id, name) || vc_names_equal(gpu->name, name)) {
		return true;
	}
	for (size_t i = 0; gpu->aliases[i]; i++) {
		if (vc_names_equal(gpu->aliases[i], name)) {
			return true;
		}
	}
	return false;
}

/* The same, whoever makes it: "RTX 4090" is "NVIDIA GeForce RTX 4090". */
static bool answers_without_maker(const struct vc_gpu *gpu, const char *name)
{
	const char *wanted = vc_name_without_maker(name);

	if (vc_names_equal(vc_name_without_maker(gpu->name), wanted)) {
		return true;
	}
	for (size_t i = 0; gpu->aliases[i]; i++) {
		if (vc_names_equal(vc_name_without_maker(gpu->aliases[i]), wanted)) {
			return true;
		}
	}
	return vc_names_equal(gpu->id, wanted);
}

static bool of_family(const struct vc_gpu *gpu, const char *name)
{
	return vc_names_equal(vc_name_without_maker(gpu->family), vc_name_without_maker(name));
}

typedef bool (*match)(const struct vc_gpu *gpu, const char *name);

static size_t find_by(const struct vc_catalog *catalog, match matches, const char *name,
                      const struct vc_gpu **gpus, size_t room)
{
	size_t found = 0;

	for (size_t i = 0; i < catalog->count; i++) {
		const struct vc_gpu *gpu = &catalog->gpus[i].gpu;

		if (matches(gpu, name) && found++ < room) {
			gpus[found - 1] = gpu;
		}
	}
	return found;
}

size_t vc_catalog_find(const struct vc_catalog *catalog, const char *name,
                       const struct vc_gpu **gpus, size_t room)
{
	static const match ways[] = { answers_to, of_family, answers_without_maker };
	size_t found = 0;

	for (size_t i = 0; i < sizeof ways / sizeof ways[0] && !found; i++) {
		found = find_by(catalog, ways[i], name, gpus, room);
	}
	return found;
}

const char *vc_catalog_nearest(const struct vc_catalog *catalog, const char *name)
{
	struct vc_nearest nearest = { .wanted = name };

	for (size_t i = 0; i < catalog->count; i++) {
		const struct vc_gpu *gpu = &catalog->gpus[i].gpu;

		vc_nearest_offer(&nearest, gpu->family);
		vc_nearest_offer(&nearest, gpu->id);
		vc_nearest_offer(&nearest, gpu->name);
		for (size_t j = 0; gpu->aliases[j]; j++) {
			vc_nearest_offer(&nearest, gpu->aliases[j]);
		}
	}
	return nearest.best;
}

void vc_catalog_close(struct vc_catalog *catalog)
{
	struct vc_arena arena = { catalog->memory };

	vc_arena_free(&arena);
	*catalog = (struct vc_catalog){ .count = 0 };
}
