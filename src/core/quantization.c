/*
 * Quantization schemes: their table, and the bytes of one tensor in each. Layouts are those that
 * the loaders allocate: vLLM 0.11 (vllm/model_executor/layers/quantization/gptq.py, awq.py),
 * bitsandbytes (functional.py: blocks of 64, nested blocks of 256), compressed-tensors, hqq,
 * pytorch/ao. docs/formulas.md#quantization
 */
#include "quantization.h"
#include "sat.h"

#include <string.h>

#define GPTQ(bits, suffix, group, text)                                                            \
	{                                                                                          \
		"gptq-int" #bits suffix, VC_QUANTIZER_GPTQ, VC_DTYPE_INT##bits,                    \
		        .group_size = (group), .per_row = (group) == 0,                            \
		        .summary = "GPTQ, " #bits " bits, " text                                   \
	}
#define GPTQ_BITS(bits)                                                                            \
	GPTQ(bits, "-g128", 128, "groups of 128"), GPTQ(bits, "-g64", 64, "groups of 64"),         \
	        GPTQ(bits, "-g32", 32, "groups of 32"), GPTQ(bits, "", 0, "a scale per row")
#define AWQ(suffix, group, text)                                                                   \
	{                                                                                          \
		"awq-int4" suffix, VC_QUANTIZER_AWQ, VC_DTYPE_INT4,                                \
		        .group_size = (group), .summary = "AWQ, 4 bits, " text                     \
	}
#define PACKED(bits, suffix, group, text)                                                          \
	{                                                                                          \
		"ct-int" #bits suffix, VC_QUANTIZER_COMPRESSED, VC_DTYPE_INT##bits,                \
		        .group_size = (group), .per_row = (group) == 0,                            \
		        .summary = "compressed-tensors, " #bits " bits, symmetric, " text          \
	}
#define HQQ(bits, suffix, group, text)                                                             \
	{                                                                                          \
		"hqq-int" #bits suffix, VC_QUANTIZER_HQQ, VC_DTYPE_INT##bits,                      \
		        .group_size = (group), .summary = "HQQ, " #bits " bits, " text             \
	}
#define GGUF(name, dtype, text)                                                                    \
	{                                                                                          \
		name, VC_QUANTIZER_GGUF, VC_DTYPE_##dtype, .summary = "llama.cpp, " text           \
	}

static const struct vc_quantization table[] = {
	{ "none", VC_QUANTIZER_NONE, .summary = "weights in `precision`" },
	GPTQ_BITS(4),
	GPTQ_BITS(8),
	GPTQ_BITS(3),
	GPTQ_BITS(2),
	AWQ("-g128", 128, "groups of 128"),
	AWQ("-g64", 64, "groups of 64"),
	AWQ("-g32", 32, "groups of 32"),
	PACKED(4, "-g128", 128, "groups of 128"),
	PACKED(4, "-g64", 64, "groups of 64"),
	PACKED(4, "-g32", 32, "groups of 32"),
	PACKED(4, "", 0, "a scale per row"),
	PACKED(8, "-g128", 128, "groups of 128"),
	PACKED(8, "", 0, "a scale per row"),
	{ "bnb-int8", VC_QUANTIZER_BNB_INT8, VC_DTYPE_INT8, .per_row = true,
	  .summary = "bitsandbytes LLM.int8()" },
	{ "bnb-nf4", VC_QUANTIZER_BNB_4BIT, VC_DTYPE_INT4, .group_size = 64,
	  .summary = "bitsandbytes NF4" },
	{ "bnb-nf4-dq", VC_QUANTIZER_BNB_4BIT, VC_DTYPE_INT4, .group_size = 64,
	  .double_quant = true, .summary = "bitsandbytes NF4, scales quantized too" },
	{ "bnb-fp4", VC_QUANTIZER_BNB_4BIT, VC_DTYPE_FP4, .group_size = 64,
	  .summary = "bitsandbytes FP4" },
	{ "bnb-fp4-dq", VC_QUANTIZER_BNB_4BIT, VC_DTYPE_FP4, .group_size = 64, .double_quant = true,
	  .summary = "bitsandbytes FP4, scales quantized too" },
	{ "fp8", VC_QUANTIZER_FP8, VC_DTYPE_FP8, .summary = "8-bit floats, a scale per tensor" },
	{ "fp8-channel", VC_QUANTIZER_FP8, VC_DTYPE_FP8, .per_row = true,
	  .summary = "8-bit floats, a scale per row" },
	{ "fp8-block", VC_QUANTIZER_FP8, VC_DTYPE_FP8, .group_size = 128,
	  .summary = "8-bit floats, a scale per 128 x 128 block" },
	{ "int8", VC_QUANTIZER_PLAIN, VC_DTYPE_INT8, .summary = "8-bit integers, scales left out" },
	{ "int4", VC_QUANTIZER_PLAIN, VC_DTYPE_INT4, .summary = "4-bit integers, scales left out" },
	{ "mxfp4", VC_QUANTIZER_MXFP4, VC_DTYPE_MXFP4, .group_size = 32,
	  .summary = "OCP MXFP4, experts only where there are experts" },
	{ "nvfp4", VC_QUANTIZER_NVFP4, VC_DTYPE_NVFP4, .group_size = 16,
	  .summary = "NVIDIA NVFP4" },
	HQQ(4, "", 64, "groups of 64"),
	HQQ(8, "", 64, "groups of 64"),
	HQQ(3, "", 64, "groups of 64"),
	HQQ(2, "", 64, "groups of 64"),
	HQQ(4, "-g128", 128, "groups of 128"),
	{ "torchao-int4", VC_QUANTIZER_TORCHAO, VC_DTYPE_INT4, .group_size = 128,
	  .summary = "torchao int4 weight-only, groups of 128" },
	{ "torchao-int8", VC_QUANTIZER_TORCHAO, VC_DTYPE_INT8, .per_row = true,
	  .summary = "torchao int8 weight-only" },
	GGUF("q2_k", Q2_K, "2-bit k-quants with bigger parts"),
	GGUF("q2_k_s", Q2_K, "2-bit k-quants, small"),
	GGUF("q3_k_s", Q3_K, "3-bit k-quants, small"),
	GGUF("q3_k_m", Q3_K, "3-bit k-quants, medium"),
	GGUF("q3_k_l", Q3_K, "3-bit k-quants, large"),
	GGUF("q4_0", Q4_0, "4 bits, groups of 32"),
	GGUF("q4_1", Q4_1, "4 bits with minimum, groups of 32"),
	GGUF("q4_k_s", Q4_K, "4-bit k-quants, small"),
	GGUF("q4_k_m", Q4_K, "4-bit k-quants, medium"),
	GGUF("q5_0", Q5_0, "5 bits, groups of 32"),
	GGUF("q5_1", Q5_1, "5 bits with minimum, groups of 32"),
	GGUF("q5_k_s", Q5_K, "5-bit k-quants, small"),
	GGUF("q5_k_m", Q5_K, "5-bit k-quants, medium"),
	GGUF("q6_k", Q6_K, "6-bit k-quants"),
	GGUF("q8_0", Q8_0, "8 bits, groups of 32"),
	GGUF("iq1_s", IQ1_S, "1.56-bit i-quants"),
	GGUF("iq1_m", IQ1_M, "1.75-bit i-quants"),
	GGUF("iq2_xxs", IQ2_XXS, "2.06-bit i-quants"),
	GGUF("iq2_xs", IQ2_XS, "2.31-bit i-quants"),
	GGUF("iq2_s", IQ2_S, "2.5-bit i-quants"),
	GGUF("iq2_m", IQ2_S, "2.7-bit i-quants"),
	GGUF("iq3_xxs", IQ3_XXS, "3.06-bit i-quants"),
	GGUF("iq3_xs", IQ3_S, "3.3-bit i-quants"),
	GGUF("iq3_s", IQ3_S, "3.44-bit i-quants"),
	GGUF("iq3_m", IQ3_S, "3.66-bit i-quants"),
	GGUF("iq4_xs", IQ4_XS, "4.25-bit i-quants"),
	GGUF("iq4_nl", IQ4_NL, "4.5-bit i-quants"),
	GGUF("tq1_0", TQ1_0, "ternary, 1.69 bits"),
	GGUF("tq2_0", TQ2_0, "ternary, 2.06 bits"),
	GGUF("mxfp4_moe", MXFP4, "MXFP4 experts, the rest in 8 bits"),
	GGUF("q2_k_l", Q2_K, "q2_k, tables in q8_0"),
	GGUF("q3_k_xl", Q3_K, "q3_k_l, tables in q8_0"),
	GGUF("q4_k_l", Q4_K, "q4_k_m, tables in q8_0"),
	GGUF("q5_k_l", Q5_K, "q5_k_m, tables in q8_0"),
	GGUF("q6_k_l", Q6_K, "q6_k, tables in q8_0"),
	GGUF("ud-iq1_s", IQ1_S, "Unsloth's dynamic 1.6-bit files"),
	GGUF("ud-iq1_m", IQ1_M, "Unsloth's dynamic 1.75-bit files"),
	GGUF("ud-iq2_xxs", IQ2_XXS, "Unsloth's dynamic 2-bit files"),
	GGUF("ud-iq2_m", IQ2_S, "Unsloth's dynamic 2.7-bit files"),
	GGUF("ud-iq3_xxs", IQ3_XXS, "Unsloth's dynamic 3-bit files"),
	GGUF("ud-q2_k_xl", Q2_K, "Unsloth's dynamic 2-bit k-quants"),
	GGUF("ud-q3_k_xl", Q3_K, "Unsloth's dynamic 3-bit k-quants"),
	GGUF("ud-q4_k_xl", Q4_K, "Unsloth's dynamic 4-bit k-quants"),
	GGUF("ud-q5_k_xl", Q5_K, "Unsloth's dynamic 5-bit k-quants"),
	GGUF("ud-q6_k_xl", Q6_K, "Unsloth's dynamic 6-bit k-quants"),
	GGUF("ud-q8_k_xl", Q8_0, "Unsloth's dynamic 8-bit files"),
	GGUF("iq2_k", IQ2_XS, "ik_llama.cpp, 2.4 bits"),
	GGUF("iq3_k", IQ3_S, "ik_llama.cpp, 3.4 bits"),
	GGUF("iq4_ks", IQ4_XS, "ik_llama.cpp, 4.25 bits"),
	GGUF("iq4_k", Q4_K, "ik_llama.cpp, 4.5 bits"),
	GGUF("iq5_k", Q5_K, "ik_llama.cpp, 5.5 bits"),
	GGUF("iq6_k", Q6_K, "ik_llama.cpp, 6.6 bits"),
};

const struct vc_quantization *vc_quantization_at(size_t index)
{
	return index < sizeof table / sizeof table[0] ? &table[index] : NULL;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

const struct vc_quantization *vc_quantization_by_name(const char *name)
{
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		size_t at = 0;

		while (name[at] && lower(name[at]) == table[i].name[at]) {
			at++;
		}
		if (!name[at] && !table[i].name[at]) {
			return &table[i];
		}
	}
	return NULL;
}

bool quantization_touches(const struct vc_quantization *quantization,
                          const struct vc_tensor *tensor)
{
	if (!quantization || quantization->quantizer == VC_QUANTIZER_NONE) {
		return false;
	}
	if (quantization->quantizer == VC_QUANTIZER_MXFP4) {
		return tensor->split == VC_SPLIT_EXPERT_COLUMN ||
		       tensor->split == VC_SPLIT_EXPERT_ROW;
	}
	return tensor->linear;
}

/* Scales and zeros of one matrix. */
static uint64_t gptq_scales(const struct vc_quantization *q, const struct vc_tensor *t)
{
	uint64_t groups =
	        q->group_size ? sat_mul(t->out, sat_div_up(t->in, q->group_size)) : t->out;
	uint64_t zeros = vc_dtype_bytes(q->dtype, groups);

	if (q->quantizer == VC_QUANTIZER_COMPRESSED) {
		return sat_mul(2, groups); /* symmetric: no zeros */
	}
	if (q->quantizer == VC_QUANTIZER_GPTQ && q->group_size > 0) {
		zeros = sat_add(zeros, sat_mul(4, t->in)); /* g_idx, int32 */
	}
	return sat_add(sat_mul(2, groups), q->group_size > 0 ? zeros : 0);
}

/* fp32 per block of 64; quantized again: a byte each and fp32 per 256 of them, and two fp32 code
 * tables of 16 and 256 entries. */
static uint64_t bnb_scales(const struct vc_quantization *q, uint64_t elements)
{
	uint64_t blocks = sat_div_up(elements, 64);

	if (!q->double_quant) {
		return sat_mul(4, blocks);
	}
	return sat_add(sat_add(blocks, sat_mul(4, sat_div_up(blocks, 256))), (16 + 256) * 4);
}

static uint64_t fp8_scales(const struct vc_quantization *q, const struct vc_tensor *t)
{
	if (q->group_size > 0) {
		return sat_mul3(4, sat_div_up(t->out, q->group_size),
		                sat_div_up(t->in, q->group_size));
	}
	return q->per_row ? sat_mul(4, t->out) : 8; /* the weight's and the input's */
}

static uint64_t scale_bytes(const struct vc_quantization *q, const struct vc_tensor *t)
{
	uint64_t elements = sat_mul(t->out, t->in);

	switch (q->quantizer) {
	case VC_QUANTIZER_GPTQ:
	case VC_QUANTIZER_AWQ:
	case VC_QUANTIZER_COMPRESSED:
		return gptq_scales(q, t);
	case VC_QUANTIZER_BNB_INT8:
		return sat_mul(4, t->out);
	case VC_QUANTIZER_BNB_4BIT:
		return bnb_scales(q, elements);
	case VC_QUANTIZER_FP8:
		return fp8_scales(q, t);
	case VC_QUANTIZER_NVFP4:
		return 8; /* global scales of weight and input; the blocks' are in the type */
	case VC_QUANTIZER_HQQ:
		return sat_mul(4, sat_div_up(elements, q->group_size));
	case VC_QUANTIZER_TORCHAO:
		return q->group_size ? sat_mul(4, sat_div_up(elements, q->group_size))
		                     : sat_mul(2, t->out);
	default:
		return 0;
	}
}

uint64_t quantized_bytes(const struct vc_quantization *q, const struct vc_tensor *t,
                         enum vc_dtype kept)
{
	uint64_t each =
	        sat_add(vc_dtype_bytes(q->dtype, sat_mul(t->out, t->in)), scale_bytes(q, t));

	return sat_mul(t->count, sat_add(each, vc_dtype_bytes(kept, t->bias)));
}
