/*
 * Saved tensors per token of a layer, by kind of layer and style of implementation, counted as
 * torch.autograd keeps them. Korthikanti et al. (arxiv.org/abs/2205.05198) for the fused style:
 * 34 s b h of a GPT block is 10 h that tensor parallelism leaves whole and 24 h that it divides.
 * docs/formulas.md#training-activations
 */
#include "train_activation.h"

#include "lora.h"
#include "sat.h"
#include "train_size.h"
#include "train_static.h"

#include <string.h>

/* Widths of one layer kind, in elements per token. */
struct widths {
	uint64_t hidden;
	uint64_t queries, keys, values, outputs; /* of attention */
	uint64_t heads;
	uint64_t summed_heads; /* of them: with a log-sum-exp */
	uint64_t scanned;      /* state-space mixers: projections in and out */
	uint64_t gated, dense; /* feed-forward */
	uint64_t routed;       /* experts per token */
	uint64_t routed_width; /* their widths together */
	uint64_t shared;
	uint64_t norms;
	uint64_t inner_norms,
	        inner_rows; /* norms on queries and keys; 4 bytes of statistics each */
	bool routed_gated, layer_norm, stepwise_gelu, relu;
	bool wide_norms; /* multiply by their weights in fp32 */
	bool raised;     /* norms compute in a wider type than the layer */
};

/* Bytes per token: what tensor parallelism leaves whole, and what it divides. */
struct share {
	uint64_t whole, divided;
};

static uint64_t either(uint64_t value, uint64_t fallback)
{
	return value ? value : fallback;
}

static void add_attention(struct widths *w, const struct vc_mixer *m)
{
	uint64_t v_dim = either(m->v_head_dim, m->head_dim);
	uint64_t qk_dim = m->head_dim;
	uint64_t kv_heads = m->kv_heads;

	if (m->type == VC_MIXER_LATENT) {
		qk_dim = sat_add(m->qk_nope_head_dim, m->qk_rope_head_dim);
		v_dim = m->v_head_dim;
		kv_heads = m->heads;
	}
	w->queries = sat_add(w->queries, sat_mul(m->heads, qk_dim));
	w->keys = sat_add(w->keys, sat_mul(kv_heads, qk_dim));
	w->values = sat_add(w->values, sat_mul(kv_heads, v_dim));
	w->outputs = sat_add(w->outputs, sat_mul(m->heads, v_dim));
	w->heads = sat_add(w->heads, m->heads);
	w->summed_heads = w->heads;
	w->scanned = sat_add(w->scanned, sat_add(m->q_lora_rank, m->kv_lora_rank));
	if (m->inner_norm_elements == sat_mul(2, m->head_dim)) {
		/* one norm for every head */
		w->inner_norms = sat_mul(sat_add(m->heads, m->kv_heads), m->head_dim);
		w->inner_rows = sat_add(m->heads, m->kv_heads);
	} else if (m->inner_norm_elements > 0) {
		w->inner_norms = m->inner_norm_elements;
		w->inner_rows = 2;
	}
}

static bool is_attention(enum vc_mixer_type type)
{
	return type == VC_MIXER_ATTENTION || type == VC_MIXER_LATENT ||
	       type == VC_MIXER_CROSS_ATTENTION;
}

/* Linear-attention and state-space mixers: inputs and outputs of their projections, once each. */
static void add_scan(struct widths *w, const struct vc_layer_kind *kind, uint64_t hidden)
{
	struct vc_tensor tensors[VC_MAX_LAYER_TENSORS];
	size_t count = vc_layer_tensors(kind, hidden, tensors);

	for (size_t i = 0; i < count; i++) {
		if (tensors[i].module == VC_MODULE_SSM_IN || tensors[i].module == VC_MODULE_CONV) {
			w->scanned = sat_add(w->scanned, tensors[i].out);
		} else if (tensors[i].module == VC_MODULE_SSM_OUT) {
			w->scanned = sat_add(w->scanned, sat_mul(2, tensors[i].in));
		}
	}
}

static void add_ffn(struct widths *w, const struct vc_ffn *f)
{
	if (f->type == VC_FFN_GATED) {
		w->gated = sat_add(w->gated, f->size);
	} else if (f->type == VC_FFN_DENSE) {
		w->dense = sat_add(w->dense, f->size);
	} else if (f->type == VC_FFN_MOE) {
		w->routed = sat_add(w->routed, f->experts_per_token);
		w->routed_width = sat_add(w->routed_width, sat_mul(f->experts_per_token, f->size));
		w->shared = sat_add(w->shared, f->shared_size);
		w->routed_gated = f->gated;
	}
}

/* Eager attention repeats keys and values for all query heads, and forms no log-sum-exp. */
static void widen_keys(struct widths *w)
{
	w->summed_heads = 0;
	if (w->keys > 0 && w->keys < w->queries) {
		w->values = w->outputs;
		w->keys = w->queries;
	}
}

/* Returns whether some mixer has only a rough figure. */
static bool measure(const struct vc_layer_kind *kind, uint64_t hidden, struct widths *w)
{
	bool rough = false;

	*w = (struct widths){ .hidden = hidden, .norms = kind->norms };
	w->layer_norm = kind->norms > 0 && kind->norm_elements >= sat_mul3(2, kind->norms, hidden);
	for (uint32_t i = 0; i < kind->mixer_count; i++) {
		if (is_attention(kind->mixers[i].type)) {
			add_attention(w, &kind->mixers[i]);
		} else {
			rough = true;
		}
	}
	if (rough) {
		add_scan(w, kind, hidden);
	}
	for (uint32_t i = 0; i < kind->ffn_count; i++) {
		add_ffn(w, &kind->ffns[i]);
	}
	return rough;
}

static uint64_t attention_bytes(const struct widths *w)
{
	return sat_mul(2, sat_add(sat_add(w->queries, w->keys),
	                          sat_add(sat_add(w->values, w->outputs), w->scanned)));
}

/* Experts one after the other, as transformers' loops run them: 4 h + 8 f of each chosen one. */
static uint64_t expert_bytes(const struct widths *w)
{
	return sat_add(
	        sat_mul3(4, w->routed, w->hidden),
	        sat_add(sat_mul(w->routed_gated ? 8 : 4, w->routed_width), sat_mul(8, w->shared)));
}

/* An RMS norm keeps an fp32 copy of its input, the normalized input and its output, which a matrix
 * multiplication reads: 8 bytes; and 4 of statistics a token. */
static uint64_t norm_bytes(const struct widths *w)
{
	uint64_t each = w->layer_norm ? 4 : w->raised ? 8 : 6;
	/* of four norms, two stand before the residual sum, which keeps nothing */
	uint64_t unread = w->wide_norms && w->norms == 4 ? 2 : 0;

	each += w->wide_norms && w->raised ? 2 : 0;
	return sat_sub(sat_mul(w->norms, sat_add(sat_mul(each, w->hidden), 4)),
	               sat_mul3(2, unread, w->hidden));
}

static struct share eager_saved(const struct widths *w)
{
	uint64_t dense = w->stepwise_gelu ? 10 : w->relu ? 2 : 4;
	uint64_t ffn = sat_add(sat_mul(8, w->gated), sat_mul(dense, w->dense));
	uint64_t inner = sat_add(sat_mul(w->wide_norms && w->raised ? 8 : 6, w->inner_norms),
	                         sat_mul(4, w->inner_rows));

	return (struct share){
		.whole = norm_bytes(w),
		.divided = sat_add(sat_add(attention_bytes(w), sat_mul(4, w->summed_heads)),
		                   sat_add(inner, sat_add(ffn, expert_bytes(w)))),
	};
}

/*
 * With frozen weights a norm keeps its fp32 input only, no linear its input, a gated feed-forward
 * part gate, its activation and up (6 f); each adapter keeps a copy of its input in its own
 * precision, and its inner product. To the byte as torch saves them: test_train_activation.
 */
static struct share eager_adapter_saved(const struct widths *w, uint64_t adapter_inputs)
{
	uint64_t ffn = sat_add(sat_mul(6, w->gated), sat_mul(w->stepwise_gelu ? 8 : 2, w->dense));
	uint64_t inner = sat_mul(4, sat_add(w->inner_norms, w->inner_rows));
	uint64_t experts = sat_add(
	        sat_mul3(2, w->routed, w->hidden),
	        sat_add(sat_mul(w->routed_gated ? 6 : 2, w->routed_width), sat_mul(6, w->shared)));

	return (struct share){
		.whole = sat_mul(w->norms, sat_add(sat_mul(w->layer_norm ? 2 : 4, w->hidden), 4)),
		.divided = sat_add(sat_add(attention_bytes(w), sat_mul(4, w->summed_heads)),
		                   sat_add(sat_add(adapter_inputs, inner), sat_add(ffn, experts))),
	};
}

static struct share fused_saved(const struct widths *w)
{
	uint64_t experts = sat_mul3(2, 1,
	                            sat_add(sat_mul(w->routed, w->hidden),
	                                    sat_mul(3, sat_add(w->routed_width, w->shared))));
	uint64_t ffn = sat_add(sat_mul(6, w->gated), sat_mul(4, w->dense));
	bool gated = w->gated > 0 || w->routed_gated;

	return (struct share){ .whole = sat_mul(gated ? 8 : 10, w->hidden),
		               .divided = sat_add(attention_bytes(w), sat_add(ffn, experts)) };
}

/*
 * LitGPT with adapters: RMS norms keep fp32, adapters a dropped-out copy of their input, attention
 * the whole fused projection (a view of it is kept as V). 7.4 h of the attention is measured, on
 * StableLM-3B and Llama-2-7B alike (Lightning-AI/litgpt, tables in its history); grouped keys and
 * values are expanded to all heads.
 */
static struct share litgpt_adapter_saved(const struct widths *w, bool keeps_inputs)
{
	bool grouped = w->keys < w->queries;
	uint64_t rotated = sat_mul(4, w->queries);
	uint64_t held = grouped ? sat_mul(2, w->queries)
	                        : sat_add(sat_mul(2, w->queries), sat_mul(4, w->keys));
	uint64_t norms = sat_mul3(w->layer_norm ? 2 : 4, w->layer_norm ? 1 : w->norms, w->hidden);
	uint64_t bytes = sat_add(sat_add(rotated, held), sat_mul(2, w->outputs));
	uint64_t f = sat_add(w->gated, w->dense);

	bytes = sat_add(bytes, sat_scale_up(w->hidden, 74, 10));
	bytes = sat_add(bytes, sat_add(sat_mul(6, w->gated), sat_mul(2, w->dense)));
	if (keeps_inputs) {
		bytes = sat_add(bytes, sat_mul(3, sat_add(sat_mul(3, w->hidden), f)));
	}
	return (struct share){ .divided = sat_add(sat_add(bytes, norms), expert_bytes(w)) };
}

static struct share litgpt_full_saved(const struct widths *w)
{
	uint64_t ffn = sat_add(sat_mul(8, w->gated), sat_mul(6, w->dense));

	return (struct share){ .divided = sat_add(sat_add(sat_mul(26, w->hidden), ffn),
		                                  expert_bytes(w)) };
}

/* Between the checkpointed input, attention's output and every other matrix multiplication. */
static struct share selective_saved(const struct widths *w)
{
	uint64_t products =
	        sat_add(sat_add(w->queries, sat_add(w->keys, w->values)), sat_mul(2, w->hidden));

	products = sat_add(products, sat_add(sat_mul(2, w->gated), w->dense));
	products = sat_add(products, sat_add(sat_mul(2, w->routed_width), sat_mul(2, w->shared)));
	return (struct share){ .whole = sat_mul(2, w->hidden),
		               .divided = sat_add(sat_mul(2, w->outputs), products) };
}

/* One layer recomputed, with the gradients of its widest tensors: counted for Llama blocks,
 * measured 65.1 h against 14 f + 16 h = 65.0 for Llama-3-8B with adapters. */
static uint64_t eager_working(const struct widths *w)
{
	uint64_t attention = sat_sub(attention_bytes(w), sat_mul(8, w->hidden));
	uint64_t bytes = sat_mul(w->dense > 0 ? 18 : 16, w->hidden);

	bytes = sat_add(bytes, sat_add(sat_mul(14, w->gated),
	                               sat_mul(w->stepwise_gelu ? 14 : 8, w->dense)));
	if (w->routed > 0) {
		bytes = sat_add(bytes, sat_add(expert_bytes(w), sat_mul(6, w->shared)));
	}
	return sat_add(bytes, attention);
}

struct layer_shape {
	const struct vc_layer_kind *kind;
	struct widths widths;
};

struct layers {
	const struct vc_request *request;
	const struct train_policy *policy;
	struct train_activation *out;
	uint64_t tokens, length; /* of all sequences, of one */
};

/* Attention scores: fp32 probabilities and their 16-bit copy; Megatron keeps 16-bit scores, their
 * dropout and its mask (5 a s of Korthikanti et al.). */
static uint64_t score_bytes(const struct layers *layers, const struct widths *w)
{
	/* in fp32 the probabilities are the only copy: 4 bytes, of which in_precision() makes 2 */
	uint64_t each = layers->policy->style == TRAIN_STYLE_FUSED
	                        ? 5
	                        : train_score_bytes(layers->request->model);

	if (layers->policy->style != TRAIN_STYLE_FUSED &&
	    train_precision_bytes(layers->request) == 4) {
		each = 2;
	}
	if (layers->request->workload.attn_implementation != VC_ATTENTION_EAGER) {
		return 0;
	}
	return sat_mul3(each, w->heads, layers->length);
}

/* Per token: input and inner product of every adapter in the layer. */
static uint64_t adapter_inputs(const struct layers *layers, const struct vc_layer_kind *kind,
                               uint64_t hidden)
{
	const struct vc_training *training = &layers->request->training;
	uint64_t e = training->adapter_precision == VC_DTYPE_NONE
	                     ? layers->policy->adapter_bytes
	                     : vc_dtype_bytes(training->adapter_precision, 1);
	struct vc_tensor tensors[VC_MAX_LAYER_TENSORS];
	size_t count = vc_layer_tensors(kind, hidden, tensors);
	uint64_t bytes = 0;

	for (size_t i = 0; i < count; i++) {
		const struct vc_tensor *t = &tensors[i];
		uint64_t copies = t->active ? t->active : t->count;
		uint64_t each = sat_mul(e, sat_add(t->in, training->lora.rank));

		/* DoRA scales both results, arxiv.org/abs/2402.09353, and keeps them */
		each = sat_add(each, training->lora.dora ? sat_mul(2 + e, t->out) : 0);
		if (lora_is_target(&training->lora, t)) {
			bytes = sat_add(bytes, sat_mul(copies, each));
		}
	}
	return bytes;
}

static struct share style_saved(const struct layers *layers, const struct layer_shape *shape)
{
	const struct widths *w = &shape->widths;
	const struct vc_request *request = layers->request;
	bool adapters = request->training.method != VC_TRAINING_FULL;

	switch (layers->policy->style) {
	case TRAIN_STYLE_LITGPT:
		return adapters ? litgpt_adapter_saved(w, layers->policy->keeps_inputs &&
		                                                  train_scheme(request))
		                : litgpt_full_saved(w);
	case TRAIN_STYLE_FUSED:
		return fused_saved(w);
	default:
		return adapters ? eager_adapter_saved(
		                          w, adapter_inputs(layers, shape->kind, w->hidden))
		                : eager_saved(w);
	}
}

static uint64_t on_rank(const struct vc_request *request, struct share share)
{
	const struct vc_parallelism *layout = &request->parallelism;

	if (layout->sequence_parallel || layout->context > 1) {
		return sat_div_up(sat_add(share.whole, share.divided), layout->tensor);
	}
	return sat_add(share.whole, sat_div_up(share.divided, layout->tensor));
}

/* Compiled code recomputes norms and activations: 13 h less, measured on torchtitan and torchtune.
 */
static uint64_t compiled(const struct layers *layers, uint64_t hidden, uint64_t bytes,
                         uint64_t widths)
{
	return layers->request->training.compile ? sat_sub(bytes, sat_mul(widths, hidden)) : bytes;
}

/* torch allocates 4-byte elements where the workload computes in fp32. */
static uint64_t in_precision(const struct layers *layers, uint64_t bytes)
{
	const struct vc_dtype_info *dtype = vc_dtype_info(layers->request->workload.precision);

	return dtype->block_elements == 1 && dtype->block_bytes >= 4
	               ? sat_mul(bytes, dtype->block_bytes / 2)
	               : bytes;
}

static uint64_t max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void add_kind(struct layers *layers, const struct vc_layer_kind *kind, uint64_t hidden,
                     uint64_t count)
{
	const struct vc_request *request = layers->request;
	enum vc_checkpointing checkpointing = request->training.gradient_checkpointing;
	struct train_activation *out = layers->out;
	uint64_t saved, all, working, scores;
	struct layer_shape shape = { .kind = kind };
	struct widths w;

	out->approximated |= measure(kind, hidden, &shape.widths);
	if (request->workload.attn_implementation == VC_ATTENTION_EAGER &&
	    layers->policy->style == TRAIN_STYLE_EAGER) {
		widen_keys(&shape.widths);
		/* the output is kept as the input of a trained projection only */
		shape.widths.outputs =
		        request->training.method == VC_TRAINING_FULL ? shape.widths.outputs : 0;
	}
	shape.widths.raised = train_precision_bytes(request) < 4;
	if (layers->policy->stock_modules) {
		shape.widths.stepwise_gelu = train_stepwise_gelu(request->model);
		shape.widths.relu = train_relu(request->model);
		shape.widths.wide_norms = train_wide_norms(request->model);
	}
	w = shape.widths;
	scores = sat_div_up(score_bytes(layers, &w), request->parallelism.tensor);
	all = on_rank(request, style_saved(layers, &shape));
	all = compiled(layers, hidden, all, layers->policy->compiled_widths);
	saved = sat_add(all, scores);
	working = layers->policy->style == TRAIN_STYLE_EAGER
	                  ? sat_div_up(compiled(layers, hidden, eager_working(&w),
	                                        layers->policy->compiled_widths),
	                               request->parallelism.tensor)
	                  : all;
	working = sat_add(working, sat_mul(2, scores));
	if (checkpointing == VC_CHECKPOINTING_SELECTIVE) {
		saved = layers->policy->style == TRAIN_STYLE_FUSED
		                ? all
		                : compiled(layers, hidden, on_rank(request, selective_saved(&w)),
		                           2);
	} else if (checkpointing == VC_CHECKPOINTING_FULL) {
		saved = sat_mul(train_is_raised(request) ? 4 : 2, hidden);
	}
	saved = in_precision(layers, sat_mul3(saved, layers->tokens, count));
	out->saved_bytes = sat_add(out->saved_bytes, saved);
	all = sat_add(all, scores);
	out->layer_bytes =
	        max(out->layer_bytes, in_precision(layers, sat_mul(all, layers->tokens)));
	out->working_bytes =
	        max(out->working_bytes, in_precision(layers, sat_mul(working, layers->tokens)));
}

/* Convolutions keep whole images, whatever the sequence length. Checkpointed, a block keeps its
 * input, at most a third of it. */
static void add_images(struct layers *layers, const struct vc_saved *saved, uint64_t count)
{
	const struct vc_request *request = layers->request;
	uint64_t images = request->workload.batch_size;
	uint64_t each = sat_add(in_precision(layers, sat_mul3(2, saved->elements, images)),
	                        sat_mul(saved->bytes, images));
	bool checkpointed = request->training.gradient_checkpointing == VC_CHECKPOINTING_FULL;
	struct train_activation *out = layers->out;

	out->saved_bytes = sat_add(out->saved_bytes,
	                           sat_mul(checkpointed ? sat_div_up(each, 3) : each, count));
	out->layer_bytes = max(out->layer_bytes, each);
	out->working_bytes = max(out->working_bytes, each);
	out->image_bytes = max(out->image_bytes, sat_div_up(each, 3));
}

/* Where nothing reads text, a sequence length says nothing. */
static uint64_t tokens_of(const struct vc_request *request)
{
	const struct vc_model *model = request->model;
	const struct vc_stack *main = &model->stacks[model_main_stack(model)];
	bool text = main->role == VC_STACK_DECODER || main->role == VC_STACK_ENCODER;
	uint64_t length = text || main->fixed_tokens == 0 ? request->workload.sequence_length
	                                                  : main->fixed_tokens;

	return sat_div_up(sat_mul(request->workload.batch_size, length),
	                  request->parallelism.context);
}

void train_activation(const struct vc_request *request, const struct train_policy *policy,
                      const struct rank *rank, struct train_activation *out)
{
	const struct vc_model *model = request->model;
	const struct vc_workload *workload = &request->workload;
	uint32_t main = model_main_stack(model), counts[VC_MAX_KINDS];
	struct layers layers = { .request = request, .policy = policy, .out = out };

	memset(out, 0, sizeof *out);
	out->hidden = model->stacks[main].hidden_size;
	out->tokens = tokens_of(request);
	for (uint32_t i = 0; i < model->stack_count; i++) {
		const struct vc_stack *stack = &model->stacks[i];
		struct layer_range range = rank_range(model, i, rank);
		bool language = stack->role == VC_STACK_DECODER || stack->role == VC_STACK_ENCODER;
		uint32_t kinds = model_kind_layers(stack, range, counts);

		if (range.begin == 0 && range.end > 0) {
			add_images(&layers, &stack->saved, 1);
		}
		for (uint32_t k = 0; k < kinds; k++) {
			add_images(&layers, &model->kinds[k].saved, counts[k]);
		}
		if (stack->role == VC_STACK_MTP || !(language || stack->fixed_tokens > 0)) {
			continue;
		}
		layers.length =
		        stack->fixed_tokens ? stack->fixed_tokens : workload->sequence_length;
		layers.tokens = stack->fixed_tokens
		                        ? sat_mul(workload->batch_size, stack->fixed_tokens)
		                        : out->tokens;
		for (uint32_t k = 0; k < kinds; k++) {
			if (counts[k] > 0) {
				out->layers += i == main ? counts[k] : 0;
				add_kind(&layers, &model->kinds[k], stack->hidden_size, counts[k]);
			}
		}
	}
	out->boundary_bytes =
	        out->image_bytes > 0 ? out->image_bytes
	                             : in_precision(&layers, sat_mul3(2, out->hidden, out->tokens));
}
