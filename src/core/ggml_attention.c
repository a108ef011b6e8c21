/*
 * Attention as llama.cpp's graph has it: queries, keys and values, rotated where the cache is
 * quantized, written into the cache, and either the fused operation or scores, softmax and sum.
 * github.com/ggml-org/llama.cpp, src/llama-graph.cpp (build_attn, build_attn_mha) and
 * src/models/{llama,gemma3,phi3,deepseek2}.cpp
 */
#include "ggml_block.h"

#include "sat.h"

static uint64_t value_dim(const struct vc_mixer *mixer)
{
	return mixer->v_head_dim ? mixer->v_head_dim : mixer->head_dim;
}

uint64_t ggml_rotation_width(uint64_t head_dim)
{
	uint64_t width = 64;

	while (head_dim > 0 && head_dim % (width * 2) == 0) {
		width *= 2;
	}
	return width;
}

static bool in_window(const struct ggml_builder *b, const struct vc_mixer *mixer)
{
	return b->two_caches && mixer->window > 0;
}

static struct ggml_cache_inputs *cache_of(struct ggml_builder *b, const struct vc_mixer *mixer)
{
	return in_window(b, mixer) ? &b->window : &b->full;
}

/* A Hadamard matrix spreads outliers before a quantized cache is written (llama.cpp, 2026). */
static int rotate(struct ggml_builder *b, int x, int matrix, uint64_t width, struct shape shape)
{
	struct shape rows;

	if (matrix < 0) {
		return x;
	}
	rows = shape_of(width, sat_mul3(shape.a, shape.b, shape.c) / width, 1);
	x = graph_view(&b->graph, rows, x);
	return graph_view(&b->graph, shape, graph_op(&b->graph, rows, matrix, x));
}

/* Of queries and keys. */
static int rotate_keys(struct ggml_builder *b, const struct vc_mixer *mixer, int x,
                       struct shape shape)
{
	return rotate(b, x, cache_of(b, mixer)->rotate_keys, ggml_rotation_width(shape.a), shape);
}

struct qkv {
	struct shape q, k, v;
	uint64_t v_out; /* width of a head's result */
	int queries, keys, values;
	bool reads_only; /* an earlier layer's cache */
};

/* Done once, where the first layer needs it. */
static void narrow_mask(struct ggml_builder *b, struct ggml_cache_inputs *cache, uint64_t cells)
{
	if (cache->wide_mask != NO_NODE) {
		cache->mask = graph_op(&b->graph, shape_of(cells, b->tokens, 1), cache->wide_mask,
		                       NO_NODE);
		graph_halve(&b->graph, cache->mask);
		cache->wide_mask = NO_NODE;
	}
}

static int fused_scores(struct ggml_builder *b, const struct qkv *qkv, int q, int mask)
{
	struct graph *graph = &b->graph;
	struct shape out = shape_of(qkv->v.a, qkv->q.b, b->tokens);
	int x = graph_op(graph, out, q, mask);

	if (qkv->v_out == qkv->v.a) {
		return graph_view(graph, shape_of(out.a * out.b, out.c, 1), x);
	}
	/* latent attention: the result is brought back to a head's width */
	x = graph_view(graph, shape_of(out.a, out.c, out.b), x);
	x = graph_op(graph, shape_of(qkv->v_out, out.c, out.b), x, NO_NODE);
	x = graph_view(graph, shape_of(qkv->v_out, out.b, out.c), x);
	x = graph_op(graph, shape_of(qkv->v_out, out.b, out.c), x, NO_NODE);
	return graph_view(graph, shape_of(qkv->v_out * out.b, out.c, 1), x);
}

static int plain_scores(struct ggml_builder *b, const struct qkv *qkv, int q, int mask,
                        uint64_t cells)
{
	struct graph *graph = &b->graph;
	struct shape scores = shape_of(cells, b->tokens, qkv->q.b);
	struct shape sums = shape_of(qkv->v.a, b->tokens, qkv->q.b);
	int transposed = NO_NODE, x;

	if (qkv->values < 0 &&
	    !qkv->reads_only) { /* values are a part of the keys: turned into a 16-bit copy */
		transposed = graph_op(graph, shape_of(cells, qkv->v.a, 1), NO_NODE, NO_NODE);
		graph_halve(graph, transposed);
	}
	x = graph_op(graph, scores, q, NO_NODE);
	if (b->family->caps_scores) {
		for (int i = 0; i < 3; i++) {
			x = graph_in_place(graph, scores, x, NO_NODE);
		}
	}
	x = graph_in_place(graph, scores, x, mask);
	x = transposed < 0 ? graph_op(graph, sums, x, NO_NODE)
	                   : graph_op(graph, sums, transposed, x);
	if (qkv->v_out != qkv->v.a) {
		sums.a = qkv->v_out;
		x = graph_op(graph, sums, x, NO_NODE);
	}
	x = graph_view(graph, shape_of(sums.a, sums.c, sums.b), x);
	return graph_op(graph, shape_of(sums.a * sums.c, sums.b, 1), x, NO_NODE);
}

static int attend(struct ggml_builder *b, const struct vc_mixer *mixer, const struct qkv *qkv)
{
	struct graph *graph = &b->graph;
	bool window = in_window(b, mixer);
	struct ggml_cache_inputs *cache = cache_of(b, mixer);
	uint64_t cells = window ? b->run->window_cells : b->run->cells;
	uint64_t v_width = sat_mul(qkv->v.a, qkv->v.b);
	int x;

	if (!qkv->reads_only) {
		x = graph_view(graph, shape_of(qkv->k.a * qkv->k.b, b->tokens, 1), qkv->keys);
		graph_sink(graph, x, cache->keys);
	}
	if (!qkv->reads_only && qkv->values >= 0) {
		x = graph_view(graph, shape_of(v_width, b->tokens, 1), qkv->values);
		if (!b->run->flash) { /* stored transposed, element by element */
			x = graph_view(graph, shape_of(1, sat_mul(v_width, b->tokens), 1), x);
		}
		graph_sink(graph, x, cache->values);
	}
	x = graph_view(graph, qkv->q, qkv->queries);
	x = graph_view(graph, shape_of(qkv->q.a, b->tokens, qkv->q.b), x);
	narrow_mask(b, cache, cells);
	x = b->run->flash ? fused_scores(b, qkv, x, cache->mask)
	                  : plain_scores(b, qkv, x, cache->mask, cells);
	ggml_settle(b, false);
	return x;
}

/* What follows the projection of queries or keys. */
static int prepare(struct ggml_builder *b, const struct vc_mixer *mixer, int x, struct shape shape,
                   bool query)
{
	uint32_t skips = b->family->rotary_skips;
	bool rotary = b->positions >= 0 && !(b->family->rotary_in_windows && mixer->window == 0) &&
	              (skips == 0 || (b->at + 1) % skips != 0);

	if (mixer->inner_norm_elements > 0 && !b->family->norm_all_heads) {
		x = ggml_norm(b, x, shape);
	}
	if (rotary) {
		x = graph_in_place(&b->graph, shape, x, b->positions);
	}
	if (query && b->family->scales_queries) {
		x = graph_in_place(&b->graph, shape, x, NO_NODE);
	}
	return rotate_keys(b, mixer, x, shape);
}

static int project(struct ggml_builder *b, const struct vc_mixer *mixer, int x, struct shape shape,
                   bool query)
{
	uint64_t width = sat_mul(shape.a, shape.b);
	bool gated = query && mixer->gated;
	struct shape flat = shape_of(gated ? sat_mul(2, width) : width, b->tokens, 1);

	x = ggml_linear(b, x, flat, query ? mixer->q_bias : mixer->k_bias);
	if (gated) {
		b->query_gate = x;
	}
	if (mixer->inner_norm_elements > 0 && b->family->norm_all_heads) {
		x = ggml_norm(b, x, flat);
	}
	return prepare(b, mixer, graph_view(&b->graph, shape, x), shape, query);
}

static int project_values(struct ggml_builder *b, const struct vc_mixer *mixer, int x,
                          struct shape shape)
{
	x = ggml_linear(b, x, shape_of(sat_mul(shape.a, shape.b), b->tokens, 1), mixer->v_bias);
	return rotate(b, graph_view(&b->graph, shape, x), cache_of(b, mixer)->rotate_values, 64,
	              shape);
}

static void fused_projections(struct ggml_builder *b, const struct vc_mixer *mixer, int x,
                              struct qkv *qkv)
{
	uint64_t width = sat_add(sat_mul(qkv->q.a, qkv->q.b),
	                         sat_add(sat_mul(qkv->k.a, qkv->k.b), sat_mul(qkv->v.a, qkv->v.b)));
	int all = ggml_linear(b, x, shape_of(width, b->tokens, 1), mixer->q_bias);

	qkv->queries = prepare(b, mixer, graph_view(&b->graph, qkv->q, all), qkv->q, true);
	qkv->values = graph_view(&b->graph, qkv->v, all);
	if (cache_of(b, mixer)->rotate_values >= 0) {
		/* a strided view is copied before it is rotated */
		qkv->values = graph_op(&b->graph,
		                       shape_of(64, sat_mul3(qkv->v.a, qkv->v.b, qkv->v.c) / 64, 1),
		                       qkv->values, NO_NODE);
		qkv->values = graph_op(&b->graph,
		                       shape_of(64, sat_mul3(qkv->v.a, qkv->v.b, qkv->v.c) / 64, 1),
		                       cache_of(b, mixer)->rotate_values, qkv->values);
		qkv->values = graph_view(&b->graph, qkv->v, qkv->values);
	}
	qkv->keys = prepare(b, mixer, graph_view(&b->graph, qkv->k, all), qkv->k, false);
}

int ggml_finish_attention(struct ggml_builder *b, const struct vc_mixer *mixer, int x)
{
	struct graph *graph = &b->graph;
	struct shape flat = shape_of(sat_mul(value_dim(mixer), mixer->heads), b->tokens, 1);
	struct shape q = shape_of(mixer->head_dim, mixer->heads, b->tokens);
	int rotation = cache_of(b, mixer)->rotate_values;

	if (rotation >= 0) {
		struct shape rows = shape_of(64, sat_mul(flat.a, flat.b) / 64, 1);

		x = graph_view(graph, rows, x);
		x = graph_view(graph, flat, graph_op(graph, rows, rotation, x));
	}
	if (mixer->gated && b->query_gate >= 0) {
		int gate = graph_view(graph, q, b->query_gate);

		gate = graph_op(graph, flat, gate, NO_NODE);
		gate = graph_in_place(graph, flat, gate, NO_NODE);
		x = graph_in_place(graph, flat, x, gate);
	}
	b->query_gate = NO_NODE;
	return x;
}

int ggml_attention(struct ggml_builder *b, const struct vc_mixer *mixer, int x)
{
	struct qkv qkv = {
		.q = shape_of(mixer->head_dim, mixer->heads, b->tokens),
		.k = shape_of(mixer->head_dim, mixer->kv_heads, b->tokens),
		.v = shape_of(value_dim(mixer), mixer->kv_heads, b->tokens),
		.v_out = value_dim(mixer),
		.keys = NO_NODE,
		.values = NO_NODE,
	};
	bool stores = !mixer->shares_kv && !mixer->no_kv_projection;

	qkv.reads_only = !stores;

	if (mixer->fused_qkv && !b->family->splits_fused) {
		fused_projections(b, mixer, x, &qkv);
		return attend(b, mixer, &qkv);
	}
	qkv.queries = project(b, mixer, x, qkv.q, true);
	if (stores && !b->two_caches) {
		qkv.values = project_values(b, mixer, x, qkv.v);
	}
	if (stores) {
		qkv.keys = project(b, mixer, x, qkv.k, false);
	}
	if (stores && b->two_caches) {
		qkv.values = project_values(b, mixer, x, qkv.v);
	}
	return attend(b, mixer, &qkv);
}

static int latent_queries(struct ggml_builder *b, const struct vc_mixer *mixer, int x,
                          uint64_t width)
{
	if (mixer->q_lora_rank > 0) {
		struct shape low = shape_of(mixer->q_lora_rank, b->tokens, 1);

		x = ggml_rms_norm(b, ggml_linear(b, x, low, false), low);
	}
	return ggml_linear(b, x, shape_of(sat_mul(width, mixer->heads), b->tokens, 1), false);
}

/* The latent of keys and values with the shared rotary key beside it; the norm of the latent. */
static int compressed(struct ggml_builder *b, const struct vc_mixer *mixer, int x, int *both)
{
	struct shape latent = shape_of(mixer->kv_lora_rank, b->tokens, 1);

	*both = ggml_linear(
	        b, x, shape_of(mixer->kv_lora_rank + mixer->qk_rope_head_dim, b->tokens, 1), false);
	return ggml_rms_norm(b, graph_view(&b->graph, latent, *both), latent);
}

static int expanded_latent(struct ggml_builder *b, const struct vc_mixer *mixer, int x)
{
	struct graph *graph = &b->graph;
	uint64_t nope = mixer->qk_nope_head_dim, rope = mixer->qk_rope_head_dim;
	uint64_t heads = mixer->heads, t = b->tokens;
	struct qkv qkv = { .q = shape_of(nope + rope, heads, t),
		           .k = shape_of(nope + rope, heads, t),
		           .v = shape_of(mixer->v_head_dim, heads, t),
		           .v_out = mixer->v_head_dim };
	int all, both, rotary;

	qkv.queries = graph_view(graph, qkv.q, latent_queries(b, mixer, x, nope + rope));
	qkv.queries = graph_in_place(graph, qkv.q, qkv.queries, b->positions);
	qkv.queries = rotate_keys(b, mixer, qkv.queries, qkv.q);
	all = compressed(b, mixer, x, &both);
	all = ggml_linear(b, all, shape_of(sat_mul(heads, nope + mixer->v_head_dim), t, 1), false);
	qkv.values = graph_op(graph, qkv.v, graph_view(graph, qkv.v, all), NO_NODE);
	qkv.values = rotate(b, qkv.values, b->full.rotate_values, 64, qkv.v);
	qkv.keys = graph_view(graph, shape_of(nope, heads, t), all);
	rotary = graph_view(graph, shape_of(rope, 1, t), both);
	rotary = graph_in_place(graph, shape_of(rope, 1, t), rotary, b->positions);
	rotary = graph_op(graph, shape_of(rope, heads, t), rotary, NO_NODE);
	qkv.keys = graph_op(graph, qkv.k, qkv.keys, rotary);
	qkv.keys = rotate_keys(b, mixer, qkv.keys, qkv.k);
	return attend(b, mixer, &qkv);
}

static int absorbed_latent(struct ggml_builder *b, const struct vc_mixer *mixer, int x)
{
	struct graph *graph = &b->graph;
	uint64_t nope = mixer->qk_nope_head_dim, rope = mixer->qk_rope_head_dim;
	uint64_t rank = mixer->kv_lora_rank, heads = mixer->heads, t = b->tokens;
	struct qkv qkv = { .q = shape_of(rank + rope, heads, t),
		           .k = shape_of(rank + rope, 1, t),
		           .v = shape_of(rank, heads, t),
		           .v_out = mixer->v_head_dim,
		           .values = NO_NODE };
	int all = graph_view(graph, shape_of(nope + rope, heads, t),
	                     latent_queries(b, mixer, x, nope + rope));
	int part = graph_view(graph, shape_of(nope, heads, t), all), rotary, both;

	part = graph_view(graph, shape_of(nope, t, heads), part);
	part = graph_op(graph, shape_of(rank, t, heads), part, NO_NODE);
	part = graph_view(graph, shape_of(rank, heads, t), part);
	rotary = graph_view(graph, shape_of(rope, heads, t), all);
	rotary = graph_in_place(graph, shape_of(rope, heads, t), rotary, b->positions);
	qkv.queries = graph_op(graph, qkv.q, part, rotary);
	qkv.queries = rotate_keys(b, mixer, qkv.queries, qkv.q);
	part = compressed(b, mixer, x, &both);
	part = graph_view(graph, shape_of(rank, 1, t), part);
	rotary = graph_view(graph, shape_of(rope, 1, t), both);
	rotary = graph_in_place(graph, shape_of(rope, 1, t), rotary, b->positions);
	qkv.keys = graph_op(graph, qkv.k, part, rotary);
	qkv.keys = rotate_keys(b, mixer, qkv.keys, qkv.k);
	return attend(b, mixer, &qkv);
}

int ggml_latent(struct ggml_builder *b, const struct vc_mixer *mixer, int x)
{
	return b->run->latent_cache ? absorbed_latent(b, mixer, x) : expanded_latent(b, mixer, x);
}
