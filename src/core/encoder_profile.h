/* What profiling a multimodal model's tower takes. */
#ifndef VC_ENCODER_PROFILE_H
#define VC_ENCODER_PROFILE_H

#include "vramcalc/vramcalc.h"

struct encoder_profile {
	bool known;            /* the model has a tower that engines profile */
	bool cross_attention;  /* each sequence profiled brings an image of its own */
	uint64_t item_tokens;  /* the most that one image becomes in the language model */
	uint64_t items;        /* profiled at once */
	uint64_t peak_bytes;   /* in the tower */
	uint64_t input_bytes;  /* pixels, kept while the language model runs */
	uint64_t output_bytes; /* embeddings, kept likewise */
};

/* With a budget of `tokens` for embeddings; at least one item is profiled. */
struct encoder_profile encoder_profile(const struct vc_request *request, uint64_t tokens);

/* A family whose rotary positions are three-dimensional (Qwen-VL). */
bool family_has_mrope(const char *family);

/* Positions that all published sizes of a family allow; 0: they differ or are not listed. */
uint64_t family_positions(const char *family);

#endif
