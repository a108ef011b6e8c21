/* The labels of llama.cpp's mixtures and what each makes of a tensor. Core-private. */
#ifndef VC_GGUF_TABLE_H
#define VC_GGUF_TABLE_H

#include "ggml_block.h"
#include "gguf_mixture.h"

/* One row per label; NONE is the base type. */
struct gguf_mixture {
	const char *name;
	enum vc_dtype base, embedding, head;
	enum vc_dtype v_grouped, v; /* values, with grouped queries and without */
	enum vc_dtype v_first;      /* in the first `v_firsts` layers */
	uint8_t v_firsts;
	enum vc_dtype v_more; /* in the layers that more_bits() names */
	enum vc_dtype k, q, o;
	enum vc_dtype qkv;      /* fused, by the rule before March 2026 */
	enum vc_dtype down_8th; /* in the first eighth of the layers */
	enum vc_dtype down_16th, down, down_more;
	enum vc_dtype gate_up_middle; /* between the first and the last eighth */
	bool o_of_eight;              /* Q5_K with eight experts */
	bool low;                     /* the 1- and 2-bit i-quants have rules of their own */
	bool experts_only;            /* base is for experts, the rest is Q8_0 */
};

/*
 * Labels that are no rule of llama.cpp's: publishers' own choices, and types of forks. Each is
 * taken as a mixture and a factor, from published files: Unsloth's dynamic files of
 * Mistral-Small-24B and Gemma-3-27B (ud-q4_k_xl), Qwen3-30B-A3B (ud-q4_k_xl, ud-iq1_s) and
 * Qwen3-235B-A22B (ud-q3_k_xl), github.com/lhl/strix-halo-testing and
 * github.com/ggml-org/llama.cpp/issues/14199. `wide_tables`: embedding and head in Q8_0.
 */
struct gguf_alias {
	const char *name, *dense, *experts;
	uint32_t dense_ppm, experts_ppm;
	bool wide_tables;
};

/* What the rules look at, and how far the file has been gone through. */
struct gguf_chooser {
	const struct gguf_mixture *mixture; /* NULL: one type for all matrices */
	const struct gguf_format *format;
	const struct ggml_family *family;
	bool falcon, seventy, tied, wide_tables;
	uint64_t layers, grouping, experts;
	uint64_t values, value_count, downs, gates, ups;
};

/* NULL: no such label. */
const struct gguf_mixture *gguf_mixture_by_name(const char *name);
const struct gguf_alias *gguf_alias_by_name(const char *name);

/* The type of the next matrix of layer `layer`, counted. */
enum vc_dtype gguf_matrix_type(struct gguf_chooser *chooser, enum vc_module module, uint64_t layer);
/* Of values, or of queries, keys and values of linear attention; counted. */
enum vc_dtype gguf_value_type(struct gguf_chooser *chooser);
/* Of the token table, or the head with rows of `row`. */
enum vc_dtype gguf_table_type(const struct gguf_chooser *chooser, bool head, uint64_t row);
/* Bytes of `rows` rows of `row` elements: in `type`, or what llama.cpp falls back to. */
uint64_t gguf_matrix_bytes(enum vc_dtype type, uint64_t row, uint64_t rows);

#endif
