/*
 * The element types: elements and bytes of one block. ggml's are as its own type table has them
 * (github.com/ggml-org/ggml, src/ggml-common.h); MX and NV formats as the OCP Microscaling
 * specification and NVIDIA's NVFP4 description have them, scales included.
 */
#include "sat.h"
#include "text.h"
#include "vramcalc/vramcalc.h"

static const struct vc_dtype_info dtypes[VC_DTYPE_COUNT] = {
	[VC_DTYPE_NONE] = { "none", 1, 0, false, "not given" },
	[VC_DTYPE_FP64] = { "fp64", 1, 8, true, "double precision" },
	[VC_DTYPE_FP32] = { "fp32", 1, 4, true, "single precision" },
	[VC_DTYPE_TF32] = { "tf32", 1, 4, true, "held as fp32, multiplied with a 10-bit mantissa" },
	[VC_DTYPE_FP16] = { "fp16", 1, 2, true, "half precision" },
	[VC_DTYPE_BF16] = { "bf16", 1, 2, true, "brain float, from Ampere on" },
	[VC_DTYPE_FP8] = { "fp8", 1, 1, true, "E4M3 or E5M2, from Ada and Hopper on" },
	[VC_DTYPE_INT8] = { "int8", 1, 1, true, "8-bit integers" },
	[VC_DTYPE_FP6] = { "fp6", 4, 3, true, "6-bit floats" },
	[VC_DTYPE_INT6] = { "int6", 4, 3, true, "6-bit integers" },
	[VC_DTYPE_INT5] = { "int5", 8, 5, true, "5-bit integers" },
	[VC_DTYPE_FP4] = { "fp4", 2, 1, true, "4-bit floats, scales left out" },
	[VC_DTYPE_INT4] = { "int4", 2, 1, true, "4-bit integers, scales left out" },
	[VC_DTYPE_INT3] = { "int3", 8, 3, true, "3-bit integers, scales left out" },
	[VC_DTYPE_INT2] = { "int2", 4, 1, true, "2-bit integers, scales left out" },
	[VC_DTYPE_Q4_0] = { "q4_0", 32, 18, false, "ggml, 4 bits and a scale per 32" },
	[VC_DTYPE_Q4_1] = { "q4_1", 32, 20, false, "ggml, 4 bits, scale and minimum per 32" },
	[VC_DTYPE_Q5_0] = { "q5_0", 32, 22, false, "ggml, 5 bits and a scale per 32" },
	[VC_DTYPE_Q5_1] = { "q5_1", 32, 24, false, "ggml, 5 bits, scale and minimum per 32" },
	[VC_DTYPE_Q8_0] = { "q8_0", 32, 34, false, "ggml, 8 bits and a scale per 32" },
	[VC_DTYPE_Q8_1] = { "q8_1", 32, 36, false, "ggml, 8 bits, scale and sum per 32" },
	[VC_DTYPE_Q2_K] = { "q2_K", 256, 84, false, "ggml k-quant, 2.625 bits" },
	[VC_DTYPE_Q3_K] = { "q3_K", 256, 110, false, "ggml k-quant, 3.4375 bits" },
	[VC_DTYPE_Q4_K] = { "q4_K", 256, 144, false, "ggml k-quant, 4.5 bits" },
	[VC_DTYPE_Q5_K] = { "q5_K", 256, 176, false, "ggml k-quant, 5.5 bits" },
	[VC_DTYPE_Q6_K] = { "q6_K", 256, 210, false, "ggml k-quant, 6.5625 bits" },
	[VC_DTYPE_Q8_K] = { "q8_K", 256, 292, false, "ggml k-quant, intermediate results" },
	[VC_DTYPE_IQ1_S] = { "iq1_s", 256, 50, false, "ggml i-quant, 1.5625 bits" },
	[VC_DTYPE_IQ1_M] = { "iq1_m", 256, 56, false, "ggml i-quant, 1.75 bits" },
	[VC_DTYPE_IQ2_XXS] = { "iq2_xxs", 256, 66, false, "ggml i-quant, 2.0625 bits" },
	[VC_DTYPE_IQ2_XS] = { "iq2_xs", 256, 74, false, "ggml i-quant, 2.3125 bits" },
	[VC_DTYPE_IQ2_S] = { "iq2_s", 256, 82, false, "ggml i-quant, 2.5625 bits" },
	[VC_DTYPE_IQ3_XXS] = { "iq3_xxs", 256, 98, false, "ggml i-quant, 3.0625 bits" },
	[VC_DTYPE_IQ3_S] = { "iq3_s", 256, 110, false, "ggml i-quant, 3.4375 bits" },
	[VC_DTYPE_IQ4_NL] = { "iq4_nl", 32, 18, false, "ggml i-quant, 4.5 bits" },
	[VC_DTYPE_IQ4_XS] = { "iq4_xs", 256, 136, false, "ggml i-quant, 4.25 bits" },
	[VC_DTYPE_TQ1_0] = { "tq1_0", 256, 54, false, "ggml ternary, 1.6875 bits" },
	[VC_DTYPE_TQ2_0] = { "tq2_0", 256, 66, false, "ggml ternary, 2.0625 bits" },
	[VC_DTYPE_MXFP4] = { "mxfp4", 32, 17, false, "4-bit floats, an 8-bit exponent per 32" },
	[VC_DTYPE_NVFP4] = { "nvfp4", 16, 9, false, "4-bit floats, an fp8 scale per 16" },
};

const struct vc_dtype_info *vc_dtype_info(enum vc_dtype dtype)
{
	return &dtypes[dtype < VC_DTYPE_COUNT ? dtype : VC_DTYPE_NONE];
}

enum vc_dtype vc_dtype_by_name(const char *name)
{
	for (int i = VC_DTYPE_NONE + 1; i < VC_DTYPE_COUNT; i++) {
		if (vc_same_name(dtypes[i].name, name)) {
			return (enum vc_dtype)i;
		}
	}
	return VC_DTYPE_NONE;
}

uint64_t vc_dtype_bytes(enum vc_dtype dtype, uint64_t elements)
{
	const struct vc_dtype_info *info = vc_dtype_info(dtype);

	if (info->block_elements == 1) {
		return sat_mul(elements, info->block_bytes);
	}
	if (elements == SAT_MAX) {
		return SAT_MAX;
	}
	/* Whole blocks first: elements x block_bytes may overflow where the result does not. */
	return sat_add(sat_mul(elements / info->block_elements, info->block_bytes),
	               sat_div_up((elements % info->block_elements) * info->block_bytes,
	                          info->block_elements));
}
