/*
 * Walking and counting a model: kinds of layer times how many layers have them, so that the cost
 * does not grow with depth. docs/formulas.md#parameters
 */
#include "model.h"
#include "sat.h"

#include <string.h>

bool vc_model_has_shape(const struct vc_model *model)
{
	for (uint32_t i = 0; i < model->stack_count; i++) {
		if (model->stacks[i].layers > 0) {
			return true;
		}
	}
	return false;
}

uint32_t model_kind_layers(const struct vc_stack *stack, struct layer_range range,
                           uint32_t counts[VC_MAX_KINDS])
{
	uint32_t kinds = 0;

	memset(counts, 0, VC_MAX_KINDS * sizeof counts[0]);
	for (uint32_t i = range.begin; i < range.end && i < stack->layers; i++) {
		uint32_t kind = stack->pattern[i] % VC_MAX_KINDS;

		counts[kind]++;
		kinds = kind + 1 > kinds ? kind + 1 : kinds;
	}
	return kinds;
}

static void walk_extras(const struct vc_model *model, uint32_t stack, bool last,
                        struct visitor visitor)
{
	for (uint32_t i = 0; i < model->extra_count; i++) {
		const struct vc_extra *extra = &model->extras[i];
		struct vc_visit visit = { .tensor = &extra->tensor,
			                  .stack = &model->stacks[extra->stack],
			                  .extra = extra,
			                  .layers = 1 };

		if (extra->stack == stack && extra->last == last) {
			visitor.call(&visit, visitor.context);
		}
	}
}

/* `layers` of them from the `first` on. */
static void walk_kind(const struct vc_stack *stack, const struct vc_layer_kind *kind,
                      struct layer_range place, struct visitor visitor)
{
	struct vc_tensor tensors[VC_MAX_LAYER_TENSORS];
	size_t count = vc_layer_tensors(kind, stack->hidden_size, tensors);

	for (size_t i = 0; i < count; i++) {
		struct vc_visit visit = { .tensor = &tensors[i],
			                  .stack = stack,
			                  .kind = kind,
			                  .layers = place.end - place.begin,
			                  .layer = place.begin };

		visitor.call(&visit, visitor.context);
	}
}

static uint32_t first_layer(const struct vc_stack *stack, struct layer_range range, uint32_t kind)
{
	uint32_t layer = range.begin;

	while (layer < range.end && stack->pattern[layer] != kind) {
		layer++;
	}
	return layer;
}

void model_walk_range(const struct vc_model *model, uint32_t stack, struct layer_range range,
                      struct visitor visitor)
{
	const struct vc_stack *layers = &model->stacks[stack];
	uint32_t counts[VC_MAX_KINDS];
	uint32_t kinds = model_kind_layers(layers, range, counts);

	if (range.begin == 0) {
		walk_extras(model, stack, false, visitor);
	}
	for (uint32_t i = 0; i < kinds; i++) {
		uint32_t first = first_layer(layers, range, i);
		uint32_t held = layers->shared_weights && counts[i] > 0 ? 1 : counts[i];

		if (held > 0) {
			walk_kind(layers, &model->kinds[i],
			          (struct layer_range){ first, first + held }, visitor);
		}
	}
	if (range.end >= layers->layers) {
		walk_extras(model, stack, true, visitor);
	}
}

void model_walk_layers(const struct vc_model *model, uint32_t stack, struct layer_range range,
                       struct visitor visitor)
{
	const struct vc_stack *layers = &model->stacks[stack];
	uint32_t held =
	        layers->shared_weights && range.end > range.begin ? range.begin + 1 : range.end;

	if (range.begin == 0) {
		walk_extras(model, stack, false, visitor);
	}
	for (uint32_t i = range.begin; i < held; i++) {
		walk_kind(layers, &model->kinds[layers->pattern[i] % VC_MAX_KINDS],
		          (struct layer_range){ i, i + 1 }, visitor);
	}
	if (range.end >= layers->layers) {
		walk_extras(model, stack, true, visitor);
	}
}

void vc_model_walk(const struct vc_model *model, vc_visitor *visitor, void *context)
{
	for (uint32_t i = 0; i < model->stack_count; i++) {
		model_walk_range(model, i, (struct layer_range){ 0, model->stacks[i].layers },
		                 (struct visitor){ visitor, context });
	}
}

uint64_t tensor_elements(const struct vc_tensor *tensor)
{
	return sat_mul(tensor->count, sat_add(sat_mul(tensor->out, tensor->in), tensor->bias));
}

static void count_tensor(const struct vc_visit *visit, void *context)
{
	const struct vc_tensor *tensor = visit->tensor;
	struct vc_counts *counts = context;
	uint64_t each, active;

	if (visit->extra && (visit->extra->tied || visit->extra->buffer)) {
		return;
	}
	each = sat_mul(visit->layers, sat_add(sat_mul(tensor->out, tensor->in), tensor->bias));
	if (visit->stack->role == VC_STACK_MTP) {
		counts->mtp = sat_add(counts->mtp, sat_mul(each, tensor->count));
		return;
	}
	active = tensor->active && tensor->active < tensor->count ? tensor->active : tensor->count;
	counts->total = sat_add(counts->total, sat_mul(each, tensor->count));
	counts->active = sat_add(counts->active, sat_mul(each, active));
}

enum vc_status vc_model_count(const struct vc_model *model, struct vc_counts *counts,
                              struct vc_error *error)
{
	*counts = (struct vc_counts){ 0 };
	if (!vc_model_has_shape(model)) {
		counts->total = model->params;
		counts->active = model->params;
	} else {
		vc_model_walk(model, count_tensor, counts);
	}
	if (sat_ok(counts->total) && sat_ok(counts->mtp)) {
		return VC_OK;
	}
	*error = (struct vc_error){ .status = VC_OVERFLOW,
		                    .field = "model",
		                    .message = "the number of parameters exceeds 2^63-1" };
	return VC_OVERFLOW;
}

static const char *const module_names[VC_MODULE_COUNT] = {
	[VC_MODULE_OTHER] = "other",
	[VC_MODULE_EMBEDDING] = "embed_tokens",
	[VC_MODULE_POSITION] = "position_embeddings",
	[VC_MODULE_LM_HEAD] = "lm_head",
	[VC_MODULE_NORM] = "norm",
	[VC_MODULE_Q] = "q_proj",
	[VC_MODULE_K] = "k_proj",
	[VC_MODULE_V] = "v_proj",
	[VC_MODULE_QKV] = "qkv_proj",
	[VC_MODULE_O] = "o_proj",
	[VC_MODULE_Q_DOWN] = "q_a_proj",
	[VC_MODULE_KV_DOWN] = "kv_a_proj_with_mqa",
	[VC_MODULE_Q_UP] = "q_b_proj",
	[VC_MODULE_KV_UP] = "kv_b_proj",
	[VC_MODULE_INDEXER] = "indexer",
	[VC_MODULE_GATE] = "gate_proj",
	[VC_MODULE_UP] = "up_proj",
	[VC_MODULE_GATE_UP] = "gate_up_proj",
	[VC_MODULE_DOWN] = "down_proj",
	[VC_MODULE_ROUTER] = "router",
	[VC_MODULE_EXPERT_GATE] = "experts.gate_proj",
	[VC_MODULE_EXPERT_UP] = "experts.up_proj",
	[VC_MODULE_EXPERT_DOWN] = "experts.down_proj",
	[VC_MODULE_SHARED_GATE] = "shared_expert.gate_proj",
	[VC_MODULE_SHARED_UP] = "shared_expert.up_proj",
	[VC_MODULE_SHARED_DOWN] = "shared_expert.down_proj",
	[VC_MODULE_SSM_IN] = "in_proj",
	[VC_MODULE_SSM_OUT] = "out_proj",
	[VC_MODULE_SSM_OTHER] = "ssm",
	[VC_MODULE_CONV] = "conv",
	[VC_MODULE_PROJECTOR] = "projector",
	[VC_MODULE_POOLER] = "pooler",
};

const char *vc_module_name(enum vc_module module)
{
	return module < VC_MODULE_COUNT ? module_names[module] : "other";
}

uint32_t model_experts(const struct vc_model *model)
{
	uint32_t experts = 0;

	for (uint32_t k = 0; k < model->kind_count; k++) {
		for (uint32_t f = 0; f < model->kinds[k].ffn_count; f++) {
			const struct vc_ffn *ffn = &model->kinds[k].ffns[f];

			if (ffn->type == VC_FFN_MOE && ffn->experts > experts) {
				experts = ffn->experts;
			}
		}
	}
	return experts;
}
