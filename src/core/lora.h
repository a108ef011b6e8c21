/* Low-rank adapters: how many parameters they add. */
#ifndef VC_LORA_H
#define VC_LORA_H

#include "vramcalc/vramcalc.h"

/* Whether adapters sit on a tensor; all-linear means those inside the layers. */
bool lora_is_target(const struct vc_lora *lora, const struct vc_tensor *tensor);

/*
 * rank x (in + out) for every target of the language model (arxiv.org/abs/2106.09685), and a
 * magnitude per output where DoRA is asked for (arxiv.org/abs/2402.09353). 0 without a shape.
 */
uint64_t vc_lora_params(const struct vc_model *model, const struct vc_lora *lora);

#endif
