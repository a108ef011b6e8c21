#include "spec_choices.h"

#include <strings.h>

/* Either a list of names, whose values count from `first`, or functions over one of the core's
 * tables. */
struct vc_choices {
	const char *const *names;
	long first;
	const char *(*at)(size_t index);
	long (*value)(const char *name);
};

const char *vc_choice_at(const struct vc_choices *choices, size_t index)
{
	if (choices->at) {
		return choices->at(index);
	}
	for (size_t i = 0; i < index; i++) {
		if (!choices->names[i]) {
			return NULL;
		}
	}
	return choices->names[index];
}

long vc_choice_value(const struct vc_choices *choices, const char *name)
{
	if (choices->value) {
		return choices->value(name);
	}
	for (long i = 0; choices->names[i]; i++) {
		if (strcasecmp(choices->names[i], name) == 0) {
			return choices->first + i;
		}
	}
	return VC_NO_CHOICE;
}

#define LIST_OF(...) ((const char *const[]){ __VA_ARGS__, NULL })

const struct vc_choices vc_choices_task = { LIST_OF("inference", "training"), VC_TASK_INFERENCE,
	                                    NULL, NULL };
const struct vc_choices vc_choices_attention = { LIST_OF("flash", "sdpa", "eager"),
	                                         VC_ATTENTION_FLASH, NULL, NULL };
const struct vc_choices vc_choices_method = { LIST_OF("full", "lora", "qlora"), VC_TRAINING_FULL,
	                                      NULL, NULL };
const struct vc_choices vc_choices_optimizer_implementation = {
	LIST_OF("foreach", "fused", "for-loop"), VC_OPTIMIZER_IMPL_FOREACH, NULL, NULL
};
const struct vc_choices vc_choices_mixed_precision = { LIST_OF("none", "amp", "master"),
	                                               VC_MIXED_NONE, NULL, NULL };
const struct vc_choices vc_choices_checkpointing = { LIST_OF("none", "selective", "full"),
	                                             VC_CHECKPOINTING_NONE, NULL, NULL };
const struct vc_choices vc_choices_loss = { LIST_OF("eager", "chunked", "fused"), VC_LOSS_EAGER,
	                                    NULL, NULL };
const struct vc_choices vc_choices_data_parallel = { LIST_OF("ddp", "dp"), VC_DATA_PARALLEL_DDP,
	                                             NULL, NULL };

const struct vc_choices vc_choices_offload = { LIST_OF("none", "cpu", "nvme"), VC_OFFLOAD_NONE,
	                                       NULL, NULL };

static bool is_compute(enum vc_dtype dtype)
{
	return vc_dtype_info(dtype)->compute;
}

/* llama.cpp's --cache-type-k takes these beside the plain types. */
static bool is_kv_cache(enum vc_dtype dtype)
{
	return is_compute(dtype) || dtype == VC_DTYPE_Q8_0 || dtype == VC_DTYPE_Q5_1 ||
	       dtype == VC_DTYPE_Q5_0 || dtype == VC_DTYPE_Q4_1 || dtype == VC_DTYPE_Q4_0 ||
	       dtype == VC_DTYPE_IQ4_NL;
}

static const char *dtype_at(size_t index, bool (*takes)(enum vc_dtype))
{
	for (int i = VC_DTYPE_NONE + 1; i < VC_DTYPE_COUNT; i++) {
		if (takes((enum vc_dtype)i) && index-- == 0) {
			return vc_dtype_info((enum vc_dtype)i)->name;
		}
	}
	return NULL;
}

static const char *precision_at(size_t index)
{
	return dtype_at(index, is_compute);
}

static long precision_value(const char *name)
{
	enum vc_dtype dtype = vc_dtype_by_name(name);

	return is_compute(dtype) ? (long)dtype : VC_NO_CHOICE;
}

static const char *kv_cache_at(size_t index)
{
	return dtype_at(index, is_kv_cache);
}

static long kv_cache_value(const char *name)
{
	enum vc_dtype dtype = vc_dtype_by_name(name);

	return is_kv_cache(dtype) ? (long)dtype : VC_NO_CHOICE;
}

static const char *quantization_at(size_t index)
{
	const struct vc_quantization *row = vc_quantization_at(index);

	return row ? row->name : NULL;
}

static long quantization_value(const char *name)
{
	const struct vc_quantization *wanted = vc_quantization_by_name(name);
	const struct vc_quantization *row;

	for (size_t i = 0; wanted && (row = vc_quantization_at(i)) != NULL; i++) {
		if (row == wanted) {
			return (long)i;
		}
	}
	return VC_NO_CHOICE;
}

/* The table begins with the default, which has the name of another row. */
static const char *optimizer_at(size_t index)
{
	index += VC_OPTIMIZER_DEFAULT + 1;
	return index < VC_OPTIMIZER_COUNT ? vc_optimizer_info((enum vc_optimizer)index)->name
	                                  : NULL;
}

static long optimizer_value(const char *name)
{
	enum vc_optimizer optimizer = vc_optimizer_by_name(name);

	return optimizer < VC_OPTIMIZER_COUNT ? (long)optimizer : VC_NO_CHOICE;
}

static const char *engine_at(size_t index)
{
	index += VC_ENGINE_NONE + 1;
	return index < VC_ENGINE_COUNT ? vc_engine_name((enum vc_engine)index) : NULL;
}

static long engine_value(const char *name)
{
	enum vc_engine engine = vc_engine_by_name(name);

	return engine < VC_ENGINE_COUNT ? (long)engine : VC_NO_CHOICE;
}

const struct vc_choices vc_choices_precision = { NULL, 0, precision_at, precision_value };
const struct vc_choices vc_choices_kv_cache = { NULL, 0, kv_cache_at, kv_cache_value };
const struct vc_choices vc_choices_quantization = { NULL, 0, quantization_at, quantization_value };
const struct vc_choices vc_choices_optimizer = { NULL, 0, optimizer_at, optimizer_value };
const struct vc_choices vc_choices_engine = { NULL, 0, engine_at, engine_value };

#define BIT(module) (UINT64_C(1) << VC_MODULE_##module)
#define ALL_EXPERTS (BIT(EXPERT_GATE) | BIT(EXPERT_UP) | BIT(EXPERT_DOWN))

/* The names that PEFT users write, as transformers' modules have them. */
static const struct {
	const char *name;
	uint64_t modules;
} lora_targets[] = {
	{ "all-linear", UINT64_MAX },
	{ "q_proj", BIT(Q) },
	{ "k_proj", BIT(K) },
	{ "v_proj", BIT(V) },
	{ "o_proj", BIT(O) },
	{ "gate_proj", BIT(GATE) | BIT(EXPERT_GATE) | BIT(SHARED_GATE) },
	{ "up_proj", BIT(UP) | BIT(EXPERT_UP) | BIT(SHARED_UP) },
	{ "down_proj", BIT(DOWN) | BIT(EXPERT_DOWN) | BIT(SHARED_DOWN) },
	/* attention in one matrix: Phi-3, GPT-NeoX and Falcon and BLOOM, MPT and DBRX, Baichuan,
	   GPT-2 */
	{ "qkv_proj", BIT(QKV) },
	{ "query_key_value", BIT(QKV) },
	{ "Wqkv", BIT(QKV) },
	{ "W_pack", BIT(QKV) },
	{ "c_attn", BIT(QKV) },
	{ "qkv", BIT(QKV) },
	/* its output: MPT and StarCoder, Phi, OPT, BERT and Falcon and others' dense layers */
	{ "out_proj", BIT(O) | BIT(SSM_OUT) },
	{ "dense", BIT(O) },
	{ "Wo", BIT(O) },
	{ "c_proj", BIT(O) | BIT(DOWN) },
	/* feed-forward: Phi-3, GLM, OPT and Phi and ViT, GPT-2, GPT-NeoX and Falcon */
	{ "gate_up_proj", BIT(GATE_UP) },
	{ "fc1", BIT(UP) },
	{ "fc2", BIT(DOWN) },
	{ "fc_in", BIT(UP) },
	{ "fc_out", BIT(DOWN) },
	{ "c_fc", BIT(UP) },
	{ "dense_h_to_4h", BIT(UP) | BIT(GATE_UP) },
	{ "dense_4h_to_h", BIT(DOWN) },
	/* Mixtral's experts, T5, BERT and ViT */
	{ "w1", BIT(GATE) | BIT(EXPERT_GATE) },
	{ "w2", BIT(DOWN) | BIT(EXPERT_DOWN) },
	{ "w3", BIT(UP) | BIT(EXPERT_UP) },
	{ "wi", BIT(UP) },
	{ "wi_0", BIT(GATE) },
	{ "wi_1", BIT(UP) },
	{ "wo", BIT(DOWN) },
	{ "q", BIT(Q) },
	{ "k", BIT(K) },
	{ "v", BIT(V) },
	{ "o", BIT(O) },
	{ "query", BIT(Q) },
	{ "key", BIT(K) },
	{ "value", BIT(V) },
	/* latent attention: DeepSeek-V2 and after */
	{ "q_a_proj", BIT(Q_DOWN) },
	{ "q_b_proj", BIT(Q_UP) },
	{ "kv_a_proj_with_mqa", BIT(KV_DOWN) },
	{ "kv_b_proj", BIT(KV_UP) },
	/* state-space layers */
	{ "in_proj", BIT(SSM_IN) },
	{ "x_proj", BIT(SSM_OTHER) },
	{ "dt_proj", BIT(SSM_OTHER) },
	{ "router", BIT(ROUTER) },
	{ "experts", ALL_EXPERTS },
	{ "embed_tokens", BIT(EMBEDDING) },
	{ "lm_head", BIT(LM_HEAD) },
};

static const char *lora_target_at(size_t index)
{
	return index < sizeof lora_targets / sizeof *lora_targets ? lora_targets[index].name : NULL;
}

/* Case matters here: Wo is attention's and wo the feed-forward's. */
static long lora_target_value(const char *name)
{
	for (size_t i = 0; i < sizeof lora_targets / sizeof *lora_targets; i++) {
		const char *a = lora_targets[i].name, *b = name;

		while (*a && *a == *b) {
			a++;
			b++;
		}
		if (*a == *b) {
			return (long)i;
		}
	}
	return VC_NO_CHOICE;
}

uint64_t vc_lora_target_modules(long choice)
{
	return lora_targets[choice].modules;
}

uint64_t vc_saved_module(long choice)
{
	return choice == 0 ? BIT(EMBEDDING) : BIT(LM_HEAD);
}

const struct vc_choices vc_choices_saved_module = { LIST_OF("embed_tokens", "lm_head"), 0, NULL,
	                                            NULL };
const struct vc_choices vc_choices_lora_target = { NULL, 0, lora_target_at, lora_target_value };
