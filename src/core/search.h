/* The search for the layout of one GPU with which a job fits. */
#ifndef VC_SEARCH_H
#define VC_SEARCH_H

#include "ggml_buffer.h"
#include "layout.h"

/* What the GPUs of one vc_select() share, and the state of the search on one of them. It points
 * into itself: not to be copied. */
struct search {
	struct vc_request request; /* resolved; its parallelism is the layout being tried */
	struct vc_parallelism stated;
	struct vc_select_options options; /* with defaults */
	struct traffic_basis basis;       /* made when several GPUs first talk */
	bool has_basis;
	struct vc_memo memo;
	uint32_t node_gpus;
	uint64_t least_bytes; /* no GPU of n holds less than its n-th */
	uint64_t network_bytes;
	struct vc_candidate *best;
	enum vc_status status; /* what ended the search early */
	struct vc_error *error;
};

enum vc_status search_open(struct search *search, const struct vc_request *request,
                           const struct vc_select_options *options, struct vc_error *error);

/* Fills in everything but precision_supported. */
enum vc_status search_gpu(struct search *search, const struct vc_gpu *gpu,
                          struct vc_candidate *candidate);

#endif
