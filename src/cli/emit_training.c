/*
 * Training: torchrun with the options of transformers' Trainer and TRL, or of Megatron-LM's
 * pretrain scripts; accelerate's and DeepSpeed's configuration files.
 * huggingface.co/docs/transformers "TrainingArguments", huggingface.co/docs/trl "ModelConfig",
 * huggingface.co/docs/accelerate "FSDP", "DeepSpeed"; deepspeed.ai/docs/config-json;
 * github.com/NVIDIA/Megatron-LM megatron/training/arguments.py.
 */
#include "emit.h"
#include "json_writer.h"

#include <inttypes.h>
#include <string.h>

static const char *const optimizers[VC_OPTIMIZER_COUNT] = {
	[VC_OPTIMIZER_SGD] = "sgd",
	[VC_OPTIMIZER_ADAMW] = "adamw_torch",
	[VC_OPTIMIZER_ADAM] = "adamw_torch",
	[VC_OPTIMIZER_ADAMW_8BIT] = "adamw_bnb_8bit",
	[VC_OPTIMIZER_ADAMW_4BIT] = "adamw_torch_4bit",
	[VC_OPTIMIZER_PAGED_ADAMW] = "paged_adamw_32bit",
	[VC_OPTIMIZER_PAGED_ADAMW_8BIT] = "paged_adamw_8bit",
	[VC_OPTIMIZER_ADAFACTOR] = "adafactor",
	[VC_OPTIMIZER_LION] = "lion_32bit",
	[VC_OPTIMIZER_LION_8BIT] = "lion_8bit",
	[VC_OPTIMIZER_ADAGRAD] = "adagrad",
	[VC_OPTIMIZER_RMSPROP] = "rmsprop",
	[VC_OPTIMIZER_GALORE_ADAMW] = "galore_adamw",
};

static enum vc_optimizer optimizer_of(const struct emit_job *job)
{
	enum vc_optimizer optimizer = job->request->training.optimizer;

	return optimizer == VC_OPTIMIZER_DEFAULT ? VC_OPTIMIZER_ADAMW : optimizer;
}

static const char *optimizer_name(const struct emit_job *job)
{
	const struct vc_training *training = &job->request->training;

	if (optimizer_of(job) == VC_OPTIMIZER_ADAMW &&
	    training->optimizer_implementation == VC_OPTIMIZER_IMPL_FUSED) {
		return "adamw_torch_fused";
	}
	return optimizers[optimizer_of(job)];
}

static bool only_data_parallel(struct emit_job *job)
{
	const struct vc_parallelism *layout = &job->best->layout;

	if (layout->tensor > 1 || layout->pipeline > 1 || layout->context > 1 ||
	    layout->expert > 1) {
		job->refusal = "the row divides layers or tensors, which it does not configure "
		               "(engine.name: megatron, or parallelism: {data: N, zero_stage: 3})";
		return false;
	}
	if (layout->data_parallel == VC_DATA_PARALLEL_DP) {
		job->refusal = "DataParallel is one process (parallelism.data_parallel: ddp)";
		return false;
	}
	return true;
}

static void add_value(struct words *words, const char *option, const char *value)
{
	words_add(words, "%s", option);
	words_add(words, "%s", value);
}

static void add_number(struct words *words, const char *option, uint64_t value)
{
	words_add(words, "%s", option);
	words_add(words, "%" PRIu64, value);
}

static void add_processes(const struct emit_job *job, struct words *words, const char *rendezvous)
{
	words_add(words, "torchrun");
	if (job->nodes == 1) {
		words_add(words, "--standalone");
	}
	add_number(words, "--nnodes", job->nodes);
	add_number(words, "--nproc-per-node", job->node_gpus);
	if (job->nodes > 1) {
		add_value(words, "--rdzv-backend", "c10d");
		add_value(words, "--rdzv-id", "vramcalc");
		words_add(words, "--rdzv-endpoint");
		if (rendezvous) {
			words_add_variable(words, rendezvous);
		} else {
			words_add(words, "HEAD_NODE:29500");
		}
	}
}

/* FSDP has no stage that divides optimizer states alone. */
static bool wants_deepspeed(const struct emit_job *job)
{
	const struct vc_parallelism *layout = &job->best->layout;

	return job->request->engine.name == VC_ENGINE_DEEPSPEED || layout->zero_stage == 1 ||
	       layout->offload_optimizer == VC_OFFLOAD_NVME ||
	       layout->offload_parameters == VC_OFFLOAD_NVME ||
	       (layout->offload_optimizer != VC_OFFLOAD_NONE &&
	        layout->offload_parameters == VC_OFFLOAD_NONE);
}

static void add_lora(const struct vc_training *training, struct words *words)
{
	static const struct {
		enum vc_module module;
		const char *name;
	} modules[] = {
		{ VC_MODULE_Q, "q_proj" },       { VC_MODULE_K, "k_proj" },
		{ VC_MODULE_V, "v_proj" },       { VC_MODULE_O, "o_proj" },
		{ VC_MODULE_GATE, "gate_proj" }, { VC_MODULE_UP, "up_proj" },
		{ VC_MODULE_DOWN, "down_proj" },
	};

	add_value(words, "--use_peft", "True");
	add_number(words, "--lora_r", training->lora.rank);
	words_add(words, "--lora_target_modules");
	if (training->lora.all_linear) {
		words_add(words, "all-linear");
	}
	for (size_t i = 0; !training->lora.all_linear && i < sizeof modules / sizeof *modules;
	     i++) {
		if (training->lora.target_modules >> modules[i].module & 1) {
			words_add(words, "%s", modules[i].name);
		}
	}
	if (training->lora.modules_to_save) {
		words_add(words, "--lora_modules_to_save");
	}
	if (training->lora.modules_to_save >> VC_MODULE_EMBEDDING & 1) {
		words_add(words, "embed_tokens");
	}
	if (training->lora.modules_to_save >> VC_MODULE_LM_HEAD & 1) {
		words_add(words, "lm_head");
	}
	if (training->lora.dora) {
		add_value(words, "--use_dora", "True");
	}
	if (training->method == VC_TRAINING_QLORA) {
		add_value(words, "--load_in_4bit", "True");
	}
}

static void add_sharding(const struct emit_job *job, struct words *words)
{
	const struct vc_parallelism *layout = &job->best->layout;
	bool offload = layout->offload_parameters != VC_OFFLOAD_NONE;

	if (wants_deepspeed(job)) {
		add_value(words, "--deepspeed", "ds_config.json");
	} else if (layout->zero_stage > 0) {
		words_add(words, "--fsdp");
		words_add(words, "%s auto_wrap%s",
		          layout->zero_stage == 3 ? "full_shard" : "shard_grad_op",
		          offload ? " offload" : "");
	}
}

static void add_trainer(const struct emit_job *job, struct words *words)
{
	const struct vc_workload *workload = &job->request->workload;
	const struct vc_training *training = &job->request->training;

	words_add(words, "TRAIN.py");
	add_value(words, "--model_name_or_path", job->model);
	add_number(words, "--per_device_train_batch_size", workload->batch_size);
	add_number(words, "--gradient_accumulation_steps", training->gradient_accumulation);
	add_number(words, "--max_length", workload->sequence_length);
	if (emit_is_bf16(job) || emit_is_fp16(job)) {
		add_value(words, emit_is_bf16(job) ? "--bf16" : "--fp16", "True");
	}
	add_value(words, "--gradient_checkpointing",
	          training->gradient_checkpointing == VC_CHECKPOINTING_NONE ? "False" : "True");
	add_value(words, "--optim", optimizer_name(job));
	if (training->loss_implementation == VC_LOSS_FUSED) {
		add_value(words, "--use_liger_kernel", "True");
	}
	if (training->compile) {
		add_value(words, "--torch_compile", "True");
	}
	if (training->method != VC_TRAINING_FULL) {
		add_lora(training, words);
	}
	add_sharding(job, words);
}

static void add_megatron(const struct emit_job *job, struct words *words)
{
	const struct vc_workload *workload = &job->request->workload;
	const struct vc_training *training = &job->request->training;
	const struct vc_parallelism *layout = &job->best->layout;

	words_add(words, "TRAIN.py");
	add_number(words, "--tensor-model-parallel-size", layout->tensor);
	add_number(words, "--pipeline-model-parallel-size", layout->pipeline);
	add_number(words, "--context-parallel-size", layout->context);
	add_number(words, "--expert-model-parallel-size", layout->expert);
	if (layout->sequence_parallel) {
		words_add(words, "--sequence-parallel");
	}
	add_number(words, "--micro-batch-size", workload->batch_size);
	add_number(words, "--global-batch-size",
	           workload->batch_size * training->gradient_accumulation * layout->data);
	add_number(words, "--seq-length", workload->sequence_length);
	if (training->distributed_optimizer || layout->zero_stage == 1) {
		words_add(words, "--use-distributed-optimizer");
	}
	if (training->gradient_checkpointing == VC_CHECKPOINTING_FULL) {
		add_value(words, "--recompute-granularity", "full");
		add_value(words, "--recompute-method", "uniform");
		add_number(words, "--recompute-num-layers", 1);
	} else if (training->gradient_checkpointing == VC_CHECKPOINTING_SELECTIVE) {
		add_value(words, "--recompute-granularity", "selective");
	}
	if (emit_is_bf16(job) || emit_is_fp16(job)) {
		words_add(words, "%s", emit_is_bf16(job) ? "--bf16" : "--fp16");
	}
}

bool emit_torchrun_words(struct emit_job *job, struct words *words, const char *rendezvous)
{
	bool megatron = job->request->engine.name == VC_ENGINE_MEGATRON;

	if (!megatron && !only_data_parallel(job)) {
		return false;
	}
	if (!megatron && !optimizer_name(job)) {
		job->refusal = "the Trainer has no such optimizer (training.optimizer)";
		return false;
	}
	add_processes(job, words, rendezvous);
	if (megatron) {
		add_megatron(job, words);
	} else {
		add_trainer(job, words);
	}
	return !words->full;
}

/* ---- Configuration files ---- */

static void put_offload(struct json_writer *json, const char *key, enum vc_offload offload)
{
	if (offload == VC_OFFLOAD_NONE) {
		return;
	}
	json_open(json, key, '{');
	json_text(json, "device", offload == VC_OFFLOAD_CPU ? "cpu" : "nvme");
	if (offload == VC_OFFLOAD_NVME) {
		json_text(json, "nvme_path", "/local_nvme");
	}
	json_bool(json, "pin_memory", true);
	json_close(json, '}');
}

bool emit_deepspeed(struct emit_job *job, FILE *file)
{
	const struct vc_workload *workload = &job->request->workload;
	const struct vc_training *training = &job->request->training;
	const struct vc_parallelism *layout = &job->best->layout;
	struct json_writer json = { .out = file };

	if (!only_data_parallel(job)) {
		return false;
	}
	json_open(&json, NULL, '{');
	json_u64(&json, "train_micro_batch_size_per_gpu", workload->batch_size);
	json_u64(&json, "gradient_accumulation_steps", training->gradient_accumulation);
	json_u64(&json, "train_batch_size",
	         workload->batch_size * training->gradient_accumulation * layout->data);
	if (emit_is_bf16(job) || emit_is_fp16(job)) {
		json_open(&json, emit_is_bf16(job) ? "bf16" : "fp16", '{');
		json_bool(&json, "enabled", true);
		json_close(&json, '}');
	}
	json_open(&json, "zero_optimization", '{');
	json_u64(&json, "stage", layout->zero_stage);
	put_offload(&json, "offload_optimizer", layout->offload_optimizer);
	put_offload(&json, "offload_param", layout->offload_parameters);
	if (layout->zero_stage == 3) {
		json_bool(&json, "stage3_gather_16bit_weights_on_model_save", true);
	}
	json_close(&json, '}');
	if (optimizer_of(job) != VC_OPTIMIZER_ADAM && optimizer_of(job) != VC_OPTIMIZER_ADAMW) {
		json_bool(&json, "zero_allow_untested_optimizer", true);
	}
	json_close(&json, '}');
	return true;
}

static const char *offload_device(enum vc_offload offload)
{
	return offload == VC_OFFLOAD_CPU ? "cpu" : offload == VC_OFFLOAD_NVME ? "nvme" : "none";
}

static void put_fsdp(const struct emit_job *job, FILE *file)
{
	const struct vc_parallelism *layout = &job->best->layout;

	fputs("distributed_type: FSDP\nfsdp_config:\n", file);
	fprintf(file, "  fsdp_sharding_strategy: %s\n",
	        layout->zero_stage == 3 ? layout->shard && layout->shard < layout->data
	                                          ? "HYBRID_SHARD"
	                                          : "FULL_SHARD"
	                                : "SHARD_GRAD_OP");
	fprintf(file, "  fsdp_offload_params: %s\n",
	        layout->offload_parameters == VC_OFFLOAD_NONE ? "false" : "true");
	fputs("  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP\n"
	      "  fsdp_state_dict_type: SHARDED_STATE_DICT\n"
	      "  fsdp_use_orig_params: true\n"
	      "  fsdp_cpu_ram_efficient_loading: true\n"
	      "  fsdp_sync_module_states: true\n",
	      file);
	fprintf(file, "  fsdp_activation_checkpointing: %s\n",
	        job->request->training.gradient_checkpointing == VC_CHECKPOINTING_NONE ? "false"
	                                                                               : "true");
}

static void put_deepspeed(const struct emit_job *job, FILE *file)
{
	const struct vc_parallelism *layout = &job->best->layout;

	fputs("distributed_type: DEEPSPEED\ndeepspeed_config:\n", file);
	fprintf(file,
	        "  zero_stage: %u\n"
	        "  offload_optimizer_device: %s\n"
	        "  offload_param_device: %s\n"
	        "  gradient_accumulation_steps: %" PRIu64 "\n"
	        "  zero3_init_flag: %s\n"
	        "  zero3_save_16bit_model: %s\n",
	        layout->zero_stage, offload_device(layout->offload_optimizer),
	        offload_device(layout->offload_parameters),
	        job->request->training.gradient_accumulation,
	        layout->zero_stage == 3 ? "true" : "false",
	        layout->zero_stage == 3 ? "true" : "false");
}

bool emit_accelerate(struct emit_job *job, FILE *file)
{
	const struct vc_parallelism *layout = &job->best->layout;

	if (!only_data_parallel(job)) {
		return false;
	}
	emit_heading(job, file);
	emit_comment(file, "accelerate launch --config_file THIS_FILE TRAIN.py ...");
	if (job->nodes > 1) {
		emit_comment(file, "HEAD_NODE: the first node's name or address; machine_rank: 0 "
		                   "on it, 1 on the second, and so on");
	}
	fputs("compute_environment: LOCAL_MACHINE\n", file);
	if (layout->zero_stage == 0) {
		fprintf(file, "distributed_type: %s\n", job->best->gpus > 1 ? "MULTI_GPU" : "'NO'");
	} else if (wants_deepspeed(job)) {
		put_deepspeed(job, file);
	} else {
		put_fsdp(job, file);
	}
	fprintf(file,
	        "mixed_precision: '%s'\n"
	        "num_machines: %u\n"
	        "num_processes: %u\n"
	        "machine_rank: 0\n"
	        "main_training_function: main\n"
	        "use_cpu: false\n",
	        emit_is_bf16(job)   ? "bf16"
	        : emit_is_fp16(job) ? "fp16"
	                            : "no",
	        job->nodes, job->best->gpus);
	if (job->nodes > 1) {
		fputs("main_process_ip: HEAD_NODE\nmain_process_port: 29500\n"
		      "rdzv_backend: c10d\n",
		      file);
	}
	return true;
}
