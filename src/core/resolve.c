/* Defaults of a request and the rules that its numbers keep. See docs/spec.md. */
#include "model.h"
#include "text.h"
#include "vramcalc/vramcalc.h"

static void fill_u64(uint64_t *value, uint64_t fallback)
{
	if (*value == 0) {
		*value = fallback;
	}
}

static void fill_u32(uint32_t *value, uint32_t fallback)
{
	if (*value == 0) {
		*value = fallback;
	}
}

static void resolve_workload(struct vc_request *request)
{
	struct vc_workload *workload = &request->workload;

	if (workload->precision == VC_DTYPE_NONE) {
		workload->precision = VC_DTYPE_FP16;
	}
	/* A checkpoint that says how it is quantized is loaded as it is. */
	if (!workload->quantization) {
		workload->quantization = request->model->quantization;
	}
	fill_u64(&workload->batch_size, 1);
	fill_u64(&workload->sequence_length, 4096);
	fill_u64(&workload->concurrency, 1);
	if (workload->kv_cache_precision == VC_DTYPE_NONE) {
		workload->kv_cache_precision = workload->precision;
	}
	if (workload->attn_implementation == VC_ATTENTION_DEFAULT) {
		workload->attn_implementation = VC_ATTENTION_FLASH;
	}
}

static void resolve_training(struct vc_training *training)
{
	if (training->optimizer == VC_OPTIMIZER_DEFAULT) {
		training->optimizer = VC_OPTIMIZER_ADAMW;
	}
	if (training->optimizer_implementation == VC_OPTIMIZER_IMPL_DEFAULT) {
		training->optimizer_implementation = VC_OPTIMIZER_IMPL_FOREACH;
	}
	if (training->mixed_precision == VC_MIXED_DEFAULT) {
		training->mixed_precision = VC_MIXED_MASTER;
	}
	fill_u64(&training->gradient_accumulation, 1);
	fill_u32(&training->lora.rank, 16);
	if (training->lora.target_modules == 0 && !training->lora.all_linear) {
		training->lora.target_modules = 1ull << VC_MODULE_Q | 1ull << VC_MODULE_V;
	}
}

static void resolve_parallelism(struct vc_parallelism *parallelism)
{
	fill_u32(&parallelism->data, 1);
	fill_u32(&parallelism->tensor, 1);
	fill_u32(&parallelism->pipeline, 1);
	fill_u32(&parallelism->virtual_pipeline, 1);
	fill_u32(&parallelism->context, 1);
	fill_u32(&parallelism->expert, 1);
}

/* Tensor parallelism divides attention heads, pipeline parallelism layers, expert parallelism
 * experts.
 */
static enum vc_status check_layout(const struct vc_request *request, struct vc_error *error)
{
	const struct vc_parallelism *layout = &request->parallelism;
	const struct vc_model *model = request->model;
	const struct vc_stack *stack = &model->stacks[0];

	if (layout->zero_stage > 3) {
		return vc_fail(error, VC_INVALID, "parallelism.zero_stage",
		               "%u is not a ZeRO stage (0 to 3)", (uint64_t)layout->zero_stage);
	}
	if (!vc_model_has_shape(model)) {
		return VC_OK;
	}
	if (layout->pipeline > stack->layers) {
		return vc_fail(error, VC_INVALID, "parallelism.pipeline",
		               "%u stages for %u layers (at least one layer a stage)",
		               (uint64_t)layout->pipeline, (uint64_t)stack->layers);
	}
	if (layout->expert > 1 && model_experts(model) == 0) {
		return vc_fail(error, VC_INVALID, "parallelism.expert",
		               "%u ranks divide no experts: the model is dense (1, or a mixture of "
		               "experts)",
		               (uint64_t)layout->expert);
	}
	for (uint32_t i = 0; layout->tensor > 1 && i < stack->layers; i++) {
		const struct vc_layer_kind *kind = &model->kinds[stack->pattern[i]];

		for (uint32_t m = 0; m < kind->mixer_count; m++) {
			uint32_t heads = kind->mixers[m].heads;

			if (heads % layout->tensor != 0) {
				return vc_fail(error, VC_INVALID, "parallelism.tensor",
				               "%u attention heads do not divide over %u ranks (a "
				               "divisor of the number of heads)",
				               (uint64_t)heads, (uint64_t)layout->tensor);
			}
		}
	}
	return VC_OK;
}

enum vc_status vc_request_resolve(struct vc_request *request, struct vc_error *error)
{
	if (!request->model) {
		return vc_fail(error, VC_INVALID, "model",
		               "is missing (params or an architecture)");
	}
	if (request->model->params == 0 && !vc_model_has_shape(request->model) &&
	    request->model->source != VC_SOURCE_GGUF &&
	    request->model->source != VC_SOURCE_SAFETENSORS) {
		return vc_fail(error, VC_INVALID, "model",
		               "has no size (params, architecture, config or weights)");
	}
	if (request->roles && request->workload.task != VC_TASK_TRAINING) {
		return vc_fail(error, VC_INVALID, "models",
		               "are read in training only (workload.task: training)");
	}
	if (request->engine.gpu_memory_utilization_ppm > 1000000) {
		return vc_fail(error, VC_INVALID, "engine.gpu_memory_utilization",
		               "is above 1 (a share of the GPU's memory)");
	}
	if (request->engine.name != VC_ENGINE_SGLANG) {
		fill_u32(&request->engine.gpu_memory_utilization_ppm, 900000);
	}
	if (!request->rule.overhead_given) {
		request->rule.overhead_given = true;
		request->rule.overhead_bytes = 2000000000;
	}
	fill_u32(&request->rule.margin_ppm, 1200000);
	resolve_workload(request);
	resolve_training(&request->training);
	resolve_parallelism(&request->parallelism);
	return check_layout(request, error);
}
