#include "tower.h"

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
	return config_count_or(config, KEY_CHANNELS, 3) * config_side(config, "patch_size", 16, 0) *
	       config_side(config, "patch_size", 16, 1);
}

uint32_t config_part(struct config *config, const char *name, const char *fallback)
{
	struct config part = config_child(config, name);
	uint32_t before = config->model->stack_count;

	if (!config_failed(config)) {
		config_read(&part, fallback);
	}
	if (!config_failed(config) && config->model->stack_count == before) {
		config_fail(config, name, "describes no layers");
	}
	return config_failed(config) ? 0 : before;
}
