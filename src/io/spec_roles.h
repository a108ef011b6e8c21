/* The models section of a spec: other SPECs that share the policy's GPUs. */
#ifndef VC_SPEC_ROLES_H
#define VC_SPEC_ROLES_H

#include "spec_model.h"

/* Reads what the section names; adds errors at its fields. Without the section it does nothing. */
bool vc_spec_roles_read(const struct vc_model_input *input, struct vc_spec *spec,
                        const struct vc_spec_options *options, struct vc_error_list *errors);
void vc_spec_roles_free(struct vc_spec_roles *roles);

#endif
