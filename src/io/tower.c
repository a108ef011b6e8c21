#include "tower.h"

#include <string.h>

#define KEY_CHANNELS "num_channels in_channels in_chans"

uint64_t config_side(struct config *config, const char *names, uint64_t fallback, int index)
{
	const cJSON *item = config_item(config, names);

	if (cJSON_IsArray(item) && cJSON_GetArraySize(item) > index) {
		return config_element(config, names, item, (uint64_t)index);
	}
	return config_count_or(config, names, fallback);
}

uint64_t config_patches(struct config *config)
{
	uint64_t count = 1;

	for (int i = 0; i < 2; i++) {
		uint64_t image = config_side(config, "image_size img_size", 224, i);
		uint64_t patch = config_side(config, "patch_size", 16, i);

		if (patch == 0 || image < patch) {
			config_fail(config, "patch_size", "exceeds the image (expected at most %d)",
			            (int)image);
			return 0;
		}
		count *= image / patch;
	}
	return count;
}

uint64_t config_patch_size(struct config *config)
{
	return times(config_count_or(config, KEY_CHANNELS, 3),
	             times(config_side(config, "patch_size", 16, 0),
	                   config_side(config, "patch_size", 16, 1)));
}

uint64_t config_ffn(struct config *config, uint64_t width, uint64_t times)
{
	const cJSON *ratio = config_item(config, "mlp_ratio");

	if (config_item(config, KEY_FFN) || !ratio) {
		return config_count_or(config, KEY_FFN, times * width);
	}
	if (!cJSON_IsNumber(ratio) || !(ratio->valuedouble >= 0.01 && ratio->valuedouble <= 64)) {
		config_fail(config, "mlp_ratio", "is out of range (expected a ratio up to 64)");
		return 0;
	}
	return (uint64_t)(ratio->valuedouble * (double)width + 0.5);
}

/* Files of some families repeat the whole's model_type in its parts. */
static const char *part_type(struct config *part, const char *fallback)
{
	const char *type = config_text_or(part, "model_type", NULL);
	struct config outer = *part;

	outer.root = part->outer;
	if (!type || !fallback) {
		return type ? type : fallback;
	}
	if (strcmp(type, config_text_or(&outer, "model_type", "")) == 0) {
		return fallback;
	}
	return type;
}

static uint32_t read_part(struct config *config, const char *names, const char *fallback,
                          bool tower)
{
	struct config part = config_child(config, names);
	uint32_t before = config->model->stack_count;
	const char *type;

	if (config_failed(config)) {
		return 0;
	}
	type = part_type(&part, fallback);
	if (type && tower && !config_knows(type)) {
		config->model->known_family = false;
		type = fallback;
	}
	if (!type) {
		config_fail(&part, "model_type", "is missing (expected one such as \"llama\")");
	}
	config_read_as(&part, type);
	if (!config_failed(config) && config->model->stack_count == before) {
		config_fail(config, names, "describes no layers");
	}
	return config_failed(config) ? 0 : before;
}

uint32_t config_part(struct config *config, const char *names, const char *fallback)
{
	return read_part(config, names, fallback, false);
}

uint32_t config_tower(struct config *config, const char *names, const char *fallback)
{
	return read_part(config, names, fallback, true);
}
