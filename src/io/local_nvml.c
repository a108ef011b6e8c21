/*
 * NVIDIA's GPUs through NVML, whose few functions are declared here: the library comes with the
 * driver and is loaded when it is asked for. Types and values are those of nvml.h (NVML API
 * Reference Guide), stable since their _v2 and _v3.
 */
#include "local_gpu.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef struct nvml_device *device;
typedef int status; /* 0: NVML_SUCCESS */

struct memory {
	unsigned long long total, free, used;
};
struct process {
	unsigned pid;
	unsigned long long used; /* UINT64_MAX: not available */
	unsigned gpu_instance, compute_instance;
};

#define MOST_BYTES                                                                                 \
	(1ull << 50) /* no GPU has as much: a driver's way to say that it does not know */

struct nvml {
	void *library;
	status (*init)(void);
	status (*shutdown)(void);
	status (*count)(unsigned *count);
	status (*handle)(unsigned index, device *gpu);
	status (*name)(device gpu, char *name, unsigned size);
	status (*memory)(device gpu, struct memory *memory);
	/* these may be absent in old drivers */
	status (*capability)(device gpu, int *major, int *minor);
	status (*processes)(device gpu, unsigned *count, struct process *processes);
	status (*mig_mode)(device gpu, unsigned *current, unsigned *pending);
	status (*mig_count)(device gpu, unsigned *count);
	status (*mig_handle)(device gpu, unsigned index, device *instance);
};

/* POSIX has a function's address fit an object pointer; ISO C lacks the conversion. */
static bool find(const struct nvml *nvml, const char *name, void *function, size_t size)
{
	void *symbol = dlsym(nvml->library, name);

	memcpy(function, &symbol, size);
	return symbol != NULL;
}

#define FIND(member, name) find(nvml, (name), &nvml->member, sizeof nvml->member)

static bool load(struct nvml *nvml)
{
	memset(nvml, 0, sizeof *nvml);
	nvml->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!nvml->library) {
		return false;
	}
	(void)FIND(capability, "nvmlDeviceGetCudaComputeCapability");
	if (!FIND(processes, "nvmlDeviceGetComputeRunningProcesses_v3")) {
		(void)FIND(processes, "nvmlDeviceGetComputeRunningProcesses_v2");
	}
	(void)(FIND(mig_mode, "nvmlDeviceGetMigMode") &&
	       FIND(mig_count, "nvmlDeviceGetMaxMigDeviceCount") &&
	       FIND(mig_handle, "nvmlDeviceGetMigDeviceHandleByIndex"));
	return FIND(init, "nvmlInit_v2") && FIND(shutdown, "nvmlShutdown") &&
	       FIND(count, "nvmlDeviceGetCount_v2") &&
	       FIND(handle, "nvmlDeviceGetHandleByIndex_v2") && FIND(name, "nvmlDeviceGetName") &&
	       FIND(memory, "nvmlDeviceGetMemoryInfo") && nvml->init() == 0;
}

static void unusable(struct local_gpu *gpu, const char *why)
{
	gpu->usable = false;
	gpu->why = why;
}

static void read_processes(const struct nvml *nvml, device handle, struct local_gpu *gpu)
{
	struct process processes[256];
	unsigned count = sizeof processes / sizeof *processes;

	if (!nvml->processes || nvml->processes(handle, &count, processes) != 0 ||
	    count > sizeof processes / sizeof *processes) {
		return;
	}
	gpu->process_count = count;
	for (unsigned i = 0; i < count && i < LOCAL_PROCESSES; i++) {
		gpu->processes[i].pid = processes[i].pid;
		gpu->processes[i].bytes =
		        processes[i].used <= gpu->total_bytes ? processes[i].used : 0;
	}
}

static struct local_gpu *read_device(const struct nvml *nvml, device handle,
                                     struct local_gpus *list)
{
	struct local_gpu *gpu = local_gpu_add(list);
	struct memory memory = { 0, 0, 0 };
	int major = 0, minor = 0;

	if (!gpu) {
		return NULL;
	}
	gpu->vendor = VC_VENDOR_NVIDIA;
	if (nvml->name(handle, gpu->name, sizeof gpu->name) != 0) {
		snprintf(gpu->name, sizeof gpu->name, "NVIDIA GPU");
	}
	gpu->name[sizeof gpu->name - 1] = '\0';
	if (nvml->capability && nvml->capability(handle, &major, &minor) == 0 && major > 0 &&
	    major < 100 && minor >= 0 && minor < 10) {
		gpu->compute_capability = (uint32_t)(major * 10 + minor);
	}
	if (nvml->memory(handle, &memory) != 0 || memory.total == 0 || memory.total > MOST_BYTES ||
	    memory.free > memory.total || memory.used > memory.total) {
		unusable(gpu, "the driver does not tell its memory");
		return gpu;
	}
	gpu->total_bytes = memory.total;
	gpu->free_bytes = memory.free;
	gpu->used_bytes = memory.used;
	read_processes(nvml, handle, gpu);
	return gpu;
}

/* An instance is a device of its own, with its own memory. */
static void read_instances(const struct nvml *nvml, device whole, unsigned index,
                           struct local_gpus *list)
{
	unsigned most = 0, found = 0;

	if (nvml->mig_count(whole, &most) != 0) {
		return;
	}
	for (unsigned i = 0; i < most && i < LOCAL_GPUS; i++) {
		device instance;
		struct local_gpu *gpu;

		if (nvml->mig_handle(whole, i, &instance) != 0) {
			continue; /* a place without an instance */
		}
		gpu = read_device(nvml, instance, list);
		if (gpu) {
			gpu->mig = true;
			snprintf(gpu->id, sizeof gpu->id, "local-%u:%u", index, found++);
		}
	}
}

static void read_gpu(const struct nvml *nvml, unsigned index, struct local_gpus *list)
{
	unsigned current = 0, pending = 0;
	struct local_gpu *gpu;
	device handle;

	if (nvml->handle(index, &handle) != 0) {
		return;
	}
	gpu = read_device(nvml, handle, list);
	if (!gpu) {
		return;
	}
	snprintf(gpu->id, sizeof gpu->id, "local-%u", index);
	if (nvml->mig_handle && nvml->mig_mode(handle, &current, &pending) == 0 && current == 1) {
		gpu->mig = true;
		unusable(gpu, "MIG is on: only its instances compute");
		read_instances(nvml, handle, index, list);
	}
}

void local_nvml_read(struct local_gpus *list)
{
	unsigned count = 0;
	struct nvml nvml;

	if (!load(&nvml)) {
		if (nvml.library) {
			dlclose(nvml.library);
		}
		return;
	}
	if (nvml.count(&count) == 0) {
		for (unsigned i = 0; i < count && i < LOCAL_GPUS; i++) {
			read_gpu(&nvml, i, list);
		}
	}
	nvml.shutdown();
	dlclose(nvml.library);
}
