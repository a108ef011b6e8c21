/* Which version of transformers a request is for. */
#ifndef VC_TRANSFORMERS_VERSION_H
#define VC_TRANSFORMERS_VERSION_H

#include "vramcalc/vramcalc.h"

/*
 * The stated version; without one the first that knows the model's family, where that is newer than
 * what the laws tell apart, else all zeros: any, so that the hungriest has to be assumed.
 */
struct vc_version transformers_version(const struct vc_request *request);

/* Positions of the rotary tables that each layer holds for itself in that version; 0: none, the
 * model holds one for all. */
uint64_t transformers_layer_positions(const struct vc_request *request);

#endif
