/*
 * The engines: what each is, which versions are modelled, and where its behaviour is written down.
 * Their policies are in the files that estimate them (detailed_*.c). Which degrees they take: TGI
 * shards by tensor only (--num-shard); llama.cpp splits rows or layers (--split-mode); torchtune's
 * recipes and torchtitan have tensor ranks beside FSDP, LitGPT's and the Trainer data alone;
 * DeepSpeed's stages want a model written as a list of layers, its tensor ranks Megatron's.
 */
#include "ledger.h"
#include "text.h"
#include "version.h"

static const struct vc_engine_info engines[VC_ENGINE_COUNT] = {
	[VC_ENGINE_NONE] = {
		.name = "none",
		.summary = "a plain engine: weights, cache of the stated sequences, one prefill",
		.inference = true,
		.tensor = true,
		.pipeline = true,
		.expert = true,
		.trains_tensor = true,
		.trains_pipeline = true,
		.versions = "-",
	},
	[VC_ENGINE_VLLM] = {
		.name = "vllm",
		.summary = "paged cache that fills what weights and a profiling run leave",
		.inference = true,
		.tensor = true,
		.pipeline = true,
		.expert = true,
		.versions = "0.1 to 0.33: V0, V1 from 0.8, model runner V2 from 0.26",
		.oldest = { 0, 1, 0 },
		.newest = { 0, 33, 0 },
		.source = "https://github.com/vllm-project/vllm",
	},
	[VC_ENGINE_SGLANG] = {
		.name = "sglang",
		.summary = "token pool of a fixed share of memory after the weights",
		.inference = true,
		.tensor = true,
		.pipeline = true,
		.expert = true,
		.versions = "0.4 to 0.5",
		.oldest = { 0, 4, 0 },
		.newest = { 0, 5, 19 },
		.source = "https://github.com/sgl-project/sglang",
	},
	[VC_ENGINE_TGI] = {
		.name = "tgi",
		.summary = "paged cache that fills what a warm-up prefill leaves",
		.inference = true,
		.tensor = true,
		.versions = "2 to 3",
		.oldest = { 2, 0, 0 },
		.newest = { 3, 3, 0 },
		.source = "https://github.com/huggingface/text-generation-inference",
	},
	[VC_ENGINE_TRANSFORMERS] = {
		.name = "transformers",
		.summary = "generate(): cache as it grows; Trainer, TRL and PEFT for training",
		.inference = true,
		.training = true,
		.tensor = true,
		.pipeline = true,
		.versions = "4.37 to 4.57: whole-prompt logits up to 4.44",
		.oldest = { 4, 37, 0 },
		.newest = { 4, 57, 0 },
		.source = "https://github.com/huggingface/transformers",
	},
	[VC_ENGINE_LLAMACPP] = {
		.name = "llama.cpp",
		.summary = "GGUF weights, preallocated cache, compute buffers; ollama too",
		.inference = true,
		.tensor = true,
		.pipeline = true,
		.versions = "builds",
		.source = "https://github.com/ggml-org/llama.cpp",
	},
	[VC_ENGINE_TENSORRT_LLM] = {
		.name = "tensorrt-llm",
		.summary = "paged cache of a share of what weights and buffers leave",
		.inference = true,
		.tensor = true,
		.pipeline = true,
		.expert = true,
		.versions = "0.9 to 1.2",
		.oldest = { 0, 9, 0 },
		.newest = { 1, 2, 0 },
		.source = "https://github.com/NVIDIA/TensorRT-LLM",
	},
	[VC_ENGINE_TORCHTUNE] = {
		.name = "torchtune",
		.summary = "recipes: full, LoRA, QLoRA, with FSDP2",
		.training = true,
		.trains_tensor = true,
		.versions = "0.1 to 0.6",
		.source = "https://github.com/meta-pytorch/torchtune",
	},
	[VC_ENGINE_LITGPT] = {
		.name = "litgpt",
		.summary = "full, LoRA and adapter fine-tuning, with FSDP",
		.training = true,
		.versions = "0.3 to 0.5",
		.source = "https://github.com/Lightning-AI/litgpt",
	},
	[VC_ENGINE_FSDP] = {
		.name = "fsdp",
		.summary = "PyTorch fully sharded data parallel",
		.training = true,
		.trains_tensor = true,
		.versions = "PyTorch 2",
		.source = "https://github.com/pytorch/pytorch",
	},
	[VC_ENGINE_DEEPSPEED] = {
		.name = "deepspeed",
		.summary = "ZeRO stages 1 to 3 with offload",
		.training = true,
		.expert = true,
		.versions = "0.9 to 0.18",
		.source = "https://github.com/deepspeedai/DeepSpeed",
	},
	[VC_ENGINE_MEGATRON] = {
		.name = "megatron",
		.summary = "tensor, pipeline, sequence and expert parallel training",
		.training = true,
		.expert = true,
		.trains_tensor = true,
		.trains_pipeline = true,
		.versions = "core 0.6 to 0.15",
		.source = "https://github.com/NVIDIA/Megatron-LM",
	},
};

const struct vc_engine_info *vc_engine_info(enum vc_engine engine)
{
	return &engines[engine < VC_ENGINE_COUNT ? engine : VC_ENGINE_NONE];
}

const char *vc_engine_name(enum vc_engine engine)
{
	return vc_engine_info(engine)->name;
}

enum vc_engine vc_engine_by_name(const char *name)
{
	for (int i = VC_ENGINE_NONE + 1; i < VC_ENGINE_COUNT; i++) {
		if (vc_same_name(engines[i].name, name)) {
			return (enum vc_engine)i;
		}
	}
	return VC_ENGINE_COUNT;
}

struct vc_version engine_version(const struct vc_engine_options *options)
{
	struct vc_version version = options->version;

	if (version.major == 0 && version.minor == 0 && version.patch == 0) {
		return vc_engine_info(options->name)->newest;
	}
	return version;
}

void engine_note_version(const struct vc_engine_options *options, struct vc_ledger *ledger)
{
	const struct vc_engine_info *info = vc_engine_info(options->name);
	struct vc_version version = engine_version(options);
	struct vc_version after = { info->newest.major, info->newest.minor + 1, 0 };

	if (!version_at_least(version, info->oldest)) {
		vc_ledger_note(ledger, "version-too-old",
		               "This version is older than {0}.{1}, the oldest that is modelled, "
		               "whose laws are used.",
		               (const uint64_t[3]){ info->oldest.major, info->oldest.minor, 0 });
	} else if (info->newest.major + info->newest.minor > 0 &&
	           version_at_least(version, after)) {
		vc_ledger_note(ledger, "version-too-new",
		               "This version is newer than {0}.{1}, the newest that is modelled, "
		               "whose laws are used.",
		               (const uint64_t[3]){ info->newest.major, info->newest.minor, 0 });
	}
}
