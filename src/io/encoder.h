/* The common encoder of text, read_encoder(), and what its families state about themselves. */
#ifndef VC_ENCODER_H
#define VC_ENCODER_H

#include "block.h"

enum pooling {
	POOL_NONE,
	POOL_DENSE /* a linear layer on the first token, in the bare model and under classifiers */
};

struct encoder_traits {
	enum pooling pooling;
	bool no_positions, no_types, final_norm, no_embedding_norm;
	bool embedding_bias; /* of the projection where embeddings are narrower than layers */
	bool shared;         /* one set of weights for all layers, and always that projection */
	bool no_pooler_under_classifier;
	uint8_t norms;
	uint8_t position_offset; /* rows before the first position */
	void (*block)(struct config *config, struct block *block);
	void (*extras)(struct config *config, uint32_t stack, const struct block *block);
};

/* family->traits is NULL or a struct encoder_traits. */
family_reader read_encoder;

#endif
