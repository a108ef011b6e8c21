/* From the texts that libcyaml has bound to the numbers of struct vc_spec. */
#ifndef VC_SPEC_BIND_H
#define VC_SPEC_BIND_H

#include "spec.h"

/* What the reader still needs of the model section; the texts belong to `raw`. */
struct vc_model_texts {
	const char *name, *config, *weights;
	uint64_t params;                  /* 0: not given */
	const char *roles[VC_ROLE_COUNT]; /* of the models section */
};

/* What is given for one field: a text, a flag, or a list of texts; it has passed its check. */
struct vc_bound {
	size_t index;     /* of the field's row */
	const char *text; /* "" where it is something else */
	bool flag;
	char **texts;
	uint32_t count;
};

/* What holds where nothing is given. */
void vc_spec_bind_defaults(struct vc_spec *spec);
/* Puts a value where it belongs. False when memory ends. */
bool vc_spec_bind_field(const struct vc_bound *bound, struct vc_spec *spec,
                        struct vc_model_texts *model);

/* `raw` has passed the guard with vc_spec_check(). False when memory ends. */
bool vc_spec_bind(void *raw, struct vc_spec *spec, struct vc_model_texts *model);

#endif
