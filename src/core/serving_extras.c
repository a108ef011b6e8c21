/*
 * What is served beside a model: drafting layers and slots for LoRA adapters, as
 * github.com/vllm-project/vllm, vllm/lora/layers/base_linear.py lays them out.
 * docs/serving.md#speculative-decoding-and-adapters
 */
#include "sat.h"
#include "serving_weights.h"

bool serving_drafts_itself(const struct vc_request *request)
{
	return request->engine.speculative_tokens > 0 && request->engine.draft_params == 0;
}

uint32_t serving_draft_layers(const struct vc_request *request)
{
	const struct vc_model *model = request->model;

	if (request->engine.speculative_tokens == 0) {
		return 0;
	}
	if (request->engine.draft_layers > 0) {
		return request->engine.draft_layers;
	}
	for (uint32_t i = 0; serving_drafts_itself(request) && i < model->stack_count; i++) {
		if (model->stacks[i].role == VC_STACK_MTP) {
			return model->stacks[i].layers;
		}
	}
	return 1;
}

struct lora_widths {
	struct rank rank;
	bool experts;
	uint64_t sum;
};

static bool takes_lora(enum vc_module module, bool experts)
{
	switch (module) {
	case VC_MODULE_EXPERT_GATE:
	case VC_MODULE_EXPERT_UP:
	case VC_MODULE_EXPERT_DOWN:
		return experts;
	case VC_MODULE_NORM:
	case VC_MODULE_ROUTER:
	case VC_MODULE_CONV:
	case VC_MODULE_SSM_OTHER:
	case VC_MODULE_OTHER:
		return false;
	default:
		return true;
	}
}

static void add_lora_widths(const struct vc_visit *visit, void *context)
{
	struct lora_widths *widths = context;
	struct vc_tensor rank = shard_tensor(visit->tensor, &widths->rank);

	if (!visit->extra && takes_lora(rank.module, widths->experts)) {
		widths->sum = sat_add(widths->sum, sat_mul3(visit->layers, rank.count,
		                                            sat_add(rank.in, rank.out)));
	}
}

uint64_t serving_lora_bytes(const struct vc_request *request, struct layer_range range,
                            bool experts)
{
	const struct vc_engine_options *engine = &request->engine;
	uint64_t rank = engine->max_lora_rank > 0 ? engine->max_lora_rank : 16;
	struct lora_widths widths = { .rank = { .tensor = request->parallelism.tensor,
		                                .pipeline = 1,
		                                .expert = request->parallelism.expert },
		                      .experts = experts };

	if (engine->max_loras == 0) {
		return 0;
	}
	model_walk_range(request->model, model_main_stack(request->model), range,
	                 (struct visitor){ add_lora_widths, &widths });
	return sat_mul3(2 * rank, engine->max_loras, widths.sum);
}
