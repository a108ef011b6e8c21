/*
 * How each engine is told a measure. Sources: NVIDIA/Megatron-LM, megatron/training/arguments.py;
 * pytorch/torchtune 0.6.1, recipes and recipes/configs; Lightning-AI/litgpt 0.5.13, finetune/;
 * docs.pytorch.org, torch.distributed.fsdp; ggml-org/llama.cpp, tools/server/README.md.
 */
#include "measure.h"

/* Where nothing stands the engine has no such measure; other engines are not listed. */
static const char *const calls[VC_ENGINE_COUNT][VC_MEASURE_COUNT] = {
	[VC_ENGINE_MEGATRON] = { [VC_MEASURE_BATCH_SIZE] = "--micro-batch-size",
	                         [VC_MEASURE_SEQUENCE_LENGTH] = "--seq-length",
	                         [VC_MEASURE_GRADIENT_CHECKPOINTING] =
	                                 ("--recompute-granularity full --recompute-method uniform "
	                                  "--recompute-num-layers 1"),
	                         [VC_MEASURE_OPTIMIZER_8BIT] =
	                                 ("--use-precision-aware-optimizer --exp-avg-dtype fp8 "
	                                  "--exp-avg-sq-dtype fp8"),
	                         [VC_MEASURE_ZERO_1] = "--use-distributed-optimizer",
	                         [VC_MEASURE_OFFLOAD_OPTIMIZER] =
	                                 ("--optimizer-cpu-offload "
	                                  "--use-precision-aware-optimizer") },
	[VC_ENGINE_TORCHTUNE] = { [VC_MEASURE_BATCH_SIZE] = "batch_size",
	                          [VC_MEASURE_SEQUENCE_LENGTH] = "tokenizer.max_seq_len",
	                          [VC_MEASURE_GRADIENT_CHECKPOINTING] =
	                                  "enable_activation_checkpointing=True",
	                          [VC_MEASURE_OPTIMIZER_8BIT] =
	                                  "optimizer._component_=bitsandbytes.optim.AdamW8bit",
	                          [VC_MEASURE_LORA] = "a lora_finetune recipe",
	                          [VC_MEASURE_QLORA] =
	                                  "a lora_finetune recipe with a qlora configuration",
	                          [VC_MEASURE_ZERO_2] = ("a distributed recipe with "
	                                                 "fsdp_reshard_after_forward=False"),
	                          [VC_MEASURE_ZERO_3] = "a distributed recipe",
	                          [VC_MEASURE_OFFLOAD_PARAMETERS] = "fsdp_cpu_offload=True" },
	[VC_ENGINE_LITGPT] = { [VC_MEASURE_BATCH_SIZE] = "--train.micro_batch_size",
	                       [VC_MEASURE_SEQUENCE_LENGTH] = "--train.max_seq_length",
	                       [VC_MEASURE_GRADIENT_CHECKPOINTING] =
	                               "--devices above 1, where it is always on",
	                       [VC_MEASURE_OPTIMIZER_8BIT] =
	                               "--optimizer bitsandbytes.optim.AdamW8bit",
	                       [VC_MEASURE_LORA] = "litgpt finetune_lora",
	                       [VC_MEASURE_QLORA] = "litgpt finetune_lora --quantize bnb.nf4-dq",
	                       [VC_MEASURE_ZERO_3] = "--devices" },
	[VC_ENGINE_FSDP] = { [VC_MEASURE_BATCH_SIZE] = "the data loader's batch_size",
	                     [VC_MEASURE_SEQUENCE_LENGTH] = "the length that texts are cut to",
	                     [VC_MEASURE_GRADIENT_CHECKPOINTING] =
	                             "apply_activation_checkpointing()",
	                     [VC_MEASURE_OPTIMIZER_8BIT] = "bitsandbytes.optim.AdamW8bit",
	                     [VC_MEASURE_LORA] = "peft.LoraConfig",
	                     [VC_MEASURE_QLORA] = "4-bit weights (fsdp_qlora) and LoRA",
	                     [VC_MEASURE_ZERO_2] = "ShardingStrategy.SHARD_GRAD_OP",
	                     [VC_MEASURE_ZERO_3] = "ShardingStrategy.FULL_SHARD",
	                     [VC_MEASURE_OFFLOAD_PARAMETERS] = "CPUOffload(offload_params=True)" },
	[VC_ENGINE_LLAMACPP] = { [VC_MEASURE_BATCH_SIZE] = "--parallel",
	                         [VC_MEASURE_SEQUENCE_LENGTH] = "--ctx-size",
	                         [VC_MEASURE_KV_CACHE_PRECISION] =
	                                 "--cache-type-k q8_0 --cache-type-v q8_0",
	                         [VC_MEASURE_QUANTIZATION_8BIT] = "a Q8_0 file",
	                         [VC_MEASURE_QUANTIZATION_4BIT] = "a Q4_K_M file",
	                         [VC_MEASURE_TENSOR_PARALLEL] = "--split-mode row",
	                         [VC_MEASURE_PIPELINE_PARALLEL] = "--split-mode layer",
	                         [VC_MEASURE_GPU_LAYERS] = "--n-gpu-layers" },
};

static bool is_listed(enum vc_engine engine)
{
	return engine < VC_ENGINE_COUNT && calls[engine][VC_MEASURE_BATCH_SIZE] != NULL;
}

bool measure_is_known(enum vc_measure measure, const struct vc_request *request,
                      const struct measure_scope *scope)
{
	enum vc_engine engine = request->engine.name;
	bool alone = vc_layout_gpus(&request->parallelism) == 1 && scope->gpus <= 1;

	if (engine == VC_ENGINE_LITGPT && measure == VC_MEASURE_GRADIENT_CHECKPOINTING) {
		return !alone;
	}
	if (engine == VC_ENGINE_LITGPT && measure == VC_MEASURE_QLORA) {
		return vc_layout_gpus(&request->parallelism) == 1; /* --quantize wants one device */
	}
	return measure >= VC_MEASURE_MORE_GPUS || !is_listed(engine) || calls[engine][measure];
}

const char *vc_measure_call(enum vc_measure measure, enum vc_engine engine)
{
	const char *own =
	        is_listed(engine) && measure < VC_MEASURE_COUNT ? calls[engine][measure] : NULL;

	return own ? own : vc_measure_info(measure)->call;
}
