/* The shape of a spec as libcyaml binds it: texts and flags, a NULL wherever nothing is given. What
 * a text must hold is in the table of fields (spec_fields.c). */
#ifndef VC_SPEC_SCHEMA_H
#define VC_SPEC_SCHEMA_H

#include <cyaml/cyaml.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	VC_SPEC_TEXT = 512, /* bytes of the longest text */
	VC_SPEC_LIST = 256  /* entries of the longest list */
};

/* What every field of a spec resolves to: a member of one of the structs in spec_schema.c. */
extern const cyaml_schema_value_t vc_spec_schema;

/* Every call of libcyaml is made with this: no aliases, nothing logged. */
extern const cyaml_config_t vc_spec_cyaml;

struct vc_raw_list {
	char **texts;
	uint32_t count;
};

/*
 * The schema of the field at a dotted path, and where in `raw` (a bound spec) its pointer is held:
 * NULL in *slot when a section above it is not given. NULL when there is no such field.
 * With `make`, missing sections are made.
 */
const cyaml_schema_field_t *vc_spec_slot(void *raw, const char *path, bool make, void ***slot);

/* The number of entries beside a list's slot. */
uint32_t *vc_spec_list_count(const cyaml_schema_field_t *field, void **slot);

#endif
