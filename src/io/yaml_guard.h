/*
 * What stands between a YAML file and libcyaml, which reads "7B" as 7 and "-1" as 2^64-1, takes any
 * misspelt boolean for true, an empty file for success, and reports mistakes at the wrong line.
 * The guard walks libyaml's events along the same schema tables and refuses, at the exact place,
 * whatever libcyaml would misread; after it libcyaml only binds.
 */
#ifndef VC_YAML_GUARD_H
#define VC_YAML_GUARD_H

#include "errors.h"

struct cyaml_schema_value;
struct cJSON;

enum {
	VC_YAML_DEPTH = 16,      /* nesting of schema levels */
	VC_YAML_TREE_DEPTH = 32, /* nesting inside a free subtree */
	VC_YAML_TREE_NODES = 65536,
	VC_YAML_TREE_KEYS = 1024, /* of one mapping */
	VC_YAML_PATH = 128
};

struct vc_guard_scalar {
	const char *path; /* "workload.batch_size" */
	const char *text;
	bool quoted;
	struct vc_place place;
};

/*
 * A single word where a list of texts belongs ("targets: all-linear") is taken as a list of one.
 * libcyaml cannot: vc_yaml_bracket() puts brackets around what the guard found.
 */
enum {
	VC_YAML_WRAPS = 8
};
struct vc_yaml_wraps {
	uint32_t count;
	size_t begins[VC_YAML_WRAPS], ends[VC_YAML_WRAPS]; /* in characters */
};

struct vc_guard {
	const struct cyaml_schema_value *schema; /* mappings of at most 64 fields */
	const char *file;                        /* for messages */
	const char *path;                        /* of the top value; "" for a whole file */
	bool placeless; /* no line and column: the text is an argument, not a file */
	/* Judges the text of a CYAML_STRING further; adds to the errors what is wrong. May be NULL.
	 */
	void (*check)(const struct vc_guard_scalar *scalar, struct vc_error_list *errors);
	/* Receives what a CYAML_IGNORE field holds, as JSON. NULL: it is skipped. Owned by the
	 * caller, also on failure. */
	struct cJSON **tree;
	struct vc_yaml_wraps *wraps; /* NULL: a list must be written as one */
};

/*
 * Adds every mistake of the text to `errors`; true when there was none. A text that is not
 * well-formed (syntax, encoding, aliases, depth, a second document) is judged on that alone.
 */
bool vc_yaml_guard(const struct vc_guard *guard, const char *text, size_t length,
                   struct vc_error_list *errors);

/* The text with the brackets that are missing; its length in *length. NULL: out of memory. */
char *vc_yaml_bracket(const char *text, size_t *length, const struct vc_yaml_wraps *wraps);

/* "", ~, null: what YAML means by nothing. */
bool vc_yaml_is_null(const char *text);

#endif
