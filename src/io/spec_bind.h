/* From the texts that libcyaml has bound to the numbers of struct vc_spec. */
#ifndef VC_SPEC_BIND_H
#define VC_SPEC_BIND_H

#include "spec.h"

/* What the reader still needs of the model section; the texts belong to `raw`. */
struct vc_model_texts {
	const char *name, *config, *weights;
	uint64_t params; /* 0: not given */
};

/* `raw` has passed the guard with vc_spec_check(). False when memory ends. */
bool vc_spec_bind(void *raw, struct vc_spec *spec, struct vc_model_texts *model);

#endif
