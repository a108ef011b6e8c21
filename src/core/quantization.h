/* What a quantization scheme makes of one tensor. */
#ifndef VC_QUANTIZATION_H
#define VC_QUANTIZATION_H

#include "vramcalc/vramcalc.h"

/* Whether the scheme touches a tensor of this module at all; the rest stays in 16 bits. GGUF
 * mixtures touch everything and choose by themselves. */
bool quantization_touches(const struct vc_quantization *quantization,
                          const struct vc_tensor *tensor);

/* Bytes of all `count` tensors in the scheme, scales and zeros included, biases in `kept`. */
uint64_t quantized_bytes(const struct vc_quantization *quantization, const struct vc_tensor *tensor,
                         enum vc_dtype kept);

#endif
