/* The measures that advise searches: when each applies and what it changes. */
#ifndef VC_MEASURE_H
#define VC_MEASURE_H

#include "vramcalc/vramcalc.h"

struct measure_scope {
	uint32_t gpus; /* at hand */
	const struct vc_gpu *gpu;
	const struct vc_gpu *bigger; /* the cheapest GPU with more memory; NULL: none */
};

/* False when the measure would change nothing, or nothing sensible. */
bool measure_applies(enum vc_measure measure, const struct vc_request *request,
                     const struct measure_scope *scope);

/* False when the request's engine has no such measure. */
bool measure_is_known(enum vc_measure measure, const struct vc_request *request,
                      const struct measure_scope *scope);

/* Layers that llama.cpp has on the GPUs and could keep in host memory; by the rule none. */
uint32_t measure_gpu_layers(const struct vc_request *request);

/* Changes the request and writes the settings that say so. */
void measure_apply(enum vc_measure measure, struct vc_request *request,
                   const struct measure_scope *scope, struct vc_step *step);

#endif
