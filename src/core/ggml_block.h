/* Building the graph that llama.cpp reserves at start, block by block. Core-private. */
#ifndef VC_GGML_BLOCK_H
#define VC_GGML_BLOCK_H

#include "ggml_graph.h"
#include "vramcalc/vramcalc.h"

/* Where the feed-forward part of a layer stands to its attention. */
enum ggml_order {
	ORDER_SEQUENTIAL,
	ORDER_PARALLEL,      /* one norm for both (Cohere) */
	ORDER_PARALLEL_NEOX, /* a norm each, feed-forward from the residual */
	ORDER_PARALLEL_FALCON,
	ORDER_PARALLEL_PHI
};

/* When the last layer drops the tokens whose logits nobody asked for. */
enum ggml_outputs {
	OUTPUTS_IN_LAST_LAYER,
	OUTPUTS_AFTER_LAYERS, /* gpt-oss keeps the last layer's result for a draft model */
	OUTPUTS_AFTER_NORM    /* so does Qwen3-Next, after the norm */
};

/* What a model's graph in llama.cpp has that its shape does not tell. */
struct ggml_family {
	const char *model_type;
	enum ggml_order order;
	enum ggml_outputs outputs;
	bool layer_norm;     /* mean and variance rather than root mean square: not in place */
	bool post_norms;     /* norms behind attention and feed-forward, before the sums */
	bool no_pre_norms;   /* and none before them */
	bool norm_all_heads; /* queries and keys are normalized over all heads at once */
	bool scales_embedding, scales_queries, caps_scores, caps_logits, scales_logits;
	bool residual_first;      /* order of the last sum's operands */
	bool residuals_first;     /* of both sums' */
	bool splits_fused;        /* files hold queries, keys and values apart */
	bool plain_norms;         /* norms have no weights */
	bool full_window;         /* llama.cpp keeps every token although the model has a window */
	uint8_t rotary_skips;     /* every so many-th layer has no rotary positions; 0: all have */
	uint8_t deepstack_layers; /* the first so many add features of images, zeros for text */
	bool position_sections;   /* four positions a token: time, height, width */
	bool learned_positions;   /* added to the embedded tokens */
	bool rotary_in_windows;   /* layers without a window have no rotary positions */
	bool normalizes_chosen;   /* weights of the chosen experts sum to 1 */
	bool softmax_chosen;      /* and are formed after the choice */
	bool biases_choice;       /* a correction bias before the choice */
	bool scales_chosen;       /* and a factor behind it */
	bool mxfp4_experts;       /* experts are published in MXFP4 and stay in it */
	bool expanded_latent;     /* public files hold whole keys and values, not latents */
};

/* NULL is never returned: unknown families get the commonest traits. */
const struct ggml_family *ggml_family_of(const struct vc_model *model);

/* One worst-case batch, as llama.cpp reserves for it. */
struct ggml_run {
	uint64_t tokens, outputs;
	uint64_t cells, window_cells; /* of one stream */
	bool flash, quantized_cache, latent_cache;
	bool without_output; /* another device holds the head */
	/* Older graphs: gates applied in two operations, masks for flash attention narrowed on the
	 * device. */
	bool separate_gates, wide_masks;
	uint32_t copies; /* of every input, where several devices work in turn; 0: 1 */
	/* Experts' matrices lie in host memory: what one takes that is copied over. */
	uint64_t expert_copy_bytes;
};

struct ggml_builder {
	struct graph graph;
	const struct vc_model *model;
	const struct vc_stack *stack;
	const struct ggml_family *family;
	const struct ggml_run *run;
	uint64_t hidden, tokens;
	/* inputs of the device, NO_NODE where the graph has none */
	int positions, outputs, state_ids, other_ids;
	struct ggml_cache_inputs {
		int rotate_keys, rotate_values;
		int keys, values, mask;
		int wide_mask; /* what the mask is narrowed from, until that is done */
	} full, window;
	bool two_caches;
	/* the layers in the order in which they are laid out */
	uint8_t order[VC_MAX_LAYERS];
	uint32_t order_count, at;
	int query_gate; /* of the attention at hand */
	int conv_state; /* of a later layer, read ahead */
	int features;   /* of images, beside the embedded tokens */
	int to_pick;    /* the last residual, where its rows are picked before the mixer ends */
	bool first_layer;
};

static inline struct shape shape_of(uint64_t a, uint64_t b, uint64_t c)
{
	return (struct shape){ a, b, c };
}

/* x times a weight matrix, plus a bias. */
int ggml_linear(struct ggml_builder *builder, int x, struct shape shape, bool bias);
int ggml_norm(struct ggml_builder *builder, int x, struct shape shape);
/* A norm by root mean square whatever the family's. */
int ggml_rms_norm(struct ggml_builder *builder, int x, struct shape shape);
/* llama.cpp builds lazily: at some points what is pending runs, and with it the next recurrent
 * layer's look at its state. `behind_experts`: such a point after the experts. */
void ggml_settle(struct ggml_builder *builder, bool behind_experts);

int ggml_attention(struct ggml_builder *builder, const struct vc_mixer *mixer, int x);
/* Undoes the values' rotation, applies the output gate: where the result is projected. */
int ggml_finish_attention(struct ggml_builder *builder, const struct vc_mixer *mixer, int x);
int ggml_latent(struct ggml_builder *builder, const struct vc_mixer *mixer, int x);
/* State-space, linear attention, convolution. */
int ggml_recurrent(struct ggml_builder *builder, const struct vc_mixer *mixer, int x);
bool ggml_is_recurrent(const struct vc_mixer *mixer);
/* Reads a recurrent layer's convolution state. */
int ggml_conv_state(struct ggml_builder *builder, const struct vc_mixer *mixer);
int ggml_feed_forward(struct ggml_builder *builder, const struct vc_ffn *ffn, int x,
                      uint64_t tokens);

/* The largest power of two that divides the head size, at least 64: how wide the rotations of
 * quantized keys are. */
uint64_t ggml_rotation_width(uint64_t head_dim);

#endif
