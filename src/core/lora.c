#include "lora.h"

#include "sat.h"

struct adapters {
	const struct vc_lora *lora;
	bool towers; /* the model is nothing but a tower */
	uint64_t params;
};

bool lora_is_target(const struct vc_lora *lora, const struct vc_tensor *tensor)
{
	const uint64_t q = 1ull << VC_MODULE_Q;
	uint64_t modules = lora->target_modules;

	if (lora->all_linear) {
		return tensor->linear;
	}
	/* Where queries, keys and values are one matrix, an adapter sits on all of it. */
	if (modules & q) {
		modules |= 1ull << VC_MODULE_QKV;
	}
	return modules >> tensor->module & 1;
}

static void count_adapter(const struct vc_visit *visit, void *context)
{
	struct adapters *adapters = context;
	const struct vc_tensor *tensor = visit->tensor;
	bool language =
	        visit->stack->role == VC_STACK_DECODER || visit->stack->role == VC_STACK_ENCODER;
	uint64_t each;

	if (!(language || adapters->towers) || !lora_is_target(adapters->lora, tensor) ||
	    (visit->extra && (adapters->lora->all_linear || visit->extra->buffer))) {
		return;
	}
	each = sat_mul(adapters->lora->rank, sat_add(tensor->in, tensor->out));
	if (adapters->lora->dora) {
		each = sat_add(each, tensor->out);
	}
	adapters->params = sat_add(adapters->params, sat_mul3(each, tensor->count, visit->layers));
}

uint64_t vc_lora_params(const struct vc_model *model, const struct vc_lora *lora)
{
	struct adapters adapters = { .lora = lora, .towers = model->stack_count == 1 };

	vc_model_walk(model, count_adapter, &adapters);
	return adapters.params;
}
