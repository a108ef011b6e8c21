/*
 * What PyTorch's caching allocator makes of one request on a fresh device: it rounds to 512 bytes;
 * a request of 10 MiB or more gets a segment of its own, rounded to 2 MiB, whose rest is split off
 * only when it exceeds 1 MiB. What stays unsplit counts as allocated, which is why large weights
 * take up to 1 MiB more each than their elements.
 * github.com/pytorch/pytorch, c10/cuda/CUDACachingAllocator.cpp: kMinBlockSize, kSmallSize,
 * kMinLargeAlloc, kRoundLarge, should_split
 */
#ifndef VC_TORCH_BLOCK_H
#define VC_TORCH_BLOCK_H

#include "sat.h"

enum {
	TORCH_MIN_BLOCK_BYTES = 512,
	TORCH_SMALL_BYTES = 1 << 20,
	TORCH_SMALL_SEGMENT_BYTES = 2 << 20,
	TORCH_SHARED_SEGMENT_BYTES = 20 << 20,
	TORCH_OWN_SEGMENT_FROM_BYTES = 10 << 20,
	TORCH_LARGE_ROUND_BYTES = 2 << 20
};

static inline uint64_t torch_rounded_bytes(uint64_t bytes)
{
	return sat_round_up(bytes, TORCH_MIN_BLOCK_BYTES);
}

/* The segment that a request of 10 MiB or more gets; smaller ones share segments. */
static inline uint64_t torch_segment_bytes(uint64_t bytes)
{
	uint64_t rounded = torch_rounded_bytes(bytes);

	return rounded < TORCH_OWN_SEGMENT_FROM_BYTES
	               ? rounded
	               : sat_round_up(rounded, TORCH_LARGE_ROUND_BYTES);
}

/* What torch.cuda.memory_allocated() grows by. */
static inline uint64_t torch_block_bytes(uint64_t bytes)
{
	uint64_t rounded = torch_rounded_bytes(bytes);
	uint64_t segment = torch_segment_bytes(bytes);

	return segment - rounded <= TORCH_SMALL_BYTES ? segment : rounded;
}

#endif
