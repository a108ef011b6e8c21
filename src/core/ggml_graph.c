/* ggml's graph allocator: see ggml_graph.h. */
#include "ggml_graph.h"

#include "sat.h"

#include <string.h>

enum {
	MAX_FREE_BLOCKS = 256 /* ggml's own bound */
};

struct block {
	uint64_t offset, bytes;
};

struct allocator {
	struct block blocks[MAX_FREE_BLOCKS]; /* by offset; the last one has no end */
	uint32_t count;
	uint64_t alignment, peak_bytes;
};

static int push(struct graph *graph, struct shape shape, int first, int second)
{
	struct graph_node *node;

	if (graph->count == GRAPH_MAX_NODES) {
		graph->full = true;
		return graph->count - 1;
	}
	node = &graph->nodes[graph->count];
	memset(node, 0, sizeof *node);
	node->view_of = NO_NODE;
	node->first = shape.a;
	node->second = shape.b;
	node->bytes = sat_mul(4, sat_mul3(shape.a, shape.b, shape.c));
	graph->count++;
	graph_also_reads(graph, graph->count - 1, first);
	graph_also_reads(graph, graph->count - 1, second);
	return graph->count - 1;
}

void graph_also_reads(struct graph *graph, int node, int source)
{
	struct graph_node *reader = &graph->nodes[node];

	if (source >= 0 && source < graph->count && reader->source_count < GRAPH_MAX_SOURCES) {
		reader->sources[reader->source_count++] = (int16_t)source;
	}
}

int graph_op(struct graph *graph, struct shape shape, int first, int second)
{
	return push(graph, shape, first, second);
}

int graph_in_place(struct graph *graph, struct shape shape, int first, int second)
{
	int node = push(graph, shape, first, second);

	graph->nodes[node].in_place = true;
	return node;
}

int graph_view(struct graph *graph, struct shape shape, int source)
{
	int node = push(graph, shape, source, NO_NODE);
	int root = graph->nodes[source].view_of;

	graph->nodes[node].view_of = (int16_t)(root >= 0 ? root : source);
	return node;
}

void graph_sink(struct graph *graph, int first, int second)
{
	int node = push(graph, (struct shape){ 0 }, first, second);

	graph->nodes[node].owns_nothing = true;
}

void graph_halve(struct graph *graph, int node)
{
	graph->nodes[node].bytes /= 2;
}

void graph_keep(struct graph *graph, int node)
{
	graph->nodes[node].output = true;
}

static void remove_block(struct allocator *allocator, uint32_t index)
{
	allocator->count--;
	memmove(&allocator->blocks[index], &allocator->blocks[index + 1],
	        (allocator->count - index) * sizeof allocator->blocks[0]);
}

/* The smallest block that is large enough, the later one of equals; the endless last one only
 * where no other will do. */
static uint64_t take(struct allocator *allocator, uint64_t bytes)
{
	uint32_t best = allocator->count - 1;
	uint64_t best_bytes = UINT64_MAX, offset;

	bytes = sat_round_up(bytes, allocator->alignment);
	for (uint32_t i = 0; i + 1 < allocator->count; i++) {
		uint64_t free_bytes = allocator->blocks[i].bytes;

		if (free_bytes >= bytes && free_bytes <= best_bytes) {
			best = i;
			best_bytes = free_bytes;
		}
	}
	offset = allocator->blocks[best].offset;
	allocator->blocks[best].offset = sat_add(offset, bytes);
	allocator->blocks[best].bytes = sat_sub(allocator->blocks[best].bytes, bytes);
	if (allocator->blocks[best].bytes == 0 && best + 1 < allocator->count) {
		remove_block(allocator, best);
	}
	if (sat_add(offset, bytes) > allocator->peak_bytes) {
		allocator->peak_bytes = sat_add(offset, bytes);
	}
	return offset;
}

static void insert_block(struct allocator *allocator, struct block block)
{
	uint32_t at = 0;

	if (allocator->count == MAX_FREE_BLOCKS) {
		return; /* stays taken: the peak can only come out larger */
	}
	while (at < allocator->count && allocator->blocks[at].offset < block.offset) {
		at++;
	}
	memmove(&allocator->blocks[at + 1], &allocator->blocks[at],
	        (allocator->count - at) * sizeof block);
	allocator->blocks[at] = block;
	allocator->count++;
}

static bool touch(const struct block *first, const struct block *second)
{
	return first->offset + first->bytes == second->offset;
}

/* Takes in block `index + 1` where it begins at the end of block `index`. */
static void merge_next(struct allocator *allocator, uint32_t index)
{
	struct block *block = &allocator->blocks[index];

	if (index + 1 < allocator->count && touch(block, block + 1)) {
		block->bytes += block[1].bytes;
		remove_block(allocator, index + 1);
	}
}

static void merge_into_previous(struct allocator *allocator, uint32_t index)
{
	if (index > 0) {
		merge_next(allocator, index - 1);
	}
}

/* Merges with the first block that touches, and that one with its neighbour: ggml's order, which
 * leaves some neighbours apart. */
static void give_back(struct allocator *allocator, struct block freed)
{
	freed.bytes = sat_round_up(freed.bytes, allocator->alignment);
	for (uint32_t i = 0; i < allocator->count; i++) {
		struct block *block = &allocator->blocks[i];

		if (touch(block, &freed)) {
			block->bytes += freed.bytes;
			merge_next(allocator, i);
			return;
		}
		if (touch(&freed, block)) {
			block->offset = freed.offset;
			block->bytes += freed.bytes;
			merge_into_previous(allocator, i);
			return;
		}
	}
	insert_block(allocator, freed);
}

static bool may_overwrite(const struct graph_node *parent, const struct graph_node *node)
{
	return parent->allocated && !parent->output && parent->view_of < 0 &&
	       parent->children == 1 && parent->views == 0 && parent->first == node->first &&
	       parent->second == node->second && parent->bytes == node->bytes;
}

static void place(struct graph *graph, struct allocator *allocator, struct graph_node *node)
{
	if (node->view_of >= 0 || node->owns_nothing) {
		return;
	}
	node->allocated = true;
	for (uint8_t i = 0; node->in_place && i < node->source_count; i++) {
		struct graph_node *parent = &graph->nodes[node->sources[i]];

		if (may_overwrite(parent, node)) {
			node->offset = parent->offset;
			parent->allocated = false;
			return;
		}
	}
	node->offset = take(allocator, node->bytes);
}

static void release(struct allocator *allocator, struct graph_node *node)
{
	if (node->allocated && !node->output) {
		give_back(allocator, (struct block){ node->offset, node->bytes });
		node->allocated = false;
	}
}

static void finish_reading(struct graph *graph, struct allocator *allocator,
                           struct graph_node *parent)
{
	parent->children--;
	if (parent->children > 0 || parent->views > 0) {
		return;
	}
	if (parent->view_of >= 0) {
		parent = &graph->nodes[parent->view_of];
		parent->views--;
		if (parent->views > 0 || parent->children > 0) {
			return;
		}
	}
	release(allocator, parent);
}

static void count_uses(struct graph *graph)
{
	for (int32_t i = 0; i < graph->count; i++) {
		graph->nodes[i].children = graph->nodes[i].views = 0;
		graph->nodes[i].allocated = false;
	}
	for (int32_t i = 0; i < graph->count; i++) {
		const struct graph_node *node = &graph->nodes[i];

		if (node->view_of >= 0) {
			graph->nodes[node->view_of].views++;
		}
		for (uint8_t s = 0; s < node->source_count; s++) {
			graph->nodes[node->sources[s]].children++;
		}
	}
}

uint64_t graph_peak_bytes(struct graph *graph, uint64_t alignment)
{
	struct allocator allocator = { .alignment = alignment, .count = 1 };

	allocator.blocks[0].bytes = UINT64_MAX / 2;
	count_uses(graph);
	for (int32_t i = 0; i < graph->count; i++) {
		struct graph_node *node = &graph->nodes[i];

		place(graph, &allocator, node);
		for (uint8_t s = 0; s < node->source_count; s++) {
			finish_reading(graph, &allocator, &graph->nodes[node->sources[s]]);
		}
	}
	return allocator.peak_bytes;
}
