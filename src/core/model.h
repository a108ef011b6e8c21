/* How the estimators see a model: tensors over a range of layers, in whole or as one rank holds
 * them. See vc_model_walk() in the public header for the walk over everything. */
#ifndef VC_MODEL_H
#define VC_MODEL_H

#include "vramcalc/vramcalc.h"

/* Layers begin, begin + 1, ... end - 1 of a stack. */
struct layer_range {
	uint32_t begin, end;
};

struct visitor {
	vc_visitor *call;
	void *context;
};

/* The tensors of some of a stack's layers; what precedes the first layer comes along when the
 * range starts at 0, what follows the last when it ends there. */
void model_walk_range(const struct vc_model *model, uint32_t stack, struct layer_range range,
                      struct visitor visitor);

/* The same layer by layer, for what depends on a layer's place: visit.layer says which, and
 * visit.layers is 1. */
void model_walk_layers(const struct vc_model *model, uint32_t stack, struct layer_range range,
                       struct visitor visitor);

/* counts[k] = layers of kind k in the range. Returns 1 + the highest kind that occurs. */
uint32_t model_kind_layers(const struct vc_stack *stack, struct layer_range range,
                           uint32_t counts[VC_MAX_KINDS]);

/* The most that a layer routes to; 0: none does. */
uint32_t model_experts(const struct vc_model *model);

/* count x (out x in + bias) */
uint64_t tensor_elements(const struct vc_tensor *tensor);

#endif
