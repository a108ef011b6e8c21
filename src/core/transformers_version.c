/* First releases with a family's own modeling code: github.com/huggingface/transformers/releases */
#include "transformers_version.h"

#include "text.h"

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
