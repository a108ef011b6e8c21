/* A language model and its towers: read_multimodal() and what the families state about the joint.
 */
#ifndef VC_MULTIMODAL_H
#define VC_MULTIMODAL_H

#include "tower.h"

struct join {
	uint32_t text_stack, stack; /* of the language model, of the tower */
	uint64_t text, width;       /* their hidden sizes */
};

typedef void put_join(struct config *config, const struct join *join);

struct multimodal_traits {
	const char *text, *vision; /* read as these where the parts do not say */
	put_join *join;
	const char *vision_names; /* where the tower's config is; NULL: KEY_VISION_CONFIG */
	const char *audio;        /* a second tower's fallback, from audio_config; NULL: none */
};

/* A linear layer of the joint, behind the tower. */
void projector(struct config *config, const struct join *join, uint64_t in, uint64_t out,
               bool bias);
/* Any other elements there: norms, queries, whole resamplers. */
void projector_elements(struct config *config, const struct join *join, uint64_t elements);

/* Joints that several families have: two linear layers; merged patches with a norm. */
put_join join_llava, join_mistral3;

/* family->traits is a struct multimodal_traits. */
family_reader read_multimodal;

#endif
