/* Weight bytes of one rank: the walk, each tensor sharded, then quantized or kept.
 * docs/formulas.md#weights */
#include "weights.h"
#include "file_weights.h"
#include "gguf_mixture.h"
#include "model.h"
#include "quantization.h"
#include "sat.h"

enum {
	SAME_PARAMS_FRACTION = 1000 /* file and shape are one model when they differ by less */
};

struct sum {
	const struct weight_format *format;
	const struct rank *rank;
	struct weights *out;
	bool all_linears; /* MXFP4 of a model without experts */
};

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

static void walk_rank(const struct vc_model *model, struct sum *sum)
{
	struct visitor visitor = { add_tensor, sum };

	for (uint32_t i = 0; i < model->stack_count; i++) {
		if (model->stacks[i].role != VC_STACK_MTP || sum->format->mtp) {
			model_walk_range(model, i, rank_range(model, i, sum->rank), visitor);
		}
	}
}

/* What every tensor takes by the shape, on one rank. */
static struct weights whole_by_shape(const struct vc_model *model,
                                     const struct weight_format *format, bool all_linears)
{
	struct rank whole = { .tensor = 1 };
	struct weights all = { 0 };
	struct sum sum = {
		.format = format, .rank = &whole, .out = &all, .all_linears = all_linears
	};

	walk_rank(model, &sum);
	return all;
}

/* A mixture's types depend on each tensor's place in the whole file; of that a rank holds its
 * share of the elements. */
static void scale_mixture(const struct vc_model *model, const struct sum *sum)
{
	struct gguf_format format = { .dtype = sum->format->dtype,
		                      .quantization = sum->format->quantization };
	struct gguf_weights file;
	struct weights all;

	if (!gguf_weights(model, &format, &file)) {
		return;
	}
	all = whole_by_shape(model, sum->format, false);
	if (all.elements > 0) {
		uint64_t share =
		        sat_div_up(sat_mul(sum->out->elements, WEIGHTS_SHARE), all.elements);

		uint64_t both = sat_add(file.total_bytes, gguf_vision_bytes(model));

		sum->out->total_bytes = sat_scale_up(both, share, WEIGHTS_SHARE);
		sum->out->quantized_bytes = sum->out->total_bytes;
	}
}

static bool quantizes_all_linears(const struct vc_model *model,
                                  const struct vc_quantization *quantization)
{
	return quantization && quantization->quantizer == VC_QUANTIZER_MXFP4 &&
	       model_experts(model) == 0;
}

uint64_t weights_file_share(const struct vc_model *model, const struct weight_format *format)
{
	const struct vc_file_weights *file = &model->file;
	struct weights all;
	uint64_t apart;

	if (model->source != VC_SOURCE_SAFETENSORS || !file->quantized ||
	    !file_weights_hold(model, format->dtype, format->quantization)) {
		return WEIGHTS_SHARE;
	}
	all = whole_by_shape(model, format, quantizes_all_linears(model, format->quantization));
	apart = all.elements > file->params ? all.elements - file->params
	                                    : file->params - all.elements;
	if (all.total_bytes == 0 || all.total_bytes == file->total_bytes ||
	    apart > file->params / SAME_PARAMS_FRACTION) {
		return WEIGHTS_SHARE;
	}
	return sat_div_up(sat_mul(file->total_bytes, WEIGHTS_SHARE), all.total_bytes);
}

static void scale_to_file(const struct vc_model *model, const struct weight_format *format,
                          struct weights *out)
{
	uint64_t share = weights_file_share(model, format);
	uint64_t total = sat_scale_up(out->total_bytes, share, WEIGHTS_SHARE);
	uint64_t untouched = sat_sub(out->total_bytes, out->quantized_bytes);

	out->total_bytes = total;
	out->quantized_bytes = sat_sub(total, untouched);
}

void weight_bytes(const struct vc_model *model, const struct weight_format *format,
                  const struct rank *rank, struct weights *out)
{
	struct sum sum = { .format = format, .rank = rank, .out = out };
	const struct vc_quantization *q = format->quantization;

	*out = (struct weights){ 0 };
	sum.all_linears = quantizes_all_linears(model, q);
	walk_rank(model, &sum);
	if (q && q->quantizer == VC_QUANTIZER_GGUF) {
		scale_mixture(model, &sum);
	} else {
		scale_to_file(model, format, out);
	}
}
