#include "spec.h"
#include "test.h"

#include <unistd.h>

struct result {
	enum vc_status status;
	struct vc_spec spec;
	struct vc_error_list errors;
	char lines[VC_MAX_ERRORS * VC_ERROR_TEXT];
};

static void read_with(const char *text, size_t length, const struct vc_spec_options *options,
                      struct result *result)
{
	char line[VC_ERROR_TEXT];
	struct vc_spec_text source = { .name = "m.yaml", .text = text, .length = length };

	memset(&result->errors, 0, sizeof result->errors);
	result->status = vc_spec_read_memory(&source, options, &result->spec, &result->errors);
	result->lines[0] = '\0';
	for (size_t i = 0, at = 0; i < vc_errors_kept(&result->errors); i++) {
		at += (size_t)snprintf(result->lines + at, sizeof result->lines - at, "%s\n",
		                       vc_error_format(&result->errors.errors[i], line));
	}
	assert_int_equal(result->status == VC_OK, result->errors.count == 0);
	assert_int_equal(result->status == VC_OK, result->spec.model != NULL);
}

static struct result shared;

static void expect_errors(const char *text, const char *lines)
{
	read_with(text, strlen(text), NULL, &shared);
	if (strcmp(shared.lines, lines) != 0) {
		fail_msg("%s\n--- expected\n%s--- came out\n%s", text, lines, shared.lines);
	}
}

static void read_good(const char *text)
{
	read_with(text, strlen(text), NULL, &shared);
	if (shared.status != VC_OK) {
		fail_msg("%s\n%s", text, shared.lines);
	}
}

static void models_beside_the_policy_are_specs(void **state)
{
	(void)state;
	read_good("model: {params: 7B}\nworkload: {task: training}\n"
	          "models: {reference: self, critic: bert-base, rollout_sleeps: true}");
	assert_true(shared.spec.request.roles[VC_ROLE_REFERENCE].given);
	assert_null(shared.spec.request.roles[VC_ROLE_REFERENCE].request);
	assert_true(shared.spec.request.roles[VC_ROLE_CRITIC].request->model->stack_count > 0);
	/* something has to generate: the policy */
	assert_true(shared.spec.request.roles[VC_ROLE_ROLLOUT].given);
	assert_false(shared.spec.request.roles[VC_ROLE_REWARD].given);
	assert_true(shared.spec.request.rollout_sleeps);
	vc_spec_free(&shared.spec);
	read_good("model: {params: 7B}");
	assert_null(shared.spec.request.roles);
	vc_spec_free(&shared.spec);
	expect_errors("model: {params: 7B}\nmodels: {reference: self}",
	              "m.yaml:2:9: models: are read in training only (workload.task: training)\n");
	expect_errors("model: {params: 7B}\nworkload: {task: training}\nmodels: {reward: '-'}",
	              "m.yaml:3:18: models.reward: is standard input (a file, a folder, a model's "
	              "name or self)\n");
	expect_errors("model: {params: 7B}\nmodels: {referenze: self}",
	              "m.yaml:2:10: models.referenze: unknown field (did you mean 'reference'?)\n");
}

static void a_stated_layout_stays_within_the_gpus(void **state)
{
	(void)state;
	expect_errors(
	        "model: {params: 7B}\nparallelism: {data: 2, tensor: 4}\n"
	        "hardware: {max_gpus: 4}",
	        "m.yaml:2:14: parallelism: takes 8 GPUs and hardware.max_gpus allows 4 (data x "
	        "tensor x pipeline x context within it)\n");
	read_good(
	        "model: {params: 7B}\nparallelism: {data: 2, tensor: 4}\nhardware: {max_gpus: 8}");
	vc_spec_free(&shared.spec);
	/* the default of 8 is for what `plan` may choose, not for what is stated */
	read_good("model: {params: 7B}\nparallelism: {data: 64}");
	vc_spec_free(&shared.spec);
}

/* A spec that names itself would go on for ever. */
static void models_have_no_models(void **state)
{
	char path[] = "/tmp/vramcalc-roles-XXXXXX", text[200];
	int file = mkstemp(path);

	(void)state;
	assert_true(file >= 0);
	(void)snprintf(text, sizeof text,
	               "model: {params: 7B}\nworkload: {task: training}\nmodels: {critic: %s}\n",
	               path);
	assert_int_equal(write(file, text, strlen(text)), (long)strlen(text));
	(void)close(file);
	read_with(text, strlen(text), NULL, &shared);
	(void)remove(path);
	assert_int_equal(shared.status, VC_INVALID);
	assert_non_null(
	        strstr(shared.lines, ":3:9: models: belong to a model that is itself named"));
	assert_non_null(
	        strstr(shared.lines, "m.yaml:3:18: models.critic: cannot be read (a SPEC)"));
}

static void mistakes_are_named_at_their_place(void **state)
{
	static const struct {
		const char *text, *lines;
	} rows[] = {
		{ "model: {params: 7Q}", "m.yaml:1:17: model.params: '7Q' is not a number (a whole "
		                         "number such as 4096, 7B, 340M or 128Ki)\n" },
		{ "model:\n  params: -1",
		  "m.yaml:2:11: model.params: '-1' is negative (at least 1 is expected)\n" },
		{ "model:\n  params: 1180591620717411303424",
		  "m.yaml:2:11: model.params: '1180591620717411303424' is too large (at most "
		  "2^63-1 "
		  "is expected)\n" },
		{ "model: {prams: 7B}",
		  "m.yaml:1:9: model.prams: unknown field (did you mean 'params'?)\n" },
		{ "model: {params: 7B, params: 8B}",
		  "m.yaml:1:21: model.params: is given twice (once is expected)\n" },
		{ "", "m.yaml:1:1: is empty (a value is expected)\n" },
		{ "# nothing\n", "m.yaml:1:1: is empty (a value is expected)\n" },
		{ "--- ~\n", "m.yaml:1:5: is empty (a value is expected)\n" },
		{ "model: {params: 7B}\n---\nmodel: {params: 8B}\n",
		  "m.yaml:2:1: a second document begins (one per file is expected)\n" },
		{ "model: {params: 7B}\nworkload: {batch_size: 0}",
		  "m.yaml:2:24: workload.batch_size: '0' is too small (at least 1 is expected)\n" },
		{ "model: {params: 7B}\nworkload: {batch_size: 010}",
		  "m.yaml:2:24: workload.batch_size: '010' is not a number (a whole number such as "
		  "4096, 7B, 340M or 128Ki)\n" },
		{ "a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]\n",
		  "m.yaml:2:8: aliases are not supported (the value itself is expected)\n" },
		{ "- a\n", "m.yaml:1:1: is a list (a mapping of fields is expected)\n" },
		{ "7B", "m.yaml:1:1: is a single value (a mapping of fields is expected)\n" },
		{ "? [a]\n: b", "m.yaml:1:3: has a key that is not a word (a name is expected)\n" },
		{ "model: {name: \"a\\0b\", params: 7B}",
		  "m.yaml:1:15: holds a NUL character (text is expected)\n" },
		{ "model: {params: 7B}\n\xFF",
		  "m.yaml:2:1: is not UTF-8 (text in UTF-8 is expected)\n" },
		{ "model: {params: 7B", "m.yaml:1:19: is not valid YAML: did not find expected ',' "
		                        "or '}'\n" },
		{ "model: [7B]",
		  "m.yaml:1:8: model: is a list (a mapping of fields is expected)\n" },
		{ "model: {params: [7B]}",
		  "m.yaml:1:17: model.params: is a list (a single value is expected)\n" },
		{ "model: {params: 7B}\ntraining: {compile: yes}",
		  "m.yaml:2:21: training.compile: is neither true nor false (one of them is "
		  "expected)\n" },
		{ "model: {params: 7B}\nengine: {gpu_memory_utilization: 1.5}",
		  "m.yaml:2:34: engine.gpu_memory_utilization: '1.5' is too large (a decimal above "
		  "0 and up to 1)\n" },
		{ "model: {params: 7B}\nparallelism: {zero_stage: 4}",
		  "m.yaml:2:27: parallelism.zero_stage: '4' is too large (0 to 3 is expected)\n" },
		{ "model: {params: 7B}\nversion: 2",
		  "m.yaml:2:10: version: '2' is too large (only 1 is known)\n" },
		{ "model: {params: 7B}\nworkload: {precision: fp17}",
		  "m.yaml:2:23: workload.precision: 'fp17' is not known (did you mean 'fp16'?)\n" },
		{ "model: {params: 7B}\nworkload: {task: serve}",
		  "m.yaml:2:18: workload.task: 'serve' is not known (one of inference, training is "
		  "expected)\n" },
		{ "model: {params: 7B}\ntraining: {lora: {targets: [q_proj, qproj]}}",
		  "m.yaml:2:37: training.lora.targets[1]: 'qproj' is not known (did you mean "
		  "'q_proj'?)\n" },
		{ "model: {params: 7B}\nbudget: {currency: usd, price_per_hour: -2}",
		  "m.yaml:2:20: budget.currency: 'usd' is not a currency (three capital letters "
		  "such as USD)\n"
		  "m.yaml:2:41: budget.price_per_hour: '-2' is negative (at least 0 is "
		  "expected)\n" },
		{ "model: {params: 7B}\nengine: {version: new}",
		  "m.yaml:2:19: engine.version: 'new' is not a version (such as 0.11, 0.11.2 or "
		  "b4567)\n" },
		{ "workload: {}", "m.yaml:1:1: model: has no size (params, architecture, config or "
		                  "weights is expected)\n" },
		{ "model: {architecture: [1]}", "m.yaml:1:23: model.architecture: is a list (a "
		                                "mapping of fields is expected)\n" },
		{ "model: {architecture: {hidden_size: 1, hidden_size: 2}}",
		  "m.yaml:1:40: model.architecture.hidden_size: is given twice (once is "
		  "expected)\n" },
		{ "model: {architecture: {hidden_size: 9007199254740992}}",
		  "m.yaml:1:37: model.architecture.hidden_size: is too large (a number below 2^53 "
		  "is "
		  "expected)\n" },
		{ "model: {config: missing/config.json}",
		  "m.yaml:1:17: model.config: missing/config.json cannot be read: No such file or "
		  "directory\n" },
		{ "model: {weights: missing/m.gguf}",
		  "m.yaml:1:18: model.weights: missing/m.gguf cannot be read: No such file or "
		  "directory\n" },
		{ "model: {config: .}",
		  "m.yaml:1:17: model.config: . is a folder (a file is expected)\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		expect_errors(rows[i].text, rows[i].lines);
	}
}

static void all_mistakes_come_in_one_go(void **state)
{
	(void)state;
	expect_errors("model: {params: 7B}\n"
	              "workload:\n"
	              "  batchsize: {a: [1, 2]}\n"
	              "  precision: fp17\n"
	              "  precision: fp16\n"
	              "engine: {name: vlm}\n",
	              "m.yaml:3:3: workload.batchsize: unknown field (did you mean 'batch_size'?)\n"
	              "m.yaml:4:14: workload.precision: 'fp17' is not known (did you mean "
	              "'fp16'?)\n"
	              "m.yaml:5:3: workload.precision: is given twice (once is expected)\n"
	              "m.yaml:6:16: engine.name: 'vlm' is not known (did you mean 'vllm'?)\n");
}

static void hostile_text_ends_in_one_line(void **state)
{
	enum {
		SIZE = 100000
	};
	char *text = malloc(SIZE * 5 + 1);
	struct {
		const char *unit, *line;
	} rows[] = {
		{ "[", "m.yaml:1:17: is nested too deep (at most 16 levels are expected)\n" },
		{ "{a: ", "m.yaml:1:65: is nested too deep (at most 16 levels are expected)\n" },
		{ "{\"a\":", "m.yaml:1:81: is nested too deep (at most 16 levels are expected)\n" },
	};

	(void)state;
	assert_non_null(text);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		size_t length = strlen(rows[i].unit);

		for (size_t j = 0; j < SIZE; j++) {
			memcpy(text + j * length, rows[i].unit, length);
		}
		read_with(text, SIZE * length, NULL, &shared);
		assert_string_equal(shared.lines, rows[i].line);
	}
	free(text);
	read_with("model: {params: 7B}\n\0\n", 22, NULL, &shared);
	assert_string_equal(shared.lines, "m.yaml:2:1: holds a NUL character (text is expected)\n");
}

static void numbers_are_exact(void **state)
{
	(void)state;
	read_good("model: {params: 1.07B}\n"
	          "workload: {sequence_length: 128Ki, batch_size: 6_738_415_616}\n"
	          "engine: {gpu_memory_utilization: 0.95, version: 0.10, gpu_layers: 0,\n"
	          "         cpu_moe_layers: 12, speculative_tokens: 3, draft_params: 0.5B,\n"
	          "         draft_layers: 2, max_loras: 4, max_lora_rank: 32}\n"
	          "hardware: {host_memory: 80GiB, max_gpus: 16}\n"
	          "budget: {price_per_hour: 12.5, currency: EUR}\n");
	assert_u64(shared.spec.model->params, 1070000000);
	assert_u64(shared.spec.request.workload.sequence_length, 131072);
	assert_u64(shared.spec.request.workload.batch_size, 6738415616);
	assert_int_equal(shared.spec.request.engine.gpu_memory_utilization_ppm, 950000);
	assert_int_equal(shared.spec.request.engine.version.minor, 10);
	assert_true(shared.spec.request.engine.gpu_layers_given);
	assert_int_equal(shared.spec.request.engine.gpu_layers, 0);
	assert_int_equal(shared.spec.request.engine.cpu_moe_layers, 12);
	assert_int_equal(shared.spec.request.engine.speculative_tokens, 3);
	assert_u64(shared.spec.request.engine.draft_params, 500000000);
	assert_int_equal(shared.spec.request.engine.draft_layers, 2);
	assert_int_equal(shared.spec.request.engine.max_loras, 4);
	assert_int_equal(shared.spec.request.engine.max_lora_rank, 32);
	assert_u64(shared.spec.hardware.host_memory_bytes, 85899345920);
	assert_int_equal(shared.spec.hardware.max_gpus, 16);
	assert_true(shared.spec.budget.price_given);
	assert_u64(shared.spec.budget.price_per_hour_micros, 12500000);
	assert_string_equal(shared.spec.budget.currency, "EUR");
	assert_true(vc_spec_gives(&shared.spec, "workload.batch_size"));
	assert_false(vc_spec_gives(&shared.spec, "workload.concurrency"));
	vc_spec_free(&shared.spec);
}

static void nothing_given_is_zero(void **state)
{
	struct vc_request empty;

	(void)state;
	read_good("model:\n  params: 7B\n  config:\nworkload:\nparallelism: null\n"
	          "engine: {name: null, version: ~}\nhardware: {gpus: null}\n");
	memset(&empty, 0, sizeof empty);
	empty.model = shared.spec.model;
	assert_memory_equal(&shared.spec.request, &empty, sizeof empty);
	assert_int_equal(shared.spec.hardware.max_gpus, 8);
	assert_string_equal(shared.spec.budget.currency, "USD");
	assert_int_equal(shared.spec.model->source, VC_SOURCE_PARAMS);
	vc_spec_free(&shared.spec);
}

static void names_become_their_values(void **state)
{
	const struct vc_request *request = &shared.spec.request;

	(void)state;
	read_good("model: {params: 7B, name: \"\xC3\x89t\xC3\xA9\"}\n"
	          "workload: {task: training, precision: BF16, quantization: bnb-nf4,\n"
	          "  kv_cache_precision: q8_0, attn_implementation: eager}\n"
	          "training: {method: qlora, optimizer: paged-adamw-8bit, compile: true,\n"
	          "  optimizer_implementation: fused, mixed_precision: amp,\n"
	          "  gradient_checkpointing: full, loss_implementation: chunked,\n"
	          "  lora: {rank: 64, targets: [q_proj, Wo, down_proj], dora: true,\n"
	          "    modules_to_save: [lm_head]}}\n"
	          "parallelism: {data: 2, zero_stage: 2, offload: {optimizer: cpu}}\n"
	          "engine: {name: deepspeed, enforce_eager: true}\n"
	          "hardware: {gpus: [A100 80GB, 4090]}\n");
	assert_string_equal(shared.spec.model->name, "\xC3\x89t\xC3\xA9");
	assert_int_equal(request->workload.task, VC_TASK_TRAINING);
	assert_int_equal(request->workload.precision, VC_DTYPE_BF16);
	assert_ptr_equal(request->workload.quantization, vc_quantization_by_name("bnb-nf4"));
	assert_int_equal(request->workload.kv_cache_precision, VC_DTYPE_Q8_0);
	assert_int_equal(request->workload.attn_implementation, VC_ATTENTION_EAGER);
	assert_int_equal(request->training.method, VC_TRAINING_QLORA);
	assert_int_equal(request->training.optimizer, VC_OPTIMIZER_PAGED_ADAMW_8BIT);
	assert_int_equal(request->training.optimizer_implementation, VC_OPTIMIZER_IMPL_FUSED);
	assert_int_equal(request->training.mixed_precision, VC_MIXED_AMP);
	assert_int_equal(request->training.gradient_checkpointing, VC_CHECKPOINTING_FULL);
	assert_int_equal(request->training.loss_implementation, VC_LOSS_CHUNKED);
	assert_true(request->training.compile);
	assert_int_equal(request->training.lora.rank, 64);
	assert_true(request->training.lora.dora);
	assert_u64(request->training.lora.modules_to_save, 1ull << VC_MODULE_LM_HEAD);
	assert_true(request->training.lora.target_modules & 1ull << VC_MODULE_Q);
	assert_true(request->training.lora.target_modules & 1ull << VC_MODULE_O);
	assert_true(request->training.lora.target_modules & 1ull << VC_MODULE_DOWN);
	assert_false(request->training.lora.target_modules & 1ull << VC_MODULE_K);
	assert_true(request->parallelism.stated);
	assert_int_equal(request->parallelism.zero_stage, 2);
	assert_int_equal(request->parallelism.offload_optimizer, VC_OFFLOAD_CPU);
	assert_int_equal(request->engine.name, VC_ENGINE_DEEPSPEED);
	assert_true(request->engine.enforce_eager);
	assert_int_equal(shared.spec.hardware.gpu_count, 2);
	assert_string_equal(shared.spec.hardware.gpus[1], "4090");
	vc_spec_free(&shared.spec);
}

static void a_word_stands_for_a_list_of_one(void **state)
{
	(void)state;
	read_good("model: {params: 7B, name: \xC3\xA9}\n"
	          "training: {lora: {targets: all-linear, rank: 8}}\n"
	          "hardware:\n  gpus: A100 80GB # the big one\n");
	assert_true(shared.spec.request.training.lora.all_linear);
	assert_int_equal(shared.spec.request.training.lora.rank, 8);
	assert_int_equal(shared.spec.hardware.gpu_count, 1);
	assert_string_equal(shared.spec.hardware.gpus[0], "A100 80GB");
	vc_spec_free(&shared.spec);
	expect_errors("model: {params: 7B}\nhardware:\n  gpus: a10, t4",
	              "m.yaml:3:9: hardware.gpus: is a single value (a list such as [a, b] is "
	              "expected)\n");
}

/* Python's json.dumps writes U+1F600 as a pair of surrogates. */
static void json_goes_through_the_same_door(void **state)
{
	(void)state;
	read_good("{\"model\": {\"name\": \"\\ud83d\\ude00\", \"params\": 7000000000},\n"
	          "\t\"workload\": {\"batch_size\": 2, \"quantization\": null}}");
	assert_string_equal(shared.spec.model->name, "\xF0\x9F\x98\x80");
	assert_u64(shared.spec.model->params, 7000000000);
	assert_u64(shared.spec.request.workload.batch_size, 2);
	vc_spec_free(&shared.spec);
	expect_errors("{\"model\": {\"name\": \"\\ud83d\\ude00\", \"params\": \"7Q\"}}",
	              "m.yaml:1:46: model.params: '7Q' is not a number (a whole number such as "
	              "4096, 7B, 340M or 128Ki)\n");
}

static const char llama[] = "{\"model_type\": \"llama\", \"hidden_size\": 4096,\n"
                            "\"num_hidden_layers\": 32, \"num_attention_heads\": 32,\n"
                            "\"intermediate_size\": 11008, \"vocab_size\": 32000}";

/* huggingface.co/meta-llama/Llama-2-7b-hf: 6738415616 parameters */
static void one_model_has_one_shape(void **state)
{
	struct vc_counts counts;
	struct vc_error error;
	struct vc_model *first;
	char text[512];

	(void)state;
	read_good(llama);
	assert_int_equal(shared.spec.model->source, VC_SOURCE_CONFIG);
	assert_int_equal(vc_model_count(shared.spec.model, &counts, &error), VC_OK);
	assert_u64(counts.total, 6738415616);
	first = shared.spec.model;
	shared.spec.model = NULL;
	vc_spec_free(&shared.spec);
	(void)snprintf(text, sizeof text, "{\"model\": {\"architecture\": %s}}", llama);
	read_good(text);
	assert_int_equal(shared.spec.model->source, VC_SOURCE_ARCHITECTURE);
	shared.spec.model->source = VC_SOURCE_CONFIG;
	assert_memory_equal(shared.spec.model, first, sizeof *first);
	free(first);
	vc_spec_free(&shared.spec);
}

static void keys_of_a_config_have_places(void **state)
{
	static const char negative[] = "model:\n  architecture:\n    model_type: llama\n"
	                               "    hidden_size: -4\n    num_hidden_layers: 2\n";

	(void)state;
	read_with(llama, strlen(llama) - 30, NULL, &shared);
	assert_int_not_equal(shared.status, VC_OK);
	expect_errors("{\"model_type\": \"llama\", \"hidden_size\": 4096, \"hidden_size\": 2}",
	              "m.yaml:1:40: hidden_size: is given twice (once is expected)\n");
	read_with(negative, sizeof negative - 1, NULL, &shared);
	assert_int_equal(shared.errors.errors[0].line, 4);
	assert_int_equal(shared.errors.errors[0].column, 18);
	assert_string_equal(shared.errors.errors[0].field, "model.architecture.hidden_size");
}

static void set(const char *override, const char *lines)
{
	struct vc_spec_options options = { .overrides = &override, .override_count = 1 };
	static const char text[] = "model: {params: 7B}\nworkload: {batch_size: 2}";

	read_with(text, sizeof text - 1, &options, &shared);
	if (strcmp(shared.lines, lines) != 0) {
		fail_msg("%s\n--- expected\n%s--- came out\n%s", override, lines, shared.lines);
	}
}

static void overrides_pass_the_same_checks(void **state)
{
	(void)state;
	set("workload.batch_size=0",
	    "--set: workload.batch_size: '0' is too small (at least 1 is expected)\n");
	set("--batch-size:workload.batch_size=0",
	    "--batch-size: workload.batch_size: '0' is too small (at least 1 is expected)\n");
	set("batch_size=3", "--set: batch_size: unknown field (did you mean "
	                    "'workload.batch_size'?)\n");
	set("workload.batch_size", "--set: 'workload.batch_size' is not FIELD=VALUE (such as "
	                           "workload.batch_size=8)\n");
	set("=3", "--set: '=3' is not FIELD=VALUE (such as workload.batch_size=8)\n");
	set("workload.batch_size=",
	    "--set: workload.batch_size: has no value (a value, or null for none, is expected)\n");
	set("workload.batch_size=[1]",
	    "--set: workload.batch_size: is a list (a single value is expected)\n");
	set("training.lora={rank: 4, x: 1}", "--set: training.lora.x: unknown field (one of rank, "
	                                     "targets, dora, modules_to_save is expected)\n");
	set("workload.task=\"training", "--set: workload.task: is not valid YAML: found unexpected "
	                                "end of stream\n");
	set("model.architecture=3",
	    "--set: model.architecture: is no mapping (such as {num_hidden_layers: 32})\n");
}

static void overrides_replace_values(void **state)
{
	(void)state;
	set("workload.batch_size=8", "");
	assert_u64(shared.spec.request.workload.batch_size, 8);
	vc_spec_free(&shared.spec);
	set("workload.batch_size=null", "");
	assert_u64(shared.spec.request.workload.batch_size, 0);
	assert_false(vc_spec_gives(&shared.spec, "workload.batch_size"));
	vc_spec_free(&shared.spec);
	set("workload={concurrency: 1k}", "");
	assert_u64(shared.spec.request.workload.batch_size, 0);
	assert_u64(shared.spec.request.workload.concurrency, 1000);
	vc_spec_free(&shared.spec);
	set("training.lora.targets=all-linear", "");
	assert_true(shared.spec.request.training.lora.all_linear);
	vc_spec_free(&shared.spec);
	set("hardware.gpus=[t4, A10]", "");
	assert_int_equal(shared.spec.hardware.gpu_count, 2);
	assert_string_equal(shared.spec.hardware.gpus[1], "A10");
	vc_spec_free(&shared.spec);
}

static void overrides_reach_into_the_architecture(void **state)
{
	const char *good = "model.architecture.num_hidden_layers=16";
	const char *bad = "model.architecture.num_hidden_layers=-4";
	struct vc_spec_options options = { .overrides = &good, .override_count = 1 };

	(void)state;
	read_with(llama, sizeof llama - 1, &options, &shared);
	assert_string_equal(shared.lines, "");
	assert_int_equal(shared.spec.model->stacks[0].layers, 16);
	vc_spec_free(&shared.spec);
	options.overrides = &bad;
	read_with(llama, sizeof llama - 1, &options, &shared);
	assert_int_equal(shared.errors.count, 1);
	assert_string_equal(shared.errors.errors[0].file, "--set");
	assert_string_equal(shared.errors.errors[0].field, "model.architecture.num_hidden_layers");
}

static void bundled_models_are_specs(void **state)
{
	(void)state;
	memset(&shared.errors, 0, sizeof shared.errors);
	assert_int_equal(vc_spec_read("llama-2-7b", NULL, &shared.spec, &shared.errors), VC_OK);
	assert_int_equal(shared.spec.model->source, VC_SOURCE_BUNDLED);
	assert_string_equal(shared.spec.model->name, "Llama-2-7B");
	vc_spec_free(&shared.spec);
	assert_int_equal(vc_spec_read("lama-2-7b", NULL, &shared.spec, &shared.errors), VC_IO);
	assert_string_equal(shared.errors.errors[0].message,
	                    "no such file or bundled model (did you mean 'llama-2-7b'?)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(models_beside_the_policy_are_specs),
		cmocka_unit_test(models_have_no_models),
		cmocka_unit_test(a_stated_layout_stays_within_the_gpus),
		cmocka_unit_test(mistakes_are_named_at_their_place),
		cmocka_unit_test(all_mistakes_come_in_one_go),
		cmocka_unit_test(hostile_text_ends_in_one_line),
		cmocka_unit_test(numbers_are_exact),
		cmocka_unit_test(nothing_given_is_zero),
		cmocka_unit_test(names_become_their_values),
		cmocka_unit_test(a_word_stands_for_a_list_of_one),
		cmocka_unit_test(json_goes_through_the_same_door),
		cmocka_unit_test(one_model_has_one_shape),
		cmocka_unit_test(keys_of_a_config_have_places),
		cmocka_unit_test(overrides_pass_the_same_checks),
		cmocka_unit_test(overrides_replace_values),
		cmocka_unit_test(overrides_reach_into_the_architecture),
		cmocka_unit_test(bundled_models_are_specs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
