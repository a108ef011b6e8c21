/*
 * vramcalc: how much GPU memory a model needs, and which GPUs hold it.
 *
 * The library is arithmetic only: it reads no file, keeps no state, allocates nothing. The caller
 * owns every struct; a member that is zero means "not given" and takes its documented default when
 * vc_request_resolve() is called. A byte count is an exact uint64_t and its name ends in _bytes;
 * results above 2^63-1 are refused (VC_OVERFLOW), never wrapped.
 *
 *     struct vc_model model = { .params = 7000000000 };
 *     struct vc_request request = { .model = &model, .workload.precision = VC_DTYPE_FP16 };
 *     struct vc_ledger ledger;
 *     struct vc_error error;
 *     if (vc_estimate(&request, &ledger, &error) == VC_OK)
 *             ... ledger.recommended_bytes ...
 */
#ifndef VRAMCALC_VRAMCALC_H
#define VRAMCALC_VRAMCALC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VC_VERSION_STRING "0.1.0"

/* ---- Errors ------------------------------------------------------------------------------- */

enum vc_status {
	VC_OK,
	VC_INVALID,     /* an input breaks its rules; field and message say which and how */
	VC_OVERFLOW,    /* a byte count exceeds 2^63-1 */
	VC_UNSUPPORTED, /* understood, but this method cannot estimate it */
	VC_IO,          /* a file cannot be read or written */
	VC_NO_MEMORY
};

/* Filled by every call that returns something other than VC_OK. */
struct vc_error {
	enum vc_status status;
	uint32_t line, column; /* from 1; 0 when no place in a file is to blame */
	char file[256];        /* "" when no file is to blame */
	char field[128];       /* path of the field: "workload.batch_size" */
	char message[320];     /* what is wrong (what is expected) */
};

/* ---- Element types ------------------------------------------------------------------------- */

/*
 * An element type is a block of elements held in a whole number of bytes, so that 4.5-bit formats
 * are exact integer arithmetic: fp16 is 1 element in 2 bytes, int4 2 in 1, q4_K 256 in 144.
 */
enum vc_dtype {
	VC_DTYPE_NONE,
	VC_DTYPE_FP64,
	VC_DTYPE_FP32,
	VC_DTYPE_TF32, /* held as fp32 */
	VC_DTYPE_FP16,
	VC_DTYPE_BF16,
	VC_DTYPE_FP8,
	VC_DTYPE_INT8,
	VC_DTYPE_FP6,
	VC_DTYPE_INT6,
	VC_DTYPE_INT5,
	VC_DTYPE_FP4,
	VC_DTYPE_INT4,
	VC_DTYPE_INT3,
	VC_DTYPE_INT2,
	/* ggml's types, named as llama.cpp names them */
	VC_DTYPE_Q4_0,
	VC_DTYPE_Q4_1,
	VC_DTYPE_Q5_0,
	VC_DTYPE_Q5_1,
	VC_DTYPE_Q8_0,
	VC_DTYPE_Q8_1,
	VC_DTYPE_Q2_K,
	VC_DTYPE_Q3_K,
	VC_DTYPE_Q4_K,
	VC_DTYPE_Q5_K,
	VC_DTYPE_Q6_K,
	VC_DTYPE_Q8_K,
	VC_DTYPE_IQ1_S,
	VC_DTYPE_IQ1_M,
	VC_DTYPE_IQ2_XXS,
	VC_DTYPE_IQ2_XS,
	VC_DTYPE_IQ2_S,
	VC_DTYPE_IQ3_XXS,
	VC_DTYPE_IQ3_S,
	VC_DTYPE_IQ4_NL,
	VC_DTYPE_IQ4_XS,
	VC_DTYPE_TQ1_0,
	VC_DTYPE_TQ2_0,
	VC_DTYPE_MXFP4,
	VC_DTYPE_NVFP4,
	VC_DTYPE_COUNT
};

struct vc_dtype_info {
	const char *name;
	uint32_t block_elements, block_bytes;
	bool compute; /* may be `workload.precision` */
	const char *summary;
};

const struct vc_dtype_info *vc_dtype_info(enum vc_dtype dtype);
/* VC_DTYPE_NONE when no element type has this name (case does not matter). */
enum vc_dtype vc_dtype_by_name(const char *name);
/* Whole blocks are charged: 5 elements of int4 are 3 bytes. UINT64_MAX on overflow. */
uint64_t vc_dtype_bytes(enum vc_dtype dtype, uint64_t elements);

/* ---- Weight quantization -------------------------------------------------------------------- */

enum vc_quantizer {
	VC_QUANTIZER_NONE,
	VC_QUANTIZER_PLAIN, /* every linear in the element type, no scales: "int8", "int4" */
	VC_QUANTIZER_GPTQ,
	VC_QUANTIZER_AWQ,
	VC_QUANTIZER_COMPRESSED, /* compressed-tensors, packed, symmetric */
	VC_QUANTIZER_BNB_INT8,
	VC_QUANTIZER_BNB_4BIT,
	VC_QUANTIZER_FP8,
	VC_QUANTIZER_MXFP4,
	VC_QUANTIZER_NVFP4,
	VC_QUANTIZER_HQQ,
	VC_QUANTIZER_TORCHAO,
	VC_QUANTIZER_GGUF /* a llama.cpp mixture: the type is chosen tensor by tensor */
};

/* One row per value of `workload.quantization`. */
struct vc_quantization {
	const char *name;
	enum vc_quantizer quantizer;
	enum vc_dtype dtype; /* what most weights are held in */
	uint32_t group_size; /* weights that share a scale; 0: see per_row */
	bool per_row;        /* without groups: a scale per output row, not per tensor */
	bool double_quant;   /* bitsandbytes: the scales are quantized too */
	const char *summary;
};

const struct vc_quantization *vc_quantization_by_name(const char *name);
/* The table, for listing: NULL past its end. The first row is "none". */
const struct vc_quantization *vc_quantization_at(size_t index);

/* ---- Models ---------------------------------------------------------------------------------- */

/*
 * A model is a few stacks of layers (a decoder; an encoder before it; a vision tower). A stack is
 * a pattern over a small table of layer kinds; a kind is its mixers (attention, latent attention,
 * state-space, ...) and its feed-forward parts. Whatever does not repeat (embeddings, heads,
 * projectors) is a list of tensors. Counting, quantizing, sharding, caching and training all walk
 * this one shape: see vc_model_walk().
 */
enum {
	VC_MAX_LAYERS = 1024, /* of one stack */
	VC_MAX_KINDS = 96,
	VC_MAX_STACKS = 6,
	VC_MAX_MIXERS = 3, /* side by side or one after the other in one layer */
	VC_MAX_FFNS = 2,
	VC_MAX_ODD_TENSORS = 12, /* of one layer kind */
	VC_MAX_EXTRAS = 96
};

/* What a tensor is for. LoRA targets, quantization exclusions and llama.cpp's mixtures ask. */
enum vc_module {
	VC_MODULE_OTHER,
	VC_MODULE_EMBEDDING,
	VC_MODULE_POSITION,
	VC_MODULE_LM_HEAD,
	VC_MODULE_NORM,
	VC_MODULE_Q,
	VC_MODULE_K,
	VC_MODULE_V,
	VC_MODULE_QKV, /* fused in the checkpoint; adapters see one module */
	VC_MODULE_O,
	VC_MODULE_Q_DOWN, /* latent attention: q_a, kv_a, q_b, kv_b */
	VC_MODULE_KV_DOWN,
	VC_MODULE_Q_UP,
	VC_MODULE_KV_UP,
	VC_MODULE_INDEXER, /* of sparse attention */
	VC_MODULE_GATE,
	VC_MODULE_UP,
	VC_MODULE_GATE_UP, /* fused in the checkpoint */
	VC_MODULE_DOWN,
	VC_MODULE_ROUTER,
	VC_MODULE_EXPERT_GATE,
	VC_MODULE_EXPERT_UP,
	VC_MODULE_EXPERT_DOWN,
	VC_MODULE_SHARED_GATE,
	VC_MODULE_SHARED_UP,
	VC_MODULE_SHARED_DOWN,
	VC_MODULE_SSM_IN,
	VC_MODULE_SSM_OUT,
	VC_MODULE_SSM_OTHER,
	VC_MODULE_CONV,
	VC_MODULE_PROJECTOR, /* between a tower and the language model */
	VC_MODULE_POOLER,
	VC_MODULE_COUNT
};
/* "q_proj", "experts.down_proj": the commonest name in checkpoints. */
const char *vc_module_name(enum vc_module module);

/* How a tensor divides over tensor-parallel ranks. */
enum vc_split {
	VC_SPLIT_NONE,   /* every rank holds all of it */
	VC_SPLIT_COLUMN, /* outputs and the bias divide */
	VC_SPLIT_ROW,    /* inputs divide, the bias is replicated */
	VC_SPLIT_KV,     /* as columns, but of `kv_out` never less than one of `kv_heads` a rank */
	VC_SPLIT_VOCAB,  /* rows of a table, after padding */
	VC_SPLIT_EXPERT_COLUMN, /* whole experts go to expert-parallel ranks; without those, each */
	VC_SPLIT_EXPERT_ROW     /* divides over tensor ranks, its outputs or its inputs */
};

/* `count` equal tensors of out x in weights and `bias` further elements each. A vector (a norm)
 * has in = 1. */
struct vc_tensor {
	enum vc_module module;
	enum vc_split split;
	uint64_t out, in, bias, count;
	uint64_t active; /* how many of `count` one token uses (chosen experts); 0: all */
	uint64_t kv_out; /* VC_SPLIT_KV: how many of the outputs are keys' and values' */
	uint32_t kv_heads;
	bool linear; /* a matrix multiplication inside a block: what quantizers touch */
};

enum vc_mixer_type {
	VC_MIXER_NONE,
	VC_MIXER_ATTENTION,       /* multi-head, grouped-query, multi-query */
	VC_MIXER_LATENT,          /* multi-head latent attention (DeepSeek-V2) */
	VC_MIXER_CROSS_ATTENTION, /* keys and values from another stack */
	VC_MIXER_MAMBA,
	VC_MIXER_MAMBA2,
	VC_MIXER_GATED_DELTANET, /* Qwen3-Next */
	VC_MIXER_KIMI_DELTA,     /* Kimi-Linear */
	VC_MIXER_SHORT_CONV,     /* LFM2 */
	VC_MIXER_LIGHTNING,      /* a head_dim x head_dim state per head (MiniMax-01) */
	VC_MIXER_RECURRENT       /* any other: weights in the kind's odd tensors, state_elements */
};

struct vc_mixer {
	enum vc_mixer_type type;
	uint32_t heads, kv_heads, head_dim;
	uint32_t v_head_dim;    /* 0: head_dim */
	uint64_t input_size;    /* what projections read; 0: the stack's hidden size */
	uint64_t kv_input_size; /* cross-attention: what keys and values read; 0: input_size */
	uint64_t window;        /* tokens that a sliding layer keeps; 0: all */
	bool window_is_chunk;   /* chunked attention (Llama 4) rather than sliding */
	uint32_t cache_stride;  /* one cached vector per so many tokens; 0: per token */
	bool causal;            /* false: encoders; no cache is kept */
	bool shares_kv;         /* reads an earlier layer's cache and has none of its own */
	bool no_kv_projection;  /* queries only: keys and values come from an earlier layer */
	bool k_is_v;            /* one projection serves as keys and values */
	bool weights_elsewhere; /* another layer's weights serve this one (Zamba2) */
	bool fused_qkv, q_bias, k_bias, v_bias, o_bias;
	bool gated;                   /* query projection twice as wide: output gate */
	uint64_t inner_norm_elements; /* norms on queries, keys, latents, gated outputs, ... */
	uint32_t sinks;               /* learned attention sinks: elements */
	/* latent attention: head_dim is not used, v_head_dim is */
	uint32_t q_lora_rank, kv_lora_rank, qk_rope_head_dim, qk_nope_head_dim;
	/* sparse-attention indexer */
	uint32_t index_heads, index_head_dim;
	/* state-space and linear attention; Mamba-2 has `heads` of `head_dim` in `inner_size` */
	uint32_t state_size, conv_kernel, groups, dt_rank;
	uint64_t inner_size;
	uint32_t key_heads, key_head_dim, value_heads, value_head_dim;
	bool conv_bias, proj_bias;
	enum vc_dtype state_dtype; /* of the recurrent state; NONE: the compute precision */
	uint64_t state_elements;   /* VC_MIXER_RECURRENT: per sequence and layer */
};

enum vc_ffn_type {
	VC_FFN_NONE,
	VC_FFN_DENSE, /* up, down */
	VC_FFN_GATED, /* gate, up, down */
	VC_FFN_MOE    /* router and experts, each dense or gated */
};

struct vc_ffn {
	enum vc_ffn_type type;
	bool gated; /* experts: gate, up, down */
	bool fused_gate_up, weights_elsewhere;
	bool up_bias, down_bias; /* gate and up; down */
	uint64_t input_size;     /* 0: the stack's hidden size */
	uint64_t size;           /* intermediate size, of one expert where there are experts */
	uint32_t experts, experts_per_token;
	uint64_t shared_size; /* width of the shared experts together; 0: none */
	bool shared_gate;     /* a sigmoid gate on the shared expert */
	bool router_bias;
};

/* What convolutions keep for backward, for one image: elements of the compute precision, and bytes
 * of positions. */
struct vc_saved {
	uint64_t elements, bytes;
};

struct vc_layer_kind {
	uint32_t mixer_count, ffn_count, odd_count;
	struct vc_mixer mixers[VC_MAX_MIXERS];
	struct vc_ffn ffns[VC_MAX_FFNS];
	struct vc_tensor odd[VC_MAX_ODD_TENSORS]; /* what no mixer or feed-forward part has */
	uint64_t norm_elements;                   /* of the layer's norms, biases included */
	uint32_t norms;                           /* how many of them */
	struct vc_saved saved;                    /* convolutions */
};

enum vc_stack_role {
	VC_STACK_DECODER, /* the language model, causal or not */
	VC_STACK_ENCODER,
	VC_STACK_VISION,
	VC_STACK_AUDIO,
	VC_STACK_MTP /* next-token-prediction layers, off unless speculation asks for them */
};

struct vc_stack {
	enum vc_stack_role role;
	uint64_t hidden_size;
	uint32_t layers;
	bool shared_weights;   /* one set of weights for all layers (ALBERT) */
	uint64_t fixed_tokens; /* tokens that it always sees (Whisper 1500); 0: the spec's */
	struct vc_saved saved; /* convolutions before its layers */
	uint8_t pattern[VC_MAX_LAYERS]; /* index into vc_model.kinds, layer by layer */
};

/* A tensor outside the layers, and the stack whose device holds it. */
struct vc_extra {
	struct vc_tensor tensor;
	uint32_t stack;
	bool tied;   /* shares the embedding's memory: not counted */
	bool last;   /* sits behind the last layer (head, final norm), not before the first */
	bool buffer; /* not a parameter: a table that the program computes (rotary, masks) */
};

enum vc_model_source {
	VC_SOURCE_PARAMS, /* only the number of parameters is known */
	VC_SOURCE_ARCHITECTURE,
	VC_SOURCE_CONFIG,
	VC_SOURCE_GGUF,
	VC_SOURCE_SAFETENSORS,
	VC_SOURCE_BUNDLED
};

/* What the headers of weight files say; total_bytes 0: no file was read, weights are computed. */
struct vc_file_weights {
	uint64_t total_bytes; /* of all tensors; headers and padding are left out */
	uint64_t params;      /* packed weights counted as the parameters that they hold */
	uint64_t buffers;     /* further elements that are no parameters: rotary tables, masks */
	bool quantized;       /* some are: scales and the like stand beside them */
	/* parts of the total */
	uint64_t embedding_bytes; /* the token table */
	uint64_t output_bytes;    /* a head of its own, and the last norms */
	uint64_t experts_bytes;   /* routed experts of all layers */
	uint64_t largest_bytes;   /* the largest tensor of the layers */
	uint32_t layers;
	uint64_t layer_bytes[VC_MAX_LAYERS];
};

struct vc_model {
	char name[128];
	char family[48]; /* model_type; "" when only params are given */
	uint64_t params; /* as the user states them; 0: count the shape */
	enum vc_model_source source;
	bool known_family; /* false: read as the nearest kind, with a note and a wider range */
	uint64_t assumed_positions; /* of a learned table whose size no key gave; 0: none */
	uint64_t vocab_size;
	uint64_t max_position_embeddings;
	uint64_t rotary_dim;    /* of one head; 0: no rotary table */
	uint32_t rotary_tables; /* distinct ones that an engine keeps */
	bool tied_embeddings;
	enum vc_dtype dtype;                        /* torch_dtype of the checkpoint */
	const struct vc_quantization *quantization; /* the checkpoint's own; NULL: none */
	char unread_quantization[24]; /* a method of the checkpoint's that no row knows */
	uint32_t stack_count, kind_count, extra_count;
	struct vc_stack stacks[VC_MAX_STACKS];
	struct vc_layer_kind kinds[VC_MAX_KINDS];
	struct vc_extra extras[VC_MAX_EXTRAS];
	struct vc_file_weights file;
};

struct vc_counts {
	uint64_t total;  /* all parameters, tied tables once, next-token heads left out */
	uint64_t active; /* used for one token: of the routed experts only those that are chosen */
	uint64_t mtp;    /* of next-token-prediction layers, not in total */
};

/* True when layers are known, so that caches and the detailed method can be computed. */
bool vc_model_has_shape(const struct vc_model *model);
/* Counts the shape; where there is none, the stated `params`. */
enum vc_status vc_model_count(const struct vc_model *model, struct vc_counts *counts,
                              struct vc_error *error);

enum {
	VC_MAX_LAYER_TENSORS = 72
};
/* The tensors of one layer; `tensors` holds VC_MAX_LAYER_TENSORS. Returns how many. */
size_t vc_layer_tensors(const struct vc_layer_kind *kind, uint64_t hidden_size,
                        struct vc_tensor *tensors);

/* One kind of tensor in one stack, and how many layers have it. */
struct vc_visit {
	const struct vc_tensor *tensor;
	const struct vc_stack *stack;
	const struct vc_layer_kind *kind; /* NULL: outside the layers */
	const struct vc_extra *extra;     /* NULL: in layers */
	uint64_t layers;                  /* 1 outside the layers */
	uint32_t layer;                   /* the first of them, 0 outside */
};
typedef void vc_visitor(const struct vc_visit *visit, void *context);
/* Every tensor of the model once per kind and stack, tied ones and buffers too, in a fixed order:
 * stack by stack what precedes the layers, the layers by kind, what follows them. */
void vc_model_walk(const struct vc_model *model, vc_visitor *visitor, void *context);

/* ---- Requests ---------------------------------------------------------------------------------
 */

enum vc_task {
	VC_TASK_INFERENCE,
	VC_TASK_TRAINING
};

enum vc_attention {
	VC_ATTENTION_DEFAULT,
	VC_ATTENTION_FLASH,
	VC_ATTENTION_SDPA,
	VC_ATTENTION_EAGER
};

struct vc_workload {
	enum vc_task task;
	enum vc_dtype precision;                    /* default: fp16 */
	const struct vc_quantization *quantization; /* NULL: none */
	uint64_t batch_size;                        /* default 1 */
	uint64_t sequence_length;                   /* default 4096 */
	uint64_t concurrency;                       /* default 1 */
	enum vc_dtype kv_cache_precision;           /* default: precision */
	enum vc_attention attn_implementation;      /* default: flash */
};

enum vc_training_method {
	VC_TRAINING_FULL,
	VC_TRAINING_LORA,
	VC_TRAINING_QLORA
};

enum vc_optimizer {
	VC_OPTIMIZER_DEFAULT, /* adamw */
	VC_OPTIMIZER_NONE,
	VC_OPTIMIZER_SGD,
	VC_OPTIMIZER_SGD_MOMENTUM,
	VC_OPTIMIZER_ADAM,
	VC_OPTIMIZER_ADAMW,
	VC_OPTIMIZER_ADAMW_8BIT,
	VC_OPTIMIZER_ADAMW_4BIT,
	VC_OPTIMIZER_PAGED_ADAMW,
	VC_OPTIMIZER_PAGED_ADAMW_8BIT,
	VC_OPTIMIZER_ADAFACTOR,
	VC_OPTIMIZER_LION,
	VC_OPTIMIZER_LION_8BIT,
	VC_OPTIMIZER_ADAGRAD,
	VC_OPTIMIZER_RMSPROP,
	VC_OPTIMIZER_LAMB,
	VC_OPTIMIZER_MUON,
	VC_OPTIMIZER_GALORE_ADAMW,
	VC_OPTIMIZER_COUNT
};

/* One row per optimizer: what the rule method and the detailed method keep per trained element. */
struct vc_optimizer_info {
	const char *name;
	uint32_t states; /* copies the size of a parameter, the documents' count: SGD 0, Adam 2 */
	/* Bytes of state per element times `state_elements`: 8-bit Adam is 2 + 8/256 = 520 in 256.
	 */
	uint32_t state_bytes, state_elements;
	bool follows_dtype; /* states in the parameter's own dtype: state_bytes is for 4-byte
	                       elements */
	bool paged;         /* may spill to host memory */
	const char *summary;
};
const struct vc_optimizer_info *vc_optimizer_info(enum vc_optimizer optimizer);
enum vc_optimizer vc_optimizer_by_name(const char *name); /* VC_OPTIMIZER_COUNT: no such name */

enum vc_optimizer_implementation {
	VC_OPTIMIZER_IMPL_DEFAULT, /* foreach */
	VC_OPTIMIZER_IMPL_FOREACH,
	VC_OPTIMIZER_IMPL_FUSED,
	VC_OPTIMIZER_IMPL_FOR_LOOP
};

enum vc_mixed_precision {
	VC_MIXED_DEFAULT, /* master */
	VC_MIXED_NONE,    /* everything in `precision` */
	VC_MIXED_AMP,     /* fp32 weights, 16-bit autocast */
	VC_MIXED_MASTER   /* 16-bit weights beside fp32 master weights */
};

enum vc_checkpointing {
	VC_CHECKPOINTING_NONE,
	VC_CHECKPOINTING_SELECTIVE,
	VC_CHECKPOINTING_FULL
};

enum vc_loss {
	VC_LOSS_EAGER,
	VC_LOSS_CHUNKED,
	VC_LOSS_FUSED
};

struct vc_lora {
	uint32_t rank;           /* default 16 */
	uint64_t target_modules; /* bit 1 << vc_module; default: q and v */
	bool all_linear;
	bool dora;
	uint64_t modules_to_save; /* of embedding and head, bits like those: trained whole, as
	                             copies beside the frozen originals (PEFT's modules_to_save) */
};

struct vc_training {
	enum vc_training_method method;
	enum vc_optimizer optimizer;
	enum vc_optimizer_implementation optimizer_implementation;
	bool optimizer_in_backward;
	bool distributed_optimizer;
	enum vc_mixed_precision mixed_precision;
	enum vc_dtype adapter_precision;
	enum vc_dtype gradient_precision;
	bool kbit_preparation; /* PEFT's: what is not quantized, and the residual stream, in fp32 */
	enum vc_checkpointing gradient_checkpointing;
	enum vc_loss loss_implementation;
	bool compile;
	bool packing;                   /* all sequences have one length: packed, or padded to it */
	uint64_t gradient_accumulation; /* default 1 */
	struct vc_lora lora;
};

enum vc_offload {
	VC_OFFLOAD_NONE,
	VC_OFFLOAD_CPU,
	VC_OFFLOAD_NVME
};

enum vc_data_parallel {
	VC_DATA_PARALLEL_DDP,
	VC_DATA_PARALLEL_DP /* torch.nn.DataParallel: one process, outputs gathered on card 0 */
};

struct vc_parallelism {
	bool stated; /* the spec gives a layout: it is kept, not searched */
	uint32_t data, tensor, pipeline, virtual_pipeline, context, expert; /* default 1 */
	uint32_t shard; /* data-parallel ranks that share what ZeRO divides; 0: all of them */
	enum vc_data_parallel data_parallel;
	bool sequence_parallel;
	uint32_t zero_stage; /* 0..3 */
	enum vc_offload offload_optimizer, offload_parameters;
};

enum vc_engine {
	VC_ENGINE_NONE, /* a plain engine with stated assumptions */
	VC_ENGINE_VLLM,
	VC_ENGINE_SGLANG,
	VC_ENGINE_TGI,
	VC_ENGINE_TRANSFORMERS,
	VC_ENGINE_LLAMACPP,
	VC_ENGINE_TENSORRT_LLM,
	VC_ENGINE_TORCHTUNE,
	VC_ENGINE_LITGPT,
	VC_ENGINE_FSDP,
	VC_ENGINE_DEEPSPEED,
	VC_ENGINE_MEGATRON,
	VC_ENGINE_COUNT
};
const char *vc_engine_name(enum vc_engine engine);
enum vc_engine vc_engine_by_name(const char *name); /* VC_ENGINE_COUNT: no such name */

/* Versions compare as numbers: "0.11.2" is {0, 11, 2}; all zero means the newest that is modelled.
 * llama.cpp's build numbers ("b4567") are {4567, 0, 0}. */
struct vc_version {
	uint32_t major, minor, patch;
};

/* One row per engine: what it does and what of it is modelled. */
struct vc_engine_info {
	const char *name, *summary;
	bool inference, training;
	/* The degrees that it can be told, in serving and in training; replicas all can. */
	bool tensor, pipeline, expert;
	bool trains_tensor, trains_pipeline;
	const char *versions;             /* in words */
	struct vc_version oldest, newest; /* that are modelled; all zero: not by version */
	const char *source;               /* where its behaviour is written down; NULL: nowhere */
};
const struct vc_engine_info *vc_engine_info(enum vc_engine engine);

struct vc_engine_options {
	enum vc_engine name;
	struct vc_version version;
	/* millionths; default 900000, for sglang 0: its own rule for mem_fraction_static */
	uint32_t gpu_memory_utilization_ppm;
	uint64_t max_num_batched_tokens, max_num_seqs, ubatch_size;
	bool gpu_layers_given; /* llama.cpp: gpu_layers may be 0 */
	uint32_t gpu_layers;
	uint32_t cpu_moe_layers; /* llama.cpp: first layers whose experts stay in host memory */
	bool enforce_eager;
	/* Speculative decoding: tokens drafted a step (0: none), by a draft model of so many
	 * parameters and layers with a cache, or by the model's own next-token layers. */
	uint32_t speculative_tokens, draft_layers;
	uint64_t draft_params;
	uint32_t max_loras, max_lora_rank; /* slots for adapters; a rank of 0 is 16 */
};

/* ---- GPUs
 * ---------------------------------------------------------------------------------------- */

enum vc_vendor {
	VC_VENDOR_OTHER,
	VC_VENDOR_NVIDIA,
	VC_VENDOR_AMD,
	VC_VENDOR_INTEL,
	VC_VENDOR_GOOGLE,
	VC_VENDOR_HUAWEI,
	VC_VENDOR_APPLE
};

enum vc_link {
	VC_LINK_UNKNOWN,
	VC_LINK_NONE, /* PCIe only */
	VC_LINK_NVLINK,
	VC_LINK_NVSWITCH,
	VC_LINK_XGMI,
	VC_LINK_OTHER
};

/* The cheapest on-demand hour of one GPU; per_hour_micros is in millionths of the currency. */
struct vc_price {
	bool known;
	uint64_t per_hour_micros;
	char currency[4];
	const char *offer;  /* "aws g4dn.xlarge us-east-1" */
	const char *as_of;  /* "2026-07-20"; "" where the source is undated */
	const char *origin; /* "prices.csv:2" where a file of the user's says so; NULL: none does */
};

struct vc_gpu {
	const char *id, *name;
	const char *const *aliases; /* NULL-terminated */
	const char *family;         /* what a bare "A100" names: all sizes of it */
	enum vc_vendor vendor;
	const char *architecture;
	uint32_t compute_capability; /* CUDA: major * 10 + minor; 0 elsewhere */
	uint64_t memory_bytes;       /* as marketed, GB of 10^9: what the rule method compares */
	uint64_t driver_bytes;       /* total that the driver reports; 0: unknown */
	uint64_t usable_bytes;       /* what a process can get in all (CUDA's total); 0: derive */
	bool supports_bf16, supports_fp8, supports_fp4, supports_int8;
	enum vc_link link;
	uint32_t link_gbs;  /* per GPU, both directions, 10^9 B/s */
	uint32_t link_gpus; /* how many the link joins: 2 with a bridge; 0: not known, a node */
	uint32_t pcie_generation, pcie_lanes;
	uint32_t bandwidth_gbs;
	bool mig_capable;
	bool unified_memory; /* shared with the CPU: NVML gives no total */
	bool verified;       /* false: some figure has no second or first-hand source */
	struct vc_price price;
	const char *origin; /* file and line of the user's that added or changed it; NULL: none */
};

/* ---- The ledger
 * ------------------------------------------------------------------------------------ */

enum vc_method {
	VC_METHOD_RULE,
	VC_METHOD_DETAILED
};

enum vc_component {
	VC_COMPONENT_WEIGHTS,
	VC_COMPONENT_KV_CACHE,
	VC_COMPONENT_RECURRENT_STATE,
	VC_COMPONENT_ACTIVATIONS,
	VC_COMPONENT_LOGITS,
	VC_COMPONENT_GRADIENTS,
	VC_COMPONENT_MASTER_WEIGHTS,
	VC_COMPONENT_OPTIMIZER_STATES,
	VC_COMPONENT_ADAPTERS,
	VC_COMPONENT_COMMUNICATION,
	VC_COMPONENT_CUDA_GRAPHS,
	VC_COMPONENT_FRAMEWORK,
	VC_COMPONENT_FRAGMENTATION,
	VC_COMPONENT_COUNT
};
const char *vc_component_name(enum vc_component component);

/* What the documents fix in the rule method and a user may state otherwise; zero is the default. */
struct vc_rule_options {
	bool overhead_given;
	uint64_t overhead_bytes; /* default 2 GB, counted on each GPU; the documents: 1 to 3 GB */
	uint32_t margin_ppm;     /* M_rec's factor in millionths; default 1200000 */
	uint32_t activation_ppm; /* activations as a share of the weights; default by task */
};

/*
 * Reinforcement learning keeps more models on the same GPUs beside the policy, which is the request
 * itself: a frozen reference, a frozen reward model, a critic that is trained too, and what
 * generates (TRL's PPOTrainer and GRPOTrainer, verl, OpenRLHF).
 */
enum vc_role {
	VC_ROLE_REFERENCE,
	VC_ROLE_REWARD,
	VC_ROLE_CRITIC,
	VC_ROLE_ROLLOUT,
	VC_ROLE_COUNT
};
const char *vc_role_name(enum vc_role role);

struct vc_role_request;
struct vc_memo;

/*
 * What a user's own runs showed of one component in the detailed method: the median of measured /
 * said, and for what does not grow with the job (VC_COMPONENT_FRAMEWORK) of measured - said.
 */
struct vc_residual {
	enum vc_engine engine;
	const char *gpu; /* id; "": of any GPU, for what does not depend on it */
	enum vc_component component;
	uint32_t measurements;
	uint32_t ratio_ppm;     /* in millionths */
	int64_t shift_bytes;    /* of VC_COMPONENT_FRAMEWORK */
	uint32_t deviation_ppm; /* how far a measurement is from the shifted figure, at most */
};

/* Applied by the detailed method to requests of that engine; docs/verify.md */
struct vc_calibration {
	const struct vc_residual *residuals;
	size_t count;
};

struct vc_request {
	const struct vc_model *model;
	enum vc_method method;
	struct vc_rule_options rule;
	struct vc_workload workload;
	struct vc_training training;
	struct vc_parallelism parallelism;
	struct vc_engine_options engine;
	const struct vc_gpu *gpu; /* the detailed method needs one; rule ignores it */
	const struct vc_calibration *calibration; /* NULL: none */
	/* VC_ROLE_COUNT of them; NULL: this model is alone. */
	const struct vc_role_request *roles;
	bool rollout_sleeps;  /* what generates gives its memory back while models train */
	struct vc_memo *memo; /* vc_select() and vc_layouts() set it for themselves; else NULL */
};

/* A model beside the policy. Its layout is the policy's unless it states one. */
struct vc_role_request {
	bool given;
	const struct vc_request *request; /* NULL: the policy's own model ("self") */
};

enum {
	VC_MAX_LINES = 48,
	VC_MAX_INPUTS = 10,
	VC_MAX_PHASES = 6,
	VC_MAX_NOTES = 24
};

/* A number that went into a line: value / divisor (the bytes of an int4 weight are 1 / 2). */
struct vc_input {
	const char *name;
	uint64_t value, divisor;
};

struct vc_line {
	enum vc_component component;
	uint64_t bytes;
	const char *formula; /* in the names of the inputs: "P × b" */
	const char *role;    /* whose: "policy", "reference", ...; NULL: there is one model only */
	/* Holds 95 % of what was measured of this component; both 0: too little was measured. */
	uint64_t low_bytes, high_bytes;
	uint32_t input_count;
	struct vc_input inputs[VC_MAX_INPUTS];
};

struct vc_phase {
	const char *name; /* "steady", "prefill", "optimizer-step", ... */
	uint64_t total_bytes;
};

/*
 * An assumption or a warning. The text has {0}, {1}, {2} where `args` belong: {0} as a count, {0B}
 * as bytes in the unit of the output, {0%} as millionths shown in percent, {0s} as the "s" of a
 * plural, nothing where it is 1.
 */
struct vc_note {
	const char *code; /* "kv-grouped-queries" */
	const char *text;
	uint64_t args[3];
};

struct vc_serving {
	bool known;
	uint64_t kv_bytes_available, kv_tokens;
	uint64_t max_concurrency_milli; /* thousandths of a request of the spec's length */
};

struct vc_host {
	uint64_t total_bytes;
	uint32_t line_count;
	struct vc_line lines[8];
};

/* For the fullest GPU at its peak; the lines are those of the phase that peaks. */
struct vc_ledger {
	enum vc_method method;
	uint32_t gpus;              /* in the layout */
	uint64_t total_bytes;       /* the sum of the lines: M */
	uint64_t recommended_bytes; /* rule: 1.2 x (M + 2 GB); detailed: high_bytes */
	uint64_t low_bytes, high_bytes;
	/* What a GPU must offer for the job to run: for sure, and most likely. They differ from
	 * high_bytes and total_bytes where an engine fills the GPU with cache whatever the job. */
	uint64_t need_bytes, need_expected_bytes;
	uint32_t line_count, phase_count, note_count;
	struct vc_line lines[VC_MAX_LINES];
	struct vc_phase phases[VC_MAX_PHASES];
	struct vc_note notes[VC_MAX_NOTES];
	struct vc_host host;
	struct vc_serving serving;
};

/* Fills what is not given with its documented default and checks ranges and contradictions. */
enum vc_status vc_request_resolve(struct vc_request *request, struct vc_error *error);

/*
 * The heart: one request, one ledger. Resolves a copy of the request first, so defaults may be left
 * out. Pure: equal requests give equal ledgers; a few microseconds; callable from any thread.
 */
enum vc_status vc_estimate(const struct vc_request *request, struct vc_ledger *ledger,
                           struct vc_error *error);

/* The documents' M_rec = 1.2 x (M + 2 GB) in whole bytes, rounded up; UINT64_MAX on overflow. */
uint64_t vc_recommended_bytes(uint64_t total_bytes, const struct vc_rule_options *options);

/* GPUs in a layout: data x tensor x pipeline x context (expert parallelism reuses them). */
uint32_t vc_layout_gpus(const struct vc_parallelism *layout);

/* Sum of a ledger's lines of one component. */
uint64_t vc_ledger_component(const struct vc_ledger *ledger, enum vc_component component);

/* ---- Choosing GPUs
 * ------------------------------------------------------------------------------------ */

enum vc_verdict {
	VC_VERDICT_FITS,
	VC_VERDICT_TIGHT,
	VC_VERDICT_NO
};
const char *vc_verdict_name(enum vc_verdict verdict);

/* What a GPU's memory is held to be: as marketed by the rule, what a process can get in detail. */
uint64_t vc_gpu_offers_bytes(const struct vc_gpu *gpu, enum vc_method method);

/* What the GPUs of a layout talk over, the fastest first. */
enum vc_interconnect {
	VC_INTERCONNECT_NONE, /* they do not */
	VC_INTERCONNECT_LINK, /* NVLink, xGMI and their kin, as far as they join GPUs */
	VC_INTERCONNECT_PCIE,
	VC_INTERCONNECT_NETWORK /* between nodes */
};
const char *vc_interconnect_name(enum vc_interconnect interconnect);

/* One way, in 10^6 B/s: half of what vendors quote for a link; of PCIe generation and lanes
 * after its line code; 0: not known, as it always is of a network. */
uint64_t vc_interconnect_mbs(const struct vc_gpu *gpu, enum vc_interconnect interconnect);

/*
 * What one GPU sends in one pass over the stated batch and length (inference) or one training step
 * of it, over the slowest interconnect that its groups use; 0 bytes where the shape of the model,
 * and so the traffic, is not known. docs/formulas.md#communication
 */
struct vc_traffic {
	enum vc_interconnect slowest;
	uint64_t bytes;
};

struct vc_candidate {
	const struct vc_gpu *gpu;
	enum vc_verdict verdict;
	struct vc_parallelism layout;
	uint32_t gpus;            /* in the layout that the verdict is for */
	uint32_t node_gpus;       /* of them in one node */
	uint32_t gpus_needed;     /* 0: does not fit with max_gpus or fewer */
	uint64_t total_bytes;     /* on one GPU of the layout */
	uint64_t need_bytes;      /* what one GPU must offer: M_rec, or the detailed high end */
	uint64_t have_bytes;      /* what it offers: marketed bytes, or what a process can get */
	int64_t headroom_bytes;   /* have - need; negative: missing */
	bool precision_supported; /* false: the GPU does not compute in the workload's precision */
	bool tensor_over_pcie;    /* tensor ranks would talk over PCIe or between nodes: slow */
	uint64_t host_bytes;      /* of host memory in one node, where something is offloaded */
	bool host_short;          /* more than options.host_memory_bytes: the verdict is no */
	bool over_budget;         /* all its GPUs cost more than options.max_price_micros */
	struct vc_traffic traffic;
};

enum vc_sort {
	VC_SORT_PRICE,
	VC_SORT_MEMORY
};

struct vc_select_options {
	uint32_t max_gpus; /* default 8 */
	enum vc_sort sort;
	char currency[4]; /* prices in other currencies rank behind; default USD */
	/* GPUs of one node, within which tensor ranks stay; default: 8, or as many as the GPU's
	 * link joins where that is more */
	uint32_t node_gpus;
	uint64_t host_memory_bytes; /* of one node; 0: not known, so not checked */
	uint64_t max_price_micros;  /* of all GPUs, in `currency`; 0: no limit */
};

/*
 * Judges each GPU by the request's method and ranks them: those that fit alone by price, then by
 * waste, then by name; then those that fit as several; then those beyond the budget; then the
 * rest. A layout that the request
 * states is kept; else the layouts are searched that the architecture and the engine allow, and of
 * those that fit the first is taken by
 *   - how usual it is: for inference, as many GPUs as a power of two, or as the heads and the
 *     key/value heads divide over in one tensor-parallel group; for training, ZeRO-3 alone on a
 *     power of two within a node, then any layout of a power of two; more GPUs than the largest
 *     power of two up to max_gpus only where that does not do;
 *   - the number of GPUs, and so the price;
 *   - the bytes that cross between nodes;
 *   - the plainest: the widest tensor group (training: the narrowest), fewest stages.
 * `candidates` holds `count` entries.
 */
enum vc_status vc_select(const struct vc_request *request, const struct vc_gpu *const *gpus,
                         size_t count, const struct vc_select_options *options,
                         struct vc_candidate *candidates, struct vc_error *error);

/* Why a layout is not the one that vc_select() takes. */
enum vc_layout_reason {
	VC_LAYOUT_CHOSEN,
	VC_LAYOUT_ALTERNATIVE, /* fits with as many GPUs; the chosen one comes before it */
	VC_LAYOUT_MORE_GPUS,   /* fits, with more GPUs */
	VC_LAYOUT_UNUSUAL,     /* fits with fewer GPUs, but comes behind by how usual it is */
	VC_LAYOUT_MEMORY,      /* a GPU has too little */
	VC_LAYOUT_HOST_MEMORY, /* a node has too little for what is offloaded */
	VC_LAYOUT_NODES,       /* tensor ranks would talk between nodes */
	VC_LAYOUT_ENGINE,      /* the engine has no such parallelism */
	VC_LAYOUT_INVALID,     /* the architecture does not divide so */
	VC_LAYOUT_REASON_COUNT
};
const char *vc_layout_reason_name(enum vc_layout_reason reason);

struct vc_layout_trial {
	struct vc_candidate candidate; /* of an untried layout only gpu, layout and gpus are set */
	enum vc_layout_reason reason;
	/* VC_LAYOUT_ENGINE, VC_LAYOUT_INVALID: in words; else "". Of an engine it stays. */
	const char *why;
};
typedef void vc_layout_visitor(const struct vc_layout_trial *trial, void *context);

/* Every layout of one GPU that vc_select() considers, by number of GPUs, with what became of it. */
enum vc_status vc_layouts(const struct vc_request *request, const struct vc_gpu *gpu,
                          const struct vc_select_options *options, vc_layout_visitor *visitor,
                          void *context, struct vc_error *error);

/* ---- The largest job that fits ------------------------------------------------------------- */

enum vc_solve_field {
	VC_SOLVE_BATCH_SIZE,
	VC_SOLVE_SEQUENCE_LENGTH,
	VC_SOLVE_CONCURRENCY,
	VC_SOLVE_LORA_RANK,
	VC_SOLVE_LORAS, /* adapters that are served */
	VC_SOLVE_GPUS,  /* the smallest number, as vc_select() finds it */
	VC_SOLVE_FIELD_COUNT
};
/* The spec's name of the field: "workload.batch_size"; VC_SOLVE_GPUS is "hardware.max_gpus". */
const char *vc_solve_field_name(enum vc_solve_field field);

struct vc_solution {
	uint64_t value;          /* 0: not even the smallest fits */
	uint64_t bytes_at_value; /* what one GPU must offer at this value; at 1 when value is 0 */
	uint64_t bytes_at_next;  /* at the next value up (GPUs: down), which does not fit; else 0 */
	uint64_t limit_bytes;    /* what the GPU offers */
	bool any; /* the field changes nothing: `value` is only where the search ended */
};

/*
 * Searches the ledger, which grows with every field but the number of GPUs, for the last value
 * whose need the GPU offers. A value that nothing bounds below the end of the field's range (2^40
 * for sequences and tokens) is given as that end.
 */
enum vc_status vc_solve(const struct vc_request *request, const struct vc_gpu *gpu,
                        enum vc_solve_field field, struct vc_solution *solution,
                        struct vc_error *error);

/* ---- What to change when it does not fit --------------------------------------------------- */

/* In order of difficulty: what costs least to try comes first. */
enum vc_measure {
	VC_MEASURE_BATCH_SIZE,
	VC_MEASURE_SEQUENCE_LENGTH,
	VC_MEASURE_KV_CACHE_PRECISION,
	VC_MEASURE_GRADIENT_CHECKPOINTING,
	VC_MEASURE_OPTIMIZER_8BIT,
	VC_MEASURE_QUANTIZATION_8BIT,
	VC_MEASURE_QUANTIZATION_4BIT,
	VC_MEASURE_LORA,
	VC_MEASURE_QLORA,
	VC_MEASURE_ZERO_1,
	VC_MEASURE_ZERO_2,
	VC_MEASURE_ZERO_3,
	VC_MEASURE_OFFLOAD_OPTIMIZER,
	VC_MEASURE_OFFLOAD_PARAMETERS,
	VC_MEASURE_TENSOR_PARALLEL,
	VC_MEASURE_PIPELINE_PARALLEL,
	VC_MEASURE_GPU_LAYERS, /* llama.cpp: the other layers in host memory */
	VC_MEASURE_MORE_GPUS,
	VC_MEASURE_BIGGER_GPU,
	VC_MEASURE_COUNT
};

struct vc_measure_info {
	const char *name;    /* "gradient-checkpointing" */
	uint32_t difficulty; /* of a plan, the sum; 1 to 10 */
	const char *cost;    /* what one pays for it */
	const char *call;    /* the option or call of the usual framework; NULL: none */
};
const struct vc_measure_info *vc_measure_info(enum vc_measure measure);
/* The option or call of this engine, else of the usual framework; NULL: none. */
const char *vc_measure_call(enum vc_measure measure, enum vc_engine engine);

/* A field to set and its value, as a spec spells them. */
struct vc_setting {
	const char *field;
	char value[48];
};

enum {
	VC_MAX_STEPS = 4,
	VC_MAX_SETTINGS = 3
};

struct vc_step {
	enum vc_measure measure;
	uint32_t setting_count;
	struct vc_setting settings[VC_MAX_SETTINGS];
	uint64_t saves_bytes; /* on one GPU, after the steps before it */
};

struct vc_plan {
	uint32_t step_count;
	struct vc_step steps[VC_MAX_STEPS];
	uint32_t difficulty;
	struct vc_request request; /* with the steps taken */
	const struct vc_gpu *gpu;
	uint64_t total_bytes, need_bytes;
	enum vc_verdict verdict;
};

struct vc_advice {
	bool fits_as_is;
	uint64_t total_bytes, need_bytes, have_bytes; /* as the request stands */
	/* Plans that fit, the easiest first, none of which contains another. With none, `closest`
	 * is the one that misses by least. */
	size_t plan_count;
	struct vc_plan closest;
};

struct vc_advise_options {
	uint32_t gpus; /* at hand; default: those of the request's layout */
	/* Others that could be rented instead, for bigger-gpu; may be NULL. */
	const struct vc_gpu *const *others;
	size_t other_count;
};

/* Searches the measures that apply, up to VC_MAX_STEPS together. `plans` holds `max_plans`. */
enum vc_status vc_advise(const struct vc_request *request, const struct vc_gpu *gpu,
                         const struct vc_advise_options *options, struct vc_plan *plans,
                         size_t max_plans, struct vc_advice *advice, struct vc_error *error);

/* ---- Slices of a GPU (MIG) --------------------------------------------------------------------
 */

enum {
	VC_MAX_MIG_STARTS = 12,
	VC_MAX_MIG_INSTANCES = 12
};

/*
 * A GPU instance profile. It takes `size` neighbouring units of the memory axis from one of its
 * starts, and `compute` compute slices. NVIDIA MIG User Guide, "Supported MIG Profiles".
 */
struct vc_mig_profile {
	const char *name; /* "3g.40gb" */
	uint32_t compute, size, max;
	uint32_t media; /* 1: holds the one media extension or the whole GPU; 9: every media engine
	                 */
	uint64_t memory_bytes; /* that an instance really gets; 0: unknown */
	uint32_t start_count;  /* 0: not known where it can lie, so it is never placed */
	uint8_t starts[VC_MAX_MIG_STARTS];
};

struct vc_mig_table {
	const char *id;
	uint32_t memory_slots, compute_slices;
	size_t profile_count;
	const struct vc_mig_profile *profiles;
};

/*
 * Whether instances of these profiles can coexist on one GPU, and where each starts (the larger
 * ones as far right as they go, the rest from the left). Exact: every placement is tried.
 */
bool vc_mig_place(const struct vc_mig_table *table, const struct vc_mig_profile *const *wanted,
                  size_t count, uint8_t starts[VC_MAX_MIG_INSTANCES]);

/* A profile of a GPU that holds a job alone, and how many instances of it the GPU holds at once. */
struct vc_slice {
	const struct vc_gpu *gpu;
	const struct vc_mig_profile *profile;
	uint32_t instances;
	uint8_t starts[VC_MAX_MIG_INSTANCES]; /* where they lie; the first is free to be taken */
	uint64_t total_bytes, need_bytes;     /* on this profile */
	uint64_t headroom_bytes;
	/* Of the GPU's memory slots, in millionths: its part of the price where all is rented out.
	 */
	uint32_t share_ppm;
};

/*
 * The profiles of the fewest memory slots that hold the job, by the request's method against the
 * memory that an instance really gets; those with more compute first. Media variants are left out.
 * None where the request states a layout of several GPUs: instances do not reach each other.
 * `slices` holds as many as the table has profiles.
 */
enum vc_status vc_slices(const struct vc_request *request, const struct vc_gpu *gpu,
                         const struct vc_mig_table *table, struct vc_slice *slices, size_t *count,
                         struct vc_error *error);

/* ---- Several jobs on the fewest GPUs --------------------------------------------------------- */

enum {
	VC_PACK_EXACT_JOBS = 12 /* up to here the search is exhaustive */
};
#define VC_PACK_NONE UINT32_MAX /* no GPU: the job does not fit any */

/* Where a job went. */
struct vc_placement {
	uint32_t gpu;                         /* from 0; VC_PACK_NONE */
	const struct vc_mig_profile *profile; /* NULL: the GPU is shared, or the job's alone */
	uint8_t start;                        /* on the memory axis */
};

/* Working memory of the search, one for each job; its content is of no use to the caller. */
struct vc_pack_bin {
	uint64_t used_bytes;
	uint32_t count;
	const struct vc_mig_profile *profiles[VC_MAX_MIG_INSTANCES];
};

struct vc_packing {
	uint32_t gpus;
	uint32_t unplaced;
	bool optimal; /* proved: no packing has fewer GPUs */
};

/*
 * Packs jobs that each need `need_bytes[i]` onto equal GPUs of `capacity_bytes`, as processes that
 * share a GPU, or, with a table, as MIG instances. Fewest GPUs; with slices, of the packings found
 * the one that leaves no job with less compute than it must have. `placements` and `bins` hold
 * `jobs` entries.
 */
enum vc_status vc_pack(const uint64_t *need_bytes, size_t jobs, uint64_t capacity_bytes,
                       const struct vc_mig_table *mig, struct vc_placement *placements,
                       struct vc_pack_bin *bins, struct vc_packing *packing,
                       struct vc_error *error);

/* ---- When memory ran out ------------------------------------------------------------------------
 */

enum {
	VC_SERIES_SAMPLES = 256,
	VC_TREND_LEAST_SAMPLES = 10
};

/* Memory in use over time, kept in constant space: when full, every second sample is dropped. */
struct vc_series {
	uint32_t count;
	uint64_t seen, stride; /* samples offered; every stride-th is kept */
	uint64_t samples[VC_SERIES_SAMPLES];
};

void vc_series_add(struct vc_series *series, uint64_t bytes);

enum vc_trend_kind {
	VC_TREND_UNKNOWN, /* fewer than VC_TREND_LEAST_SAMPLES */
	VC_TREND_FLAT,
	VC_TREND_PLATEAU, /* rose at first, then stayed */
	VC_TREND_RISING
};

/*
 * Theil-Sen slope, the median of all pairs' slopes, and the Mann-Kendall test of trend at the 1 %
 * level, on the whole series and on its second half: a leak still rises there, a warm-up does not.
 */
struct vc_trend {
	enum vc_trend_kind kind;
	int64_t slope_bytes_per_sample; /* of the second half when rising, else of the whole */
};
struct vc_trend vc_series_trend(const struct vc_series *series);

enum vc_cause {
	VC_CAUSE_NONE,
	VC_CAUSE_CAPACITY,
	VC_CAUSE_FRAGMENTATION,
	VC_CAUSE_LEAK,
	VC_CAUSE_OTHER_PROCESS,
	VC_CAUSE_UNKNOWN,
	VC_CAUSE_COUNT
};
const char *vc_cause_name(enum vc_cause cause);

enum vc_confidence {
	VC_CONFIDENCE_LOW,
	VC_CONFIDENCE_MEDIUM,
	VC_CONFIDENCE_HIGH
};
const char *vc_confidence_name(enum vc_confidence confidence);

/* Which members of vc_evidence are known: a free memory of 0 is a reading too. */
enum vc_evidence_known {
	VC_KNOWS_TOTAL = 1,
	VC_KNOWS_REQUESTED = 2,
	VC_KNOWS_ALLOCATED = 4,
	VC_KNOWS_RESERVED = 8,
	VC_KNOWS_FREE = 16,
	VC_KNOWS_PROCESS = 32,
	VC_KNOWS_OTHERS = 64,
	VC_KNOWS_LIMIT = 128,
	VC_KNOWS_START_FREE = 256,
	VC_KNOWS_USED = 512,
	VC_KNOWS_PEAK = 1024
};

/* Whose words a log holds. Later ones are nearer to the user and win over earlier ones. */
enum vc_software {
	VC_SOFTWARE_UNKNOWN,
	VC_SOFTWARE_HOST, /* the operating system, or what speaks of the host's memory */
	VC_SOFTWARE_NVIDIA_SMI,
	VC_SOFTWARE_CUDA, /* CUDA, HIP and their libraries */
	VC_SOFTWARE_PYTORCH,
	VC_SOFTWARE_TENSORFLOW,
	VC_SOFTWARE_JAX,
	VC_SOFTWARE_ONNX_RUNTIME,
	VC_SOFTWARE_LLAMACPP,
	VC_SOFTWARE_OLLAMA,
	VC_SOFTWARE_TGI,
	VC_SOFTWARE_TENSORRT_LLM,
	VC_SOFTWARE_SGLANG,
	VC_SOFTWARE_VLLM,
	VC_SOFTWARE_COUNT
};
const char *vc_software_name(enum vc_software software); /* "PyTorch"; "" when unknown */

/* Which memory ran out. */
enum vc_memory {
	VC_MEMORY_GPU,
	VC_MEMORY_HOST,
	VC_MEMORY_SHARED,  /* the host's /dev/shm, which data workers use */
	VC_MEMORY_ON_CHIP, /* a kernel's shared memory or a TPU's scratchpad: no VRAM at all */
	VC_MEMORY_POOL,    /* an engine's own pool of cache blocks, in use by requests */
	VC_MEMORY_COUNT
};
const char *vc_memory_name(enum vc_memory memory);

/* What the program was doing when memory ran out; later ones win over earlier ones. */
enum vc_stage {
	VC_STAGE_UNKNOWN,
	VC_STAGE_FORWARD,
	VC_STAGE_GENERATING,
	VC_STAGE_TRAINING,
	VC_STAGE_LOADING, /* weights are put on the GPU */
	VC_STAGE_CACHE,   /* the cache of keys and values is reserved */
	VC_STAGE_COMPUTE, /* llama.cpp's buffer for the graph */
	VC_STAGE_GRAPHS,  /* CUDA graphs are captured */
	VC_STAGE_BACKWARD,
	VC_STAGE_OPTIMIZER
};

/* Settings that the log shows to be on: they are not advised again. */
enum vc_applied {
	VC_APPLIED_EXPANDABLE_SEGMENTS = 1,
	VC_APPLIED_MAX_SPLIT = 2,
	VC_APPLIED_GRADIENT_CHECKPOINTING = 4,
	VC_APPLIED_EAGER = 8,         /* no CUDA graphs */
	VC_APPLIED_QUANTIZATION = 16, /* of the weights */
	VC_APPLIED_KV_QUANTIZATION = 32,
	VC_APPLIED_8BIT_OPTIMIZER = 64,
	VC_APPLIED_ADAPTER = 128, /* LoRA or its kin */
	VC_APPLIED_BATCH_OF_ONE = 256
};

/* What a message or a log says, gathered by its reader. */
struct vc_evidence {
	bool out_of_memory;    /* an allocation failed */
	bool refused_at_start; /* an engine found no room for its cache and gave up */
	bool occupied;         /* an engine found less memory free than it was told to take */
	bool masked;           /* a library failed as it does when memory is short, among others */
	bool old_allocator;    /* the message is PyTorch's before 2.1 */
	bool no_expandable_segments; /* the platform does not have them */
	bool buffer_limited;         /* the driver allows no single buffer of this size */
	enum vc_memory memory;
	enum vc_software software;
	enum vc_stage stage;
	const char *allocator_variable; /* of the environment, for the allocator; NULL: CUDA's */
	uint32_t applied;               /* enum vc_applied */
	uint32_t known;
	uint64_t total_bytes, requested_bytes;
	uint64_t allocated_bytes; /* live tensors */
	uint64_t peak_bytes;      /* of live tensors, since the start */
	uint64_t reserved_bytes;  /* held by the allocator, tensors included */
	uint64_t free_bytes;      /* on the GPU */
	uint64_t process_bytes;   /* of the failing process, as the driver counts */
	uint64_t other_processes_bytes;
	uint64_t limit_bytes;      /* that the allocator was given, below the GPU's memory */
	uint64_t start_free_bytes; /* on the GPU, before the program took anything */
	uint64_t used_bytes;       /* on the GPU, at the last reading */
	uint64_t share_permille;   /* of the GPU that the engine was told to take; 0: not said */
	uint64_t wanted_tokens;    /* the model length that was asked for; 0: not said */
	uint64_t fitting_tokens;   /* the length that fits, by the engine itself; 0: not said */
	uint64_t theory_bytes;     /* what an estimate says; 0: no spec beside the log */
	/* Of live tensors, of their peak, of what the allocator holds, of the GPU's memory. */
	struct vc_trend allocated, peak, reserved, used;
	uint32_t used_samples;
};

enum {
	VC_MAX_ADVICE = 6,
	VC_ADVICE_SIZE = 256
};

struct vc_diagnosis {
	enum vc_cause cause;
	enum vc_confidence confidence;
	const char *reason; /* a sentence: which figures say so */
	uint32_t advice_count;
	char advice[VC_MAX_ADVICE][VC_ADVICE_SIZE]; /* sentences */
};

struct vc_diagnosis vc_diagnose(const struct vc_evidence *evidence);

#ifdef __cplusplus
}
#endif

#endif
