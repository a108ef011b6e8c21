/* How many elements one rank of a training job holds, and of what kind. */
#ifndef VC_TRAIN_SIZE_H
#define VC_TRAIN_SIZE_H

#include "shard.h"

struct train_size {
	uint64_t params;          /* everything on the rank, a tied table once */
	uint64_t embedding, head; /* of them; head 0 where it is tied or on another stage */
	uint64_t linears;         /* of them in the blocks' matrix multiplications */
	uint64_t unit, unit_linears, unit_quantized_bytes; /* of the largest layer */
	uint64_t vectors;                                  /* norms and biases */
	uint64_t factors;         /* rows and columns of all matrices: Adafactor's states */
	uint64_t low_rank;        /* elements of GaLore's projections and moments */
	uint64_t adapters;        /* low-rank adapters */
	uint64_t saved;           /* tables that are trained whole beside adapters */
	uint64_t quantized_bytes; /* the linears in the quantization scheme, scales included */
	uint64_t scale_bytes;     /* of them: scales and zeros */
	uint64_t vocabulary;      /* rows of the head: logits per token */
};

enum {
	TRAIN_GALORE_RANK = 128 /* github.com/jiaweizzhao/GaLore, the README's settings */
};

/* What a rank holds of the request's model. `untied`: a tied head counts as a second table. */
void train_size(const struct vc_request *request, const struct rank *rank, bool untied,
                struct train_size *size);

#endif
