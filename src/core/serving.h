/* What the engines that fill a GPU with cache share: the sum that leaves the pool, the ledger and
 * the serving figures that follow from it. */
#ifndef VC_SERVING_H
#define VC_SERVING_H

#include "serving_cache.h"
#include "serving_weights.h"

/* Parts of the budget, all on one rank. The lines carry bytes, formula and inputs. */
struct serving_parts {
	struct serving_weights weights;
	uint64_t lora_bytes;                /* slots for adapters */
	uint64_t weight_bytes;              /* what the engine counts as weights */
	struct vc_line logits, activations; /* of the moment that peaks */
	struct vc_line graphs;              /* what captured graphs take in the end */
	uint64_t state_bytes, states; /* recurrent, of one sequence, and how many are set aside */
	uint64_t states_needed;       /* of them, by the spec's sequences; 0: all */
	uint64_t framework_bytes;     /* counted by the engine, outside torch */
	uint64_t context_bytes;       /* CUDA's, where the engine counts it */
	uint64_t communication_bytes; /* outside torch, as framework_bytes */
	uint64_t reserve_bytes;       /* set aside for graphs before the cache is sized */
	uint64_t outside_bytes;       /* context and slack that the engine does not count */
	uint64_t budget_bytes;        /* what the engine may use in all */
	uint32_t budget_ppm; /* of the GPU's memory, for turning a need into a GPU's size */
	uint32_t cache_ppm;  /* of what the budget leaves, for the cache; 0: all */
	uint32_t spread_ppm; /* half-width of the range */
};

/* A line still outside the ledger. */
static inline void serving_line(struct vc_line *line, uint64_t bytes, const char *formula)
{
	*line = (struct vc_line){ .bytes = bytes, .formula = formula };
}

/* What the budget leaves for the cache. */
uint64_t serving_left_bytes(const struct serving_parts *parts);

/* Gives each line that has none the range of its component, caches excepted. */
void serving_line_ranges(struct vc_ledger *ledger);

/* Fills the ledger, its range, its need and `serving`. */
void serving_finish(const struct vc_request *request, const struct serving_parts *parts,
                    const struct serving_cache *cache, struct vc_ledger *ledger);

#endif
