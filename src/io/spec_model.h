/* The model section of a spec: from its layers of config keys to one struct vc_model. */
#ifndef VC_SPEC_MODEL_H
#define VC_SPEC_MODEL_H

#include "spec_bind.h"

struct cJSON;

/* Everything that says something about the model. A later tree wins over an earlier one. */
struct vc_model_input {
	struct vc_model_texts texts;
	const char *folder;         /* what paths are relative to; NULL: here */
	const char *weights;        /* weights that are the SPEC itself */
	struct cJSON *config;       /* a config.json that is the SPEC itself; owned by the caller */
	struct cJSON *architecture; /* the spec's own keys; owned by the caller */
	struct cJSON *overrides;    /* from --set; owned by the caller */
	bool bundled;
	bool offline; /* weights on a hub come from the cache or not at all */
	/* Where the model of the last spec is kept, and the text of this one's architecture; NULL
	 * unless nothing else says anything about the model's shape. */
	struct vc_spec_cache *cache;
	const char *text;
	size_t length;
};

/* Whether the cache's model is the one of this architecture; `cache` may be NULL. */
bool vc_spec_cache_has(const struct vc_spec_cache *cache, const char *text, size_t length);

enum vc_status vc_spec_model(const struct vc_model_input *input, struct vc_spec *spec,
                             struct vc_error_list *errors);

/* A config.json's text as a tree: UTF-8 is demanded, and Python's Infinity is let through. */
struct cJSON *vc_config_parse(char *text, size_t length, struct vc_error *error);

/* The first key that an object anywhere in the tree has twice; NULL: none. */
const char *vc_config_duplicate(const struct cJSON *tree);

#endif
