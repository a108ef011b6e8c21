/* Putting a model together: stacks, layers of which equal kinds are kept once, other tensors. */
#include "family.h"

#include <string.h>

uint32_t config_stack(struct config *config, enum vc_stack_role role, uint64_t hidden_size)
{
	struct vc_model *model = config->model;
	struct vc_stack *stack;

	if (model->stack_count == VC_MAX_STACKS) {
		config_fail(config, "model_type", "has too many parts (expected at most %d)",
		            VC_MAX_STACKS);
		return 0;
	}
	stack = &model->stacks[model->stack_count];
	stack->role = role;
	stack->hidden_size = hidden_size;
	return model->stack_count++;
}

/* Newest first: neighbours are mostly alike. */
static uint32_t find_kind(const struct vc_model *model, const struct vc_layer_kind *kind)
{
	for (uint32_t i = model->kind_count; i > 0; i--) {
		if (memcmp(&model->kinds[i - 1], kind, sizeof *kind) == 0) {
			return i - 1;
		}
	}
	return model->kind_count;
}

void config_layer(struct config *config, uint32_t stack, const struct vc_layer_kind *kind)
{
	struct vc_model *model = config->model;
	struct vc_stack *layers = &model->stacks[stack];
	uint32_t index = find_kind(model, kind);

	if (layers->layers == VC_MAX_LAYERS) {
		config_fail(config, KEY_LAYERS, "has too many layers (expected at most %d)",
		            VC_MAX_LAYERS);
		return;
	}
	if (index == VC_MAX_KINDS) {
		config_fail(config, KEY_LAYERS,
		            "has too many different layers (expected at most %d kinds)",
		            VC_MAX_KINDS);
		return;
	}
	if (index == model->kind_count) {
		memcpy(&model->kinds[index], kind, sizeof *kind);
		model->kind_count++;
	}
	layers->pattern[layers->layers++] = (uint8_t)index;
}

struct vc_extra *config_extra(struct config *config, uint32_t stack, enum vc_module module,
                              uint64_t out, uint64_t in)
{
	struct vc_model *model = config->model;
	struct vc_extra *extra;
	bool table = module == VC_MODULE_EMBEDDING || module == VC_MODULE_LM_HEAD;

	if (model->extra_count == VC_MAX_EXTRAS) {
		config_fail(config, "model_type", "has too many parts (expected at most %d)",
		            VC_MAX_EXTRAS);
		model->extra_count--;
	}
	extra = &model->extras[model->extra_count++];
	/* padding included, so that equal models are equal bytes */
	memset(extra, 0, sizeof *extra);
	extra->tensor.module = module;
	extra->tensor.split = table ? VC_SPLIT_VOCAB : VC_SPLIT_NONE;
	extra->tensor.out = out;
	extra->tensor.in = in;
	extra->tensor.count = 1;
	extra->stack = stack;
	return extra;
}

struct vc_extra *config_extra_last(struct config *config, uint32_t stack, enum vc_module module,
                                   uint64_t out, uint64_t in)
{
	struct vc_extra *extra = config_extra(config, stack, module, out, in);

	extra->last = true;
	return extra;
}

struct vc_tensor *config_odd(struct vc_layer_kind *kind, enum vc_module module, enum vc_split split,
                             uint64_t out, uint64_t in)
{
	uint32_t last = VC_MAX_ODD_TENSORS - 1;
	struct vc_tensor *tensor = &kind->odd[kind->odd_count < last ? kind->odd_count : last];

	kind->odd_count += kind->odd_count <= last;
	memset(tensor, 0, sizeof *tensor);
	tensor->module = module;
	tensor->split = split;
	tensor->out = out;
	tensor->in = in;
	tensor->count = 1;
	tensor->linear = true;
	return tensor;
}

uint64_t norm_size(enum norm_style style, uint64_t hidden)
{
	switch (style) {
	case NORM_NONE:
		return 0;
	case NORM_LAYER:
		return 2 * hidden;
	default:
		return hidden;
	}
}
