#include "spec_bind.h"

#include "spec_choices.h"
#include "spec_schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(enum vc_dtype) == sizeof(unsigned), "choices are stored as unsigned");

static const struct vc_field_row *row_of(const struct vc_bound *bound)
{
	return vc_field_row_at(bound->index);
}

static uint64_t number_of(const struct vc_bound *bound)
{
	uint64_t value = 0;

	(void)vc_quantity_parse(vc_field_quantity(row_of(bound)->field.kind), bound->text, &value);
	return value;
}

static void store(const struct vc_bound *bound, struct vc_spec *spec)
{
	char *at = (char *)spec + row_of(bound)->offset;
	uint64_t wide;
	uint32_t narrow;
	unsigned choice;

	switch (row_of(bound)->store) {
	case VC_STORE_BOOL:
		memcpy(at, &bound->flag, sizeof bound->flag);
		break;
	case VC_STORE_U32:
		narrow = (uint32_t)number_of(bound);
		memcpy(at, &narrow, sizeof narrow);
		break;
	case VC_STORE_U64:
		wide = number_of(bound);
		memcpy(at, &wide, sizeof wide);
		break;
	case VC_STORE_ENUM:
		choice = (unsigned)vc_choice_value(row_of(bound)->field.choices, bound->text);
		memcpy(at, &choice, sizeof choice);
		break;
	case VC_STORE_NONE:
		break;
	}
}

static void store_targets(const struct vc_bound *bound, struct vc_lora *lora)
{
	for (uint32_t i = 0; i < bound->count; i++) {
		long choice = vc_choice_value(row_of(bound)->field.choices, bound->texts[i]);
		uint64_t modules = vc_lora_target_modules(choice);

		if (modules == UINT64_MAX) {
			lora->all_linear = true;
		} else {
			lora->target_modules |= modules;
		}
	}
}

static void store_saved_modules(const struct vc_bound *bound, struct vc_lora *lora)
{
	for (uint32_t i = 0; i < bound->count; i++) {
		long choice = vc_choice_value(row_of(bound)->field.choices, bound->texts[i]);

		lora->modules_to_save |= vc_saved_module(choice);
	}
}

static bool store_gpus(const struct vc_bound *bound, struct vc_hardware *hardware)
{
	if (bound->count == 0) {
		return true;
	}
	hardware->gpus = calloc(bound->count, sizeof *hardware->gpus);
	if (!hardware->gpus) {
		return false;
	}
	for (uint32_t i = 0; i < bound->count; i++) {
		hardware->gpus[i] = strdup(bound->texts[i]);
		if (!hardware->gpus[i]) {
			return false;
		}
		hardware->gpu_count++;
	}
	return true;
}

static bool is_field(const struct vc_bound *bound, const char *path)
{
	return strcmp(row_of(bound)->field.path, path) == 0;
}

static void store_model(const struct vc_bound *bound, struct vc_model_texts *model)
{
	if (is_field(bound, "model.name")) {
		model->name = bound->text;
	} else if (is_field(bound, "model.config")) {
		model->config = bound->text;
	} else if (is_field(bound, "model.weights")) {
		model->weights = bound->text;
	} else if (is_field(bound, "model.params")) {
		model->params = number_of(bound);
	} else if (is_field(bound, "models.reference")) {
		model->roles[VC_ROLE_REFERENCE] = bound->text;
	} else if (is_field(bound, "models.reward")) {
		model->roles[VC_ROLE_REWARD] = bound->text;
	} else if (is_field(bound, "models.critic")) {
		model->roles[VC_ROLE_CRITIC] = bound->text;
	} else if (is_field(bound, "models.rollout")) {
		model->roles[VC_ROLE_ROLLOUT] = bound->text;
	}
}

/* The fields that are kept in a way of their own, and those that say that others are given. */
static bool store_special(const struct vc_bound *bound, struct vc_spec *spec,
                          struct vc_model_texts *model)
{
	struct vc_request *request = &spec->request;

	store_model(bound, model);
	if (is_field(bound, "workload.quantization")) {
		request->workload.quantization = vc_quantization_by_name(bound->text);
	} else if (is_field(bound, "training.lora.targets")) {
		store_targets(bound, &request->training.lora);
	} else if (is_field(bound, "training.lora.modules_to_save")) {
		store_saved_modules(bound, &request->training.lora);
	} else if (is_field(bound, "engine.version")) {
		(void)vc_version_parse(bound->text, &request->engine.version);
	} else if (is_field(bound, "engine.gpu_layers")) {
		request->engine.gpu_layers_given = true;
	} else if (is_field(bound, "hardware.gpus")) {
		return store_gpus(bound, &spec->hardware);
	} else if (is_field(bound, "budget.price_per_hour")) {
		spec->budget.price_given = true;
	} else if (is_field(bound, "budget.currency")) {
		(void)snprintf(spec->budget.currency, sizeof spec->budget.currency, "%s",
		               bound->text);
	} else if (strncmp(row_of(bound)->field.path, "parallelism.", 12) == 0) {
		request->parallelism.stated = true;
	}
	return true;
}

static bool find_bound(void *raw, size_t index, struct vc_bound *bound)
{
	void **slot;
	const cyaml_schema_field_t *field =
	        vc_spec_slot(raw, vc_field_row_at(index)->field.path, false, &slot);

	*bound = (struct vc_bound){ .index = index, .text = "" };
	if (!field || !slot || !*slot) {
		return false;
	}
	if (field->value.type == CYAML_SEQUENCE) {
		bound->texts = *slot;
		bound->count = *vc_spec_list_count(field, slot);
	} else if (field->value.type == CYAML_BOOL) {
		bound->flag = *(const bool *)*slot;
	} else {
		bound->text = *slot;
	}
	return true;
}

void vc_spec_bind_defaults(struct vc_spec *spec)
{
	spec->hardware.max_gpus = 8;
	memcpy(spec->budget.currency, "USD", sizeof spec->budget.currency);
}

bool vc_spec_bind_field(const struct vc_bound *bound, struct vc_spec *spec,
                        struct vc_model_texts *model)
{
	spec->given[bound->index / 64] |= UINT64_C(1) << (bound->index % 64);
	store(bound, spec);
	return store_special(bound, spec, model);
}

bool vc_spec_bind(void *raw, struct vc_spec *spec, struct vc_model_texts *model)
{
	struct vc_bound bound;

	vc_spec_bind_defaults(spec);
	for (size_t i = 0; vc_field_row_at(i); i++) {
		if (find_bound(raw, i, &bound) && !vc_spec_bind_field(&bound, spec, model)) {
			return false;
		}
	}
	return true;
}
