/* The weights of one rank as a serving engine on PyTorch holds them: tensors fused, padded, divided
 * and quantized, each rounded by the allocator. */
#ifndef VC_SERVING_WEIGHTS_H
#define VC_SERVING_WEIGHTS_H

#include "shard.h"

enum latent_copies {
	LATENT_COPIES_NONE,
	LATENT_COPIES_ABSORBED, /* W_Q_UK, W_UV_O, W_QR beside the originals */
	LATENT_COPIES_SPLIT     /* W_UK_T and W_UV in 16 bits */
};

/* How an engine holds weights. */
struct weight_traits {
	uint32_t vocab_multiple; /* rows of a table are padded to it before they divide */
	enum latent_copies latent_copies;
	bool marlin;                    /* kernels that drop zeros of symmetric GPTQ files */
	uint32_t mxfp4_hidden_multiple; /* kernels pad experts; 1: not at all */
	uint32_t mxfp4_width_multiple;
	bool remainder_on_last_stage; /* layers that do not divide over pipeline stages */
	bool rotary_per_layer;        /* Gemma-2's own rotary module */
	uint32_t rotary_factor;       /* positions of the table over the model's; 0: 1 */
	uint32_t rotary_stretch;      /* linear scaling: of the first table alone; 0: 1 */
	uint32_t rotary_tables;       /* at least so many distinct ones */
	uint64_t rotary_positions;    /* at least so many */
};

struct serving_weights {
	uint64_t tensor_bytes;    /* before rounding */
	uint64_t allocated_bytes; /* torch.cuda.memory_allocated() */
	uint64_t reserved_bytes;  /* what the device has less */
	uint64_t elements;        /* parameters of the rank */
	struct layer_range range; /* of the decoder, on the fullest pipeline stage */
	bool last;                /* that stage is the last: it samples */
};

/* Whether the model's own next-token layers draft. */
bool serving_drafts_itself(const struct vc_request *request);

/* Layers with a cache that draft tokens: 0 without speculative decoding. */
uint32_t serving_draft_layers(const struct vc_request *request);

/* Slots for LoRA adapters in 16 bits beside the linears of a stage's layers: an input half of the
 * tensor's input and an output half of its output, each divided as the tensor is. */
uint64_t serving_lora_bytes(const struct vc_request *request, struct layer_range range,
                            bool experts);

/* Of the fullest pipeline stage's ranks. */
struct serving_weights serving_weights(const struct vc_request *request,
                                       const struct weight_traits *traits);

#endif
