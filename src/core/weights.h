/* Bytes of the weights that one rank holds. */
#ifndef VC_WEIGHTS_H
#define VC_WEIGHTS_H

#include "shard.h"

struct weight_format {
	enum vc_dtype dtype;                        /* of what no quantizer touches */
	const struct vc_quantization *quantization; /* NULL: none */
	bool mtp; /* next-token-prediction layers are loaded (speculation) */
};

struct weights {
	uint64_t total_bytes;
	/* parts of the total */
	uint64_t embedding_bytes, head_bytes; /* vocabulary tables */
	uint64_t expert_bytes, tower_bytes;   /* routed experts; vision and audio stacks */
	uint64_t quantized_bytes;             /* what the quantizer touches, scales included */
	/* beside the total: tables that the program computes */
	uint64_t buffer_bytes;
	uint64_t elements, quantized_elements, largest_linear_elements;
};

enum {
	WEIGHTS_SHARE = 1 << 20 /* a part of a file is counted in these */
};

/*
 * What the tensors of a quantized safetensors file take over what the shape says that the scheme
 * makes of them, in WEIGHTS_SHARE parts: checkpoints leave other tensors in 16 bits than the scheme
 * does by rule. WEIGHTS_SHARE where there is no such file, or it holds other parameters.
 */
uint64_t weights_file_share(const struct vc_model *model, const struct weight_format *format);

/* `out` saturates at UINT64_MAX on overflow: check with sat_ok(). */
void weight_bytes(const struct vc_model *model, const struct weight_format *format,
                  const struct rank *rank, struct weights *out);

#endif
