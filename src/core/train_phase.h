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
	/* Of libraries, inside the allocator. */
	struct {
		uint64_t handles, blas; /* cuBLAS: of forward and of backward */
		uint64_t transformer_engine;
	} workspaces;
};

enum train_phase_name {
	TRAIN_PHASE_LOAD,
	TRAIN_PHASE_LOSS,
	TRAIN_PHASE_BACKWARD,
	TRAIN_PHASE_STEP,
	TRAIN_PHASE_COUNT
};

/* Parameters of sharded units: what stays, and layers that come and go. */
struct train_gathered {
	uint64_t kept, units, unit;
};

/* Gradients on their way to other ranks: elements x bytes of each. */
struct train_buckets {
	uint64_t elements, bytes;
};

/* What is alive beside the weights, the master weights and the optimizer's states. */
struct train_phase {
	bool exists;
	bool gradients;   /* all of them */
	uint64_t saved;   /* activations kept for backward */
	uint64_t working; /* a recomputed layer, gradients of activations */
	uint64_t logits;
	uint64_t outputs; /* of other cards, gathered on this one */
	struct train_gathered gathered;
	uint64_t copy;  /* of the optimizer's step */
	uint64_t total; /* allocated, everything */
};

struct train_peak {
	struct train_phase phases[TRAIN_PHASE_COUNT];
	enum train_phase_name name;   /* of the peak */
	uint64_t base;                /* weights, adapters, master weights, states */
	struct train_buckets buckets; /* in every phase */
	uint64_t transient;           /* what forward and backward add to the base */
	uint64_t logit_bytes;         /* per logit */
	uint64_t allocated, context, collectives;
	struct vc_line fragmentation; /* reserved by the allocator beyond `allocated` */
	bool fills_the_card;          /* which limits the fragmentation */
	uint64_t asked;               /* by stock cross-entropy, beyond `transient` */
};

void train_job(const struct vc_request *request, uint32_t stage, struct train_job *job);
/* The model's own code computes the loss from 16-bit logits. */
bool train_loss_is_plain(const struct train_job *job);
/* All logits at so many bytes each; where the loss is fused with the head, what it holds instead.
 */
uint64_t train_logits(const struct train_job *job, uint64_t bytes);
/* What is gathered while one layer runs. */
struct train_gathered train_gathered(const struct train_job *job);
uint64_t train_gathered_bytes(const struct train_gathered *gathered);
uint64_t train_bucket_bytes(const struct train_buckets *buckets);
uint64_t train_workspace_bytes(const struct train_job *job);
void train_peak(const struct train_job *job, struct train_peak *peak);

#endif
