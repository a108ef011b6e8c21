/* What a GPU offers a process, and what a process costs there before it holds anything. */
#ifndef VC_DEVICE_H
#define VC_DEVICE_H

#include "vramcalc/vramcalc.h"

/* What a process can get in all: CUDA's total, cudaMemGetInfo(). */
uint64_t device_usable_bytes(const struct vc_gpu *gpu);

/* A CUDA context with the kernels that a framework loads lazily (CUDA 11.7 and later). */
uint64_t device_context_bytes(const struct vc_gpu *gpu);

/* PyTorch's cuBLAS workspace, allocated through its allocator with the first multiplication. */
uint64_t device_blas_workspace_bytes(const struct vc_gpu *gpu);
/* That of Transformer Engine's own multiplications. */
uint64_t device_transformer_engine_workspace_bytes(const struct vc_gpu *gpu);

/* NCCL's buffers and an engine's own all-reduce on one of `ranks` GPUs of one node or more. */
uint64_t device_communication_bytes(const struct vc_gpu *gpu, uint32_t ranks);

#endif
