/*
 * The whole graph of a batch on one device: what comes in from the host, the layers, the logits.
 * github.com/ggml-org/llama.cpp, src/llama-context.cpp (graph_reserve), ggml/src/ggml-backend.cpp
 * (a split's inputs are copied before its first node runs).
 */
#include "ggml_buffer.h"

#include "sat.h"

#include <string.h>

enum {
	ALIGNMENT = 128,      /* of CUDA's buffers, ggml-cuda.cu */
	LONGEST_PATTERN = 16, /* layers after which a pattern repeats */
	FEWEST_REPEATS = 4,   /* below, all are laid out */
	REPEATS_OF_EXPERTS = 6,
	NODES_OF_A_LAYER = 400 /* more than any layer has */
};

static bool attends(const struct vc_mixer *mixer)
{
	return mixer->type == VC_MIXER_ATTENTION || mixer->type == VC_MIXER_LATENT;
}

static const struct vc_mixer *mixer_of_kind(const struct vc_layer_kind *kind,
                                            bool (*is)(const struct vc_mixer *))
{
	for (uint32_t i = 0; i < kind->mixer_count; i++) {
		if (is(&kind->mixers[i])) {
			return &kind->mixers[i];
		}
	}
	return NULL;
}

/* The first such mixer in the stack; NULL: there is none. */
static const struct vc_mixer *find_mixer(const struct vc_model *model, const struct vc_stack *stack,
                                         bool (*is)(const struct vc_mixer *))
{
	const struct vc_mixer *mixer = NULL;

	for (uint32_t i = 0; i < stack->layers && !mixer; i++) {
		mixer = mixer_of_kind(&model->kinds[stack->pattern[i]], is);
	}
	return mixer;
}

static bool has_window(const struct vc_mixer *mixer)
{
	return mixer->type == VC_MIXER_ATTENTION && mixer->window > 0;
}

static const struct vc_layer_kind *kind_at(const struct ggml_builder *b, uint32_t at)
{
	return &b->model->kinds[b->order[at]];
}

static bool has_experts(const struct vc_layer_kind *kind)
{
	return kind->ffn_count > 0 && kind->ffns[0].type == VC_FFN_MOE;
}

static bool looks_ahead(const struct vc_layer_kind *kind)
{
	return kind->mixer_count > 0 &&
	       (kind->mixers[0].type == VC_MIXER_MAMBA || kind->mixers[0].type == VC_MIXER_MAMBA2 ||
	        kind->mixers[0].type == VC_MIXER_SHORT_CONV);
}

static bool any_kind(const struct ggml_builder *b, bool (*is)(const struct vc_layer_kind *))
{
	bool any = false;

	for (uint32_t i = 0; i < b->stack->layers && !any; i++) {
		any = is(&b->model->kinds[b->stack->pattern[i]]);
	}
	return any;
}

/* Of a batch's tokens those whose logits are asked for. */
static int pick(struct ggml_builder *b, int x)
{
	return graph_op(&b->graph, shape_of(b->hidden, b->run->outputs, 1), x, b->outputs);
}

void ggml_settle(struct ggml_builder *b, bool behind_experts)
{
	uint32_t next = b->at + 1;

	if (b->to_pick != NO_NODE && !behind_experts) {
		b->to_pick = pick(b, b->to_pick);
	}
	if (b->conv_state >= 0 || (!behind_experts && has_experts(kind_at(b, b->at)))) {
		return;
	}
	/* layers of a feed-forward part alone are built without running anything */
	while (next < b->order_count && kind_at(b, next)->mixer_count == 0 &&
	       !has_experts(kind_at(b, next))) {
		next++;
	}
	if (next < b->order_count && looks_ahead(kind_at(b, next))) {
		b->conv_state = ggml_conv_state(b, &kind_at(b, next)->mixers[0]);
	}
}

static uint32_t repeats(const uint8_t *pattern, uint32_t left, uint32_t length)
{
	uint32_t count = 1;

	while ((count + 1) * length <= left &&
	       memcmp(pattern, pattern + (size_t)count * length, length) == 0) {
		count++;
	}
	return count;
}

/* The block of layers at the pattern's start that, repeated, covers most of it. */
static uint32_t longest_repeat(const uint8_t *pattern, uint32_t left, uint32_t *length)
{
	uint32_t best = 1;

	*length = 1;
	for (uint32_t n = 1; n <= LONGEST_PATTERN && n <= left; n++) {
		uint32_t count = repeats(pattern, left, n);

		if (count >= FEWEST_REPEATS && count * n > best * *length) {
			best = count;
			*length = n;
		}
	}
	return best;
}

/*
 * A block of layers that repeats gives the same peak however often it does, but for the place of
 * the residual, which alternates: an even number of repeats may be left out. The holes that experts
 * leave move on from layer to layer until they settle, those of states read ahead do not.
 */
static void lay_out_order(struct ggml_builder *b)
{
	const uint8_t *pattern = b->stack->pattern;
	uint32_t at = 0, layers = b->stack->layers, length;
	uint32_t least = any_kind(b, has_experts) ? REPEATS_OF_EXPERTS : 2;

	if (b->family->rotary_skips > 0 || any_kind(b, looks_ahead)) {
		at = layers;
	} else if (b->family->deepstack_layers < layers) {
		at = b->family->deepstack_layers;
	}
	memcpy(b->order, pattern, at);
	b->order_count = at;
	while (at < layers) {
		uint32_t count = longest_repeat(pattern + at, layers - at, &length);
		uint32_t kept = count >= least + 2 ? least + count % 2 : count;

		memcpy(b->order + b->order_count, pattern + at, (size_t)kept * length);
		b->order_count += kept * length;
		at += count * length;
	}
}

static uint64_t key_dim(const struct ggml_builder *b, const struct vc_mixer *attention)
{
	if (attention->type != VC_MIXER_LATENT) {
		return attention->head_dim;
	}
	return attention->qk_rope_head_dim +
	       (b->run->latent_cache ? attention->kv_lora_rank : attention->qk_nope_head_dim);
}

static void rotation_inputs(struct ggml_builder *b, const struct vc_mixer *attention,
                            struct ggml_cache_inputs *inputs)
{
	uint64_t k = key_dim(b, attention), width = ggml_rotation_width(k);
	uint64_t v = attention->v_head_dim ? attention->v_head_dim : attention->head_dim;
	bool latent = attention->type == VC_MIXER_LATENT && b->run->latent_cache;

	if (k % 64 == 0) {
		inputs->rotate_keys =
		        graph_op(&b->graph, shape_of(width, width, 1), NO_NODE, NO_NODE);
	}
	if (v % 64 == 0 && !latent) {
		inputs->rotate_values = graph_op(&b->graph, shape_of(64, 64, 1), NO_NODE, NO_NODE);
	}
}

static struct ggml_cache_inputs cache_inputs(struct ggml_builder *b, uint64_t cells,
                                             const struct vc_mixer *attention)
{
	struct graph *graph = &b->graph;
	uint64_t v = attention->v_head_dim ? attention->v_head_dim : attention->head_dim;
	uint64_t heads =
	        attention->type == VC_MIXER_LATENT ? attention->heads : attention->kv_heads;
	uint64_t indices = b->run->flash ? b->tokens : sat_mul3(b->tokens, v, heads);
	bool values = attention->type != VC_MIXER_LATENT || !b->run->latent_cache;
	struct ggml_cache_inputs inputs = { .rotate_keys = NO_NODE,
		                            .rotate_values = NO_NODE,
		                            .values = NO_NODE,
		                            .wide_mask = NO_NODE };

	if (b->run->quantized_cache) {
		rotation_inputs(b, attention, &inputs);
	}
	inputs.keys = graph_op(graph, shape_of(sat_mul(2, b->tokens), 1, 1), NO_NODE, NO_NODE);
	if (values) {
		inputs.values =
		        graph_op(graph, shape_of(sat_mul(2, indices), 1, 1), NO_NODE, NO_NODE);
	}
	inputs.mask = graph_op(graph, shape_of(cells, b->tokens, 1), NO_NODE, NO_NODE);
	if (b->run->flash && b->run->wide_masks) {
		inputs.wide_mask = inputs.mask;
	} else if (b->run->flash) {
		graph_halve(graph, inputs.mask);
	}
	return inputs;
}

static void attention_inputs(struct ggml_builder *b, const struct vc_mixer *attention)
{
	if (b->model->rotary_dim > 0 || b->model->rotary_tables > 0 ||
	    attention->type == VC_MIXER_LATENT) {
		b->positions = graph_op(
		        &b->graph, shape_of(b->tokens, b->family->position_sections ? 4 : 1, 1),
		        NO_NODE, NO_NODE);
	}
	if (b->two_caches) {
		b->window = cache_inputs(b, b->run->window_cells, attention);
	}
	b->full = cache_inputs(b, b->run->cells, attention);
}

static int sum(struct ggml_builder *b, int first, int second, uint64_t tokens)
{
	return graph_in_place(&b->graph, shape_of(b->hidden, tokens, 1), first, second);
}

static int mix(struct ggml_builder *b, const struct vc_mixer *mixer, int x)
{
	if (mixer->type == VC_MIXER_LATENT) {
		return ggml_latent(b, mixer, x);
	}
	return ggml_is_recurrent(mixer) ? ggml_recurrent(b, mixer, x) : ggml_attention(b, mixer, x);
}

static int project_out(struct ggml_builder *b, const struct vc_mixer *mixer, int x)
{
	struct shape shape = shape_of(b->hidden, b->tokens, 1);

	if (attends(mixer)) {
		x = ggml_finish_attention(b, mixer, x);
	}
	x = ggml_linear(b, x, shape, mixer->o_bias);
	if (ggml_is_recurrent(mixer) && mixer->type != VC_MIXER_MAMBA2) {
		x = graph_view(&b->graph, shape, x);
	}
	return x;
}

/* Attention and feed-forward side by side. In the last layer each is picked where the
 * architecture's code does it. */
static int parallel_layer(struct ggml_builder *b, const struct vc_layer_kind *kind, int residual,
                          bool last)
{
	enum ggml_order order = b->family->order;
	struct shape all = shape_of(b->hidden, b->tokens, 1);
	uint64_t tokens = last ? b->run->outputs : b->tokens;
	int normed = ggml_norm(b, residual, all), mixed = mix(b, &kind->mixers[0], normed), x;
	int out = NO_NODE, kept = residual;

	if (order == ORDER_PARALLEL_PHI) {
		out = project_out(b, &kind->mixers[0], mixed);
		out = last ? pick(b, out) : out;
	}
	if (order == ORDER_PARALLEL_NEOX) {
		kept = last ? pick(b, residual) : residual;
		x = ggml_norm(b, kept, shape_of(b->hidden, tokens, 1));
	} else {
		x = order == ORDER_PARALLEL_FALCON && kind->norms > 1 ? ggml_norm(b, residual, all)
		                                                      : normed;
		x = last ? pick(b, x) : x;
	}
	x = ggml_feed_forward(b, &kind->ffns[0], x, tokens);
	if (order == ORDER_PARALLEL_PHI || order == ORDER_PARALLEL_FALCON) {
		if (order == ORDER_PARALLEL_FALCON) {
			out = project_out(b, &kind->mixers[0], mixed);
			out = last ? pick(b, out) : out;
			x = sum(b, x, out, tokens);
		} else {
			x = sum(b, out, x, tokens);
		}
		return sum(b, x, last ? pick(b, residual) : residual, tokens);
	}
	if (order == ORDER_PARALLEL) {
		kept = last ? pick(b, residual) : residual;
	}
	x = sum(b, x, kept, tokens);
	out = project_out(b, &kind->mixers[0], mixed);
	out = last ? pick(b, out) : out;
	return sum(b, x, out, tokens);
}

static int feed_forward_half(struct ggml_builder *b, const struct vc_layer_kind *kind, int residual,
                             uint64_t tokens)
{
	struct shape shape = shape_of(b->hidden, tokens, 1);
	int x = residual;

	if (!b->family->no_pre_norms) {
		x = ggml_norm(b, x, shape);
	}
	x = ggml_feed_forward(b, &kind->ffns[0], x, tokens);
	if (b->family->post_norms) {
		x = ggml_norm(b, x, shape);
	}
	return b->family->residual_first ? sum(b, residual, x, tokens)
	                                 : sum(b, x, residual, tokens);
}

static int sequential_layer(struct ggml_builder *b, const struct vc_layer_kind *kind, int residual,
                            bool last)
{
	struct shape all = shape_of(b->hidden, b->tokens, 1);
	uint64_t tokens = last ? b->run->outputs : b->tokens;
	int x = b->family->no_pre_norms ? residual : ggml_norm(b, residual, all);

	b->to_pick = last && b->family->residuals_first ? residual : NO_NODE;
	if (kind->mixer_count == 0) { /* a layer of its own for the feed-forward part */
		x = ggml_feed_forward(b, &kind->ffns[0], x, b->tokens);
	} else {
		x = project_out(b, &kind->mixers[0], mix(b, &kind->mixers[0], x));
	}
	x = last ? pick(b, x) : x;
	if (b->family->post_norms) {
		x = ggml_norm(b, x, shape_of(b->hidden, tokens, 1));
	}
	if (b->to_pick != NO_NODE) { /* done on the way */
		residual = b->to_pick;
	} else if (last) {
		residual = pick(b, residual);
	}
	x = b->family->residuals_first ? sum(b, residual, x, tokens) : sum(b, x, residual, tokens);
	if (kind->mixer_count > 0 && kind->ffn_count > 0 && kind->ffns[0].type != VC_FFN_NONE) {
		x = feed_forward_half(b, kind, x, tokens);
	}
	return x;
}

static int layer(struct ggml_builder *b, int x, bool last)
{
	const struct vc_layer_kind *kind = kind_at(b, b->at);

	if (b->first_layer && looks_ahead(kind)) {
		b->conv_state = ggml_conv_state(b, &kind->mixers[0]);
	}
	b->first_layer = false;
	if (b->family->order != ORDER_SEQUENTIAL && kind->mixer_count > 0 && kind->ffn_count > 0) {
		return parallel_layer(b, kind, x, last);
	}
	if (kind->mixer_count == 0 && kind->ffn_count == 0) {
		return x;
	}
	return sequential_layer(b, kind, x, last);
}

static int layers(struct ggml_builder *b, int x)
{
	bool in_last = b->family->outputs == OUTPUTS_IN_LAST_LAYER && !b->run->without_output;

	for (b->at = 0; b->at < b->order_count; b->at++) {
		bool last = b->at + 1 == b->order_count;

		if (last || b->graph.count + 2 * NODES_OF_A_LAYER < GRAPH_MAX_NODES) {
			x = layer(b, x, last && in_last);
			if (b->at < b->family->deepstack_layers) {
				struct shape shape = shape_of(b->hidden, b->tokens, 1);

				x = sum(b, x, graph_view(&b->graph, shape, b->features), b->tokens);
			}
		}
	}
	return x;
}

static void logits(struct ggml_builder *b, int x)
{
	struct graph *graph = &b->graph;
	struct shape all = shape_of(b->hidden, b->tokens, 1);
	struct shape out = shape_of(b->model->vocab_size, b->run->outputs, 1);

	if (b->family->outputs == OUTPUTS_AFTER_NORM) {
		x = ggml_norm(b, x, all);
		graph_keep(graph, x);
		x = pick(b, x);
	} else {
		if (b->family->outputs == OUTPUTS_AFTER_LAYERS) {
			graph_keep(graph, x);
			x = pick(b, x);
		}
		x = ggml_norm(b, x, shape_of(b->hidden, b->run->outputs, 1));
	}
	graph_keep(graph, x);
	x = ggml_linear(b, x, out, b->family->scales_logits);
	if (b->family->caps_logits) {
		for (int i = 0; i < 3; i++) {
			x = graph_in_place(graph, out, x, NO_NODE);
		}
	}
	graph_keep(graph, x);
}

/* Devices that work in turn on several batches keep the inputs of each. */
static void multiply_inputs(struct ggml_builder *b)
{
	for (int32_t i = 0; b->run->copies > 1 && i < b->graph.count; i++) {
		b->graph.nodes[i].bytes = sat_mul(b->graph.nodes[i].bytes, b->run->copies);
		graph_keep(&b->graph, i);
	}
}

/* Which states this batch continues, and which it only moves. */
static void state_inputs(struct ggml_builder *b)
{
	b->state_ids = graph_op(&b->graph, shape_of(1, 1, 1), NO_NODE, NO_NODE);
	b->other_ids = graph_op(&b->graph, shape_of(0, 1, 1), NO_NODE, NO_NODE);
}

/* In the order in which nodes first read them; the embedded tokens are returned. */
static int inputs(struct ggml_builder *b)
{
	const struct vc_mixer *attention = find_mixer(b->model, b->stack, attends);
	struct shape tokens = shape_of(b->hidden, b->tokens, 1);
	bool recurrent = find_mixer(b->model, b->stack, ggml_is_recurrent);
	bool states_first = looks_ahead(kind_at(b, 0)) && !b->family->scales_embedding;
	int x, learned = NO_NODE;

	if (states_first) {
		state_inputs(b);
	}
	x = graph_op(&b->graph, tokens, NO_NODE, NO_NODE);
	if (b->family->learned_positions) { /* looked up in host memory, like the tokens */
		learned = graph_op(&b->graph, tokens, NO_NODE, NO_NODE);
	}
	if (recurrent && !states_first) {
		state_inputs(b);
	}
	if (attention) {
		attention_inputs(b, attention);
	}
	if (!b->run->without_output) {
		b->outputs = graph_op(&b->graph, shape_of(b->run->outputs, 1, 1), NO_NODE, NO_NODE);
	}
	multiply_inputs(b);
	if (b->family->scales_embedding) {
		x = graph_in_place(&b->graph, tokens, x, NO_NODE);
	}
	if (b->family->deepstack_layers > 0) {
		uint64_t parts = 1ull + b->family->deepstack_layers;

		b->features = graph_op(&b->graph, shape_of(sat_mul(parts, b->hidden), b->tokens, 1),
		                       x, NO_NODE);
		x = graph_view(&b->graph, tokens, b->features);
	}
	return learned == NO_NODE ? x : sum(b, x, learned, b->tokens);
}

uint64_t ggml_compute_bytes(const struct vc_model *model, const struct ggml_run *run)
{
	struct ggml_builder b = { .model = model,
		                  .stack = &model->stacks[0],
		                  .family = ggml_family_of(model),
		                  .run = run,
		                  .tokens = run->tokens,
		                  .positions = NO_NODE,
		                  .outputs = NO_NODE,
		                  .state_ids = NO_NODE,
		                  .other_ids = NO_NODE,
		                  .full = { .rotate_keys = NO_NODE, .rotate_values = NO_NODE },
		                  .query_gate = NO_NODE,
		                  .conv_state = NO_NODE,
		                  .to_pick = NO_NODE,
		                  .first_layer = true };
	int x;

	for (uint32_t i = 0; i < model->stack_count; i++) {
		if (model->stacks[i].role == VC_STACK_DECODER) {
			b.stack = &model->stacks[i];
		}
	}
	b.hidden = b.stack->hidden_size;
	b.two_caches = !b.family->full_window && find_mixer(model, b.stack, has_window);
	lay_out_order(&b);
	x = inputs(&b);
	x = layers(&b, x);
	if (run->without_output) {
		graph_keep(&b.graph, x);
	} else {
		logits(&b, x);
	}
	return graph_peak_bytes(&b.graph, ALIGNMENT);
}

static bool same_run(const struct ggml_run *a, const struct ggml_run *b)
{
	return a->tokens == b->tokens && a->outputs == b->outputs && a->cells == b->cells &&
	       a->window_cells == b->window_cells && a->flash == b->flash &&
	       a->quantized_cache == b->quantized_cache && a->latent_cache == b->latent_cache &&
	       a->without_output == b->without_output && a->separate_gates == b->separate_gates &&
	       a->wide_masks == b->wide_masks && a->copies == b->copies &&
	       a->expert_copy_bytes == b->expert_copy_bytes;
}

uint64_t ggml_known_compute_bytes(struct vc_memo *memo, const struct vc_model *model,
                                  const struct ggml_run *run)
{
	uint64_t bytes;

	for (uint32_t i = 0; memo && i < MEMO_RUNS; i++) {
		if (memo->known[i].model == model && same_run(&memo->known[i].run, run)) {
			return memo->known[i].bytes;
		}
	}
	bytes = ggml_compute_bytes(model, run);
	if (memo) {
		memo->known[memo->next].model = model;
		memo->known[memo->next].run = *run;
		memo->known[memo->next].bytes = bytes;
		memo->next = (memo->next + 1) % MEMO_RUNS;
	}
	return bytes;
}
