/* First releases with a family's own modeling code: github.com/huggingface/transformers/releases */
#include "transformers_version.h"

#include "text.h"
#include "version.h"

static const struct {
	const char *family;
	struct vc_version first;
} families[] = {
	{ "granite", { 4, 45, 0 } },     { "granitemoe", { 4, 45, 0 } },
	{ "olmoe", { 4, 45, 0 } },       { "glm", { 4, 46, 0 } },
	{ "phimoe", { 4, 46, 0 } },      { "olmo2", { 4, 47, 0 } },
	{ "bamba", { 4, 48, 0 } },       { "cohere2", { 4, 48, 0 } },
	{ "helium", { 4, 49, 0 } },      { "qwen2_5_vl", { 4, 49, 0 } },
	{ "zamba2", { 4, 49, 0 } },      { "gemma3", { 4, 50, 0 } },
	{ "gemma3_text", { 4, 50, 0 } }, { "deepseek_v3", { 4, 51, 0 } },
	{ "glm4", { 4, 51, 0 } },        { "llama4", { 4, 51, 0 } },
	{ "llama4_text", { 4, 51, 0 } }, { "qwen3", { 4, 51, 0 } },
	{ "qwen3_moe", { 4, 51, 0 } },   { "falcon_h1", { 4, 53, 0 } },
	{ "smollm3", { 4, 53, 0 } },     { "glm4_moe", { 4, 54, 0 } },
	{ "lfm2", { 4, 54, 0 } },        { "gpt_oss", { 4, 55, 0 } },
	{ "olmo3", { 4, 57, 0 } },       { "qwen3_next", { 4, 57, 0 } },
	{ "qwen3_vl", { 4, 57, 0 } },
};

struct vc_version transformers_version(const struct vc_request *request)
{
	if (request->engine.version.major > 0) {
		return request->engine.version;
	}
	for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
		if (vc_same_name(families[i].family, request->model->family)) {
			return families[i].first;
		}
	}
	return (struct vc_version){ 0 };
}

/* Families whose layers held rotary tables of max_position_embeddings, and the first release that
 * does without: read in modeling_*.py (cos_cached) of 4.37 to 4.45. */
static const struct {
	const char *family;
	struct vc_version without;
} layer_tables[] = {
	{ "llama", { 4, 41, 0 } },   { "olmo", { 4, 41, 0 } },       { "mistral", { 4, 42, 0 } },
	{ "falcon", { 4, 45, 0 } },  { "persimmon", { 4, 45, 0 } },  { "phi", { 4, 45, 0 } },
	{ "qwen2", { 4, 45, 0 } },   { "qwen2_moe", { 4, 45, 0 } },  { "qwen2_vl", { 4, 45, 0 } },
	{ "mixtral", { 4, 48, 0 } }, { "starcoder2", { 4, 45, 0 } }, { "stablelm", { 4, 45, 0 } },
};

/* What the models of that time were published with; longer contexts came with another config. */
#define MOST_POSITIONS 32768u

uint64_t transformers_layer_positions(const struct vc_request *request)
{
	const struct vc_model *model = request->model;
	struct vc_version version = transformers_version(request);
	uint64_t positions = model->max_position_embeddings;

	if (positions == 0 || positions > MOST_POSITIONS) {
		positions = MOST_POSITIONS;
	}
	for (size_t i = 0; i < sizeof layer_tables / sizeof *layer_tables; i++) {
		if (vc_same_name(layer_tables[i].family, model->family)) {
			return version_at_least(version, layer_tables[i].without) ? 0 : positions;
		}
	}
	return 0;
}
