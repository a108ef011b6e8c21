/* Weight bytes of one rank: the walk, each tensor sharded, then quantized or kept.
 * docs/formulas.md#weights */
#include "weights.h"
#include "quantization.h"
#include "sat.h"

struct sum {
	const struct weight_format *format;
	const struct rank *rank;
	struct weights *out;
	bool all_linears; /* MXFP4 of a model without experts */
};

static bool has_experts(const struct vc_model *model)
{
	for (uint32_t i = 0; i < model->kind_count; i++) {
		for (uint32_t j = 0; j < model->kinds[i].ffn_count; j++) {
			if (model->kinds[i].ffns[j].type == VC_FFN_MOE) {
				return true;
			}
		}
	}
	return false;
}

static bool is_tower(const struct vc_visit *visit)
{
	return visit->stack->role == VC_STACK_VISION || visit->stack->role == VC_STACK_AUDIO;
}

static bool touches(const struct sum *sum, const struct vc_visit *visit)
{
	const struct vc_quantization *q = sum->format->quantization;

	if (is_tower(visit) || !q || q->quantizer == VC_QUANTIZER_NONE) {
		return false;
	}
	return quantization_touches(q, visit->tensor) ||
	       (sum->all_linears && visit->tensor->linear);
}

static bool is_expert(const struct vc_tensor *tensor)
{
	return tensor->split == VC_SPLIT_EXPERT_COLUMN || tensor->split == VC_SPLIT_EXPERT_ROW;
}

static void add(uint64_t *sum, uint64_t bytes)
{
	*sum = sat_add(*sum, bytes);
}

static void add_parts(const struct vc_visit *visit, uint64_t bytes, struct weights *out)
{
	add(&out->total_bytes, bytes);
	if (visit->tensor->module == VC_MODULE_EMBEDDING) {
		add(&out->embedding_bytes, bytes);
	} else if (visit->tensor->module == VC_MODULE_LM_HEAD) {
		add(&out->head_bytes, bytes);
	}
	if (is_expert(visit->tensor)) {
		add(&out->expert_bytes, bytes);
	}
	if (is_tower(visit)) {
		add(&out->tower_bytes, bytes);
	}
}

static void add_tensor(const struct vc_visit *visit, void *context)
{
	struct sum *sum = context;
	struct weights *out = sum->out;
	struct vc_tensor tensor;
	uint64_t elements, bytes;

	if (visit->extra && !rank_holds_extra(visit->extra, sum->rank)) {
		return;
	}
	tensor = shard_tensor(visit->tensor, sum->rank);
	elements = sat_mul(visit->layers, tensor_elements(&tensor));
	if (visit->extra && visit->extra->buffer) {
		add(&out->buffer_bytes, vc_dtype_bytes(sum->format->dtype, elements));
		return;
	}
	if (touches(sum, visit)) {
		bytes = sat_mul(visit->layers, quantized_bytes(sum->format->quantization, &tensor,
		                                               sum->format->dtype));
		add(&out->quantized_bytes, bytes);
		add(&out->quantized_elements,
		    sat_sub(elements, sat_mul(visit->layers, tensor.bias)));
	} else {
		bytes = vc_dtype_bytes(sum->format->dtype, elements);
	}
	add(&out->elements, elements);
	add_parts(visit, bytes, out);
	if (tensor.linear && sat_mul(tensor.out, tensor.in) > out->largest_linear_elements) {
		out->largest_linear_elements = sat_mul(tensor.out, tensor.in);
	}
}

void weight_bytes(const struct vc_model *model, const struct weight_format *format,
                  const struct rank *rank, struct weights *out)
{
	struct sum sum = { .format = format, .rank = rank, .out = out };
	struct visitor visitor = { add_tensor, &sum };

	*out = (struct weights){ 0 };
	sum.all_linears = format->quantization &&
	                  format->quantization->quantizer == VC_QUANTIZER_MXFP4 &&
	                  !has_experts(model);
	for (uint32_t i = 0; i < model->stack_count; i++) {
		if (model->stacks[i].role == VC_STACK_MTP && !format->mtp) {
			continue;
		}
		model_walk_range(model, i, rank_range(model, i, rank), visitor);
	}
}
