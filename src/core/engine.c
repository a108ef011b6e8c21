/* The engines' names, as `engine.name` spells them. */
#include "text.h"
#include "vramcalc/vramcalc.h"

static const char *const engines[VC_ENGINE_COUNT] = {
	[VC_ENGINE_NONE] = "none",
	[VC_ENGINE_VLLM] = "vllm",
	[VC_ENGINE_SGLANG] = "sglang",
	[VC_ENGINE_TGI] = "tgi",
	[VC_ENGINE_TRANSFORMERS] = "transformers",
	[VC_ENGINE_LLAMACPP] = "llama.cpp",
	[VC_ENGINE_TENSORRT_LLM] = "tensorrt-llm",
	[VC_ENGINE_TORCHTUNE] = "torchtune",
	[VC_ENGINE_LITGPT] = "litgpt",
	[VC_ENGINE_FSDP] = "fsdp",
	[VC_ENGINE_DEEPSPEED] = "deepspeed",
	[VC_ENGINE_MEGATRON] = "megatron",
};

const char *vc_engine_name(enum vc_engine engine)
{
	return engines[engine < VC_ENGINE_COUNT ? engine : VC_ENGINE_NONE];
}

enum vc_engine vc_engine_by_name(const char *name)
{
	for (int i = VC_ENGINE_NONE + 1; i < VC_ENGINE_COUNT; i++) {
		if (vc_same_name(engines[i], name)) {
			return (enum vc_engine)i;
		}
	}
	return VC_ENGINE_COUNT;
}
