/*
 * State-space and linear-attention layers as llama.cpp's graph has them.
 * github.com/ggml-org/llama.cpp, src/models/{mamba-base,delta-net-base,qwen3next,lfm2}.cpp and
 * src/llama-graph.cpp (build_rs)
 */
#include "ggml_block.h"

#include "sat.h"

bool ggml_is_recurrent(const struct vc_mixer *mixer)
{
	return mixer->type == VC_MIXER_MAMBA || mixer->type == VC_MIXER_MAMBA2 ||
	       mixer->type == VC_MIXER_GATED_DELTANET || mixer->type == VC_MIXER_KIMI_DELTA ||
	       mixer->type == VC_MIXER_SHORT_CONV;
}

static uint64_t conv_width(const struct ggml_builder *b, const struct vc_mixer *m)
{
	switch (m->type) {
	case VC_MIXER_MAMBA2:
		return sat_add(m->inner_size, sat_mul3(2, m->groups, m->state_size));
	case VC_MIXER_GATED_DELTANET:
		return sat_add(sat_mul3(2, m->key_heads, m->key_head_dim),
		               sat_mul(m->value_heads, m->value_head_dim));
	case VC_MIXER_KIMI_DELTA:
		return sat_mul3(3, m->heads, m->head_dim);
	case VC_MIXER_SHORT_CONV:
		return b->hidden;
	default:
		return m->inner_size;
	}
}

/* States of sequences that this batch does not continue are moved: none in the worst case, and a
 * copy of no bytes still takes part in the allocator's bookkeeping. */
static void move_others(struct ggml_builder *b)
{
	graph_sink(&b->graph, graph_op(&b->graph, shape_of(0, 1, 1), b->other_ids, NO_NODE),
	           NO_NODE);
}

int ggml_conv_state(struct ggml_builder *b, const struct vc_mixer *mixer)
{
	uint64_t width = conv_width(b, mixer);
	uint64_t kept = mixer->conv_kernel > 0 ? mixer->conv_kernel - 1 : 0;
	int state =
	        graph_op(&b->graph, shape_of(sat_mul(kept, width), 1, 1), b->state_ids, NO_NODE);

	move_others(b);
	return graph_view(&b->graph, shape_of(kept, width, 1), state);
}

static int take_conv_state(struct ggml_builder *b, const struct vc_mixer *mixer)
{
	int state = b->conv_state >= 0 ? b->conv_state : ggml_conv_state(b, mixer);

	b->conv_state = NO_NODE;
	return state;
}

/* The state's columns before the batch's, transposed; what is kept for the next batch. */
static int conv_input(struct ggml_builder *b, const struct vc_mixer *mixer, int state, int x)
{
	struct graph *graph = &b->graph;
	uint64_t width = conv_width(b, mixer), kept = mixer->conv_kernel - 1;
	int joined;

	x = graph_view(graph, shape_of(width, b->tokens, 1), x);
	x = graph_view(graph, shape_of(b->tokens, width, 1), x);
	joined = graph_op(graph, shape_of(sat_add(b->tokens, kept), width, 1), state, x);
	graph_sink(graph, graph_view(graph, shape_of(kept, width, 1), joined), NO_NODE);
	return joined;
}

static int twice_in_place(struct ggml_builder *b, int x, struct shape shape)
{
	x = graph_in_place(&b->graph, shape, x, NO_NODE);
	return graph_in_place(&b->graph, shape, x, NO_NODE);
}

/* The scan's result and its final state lie in one tensor. */
static int scan(struct ggml_builder *b, const struct vc_mixer *mixer, int x, int step, int b_c)
{
	struct graph *graph = &b->graph;
	int result = graph_op(graph,
	                      shape_of(mixer->inner_size, sat_add(b->tokens, mixer->state_size), 1),
	                      x, step);

	graph_also_reads(graph, result, b_c);
	graph_also_reads(graph, result, b_c + 1);
	graph_also_reads(graph, result, b->state_ids);
	move_others(b);
	graph_sink(graph,
	           graph_view(graph, shape_of(mixer->inner_size, mixer->state_size, 1), result),
	           NO_NODE);
	ggml_settle(b, false);
	return result;
}

static int mamba(struct ggml_builder *b, const struct vc_mixer *mixer, int x)
{
	struct graph *graph = &b->graph;
	uint64_t inner = mixer->inner_size, t = b->tokens, rank = mixer->dt_rank;
	struct shape wide = shape_of(inner, t, 1);
	int state = take_conv_state(b, mixer), both, conv, seen, low, step, b_c, gate, y;

	x = graph_view(graph, shape_of(b->hidden, t, 1), x);
	both = ggml_linear(b, x, shape_of(2 * inner, t, 1), false);
	conv = graph_op(graph, wide, conv_input(b, mixer, state, both), NO_NODE);
	conv = twice_in_place(b, conv, wide);
	seen = graph_view(graph, shape_of(1, inner, t), conv);
	low = ggml_linear(b, conv, shape_of(rank + 2ull * mixer->state_size, t, 1), false);
	step = graph_view(graph, shape_of(rank, t, 1), low);
	step = graph_op(graph, shape_of(rank, t, 1), step, NO_NODE);
	step = ggml_linear(b, step, wide, true);
	b_c = graph_view(graph, shape_of(mixer->state_size, 1, t), low);
	graph_view(graph, shape_of(mixer->state_size, 1, t), low);
	if (mixer->inner_norm_elements > 0) { /* of step, input and output matrices */
		int second = graph_op(graph, shape_of(mixer->state_size, 1, t), b_c, NO_NODE);

		graph_op(graph, shape_of(mixer->state_size, 1, t), b_c + 1, NO_NODE);
		b_c = second;
	}
	y = scan(b, mixer, seen, step, b_c);
	gate = graph_view(graph, wide, both);
	gate = graph_op(graph, wide, gate, NO_NODE);
	y = graph_view(graph, wide, y);
	conv = graph_in_place(graph, wide, conv, NO_NODE);
	y = graph_in_place(graph, wide, y, conv);
	return graph_op(graph, wide, gate, y);
}

static int mamba2(struct ggml_builder *b, const struct vc_mixer *mixer, int x)
{
	struct graph *graph = &b->graph;
	uint64_t inner = mixer->inner_size, t = b->tokens, heads = mixer->heads;
	uint64_t width = conv_width(b, mixer), groups = mixer->groups ? mixer->groups : 1;
	struct shape all = shape_of(sat_add(sat_add(inner, width), heads), t, 1);
	struct shape head = shape_of(heads ? inner / heads : inner, heads, t);
	struct shape conv_shape = shape_of(width, t, 1),
	             group = shape_of(inner / groups, groups, t);
	int state = take_conv_state(b, mixer), projected, conv, seen, step, b_c, gate, skip, y;

	projected = graph_view(graph, all, ggml_linear(b, x, all, false));
	conv = graph_op(graph, conv_shape, conv_input(b, mixer, state, projected), NO_NODE);
	conv = twice_in_place(b, conv, conv_shape);
	seen = graph_view(graph, head, conv);
	step = graph_view(graph, shape_of(heads, t, 1), projected);
	step = graph_op(graph, shape_of(heads, t, 1), step, NO_NODE);
	step = graph_in_place(graph, shape_of(heads, t, 1), step, NO_NODE);
	b_c = graph_view(graph, shape_of(mixer->state_size, groups, t), conv);
	graph_view(graph, shape_of(mixer->state_size, groups, t), conv);
	y = scan(b, mixer, seen, step, b_c);
	gate = graph_view(graph, head, projected);
	gate = graph_op(graph, head, gate, NO_NODE);
	y = graph_view(graph, head, y);
	skip = graph_in_place(graph, head, seen, NO_NODE);
	y = graph_in_place(graph, head, y, skip);
	y = graph_op(graph, head, gate, y);
	if (mixer->inner_norm_elements > 0) {
		y = ggml_rms_norm(b, graph_view(graph, group, y), group);
	}
	return graph_view(graph, shape_of(inner, t, 1), y);
}

/* Decay and write strength, one number per head and token. */
static int per_head(struct ggml_builder *b, int x, uint64_t heads, bool decay)
{
	struct graph *graph = &b->graph;
	struct shape flat = shape_of(heads, b->tokens, 1), row = shape_of(1, heads, b->tokens);

	x = ggml_linear(b, x, flat, false);
	if (!decay) {
		return graph_in_place(graph, row, graph_view(graph, row, x), NO_NODE);
	}
	x = graph_in_place(graph, flat, graph_view(graph, flat, x), NO_NODE);
	return graph_view(graph, row, twice_in_place(b, x, flat));
}

struct delta_shape {
	uint64_t keys, key_dim, values, value_dim;
};

static int delta_net(struct ggml_builder *b, const struct vc_mixer *mixer, int x,
                     const struct delta_shape *d)
{
	struct graph *graph = &b->graph;
	uint64_t t = b->tokens, width = conv_width(b, mixer);
	struct shape q = shape_of(d->key_dim, d->keys, t), v = shape_of(d->value_dim, d->values, t);
	struct shape state_shape = shape_of(d->key_dim, d->value_dim, d->values);
	int conv = take_conv_state(b, mixer), state, query, key, value, decay, write, y, gate;

	conv = conv_input(b, mixer, conv, ggml_linear(b, x, shape_of(width, t, 1), false));
	state = graph_op(graph, shape_of(sat_mul3(d->key_dim, d->value_dim, d->values), 1, 1),
	                 b->state_ids, NO_NODE);
	move_others(b);
	conv = graph_op(graph, shape_of(width, t, 1), conv, NO_NODE);
	conv = graph_in_place(graph, shape_of(width, t, 1), conv, NO_NODE);
	query = twice_in_place(b, graph_view(graph, q, conv), q);
	key = twice_in_place(b, graph_view(graph, q, conv), q);
	value = graph_view(graph, v, conv);
	decay = per_head(b, x, d->values, true);
	write = per_head(b, x, d->values, false);
	state = graph_view(graph, state_shape, state);
	y = graph_op(graph, shape_of(sat_mul(d->values, d->value_dim), sat_add(t, d->key_dim), 1),
	             query, key);
	graph_also_reads(graph, y, value);
	graph_also_reads(graph, y, decay);
	graph_also_reads(graph, y, write);
	graph_also_reads(graph, y, state);
	graph_sink(graph, graph_view(graph, state_shape, y), NO_NODE);
	y = twice_in_place(b, graph_view(graph, v, y), v);
	gate = ggml_linear(b, x, shape_of(sat_mul(v.a, v.b), t, 1), false);
	gate = graph_in_place(graph, v, graph_view(graph, v, gate), NO_NODE);
	y = graph_in_place(graph, v, y, gate);
	return graph_view(graph, shape_of(sat_mul(v.a, v.b), t, 1), y);
}

/* Gates before and behind a convolution over a few tokens. */
static int short_conv(struct ggml_builder *b, const struct vc_mixer *mixer, int x)
{
	struct graph *graph = &b->graph;
	struct shape wide = shape_of(b->hidden, b->tokens, 1);
	int all = ggml_linear(b, x, shape_of(sat_mul(3, b->hidden), b->tokens, 1), false);
	int gated =
	        graph_op(graph, wide, graph_view(graph, wide, all), graph_view(graph, wide, all));
	int conv = conv_input(b, mixer, take_conv_state(b, mixer), gated);

	ggml_settle(b, false);
	conv = graph_op(graph, wide, conv, NO_NODE);
	return graph_in_place(graph, wide, graph_view(graph, wide, all), conv);
}

int ggml_recurrent(struct ggml_builder *b, const struct vc_mixer *mixer, int x)
{
	struct delta_shape delta = { mixer->key_heads, mixer->key_head_dim, mixer->value_heads,
		                     mixer->value_head_dim };

	switch (mixer->type) {
	case VC_MIXER_MAMBA:
		return mamba(b, mixer, x);
	case VC_MIXER_MAMBA2:
		return mamba2(b, mixer, x);
	case VC_MIXER_KIMI_DELTA:
		delta = (struct delta_shape){ mixer->heads, mixer->head_dim, mixer->heads,
			                      mixer->head_dim };
		return delta_net(b, mixer, x, &delta);
	case VC_MIXER_SHORT_CONV:
		return short_conv(b, mixer, x);
	default:
		return delta_net(b, mixer, x, &delta);
	}
}
