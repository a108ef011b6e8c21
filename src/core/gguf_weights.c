/*
 * A model's GGUF file: every tensor, each in the type that its mixture chooses.
 * github.com/ggml-org/llama.cpp, src/llama-quant.cpp (tensor_allows_quantization) and
 * conversion/base.py say which stay in 32-bit floats. docs/llamacpp.md#gguf
 */
#include "gguf_table.h"

#include "file_weights.h"
#include "model.h"
#include "sat.h"
#include "text.h"

static bool is_expert(enum vc_module module)
{
	return module == VC_MODULE_EXPERT_GATE || module == VC_MODULE_EXPERT_UP ||
	       module == VC_MODULE_EXPERT_DOWN;
}

static uint64_t greater(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t split_latent_bytes(struct gguf_chooser *c, const struct vc_mixer *mixer)
{
	enum vc_dtype type = c->mixture ? c->mixture->base : c->format->dtype;
	uint64_t heads = mixer->heads, rank = mixer->kv_lora_rank;

	/* k_b is stored transposed: its rows are as long as a head */
	return sat_add(gguf_matrix_bytes(type, mixer->qk_nope_head_dim, sat_mul(rank, heads)),
	               gguf_matrix_bytes(type, rank, sat_mul(mixer->v_head_dim, heads)));
}

/* Queries, keys and values of linear attention are one tensor, its gate is another. */
static uint64_t delta_in_bytes(struct gguf_chooser *c, const struct vc_mixer *mixer,
                               const struct vc_tensor *tensor)
{
	uint64_t gate = sat_mul(mixer->value_heads, mixer->value_head_dim);
	enum vc_dtype type = c->mixture ? c->mixture->base : c->format->dtype;
	enum vc_dtype fused = gguf_value_type(c);

	return sat_add(gguf_matrix_bytes(fused, tensor->in, sat_sub(tensor->out, gate)),
	               gguf_matrix_bytes(type, tensor->in, gate));
}

static uint64_t tensor_bytes(struct gguf_chooser *c, const struct vc_layer_kind *kind,
                             const struct vc_tensor *tensor, uint64_t layer)
{
	const struct vc_mixer *mixer = &kind->mixers[0];
	uint64_t biases = sat_mul3(4, tensor->bias, tensor->count);
	uint64_t bytes;

	if (!tensor->linear || tensor->in == 1) {
		return sat_add(sat_mul3(4, sat_mul(tensor->out, tensor->in), tensor->count),
		               biases);
	}
	if (tensor->module == VC_MODULE_KV_UP && !c->format->expanded_latent) {
		bytes = split_latent_bytes(c, mixer);
	} else if (tensor->module == VC_MODULE_SSM_IN && mixer->type == VC_MIXER_GATED_DELTANET) {
		bytes = delta_in_bytes(c, mixer, tensor);
	} else {
		bytes = gguf_matrix_bytes(gguf_matrix_type(c, tensor->module, layer), tensor->in,
		                          sat_mul(tensor->out, tensor->count));
	}
	return sat_add(bytes, biases);
}

static void add_layer(struct gguf_chooser *c, const struct vc_stack *stack,
                      const struct vc_layer_kind *kind, uint32_t layer, struct gguf_weights *out)
{
	struct vc_tensor tensors[VC_MAX_LAYER_TENSORS];
	size_t count = vc_layer_tensors(kind, stack->hidden_size, tensors);

	for (size_t i = 0; i < count; i++) {
		uint64_t bytes = tensor_bytes(c, kind, &tensors[i], layer);

		out->layer_bytes[layer] = sat_add(out->layer_bytes[layer], bytes);
		if (is_expert(tensors[i].module)) {
			out->layer_experts_bytes[layer] =
			        sat_add(out->layer_experts_bytes[layer], bytes);
			out->largest_expert_bytes = greater(out->largest_expert_bytes, bytes);
		}
		out->largest_bytes = greater(out->largest_bytes, bytes);
	}
	out->experts_bytes = sat_add(out->experts_bytes, out->layer_experts_bytes[layer]);
	out->total_bytes = sat_add(out->total_bytes, out->layer_bytes[layer]);
}

static void add_extra(const struct gguf_chooser *c, const struct vc_extra *extra,
                      struct gguf_weights *out)
{
	const struct vc_tensor *tensor = &extra->tensor;
	uint64_t rows = sat_mul(tensor->out, tensor->count);
	uint64_t bytes = sat_mul(4, tensor_elements(tensor)); /* norms, positions: 32 bits */
	bool input = !extra->last;

	if (tensor->module == VC_MODULE_EMBEDDING) {
		bytes = gguf_matrix_bytes(gguf_table_type(c, c->tied, tensor->in), tensor->in,
		                          rows);
		out->output_bytes = sat_add(out->output_bytes, c->tied ? bytes : 0);
		input = true;
	} else if (tensor->module == VC_MODULE_LM_HEAD) {
		bytes = sat_add(
		        gguf_matrix_bytes(gguf_table_type(c, true, tensor->in), tensor->in, rows),
		        sat_mul3(4, tensor->bias, tensor->count));
		input = false;
	}
	if (input) {
		out->embedding_bytes = sat_add(out->embedding_bytes, bytes);
	} else {
		out->output_bytes = sat_add(out->output_bytes, bytes);
	}
	out->total_bytes = sat_add(out->total_bytes, bytes);
}

/* Vision towers and projectors are files of their own; poolers are left out by the converter. */
static bool in_file(const struct vc_model *model, const struct vc_extra *extra, uint32_t main)
{
	(void)model;
	return !extra->tied && !extra->buffer && extra->stack == main &&
	       extra->tensor.module != VC_MODULE_PROJECTOR &&
	       extra->tensor.module != VC_MODULE_POOLER;
}

/* Encoders share nothing with a head that they do not have. */
static bool has_head(const struct vc_model *model)
{
	for (uint32_t i = 0; i < model->extra_count; i++) {
		if (model->extras[i].tensor.module == VC_MODULE_LM_HEAD) {
			return true;
		}
	}
	return false;
}

static void look_at_model(struct gguf_chooser *c, const struct vc_model *model,
                          const struct vc_stack *stack)
{
	const struct vc_mixer *first = NULL;

	c->family = ggml_family_of(model);
	c->falcon = vc_same_name(model->family, "falcon");
	c->tied = model->tied_embeddings && has_head(model);
	c->layers = stack->layers;
	for (uint32_t i = 0; i < stack->layers; i++) {
		const struct vc_layer_kind *kind = &model->kinds[stack->pattern[i]];
		const struct vc_mixer *mixer = &kind->mixers[0];

		if (kind->mixer_count > 0) {
			first = !first && mixer->heads > 0 ? mixer : first;
			c->value_count += mixer->type == VC_MIXER_ATTENTION ||
			                  mixer->type == VC_MIXER_LATENT ||
			                  mixer->type == VC_MIXER_GATED_DELTANET;
		}
		if (kind->ffn_count > 0 && kind->ffns[0].type == VC_FFN_MOE) {
			c->experts = kind->ffns[0].experts;
		}
	}
	c->grouping = first && first->kv_heads > 0 ? first->heads / first->kv_heads : 0;
	c->seventy = stack->layers == 80 && c->grouping > 1 && vc_same_name(model->family, "llama");
}

static void scale(struct gguf_weights *out, uint32_t ppm)
{
	uint64_t *const parts[] = { &out->total_bytes,   &out->embedding_bytes,
		                    &out->output_bytes,  &out->experts_bytes,
		                    &out->largest_bytes, &out->largest_expert_bytes };

	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		*parts[i] = sat_scale_up(*parts[i], ppm, 1000000);
	}
	for (uint32_t i = 0; i < out->layers; i++) {
		out->layer_bytes[i] = sat_scale_up(out->layer_bytes[i], ppm, 1000000);
		out->layer_experts_bytes[i] =
		        sat_scale_up(out->layer_experts_bytes[i], ppm, 1000000);
	}
}

static uint32_t main_stack(const struct vc_model *model)
{
	for (uint32_t i = 0; i < model->stack_count; i++) {
		if (model->stacks[i].role == VC_STACK_DECODER) {
			return i;
		}
	}
	return 0;
}

/* What the file's own table says, where the model is one and is used as it is. */
static bool take_file(const struct vc_model *model, const struct gguf_format *format,
                      struct gguf_weights *out)
{
	const struct vc_file_weights *file = &model->file;

	if (model->source != VC_SOURCE_GGUF ||
	    !file_weights_hold(model, format->dtype, format->quantization)) {
		return false;
	}
	out->total_bytes = file->total_bytes;
	out->embedding_bytes = file->embedding_bytes;
	out->output_bytes = sat_add(file->output_bytes, out->tied ? file->embedding_bytes : 0);
	out->experts_bytes = file->experts_bytes;
	out->largest_bytes = file->largest_bytes;
	for (uint32_t i = 0; i < out->layers; i++) {
		out->layer_bytes[i] = file->layer_bytes[i];
	}
	return true;
}

bool gguf_weights(const struct vc_model *model, const struct gguf_format *format,
                  struct gguf_weights *out)
{
	uint32_t main = main_stack(model);
	const struct vc_stack *stack = &model->stacks[main];
	struct gguf_chooser c = { .format = format };
	const struct gguf_alias *alias = NULL;

	*out = (struct gguf_weights){ .layers = stack->layers };
	look_at_model(&c, model, stack);
	if (format->quantization && format->quantization->quantizer != VC_QUANTIZER_NONE) {
		alias = gguf_alias_by_name(format->quantization->name);
		c.mixture = gguf_mixture_by_name(!alias          ? format->quantization->name
		                                 : c.experts > 1 ? alias->experts
		                                                 : alias->dense);
		c.wide_tables = alias && alias->wide_tables;
		if (!c.mixture) {
			return false;
		}
	}
	out->tied = c.tied;
	if (take_file(model, format, out)) {
		return true;
	}
	for (uint32_t i = 0; i < stack->layers; i++) {
		add_layer(&c, stack, &model->kinds[stack->pattern[i]], i, out);
	}
	for (uint32_t i = 0; i < model->extra_count; i++) {
		if (in_file(model, &model->extras[i], main)) {
			add_extra(&c, &model->extras[i], out);
		}
	}
	if (alias) {
		scale(out, c.experts > 1 ? alias->experts_ppm : alias->dense_ppm);
	}
	return true;
}

/*
 * Files of one label against each other: dense ones differ by an importance matrix (0.8 %), a few
 * tensors kept in 16 bits (1.3 to 2.2 %, github.com/ollama/ollama/issues/14774) or an older
 * converter; models with experts by what a publisher raises (Qwen3-30B-A3B q4_k_m: 17.71 and 18.63
 * GB, github.com/ggml-org/llama.cpp/issues/13217); files of eight experts from before April 2024
 * have one tensor per expert and are up to 10 % smaller
 * (github.com/ggml-org/llama.cpp/pull/4406); other labels are publishers' own anyway.
 */
struct gguf_spread gguf_spread(const struct vc_model *model,
                               const struct vc_quantization *quantization)
{
	uint64_t experts = 0;

	if (model->source == VC_SOURCE_GGUF &&
	    file_weights_hold(model, model->dtype, quantization)) {
		return (struct gguf_spread){ 0, 0 };
	}
	for (uint32_t i = 0; i < model->kind_count; i++) {
		if (model->kinds[i].ffn_count > 0 && model->kinds[i].ffns[0].type == VC_FFN_MOE) {
			experts = model->kinds[i].ffns[0].experts;
		}
	}
	if (!quantization || quantization->quantizer == VC_QUANTIZER_NONE) {
		return (struct gguf_spread){ 2000, 2000 };
	}
	if (gguf_alias_by_name(quantization->name)) {
		return (struct gguf_spread){ 50000, 50000 };
	}
	if (vc_same_name(quantization->name, "q8_0")) {
		return (struct gguf_spread){ 3000, 3000 };
	}
	if (experts == 0) {
		return (struct gguf_spread){ 14000, 14000 };
	}
	return (struct gguf_spread){ experts == 8 ? 105000 : 50000, 50000 };
}

static void add_vision(const struct vc_visit *visit, void *context)
{
	uint64_t *bytes = context;
	uint64_t elements = sat_mul3(visit->tensor->in, visit->tensor->out, visit->tensor->count);

	if (visit->stack->role == VC_STACK_VISION || visit->tensor->module == VC_MODULE_PROJECTOR) {
		*bytes = sat_add(*bytes, sat_mul3(2, elements, visit->layers));
	}
}

uint64_t gguf_vision_bytes(const struct vc_model *model)
{
	uint64_t bytes = 0;

	vc_model_walk(model, add_vision, &bytes);
	return bytes;
}
