/*
 * How a config.json becomes a model: one row per model_type. A row is either traits of the common
 * decoder (decoder.c) or a reader of its own; readers use the functions below, which fail softly:
 * the first error sticks, later calls return harmless values, and nobody needs to check in between.
 */
#ifndef VC_FAMILY_H
#define VC_FAMILY_H

#include "config.h"

struct config {
	const cJSON *root; /* where keys are looked up */
	char prefix[64];   /* path of root for messages: "", "text_config." */
	struct vc_model *model;
	struct vc_error *error; /* its status is VC_OK until something fails */
	const cJSON *outer;     /* the config that holds this one; NULL: this is the whole */
	const char *defaults;   /* "key=number ..." for what a nested config leaves out, or NULL */
};

struct family;
typedef void family_reader(struct config *config, const struct family *family);

enum norm_style {
	NORM_RMS,         /* h weights */
	NORM_LAYER,       /* h weights, h biases */
	NORM_LAYER_PLAIN, /* h weights */
	NORM_NONE         /* no weights (OLMo) */
};

struct decoder;

enum qk_norm {
	QK_NORM_NONE,
	QK_NORM_HEAD,      /* d for queries, d for keys, whatever the heads */
	QK_NORM_HEAD_BIAS, /* and biases */
	QK_NORM_HEADS      /* each head its own: (heads + kv_heads) x d */
};

/* Traits of the common decoder, read_decoder(). Keys override what a row states. */
struct decoder_traits {
	enum norm_style norm;
	uint8_t norms;  /* per layer; 0: 2 */
	bool plain_ffn; /* up, down rather than gate, up, down */
	bool tied;      /* when tie_word_embeddings is absent */
	bool qkv_bias, o_bias, ffn_bias, head_bias;
	const char *qkv_bias_key, *o_bias_key, *ffn_bias_key, *head_bias_key;
	bool fused_qkv, fused_gate_up;
	enum qk_norm qk_norm;
	const char *qk_norm_key; /* flag that turns it on; NULL: always on */
	bool learned_positions, no_rotary;
	uint64_t positions;      /* learned: the configuration class's default, where it has one */
	uint8_t position_offset; /* rows before the first (OPT 2) */
	bool embedding_norm;
	bool no_attention, no_ffn; /* of the base layer */
	bool shared_gate, router_bias, expert_bias;
	uint8_t period;                                         /* of global layers; 0: none */
	bool (*slides)(const struct decoder *, uint32_t layer); /* NULL: no windows */
	bool (*has_experts)(struct config *, const struct decoder *, uint32_t layer);
	bool (*final_norm)(const struct config *);        /* whether there is one; NULL: yes */
	void (*facts)(struct config *, struct decoder *); /* after the keys are read */
	void (*base)(struct config *, struct decoder *);  /* after the base layer is set */
	void (*layer)(struct config *, const struct decoder *, uint32_t layer,
	              struct vc_layer_kind *kind);
	void (*extras)(struct config *, const struct decoder *);
};

struct family {
	const char *model_type;
	family_reader *read; /* NULL: read_decoder() */
	struct decoder_traits decoder;
	const void *traits; /* what a reader of its own wants to know */
};

/* Tables end with a row whose model_type is NULL. */
extern const struct family unknown_multimodal, tower_families[], multimodal_families[],
        rotary_encoder_families[], joint_families[], audio_families[], hierarchical_families[],
        newer_families[], gemma_tower_families[];
extern const struct family dense_families[], expert_families[], latent_families[], mamba_families[],
        gemma_families[], irregular_families[], linear_families[], encoder_families[],
        seq2seq_families[], vision_families[], convnet_families[];

/* The model_type whose row stands for this one too; itself where there is none. */
const char *family_alias(const char *model_type);
/* The defaults of the class of a model_type that occurs inside others; NULL: none are needed. */
const char *family_defaults(const char *model_type);

/* ---- Keys. `names` are alternatives with a space between: the first that is present and not null
 * wins; "attn_config.kv_n_heads" looks into an object. */

#define KEY_HIDDEN "hidden_size n_embd d_model n_embed dim model_dim"
#define KEY_LAYERS "num_hidden_layers n_layer num_layers n_layers num_transformer_layers"
#define KEY_HEADS                                                                                  \
	"num_attention_heads n_head num_heads n_heads attn_config.n_heads num_query_heads "        \
	"attention_heads"
#define KEY_KV_HEADS                                                                               \
	"num_key_value_heads num_kv_heads n_head_kv num_attention_groups multi_query_group_num "   \
	"attn_config.kv_n_heads n_kv_heads"
#define KEY_HEAD_DIM "head_dim attention_head_dim kv_channels attn_config.head_dim"
#define KEY_FFN                                                                                    \
	"intermediate_size n_inner ffn_dim ffn_hidden_size d_ff ffn_config.ffn_hidden_size "       \
	"d_inner hidden_dim"
#define KEY_VOCAB "vocab_size padded_vocab_size"
#define KEY_POSITIONS                                                                              \
	"max_position_embeddings n_positions max_seq_len seq_length max_sequence_length"
#define KEY_TIED          "tie_word_embeddings tie_embeddings"
#define KEY_TEXT_CONFIG   "text_config llm_config language_config thinker_config.text_config"
#define KEY_AUDIO_CONFIG  "audio_config thinker_config.audio_config"
#define KEY_VISION_CONFIG "vision_config vision_encoder_config thinker_config.vision_config"
#define KEY_EXPERTS                                                                                \
	"num_local_experts num_experts n_routed_experts moe_num_experts num_routed_experts "       \
	"ffn_config.moe_num_experts"
#define KEY_EXPERTS_PER_TOKEN                                                                      \
	"num_experts_per_tok num_experts_per_token moe_top_k moe_topk moe_k top_k_experts "        \
	"num_selected_experts experts_per_token ffn_config.moe_top_k"
#define KEY_WINDOW                                                                                 \
	"sliding_window sliding_window_size window_size attention_window_size local_attention "    \
	"attention_chunk_size"
#define KEY_LAYER_TYPES "layer_types layers_block_type layer_type_list"
#define KEY_STATE       "state_size mamba_d_state ssm_state_size"
#define KEY_CONV        "conv_kernel mamba_d_conv linear_conv_kernel_dim"
#define KEY_ALIBI       "alibi attn_config.alibi"
#define KEY_SHARED_SIZE                                                                            \
	"shared_expert_intermediate_size moe_shared_expert_intermediate_size "                     \
	"shared_intermediate_size"
#define KEY_SHARED_EXPERTS                                                                         \
	"n_shared_experts num_shared_experts num_shared_expert moe_num_shared_experts"
#define KEY_FIRST_DENSE "first_k_dense_replace num_dense_layers moe_layer_start_index"
#define KEY_MTP         "num_nextn_predict_layers mtp_num_hidden_layers num_mtp_layers"
#define KEY_EXPERT_SIZE "moe_intermediate_size expert_intermediate_size moe_ffn_hidden_size"

const cJSON *config_item(const struct config *config, const char *names);
/* At least 1 and below 2^31; a missing one is an error that lists the names. */
uint64_t config_count(struct config *config, const char *names);
uint64_t config_count_or(struct config *config, const char *names, uint64_t fallback);
/* As config_count_or(), but 0 is allowed. */
uint64_t config_number_or(struct config *config, const char *names, uint64_t fallback);
bool config_flag_or(struct config *config, const char *names, bool fallback);
double config_fraction_or(struct config *config, const char *names, double fallback);
const char *config_text_or(struct config *config, const char *names, const char *fallback);
/* An array; one of another length than `length` (0: any) fails. NULL when there is none. */
const cJSON *config_list(struct config *config, const char *names, uint64_t length);
/* The index-th element as a count, 0 allowed. `names` is the list's, for the message. */
uint64_t config_element(struct config *config, const char *names, const cJSON *list,
                        uint64_t index);
bool config_failed(const struct config *config);
void config_fail(struct config *config, const char *names, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
/* A sub-object as a config of its own; fails when it is not there. */
struct config config_child(struct config *config, const char *name);

/* ---- What sits on top, from the name of the class in `architectures` */

enum model_head {
	HEAD_UNSAID, /* no `architectures`, or a class of no known kind */
	HEAD_NONE,   /* the bare model */
	HEAD_LM,
	HEAD_MASKED_LM,
	HEAD_PRETRAINING,
	HEAD_SEQUENCE, /* sequence classification: rerankers, reward models */
	HEAD_TOKEN,
	HEAD_QUESTION,
	HEAD_IMAGE,
	HEAD_PROJECTION
};
enum model_head config_head(const struct config *config);
/* False for a decoder that serves as an embedding model, a reranker or a classifier: it has no
 * language model's head and reads its input once, so that no cache is kept. */
bool config_generates(const struct config *config);
/* How many classes a classifier tells apart. */
uint64_t config_labels(struct config *config);

/* ---- Building */

/* Returns its index. */
uint32_t config_stack(struct config *config, enum vc_stack_role role, uint64_t hidden_size);
/* Appends a layer; equal kinds are kept once. Clear `kind` with memset() or {0} first. */
void config_layer(struct config *config, uint32_t stack, const struct vc_layer_kind *kind);
/* Appends a tensor before the layers: count 1, not linear. Change it in place. */
struct vc_extra *config_extra(struct config *config, uint32_t stack, enum vc_module module,
                              uint64_t out, uint64_t in);
struct vc_extra *config_extra_last(struct config *config, uint32_t stack, enum vc_module module,
                                   uint64_t out, uint64_t in);
/* A further tensor of a layer kind: linear, count 1. Change it in place. */
struct vc_tensor *config_odd(struct vc_layer_kind *kind, enum vc_module module, enum vc_split split,
                             uint64_t out, uint64_t in);
/* Weights of a norm over `hidden` elements. */
uint64_t norm_size(enum norm_style style, uint64_t hidden);

/* ---- Readers */

family_reader read_decoder;
/* Reads `config` by its own model_type, or as `fallback` where it has none. */
void config_read(struct config *config, const char *fallback);
/* Reads it as this model_type, whatever it says itself. */
void config_read_as(struct config *config, const char *model_type);
bool config_knows(const char *model_type);
/* Whether embedding and head are one: what holds the whole decides. */
bool config_tied(struct config *config, bool fallback);

#endif
