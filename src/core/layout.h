/* Layouts of several GPUs: which there are, what forbids one, and what its ranks send each other.
 */
#ifndef VC_LAYOUT_H
#define VC_LAYOUT_H

#include "vramcalc/vramcalc.h"

/* Returns false to stop. */
typedef bool layout_visitor(const struct vc_parallelism *layout, void *context);

/*
 * Visits every layout of so many GPUs: the factors of tensor, data and pipeline, the ZeRO stages
 * and experts over all ranks of a stage; the widest tensor group first. What the request says of
 * offload and the like stays. False when the visitor stopped it.
 */
bool layout_each(const struct vc_request *request, uint32_t gpus, layout_visitor *visitor,
                 void *context);

/* Whether the engine deals whole layers to GPUs: llama.cpp, but for its --split-mode row, which is
 * not modelled. Such a search visits stages alone. */
bool layout_by_layers(const struct vc_request *request);

/* Within how many GPUs tensor ranks find each other without a network. */
uint32_t layout_node_gpus(const struct vc_gpu *gpu, const struct vc_select_options *options);

/*
 * Whether the engine, the architecture or the node forbids the layout of request->parallelism:
 * VC_LAYOUT_CHOSEN when nothing does, else the reason with its words in *why, which error->message
 * may hold.
 */
enum vc_layout_reason layout_problem(const struct vc_request *request, uint32_t node_gpus,
                                     const char **why, struct vc_error *error);

/* Whether heads and key/value heads divide evenly over so many tensor ranks; false where they are
 * not known. */
bool layout_heads_divide(const struct vc_model *model, uint32_t ranks);

/* What traffic depends on beside the layout: sizes on one GPU that holds everything. */
struct traffic_basis {
	uint64_t weight_bytes, gradient_bytes;
};

/* What one GPU sends: over the slowest interconnect, and between nodes. */
struct layout_traffic {
	struct vc_traffic slowest;
	uint64_t network_bytes;
};
struct layout_traffic layout_traffic(const struct vc_request *request, uint32_t node_gpus,
                                     const struct traffic_basis *basis);

#endif
