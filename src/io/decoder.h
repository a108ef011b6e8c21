/* The common decoder's facts and steps, for the families whose own functions join in. */
#ifndef VC_DECODER_H
#define VC_DECODER_H

#include "family.h"

enum layer_type {
	LAYER_FULL,
	LAYER_SLIDING,
	LAYER_CHUNKED,
	LAYER_LINEAR, /* linear attention, state-space, convolution: the family's own mixer */
	LAYER_HYBRID, /* that and attention */
	LAYER_FFN,    /* a feed-forward part alone */
	LAYER_MOE     /* experts alone */
};

/* What a decoder has read from its keys, before its layers are laid out. */
struct decoder {
	const struct family *family;
	uint64_t hidden, layers, heads, kv_heads, head_dim, ffn_size, vocab, positions;
	uint64_t window, period; /* sliding window; every period-th layer attends to all */
	uint64_t experts, experts_per_token, expert_size, shared_size;
	const cJSON *heads_list, *kv_heads_list, *ffn_list; /* where they differ by layer */
	bool tied;
	uint32_t stack;
	uint8_t types[VC_MAX_LAYERS]; /* enum layer_type */
	uint8_t moe[VC_MAX_LAYERS];   /* 1: the layer's feed-forward part is expert_ffn */
	struct vc_layer_kind base;    /* a layer with full attention and the dense feed-forward */
	struct vc_ffn expert_ffn;
};

/* For traits.slides */
bool slides_always(const struct decoder *d, uint32_t layer);
bool slides_but_every_nth(const struct decoder *d, uint32_t layer);

/* Steps of read_decoder(): what the keys say of each layer. */
void decoder_read_types(struct config *config, struct decoder *d);
void decoder_read_moe(struct config *config, struct decoder *d);
void decoder_by_layer(struct config *config, const struct decoder *d, uint32_t layer,
                      struct vc_layer_kind *kind);
/* A count, or a list of one per layer: then the first, and the list. */
uint64_t config_count_by_layer(struct config *config, const char *names, uint64_t layers,
                               const cJSON **list);

/* One layer as the traits and the patterns have it. */
void decoder_layer(struct config *config, const struct decoder *d, uint32_t layer,
                   struct vc_layer_kind *kind);

/* Next-token-prediction layers like the last one, each with a projection of hidden state and
 * embedding side by side and three norms; `copies`: with embedding and head of their own
 * (DeepSeek-V3, arXiv 2412.19437, section 2.2). */
void decoder_mtp(struct config *config, const struct decoder *d, uint64_t layers, bool copies);
/* For traits.extras: as many as the config states. */
void extras_mtp(struct config *config, const struct decoder *d);
void extras_mtp_copies(struct config *config, const struct decoder *d);

#endif
