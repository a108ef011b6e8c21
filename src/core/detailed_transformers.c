/*
 * Inference with huggingface/transformers' generate(): the greatest of loading, prefill and decode.
 * Held against the speed tables of Qwen1.5 to Qwen3 (docs/accuracy.md): up to 4.44 the head ran
 * over the whole prompt and logits were raised to fp32 (generation/utils.py, num_logits_to_keep
 * came with 4.45), and the growing cache lay twice. docs/formulas.md#transformers
 */
#include "cache.h"
#include "detailed.h"
#include "ledger.h"
#include "sat.h"
#include "transformers_version.h"
#include "weights.h"

#include <string.h>

#define MIB 1048576ull

/* Lazily loaded kernels and the context: 0.3 to 0.75 GiB since CUDA 11.7; cuBLAS's and the
 * allocator's first blocks inside the allocator: 35 to 55 MiB in the Qwen3 table. */
static const uint64_t context_bytes = 460 * MIB;
static const uint64_t context_below = 80 * MIB, context_above = 200 * MIB;
static const uint64_t workspace_bytes = 40 * MIB;

enum {
	/* A stated sequence length is prompt and answer; answers are taken to be this long. */
	GENERATED_TOKENS = 2048
};

enum phase_name {
	PHASE_LOAD,
	PHASE_PREFILL,
	PHASE_DECODE,
	PHASE_COUNT
};

static const char *const phase_names[] = { "load", "prefill", "decode" };

/* What is alive beside the weights. */
struct phase {
	uint64_t cache, state, activations, logits, total;
};

struct estimate {
	const struct vc_request *request;
	struct vc_version version;
	struct rank rank;
	uint64_t sequences, prompt, length;
	uint64_t weights, scratch;
	uint64_t second_head, load_copy; /* while the weights are loaded */
	struct cache cache;              /* at the full length */
	uint64_t forward;                /* of the prompt, without logits */
	uint64_t longest_forward;        /* of a prompt of the whole length */
	struct phase phases[PHASE_COUNT];
	enum phase_name peak;
	uint64_t allocated;
};

/* All zeros is older than any: the hungriest is then assumed. */
static bool since(const struct estimate *e, uint32_t major, uint32_t minor)
{
	const struct vc_version *v = &e->version;

	return v->major > major || (v->major == major && v->minor >= minor);
}

static uint64_t max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static struct cache cache_at(const struct estimate *e, uint64_t tokens)
{
	const struct vc_request *request = e->request;
	struct cache_format format = {
		.tokens = tokens,
		.sequences = e->sequences,
		.dtype = request->workload.kv_cache_precision,
		.state_dtype = request->workload.precision,
		/* layers with a window keep no more than it from 4.53 on (cache_utils.py) */
		.windows_ignored = !since(e, 4, 53),
		.whole_conv_window = true,
		.latent = LATENT_EXPANDED,
	};
	struct cache cache;

	cache_bytes(request->model, &format, &e->rank, &cache);
	return cache;
}

struct widths {
	uint64_t hidden, attention, repeated, heads, ffn;
};

static uint64_t ffn_width(const struct vc_ffn *f)
{
	uint64_t tensors = f->type == VC_FFN_GATED || f->gated ? 3 : 2;
	uint64_t routed = sat_mul(f->experts_per_token, f->size);

	if (f->type == VC_FFN_MOE) {
		return sat_mul(tensors, max(routed, f->shared_size));
	}
	return sat_mul(tensors, f->size);
}

/* The widest layer of the language model, in elements per token. */
static struct widths widest(const struct vc_model *model)
{
	const struct vc_stack *stack = &model->stacks[model_main_stack(model)];
	struct widths w = { .hidden = stack->hidden_size };

	for (uint32_t i = 0; i < stack->layers; i++) {
		const struct vc_layer_kind *kind = &model->kinds[stack->pattern[i]];

		for (uint32_t m = 0; m < kind->mixer_count; m++) {
			const struct vc_mixer *mixer = &kind->mixers[m];
			uint64_t q = sat_mul(mixer->heads, mixer->head_dim);
			uint64_t kv = sat_mul3(2, mixer->kv_heads, mixer->head_dim);

			w.attention = max(w.attention, sat_add(sat_mul(2, q), kv));
			w.repeated =
			        max(w.repeated, mixer->kv_heads < mixer->heads ? sat_mul(2, q) : 0);
			w.heads = max(w.heads, mixer->heads);
		}
		for (uint32_t f = 0; f < kind->ffn_count; f++) {
			w.ffn = max(w.ffn, ffn_width(&kind->ffns[f]));
		}
	}
	return w;
}

/* Residual, normed input and two more of h beside the feed-forward part's tensors, or attention's;
 * eager scores in 16 bits, raised to fp32 and their softmax. */
static uint64_t forward_bytes(const struct estimate *e, uint64_t prompt)
{
	enum vc_attention attention = e->request->workload.attn_implementation;
	struct widths w = widest(e->request->model);
	uint64_t tokens = sat_mul(e->sequences, prompt);
	uint64_t inner = w.attention, scores = 0;

	if (attention != VC_ATTENTION_FLASH) {
		inner = sat_add(inner, w.repeated);
	}
	if (attention == VC_ATTENTION_EAGER) {
		scores = sat_mul3(10, w.heads, sat_mul(tokens, prompt));
	}
	inner = max(inner, w.ffn);
	return sat_div_up(
	        sat_add(scores, sat_mul3(2, tokens, sat_add(sat_mul(4, w.hidden), inner))),
	        e->request->parallelism.tensor);
}

/* Cosines and sines of every position, 16 bits each, that every layer kept for itself. */
static uint64_t rotary_bytes(const struct estimate *e)
{
	const struct vc_model *model = e->request->model;
	const struct vc_stack *stack = &model->stacks[model_main_stack(model)];
	const struct vc_mixer *mixer = &model->kinds[stack->pattern[0]].mixers[0];
	uint64_t rotated = model->rotary_dim > 0 ? model->rotary_dim : mixer->head_dim;

	if (mixer->type != VC_MIXER_ATTENTION) {
		return 0;
	}
	return sat_mul3(stack->layers, transformers_layer_positions(e->request),
	                sat_mul(4, rotated));
}

static uint64_t logit_bytes(const struct estimate *e, uint64_t tokens)
{
	const struct vc_parallelism *layout = &e->request->parallelism;

	if (e->rank.stage + 1 < layout->pipeline) {
		return 0;
	}
	return sat_mul3(6, e->request->model->vocab_size, sat_mul(e->sequences, tokens));
}

static void load_weights(struct estimate *e)
{
	const struct vc_request *request = e->request;
	const struct vc_quantization *scheme = request->workload.quantization;
	enum vc_quantizer quantizer = scheme ? scheme->quantizer : VC_QUANTIZER_NONE;
	struct weight_format format = { .dtype = request->workload.precision,
		                        .quantization = scheme };
	struct weights weights;
	uint64_t table;

	weight_bytes(request->model, &format, &e->rank, &weights);
	table = max(weights.head_bytes, weights.embedding_bytes);
	e->weights = weights.total_bytes;
	if (!request->model->tied_embeddings) {
		table = 0;
	}
	/* fp8 checkpoints store a tied head; AutoAWQ builds one and ties it after loading. */
	if (quantizer == VC_QUANTIZER_FP8) {
		e->weights = sat_add(e->weights, table);
	} else if (quantizer == VC_QUANTIZER_AWQ) {
		e->second_head = table;
	}
	/* bitsandbytes quantizes each matrix on the GPU, from a copy in 16 bits (nn/modules.py) */
	if (quantizer == VC_QUANTIZER_BNB_4BIT || quantizer == VC_QUANTIZER_BNB_INT8) {
		e->load_copy = sat_mul(2, weights.largest_linear_elements);
	}
	/* ExLlama's kernels dequantize the largest matrix into scratch (AutoGPTQ, exllama_ext). */
	if (quantizer == VC_QUANTIZER_GPTQ && scheme->dtype == VC_DTYPE_INT4) {
		e->scratch = sat_mul(2, weights.largest_linear_elements);
	}
}

static void fill_phases(struct estimate *e)
{
	struct cache prompt = cache_at(e, e->prompt);
	struct phase *prefill = &e->phases[PHASE_PREFILL], *decode = &e->phases[PHASE_DECODE];
	bool whole = !since(e, 4, 45);

	e->cache = cache_at(e, e->length);
	e->phases[PHASE_LOAD].activations = sat_add(e->second_head, e->load_copy);
	*prefill = (struct phase){ .cache = prompt.kv_bytes, .state = prompt.state_bytes };
	*decode = (struct phase){ .cache = e->cache.kv_bytes, .state = e->cache.state_bytes };
	if (whole) {
		/* the prompt's logits stay alive while the answer grows the cache */
		prefill->logits = logit_bytes(e, e->prompt);
		prefill->cache = e->cache.kv_bytes;
		decode->activations = e->cache.kv_bytes;
		if (e->forward > prefill->logits) {
			prefill->activations = e->forward;
			prefill->logits = 0;
			prefill->cache = prompt.kv_bytes;
		}
	} else if (!since(e, 4, 51)) {
		prefill->activations = e->forward;
		prefill->logits = logit_bytes(e, 1);
	}
	if (since(e, 4, 45) && e->cache.kv_layers > 0) {
		/* one layer's keys and values at a time are copied as they grow */
		decode->activations = since(e, 4, 51) ? 0 : e->cache.kv_bytes / e->cache.kv_layers;
	}
}

static void find_peak(struct estimate *e)
{
	uint64_t fixed = sat_add(sat_add(e->weights, e->scratch), workspace_bytes);

	for (int i = 0; i < PHASE_COUNT; i++) {
		struct phase *p = &e->phases[i];

		p->total = sat_add(fixed, sat_add(sat_add(p->cache, p->state),
		                                  sat_add(p->activations, p->logits)));
		/* tables are built with the first pass */
		p->total = sat_add(p->total, i == PHASE_LOAD ? 0 : rotary_bytes(e));
		if (p->total > e->allocated) {
			e->allocated = p->total;
			e->peak = (enum phase_name)i;
		}
	}
}

static void estimate_stage(const struct vc_request *request, uint32_t stage, struct estimate *e)
{
	const struct vc_workload *workload = &request->workload;

	*e = (struct estimate){
		.request = request,
		.version = transformers_version(request),
		.rank = { .tensor = request->parallelism.tensor,
		          .pipeline = request->parallelism.pipeline,
		          .stage = stage,
		          .expert = request->parallelism.expert },
		.sequences = sat_mul(workload->batch_size, workload->concurrency),
		.length = workload->sequence_length,
		.prompt = 1,
	};
	if (e->length > GENERATED_TOKENS) {
		e->prompt = e->length - GENERATED_TOKENS;
	}
	load_weights(e);
	e->forward = forward_bytes(e, e->prompt);
	e->longest_forward = forward_bytes(e, e->length);
	fill_phases(e);
	find_peak(e);
}

static void put(struct vc_ledger *ledger, enum vc_component component, uint64_t bytes,
                const char *formula)
{
	if (bytes > 0) {
		vc_ledger_add(ledger, component, bytes, formula);
	}
}

static void put_cache(const struct estimate *e, const struct phase *p, struct vc_ledger *ledger)
{
	struct vc_line *line;

	if (p->cache > 0) {
		line = vc_ledger_add(ledger, VC_COMPONENT_KV_CACHE, p->cache,
		                     "keys and values × tokens × sequences");
		vc_line_input(line, "tokens", e->length);
		vc_line_input(line, "sequences", e->sequences);
	}
	put(ledger, VC_COMPONENT_RECURRENT_STATE, p->state, "states × sequences");
}

/* The prompt's working memory, which the table of 4.51 does not count as allocated. */
static uint64_t uncounted_bytes(const struct estimate *e)
{
	uint64_t prefill = sat_add(e->phases[PHASE_PREFILL].total, e->forward);

	return since(e, 4, 51) ? sat_sub(prefill, e->allocated) : 0;
}

/* Blocks of fixed shapes are used again: docs/accuracy.md. What the prompt took stays reserved. */
static uint64_t fragmentation_bytes(const struct estimate *e)
{
	return max(sat_scale_up(sat_sub(e->allocated, e->weights), 5, 100), uncounted_bytes(e));
}

static uint64_t write_ledger(const struct estimate *e, struct vc_ledger *ledger)
{
	const struct phase *p = &e->phases[e->peak];
	uint64_t fragmentation = fragmentation_bytes(e);
	uint64_t outside = sat_add(context_bytes, fragmentation);
	struct vc_line *line;

	put(ledger, VC_COMPONENT_WEIGHTS, e->weights, "weights of a rank");
	put_cache(e, p, ledger);
	put(ledger, VC_COMPONENT_ACTIVATIONS, p->activations,
	    e->peak == PHASE_LOAD     ? "a second head, a matrix in 16 bits while it loads"
	    : e->peak == PHASE_DECODE ? "the cache's copy while it grows"
	                              : "2 × T × (4 h + 3 f)");
	if (p->logits > 0) {
		line = vc_ledger_add(ledger, VC_COMPONENT_LOGITS, p->logits, "6 × T × V");
		vc_line_input(line, "T",
		              since(e, 4, 45) ? e->sequences : sat_mul(e->sequences, e->prompt));
		vc_line_input(line, "V", e->request->model->vocab_size);
	}
	put(ledger, VC_COMPONENT_ACTIVATIONS, e->scratch, "kernels' scratch");
	put(ledger, VC_COMPONENT_ACTIVATIONS, e->peak == PHASE_LOAD ? 0 : rotary_bytes(e),
	    "rotary tables of every layer");
	put(ledger, VC_COMPONENT_ACTIVATIONS, workspace_bytes, "libraries' workspaces");
	put(ledger, VC_COMPONENT_FRAMEWORK, context_bytes, "CUDA context");
	put(ledger, VC_COMPONENT_FRAGMENTATION, fragmentation, "reserved - allocated");
	for (int i = 0; i < PHASE_COUNT; i++) {
		vc_ledger_phase(ledger, phase_names[i], sat_add(e->phases[i].total, outside));
	}
	return sat_add(e->allocated, outside);
}

static void note_assumptions(const struct estimate *e, struct vc_ledger *ledger)
{
	uint64_t prompt[3] = { e->prompt, e->length - e->prompt, 0 };

	vc_ledger_note(
	        ledger, "transformers-prompt",
	        "of the sequence length {0} token{0s} are taken as the prompt, {1} as the answer",
	        prompt);
	if (e->version.major == 0) {
		vc_ledger_note(
		        ledger, "transformers-version",
		        "engine.version is not given: logits of the whole prompt are counted, "
		        "as transformers held them up to 4.44",
		        NULL);
	}
}

static uint64_t share(uint64_t bytes, uint64_t thousandths)
{
	return sat_scale_up(bytes, thousandths, 1000);
}

struct thousandths {
	uint64_t below, above;
};

/* Quantized kernels keep a few MiB a layer that no part accounts for; what a label calls 4-bit may
 * have its scales quantized too (Baichuan2's table). */
static struct thousandths weights_spread(const struct estimate *e)
{
	const struct vc_quantization *scheme = e->request->workload.quantization;

	if (!scheme) {
		return (struct thousandths){ 4, 8 };
	}
	if (scheme->quantizer == VC_QUANTIZER_BNB_4BIT && !scheme->double_quant) {
		return (struct thousandths){ 55, 45 };
	}
	return (struct thousandths){ 12, 45 };
}

static struct thousandths working_spread(const struct estimate *e)
{
	return (struct thousandths){ e->version.major > 0 ? 60 : 900, 60 };
}

/* The cache's layout is known; of layers with a window older versions kept more. */
static struct thousandths cache_spread(const struct estimate *e)
{
	return e->version.major > 0 ? (struct thousandths){ 0, 0 }
	                            : (struct thousandths){ 50, 150 };
}

static void set_line_range(const struct estimate *e, struct vc_line *line)
{
	struct thousandths spread;

	switch (line->component) {
	case VC_COMPONENT_WEIGHTS:
		spread = weights_spread(e);
		break;
	case VC_COMPONENT_KV_CACHE:
	case VC_COMPONENT_RECURRENT_STATE:
		spread = cache_spread(e);
		break;
	case VC_COMPONENT_ACTIVATIONS:
	case VC_COMPONENT_LOGITS:
		spread = working_spread(e);
		break;
	case VC_COMPONENT_FRAMEWORK:
		vc_line_range(line, context_below, context_above);
		return;
	default:
		return;
	}
	vc_line_range(line, share(line->bytes, spread.below), share(line->bytes, spread.above));
}

static void set_line_ranges(const struct estimate *e, struct vc_ledger *ledger)
{
	for (uint32_t i = 0; i < ledger->line_count; i++) {
		set_line_range(e, &ledger->lines[i]);
	}
}

static void set_range(const struct estimate *e, uint64_t total, struct vc_ledger *ledger)
{
	const struct phase *p = &e->phases[e->peak];
	uint64_t cache = sat_add(p->cache, p->state);
	struct thousandths weights = weights_spread(e), working = working_spread(e);
	struct thousandths caches = cache_spread(e);
	uint64_t moment = sat_add(p->activations, p->logits);
	uint64_t low = sat_add(share(e->weights, weights.below), share(moment, working.below));
	uint64_t high = sat_add(share(e->weights, weights.above), share(moment, working.above));

	low = sat_add(low, uncounted_bytes(e));
	/* the prompt may be all of the sequence */
	high = sat_add(high, sat_sub(e->longest_forward, e->forward));
	if (e->request->engine.version.major == 0) {
		/* other versions' layers keep more copies */
		high = sat_add(high, sat_add(sat_mul(e->forward, 2), e->cache.kv_bytes));
	}
	low = sat_add(low, share(cache, caches.below));
	high = sat_add(high, share(cache, caches.above));
	if (e->version.major == 0) {
		/* newer versions, and AutoAWQ's fused modules, have no such tables */
		low = sat_add(low, rotary_bytes(e));
		high = sat_add(high, share(e->weights, 100));
	}
	ledger->low_bytes = sat_sub(total, sat_add(low, context_below));
	ledger->high_bytes = sat_add(total, sat_add(high, context_above));
}

enum vc_status vc_estimate_transformers(const struct vc_request *request, struct vc_ledger *ledger,
                                        struct vc_error *error)
{
	uint32_t last = request->parallelism.pipeline - 1;
	struct estimate e, other;
	uint64_t total;

	(void)error;
	estimate_stage(request, 0, &e);
	if (last > 0) {
		estimate_stage(request, last, &other);
		e = other.allocated > e.allocated ? other : e;
	}
	total = write_ledger(&e, ledger);
	note_assumptions(&e, ledger);
	set_line_ranges(&e, ledger);
	set_range(&e, total, ledger);
	return VC_OK;
}
