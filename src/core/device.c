/*
 * Fixed costs of a process on a GPU, measured; each figure with where it was published.
 * docs/serving.md#fixed-costs
 */
#include "device.h"

#include "sat.h"

enum {
	MIB = 1 << 20
};

#define GIB (1ull << 30)

uint64_t device_usable_bytes(const struct vc_gpu *gpu)
{
	if (gpu->usable_bytes > 0) {
		return gpu->usable_bytes;
	}
	/* Server cards report 0.35 to 0.85 GiB less than the driver: about 1 %. A marketed size
	 * comes about 2.5 % short of CUDA's total in GB of 10^9 plus GiB's 7 %: taken as it is. */
	if (gpu->driver_bytes > 0) {
		return gpu->driver_bytes - gpu->driver_bytes / 100;
	}
	return gpu->memory_bytes;
}

/*
 * H100: 530 MiB used of which 20 are torch's, github.com/vllm-project/vllm/issues/35463;
 * lazily loaded kernels elsewhere about 300 MB, github.com/pytorch/pytorch/issues/107667;
 * A100 with torch 2.1: 0.47 GiB, github.com/stas00/ml-engineering. It grows with the processors:
 * of the largest of Ada, vLLM found 43.93 of 44.42 GiB free on an L40S, 23.08 of 23.52 on a 4090.
 */
uint64_t device_context_bytes(const struct vc_gpu *gpu)
{
	uint32_t capability = gpu->compute_capability;

	if (capability >= 90) {
		return 510ull * MIB;
	}
	if (capability == 80 || (capability == 89 && device_usable_bytes(gpu) > 23 * GIB)) {
		return 480ull * MIB;
	}
	return 300ull * MIB;
}

/* aten/src/ATen/cuda/CublasHandlePool.cpp: ":4096:2:16:8" is 8 MiB and 128 KiB; 32 MiB from sm_90.
 */
uint64_t device_blas_workspace_bytes(const struct vc_gpu *gpu)
{
	return gpu->compute_capability >= 90 ? 33554432 : 8519680;
}

/* transformer_engine/pytorch/cpp_extensions/gemm.py, get_cublas_workspace_size_bytes() */
uint64_t device_transformer_engine_workspace_bytes(const struct vc_gpu *gpu)
{
	return gpu->compute_capability >= 90 ? 33554432 : 4194304;
}

/*
 * Growth outside torch by ranks, as vLLM's profiling run prints it. With NVLink: H20 0.74 GiB for
 * 2, A100 1.39 and H100 1.84 for 4 (github.com/vllm-project/vllm/issues/24881), A100 2.10 for 8.
 * Without, whatever their number: RTX 4090 0.25 for 2 (issues/13061) and 0.24 for 16
 * (issues/15014), RTX 2080 Ti 0.20 for 4, L40S 0.21 and 0.36 for 8, RTX 3090 0.20 for 16
 * (pull/14447).
 */
struct communication {
	uint32_t ranks;
	uint32_t pcie_mib, nvlink_mib, hopper_mib;
};

static const struct communication communication[] = {
	{ 1, 0, 0, 0 },
	{ 2, 220, 740, 740 },
	{ 4, 220, 1420, 1880 },
	{ UINT32_MAX, 220, 2150, 2150 },
};

uint64_t device_communication_bytes(const struct vc_gpu *gpu, uint32_t ranks)
{
	const struct communication *row = communication;

	while (row->ranks < ranks) {
		row++;
	}
	if (gpu->link != VC_LINK_NVLINK && gpu->link != VC_LINK_NVSWITCH &&
	    gpu->link != VC_LINK_XGMI) {
		return sat_mul(row->pcie_mib, MIB);
	}
	return sat_mul(gpu->compute_capability >= 90 ? row->hopper_mib : row->nvlink_mib, MIB);
}
