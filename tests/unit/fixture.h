/* Models for tests, read from data/configs/NAME.json. */
#ifndef VC_FIXTURE_H
#define VC_FIXTURE_H

#include "config.h"
#include "test.h"

static inline struct vc_model *fixture_text(const char *name, const char *text, size_t length)
{
	struct vc_model *model = malloc(sizeof *model);
	struct vc_error error;
	cJSON *tree = json_parse(text, length, &error);

	if (!tree || vc_config_to_model(tree, model, &error) != VC_OK) {
		fail_msg("%s: %s: %s", name, error.field, error.message);
	}
	cJSON_Delete(tree);
	return model;
}

/* The caller frees it. */
static inline struct vc_model *fixture_model(const char *name)
{
	enum {
		MOST = 1 << 20
	};
	char path[512], *text = malloc(MOST);
	struct vc_model *model;
	FILE *file;
	size_t length;

	snprintf(path, sizeof path, TESTS_DIR "/data/configs/%s.json", name);
	file = fopen(path, "rb");
	if (!file || !text) {
		fail_msg("%s cannot be read", path);
	}
	length = fread(text, 1, MOST - 1, file);
	text[length] = '\0';
	fclose(file);
	model = fixture_text(name, text, length);
	free(text);
	return model;
}

#endif
