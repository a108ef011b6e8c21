/*
 * The header of a safetensors file, and the index of a sharded one. Read as a stream: a header may
 * have 10^8 bytes. github.com/huggingface/safetensors: README.md, safetensors/src/tensor.rs
 */
#ifndef VC_SAFETENSORS_H
#define VC_SAFETENSORS_H

#include "weight_file.h"

/* Adds the file's tensors to `file`. An error names the byte at which the file went wrong. */
enum vc_status vc_safetensors_read(struct vc_stream *stream,
                                   const struct vc_weight_packing *packing,
                                   struct vc_weight_file *file, struct vc_error *error);

/* The distinct files that an index.json names, in the order of their first mention. */
struct vc_safetensors_shards {
	size_t count;
	char **names; /* plain names: nothing outside the index's folder */
};
enum vc_status vc_safetensors_index(struct vc_stream *stream, struct vc_safetensors_shards *shards,
                                    struct vc_error *error);
void vc_safetensors_shards_drop(struct vc_safetensors_shards *shards);

#endif
