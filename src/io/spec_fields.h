/* What the table of a spec's fields tells the reader beyond what vc_spec_field tells everybody. */
#ifndef VC_SPEC_FIELDS_H
#define VC_SPEC_FIELDS_H

#include "quantity.h"
#include "spec.h"
#include "yaml_guard.h"

/* How a value is kept in struct vc_spec. */
enum vc_store {
	VC_STORE_NONE, /* in a way of its own */
	VC_STORE_BOOL,
	VC_STORE_U32,
	VC_STORE_U64,
	VC_STORE_ENUM
};

struct vc_field_row {
	struct vc_spec_field field;
	enum vc_store store;
	size_t offset; /* in struct vc_spec */
};

const struct vc_field_row *vc_field_row_at(size_t index);
/* Without regard to a list's index: "hardware.gpus[2]" is "hardware.gpus". */
const struct vc_field_row *vc_field_row_by_path(const char *path, size_t *index);

enum {
	VC_NO_CHOICE = -1
};

/* The value behind a choice's name, VC_NO_CHOICE when there is none. */
long vc_choice_value(const struct vc_choices *choices, const char *name);
const char *vc_choice_at(const struct vc_choices *choices, size_t index);

/* A check for the guard: adds what is wrong with a text by its field's kind, range and choices. */
void vc_spec_check(const struct vc_guard_scalar *scalar, struct vc_error_list *errors);

/* How texts of COUNT, BYTES, RATIO and MONEY are read. */
enum vc_quantity vc_field_quantity(enum vc_field_kind kind);

/* "0.11.2", "v0.8.5.post1", "b4567". */
bool vc_version_parse(const char *text, struct vc_version *version);

#endif
