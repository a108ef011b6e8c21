/*
 * Which scheme a serving engine applies to which tensor, as github.com/vllm-project/vllm,
 * vllm/model_executor/layers/quantization/ does. docs/serving.md#serving-weights
 */
#include "quantized_linear.h"

#include "quantization.h"
#include "sat.h"

#include <string.h>

/* Published checkpoints that quantize less, or otherwise, than their scheme's default. */
struct exception {
	const char *name; /* part of the model's name */
	enum vc_quantizer quantizer;
	uint64_t plain_modules; /* bits 1 << vc_module that stay in 16 bits */
	bool double_quant;
};

enum {
	ATTENTION_MODULES = 1 << VC_MODULE_Q | 1 << VC_MODULE_K | 1 << VC_MODULE_V |
	                    1 << VC_MODULE_QKV | 1 << VC_MODULE_O,
	LINEAR_ATTENTION_MODULES =
	        1 << VC_MODULE_SSM_IN | 1 << VC_MODULE_SSM_OUT | 1 << VC_MODULE_SSM_OTHER
};

static const struct exception exceptions[] = {
	/* https://huggingface.co/meta-llama/Llama-3.1-405B-Instruct-FP8: only the feed-forward
	 * linears are fp8 */
	{ "Llama-3.1-405B", VC_QUANTIZER_FP8, ATTENTION_MODULES, false },
	/* https://huggingface.co/unsloth: bitsandbytes uploads are double-quantized */
	{ "unsloth/", VC_QUANTIZER_BNB_4BIT, 0, true },
	/* files by llm-compressor leave linear attention alone:
	 * github.com/vllm-project/llm-compressor, examples/quantization_w4a4_fp4 */
	{ "", VC_QUANTIZER_NVFP4, LINEAR_ATTENTION_MODULES, false },
};

static const struct exception *exception_of(const struct vc_model *model,
                                            enum vc_quantizer quantizer)
{
	for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++) {
		if (exceptions[i].quantizer == quantizer &&
		    strstr(model->name, exceptions[i].name)) {
			return &exceptions[i];
		}
	}
	return NULL;
}

/* Heads and towers stay in 16 bits; bitsandbytes alone quantizes the towers' linears too. */
static bool kept(const struct vc_visit *visit, const struct vc_quantization *scheme)
{
	enum vc_stack_role role = visit->stack->role;
	bool tower = role == VC_STACK_VISION || role == VC_STACK_AUDIO;
	bool whole_model = scheme->quantizer == VC_QUANTIZER_BNB_4BIT ||
	                   scheme->quantizer == VC_QUANTIZER_BNB_INT8;

	return !visit->kind || (tower && !whole_model) ||
	       !quantization_touches(scheme, visit->tensor);
}

/* A precision below 16 bits without a scheme is a weight format without scales. */
static struct vc_quantization requested(const struct vc_request *request)
{
	const struct vc_quantization *scheme = request->workload.quantization;
	struct vc_quantization plain = { "", VC_QUANTIZER_PLAIN, request->workload.precision,
		                         .summary = "" };

	if (scheme && scheme->quantizer != VC_QUANTIZER_NONE) {
		return *scheme;
	}
	if (vc_dtype_bytes(request->workload.precision, 64) >= 128) {
		plain.quantizer = VC_QUANTIZER_NONE;
	}
	return plain;
}

struct vc_quantization linear_scheme(const struct vc_request *request, const struct vc_visit *visit,
                                     bool marlin)
{
	struct vc_quantization scheme = requested(request);
	const struct exception *exception = exception_of(request->model, scheme.quantizer);

	if (kept(visit, &scheme) ||
	    (exception && exception->plain_modules >> visit->tensor->module & 1)) {
		scheme.quantizer = VC_QUANTIZER_NONE;
		return scheme;
	}
	if (exception && exception->double_quant) {
		scheme.double_quant = true;
	}
	if (marlin && scheme.quantizer == VC_QUANTIZER_GPTQ) {
		scheme.quantizer = VC_QUANTIZER_COMPRESSED;
	}
	return scheme;
}

struct linear_parts linear_parts(const struct vc_quantization *scheme,
                                 const struct vc_tensor *tensor, enum vc_dtype precision)
{
	/* Below 16 bits a precision is a weight format: the rest stays in 16. */
	enum vc_dtype plain = vc_dtype_bytes(precision, 64) < 128 ? VC_DTYPE_FP16 : precision;
	struct vc_tensor one = *tensor;
	struct linear_parts parts = { { 0 } };
	uint64_t elements = sat_mul(tensor->out, tensor->in);

	one.count = 1;
	one.bias = 0;
	parts.bytes[2] = vc_dtype_bytes(plain, tensor->bias);
	if (scheme->quantizer == VC_QUANTIZER_NONE) {
		parts.bytes[0] = vc_dtype_bytes(plain, elements);
		return parts;
	}
	parts.bytes[0] = vc_dtype_bytes(scheme->dtype, elements);
	parts.bytes[1] = sat_sub(quantized_bytes(scheme, &one, plain), parts.bytes[0]);
	return parts;
}

void linear_parts_scale(struct linear_parts *parts, uint64_t count)
{
	for (size_t i = 0; i < sizeof parts->bytes / sizeof *parts->bytes; i++) {
		parts->bytes[i] = sat_mul(parts->bytes[i], count);
	}
}

void linear_parts_add(struct linear_parts *sum, const struct linear_parts *parts)
{
	for (size_t i = 0; i < sizeof parts->bytes / sizeof *parts->bytes; i++) {
		sum->bytes[i] = sat_add(sum->bytes[i], parts->bytes[i]);
	}
}
