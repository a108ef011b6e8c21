/*
 * `plan --emit TARGET`: the best row as a configuration or a command line of the program that runs
 * it. docs/emit.md
 */
#ifndef VC_CLI_EMIT_H
#define VC_CLI_EMIT_H

#include "hub_cache.h"
#include "plan.h"
#include "words.h"

/* The names of the targets; NULL past the end. */
const char *emit_target(size_t index);

/* Nothing on standard output, and a message, where the target cannot be told this. */
enum exit_status emit_plan(FILE *file, const struct plan *plan, size_t target);

/* ---- What the writers of the targets share ---- */

enum {
	EMIT_NOTES = 4,
	EMIT_NOTE = 240
};

struct emit_job {
	const struct plan *plan;
	const struct vc_request *request; /* resolved, in the row's layout */
	const struct vc_candidate *best;  /* of a slice: of the one instance */
	const struct vc_slice *slice;     /* of --mig; NULL: whole GPUs */
	char model[512];          /* a path or a hub's id; "MODEL" where the spec names none */
	char model_is[EMIT_NOTE]; /* what MODEL stands for */
	struct vc_hub_name hub;   /* of "hf:..."; the rest is empty */
	uint32_t nodes, node_gpus;
	uint64_t sequences;
	uint64_t host_bytes;               /* of memory in a node */
	const char *refusal;               /* set by a writer that finds that it cannot do this */
	char notes[EMIT_NOTES][EMIT_NOTE]; /* of a writer of words, for the heading */
	size_t note_count;
};

/* "float16" as PyTorch calls it; NULL where weights are not computed in. */
const char *emit_torch_dtype(const struct emit_job *job);

/* The revision of the hub's model where it is not the main one; NULL. */
const char *emit_revision(const struct emit_job *job);

/* False for a model of images alone. */
bool emit_has_tokens(const struct emit_job *job);

/* Whether training computes in 16 bits, and which. */
bool emit_is_bf16(const struct emit_job *job);
bool emit_is_fp16(const struct emit_job *job);

/* Command lines. Each returns false with a refusal set. */
bool emit_serving_words(struct emit_job *job, struct words *words); /* of the spec's engine */
bool emit_vllm_words(struct emit_job *job, struct words *words);
bool emit_sglang_words(struct emit_job *job, struct words *words);
bool emit_llamacpp_words(struct emit_job *job, struct words *words);
/* `rendezvous`: where nodes meet, as the shell finds it; NULL: a placeholder. */
bool emit_torchrun_words(struct emit_job *job, struct words *words, const char *rendezvous);

/* Files. */
bool emit_deepspeed(struct emit_job *job, FILE *file);
bool emit_accelerate(struct emit_job *job, FILE *file);
bool emit_slurm(struct emit_job *job, FILE *file);
bool emit_kubernetes(struct emit_job *job, FILE *file);
bool emit_skypilot(struct emit_job *job, FILE *file);

/* One line more under the heading. */
void emit_note(struct emit_job *job, const char *format, ...)
#ifdef __GNUC__
        __attribute__((format(printf, 2, 3)))
#endif
        ;

/* "# ..." in one line, whatever it holds. */
void emit_comment(FILE *file, const char *format, ...)
#ifdef __GNUC__
        __attribute__((format(printf, 2, 3)))
#endif
        ;

/* What the row is, and which placeholders are left to fill in. */
void emit_heading(const struct emit_job *job, FILE *file);

/* Where the memory of a node is the documents' twice the GPUs', because the spec says nothing. */
void emit_host_note(const struct emit_job *job, FILE *file);

#endif
