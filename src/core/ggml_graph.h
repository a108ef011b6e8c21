/*
 * The memory of a compute graph as ggml's graph allocator lays it out: nodes in the order in which
 * they run, each placed in the best-fitting free block when it is reached, over its parent where an
 * operation works in place, and freed after its last use. The peak depends on that order and on
 * fragmentation, so it is found by doing the same.
 * github.com/ggml-org/ggml, src/ggml-alloc.c. docs/llamacpp.md#compute-buffer
 */
#ifndef VC_GGML_GRAPH_H
#define VC_GGML_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

enum {
	GRAPH_MAX_NODES = 6144,
	GRAPH_MAX_SOURCES = 6,
	NO_NODE = -1
};

/* Elements along three dimensions; the fourth is the second's streams, which never split. */
struct shape {
	uint64_t a, b, c;
};

struct graph_node {
	uint64_t bytes, offset;
	uint64_t first, second; /* dimensions: equal shapes may share memory */
	int16_t sources[GRAPH_MAX_SOURCES];
	int16_t view_of; /* the node whose memory it shows */
	uint16_t children, views;
	uint8_t source_count;
	bool in_place, output, owns_nothing, allocated;
};

struct graph {
	int32_t count;
	bool full; /* a node did not fit: the peak is that of the nodes before it */
	struct graph_node nodes[GRAPH_MAX_NODES];
};

/* A result of 32-bit floats; sources may be NO_NODE (weights and caches are not in the graph). */
int graph_op(struct graph *graph, struct shape shape, int first, int second);
/* The same, by an operation that may write over a source of the same shape. */
int graph_in_place(struct graph *graph, struct shape shape, int first, int second);
int graph_view(struct graph *graph, struct shape shape, int source);
/* An operation that writes elsewhere: into a cache. */
void graph_sink(struct graph *graph, int first, int second);
void graph_also_reads(struct graph *graph, int node, int source);
/* 16-bit floats rather than 32. */
void graph_halve(struct graph *graph, int node);
/* Read after the graph has run: never freed. */
void graph_keep(struct graph *graph, int node);

/* Bytes of the buffer that holds every node of the graph; offsets are multiples of `alignment`. */
uint64_t graph_peak_bytes(struct graph *graph, uint64_t alignment);

#endif
