/* How training frameworks hold memory: one row of policies per engine. docs/formulas.md#training */
#ifndef VC_TRAIN_POLICY_H
#define VC_TRAIN_POLICY_H

#include "vramcalc/vramcalc.h"

/* How an engine's modules keep what backward needs. */
enum train_style {
	TRAIN_STYLE_EAGER, /* transformers' modules: every norm in fp32, no fused kernels */
	TRAIN_STYLE_LITGPT,
	TRAIN_STYLE_FUSED /* Megatron and Transformer Engine: fused norms and activations */
};

/* Bytes per logit that live together at the loss. */
struct train_logits {
	uint32_t full, adapters; /* expected, by what is trained */
	uint32_t most;           /* the hungriest implementation in use */
	uint32_t reserved;       /* what the allocator has been asked for at its worst */
	uint32_t compiled;       /* under torch.compile; 0: as without */
};

/* Millionths of the bytes that come and go in a step; see train_reserve(). */
struct train_fragmentation {
	uint32_t fused, eager, sharded_fused, sharded_eager, kept;
};

struct train_policy {
	const char *summary;
	enum train_style style;
	struct train_logits logits;
	struct train_fragmentation fragmentation;
	bool keeps_gradients;     /* between steps, on one GPU too */
	bool steps_in_place;      /* a fused optimizer: no copy the size of the parameters */
	bool stock_modules;       /* transformers' own modeling code */
	bool autocasts;           /* adapters and 16-bit weights run under torch.autocast */
	bool unties_head;         /* a tied head is held as a second table */
	bool root_gradients;      /* gradients of embedding and head stay unsharded to the end */
	bool frozen_gathered;     /* sharded frozen weights stay gathered after their forward */
	bool saves_gathered;      /* see train_phase.c, gathered() */
	bool bf16_master;         /* mixed precision "none" keeps 16-bit master weights */
	bool fp32_gradients;      /* accumulated in fp32 */
	bool pipelines;           /* 1F1B: a stage keeps several micro-batches */
	bool transformer_engine;  /* has a workspace of its own */
	bool keeps_inputs;        /* bitsandbytes linears keep their inputs for backward */
	uint32_t compiled_widths; /* of h: bytes per token that torch.compile saves in a layer */
	uint32_t gathered_units;  /* layers whose parameters are gathered together */
	uint32_t adapter_bytes;   /* of one adapter weight */
	uint64_t blas_workspace_bytes; /* of one cuBLAS handle; 0: as PyTorch has it */
};

const struct train_policy *train_policy(enum vc_engine engine);

/* ZeRO with fp32 master weights, as DeepSpeed and its followers do it, whoever drives it. */
bool train_is_zero(const struct vc_request *request);

/* How frozen weights are quantized; NULL: not at all. */
const struct vc_quantization *train_scheme(const struct vc_request *request);

/* Families whose code computed the loss from 16-bit logits, without raising them to fp32. */
bool train_plain_loss(const struct vc_model *model);

/* Families whose feed-forward parts compute GELU's tanh form step by step ("gelu_new"), keeping
 * every step: 6 bytes more per element. */
bool train_stepwise_gelu(const struct vc_model *model);

/* Bytes per score that eager attention keeps in 16 bits: usually 6, an fp32 softmax and its copy.
 */
uint32_t train_score_bytes(const struct vc_model *model);

/* Families whose feed-forward parts use ReLU, whose output is the next input: 2 bytes less. */
bool train_relu(const struct vc_model *model);

/* Families whose norms multiply by their weights in fp32: 2 bytes more. */
bool train_wide_norms(const struct vc_model *model);

#endif
