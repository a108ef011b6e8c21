/*
 * Linear layers, norms and feed-forward parts as llama.cpp's graph has them.
 * github.com/ggml-org/llama.cpp, src/llama-graph.cpp (build_norm, build_ffn, build_moe_ffn)
 */
#include "ggml_block.h"

#include "sat.h"

int ggml_linear(struct ggml_builder *b, int x, struct shape shape, bool bias)
{
	x = graph_op(&b->graph, shape, x, NO_NODE);
	return bias ? graph_in_place(&b->graph, shape, x, NO_NODE) : x;
}

int ggml_rms_norm(struct ggml_builder *b, int x, struct shape shape)
{
	x = graph_in_place(&b->graph, shape, x, NO_NODE);
	return graph_in_place(&b->graph, shape, x, NO_NODE);
}

int ggml_norm(struct ggml_builder *b, int x, struct shape shape)
{
	if (!b->family->layer_norm) {
		return ggml_rms_norm(b, x, shape);
	}
	x = graph_op(&b->graph, shape, x, NO_NODE);
	return b->family->plain_norms ? x : graph_in_place(&b->graph, shape, x, NO_NODE);
}

/* One operation over both since b5775 (pull 14158); before, each in place. */
static int gated_part(struct ggml_builder *b, int x, struct shape wide, bool bias)
{
	int gate = ggml_linear(b, x, wide, bias), up;

	if (!b->run->separate_gates) {
		up = ggml_linear(b, x, wide, bias);
		return graph_op(&b->graph, wide, gate, up);
	}
	gate = graph_in_place(&b->graph, wide, gate, NO_NODE);
	up = ggml_linear(b, x, wide, bias);
	return graph_in_place(&b->graph, wide, gate, up);
}

/* Gate and up in one tensor, of which halves were copied out. */
static int fused_gate(struct ggml_builder *b, int both, struct shape wide)
{
	int gate, up;

	if (!b->run->separate_gates) {
		return graph_op(&b->graph, wide, both, NO_NODE);
	}
	gate = graph_op(&b->graph, wide, graph_view(&b->graph, wide, both), NO_NODE);
	gate = graph_in_place(&b->graph, wide, gate, NO_NODE);
	up = graph_op(&b->graph, wide, graph_view(&b->graph, wide, both), NO_NODE);
	return graph_in_place(&b->graph, wide, gate, up);
}

static int dense(struct ggml_builder *b, const struct vc_ffn *ffn, int x, uint64_t tokens)
{
	struct shape wide = shape_of(ffn->size, tokens, 1);

	if (ffn->type != VC_FFN_GATED) {
		x = ggml_linear(b, x, wide, ffn->up_bias);
		x = graph_in_place(&b->graph, wide, x, NO_NODE);
	} else if (ffn->fused_gate_up) {
		x = ggml_linear(b, x, shape_of(sat_mul(2, ffn->size), tokens, 1), ffn->up_bias);
		x = fused_gate(b, x, wide);
	} else {
		x = gated_part(b, x, wide, ffn->up_bias);
	}
	return ggml_linear(b, x, shape_of(b->hidden, tokens, 1), ffn->down_bias);
}

struct choice {
	int ids, weights;
};

/* Which experts each token goes to, and with what weight. */
static struct choice choose(struct ggml_builder *b, const struct vc_ffn *ffn, int x,
                            uint64_t tokens)
{
	struct graph *graph = &b->graph;
	uint64_t chosen = ffn->experts_per_token;
	struct shape all = shape_of(ffn->experts, tokens, 1), few = shape_of(chosen, tokens, 1);
	struct shape rows = shape_of(1, chosen, tokens), sums = shape_of(1, tokens, 1);
	int scores = ggml_linear(b, x, all, ffn->router_bias), probabilities = scores, sum;
	struct choice choice;

	if (!b->family->softmax_chosen) {
		probabilities = graph_in_place(graph, all, scores, NO_NODE);
	}
	choice.weights = graph_view(graph, shape_of(1, ffn->experts, tokens), probabilities);
	if (b->family->biases_choice) {
		probabilities = graph_in_place(graph, all, probabilities, NO_NODE);
	}
	choice.ids = graph_op(graph, all, probabilities, NO_NODE);
	choice.ids = graph_view(graph, few, choice.ids);
	choice.weights = graph_op(graph, rows, choice.weights, choice.ids);
	if (b->family->softmax_chosen) {
		choice.weights = graph_view(graph, few, choice.weights);
		choice.weights = graph_in_place(graph, few, choice.weights, NO_NODE);
		choice.weights = graph_view(graph, rows, choice.weights);
	}
	if (b->family->normalizes_chosen) {
		choice.weights = graph_view(graph, few, choice.weights);
		sum = graph_op(graph, sums, choice.weights, NO_NODE);
		sum = graph_in_place(graph, sums, sum, NO_NODE);
		choice.weights = graph_in_place(graph, few, choice.weights, sum);
		choice.weights = graph_view(graph, rows, choice.weights);
	}
	if (b->family->scales_chosen) { /* of a view: not in place */
		choice.weights = graph_in_place(graph, rows, choice.weights, NO_NODE);
	}
	return choice;
}

static int expert_linear(struct ggml_builder *b, int x, int ids, struct shape shape, bool bias)
{
	int copy = NO_NODE;

	if (b->run->expert_copy_bytes > 0) {
		copy = graph_op(&b->graph, shape_of(b->run->expert_copy_bytes / 4, 1, 1), x,
		                NO_NODE);
	}
	x = graph_op(&b->graph, shape, x, ids);
	if (copy != NO_NODE) {
		graph_also_reads(&b->graph, x, copy);
	}
	return bias ? graph_in_place(&b->graph, shape, x, ids) : x;
}

/* Every chosen expert's result is held until all are summed, two at a time. */
static int sum_experts(struct ggml_builder *b, int x, uint64_t chosen, struct shape out)
{
	struct graph *graph = &b->graph;
	int first = x + 1, sum = x + 1;

	if ((uint64_t)graph->count + 2 * chosen > GRAPH_MAX_NODES) {
		graph->full = true;
		return x;
	}
	for (uint64_t i = 0; i < chosen; i++) {
		graph_view(graph, out, x);
	}
	if (chosen == 1) {
		return graph_op(graph, out, first, NO_NODE);
	}
	for (uint64_t i = 1; i < chosen && !graph->full; i++) {
		sum = graph_in_place(graph, out, sum, first + (int)i);
	}
	return sum;
}

static int shared_expert(struct ggml_builder *b, const struct vc_ffn *ffn, int x, uint64_t tokens)
{
	struct graph *graph = &b->graph;
	struct shape wide = shape_of(ffn->shared_size, tokens, 1), one = shape_of(1, tokens, 1);
	struct shape out = shape_of(b->hidden, tokens, 1);
	int result, gate;

	if (ffn->gated) {
		result = gated_part(b, x, wide, false);
	} else {
		result = graph_in_place(graph, wide, ggml_linear(b, x, wide, false), NO_NODE);
	}
	result = ggml_linear(b, result, out, false);
	if (ffn->shared_gate) {
		gate = graph_in_place(graph, one, ggml_linear(b, x, one, false), NO_NODE);
		result = graph_in_place(graph, out, result, gate);
	}
	return result;
}

static int experts(struct ggml_builder *b, const struct vc_ffn *ffn, int x, uint64_t tokens)
{
	struct graph *graph = &b->graph;
	uint64_t chosen = ffn->experts_per_token ? ffn->experts_per_token : 1;
	struct shape wide = shape_of(ffn->size, chosen, tokens);
	struct shape out = shape_of(b->hidden, chosen, tokens),
	             flat = shape_of(b->hidden, tokens, 1);
	struct choice choice = choose(b, ffn, x, tokens);
	int each = graph_view(graph, shape_of(b->hidden, 1, tokens), x), up, sum;

	up = expert_linear(b, each, choice.ids, wide, ffn->up_bias);
	if (ffn->gated) {
		int gate = expert_linear(b, each, choice.ids, wide, ffn->up_bias);

		if (b->run->separate_gates) {
			gate = graph_in_place(graph, wide, gate, NO_NODE);
			up = graph_in_place(graph, wide, up, gate);
		} else {
			up = graph_op(graph, wide, up, gate);
		}
	} else {
		up = graph_in_place(graph, wide, up, NO_NODE);
	}
	up = expert_linear(b, up, choice.ids, out, ffn->down_bias);
	up = graph_in_place(graph, out, up, choice.weights);
	sum = sum_experts(b, up, chosen, flat);
	ggml_settle(b, true);
	if (ffn->shared_size > 0) {
		sum = graph_in_place(graph, flat, sum, shared_expert(b, ffn, x, tokens));
	}
	return sum;
}

int ggml_feed_forward(struct ggml_builder *b, const struct vc_ffn *ffn, int x, uint64_t tokens)
{
	return ffn->type == VC_FFN_MOE ? experts(b, ffn, x, tokens) : dense(b, ffn, x, tokens);
}
