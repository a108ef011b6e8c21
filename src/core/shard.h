/* Which layers a pipeline stage holds, and how much of a tensor a rank holds. */
#ifndef VC_SHARD_H
#define VC_SHARD_H

#include "model.h"

/* Where a rank stands. Degrees of 0 count as 1. */
struct rank {
	uint32_t tensor, pipeline, stage;
	uint32_t expert;         /* whole experts are spread over so many ranks */
	uint32_t expert_tensor;  /* each expert divides by this; 0: 1 with `expert`, else tensor */
	uint32_t vocab_multiple; /* vocabulary tables are padded to it before they divide */
};

/* vLLM's split (vllm/distributed/utils.py, get_pp_indices): even; of what is left over, one layer
 * each to the last stages but one. */
struct layer_range rank_layers(const struct rank *rank, uint32_t layers);

/* The layers of a stack that the rank holds: of the language model its stage's, of towers and
 * encoders all on the first stage, of next-token layers all on the last. */
struct layer_range rank_range(const struct vc_model *model, uint32_t stack,
                              const struct rank *rank);

/* The stack whose layers the pipeline divides. */
uint32_t model_main_stack(const struct vc_model *model);

/* Whether the rank holds an extra tensor's bytes: a tied table is the first stage's embedding,
 * unless the last stage needs a copy of its own. */
bool rank_holds_extra(const struct vc_extra *extra, const struct rank *rank);

struct vc_tensor shard_tensor(const struct vc_tensor *tensor, const struct rank *rank);

/* Key-value heads that a rank keeps: never less than one. */
uint32_t shard_kv_heads(uint32_t kv_heads, uint32_t tensor);

#endif
