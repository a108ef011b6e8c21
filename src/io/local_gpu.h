/*
 * The GPUs of this machine: NVIDIA's through NVML, loaded when it is asked for, AMD's through
 * sysfs. What is free of each counts, not what it has.
 */
#ifndef VC_LOCAL_GPU_H
#define VC_LOCAL_GPU_H

#include "catalog.h"

enum {
	LOCAL_GPUS = 64,
	LOCAL_PROCESSES = 8,
	LOCAL_NAME = 96,
	LOCAL_ID = 24
};

struct local_process {
	uint32_t pid;
	uint64_t bytes; /* 0: not known */
};

struct local_gpu {
	char id[LOCAL_ID];     /* "local-0"; of a MIG instance "local-0:1" */
	char name[LOCAL_NAME]; /* as the driver calls it */
	enum vc_vendor vendor;
	uint32_t compute_capability;
	bool mig;        /* an instance, or a GPU whose mode is on */
	bool usable;     /* false: its memory is not told, or MIG is on and this is the whole GPU */
	const char *why; /* it is not usable; "" where it is */
	uint64_t total_bytes, free_bytes, used_bytes;
	uint32_t
	        process_count; /* of all that compute on it; the first LOCAL_PROCESSES are listed */
	struct local_process processes[LOCAL_PROCESSES];
};

struct local_gpus {
	size_t count;
	struct local_gpu gpus[LOCAL_GPUS];
};

/*
 * Fills the list, which is empty where there is no GPU. `sysfs` is the root of a recorded tree that
 * is read instead of the machine; NULL: this machine, NVML and /sys.
 */
void local_gpus_read(struct local_gpus *list, const char *sysfs);

/* One reader each; they add to the list. */
void local_nvml_read(struct local_gpus *list);
void local_sysfs_read(struct local_gpus *list, const char *root);
/* An empty entry at the end of the list; NULL when it is full. */
struct local_gpu *local_gpu_add(struct local_gpus *list);

/*
 * The same GPUs as entries of a catalog, which takes their make from the catalog's own where it
 * knows them by name: id "local-0", family "local", memory as it is free. `entries` and `names`
 * have room for all; returns how many are usable.
 */
size_t local_catalog_entries(const struct local_gpus *list, const struct vc_catalog *catalog,
                             struct vc_catalog_gpu *entries, char (*names)[LOCAL_NAME + 48]);
/* The catalog's own entry of a local GPU; NULL where it has none. */
const struct vc_gpu *local_gpu_known(const struct vc_catalog *catalog,
                                     const struct local_gpu *local);

#endif
