#include "spec_schema.h"

#include <stdlib.h>
#include <string.h>

struct raw_model {
	char *name, *params, *config, *weights;
};

struct raw_workload {
	char *task, *precision, *quantization, *kv_cache_precision, *attn_implementation;
	char *batch_size, *sequence_length, *concurrency;
};

struct raw_lora {
	char *rank;
	char **targets;
	uint32_t targets_count;
	bool *dora;
	char **modules_to_save;
	uint32_t modules_to_save_count;
};

struct raw_training {
	char *method, *optimizer, *optimizer_implementation, *mixed_precision;
	char *adapter_precision, *gradient_precision, *gradient_checkpointing;
	char *loss_implementation, *gradient_accumulation;
	bool *optimizer_in_backward, *distributed_optimizer, *compile, *packing, *kbit_preparation;
	struct raw_lora *lora;
};

struct raw_models {
	char *reference, *reward, *critic, *rollout;
	bool *rollout_sleeps;
};

struct raw_offload {
	char *optimizer, *parameters;
};

struct raw_parallelism {
	char *data, *tensor, *pipeline, *virtual_pipeline, *context, *expert, *zero_stage;
	char *shard, *data_parallel;
	bool *sequence_parallel;
	struct raw_offload *offload;
};

struct raw_engine {
	char *name, *version, *gpu_memory_utilization;
	char *max_num_batched_tokens, *max_num_seqs, *ubatch_size, *gpu_layers, *cpu_moe_layers;
	char *speculative_tokens, *draft_params, *draft_layers, *max_loras, *max_lora_rank;
	bool *enforce_eager;
};

struct raw_hardware {
	char **gpus;
	uint32_t gpus_count;
	char *max_gpus, *host_memory;
};

struct raw_budget {
	char *price_per_hour, *currency;
};

struct raw_spec {
	char *version;
	struct raw_model *model;
	struct raw_workload *workload;
	struct raw_training *training;
	struct raw_models *models;
	struct raw_parallelism *parallelism;
	struct raw_engine *engine;
	struct raw_hardware *hardware;
	struct raw_budget *budget;
};

#define GIVEN_OR_NULL (CYAML_FLAG_OPTIONAL | CYAML_FLAG_POINTER_NULL_STR)
#define TEXT(section, member)                                                                      \
	CYAML_FIELD_STRING_PTR(#member, GIVEN_OR_NULL, struct section, member, 0, VC_SPEC_TEXT)
#define FLAG(section, member) CYAML_FIELD_BOOL_PTR(#member, GIVEN_OR_NULL, struct section, member)
#define SECTION(section, member, fields)                                                           \
	CYAML_FIELD_MAPPING_PTR(#member, GIVEN_OR_NULL, struct section, member, fields)
#define LIST(section, member)                                                                      \
	CYAML_FIELD_SEQUENCE(#member, GIVEN_OR_NULL, struct section, member, &entry, 0,            \
	                     VC_SPEC_LIST)

static const cyaml_schema_value_t entry = { CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 0,
	                                                       VC_SPEC_TEXT) };

static const cyaml_schema_field_t model_fields[] = {
	TEXT(raw_model, name),    TEXT(raw_model, params),
	TEXT(raw_model, config),  CYAML_FIELD_IGNORE("architecture", CYAML_FLAG_OPTIONAL),
	TEXT(raw_model, weights), CYAML_FIELD_END,
};
static const cyaml_schema_field_t workload_fields[] = {
	TEXT(raw_workload, task),
	TEXT(raw_workload, precision),
	TEXT(raw_workload, quantization),
	TEXT(raw_workload, batch_size),
	TEXT(raw_workload, sequence_length),
	TEXT(raw_workload, concurrency),
	TEXT(raw_workload, kv_cache_precision),
	TEXT(raw_workload, attn_implementation),
	CYAML_FIELD_END,
};
static const cyaml_schema_field_t lora_fields[] = {
	TEXT(raw_lora, rank), LIST(raw_lora, targets),
	FLAG(raw_lora, dora), LIST(raw_lora, modules_to_save),
	CYAML_FIELD_END,
};
static const cyaml_schema_field_t training_fields[] = {
	TEXT(raw_training, method),
	TEXT(raw_training, optimizer),
	TEXT(raw_training, optimizer_implementation),
	FLAG(raw_training, optimizer_in_backward),
	FLAG(raw_training, distributed_optimizer),
	TEXT(raw_training, mixed_precision),
	TEXT(raw_training, adapter_precision),
	TEXT(raw_training, gradient_precision),
	FLAG(raw_training, kbit_preparation),
	TEXT(raw_training, gradient_checkpointing),
	TEXT(raw_training, loss_implementation),
	FLAG(raw_training, compile),
	FLAG(raw_training, packing),
	TEXT(raw_training, gradient_accumulation),
	SECTION(raw_training, lora, lora_fields),
	CYAML_FIELD_END,
};
static const cyaml_schema_field_t models_fields[] = {
	TEXT(raw_models, reference), TEXT(raw_models, reward),         TEXT(raw_models, critic),
	TEXT(raw_models, rollout),   FLAG(raw_models, rollout_sleeps), CYAML_FIELD_END,
};
static const cyaml_schema_field_t offload_fields[] = {
	TEXT(raw_offload, optimizer),
	TEXT(raw_offload, parameters),
	CYAML_FIELD_END,
};
static const cyaml_schema_field_t parallelism_fields[] = {
	TEXT(raw_parallelism, data),
	TEXT(raw_parallelism, tensor),
	TEXT(raw_parallelism, pipeline),
	TEXT(raw_parallelism, virtual_pipeline),
	TEXT(raw_parallelism, context),
	TEXT(raw_parallelism, expert),
	FLAG(raw_parallelism, sequence_parallel),
	TEXT(raw_parallelism, zero_stage),
	TEXT(raw_parallelism, shard),
	TEXT(raw_parallelism, data_parallel),
	SECTION(raw_parallelism, offload, offload_fields),
	CYAML_FIELD_END,
};
static const cyaml_schema_field_t engine_fields[] = {
	TEXT(raw_engine, name),
	TEXT(raw_engine, version),
	TEXT(raw_engine, gpu_memory_utilization),
	TEXT(raw_engine, max_num_batched_tokens),
	TEXT(raw_engine, max_num_seqs),
	TEXT(raw_engine, ubatch_size),
	TEXT(raw_engine, gpu_layers),
	TEXT(raw_engine, cpu_moe_layers),
	FLAG(raw_engine, enforce_eager),
	TEXT(raw_engine, speculative_tokens),
	TEXT(raw_engine, draft_params),
	TEXT(raw_engine, draft_layers),
	TEXT(raw_engine, max_loras),
	TEXT(raw_engine, max_lora_rank),
	CYAML_FIELD_END,
};
static const cyaml_schema_field_t hardware_fields[] = {
	LIST(raw_hardware, gpus),
	TEXT(raw_hardware, max_gpus),
	TEXT(raw_hardware, host_memory),
	CYAML_FIELD_END,
};
static const cyaml_schema_field_t budget_fields[] = {
	TEXT(raw_budget, price_per_hour),
	TEXT(raw_budget, currency),
	CYAML_FIELD_END,
};
static const cyaml_schema_field_t spec_fields[] = {
	TEXT(raw_spec, version),
	SECTION(raw_spec, model, model_fields),
	SECTION(raw_spec, workload, workload_fields),
	SECTION(raw_spec, training, training_fields),
	SECTION(raw_spec, models, models_fields),
	SECTION(raw_spec, parallelism, parallelism_fields),
	SECTION(raw_spec, engine, engine_fields),
	SECTION(raw_spec, hardware, hardware_fields),
	SECTION(raw_spec, budget, budget_fields),
	CYAML_FIELD_END,
};

const cyaml_schema_value_t vc_spec_schema = { CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER,
	                                                          struct raw_spec, spec_fields) };

const cyaml_config_t vc_spec_cyaml = { .mem_fn = cyaml_mem, .flags = CYAML_CFG_NO_ALIAS };

static const cyaml_schema_field_t *find_field(const cyaml_schema_value_t *value, const char *name,
                                              size_t length)
{
	const cyaml_schema_field_t *field = value->mapping.fields;

	while (field->key &&
	       (strncmp(field->key, name, length) != 0 || field->key[length] != '\0')) {
		field++;
	}
	return field->key ? field : NULL;
}

const cyaml_schema_field_t *vc_spec_slot(void *raw, const char *path, bool make, void ***slot)
{
	const cyaml_schema_value_t *value = &vc_spec_schema;
	const cyaml_schema_field_t *field;
	char *section = raw;

	for (;;) {
		size_t length = strcspn(path, ".");

		field = value->type == CYAML_MAPPING ? find_field(value, path, length) : NULL;
		if (!field) {
			return NULL;
		}
		*slot = section && field->value.type != CYAML_IGNORE
		                ? (void **)(void *)(section + field->data_offset)
		                : NULL;
		if (!path[length]) {
			return field;
		}
		path += length + 1;
		value = &field->value;
		if (make && *slot && !**slot && value->type == CYAML_MAPPING) {
			**slot = calloc(1, value->data_size);
		}
		section = *slot ? **slot : NULL;
	}
}

uint32_t *vc_spec_list_count(const cyaml_schema_field_t *field, void **slot)
{
	return (uint32_t *)(void *)((char *)slot + (field->count_offset - field->data_offset));
}
