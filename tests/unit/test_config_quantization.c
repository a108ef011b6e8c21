#include "fixture.h"

#define HEAD                                                                                       \
	"{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 4, "            \
	"\"intermediate_size\": 128, \"vocab_size\": 100, \"num_hidden_layers\": 2, "              \
	"\"quantization_config\": "
#define WEIGHTS(text)                                                                              \
	"{\"quant_method\": \"compressed-tensors\", \"config_groups\": {\"group_0\": "             \
	"{\"weights\": "                                                                           \
	"{" text "}}}}"

static const struct {
	const char *config, *name;
} rows[] = {
	{ "{\"quant_method\": \"gptq\", \"bits\": 4, \"group_size\": 128}", "gptq-int4-g128" },
	{ "{\"quant_method\": \"gptq\", \"bits\": 8, \"group_size\": 32}", "gptq-int8-g32" },
	{ "{\"quant_method\": \"gptq\", \"bits\": 4, \"group_size\": -1}", "gptq-int4" },
	{ "{\"quant_method\": \"awq\", \"bits\": 4, \"group_size\": 128}", "awq-int4-g128" },
	{ "{\"quant_method\": \"bitsandbytes\", \"load_in_8bit\": true}", "bnb-int8" },
	{ "{\"quant_method\": \"bitsandbytes\", \"load_in_4bit\": true, "
	  "\"bnb_4bit_quant_type\": \"nf4\", \"bnb_4bit_use_double_quant\": true}",
	  "bnb-nf4-dq" },
	{ "{\"quant_method\": \"bitsandbytes\", \"load_in_4bit\": true, "
	  "\"bnb_4bit_quant_type\": \"fp4\"}",
	  "bnb-fp4" },
	{ "{\"quant_method\": \"fp8\", \"weight_block_size\": [128, 128]}", "fp8-block" },
	{ "{\"quant_method\": \"fp8\", \"activation_scheme\": \"static\"}", "fp8" },
	{ "{\"quant_method\": \"fbgemm_fp8\"}", "fp8-channel" },
	{ "{\"quant_method\": \"mxfp4\"}", "mxfp4" },
	{ "{\"quant_method\": \"modelopt\", \"quant_algo\": \"NVFP4\"}", "nvfp4" },
	{ "{\"quant_method\": \"modelopt\", \"quant_algo\": \"FP8\"}", "fp8" },
	{ "{\"quant_method\": \"torchao\", \"quant_type\": \"int4_weight_only\"}", "torchao-int4" },
	{ "{\"quant_method\": \"hqq\", \"quant_config\": {\"weight_quant_params\": "
	  "{\"nbits\": 4, \"group_size\": 64}}}",
	  "hqq-int4" },
	{ WEIGHTS("\"num_bits\": 4, \"type\": \"int\", \"strategy\": \"group\", "
	          "\"group_size\": 128"),
	  "ct-int4-g128" },
	{ WEIGHTS("\"num_bits\": 8, \"type\": \"int\", \"strategy\": \"channel\", "
	          "\"group_size\": null"),
	  "ct-int8" },
	{ WEIGHTS("\"num_bits\": 8, \"type\": \"float\", \"strategy\": \"channel\""),
	  "fp8-channel" },
	{ WEIGHTS("\"num_bits\": 8, \"type\": \"float\", \"strategy\": \"tensor\""), "fp8" },
	{ WEIGHTS("\"num_bits\": 8, \"type\": \"float\", \"strategy\": \"block\""), "fp8-block" },
	{ WEIGHTS("\"num_bits\": 4, \"type\": \"float\", \"strategy\": \"tensor_group\", "
	          "\"group_size\": 16"),
	  "nvfp4" },
};

static void methods_are_understood(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char text[1024];
		struct vc_model *model;

		snprintf(text, sizeof text, HEAD "%s}", rows[i].config);
		model = fixture_text(rows[i].config, text, strlen(text));
		if (!model->quantization) {
			fail_msg("%s is not understood", rows[i].config);
		}
		assert_string_equal(model->quantization->name, rows[i].name);
		free(model);
	}
}

static void unknown_methods_are_remembered(void **state)
{
	const char *text = HEAD "{\"quant_method\": \"aqlm\"}}";
	struct vc_model *model = fixture_text("aqlm", text, strlen(text));

	(void)state;
	assert_null(model->quantization);
	assert_string_equal(model->unread_quantization, "aqlm");
	free(model);
}

static void wrong_types_name_the_key(void **state)
{
	const char *text = HEAD "{\"quant_method\": \"gptq\", \"bits\": \"four\"}}";
	struct vc_model *model = malloc(sizeof *model);
	struct vc_error error;
	cJSON *tree = json_parse(text, strlen(text), &error);

	(void)state;
	assert_int_equal(vc_config_to_model(tree, model, &error), VC_INVALID);
	assert_string_equal(error.field, "quantization_config.bits");
	cJSON_Delete(tree);
	free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(methods_are_understood),
		cmocka_unit_test(unknown_methods_are_remembered),
		cmocka_unit_test(wrong_types_name_the_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
