/*
 * Paged caches. Page sizes and what a request may take at most as
 * github.com/vllm-project/vllm, vllm/v1/kv_cache_interface.py has them; groups as
 * vllm/v1/core/kv_cache_utils.py forms them. docs/serving.md#paged-cache
 */
#include "serving_cache.h"

#include "cache.h"
#include "sat.h"

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Before latents were cached: keys and values of every head, padded to 256 elements
 * (vllm/model_executor/models/deepseek_v2.py up to 0.7.0). */
static uint64_t expanded_bytes(const struct vc_mixer *m, const struct vc_request *request)
{
	uint64_t heads = sat_div_up(m->heads, request->parallelism.tensor);
	uint64_t width = sat_round_up(sat_add(m->qk_nope_head_dim, m->qk_rope_head_dim), 256);

	return vc_dtype_bytes(request->workload.kv_cache_precision, sat_mul3(2, heads, width));
}

/* V0's kernels want latent entries of whole 128 elements; with a sparse indexer an fp8 cache has
 * its own layout. */
static uint64_t latent_bytes(const struct vc_mixer *m, const struct vc_request *request,
                             const struct cache_traits *traits)
{
	enum vc_dtype dtype = request->workload.kv_cache_precision;
	struct cache_format format = { .dtype = dtype };
	uint64_t elements = sat_add(m->kv_lora_rank, m->qk_rope_head_dim);
	uint64_t padding = sat_sub(sat_round_up(elements, traits->latent_multiple), elements);

	if (traits->latent_expanded) {
		return expanded_bytes(m, request);
	}
	if (m->index_heads > 0 && vc_dtype_bytes(dtype, 1) == 1) {
		format.latent = LATENT_FP8_DS;
	}
	return sat_add(layer_token_bytes(m, &format, 1, 1), vc_dtype_bytes(dtype, padding));
}

static struct cache_spec mixer_spec(const struct vc_mixer *m, const struct vc_request *request,
                                    const struct cache_traits *traits, uint64_t hidden)
{
	struct cache_format format = { .tokens = request->workload.sequence_length,
		                       .dtype = request->workload.kv_cache_precision,
		                       .state_dtype = request->workload.precision };
	uint32_t tensor = request->parallelism.tensor;
	struct cache_spec spec = { .layers = 1 };

	if (m->type == VC_MIXER_LATENT) {
		spec.token_bytes = latent_bytes(m, request, traits);
	} else if (m->type == VC_MIXER_ATTENTION && m->causal && !m->shares_kv) {
		spec.token_bytes = layer_token_bytes(m, &format, tensor, 1);
		spec.window = traits->hybrid ? m->window : 0;
		spec.chunked = m->window_is_chunk;
	} else if (m->type == VC_MIXER_CROSS_ATTENTION) {
		spec.token_bytes = layer_token_bytes(m, &format, tensor, 1);
		spec.encoder_tokens = cache_encoder_tokens(request->model, &format);
	} else {
		spec.state_bytes = layer_state_bytes(m, hidden, &format, tensor);
	}
	return spec;
}

static void add_spec(struct serving_cache *cache, const struct cache_spec *spec)
{
	if (spec->token_bytes == 0 && spec->state_bytes == 0) {
		return;
	}
	for (uint32_t i = 0; i < cache->spec_count; i++) {
		struct cache_spec *known = &cache->specs[i];

		if (known->token_bytes == spec->token_bytes && known->window == spec->window &&
		    known->encoder_tokens == spec->encoder_tokens &&
		    known->state_bytes == spec->state_bytes) {
			known->layers++;
			return;
		}
	}
	cache->specs[cache->spec_count++] = *spec;
}

/* Bytes that a token of the pool takes in one layer. */
static uint64_t pool_token_bytes(const struct vc_mixer *m, const struct cache_traits *traits,
                                 const struct cache_spec *spec)
{
	if (spec->encoder_tokens > 0) {
		return 0;
	}
	if (traits->sliding_ppm == 0 || m->window == 0) {
		return spec->token_bytes;
	}
	return sat_scale_up(spec->token_bytes, traits->sliding_ppm, 1000000);
}

static void add_mixer(struct serving_cache *cache, const struct vc_mixer *m,
                      const struct vc_request *request, uint64_t hidden)
{
	struct cache_spec spec = mixer_spec(m, request, &cache->traits, hidden);

	if (cache->traits.encoder != ENCODER_APART && spec.encoder_tokens > 0) {
		cache->encoder_tokens = spec.encoder_tokens;
		cache->pool_tokens =
		        cache->traits.encoder == ENCODER_IN_POOL ? spec.encoder_tokens : 0;
		spec.encoder_tokens = 0;
	}
	add_spec(cache, &spec);
	cache->token_bytes =
	        sat_add(cache->token_bytes, pool_token_bytes(m, &cache->traits, &spec));
}

/* Cross-attention's keys and values of one sequence. */
static uint64_t encoder_bytes(const struct serving_cache *cache)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < cache->spec_count; i++) {
		const struct cache_spec *spec = &cache->specs[i];
		uint64_t tokens = sat_round_up(spec->encoder_tokens, cache->traits.block_tokens);

		bytes = sat_add(bytes, sat_mul3(spec->layers, spec->token_bytes, tokens));
	}
	return bytes;
}

static bool uniform(const struct serving_cache *cache)
{
	return cache->spec_count == 1 && cache->specs[0].state_bytes == 0 &&
	       cache->specs[0].encoder_tokens == 0;
}

/* One page size for all: the largest layer's; where states are larger than an attention page, its
 * block grows by whole blocks until it holds one. */
static void size_pages(struct serving_cache *cache)
{
	uint64_t state = 0, token = 0, fewest = UINT64_MAX, most = 0;

	for (uint32_t i = 0; i < cache->spec_count; i++) {
		const struct cache_spec *spec = &cache->specs[i];

		state = max_u64(state, spec->state_bytes);
		token = max_u64(token, spec->token_bytes);
		fewest = min_u64(fewest, spec->layers);
		most = max_u64(most, spec->layers);
	}
	cache->page_tokens = cache->traits.block_tokens;
	if (token > 0 && state > sat_mul(token, cache->page_tokens)) {
		cache->page_tokens =
		        sat_mul(cache->traits.block_tokens,
		                sat_div_up(state, sat_mul(token, cache->traits.block_tokens)));
	}
	cache->page_bytes = token > 0 ? sat_mul(token, cache->page_tokens) : state;
	/* Kinds that differ by less than a quarter share a group; the fewer are padded. */
	cache->group_layers = cache->spec_count == 0       ? 1
	                      : most < fewest + fewest / 4 ? most
	                                                   : fewest;
}

/* Drafting layers keep what the widest layers keep, of all tokens. */
static void add_draft_layers(struct serving_cache *cache)
{
	uint32_t widest = 0, layers = cache->traits.draft_layers;

	for (uint32_t i = 1; i < cache->spec_count; i++) {
		const struct cache_spec *spec = &cache->specs[i], *best = &cache->specs[widest];

		if (spec->token_bytes > best->token_bytes ||
		    (spec->token_bytes == best->token_bytes && spec->window == 0)) {
			widest = i;
		}
	}
	if (cache->spec_count > 0 && layers > 0) {
		cache->specs[widest].layers += layers;
		cache->token_bytes = sat_add(cache->token_bytes,
		                             sat_mul(layers, cache->specs[widest].token_bytes));
	}
}

void serving_cache_init(struct serving_cache *cache, const struct vc_request *request,
                        struct layer_range range, const struct cache_traits *traits)
{
	const struct vc_model *model = request->model;
	const struct vc_stack *stack = &model->stacks[model_main_stack(model)];

	*cache = (struct serving_cache){ .traits = *traits };
	for (uint32_t i = range.begin; i < range.end && i < stack->layers; i++) {
		const struct vc_layer_kind *kind = &model->kinds[stack->pattern[i]];

		for (uint32_t m = 0; m < kind->mixer_count; m++) {
			add_mixer(cache, &kind->mixers[m], request, stack->hidden_size);
		}
	}
	add_draft_layers(cache);
	size_pages(cache);
}

uint64_t serving_cache_remove_states(struct serving_cache *cache)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < cache->spec_count; i++) {
		struct cache_spec *spec = &cache->specs[i];

		bytes = sat_add(bytes, sat_mul(spec->layers, spec->state_bytes));
		spec->state_bytes = 0;
	}
	return bytes;
}

/* Blocks of one layer that a sequence may take at most: a sliding layer's window begins anywhere in
 * a block and moves by a step's tokens. */
static uint64_t layer_blocks(const struct serving_cache *cache, const struct cache_spec *spec,
                             uint64_t length)
{
	uint64_t tokens = cache->page_tokens, reach;

	if (spec->state_bytes > 0) {
		return sat_add(1, cache->traits.draft_tokens); /* one for each drafted token */
	}
	if (spec->token_bytes > 0) {
		/* A narrower layer's block holds more tokens in the same page. */
		tokens = max_u64(tokens, cache->page_bytes / spec->token_bytes /
		                                 cache->traits.block_tokens *
		                                 cache->traits.block_tokens);
	}
	length = spec->encoder_tokens > 0 ? spec->encoder_tokens : length;
	if (spec->window == 0) {
		return sat_div_up(length, tokens);
	}
	if (spec->chunked) {
		reach = sat_add(spec->window, cache->traits.max_num_batched_tokens);
		return sat_div_up(min_u64(reach, length), tokens);
	}
	reach = sat_add(spec->window - 1, cache->traits.max_num_batched_tokens);
	return sat_add(sat_div_up(min_u64(reach, length), tokens), 1);
}

/* Pool blocks of one sequence: each kind of layer is cut into groups, each group takes its blocks.
 */
static uint64_t sequence_blocks(const struct serving_cache *cache, uint64_t length)
{
	uint64_t blocks = 0;

	for (uint32_t i = 0; i < cache->spec_count; i++) {
		const struct cache_spec *spec = &cache->specs[i];
		uint64_t groups = sat_div_up(spec->layers, cache->group_layers);

		blocks = sat_add(blocks, sat_mul(groups, layer_blocks(cache, spec, length)));
	}
	return blocks;
}

static uint64_t block_bytes(const struct serving_cache *cache)
{
	return sat_mul(cache->page_bytes, cache->group_layers);
}

uint64_t serving_cache_bytes(const struct serving_cache *cache, uint64_t length, uint64_t sequences)
{
	length = sat_add(length, cache->pool_tokens);
	if (uniform(cache) || !cache->traits.hybrid) {
		uint64_t bytes = sat_mul(sat_round_up(length, cache->traits.block_tokens),
		                         cache->token_bytes);

		bytes = sat_add(bytes, encoder_bytes(cache));
		for (uint32_t i = 0; i < cache->spec_count; i++) {
			bytes = sat_add(bytes, sat_mul(cache->specs[i].layers,
			                               cache->specs[i].state_bytes));
		}
		return sat_mul(bytes, sequences);
	}
	return sat_mul3(sequence_blocks(cache, length), block_bytes(cache), sequences);
}

uint64_t serving_cache_concurrency_milli(const struct serving_cache *cache, uint64_t pool_bytes,
                                         uint64_t length)
{
	uint64_t each = serving_cache_bytes(cache, length, 1);

	return each > 0 ? sat_mul(pool_bytes, 1000) / each : 0;
}

uint64_t serving_cache_tokens(const struct serving_cache *cache, uint64_t pool_bytes,
                              uint64_t length)
{
	uint64_t block, blocks, each;

	if (encoder_bytes(cache) > 0 && !cache->traits.hybrid) {
		each = serving_cache_bytes(cache, length, 1);
		return each > 0 ? sat_mul(pool_bytes / each, length) : 0;
	}
	if (uniform(cache) || !cache->traits.hybrid) {
		block = sat_mul(cache->token_bytes, cache->traits.block_tokens);
		return block > 0 ? sat_mul(pool_bytes / block, cache->traits.block_tokens) : 0;
	}
	block = block_bytes(cache);
	each = sequence_blocks(cache, length);
	blocks = block > 0 ? pool_bytes / block : 0;
	return each > 0 ? sat_mul(blocks, length) / each : 0;
}
