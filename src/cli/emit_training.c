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

static bool knows_optimizer(struct emit_job *job)
{
	if (!optimizer_name(job)) {
		job->refusal = "the Trainer has no such optimizer (training.optimizer)";
		return false;
	}
	return true;
}

static bool checkpointed(const struct emit_job *job)
{
	return job->request->training.gradient_checkpointing != VC_CHECKPOINTING_NONE;
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

/* Everything in 16 bits, without a copy of the weights in fp32. */
static bool is_pure(const struct emit_job *job)
{
	return job->request->training.method == VC_TRAINING_FULL &&
	       job->request->training.mixed_precision == VC_MIXED_NONE &&
	       (emit_is_bf16(job) || emit_is_fp16(job));
}

/* Shards of some ranks, copied over the others. */
static bool is_hybrid(const struct vc_parallelism *layout)
{
	return layout->zero_stage > 0 && layout->shard > 0 && layout->shard < layout->data;
}

static bool refuse_hybrid(struct emit_job *job)
{
	job->refusal = "it divides by all ranks (parallelism.shard; --emit accelerate has FSDP's "
	               "hybrid shards, of stage 3 and the ranks of a node)";
	return false;
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
}

/* The frozen weights of QLoRA, by bitsandbytes while they are loaded or by the checkpoint. */
static bool add_quantization(struct emit_job *job, struct words *words)
{
	const struct vc_quantization *quantization = job->request->workload.quantization;

	if (!quantization || quantization->quantizer == VC_QUANTIZER_NONE) {
		/* the method's own, as the estimate takes it */
		quantization = job->request->training.method == VC_TRAINING_QLORA
		                       ? vc_quantization_by_name("bnb-nf4-dq")
		                       : NULL;
	}
	if (!quantization) {
		return true;
	}
	switch (quantization->quantizer) {
	case VC_QUANTIZER_BNB_4BIT:
		add_value(words, "--load_in_4bit", "True");
		add_value(words, "--bnb_4bit_quant_type",
		          strncmp(quantization->name, "bnb-fp4", 7) == 0 ? "fp4" : "nf4");
		add_value(words, "--use_bnb_nested_quant",
		          quantization->double_quant ? "True" : "False");
		return true;
	case VC_QUANTIZER_BNB_INT8:
		add_value(words, "--load_in_8bit", "True");
		return true;
	case VC_QUANTIZER_PLAIN:
	case VC_QUANTIZER_GGUF:
		job->refusal = "nothing trains on weights of this format (expected a "
		               "workload.quantization such as bnb-nf4 or bnb-int8)";
		return false;
	default:
		emit_note(job, "the model has to be a checkpoint quantized as %s",
		          quantization->name);
		return true;
	}
}

static void add_sharding(struct emit_job *job, struct words *words)
{
	const struct vc_parallelism *layout = &job->best->layout;
	bool offload = layout->offload_parameters != VC_OFFLOAD_NONE;

	if (wants_deepspeed(job)) {
		add_value(words, "--deepspeed", "ds_config.json");
		emit_note(job, "ds_config.json: as --emit deepspeed prints it");
	} else if (layout->zero_stage > 0) {
		words_add(words, "--fsdp");
		words_add(words, "%s auto_wrap%s",
		          layout->zero_stage == 3 ? "full_shard" : "shard_grad_op",
		          offload ? " offload" : "");
	}
}

/*
 * What the weights are loaded in, and what is computed in. With autocast those that are trained
 * are in fp32; DeepSpeed keeps its own master weights whatever was loaded. TRL's defaults are fp32
 * and bf16=True, so both are said.
 */
static void add_precision(const struct emit_job *job, struct words *words)
{
	bool full = job->request->training.method == VC_TRAINING_FULL;
	bool half = emit_is_bf16(job) || emit_is_fp16(job);
	bool autocast = half && (!is_pure(job) || wants_deepspeed(job));
	const char *dtype = full && autocast ? "float32" : emit_torch_dtype(job);

	if (dtype) {
		add_value(words, "--dtype", dtype);
	}
	if (job->request->workload.precision == VC_DTYPE_TF32) {
		add_value(words, "--tf32", "True");
	}
	add_value(words, emit_is_fp16(job) ? "--fp16" : "--bf16", autocast ? "True" : "False");
	if (emit_is_fp16(job)) {
		add_value(words, "--bf16", "False");
	}
}

/* `checkpoints`: it is the Trainer that recomputes activations, not FSDP. */
static bool add_trainer(struct emit_job *job, struct words *words, bool checkpoints)
{
	const struct vc_workload *workload = &job->request->workload;
	const struct vc_training *training = &job->request->training;

	words_add(words, "TRAIN.py");
	add_value(words, "--model_name_or_path", job->model);
	if (emit_revision(job)) {
		add_value(words, "--model_revision", emit_revision(job));
	}
	add_number(words, "--per_device_train_batch_size", workload->batch_size);
	add_number(words, "--gradient_accumulation_steps", training->gradient_accumulation);
	if (emit_has_tokens(job)) {
		add_number(words, "--max_length", workload->sequence_length);
	}
	if (training->packing && emit_has_tokens(job)) {
		add_value(words, "--packing", "True");
	}
	add_precision(job, words);
	if (workload->attn_implementation == VC_ATTENTION_EAGER) {
		add_value(words, "--attn_implementation", "eager");
	}
	add_value(words, "--gradient_checkpointing",
	          checkpoints && checkpointed(job) ? "True" : "False");
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
	return add_quantization(job, words);
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
	if (!megatron && is_hybrid(&job->best->layout)) {
		return refuse_hybrid(job);
	}
	if (!megatron && !knows_optimizer(job)) {
		return false;
	}
	add_processes(job, words, rendezvous);
	if (megatron) {
		add_megatron(job, words);
		return !words->full;
	}
	if (!add_trainer(job, words, true)) {
		return false;
	}
	add_sharding(job, words);
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
	if (is_hybrid(layout)) {
		return refuse_hybrid(job);
	}
	/* deepspeed/runtime/config.py _do_error_check, runtime/base_optimizer.py */
	if (is_pure(job) && (emit_is_fp16(job) || layout->zero_stage == 0 ||
	                     layout->offload_optimizer != VC_OFFLOAD_NONE)) {
		job->refusal =
		        "without fp32 master weights it trains in bf16 alone, by ZeRO stages 1 "
		        "to 3 and with nothing offloaded (training.mixed_precision: master)";
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
		if (is_pure(job)) {
			json_bool(&json, "bf16_master_weights_and_grads", true);
			json_bool(&json, "bf16_optimizer_states", true);
		}
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
	        layout->zero_stage == 3 ? is_hybrid(layout) ? "HYBRID_SHARD" : "FULL_SHARD"
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
	        checkpointed(job) ? "true" : "false");
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

/* What the file is for. FSDP's own checkpointing and the Trainer's exclude each other. */
static bool launch_words(struct emit_job *job, struct words *words)
{
	bool by_fsdp = job->best->layout.zero_stage > 0 && !wants_deepspeed(job);

	words_add(words, "accelerate");
	words_add(words, "launch");
	add_value(words, "--config_file", "THIS_FILE");
	return knows_optimizer(job) && add_trainer(job, words, !by_fsdp) && !words->full;
}

bool emit_accelerate(struct emit_job *job, FILE *file)
{
	const struct vc_parallelism *layout = &job->best->layout;
	struct words words = { .count = 0 };

	if (!only_data_parallel(job)) {
		return false;
	}
	if (is_hybrid(layout) &&
	    (wants_deepspeed(job) || layout->zero_stage != 3 || layout->shard != job->node_gpus)) {
		return refuse_hybrid(job);
	}
	if (is_pure(job) && wants_deepspeed(job)) {
		job->refusal = "DeepSpeed keeps master weights in fp32 unless its own file says "
		               "otherwise (--emit deepspeed, or training.mixed_precision: master)";
		return false;
	}
	if (!launch_words(job, &words)) {
		return false;
	}
	emit_heading(job, file);
	words_print_shell(&words, file, "# ");
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
	        is_pure(job)        ? "no"
	        : emit_is_bf16(job) ? "bf16"
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
