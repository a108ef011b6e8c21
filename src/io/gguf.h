/*
 * The header of a GGUF file, versions 1 to 3, either byte order: metadata and the tensor table.
 * Tensor data is never read. github.com/ggml-org/ggml: docs/gguf.md, src/gguf.cpp
 */
#ifndef VC_GGUF_H
#define VC_GGUF_H

#include "stream.h"
#include "vramcalc/vramcalc.h"

struct cJSON;

enum {
	VC_GGUF_TYPES = 43,   /* ids of tensor types */
	VC_GGUF_NAME = 64,    /* bytes of a tensor's name, terminator included */
	VC_GGUF_ARRAY = 1024, /* entries of the longest array that is kept */
	VC_GGUF_STRING = 256  /* bytes of the longest string that is kept */
};

/* An element type as ggml numbers them. */
struct vc_gguf_type {
	const char *name; /* NULL: no such type, or one that ggml has removed */
	uint32_t block_elements, block_bytes;
};

const struct vc_gguf_type *vc_gguf_type(uint32_t id);

struct vc_gguf_tensor {
	char name[VC_GGUF_NAME];
	uint32_t dimensions, type;
	uint64_t size[4]; /* the row first; 1 where there is no such dimension */
	uint64_t elements, bytes;
};

typedef void vc_gguf_visitor(const struct vc_gguf_tensor *tensor, void *context);

struct vc_gguf {
	uint32_t version;
	bool big_endian;
	uint64_t tensors, keys, alignment;
	uint64_t header_bytes;           /* up to the tensor data, padding included */
	uint64_t data_bytes;             /* of the tensor data, padding included */
	uint64_t elements, tensor_bytes; /* of all tensors, without padding */
	uint64_t type_tensors[VC_GGUF_TYPES];
	/*
	 * By key: numbers, flags, strings of at most VC_GGUF_STRING bytes, and arrays of at most
	 * VC_GGUF_ARRAY numbers or flags. In place of anything longer stands how long it is.
	 */
	struct cJSON *metadata;
};

/*
 * Reads the header and calls `visit` (may be NULL) for each tensor. Every count, length, offset and
 * product is checked before use; an error names the byte at which the file went wrong. Free with
 * vc_gguf_drop(), also after a failure.
 */
enum vc_status vc_gguf_read(struct vc_stream *stream, vc_gguf_visitor *visit, void *context,
                            struct vc_gguf *gguf, struct vc_error *error);
void vc_gguf_drop(struct vc_gguf *gguf);

#endif
