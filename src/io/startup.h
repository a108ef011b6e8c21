/*
 * What engines say when they start: the terms of their memory, GPU by GPU, and the settings that
 * they run with. Read along with everything else that struct log reads; the wordings are tables in
 * startup_vllm.c, startup_sglang.c and startup_llamacpp.c.
 */
#ifndef VC_STARTUP_H
#define VC_STARTUP_H

#include "vramcalc/vramcalc.h"

enum {
	STARTUP_RANKS = 64,
	STARTUP_NAME = 24,
	STARTUP_SETTINGS = 24,
	STARTUP_VALUE = 48
};

enum startup_term {
	STARTUP_WEIGHTS,
	STARTUP_CACHE,     /* keys and values: the pool of engines that fill the GPU */
	STARTUP_STATE,     /* recurrent */
	STARTUP_PEAK,      /* activations; llama.cpp's compute buffer */
	STARTUP_OUTSIDE,   /* what the engine counts outside PyTorch */
	STARTUP_RESERVE,   /* set aside for CUDA graphs before the cache is sized */
	STARTUP_GRAPHS,    /* that they took */
	STARTUP_OUTPUT,    /* llama.cpp's output buffer */
	STARTUP_TABLES,    /* SGLang: which cache slots each request has */
	STARTUP_WORKSPACE, /* of attention, taken between the pool and the graphs */
	/* what the terms are parts of */
	STARTUP_TOTAL,       /* of the GPU, as CUDA counts it */
	STARTUP_BUDGET,      /* that the engine may use */
	STARTUP_CONSUMED,    /* weights and what lies outside PyTorch (vLLM from 0.30) */
	STARTUP_TORCH_PEAK,  /* weights and activations together (vLLM 0.6.3) */
	STARTUP_FREE_START,  /* free before the weights */
	STARTUP_FREE_LOADED, /* behind them */
	STARTUP_FREE_POOL,   /* behind the cache */
	STARTUP_FREE_END,    /* when all is ready */
	STARTUP_SELF,        /* llama.cpp's own sum */
	STARTUP_UNACCOUNTED, /* and what it cannot explain on the GPU */
	STARTUP_TERMS
};

/* One process, or one device of llama.cpp. */
struct startup_rank {
	char name[STARTUP_NAME]; /* "TP0", "CUDA0"; "": the log names none */
	uint32_t known;          /* bits 1 << enum startup_term */
	uint64_t bytes[STARTUP_TERMS];
};

/* A field of the spec as the log states it. */
struct startup_setting {
	const char *field;
	char value[STARTUP_VALUE];
};

struct startup {
	enum vc_engine engine; /* VC_ENGINE_NONE: no line of an engine's was read */
	uint32_t rank_count, setting_count;
	uint32_t joined; /* llama.cpp's GPUs that the only rank stands for; 0: one each */
	struct startup_rank ranks[STARTUP_RANKS];
	struct startup_setting settings[STARTUP_SETTINGS];
	uint64_t kv_tokens;
	uint64_t concurrency_milli, concurrency_length; /* "Maximum concurrency for 40000 tokens" */
	uint64_t block_count;                           /* of 16 tokens, where no tokens are said */
	uint64_t context, context_each, sequences;      /* llama.cpp's n_ctx and its kin */
};

/* What follows from several lines. Call once, at the end. */
void startup_finish(struct startup *startup);

bool startup_knows(const struct startup_rank *rank, enum startup_term term);
/* Sums of terms; what is not known counts nothing. */
uint64_t startup_sum(const struct startup_rank *rank, uint32_t terms);
/* The GPU whose terms say most, the fullest of them; NULL where none is. */
const struct startup_rank *startup_fullest(const struct startup *startup);
/* Host memory of llama.cpp: "CPU", "CUDA_Host", "CPU_Mapped", ... */
bool startup_is_host(const char *device);
/* The value that the log gives a field; NULL: none. */
const char *startup_value(const struct startup *startup, const char *field);

/* ---- For the tables ------------------------------------------------------------------------ */

struct log;
struct log_hit;

/* The rank that a line of vLLM's or SGLang's is about. */
struct startup_rank *startup_line_rank(struct startup *startup, const char *line);
struct startup_rank *startup_rank_named(struct startup *startup, const char *name, size_t length);
void startup_set(struct startup_rank *rank, enum startup_term term, uint64_t bytes);
void startup_add(struct startup_rank *rank, enum startup_term term, uint64_t bytes);
/* The first value stays. `length` bytes of `value`; nothing where that is too long or empty. */
void startup_state(struct startup *startup, const char *field, const char *value, size_t length);
/* The amount behind a phrase of the line: blanks, "=" and ":" may stand before it. GB are 2^30
 * bytes, as engines print them. */
bool startup_amount(const char *text, uint64_t *bytes);
bool startup_amount_after(const char *line, const char *phrase, uint64_t *bytes);

#endif
