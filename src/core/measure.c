#include "measure.h"

#include "text.h"

#include <string.h>

/*
 * Costs: gradient checkpointing recomputes each layer's forward pass, about 30 % of a step
 * (arxiv.org/abs/1604.06174); 8-bit optimizers train as 32-bit ones do (arxiv.org/abs/2110.02861);
 * 4-bit weight quantization loses about 1 % of accuracy on common tasks (arxiv.org/abs/2210.17323,
 * arxiv.org/abs/2306.00978); LoRA and QLoRA: arxiv.org/abs/2106.09685, arxiv.org/abs/2305.14314;
 * ZeRO: arxiv.org/abs/1910.02054.
 */
static const struct vc_measure_info measures[VC_MEASURE_COUNT] = {
	[VC_MEASURE_BATCH_SIZE] = { "batch-size", 1, "fewer sequences at once: throughput",
	                            "per_device_train_batch_size (Trainer), --max-num-seqs (vLLM), "
	                            "--parallel (llama.cpp)" },
	[VC_MEASURE_SEQUENCE_LENGTH] = { "sequence-length", 2,
	                                 "shorter inputs: long texts are cut or windowed",
	                                 "max_length (TRL), --max-model-len (vLLM), --ctx-size "
	                                 "(llama.cpp)" },
	[VC_MEASURE_KV_CACHE_PRECISION] = { "kv-cache-precision", 2,
	                                    "an 8-bit cache: a little accuracy",
	                                    "--kv-cache-dtype fp8 (vLLM), --cache-type-k and "
	                                    "--cache-type-v q8_0 (llama.cpp)" },
	[VC_MEASURE_GRADIENT_CHECKPOINTING] = { "gradient-checkpointing", 3,
	                                        "about 30 % more time a step",
	                                        "model.gradient_checkpointing_enable(), or "
	                                        "\"activation_checkpointing\" of DeepSpeed" },
	[VC_MEASURE_OPTIMIZER_8BIT] = { "optimizer-8bit", 3,
	                                "next to nothing where it is supported",
	                                "bitsandbytes.optim.AdamW8bit" },
	[VC_MEASURE_QUANTIZATION_8BIT] = { "quantization", 4, "well under 1 % of accuracy",
	                                   "load_in_8bit=True (transformers), a Q8_0 file "
	                                   "(llama.cpp)" },
	[VC_MEASURE_QUANTIZATION_4BIT] = { "quantization", 5, "about 1 % of accuracy",
	                                   "an AWQ or GPTQ checkpoint, a Q4_K_M file "
	                                   "(llama.cpp)" },
	[VC_MEASURE_LORA] = { "lora", 5, "only adapters are trained, not the whole model",
	                      "peft.LoraConfig" },
	[VC_MEASURE_QLORA] = { "qlora", 6,
	                       "only adapters are trained, over 4-bit weights; slower steps",
	                       "BitsAndBytesConfig(load_in_4bit=True) and peft.LoraConfig" },
	[VC_MEASURE_ZERO_1] = { "zero-1", 6, "none beyond data parallelism",
	                        "\"zero_optimization\": {\"stage\": 1}" },
	[VC_MEASURE_ZERO_2] = { "zero-2", 6, "none beyond data parallelism",
	                        "\"zero_optimization\": {\"stage\": 2}" },
	[VC_MEASURE_ZERO_3] = { "zero-3", 7, "half as much communication again, over every link",
	                        "\"zero_optimization\": {\"stage\": 3}" },
	[VC_MEASURE_OFFLOAD_OPTIMIZER] = { "offload-optimizer", 8,
	                                   "states cross PCIe each step; host memory",
	                                   "\"offload_optimizer\": {\"device\": \"cpu\"}" },
	[VC_MEASURE_OFFLOAD_PARAMETERS] = { "offload-parameters", 9,
	                                    "weights cross PCIe in each pass; host memory",
	                                    "\"offload_param\": {\"device\": \"cpu\"}" },
	[VC_MEASURE_TENSOR_PARALLEL] = { "tensor-parallel", 7,
	                                 "communication in every layer: wants NVLink",
	                                 "--tensor-parallel-size (vLLM)" },
	[VC_MEASURE_PIPELINE_PARALLEL] = { "pipeline-parallel", 8, "idle stages at small batches",
	                                   "--pipeline-parallel-size (vLLM)" },
	[VC_MEASURE_GPU_LAYERS] = { "gpu-layers", 9,
	                            "much slower: the other layers run on the CPU; host memory",
	                            "--n-gpu-layers" },
	[VC_MEASURE_MORE_GPUS] = { "more-gpus", 10, "the price of the additional GPUs", NULL },
	[VC_MEASURE_BIGGER_GPU] = { "bigger-gpu", 10, "the price of the larger GPU", NULL },
};

const struct vc_measure_info *vc_measure_info(enum vc_measure measure)
{
	return &measures[measure < VC_MEASURE_COUNT ? measure : 0];
}

static bool trains(const struct vc_request *request)
{
	return request->workload.task == VC_TASK_TRAINING;
}

static bool unquantized(const struct vc_request *request)
{
	const struct vc_quantization *quantization = request->workload.quantization;

	return !quantization || quantization->quantizer == VC_QUANTIZER_NONE;
}

static bool keeps_states(const struct vc_request *request)
{
	const struct vc_optimizer_info *info = vc_optimizer_info(request->training.optimizer);

	return info->states == 2 && info->state_elements == 1;
}

static bool sharding_applies(enum vc_measure measure, const struct vc_request *request,
                             const struct measure_scope *scope)
{
	uint32_t stage = request->parallelism.zero_stage;

	switch (measure) {
	case VC_MEASURE_ZERO_1:
		return trains(request) && scope->gpus > 1 && stage < 1;
	case VC_MEASURE_ZERO_2:
		return trains(request) && scope->gpus > 1 && stage < 2;
	case VC_MEASURE_ZERO_3:
		return trains(request) && scope->gpus > 1 && stage < 3;
	case VC_MEASURE_OFFLOAD_OPTIMIZER:
		return trains(request) && request->parallelism.offload_optimizer == VC_OFFLOAD_NONE;
	case VC_MEASURE_OFFLOAD_PARAMETERS:
		/* DeepSpeed offloads parameters in stage 3 only. */
		return trains(request) && stage == 3 &&
		       request->parallelism.offload_parameters == VC_OFFLOAD_NONE;
	case VC_MEASURE_TENSOR_PARALLEL:
	case VC_MEASURE_PIPELINE_PARALLEL:
		return !trains(request) && scope->gpus > 1 &&
		       vc_layout_gpus(&request->parallelism) < scope->gpus;
	default:
		return false;
	}
}

uint32_t measure_gpu_layers(const struct vc_request *request)
{
	uint32_t layers = 0;

	if (request->engine.name != VC_ENGINE_LLAMACPP || trains(request) ||
	    request->method != VC_METHOD_DETAILED || !vc_model_has_shape(request->model)) {
		return 0;
	}
	for (uint32_t i = 0; i < request->model->stack_count; i++) {
		if (request->model->stacks[i].role == VC_STACK_DECODER) {
			layers = request->model->stacks[i].layers;
		}
	}
	return request->engine.gpu_layers_given && request->engine.gpu_layers < layers
	               ? request->engine.gpu_layers
	               : layers;
}

bool measure_applies(enum vc_measure measure, const struct vc_request *request,
                     const struct measure_scope *scope)
{
	if (!measure_is_known(measure, request, scope)) {
		return false;
	}
	switch (measure) {
	case VC_MEASURE_BATCH_SIZE:
		return request->workload.batch_size > 1;
	case VC_MEASURE_SEQUENCE_LENGTH:
		return request->workload.sequence_length > 512;
	case VC_MEASURE_KV_CACHE_PRECISION:
		/* transformers' own quantized caches have other formats */
		return !trains(request) && vc_model_has_shape(request->model) &&
		       request->engine.name != VC_ENGINE_TRANSFORMERS &&
		       vc_dtype_bytes(request->workload.kv_cache_precision, 32) > 34;
	case VC_MEASURE_GRADIENT_CHECKPOINTING:
		return trains(request) &&
		       request->training.gradient_checkpointing != VC_CHECKPOINTING_FULL;
	case VC_MEASURE_OPTIMIZER_8BIT:
		return trains(request) && keeps_states(request);
	case VC_MEASURE_QUANTIZATION_8BIT:
		return !trains(request) && unquantized(request) &&
		       vc_dtype_bytes(request->workload.precision, 2) > 2;
	case VC_MEASURE_QUANTIZATION_4BIT:
		return !trains(request) && unquantized(request);
	case VC_MEASURE_LORA:
		return trains(request) && request->training.method == VC_TRAINING_FULL;
	case VC_MEASURE_QLORA:
		return trains(request) && request->training.method != VC_TRAINING_QLORA;
	case VC_MEASURE_GPU_LAYERS:
		return measure_gpu_layers(request) > 0;
	case VC_MEASURE_MORE_GPUS:
		return true;
	case VC_MEASURE_BIGGER_GPU:
		return scope->bigger != NULL;
	default:
		return sharding_applies(measure, request, scope);
	}
}

static void set(struct vc_step *step, const char *field, const char *value)
{
	struct vc_setting *setting = &step->settings[step->setting_count++];
	size_t length = strlen(value);

	setting->field = field;
	length = length < sizeof setting->value ? length : sizeof setting->value - 1;
	memcpy(setting->value, value, length);
	setting->value[length] = '\0';
}

static void set_count(struct vc_step *step, const char *field, uint64_t value)
{
	struct vc_error text;

	vc_fail(&text, VC_OK, "", "%u", value);
	set(step, field, text.message);
}

static void apply_zero(struct vc_request *request, const struct measure_scope *scope,
                       struct vc_step *step, uint32_t stage)
{
	request->parallelism.stated = true;
	request->parallelism.data = scope->gpus;
	request->parallelism.zero_stage = stage;
	set_count(step, "parallelism.data", scope->gpus);
	set_count(step, "parallelism.zero_stage", stage);
}

static void apply_training(enum vc_measure measure, struct vc_request *request,
                           struct vc_step *step)
{
	struct vc_training *training = &request->training;

	switch (measure) {
	case VC_MEASURE_GRADIENT_CHECKPOINTING:
		training->gradient_checkpointing = VC_CHECKPOINTING_FULL;
		set(step, "training.gradient_checkpointing", "full");
		break;
	case VC_MEASURE_OPTIMIZER_8BIT:
		training->optimizer = VC_OPTIMIZER_ADAMW_8BIT;
		set(step, "training.optimizer", "adamw-8bit");
		break;
	case VC_MEASURE_QLORA:
		training->method = VC_TRAINING_QLORA;
		request->workload.quantization = vc_quantization_by_name("bnb-nf4-dq");
		set(step, "training.method", "qlora");
		set(step, "workload.quantization", "bnb-nf4-dq");
		break;
	default:
		training->method = VC_TRAINING_LORA;
		set(step, "training.method", "lora");
	}
}

static void apply_quantization(struct vc_request *request, struct vc_step *step, const char *name)
{
	request->workload.quantization = vc_quantization_by_name(name);
	set(step, "workload.quantization", name);
}

static void apply_parallel(enum vc_measure measure, struct vc_request *request,
                           const struct measure_scope *scope, struct vc_step *step)
{
	struct vc_parallelism *layout = &request->parallelism;

	layout->stated = true;
	switch (measure) {
	case VC_MEASURE_ZERO_1:
		apply_zero(request, scope, step, 1);
		break;
	case VC_MEASURE_ZERO_2:
		apply_zero(request, scope, step, 2);
		break;
	case VC_MEASURE_ZERO_3:
		apply_zero(request, scope, step, 3);
		break;
	case VC_MEASURE_OFFLOAD_OPTIMIZER:
		layout->offload_optimizer = VC_OFFLOAD_CPU;
		set(step, "parallelism.offload.optimizer", "cpu");
		break;
	case VC_MEASURE_OFFLOAD_PARAMETERS:
		layout->offload_parameters = VC_OFFLOAD_CPU;
		set(step, "parallelism.offload.parameters", "cpu");
		break;
	case VC_MEASURE_PIPELINE_PARALLEL:
		layout->pipeline = scope->gpus;
		set_count(step, "parallelism.pipeline", scope->gpus);
		break;
	default:
		layout->tensor = scope->gpus;
		set_count(step, "parallelism.tensor", scope->gpus);
	}
}

void measure_apply(enum vc_measure measure, struct vc_request *request,
                   const struct measure_scope *scope, struct vc_step *step)
{
	struct vc_workload *workload = &request->workload;
	bool gguf = request->engine.name == VC_ENGINE_LLAMACPP;

	memset(step, 0, sizeof *step);
	step->measure = measure;
	switch (measure) {
	case VC_MEASURE_BATCH_SIZE:
		workload->batch_size = 1;
		break;
	case VC_MEASURE_SEQUENCE_LENGTH:
		workload->sequence_length = 512;
		break;
	case VC_MEASURE_KV_CACHE_PRECISION:
		workload->kv_cache_precision = gguf ? VC_DTYPE_Q8_0 : VC_DTYPE_FP8;
		set(step, "workload.kv_cache_precision", gguf ? "q8_0" : "fp8");
		break;
	case VC_MEASURE_QUANTIZATION_8BIT:
		apply_quantization(request, step, gguf ? "q8_0" : "bnb-int8");
		break;
	case VC_MEASURE_QUANTIZATION_4BIT:
		apply_quantization(request, step, gguf ? "q4_k_m" : "awq-int4-g128");
		break;
	case VC_MEASURE_GRADIENT_CHECKPOINTING:
	case VC_MEASURE_OPTIMIZER_8BIT:
	case VC_MEASURE_LORA:
	case VC_MEASURE_QLORA:
		apply_training(measure, request, step);
		break;
	case VC_MEASURE_GPU_LAYERS:
		request->engine.gpu_layers_given = true;
		request->engine.gpu_layers = 0;
		set_count(step, "engine.gpu_layers", 0);
		break;
	case VC_MEASURE_MORE_GPUS:
	case VC_MEASURE_BIGGER_GPU:
		break;
	default:
		apply_parallel(measure, request, scope, step);
	}
}
