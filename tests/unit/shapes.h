/* Small models for tests, written out by hand so that they do not rest on any reader. */
#ifndef VC_SHAPES_H
#define VC_SHAPES_H

#include "vramcalc/vramcalc.h"

#include <string.h>

/* A plain decoder: attention and a gated feed-forward in every layer, two norms, untied head. */
struct decoder {
	uint64_t hidden, layers, heads, kv_heads, ffn, vocab;
};

/* Published: Llama-2 papers' tables; parameters 6,738,415,616 and 68,976,648,192. */
static const struct decoder llama_2_7b = { 4096, 32, 32, 32, 11008, 32000 };
static const struct decoder llama_2_70b = { 8192, 80, 64, 8, 28672, 32000 };

static inline void shape_extra(struct vc_model *model, enum vc_module module, uint64_t out,
                               uint64_t in)
{
	model->extras[model->extra_count++] = (struct vc_extra){
		.tensor = { .module = module,
		            .split = module == VC_MODULE_NORM ? VC_SPLIT_NONE : VC_SPLIT_VOCAB,
		            .out = out,
		            .in = in,
		            .count = 1 },
		.last = module != VC_MODULE_EMBEDDING,
	};
}

static inline void shape_decoder(struct vc_model *model, const struct decoder *decoder)
{
	struct vc_layer_kind *kind = &model->kinds[0];

	memset(model, 0, sizeof *model);
	model->known_family = true;
	model->vocab_size = decoder->vocab;
	model->stack_count = 1;
	model->kind_count = 1;
	model->stacks[0].role = VC_STACK_DECODER;
	model->stacks[0].hidden_size = decoder->hidden;
	model->stacks[0].layers = (uint32_t)decoder->layers;
	kind->mixer_count = 1;
	kind->mixers[0].type = VC_MIXER_ATTENTION;
	kind->mixers[0].heads = (uint32_t)decoder->heads;
	kind->mixers[0].kv_heads = (uint32_t)decoder->kv_heads;
	kind->mixers[0].head_dim = (uint32_t)(decoder->hidden / decoder->heads);
	kind->mixers[0].causal = true;
	kind->ffn_count = 1;
	kind->ffns[0].type = VC_FFN_GATED;
	kind->ffns[0].gated = true;
	kind->ffns[0].size = decoder->ffn;
	kind->norm_elements = 2 * decoder->hidden;
	kind->norms = 2;
	shape_extra(model, VC_MODULE_EMBEDDING, decoder->vocab, decoder->hidden);
	shape_extra(model, VC_MODULE_NORM, decoder->hidden, 1);
	shape_extra(model, VC_MODULE_LM_HEAD, decoder->vocab, decoder->hidden);
}

#endif
