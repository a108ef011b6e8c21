/* --set FIELD=VALUE: one value through the same guard and the same binding as a file's. */
#ifndef VC_SPEC_OVERRIDE_H
#define VC_SPEC_OVERRIDE_H

#include "spec_schema.h"
#include "yaml_guard.h"

struct cJSON;

enum {
	VC_OVERRIDE_ORIGIN = 40
};

struct vc_override {
	char origin[VC_OVERRIDE_ORIGIN];   /* the option that errors name: "--set"; or "the log" */
	const cyaml_schema_field_t *field; /* NULL: a key of model.architecture */
	char path[VC_YAML_PATH];
	char *text; /* the value, as libcyaml takes it */
	size_t length;
	struct cJSON *tree; /* of a key of model.architecture */
};

/*
 * Reads and checks "workload.batch_size=8", or "--batch-size:workload.batch_size=8" where another
 * option than --set stands for it, "the log:..." where a log does. On failure there is nothing to
 * drop.
 */
bool vc_override_read(const char *argument, struct vc_override *override,
                      struct vc_error_list *errors);

/* Puts the value into a bound spec, in place of what is there. */
bool vc_override_bind(const struct vc_override *override, void *raw);

/* Puts a key of model.architecture into a tree of such keys. */
bool vc_override_graft(struct vc_override *override, struct cJSON *tree);

void vc_override_drop(struct vc_override *override);

#endif
