/*
 * llama.cpp's compute buffer: the graph of one worst-case batch, which it reserves at start.
 * docs/llamacpp.md#compute-buffer
 */
#ifndef VC_GGML_BUFFER_H
#define VC_GGML_BUFFER_H

#include "ggml_block.h"

/* On the device that holds every layer and the output. */
uint64_t ggml_compute_bytes(const struct vc_model *model, const struct ggml_run *run);

enum {
	MEMO_RUNS = 8 /* one estimate asks for up to 6 */
};

/* The latest results, for a search: layouts and GPUs ask for the same few runs over and over.
 * Models are told apart by their address, so that they must outlive it unchanged. Starts as zeros.
 */
struct vc_memo {
	struct {
		const struct vc_model *model;
		struct ggml_run run;
		uint64_t bytes;
	} known[MEMO_RUNS];
	uint32_t next;
};

/* The same; `memo` may be NULL. */
uint64_t ggml_known_compute_bytes(struct vc_memo *memo, const struct vc_model *model,
                                  const struct ggml_run *run);

#endif
