/* What two versions of a spec differ in: memory component by component, and the fields behind it.
 */
#ifndef VC_CLI_CHANGE_H
#define VC_CLI_CHANGE_H

#include "session.h"

enum {
	CHANGE_FIELDS = 24,
	CHANGE_TEXT = 64
};

struct change_component {
	enum vc_component component;
	uint64_t old_bytes, new_bytes;
};

/* "workload.sequence_length: 4096 -> 8192" */
struct change_field {
	const char *name;
	char old_value[CHANGE_TEXT], new_value[CHANGE_TEXT];
};

struct change {
	uint64_t old_bytes, new_bytes; /* M on one GPU */
	size_t component_count, field_count;
	struct change_component components[VC_COMPONENT_COUNT];
	struct change_field fields[CHANGE_FIELDS];
};

/* Estimates both by the request's method; `gpu` may be NULL for the rule. */
enum vc_status change_find(const struct vc_request *old, const struct vc_request *new,
                           struct change *change, struct vc_error *error);

/*
 * The earlier version of a spec: base is a file, a folder that holds a file of the same name, or
 * git:REV, for the file as it was in that revision. Says what is wrong and returns false.
 */
bool change_read_base(const struct session *session, const char *base, const char *source,
                      struct vc_spec *spec);

#endif
