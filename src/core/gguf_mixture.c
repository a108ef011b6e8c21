/*
 * Which type llama.cpp's quantizer gives a matrix. The rules are those of
 * github.com/ggml-org/llama.cpp, src/llama-quant.cpp (llama_tensor_get_type_impl,
 * tensor_type_fallback). An importance matrix is taken for granted where the type needs one or
 * nearly every publisher uses one.
 */
#include "gguf_table.h"

#include "sat.h"

enum {
	EIGHT_EXPERTS = 8, /* Mixtral: small attention tensors get more bits */
	GROUPED = 4        /* query heads per key head, from which values get more bits */
};

enum role {
	ROLE_OTHER,
	ROLE_VALUES,
	ROLE_KEYS,
	ROLE_QUERIES,
	ROLE_FUSED,     /* queries, keys and values */
	ROLE_LATENT_UP, /* keys and values from the latent */
	ROLE_OUT,
	ROLE_GATE,
	ROLE_UP,
	ROLE_DOWN
};

static const uint8_t roles[VC_MODULE_COUNT] = {
	[VC_MODULE_V] = ROLE_VALUES,         [VC_MODULE_K] = ROLE_KEYS,
	[VC_MODULE_Q] = ROLE_QUERIES,        [VC_MODULE_QKV] = ROLE_FUSED,
	[VC_MODULE_KV_UP] = ROLE_LATENT_UP,  [VC_MODULE_O] = ROLE_OUT,
	[VC_MODULE_GATE] = ROLE_GATE,        [VC_MODULE_EXPERT_GATE] = ROLE_GATE,
	[VC_MODULE_SHARED_GATE] = ROLE_GATE, [VC_MODULE_UP] = ROLE_UP,
	[VC_MODULE_GATE_UP] = ROLE_UP,       [VC_MODULE_EXPERT_UP] = ROLE_UP,
	[VC_MODULE_SHARED_UP] = ROLE_UP,     [VC_MODULE_DOWN] = ROLE_DOWN,
	[VC_MODULE_EXPERT_DOWN] = ROLE_DOWN, [VC_MODULE_SHARED_DOWN] = ROLE_DOWN,
};

static enum vc_dtype either(enum vc_dtype type, enum vc_dtype fallback)
{
	return type != VC_DTYPE_NONE ? type : fallback;
}

/* The first and the last eighth of the layers and every third between. */
static bool more_bits(uint64_t layer, uint64_t layers)
{
	uint64_t eighth = layers / 8;

	return layer < eighth || layer >= 7 * layers / 8 || (layer - eighth) % 3 == 2;
}

static enum vc_dtype value_type(const struct gguf_chooser *c)
{
	const struct gguf_mixture *m = c->mixture;
	enum vc_dtype type = c->grouping >= GROUPED ? m->v_grouped : m->v;

	if (m->low && c->experts >= 4) {
		type = m->v_grouped;
	}
	if (c->values < m->v_firsts) {
		type = m->v_first;
	}
	if (m->v_more && more_bits(c->values, c->value_count)) {
		type = m->v_more;
	}
	type = either(type, m->base);
	if (m->low) {
		return type;
	}
	if (c->seventy && (type == VC_DTYPE_Q3_K || type == VC_DTYPE_Q4_K)) {
		type = VC_DTYPE_Q5_K;
	}
	return c->experts == EIGHT_EXPERTS ? VC_DTYPE_Q8_0 : type;
}

enum vc_dtype gguf_value_type(struct gguf_chooser *c)
{
	enum vc_dtype type = c->mixture ? value_type(c) : c->format->dtype;

	c->values++;
	return type;
}

static enum vc_dtype key_type(const struct gguf_chooser *c)
{
	if (c->experts == EIGHT_EXPERTS) {
		return c->mixture->low ? VC_DTYPE_Q4_K : VC_DTYPE_Q8_0;
	}
	return either(c->mixture->k, c->mixture->base);
}

static enum vc_dtype out_type(const struct gguf_chooser *c)
{
	const struct gguf_mixture *m = c->mixture;

	if (c->falcon && !m->low) {
		return m->down == VC_DTYPE_Q5_K ? VC_DTYPE_Q4_K : m->base;
	}
	if (c->experts == EIGHT_EXPERTS) {
		return m->o_of_eight || m->low ? VC_DTYPE_Q5_K : m->base;
	}
	return either(m->o, m->base);
}

/* Falcon's feed-forward tensors are larger: they get bits later. */
static enum vc_dtype falcon_down_type(const struct gguf_chooser *c, uint64_t layer)
{
	const struct gguf_mixture *m = c->mixture;
	bool more = more_bits(layer, c->layers);

	if (m->down_more && m->base == VC_DTYPE_Q4_K) {
		return layer < c->layers / 16 ? VC_DTYPE_Q6_K
		       : more                 ? VC_DTYPE_Q5_K
		                              : VC_DTYPE_Q4_K;
	}
	if (m->down_16th) {
		return layer < c->layers / 16 ? m->down_16th : more ? m->down : m->base;
	}
	if (m->down == VC_DTYPE_Q5_K) {
		return VC_DTYPE_Q4_K;
	}
	if (m->base == VC_DTYPE_Q4_K) {
		return m->base;
	}
	if (m->down_8th && layer < c->layers / 8) {
		return m->down_8th;
	}
	return m->down_more && more ? m->down_more : either(m->down, m->base);
}

static enum vc_dtype down_type(const struct gguf_chooser *c, uint64_t layer)
{
	const struct gguf_mixture *m = c->mixture;

	if (c->falcon) {
		return falcon_down_type(c, layer);
	}
	if (m->down_8th && layer < c->layers / 8) {
		return m->down_8th;
	}
	if (m->down_16th && layer < c->layers / 16) {
		return m->down_16th;
	}
	if (m->down_more && more_bits(layer, c->layers)) {
		return m->down_more;
	}
	/* iq3_m alone has this rule for eight experts */
	if (m->base == VC_DTYPE_IQ3_S && m->down_8th && c->experts == EIGHT_EXPERTS &&
	    more_bits(layer, c->layers)) {
		return m->down_8th;
	}
	return either(m->down, m->base);
}

static enum vc_dtype gate_up_type(const struct gguf_chooser *c, uint64_t layer)
{
	const struct gguf_mixture *m = c->mixture;
	bool middle = layer >= c->layers / 8 && layer < 7 * c->layers / 8;

	return middle ? either(m->gate_up_middle, m->base) : m->base;
}

/* The type of one matrix of layer `layer`; counts it. With experts the layer's number decides,
 * without them the number of such tensors so far. */
static enum vc_dtype matrix_type(struct gguf_chooser *c, enum role role, uint64_t layer)
{
	bool by_layer = c->experts > 1;

	switch (role) {
	case ROLE_VALUES:
		return gguf_value_type(c);
	case ROLE_FUSED:
		if (c->format->fused_as_values) {
			return gguf_value_type(c);
		}
		c->values++;
		return either(c->mixture->qkv, c->mixture->base);
	case ROLE_LATENT_UP:
		if (c->format->fused_as_values) {
			return gguf_value_type(c);
		}
		c->values++;
		return c->mixture->base;
	case ROLE_KEYS:
		return key_type(c);
	case ROLE_QUERIES:
		return either(c->mixture->q, c->mixture->base);
	case ROLE_OUT:
		return out_type(c);
	case ROLE_DOWN:
		/* the rules of the 1- and 2-bit i-quants count tensors even then */
		return down_type(c, by_layer && !c->mixture->low ? layer : c->downs++);
	case ROLE_GATE:
		return gate_up_type(c, by_layer ? layer : c->gates++);
	case ROLE_UP:
		return gate_up_type(c, by_layer ? layer : c->ups++);
	default:
		return c->mixture->base;
	}
}

/* A row that is no whole number of blocks takes a type with blocks of 32, or none. */
static enum vc_dtype fitting(enum vc_dtype type, uint64_t row)
{
	if (row % vc_dtype_info(type)->block_elements == 0) {
		return type;
	}
	if (row % 32 != 0) {
		return VC_DTYPE_FP16;
	}
	switch (type) {
	case VC_DTYPE_Q2_K:
	case VC_DTYPE_Q3_K:
	case VC_DTYPE_TQ1_0:
	case VC_DTYPE_TQ2_0:
		return VC_DTYPE_Q4_0;
	case VC_DTYPE_Q4_K:
		return VC_DTYPE_Q5_0;
	case VC_DTYPE_Q5_K:
		return VC_DTYPE_Q5_1;
	case VC_DTYPE_Q6_K:
		return VC_DTYPE_Q8_0;
	default:
		return VC_DTYPE_IQ4_NL;
	}
}

uint64_t gguf_matrix_bytes(enum vc_dtype type, uint64_t row, uint64_t rows)
{
	return sat_mul(vc_dtype_bytes(fitting(type, row), row), rows);
}

static bool is_expert(enum vc_module module)
{
	return module == VC_MODULE_EXPERT_GATE || module == VC_MODULE_EXPERT_UP ||
	       module == VC_MODULE_EXPERT_DOWN;
}

enum vc_dtype gguf_matrix_type(struct gguf_chooser *c, enum vc_module module, uint64_t layer)
{
	if (is_expert(module) && c->family->mxfp4_experts) {
		return VC_DTYPE_MXFP4;
	}
	if (!c->mixture) {
		return c->format->dtype;
	}
	if (c->mixture->experts_only) {
		return is_expert(module) ? c->mixture->base : VC_DTYPE_Q8_0;
	}
	return matrix_type(c, (enum role)roles[module], layer);
}

enum vc_dtype gguf_table_type(const struct gguf_chooser *c, bool head, uint64_t row)
{
	const struct gguf_mixture *m = c->mixture;

	if (!m) {
		return c->format->dtype;
	}
	if (c->wide_tables) {
		return VC_DTYPE_Q8_0;
	}
	if (!head) {
		return either(m->embedding, m->base);
	}
	if (c->falcon || row % vc_dtype_info(m->base)->block_elements != 0) {
		return VC_DTYPE_Q8_0;
	}
	return either(m->head, VC_DTYPE_Q6_K);
}
