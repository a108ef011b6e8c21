/*
 * quantization_config, in the spellings of the tools that write it: AutoGPTQ, AutoAWQ,
 * bitsandbytes, compressed-tensors, fbgemm, ModelOpt, HQQ, torchao, Quanto
 * (huggingface/transformers, src/transformers/utils/quantization_config.py).
 */
#include "config_quantization.h"

#include <stdio.h>
#include <string.h>

/* What is sought in the table of schemes. */
struct scheme {
	enum vc_quantizer quantizer;
	enum vc_dtype dtype;
	uint64_t group_size; /* 0: per row or tensor */
	bool per_row, double_quant;
};

static enum vc_dtype integer(uint64_t bits)
{
	switch (bits) {
	case 2:
		return VC_DTYPE_INT2;
	case 3:
		return VC_DTYPE_INT3;
	case 4:
		return VC_DTYPE_INT4;
	case 8:
		return VC_DTYPE_INT8;
	default:
		return VC_DTYPE_NONE;
	}
}

/* "group_size": -1 and null stand for a whole row. */
static uint64_t group_size(struct config *config, const char *names, uint64_t fallback)
{
	const cJSON *item = config_item(config, names);

	if (cJSON_IsNumber(item) && item->valuedouble == -1) {
		return 0;
	}
	return config_number_or(config, names, fallback);
}

static struct scheme read_gptq(struct config *config, enum vc_quantizer quantizer)
{
	struct scheme scheme = { .quantizer = quantizer };

	scheme.dtype = integer(config_count_or(config, "bits w_bit num_bits wbits", 4));
	scheme.group_size = group_size(config, "group_size q_group_size", 128);
	scheme.per_row = scheme.group_size == 0;
	return scheme;
}

static struct scheme read_bitsandbytes(struct config *config)
{
	bool four = config_flag_or(config, "load_in_4bit _load_in_4bit", false);
	const char *type = config_text_or(config, "bnb_4bit_quant_type", "fp4");
	struct scheme scheme = { VC_QUANTIZER_BNB_INT8, VC_DTYPE_INT8, .per_row = true };

	if (four) {
		scheme.quantizer = VC_QUANTIZER_BNB_4BIT;
		scheme.dtype = strcmp(type, "nf4") == 0 ? VC_DTYPE_INT4 : VC_DTYPE_FP4;
		scheme.group_size = 64;
		scheme.per_row = false;
		scheme.double_quant = config_flag_or(config, "bnb_4bit_use_double_quant", false);
	}
	return scheme;
}

static struct scheme read_fp8(struct config *config)
{
	const cJSON *block = config_list(config, "weight_block_size", 2);
	struct scheme scheme = { VC_QUANTIZER_FP8, VC_DTYPE_FP8, .group_size = 0 };

	if (block) {
		scheme.group_size = config_element(config, "weight_block_size", block, 0);
	}
	return scheme;
}

/* The first group's weights decide. */
static struct scheme read_compressed(struct config *config)
{
	const cJSON *groups = config_item(config, "config_groups");
	struct config weights = *config;
	struct scheme scheme = { .quantizer = VC_QUANTIZER_COMPRESSED };
	const char *type, *strategy;
	uint64_t bits;

	if (cJSON_IsObject(groups) && groups->child) {
		weights.root = json_member(groups->child, "weights", strlen("weights"));
	}
	bits = config_count_or(&weights, "num_bits", 4);
	type = config_text_or(&weights, "type", "int");
	strategy = config_text_or(&weights, "strategy", "");
	scheme.group_size = group_size(&weights, "group_size", 0);
	if (strcmp(strategy, "block") == 0) {
		scheme.group_size = 128;
	}
	scheme.per_row = scheme.group_size == 0 && strcmp(strategy, "tensor") != 0;
	scheme.dtype = integer(bits);
	if (strcmp(type, "float") == 0 && bits == 8) {
		scheme.quantizer = VC_QUANTIZER_FP8;
		scheme.dtype = VC_DTYPE_FP8;
	} else if (strcmp(type, "float") == 0) {
		bool nvidia = scheme.group_size == 16;

		scheme.quantizer = nvidia ? VC_QUANTIZER_NVFP4 : VC_QUANTIZER_MXFP4;
		scheme.dtype = nvidia ? VC_DTYPE_NVFP4 : VC_DTYPE_MXFP4;
	}
	return scheme;
}

static struct scheme read_modelopt(struct config *config)
{
	const char *name = config_text_or(config, "quant_algo quantization.quant_algo", "");

	if (strstr(name, "NVFP4")) {
		return (struct scheme){ VC_QUANTIZER_NVFP4, VC_DTYPE_NVFP4, .group_size = 16 };
	}
	if (strstr(name, "FP8")) {
		return (struct scheme){ VC_QUANTIZER_FP8, VC_DTYPE_FP8, .group_size = 0 };
	}
	return read_gptq(config, VC_QUANTIZER_AWQ);
}

static struct scheme read_torchao(struct config *config)
{
	const char *type = config_text_or(config, "quant_type", "");
	bool four = strstr(type, "int4") != NULL;

	if (strstr(type, "float8")) {
		return (struct scheme){ VC_QUANTIZER_FP8, VC_DTYPE_FP8, .per_row = true };
	}
	return (struct scheme){ VC_QUANTIZER_TORCHAO, four ? VC_DTYPE_INT4 : VC_DTYPE_INT8,
		                .group_size = four ? 128 : 0, .per_row = !four };
}

static struct scheme read_hqq(struct config *config)
{
	const char *bits = "quant_config.weight_quant_params.nbits nbits";
	const char *group = "quant_config.weight_quant_params.group_size group_size";

	return (struct scheme){ VC_QUANTIZER_HQQ, integer(config_count_or(config, bits, 4)),
		                .group_size = group_size(config, group, 64) };
}

static struct scheme read_scheme(struct config *config, const char *method)
{
	if (strcmp(method, "gptq") == 0 || strcmp(method, "gptq_marlin") == 0 ||
	    strcmp(method, "auto-round") == 0 || strcmp(method, "intel/auto-round") == 0) {
		return read_gptq(config, VC_QUANTIZER_GPTQ);
	}
	if (strcmp(method, "awq") == 0) {
		return read_gptq(config, VC_QUANTIZER_AWQ);
	}
	if (strcmp(method, "bitsandbytes") == 0) {
		return read_bitsandbytes(config);
	}
	if (strcmp(method, "fp8") == 0) {
		return read_fp8(config);
	}
	if (strcmp(method, "fbgemm_fp8") == 0) {
		return (struct scheme){ VC_QUANTIZER_FP8, VC_DTYPE_FP8, .per_row = true };
	}
	if (strcmp(method, "compressed-tensors") == 0) {
		return read_compressed(config);
	}
	if (strcmp(method, "mxfp4") == 0) {
		return (struct scheme){ VC_QUANTIZER_MXFP4, VC_DTYPE_MXFP4, .group_size = 32 };
	}
	if (strncmp(method, "modelopt", strlen("modelopt")) == 0) {
		return read_modelopt(config);
	}
	if (strcmp(method, "torchao") == 0) {
		return read_torchao(config);
	}
	return strcmp(method, "hqq") == 0 ? read_hqq(config) : (struct scheme){ 0 };
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* The row of this kind and width whose groups are nearest. */
static const struct vc_quantization *nearest_row(const struct scheme *scheme)
{
	const struct vc_quantization *best = NULL, *row;

	for (size_t i = 1; (row = vc_quantization_at(i)) != NULL; i++) {
		if (row->quantizer != scheme->quantizer || row->dtype != scheme->dtype ||
		    row->double_quant != scheme->double_quant || row->per_row != scheme->per_row) {
			continue;
		}
		if (!best || distance(row->group_size, scheme->group_size) <
		                     distance(best->group_size, scheme->group_size)) {
			best = row;
		}
	}
	return best;
}

void config_quantization(struct config *config)
{
	const char *names = "quantization_config text_config.quantization_config "
	                    "compression_config";
	struct vc_model *model = config->model;
	const cJSON *item = config_item(config, names);
	struct config child;
	struct scheme scheme;
	const char *method;

	if (!item || config_failed(config)) {
		return;
	}
	child = config_child(config, names);
	method = config_text_or(&child, "quant_method", "");
	scheme = read_scheme(&child, method);
	if (config_failed(config)) {
		return;
	}
	model->quantization = scheme.quantizer ? nearest_row(&scheme) : NULL;
	if (!model->quantization) {
		snprintf(model->unread_quantization, sizeof model->unread_quantization, "%s",
		         method[0] ? method : "unnamed");
	}
}
