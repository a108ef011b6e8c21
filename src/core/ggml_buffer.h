/*
 * llama.cpp's compute buffer: the graph of one worst-case batch, which it reserves at start.
 * docs/llamacpp.md#compute-buffer
 */
#ifndef VC_GGML_BUFFER_H
#define VC_GGML_BUFFER_H

#include "ggml_block.h"

/* On the device that holds every layer and the output. */
uint64_t ggml_compute_bytes(const struct vc_model *model, const struct ggml_run *run);

#endif
