/* The phases of a training step, and what the allocator and the driver add to their peak. */
#ifndef VC_TRAIN_PHASE_H
#define VC_TRAIN_PHASE_H

#include "train_activation.h"
#include "train_static.h"

struct train_job {
	const struct vc_request *request;
	const struct train_policy *policy;
	struct rank rank;
	struct train_size size;
	struct train_static held;
	struct train_activation activation;
	uint64_t workspaces; /* cuBLAS's, inside the allocator */
};

enum train_phase_name {
	TRAIN_PHASE_LOSS,
	TRAIN_PHASE_BACKWARD,
	TRAIN_PHASE_STEP,
	TRAIN_PHASE_COUNT
};

/* What is alive beside the weights, the master weights and the optimizer's states. */
struct train_phase {
	bool exists;
	bool gradients;   /* all of them */
	uint64_t saved;   /* activations kept for backward */
	uint64_t working; /* a recomputed layer, gradients of activations */
	uint64_t logits;
	uint64_t gathered; /* parameters of sharded units */
	uint64_t copy;     /* of the optimizer's step */
	uint64_t total;    /* allocated, everything */
};

struct train_peak {
	struct train_phase phases[TRAIN_PHASE_COUNT];
	enum train_phase_name name; /* of the peak */
	uint64_t base;              /* weights, adapters, master weights, states */
	uint64_t buckets;           /* gradients on their way, in every phase */
	uint64_t transient;         /* what forward and backward add to the base */
	uint64_t logit_bytes;       /* per logit */
	uint64_t allocated, fragmentation, context, collectives;
};

void train_job(const struct vc_request *request, uint32_t stage, struct train_job *job);
/* The model's own code computes the loss from 16-bit logits. */
bool train_loss_is_plain(const struct train_job *job);
void train_peak(const struct train_job *job, struct train_peak *peak);

#endif
