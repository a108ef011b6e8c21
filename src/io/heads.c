/* What sits on top of a model: the suffix of its class in `architectures` tells. */
#include "family.h"

#include <string.h>

static bool ends_in(const char *text, const char *suffix)
{
	size_t length = strlen(text), wanted = strlen(suffix);

	return length >= wanted && strcmp(text + length - wanted, suffix) == 0;
}

enum model_head config_head(const struct config *config)
{
	static const struct {
		const char *suffix;
		enum model_head head;
	} suffixes[] = {
		{ "ForCausalLM", HEAD_LM },
		{ "LMHeadModel", HEAD_LM },
		{ "ForConditionalGeneration", HEAD_LM },
		{ "ForMaskedLM", HEAD_MASKED_LM },
		{ "ForPreTraining", HEAD_PRETRAINING },
		{ "ForSequenceClassification", HEAD_SEQUENCE },
		{ "ForTokenClassification", HEAD_TOKEN },
		{ "ForQuestionAnswering", HEAD_QUESTION },
		{ "ForImageClassification", HEAD_IMAGE },
		{ "WithProjection", HEAD_PROJECTION },
		{ "Model", HEAD_NONE },
	};
	const cJSON *name = cJSON_GetArrayItem(config_item(config, "architectures"), 0);

	for (size_t i = 0; cJSON_IsString(name) && i < sizeof suffixes / sizeof suffixes[0]; i++) {
		if (ends_in(name->valuestring, suffixes[i].suffix)) {
			return suffixes[i].head;
		}
	}
	return HEAD_UNSAID;
}

bool config_generates(const struct config *config)
{
	enum model_head head = config_head(config);

	return config->outer || head == HEAD_UNSAID || head == HEAD_LM;
}

/* transformers writes the classes' names, and their number only where they have none; two are its
 * default. */
uint64_t config_labels(struct config *config)
{
	const cJSON *names = config_item(config, "id2label");
	int count = cJSON_IsObject(names) || cJSON_IsArray(names) ? cJSON_GetArraySize(names) : 0;

	return config_count_or(config, "num_labels", count > 0 ? (uint64_t)count : 2);
}
