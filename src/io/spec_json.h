/*
 * A short cut for specs in plain JSON, as streams bring by the million: one pass over the text
 * instead of the guard's and libcyaml's. It takes only what needs no judgement (known fields, no
 * escapes, no nulls, nothing twice, every value right) and leaves the rest, mistakes above all, to
 * the guard: what it takes, both read alike.
 */
#ifndef VC_SPEC_JSON_H
#define VC_SPEC_JSON_H

#include "spec_bind.h"

#include <cjson/cJSON.h>

struct vc_spec_json {
	char *text; /* what all texts point into; to be freed when they are done with */
	const char *architecture_text; /* "" without an architecture */
	size_t architecture_length;
	cJSON *architecture; /* the caller's; NULL: none, or the one that the cache has */
	struct vc_model_texts model;
};

/* True when the text was taken: the fields are in `spec`, the rest in `json`. Otherwise nothing has
 * changed. `cache` may be NULL. */
bool vc_spec_json(struct vc_spec *spec, const struct vc_spec_cache *cache,
                  struct vc_spec_json *json);

#endif
