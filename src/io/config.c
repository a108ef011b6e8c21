#include "config.h"

#include "config_quantization.h"
#include "family.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct family *const tables[] = {
	dense_families,        expert_families,         latent_families,     mamba_families,
	gemma_families,        irregular_families,      linear_families,     encoder_families,
	seq2seq_families,      vision_families,         convnet_families,    tower_families,
	multimodal_families,   rotary_encoder_families, joint_families,      audio_families,
	hierarchical_families, newer_families,          gemma_tower_families
};

static const struct family *find_family(const char *model_type)
{
	const char *row = family_alias(model_type);

	for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
		for (const struct family *f = tables[i]; f->model_type; f++) {
			if (strcmp(f->model_type, row) == 0) {
				return f;
			}
		}
	}
	return NULL;
}

const char *vc_family_at(size_t index)
{
	for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
		for (const struct family *f = tables[i]; f->model_type; f++) {
			if (index-- == 0) {
				return f->model_type;
			}
		}
	}
	return NULL;
}

/* What is left of a model_type that no row knows: the commonest decoder, its keys deciding. */
static const struct family unknown_family = {
	"unknown",
	.decoder = { .qkv_bias_key = "qkv_bias use_qkv_bias attention_bias use_bias bias",
	             .o_bias_key = "attention_out_bias o_bias attention_bias use_bias bias",
	             .ffn_bias_key = "mlp_bias use_bias bias",
	             .qk_norm = QK_NORM_HEAD,
	             .qk_norm_key = "use_qk_norm qk_norm qk_layernorm",
	             .shared_gate = false },
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Letters that two names share before they part, digits left out: "qwen4_next" and "qwen3" share
 * "qwen". 0 unless all of `known` is shared and the rest of `wanted` is a word of its own. */
static size_t kinship(const char *wanted, const char *known)
{
	size_t shared = 0;

	while (*known) {
		if (is_digit(*known)) {
			known++;
		} else if (is_digit(*wanted)) {
			wanted++;
		} else if (*wanted++ == *known++) {
			shared++;
		} else {
			return 0;
		}
	}
	while (is_digit(*wanted)) {
		wanted++;
	}
	return *wanted == '\0' || *wanted == '_' || *wanted == '-' ? shared : 0;
}

/* The latest family of the same name, so far as the common decoder reads it: of a model that is
 * newer than the table, biases and norms are most likely those. */
static const struct family *sibling_family(const char *model_type)
{
	const struct family *best = NULL;
	size_t most = 3; /* fewer letters are chance */

	for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
		for (const struct family *f = tables[i]; f->model_type; f++) {
			size_t shared = kinship(model_type, f->model_type);
			bool simple = !f->read && !f->decoder.layer && !f->decoder.no_attention &&
			              !f->decoder.learned_positions;

			if (simple &&
			    (shared > most || (best && shared == most &&
			                       strcmp(f->model_type, best->model_type) > 0))) {
				best = f;
				most = shared;
			}
		}
	}
	return best;
}

/* An unknown model that holds a language model in its config is read as most of those are. */
static const struct family *nearest_family(const struct config *config, const char *model_type)
{
	const struct family *sibling = sibling_family(model_type);

	if (config_item(config, KEY_TEXT_CONFIG)) {
		return &unknown_multimodal;
	}
	return sibling ? sibling : &unknown_family;
}

bool config_knows(const char *model_type)
{
	return find_family(model_type) != NULL;
}

void config_read_as(struct config *config, const char *model_type)
{
	const struct family *family;

	if (config_failed(config)) {
		return;
	}
	family = find_family(model_type);
	if (!family) {
		config->model->known_family = false;
		family = nearest_family(config, model_type);
	}
	if (config->outer) {
		config->defaults = family_defaults(model_type);
	}
	if (family->read) {
		family->read(config, family);
	} else {
		read_decoder(config, family);
	}
}

void config_read(struct config *config, const char *fallback)
{
	const char *model_type = config_text_or(config, "model_type", fallback);

	if (config_failed(config)) {
		return;
	}
	if (!model_type) {
		config_fail(config, "model_type", "is missing (expected one such as \"llama\")");
		return;
	}
	config_read_as(config, model_type);
}

static enum vc_dtype torch_dtype(struct config *config)
{
	static const struct {
		const char *name;
		enum vc_dtype dtype;
	} names[] = {
		{ "float32", VC_DTYPE_FP32 },  { "float16", VC_DTYPE_FP16 },
		{ "bfloat16", VC_DTYPE_BF16 }, { "float8_e4m3fn", VC_DTYPE_FP8 },
		{ "float64", VC_DTYPE_FP64 },
	};
	const char *text = config_text_or(config,
	                                  "torch_dtype dtype text_config.torch_dtype "
	                                  "text_config.dtype",
	                                  "");

	text = strncmp(text, "torch.", 6) == 0 ? text + 6 : text;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		if (strcmp(text, names[i].name) == 0) {
			return names[i].dtype;
		}
	}
	return VC_DTYPE_NONE;
}

/* Kinds of layer, most of a model's bytes, are written whole as they are added. */
static void clear(struct vc_model *model)
{
	memset(model, 0, offsetof(struct vc_model, kinds));
	memset(model->extras, 0, sizeof model->extras);
	memset(&model->file, 0, sizeof model->file);
}

enum vc_status vc_config_to_model(const cJSON *root, struct vc_model *model, struct vc_error *error)
{
	struct config config = { .root = root, .model = model, .error = error };

	clear(model);
	memset(error, 0, sizeof *error);
	model->known_family = true;
	model->source = VC_SOURCE_CONFIG;
	if (!cJSON_IsObject(root)) {
		config_fail(&config, "model_type", "the config is not an object (expected {...})");
		return error->status;
	}
	snprintf(model->family, sizeof model->family, "%s",
	         config_text_or(&config, "model_type", ""));
	snprintf(model->name, sizeof model->name, "%s",
	         config_text_or(&config, "_name_or_path", ""));
	model->dtype = torch_dtype(&config);
	config_read(&config, NULL);
	config_quantization(&config);
	return error->status;
}
