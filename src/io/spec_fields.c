/* The fields of a spec, in the order of docs/spec.md. */
#include "spec_fields.h"

#include "nearest.h"
#include "spec_choices.h"

#include <string.h>

#define AT(member)      offsetof(struct vc_spec, member)
#define REQUEST(member) AT(request.member)

/* clang-format off */
#define COUNT(path, store, offset, minimum, maximum, fallback, summary) \
	{ { path, VC_FIELD_COUNT, minimum, maximum, fallback, summary, NULL }, store, offset }
#define CHOICE(path, offset, choices, fallback, summary) \
	{ { path, VC_FIELD_CHOICE, 0, 0, fallback, summary, choices }, VC_STORE_ENUM, offset }
#define FLAG(path, offset, summary) \
	{ { path, VC_FIELD_FLAG, 0, 0, "false", summary, NULL }, VC_STORE_BOOL, offset }
#define OTHER(path, kind, fallback, summary) \
	{ { path, kind, 0, 0, fallback, summary, NULL }, VC_STORE_NONE, 0 }
#define DEGREE(name, maximum, summary) \
	COUNT("parallelism." #name, VC_STORE_U32, REQUEST(parallelism.name), 1, maximum, "1", summary)

enum {
	MAX_RANKS = 100000,
	MAX_ADAPTER_RANK = 100000,
	MAX_LAYERS_GIVEN = 1000000
};

static const struct vc_field_row rows[] = {
	COUNT("version", VC_STORE_NONE, 0, 1, 1, "1", "version of this format"),
	OTHER("model.name", VC_FIELD_TEXT, "the file's name", "name shown in results"),
	COUNT("model.params", VC_STORE_NONE, 0, 1, INT64_MAX, "counted from the architecture",
	      "total parameters"),
	OTHER("model.config", VC_FIELD_TEXT, "none",
	      "a Hugging Face config.json, relative to the spec"),
	OTHER("model.architecture", VC_FIELD_TREE, "none",
	      "the keys of a config.json, written here; they win over those of model.config"),
	OTHER("model.weights", VC_FIELD_TEXT, "none",
	      "a GGUF or safetensors file, an index.json, their folder, or hf:ORG/NAME of a hub: only headers are read"),

	CHOICE("workload.task", REQUEST(workload.task), &vc_choices_task, "inference",
	       "what the model is used for"),
	CHOICE("workload.precision", REQUEST(workload.precision), &vc_choices_precision, "fp16",
	       "what weights and compute are held in"),
	{ { "workload.quantization", VC_FIELD_CHOICE, 0, 0, "none",
	    "how the weights are quantized; precision is then the compute type",
	    &vc_choices_quantization }, VC_STORE_NONE, 0 },
	COUNT("workload.batch_size", VC_STORE_U64, REQUEST(workload.batch_size), 1, INT64_MAX, "1",
	      "sequences processed together; in training, per data-parallel rank"),
	COUNT("workload.sequence_length", VC_STORE_U64, REQUEST(workload.sequence_length), 1,
	      INT64_MAX, "4096", "tokens held per sequence, prompt and generated"),
	COUNT("workload.concurrency", VC_STORE_U64, REQUEST(workload.concurrency), 1, INT64_MAX,
	      "1", "peak simultaneous requests; the KV cache holds batch_size x concurrency sequences"),
	CHOICE("workload.kv_cache_precision", REQUEST(workload.kv_cache_precision),
	       &vc_choices_kv_cache, "the compute precision", "what the KV cache is held in"),
	CHOICE("workload.attn_implementation", REQUEST(workload.attn_implementation),
	       &vc_choices_attention, "flash", "how attention is computed"),

	CHOICE("training.method", REQUEST(training.method), &vc_choices_method, "full",
	       "what is trained: everything, or adapters"),
	CHOICE("training.optimizer", REQUEST(training.optimizer), &vc_choices_optimizer, "adamw",
	       "the optimizer"),
	CHOICE("training.optimizer_implementation", REQUEST(training.optimizer_implementation),
	       &vc_choices_optimizer_implementation, "foreach", "how PyTorch runs the step"),
	FLAG("training.optimizer_in_backward", REQUEST(training.optimizer_in_backward),
	     "step each parameter in the backward pass and drop its gradient"),
	FLAG("training.distributed_optimizer", REQUEST(training.distributed_optimizer),
	     "Megatron's: optimizer states divide over data-parallel ranks"),
	CHOICE("training.mixed_precision", REQUEST(training.mixed_precision),
	       &vc_choices_mixed_precision, "master",
	       "none: all in precision; amp: fp32 weights, 16-bit autocast; master: 16-bit weights "
	       "beside fp32 master weights"),
	CHOICE("training.adapter_precision", REQUEST(training.adapter_precision),
	       &vc_choices_precision, "as the framework does", "what adapters are held in"),
	CHOICE("training.gradient_precision", REQUEST(training.gradient_precision),
	       &vc_choices_precision, "as the framework does", "what gradients are held in"),
	FLAG("training.kbit_preparation", REQUEST(training.kbit_preparation),
	     "PEFT's prepare_model_for_kbit_training: what is not quantized in fp32"),
	CHOICE("training.gradient_checkpointing", REQUEST(training.gradient_checkpointing),
	       &vc_choices_checkpointing, "none", "which activations are recomputed"),
	CHOICE("training.loss_implementation", REQUEST(training.loss_implementation),
	       &vc_choices_loss, "eager", "how logits and cross-entropy are formed"),
	FLAG("training.compile", REQUEST(training.compile), "torch.compile"),
	FLAG("training.packing", REQUEST(training.packing),
	     "all sequences have one length, packed or padded to it: nothing is left by others"),
	COUNT("training.gradient_accumulation", VC_STORE_U64,
	      REQUEST(training.gradient_accumulation), 1, INT64_MAX, "1",
	      "micro-batches per optimizer step"),
	COUNT("training.lora.rank", VC_STORE_U32, REQUEST(training.lora.rank), 1, MAX_ADAPTER_RANK,
	      "16", "rank of the adapters"),
	{ { "training.lora.targets", VC_FIELD_LIST, 0, 0, "[q_proj, v_proj]",
	    "the modules that get adapters, or all-linear", &vc_choices_lora_target },
	  VC_STORE_NONE, 0 },
	FLAG("training.lora.dora", REQUEST(training.lora.dora), "DoRA: a magnitude per output too"),
	{ { "training.lora.modules_to_save", VC_FIELD_LIST, 0, 0, "none",
	    "the tables that are trained whole, as copies beside the frozen ones",
	    &vc_choices_saved_module }, VC_STORE_NONE, 0 },

	OTHER("models.reference", VC_FIELD_TEXT, "none",
	      "a SPEC, or self: the frozen model that the policy is held to"),
	OTHER("models.reward", VC_FIELD_TEXT, "none", "a SPEC: the frozen model that scores answers"),
	OTHER("models.critic", VC_FIELD_TEXT, "none",
	      "a SPEC, or self: the model of values, trained beside the policy"),
	OTHER("models.rollout", VC_FIELD_TEXT, "self, once one of these is given",
	      "a SPEC of an engine that generates, or self: the policy does, in transformers"),
	FLAG("models.rollout_sleeps", REQUEST(rollout_sleeps),
	     "the engine gives weights and cache back while models train"),

	DEGREE(data, MAX_RANKS, "data-parallel ranks"),
	DEGREE(tensor, MAX_RANKS, "tensor-parallel ranks"),
	DEGREE(pipeline, MAX_RANKS, "pipeline stages"),
	DEGREE(virtual_pipeline, MAX_RANKS, "chunks of layers that one pipeline stage interleaves"),
	DEGREE(context, MAX_RANKS, "ranks that divide the sequence"),
	DEGREE(expert, MAX_RANKS, "ranks that divide the experts"),
	FLAG("parallelism.sequence_parallel", REQUEST(parallelism.sequence_parallel),
	     "activations outside the tensor-parallel regions divide over its ranks"),
	COUNT("parallelism.zero_stage", VC_STORE_U32, REQUEST(parallelism.zero_stage), 0, 3, "0",
	      "ZeRO stage; FSDP: full shard is 3, shard-grad-op 2"),
	COUNT("parallelism.shard", VC_STORE_U32, REQUEST(parallelism.shard), 1, MAX_RANKS,
	      "all data-parallel ranks",
	      "data-parallel ranks that share what ZeRO divides; FSDP's hybrid shard: those of a node"),
	CHOICE("parallelism.data_parallel", REQUEST(parallelism.data_parallel),
	       &vc_choices_data_parallel, "ddp",
	       "dp: torch.nn.DataParallel, which gathers outputs on the first card"),
	CHOICE("parallelism.offload.optimizer", REQUEST(parallelism.offload_optimizer),
	       &vc_choices_offload, "none", "where optimizer states live instead"),
	CHOICE("parallelism.offload.parameters", REQUEST(parallelism.offload_parameters),
	       &vc_choices_offload, "none", "where parameters live instead"),

	CHOICE("engine.name", REQUEST(engine.name), &vc_choices_engine,
	       "none: a plain engine with stated assumptions", "the program that runs the model"),
	OTHER("engine.version", VC_FIELD_VERSION, "the newest that is modelled",
	      "decides where an engine's behaviour changed"),
	{ { "engine.gpu_memory_utilization", VC_FIELD_RATIO, 1, 1000000, "0.9",
	    "the share of the GPU's memory that the engine may take", NULL },
	  VC_STORE_U32, REQUEST(engine.gpu_memory_utilization_ppm) },
	COUNT("engine.max_num_batched_tokens", VC_STORE_U64,
	      REQUEST(engine.max_num_batched_tokens), 1, INT64_MAX, "the engine's own",
	      "tokens of one step"),
	COUNT("engine.max_num_seqs", VC_STORE_U64, REQUEST(engine.max_num_seqs), 1, INT64_MAX,
	      "the engine's own", "sequences of one step"),
	COUNT("engine.ubatch_size", VC_STORE_U64, REQUEST(engine.ubatch_size), 1, INT64_MAX,
	      "the engine's own", "llama.cpp's physical batch, n_ubatch"),
	COUNT("engine.gpu_layers", VC_STORE_U32, REQUEST(engine.gpu_layers), 0, MAX_LAYERS_GIVEN,
	      "all", "llama.cpp: layers on the GPU, the rest in host memory"),
	COUNT("engine.cpu_moe_layers", VC_STORE_U32, REQUEST(engine.cpu_moe_layers), 0,
	      MAX_LAYERS_GIVEN, "0",
	      "llama.cpp: first layers whose experts stay in host memory, --n-cpu-moe"),
	FLAG("engine.enforce_eager", REQUEST(engine.enforce_eager), "no CUDA graphs"),
	COUNT("engine.speculative_tokens", VC_STORE_U32, REQUEST(engine.speculative_tokens), 0, 1000,
	      "0: no speculative decoding", "tokens that are drafted for each step"),
	COUNT("engine.draft_params", VC_STORE_U64, REQUEST(engine.draft_params), 1, INT64_MAX,
	      "the model's own next-token layers", "parameters of the draft model, in 16 bits"),
	COUNT("engine.draft_layers", VC_STORE_U32, REQUEST(engine.draft_layers), 1, 1000,
	      "the next-token layers, else 1", "layers of the draft model that keep a cache"),
	COUNT("engine.max_loras", VC_STORE_U32, REQUEST(engine.max_loras), 0, 10000, "0",
	      "slots for LoRA adapters, --max-loras"),
	COUNT("engine.max_lora_rank", VC_STORE_U32, REQUEST(engine.max_lora_rank), 1,
	      MAX_ADAPTER_RANK, "16", "rank of those slots"),

	OTHER("hardware.gpus", VC_FIELD_LIST, "the whole catalog",
	      "the GPUs to choose from, by id or alias; a bare A100 means all its sizes"),
	COUNT("hardware.max_gpus", VC_STORE_U32, AT(hardware.max_gpus), 1, MAX_RANKS, "8",
	      "how many GPUs of a kind may be used together"),
	{ { "hardware.host_memory", VC_FIELD_BYTES, 1, INT64_MAX, "unknown",
	    "system RAM, for offload and loading", NULL },
	  VC_STORE_U64, AT(hardware.host_memory_bytes) },

	{ { "budget.price_per_hour", VC_FIELD_MONEY, 0, INT64_MAX, "none",
	    "the most that all GPUs together may cost", NULL },
	  VC_STORE_U64, AT(budget.price_per_hour_micros) },
	OTHER("budget.currency", VC_FIELD_CURRENCY, "USD",
	      "of the prices that are compared; others are listed behind"),
};
/* clang-format on */

enum {
	ROW_COUNT = sizeof rows / sizeof *rows
};

_Static_assert(ROW_COUNT <= 128, "vc_spec.given has a bit for each");

const struct vc_field_row *vc_field_row_at(size_t index)
{
	return index < ROW_COUNT ? &rows[index] : NULL;
}

const struct vc_field_row *vc_field_row_by_path(const char *path, size_t *index)
{
	size_t length = strcspn(path, "[");

	for (size_t i = 0; i < ROW_COUNT; i++) {
		const char *known = rows[i].field.path;

		if (strncmp(known, path, length) == 0 && known[length] == '\0') {
			*index = i;
			return &rows[i];
		}
	}
	return NULL;
}

const struct vc_spec_field *vc_spec_field_at(size_t index)
{
	return index < ROW_COUNT ? &rows[index].field : NULL;
}

const struct vc_spec_field *vc_spec_field_by_path(const char *path)
{
	size_t index;
	const struct vc_field_row *row = vc_field_row_by_path(path, &index);

	return row ? &row->field : NULL;
}

const char *vc_spec_choice(const struct vc_spec_field *field, size_t index)
{
	return field->choices ? vc_choice_at(field->choices, index) : NULL;
}

bool vc_spec_gives(const struct vc_spec *spec, const char *field)
{
	size_t index;

	return vc_field_row_by_path(field, &index) && (spec->given[index / 64] >> (index % 64) & 1);
}

static const char *last_part(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot ? dot + 1 : path;
}

const char *vc_spec_field_nearest(const char *path)
{
	struct vc_nearest nearest = { .wanted = path };

	for (size_t i = 0; i < ROW_COUNT; i++) {
		if (strcmp(last_part(rows[i].field.path), path) == 0) {
			return rows[i].field.path;
		}
		vc_nearest_offer(&nearest, rows[i].field.path);
	}
	return nearest.best;
}
