/*
 * Vision transformers and the text halves of models that match images with text. Shapes from
 * huggingface/transformers, src/transformers/models/; docs/architectures.md.
 */
#include "tower.h"

struct tower_traits {
	uint8_t tokens;       /* learned ones in front of the patches, each with a position */
	uint8_t other_tokens; /* learned ones without */
	bool no_positions, no_patch_bias, no_bias, no_k_bias;
	bool embedding_norm, no_final_norm, layer_scale, gated, rms;
	bool pooler;         /* a dense layer in the bare model */
	bool attention_pool; /* unless vision_use_head says no */
	bool head_tokens;    /* classifiers read the first token and the patches' mean */
};

struct tower {
	const struct tower_traits *traits;
	struct block block;
	uint64_t layers, patches;
	uint32_t stack;
};

static enum norm_style norm_of(const struct tower_traits *traits)
{
	return traits->rms ? NORM_RMS : NORM_LAYER;
}

/* SwiGLU at two thirds of the width, in whole eights */
static void set_swiglu(struct block *block)
{
	block->ffn = (block->ffn * 2 / 3 + 7) / 8 * 8;
	block->gated = true;
	block->fused_gate_up = true;
}

static void read_facts(struct config *config, struct tower *t)
{
	const struct tower_traits *traits = t->traits;
	struct block *block = &t->block;

	*block = (struct block){ .norm = norm_of(traits), .gated = traits->gated };
	block->hidden = config_count(config, KEY_HIDDEN);
	block->heads = config_count(config, KEY_HEADS " attention_heads");
	block->ffn = config_ffn(config, block->hidden, 4);
	block->q_bias =
	        config_flag_or(config, "qkv_bias query_bias attention_bias", !traits->no_bias);
	block->k_bias = config_flag_or(config, "key_bias", block->q_bias) && !traits->no_k_bias;
	block->v_bias = config_flag_or(config, "value_bias", block->q_bias);
	block->o_bias = config_flag_or(config, "proj_bias", !traits->no_bias);
	block->ffn_bias = config_flag_or(config, "mlp_bias", !traits->no_bias);
	block->odd = traits->layer_scale ? 2 * block->hidden : 0;
	if (config_flag_or(config, "use_swiglu_ffn", false)) {
		set_swiglu(block);
	}
	if (config_flag_or(config, "use_gated_mlp", false)) {
		block->gated = true;
	}
	t->layers = config_count(config, KEY_LAYERS);
	t->patches = config_number_or(config, "num_patches", 0);
	if (t->patches == 0 && !traits->no_positions) {
		t->patches = config_patches(config);
	}
}

static void put_embeddings(struct config *config, const struct tower *t)
{
	const struct tower_traits *traits = t->traits;
	uint64_t h = t->block.hidden;
	uint64_t tokens = traits->tokens + traits->other_tokens +
	                  config_number_or(config, "num_register_tokens", 0);

	config_linear(config, t->stack, VC_MODULE_CONV, config_patch_size(config), h,
	              !traits->no_patch_bias);
	if (tokens > 0) {
		config_extra(config, t->stack, VC_MODULE_OTHER, tokens, h);
	}
	if (!traits->no_positions) {
		config_extra(config, t->stack, VC_MODULE_POSITION, t->patches + traits->tokens, h);
	}
	if (traits->embedding_norm) {
		config_elements(config, t->stack, VC_MODULE_NORM, norm_size(t->block.norm, h));
	}
}

/* A learned query, attention of all heads, a norm and a feed-forward part */
static void put_attention_pool(struct config *config, const struct tower *t)
{
	uint64_t h = t->block.hidden, f = t->block.ffn;

	config_elements(config, t->stack, VC_MODULE_POOLER,
	                plus(times(4, linear_elements(h, h)),
	                     plus(3 * h, plus(linear_elements(h, f), linear_elements(f, h)))))
	        ->last = true;
}

static void put_head(struct config *config, const struct tower *t)
{
	enum model_head head = config_head(config);
	uint64_t h = t->block.hidden;

	if (t->traits->attention_pool && config_flag_or(config, "vision_use_head", true)) {
		put_attention_pool(config, t);
	}
	if (head == HEAD_IMAGE) {
		config_linear(config, t->stack, VC_MODULE_OTHER, t->traits->head_tokens ? 2 * h : h,
		              config_labels(config), true)
		        ->last = true;
	} else if (head == HEAD_PROJECTION) {
		config_linear(config, t->stack, VC_MODULE_PROJECTOR, h,
		              config_count_or(config, "projection_dim", 512), false)
		        ->last = true;
	} else if (t->traits->pooler && !config->outer) {
		config_linear(config, t->stack, VC_MODULE_POOLER, h, h, true)->last = true;
	}
}

static void read_tower(struct config *config, const struct family *family)
{
	struct tower t = { .traits = family->traits };

	read_facts(config, &t);
	t.stack = config_stack(config, VC_STACK_VISION, t.block.hidden);
	config->model->stacks[t.stack].fixed_tokens =
	        t.patches > 0 ? t.patches + t.traits->tokens : 0;
	put_embeddings(config, &t);
	config_blocks(config, t.stack, &t.block, t.layers);
	if (!t.traits->no_final_norm) {
		config_elements(config, t.stack, VC_MODULE_NORM,
		                norm_size(t.block.norm, t.block.hidden))
		        ->last = true;
	}
	put_head(config, &t);
}

/* BEiT: a table of relative positions in each layer or one for all, instead of absolute ones */
static void read_beit(struct config *config, const struct family *family)
{
	struct tower t = { .traits = family->traits };
	uint64_t side, table, h;

	read_facts(config, &t);
	h = t.block.hidden;
	side = quotient(config_side(config, "image_size", 224, 0),
	                config_side(config, "patch_size", 16, 0));
	side = side > 0 ? 2 * side - 1 : 0;
	table = times(plus(times(side, side), 3), t.block.heads);
	t.block.k_bias = false;
	t.block.odd = config_item(config, "layer_scale_init_value") ? 2 * h : 0;
	if (config_flag_or(config, "use_relative_position_bias", false)) {
		t.block.odd = plus(t.block.odd, table);
	}
	t.stack = config_stack(config, VC_STACK_VISION, h);
	config_linear(config, t.stack, VC_MODULE_CONV, config_patch_size(config), h, true);
	config_elements(config, t.stack, VC_MODULE_OTHER,
	                config_flag_or(config, "use_mask_token", false) ? 2 * h : h);
	if (config_flag_or(config, "use_absolute_position_embeddings", false)) {
		config_extra(config, t.stack, VC_MODULE_POSITION, t.patches + 1, h);
	}
	if (config_flag_or(config, "use_shared_relative_position_bias", false)) {
		config_elements(config, t.stack, VC_MODULE_POSITION, table);
	}
	config_blocks(config, t.stack, &t.block, t.layers);
	config_elements(config, t.stack, VC_MODULE_NORM, 2 * h)->last = true;
	put_head(config, &t);
}

/* ---- Images matched with text */

struct text_traits {
	bool head; /* a dense layer on top, SigLIP */
};

/* Causal in CLIP, but run once over a caption: no cache is kept. */
static void read_text_half(struct config *config, const struct family *family)
{
	const struct text_traits *traits = family->traits;
	struct block block = { BLOCK_ALL_BIASES, .hidden = config_count(config, KEY_HIDDEN),
		               .heads = config_count(config, KEY_HEADS),
		               .ffn = config_count(config, KEY_FFN), .norm = NORM_LAYER };
	uint64_t layers = config_count(config, KEY_LAYERS);
	uint64_t vocab = config_count(config, KEY_VOCAB);
	uint64_t positions = config_count(config, KEY_POSITIONS);
	uint32_t stack = config_stack(config, VC_STACK_DECODER, block.hidden);

	config->model->vocab_size = vocab;
	config->model->max_position_embeddings = positions;
	config_extra(config, stack, VC_MODULE_EMBEDDING, vocab, block.hidden);
	config_extra(config, stack, VC_MODULE_POSITION, positions, block.hidden);
	config_blocks(config, stack, &block, layers);
	config_elements(config, stack, VC_MODULE_NORM, 2 * block.hidden)->last = true;
	if (traits->head) {
		config_linear(config, stack, VC_MODULE_PROJECTOR, block.hidden,
		              config_count_or(config, "projection_size", block.hidden), true)
		        ->last = true;
	}
	if (config_head(config) == HEAD_PROJECTION) {
		config_linear(config, stack, VC_MODULE_PROJECTOR, block.hidden,
		              config_count_or(config, "projection_dim", 512), false)
		        ->last = true;
	}
}

struct pair_traits {
	const char *text, *vision;
	uint8_t scalars;  /* logit scale and bias */
	bool projections; /* both halves into projection_dim, without biases */
	bool text_bias, vision_bias;
};

static void read_pair(struct config *config, const struct family *family)
{
	const struct pair_traits *traits = family->traits;
	uint64_t width = config_count_or(config, "projection_dim", 512);
	uint32_t text = config_part(config, "text_config", traits->text);
	uint32_t vision = config_part(config, "vision_config", traits->vision);

	if (config_failed(config)) {
		return;
	}
	if (traits->projections) {
		config_linear(config, text, VC_MODULE_PROJECTOR,
		              config->model->stacks[text].hidden_size, width, traits->text_bias)
		        ->last = true;
		config_linear(config, vision, VC_MODULE_PROJECTOR,
		              config->model->stacks[vision].hidden_size, width, traits->vision_bias)
		        ->last = true;
	}
	config_elements(config, text, VC_MODULE_OTHER, traits->scalars)->last = true;
}

static const struct tower_traits vit = { .tokens = 1, .pooler = true }, vit_plain = { .tokens = 1 },
                                 deit = { .tokens = 2, .pooler = true },
                                 dinov2 = { .tokens = 1,
	                                    .other_tokens = 1,
	                                    .layer_scale = true,
	                                    .head_tokens = true },
                                 dinov3 = { .tokens = 1,
	                                    .other_tokens = 1,
	                                    .layer_scale = true,
	                                    .no_positions = true,
	                                    .no_k_bias = true },
                                 ijepa = { .tokens = 0 }, beit = { .tokens = 1 },
                                 clip = { .tokens = 1,
	                                  .no_patch_bias = true,
	                                  .embedding_norm = true },
                                 siglip = { .attention_pool = true }, idefics = { .tokens = 0 },
                                 pixtral = { .no_positions = true,
	                                     .no_patch_bias = true,
	                                     .no_bias = true,
	                                     .embedding_norm = true,
	                                     .no_final_norm = true,
	                                     .gated = true,
	                                     .rms = true };
static const struct text_traits clip_text = { .head = false }, siglip_text = { .head = true };
static const struct pair_traits clip_pair = { "clip_text_model",
	                                      "clip_vision_model",
	                                      1,
	                                      true,
	                                      false,
	                                      false },
                                siglip_pair = { .text = "siglip_text_model",
	                                        .vision = "siglip_vision_model",
	                                        .scalars = 2 },
                                siglip2_pair = { .text = "siglip2_text_model",
	                                         .vision = "siglip2_vision_model",
	                                         .scalars = 2 };

const struct family vision_families[] = {
	{ "beit", read_beit, .traits = &beit },
	{ "clip", read_pair, .traits = &clip_pair },
	{ "clip_text_model", read_text_half, .traits = &clip_text },
	{ "clip_vision_model", read_tower, .traits = &clip },
	{ "deit", read_tower, .traits = &deit },
	{ "dinov2", read_tower, .traits = &dinov2 },
	{ "dinov2_with_registers", read_tower, .traits = &dinov2 },
	{ "dinov3_vit", read_tower, .traits = &dinov3 },
	{ "idefics2_vision", read_tower, .traits = &idefics },
	{ "idefics3_vision", read_tower, .traits = &idefics },
	{ "ijepa", read_tower, .traits = &ijepa },
	{ "paddleocr_vl_vision", read_tower, .traits = &idefics },
	{ "pixtral", read_tower, .traits = &pixtral },
	{ "siglip", read_pair, .traits = &siglip_pair },
	{ "siglip2", read_pair, .traits = &siglip2_pair },
	{ "siglip2_text_model", read_text_half, .traits = &siglip_text },
	{ "siglip2_vision_model", read_tower, .traits = &siglip },
	{ "siglip_text_model", read_text_half, .traits = &siglip_text },
	{ "siglip_vision_model", read_tower, .traits = &siglip },
	{ "smolvlm_vision", read_tower, .traits = &idefics },
	{ "vit", read_tower, .traits = &vit },
	{ "vit_mae", read_tower, .traits = &vit_plain },
	{ "vit_msn", read_tower, .traits = &vit_plain },
	{ .model_type = NULL },
};
