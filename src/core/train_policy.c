/*
 * Sources of the rows: huggingface/transformers (loss/loss_utils.py, trainer.py), huggingface/peft
 * (utils/other.py), pytorch/torchtune and pytorch/torchtitan (recipes), Lightning-AI/litgpt
 * (lora.py, utils.py chunked_cross_entropy), NVIDIA/Megatron-LM (core/optimizer, the golden values
 * of its functional tests), deepspeedai/DeepSpeed (runtime/zero, runtime/bf16_optimizer.py), and
 * the measurements that docs/accuracy.md lists. Megatron's deterministic mode sets
 * CUBLAS_WORKSPACE_CONFIG=:4096:8 (megatron/training/determinism.py), 32 MiB a handle.
 */
#include "train_policy.h"

#include "text.h"

/*
 * Bytes per logit. A logit is computed in 16 bits, raised to fp32 and run through log-softmax,
 * whose gradient is fp32 again. In place (Triton kernels) 8 are alive at once, in stock PyTorch 12
 * to 14 (foundation-model-stack/fms-acceleration benchmarks with transformers 4.45 and 4.48;
 * snowflakedb/ArcticTraining on H100 and H200: 14). torch.compile fuses the copies away.
 */
static const struct train_policy policies[VC_ENGINE_COUNT] = {
	[VC_ENGINE_NONE] = { .summary = "no framework named: fused optimizer, stock loss",
	                     .logits = { 12, 12, 14, 0, 0 },
	                     .fragmentation = { 150000, 250000, 180000, 250000, 150000 },
	                     .keeps_gradients = true,
	                     .steps_in_place = true,
	                     .compiled_widths = 13,
	                     .gathered_units = 2,
	                     .adapter_bytes = 4 },
	[VC_ENGINE_TRANSFORMERS] = { .summary = "transformers' Trainer, TRL and PEFT",
	                             .logits = { 8, 8, 15, 14, 0 },
	                             .stock_modules = true,
	                             .fragmentation = { 115000, 300000, 180000, 250000, 200000 },
	                             .autocasts = true,
	                             .compiled_widths = 13,
	                             .gathered_units = 1,
	                             .adapter_bytes = 4 },
	[VC_ENGINE_TORCHTUNE] = { .summary = "torchtune's recipes",
	                          .logits = { 5, 5, 8, 0, 0 },
	                          .fragmentation = { 350000, 350000, 350000, 350000, 150000 },
	                          .root_gradients = true,
	                          .compiled_widths = 13,
	                          .gathered_units = 2,
	                          .adapter_bytes = 2 },
	[VC_ENGINE_LITGPT] = { .summary = "LitGPT's fine-tuning and pretraining scripts",
	                       .style = TRAIN_STYLE_LITGPT,
	                       .logits = { 12, 8, 12, 0, 0 },
	                       .fragmentation = { 115000, 330000, 250000, 250000, 150000 },
	                       .keeps_gradients = true,
	                       .unties_head = true,
	                       .frozen_gathered = true,
	                       .keeps_inputs = true,
	                       .compiled_widths = 3,
	                       .gathered_units = 1,
	                       .adapter_bytes = 2 },
	[VC_ENGINE_FSDP] = { .summary = "PyTorch FSDP scripts: torchtitan, llm-foundry, fsdp_qlora",
	                     .logits = { 14, 14, 15, 0, 4 },
	                     .fragmentation = { 550000, 550000, 550000, 550000, 150000 },
	                     .root_gradients = true,
	                     .compiled_widths = 13,
	                     .gathered_units = 2,
	                     .adapter_bytes = 2 },
	[VC_ENGINE_DEEPSPEED] = { .summary = "DeepSpeed ZeRO",
	                          .logits = { 14, 8, 14, 0, 0 },
	                          .stock_modules = true,
	                          .fragmentation = { 170000, 170000, 300000, 300000, 170000 },
	                          .keeps_gradients = true,
	                          .saves_gathered = true,
	                          .bf16_master = true,
	                          .compiled_widths = 13,
	                          .gathered_units = 2,
	                          .adapter_bytes = 2 },
	[VC_ENGINE_MEGATRON] = { .summary = "Megatron-LM",
	                         .style = TRAIN_STYLE_FUSED,
	                         .logits = { 6, 6, 7, 0, 0 },
	                         .fragmentation = { 80000, 80000, 80000, 80000, 80000 },
	                         .keeps_gradients = true,
	                         .steps_in_place = true,
	                         .fp32_gradients = true,
	                         .pipelines = true,
	                         .compiled_widths = 13,
	                         .gathered_units = 1,
	                         .adapter_bytes = 2,
	                         .transformer_engine = true,
	                         .blas_workspace_bytes = 8 * 4096 * 1024 },
};

const struct train_policy *train_policy(enum vc_engine engine)
{
	const struct train_policy *policy =
	        &policies[engine < VC_ENGINE_COUNT ? engine : VC_ENGINE_NONE];

	return policy->summary ? policy : &policies[VC_ENGINE_NONE];
}

bool train_is_zero(const struct vc_request *request)
{
	return request->engine.name == VC_ENGINE_DEEPSPEED ||
	       (train_policy(request->engine.name)->autocasts &&
	        request->parallelism.zero_stage > 0 &&
	        request->training.mixed_precision == VC_MIXED_MASTER);
}

const struct vc_quantization *train_scheme(const struct vc_request *request)
{
	const struct vc_quantization *scheme = request->workload.quantization;

	return scheme && scheme->quantizer != VC_QUANTIZER_NONE ? scheme : NULL;
}

/* transformers before 4.46, modeling_gpt2.py and its likes: cross-entropy on lm_logits as is. */
static const char *const plain_loss_families[] = { "gpt2",    "gpt_bigcode", "gpt_neox", "gpt_neo",
	                                           "gptj",    "opt",         "falcon",   "phi",
	                                           "bloom",   "mpt",         "codegen",  "bert",
	                                           "roberta", "qwen" };

/* activations.py, NewGELUActivation, as their configuration classes name it */
static const char *const stepwise_gelu_families[] = { "gpt2", "gpt_neo", "gptj", "codegen", "phi" };

/* eager_attention_forward and its like without dtype=torch.float32 */
static const char *const plain_score_families[] = { "bert", "roberta", "gpt2", "falcon",
	                                            "xlm-roberta" };
/* and with attn_logit_softcapping, whose tanh keeps its result */
static const char *const capped_score_families[] = { "gemma2" };

/* activation_function "relu"; T5's first release, whose feed-forward is not gated */
static const char *const relu_families[] = { "opt", "t5" };

/* "(weight * hidden).to(dtype)", where others write "weight * hidden.to(dtype)" */
static const char *const wide_norm_families[] = { "gemma",       "gemma2", "gemma3",
	                                          "gemma3_text", "olmo2",  "olmo3" };

static bool is_among(const char *family, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (vc_same_name(names[i], family)) {
			return true;
		}
	}
	return false;
}

bool train_plain_loss(const struct vc_model *model)
{
	return is_among(model->family, plain_loss_families,
	                sizeof plain_loss_families / sizeof *plain_loss_families);
}

bool train_stepwise_gelu(const struct vc_model *model)
{
	return is_among(model->family, stepwise_gelu_families,
	                sizeof stepwise_gelu_families / sizeof *stepwise_gelu_families);
}

uint32_t train_score_bytes(const struct vc_model *model)
{
	if (is_among(model->family, plain_score_families,
	             sizeof plain_score_families / sizeof *plain_score_families)) {
		return 2;
	}
	return is_among(model->family, capped_score_families,
	                sizeof capped_score_families / sizeof *capped_score_families)
	               ? 8
	               : 6;
}

bool train_relu(const struct vc_model *model)
{
	return is_among(model->family, relu_families, sizeof relu_families / sizeof *relu_families);
}

bool train_wide_norms(const struct vc_model *model)
{
	return is_among(model->family, wide_norm_families,
	                sizeof wide_norm_families / sizeof *wide_norm_families);
}
