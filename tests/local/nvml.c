/*
 * A stand-in for libnvidia-ml.so.1: the GPUs that FAKE_NVML names. "a100-mig" is an A100 40 GB with
 * MIG on and two instances, and a second A100 without; "busy" a single RTX 3090 with two processes;
 * "none" a driver without GPUs; "silent" one GPU that tells no memory, "absurd" one that tells 2^64
 * - 1 bytes; "dead" does not start. Types and values are those of nvml.h.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GIB 1073741824ull

enum {
	SUCCESS = 0,
	NOT_SUPPORTED = 3,
	NOT_FOUND = 6,
	INSUFFICIENT_SIZE = 7,
	UNKNOWN = 999
};

struct nvml_device {
	const char *scene, *name;
	int major, minor;
	unsigned long long total, used;
	int mig; /* -1: not supported */
	unsigned instance_of;
};

struct memory {
	unsigned long long total, free, used;
};
struct process {
	unsigned pid;
	unsigned long long used;
	unsigned gpu_instance, compute_instance;
};

static struct nvml_device devices[] = {
	{ "a100-mig", "NVIDIA A100-SXM4-40GB", 8, 0, 40960ull << 20, 500ull << 20, 1, 0 },
	{ "a100-mig", "NVIDIA A100-SXM4-40GB", 8, 0, 40960ull << 20, 30ull * GIB, 0, 0 },
	{ "busy", "NVIDIA GeForce RTX 3090", 8, 6, 24576ull << 20, 14ull * GIB, -1, 0 },
	{ "silent", "NVIDIA GB10", 12, 1, 0, 0, -1, 0 },
	{ "absurd", "NVIDIA GB10", 12, 1, UINT64_MAX, 0, -1, 0 },
};
static struct nvml_device instances[] = {
	{ "a100-mig", "NVIDIA A100-SXM4-40GB MIG 3g.20gb", 8, 0, 19968ull << 20, 37ull << 20, 0,
	  1 },
	{ "a100-mig", "NVIDIA A100-SXM4-40GB MIG 1g.5gb", 8, 0, 4864ull << 20, 12ull << 20, 0, 1 },
};

static const char *scene(void)
{
	const char *value = getenv("FAKE_NVML");

	return value ? value : "none";
}

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct nvml_device **device);
int nvmlDeviceGetName(struct nvml_device *device, char *name, unsigned size);
int nvmlDeviceGetMemoryInfo(struct nvml_device *device, struct memory *memory);
int nvmlDeviceGetCudaComputeCapability(struct nvml_device *device, int *major, int *minor);
int nvmlDeviceGetComputeRunningProcesses_v3(struct nvml_device *device, unsigned *count,
                                            struct process *processes);
int nvmlDeviceGetMigMode(struct nvml_device *device, unsigned *current, unsigned *pending);
int nvmlDeviceGetMaxMigDeviceCount(struct nvml_device *device, unsigned *count);
int nvmlDeviceGetMigDeviceHandleByIndex(struct nvml_device *device, unsigned index,
                                        struct nvml_device **instance);

int nvmlInit_v2(void)
{
	return strcmp(scene(), "dead") == 0 ? UNKNOWN : SUCCESS;
}

int nvmlShutdown(void)
{
	return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct nvml_device **device)
{
	for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
		if (strcmp(devices[i].scene, scene()) == 0 && index-- == 0) {
			*device = &devices[i];
			return SUCCESS;
		}
	}
	return NOT_FOUND;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
	struct nvml_device *device;

	for (*count = 0; nvmlDeviceGetHandleByIndex_v2(*count, &device) == SUCCESS;) {
		++*count;
	}
	return SUCCESS;
}

int nvmlDeviceGetName(struct nvml_device *device, char *name, unsigned size)
{
	if (strlen(device->name) >= size) {
		return INSUFFICIENT_SIZE;
	}
	strcpy(name, device->name);
	return SUCCESS;
}

int nvmlDeviceGetMemoryInfo(struct nvml_device *device, struct memory *memory)
{
	if (device->total == 0) {
		return NOT_SUPPORTED;
	}
	*memory = (struct memory){ device->total, device->total - device->used, device->used };
	return SUCCESS;
}

int nvmlDeviceGetCudaComputeCapability(struct nvml_device *device, int *major, int *minor)
{
	*major = device->major;
	*minor = device->minor;
	return SUCCESS;
}

int nvmlDeviceGetComputeRunningProcesses_v3(struct nvml_device *device, unsigned *count,
                                            struct process *processes)
{
	static const struct process busy[] = { { 4711, 9ull * GIB, UINT32_MAX, UINT32_MAX },
		                               { 4712, UINT64_MAX, UINT32_MAX, UINT32_MAX } };
	unsigned found = device->used > 10 * GIB ? 2 : 0;

	if (*count < found) {
		*count = found;
		return INSUFFICIENT_SIZE;
	}
	*count = found;
	memcpy(processes, busy, found * sizeof *busy);
	return SUCCESS;
}

int nvmlDeviceGetMigMode(struct nvml_device *device, unsigned *current, unsigned *pending)
{
	*current = *pending = (unsigned)(device->mig > 0);
	return device->mig < 0 ? NOT_SUPPORTED : SUCCESS;
}

int nvmlDeviceGetMaxMigDeviceCount(struct nvml_device *device, unsigned *count)
{
	*count = device->mig > 0 ? 7 : 0;
	return SUCCESS;
}

int nvmlDeviceGetMigDeviceHandleByIndex(struct nvml_device *device, unsigned index,
                                        struct nvml_device **instance)
{
	/* instances need not follow each other */
	if (device->mig < 1 || (index != 0 && index != 3)) {
		return NOT_FOUND;
	}
	*instance = &instances[index == 3];
	return SUCCESS;
}
