/* The scheme under which a serving engine holds one tensor: the request's, where it applies. */
#ifndef VC_QUANTIZED_LINEAR_H
#define VC_QUANTIZED_LINEAR_H

#include "vramcalc/vramcalc.h"

/* What an engine allocates for a tensor: packed values, their scales and zeros, the bias. */
struct linear_parts {
	uint64_t bytes[3];
};

/* The scheme of the visited tensor; its quantizer is NONE where it stays in 16 bits.
 * `marlin`: kernels that drop the zeros and group indices of symmetric GPTQ files. */
struct vc_quantization linear_scheme(const struct vc_request *request, const struct vc_visit *visit,
                                     bool marlin);

/* Of one of `count` tensors, as one rank holds it. */
struct linear_parts linear_parts(const struct vc_quantization *scheme,
                                 const struct vc_tensor *tensor, enum vc_dtype precision);
void linear_parts_scale(struct linear_parts *parts, uint64_t count);
void linear_parts_add(struct linear_parts *sum, const struct linear_parts *parts);

#endif
