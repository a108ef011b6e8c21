/* What forward keeps for backward, and what one layer's backward needs. */
#ifndef VC_TRAIN_ACTIVATION_H
#define VC_TRAIN_ACTIVATION_H

#include "shard.h"
#include "train_policy.h"

struct train_activation {
	uint64_t tokens; /* of the language model, on this rank */
	uint64_t hidden;
	uint64_t layers;         /* of the language model, on this rank */
	uint64_t saved_bytes;    /* by all layers of the rank, checkpointing as asked for */
	uint64_t layer_bytes;    /* by the hungriest layer when it keeps everything */
	uint64_t working_bytes;  /* the hungriest layer recomputed and its backward */
	uint64_t boundary_bytes; /* 2 x hidden x tokens: what passes between layers; or images */
	uint64_t image_bytes;    /* convolutions: the largest block's output; 0: there are none */
	bool approximated;       /* some mixer has only a rough figure */
};

void train_activation(const struct vc_request *request, const struct train_policy *policy,
                      const struct rank *rank, struct train_activation *out);

#endif
