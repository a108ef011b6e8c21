/* `plan`: what was estimated for one spec, and the ways to print it. */
#ifndef VC_CLI_PLAN_H
#define VC_CLI_PLAN_H

#include "catalog.h"
#include "json_writer.h"
#include "output.h"
#include "spec.h"

struct plan {
	const struct arguments *arguments;
	const struct vc_spec *spec;
	const struct vc_catalog *catalog;
	const struct local_catalog *local; /* this machine's GPUs among them; NULL: none */
	struct vc_request request;         /* resolved; its method is the one that ranks */
	struct vc_counts counts;
	uint64_t params; /* that the estimate is for */
	struct vc_ledger rule;
	bool has_detailed;
	struct vc_ledger detailed;
	const struct vc_candidate *detailed_for; /* the GPU and the layout of `detailed` */
	const struct vc_candidate *candidates;   /* ranked */
	size_t count;
	const char *engine_lacks;  /* what of the stated layout; NULL: nothing */
	struct vc_candidate fewer; /* of the first GPU, in an unusual layout; gpus 0: none do */
	struct vc_select_options options; /* that ranked them */
	bool listed_all;                  /* not the documents' families only */
	/* Where nothing holds the job: the easiest change that would, on that GPU. */
	const struct vc_gpu *change_for; /* NULL: not asked for */
	bool change_found;
	struct vc_plan change;
};

/* Whether the engine takes for its cache what the job does not need. */
bool plan_fills_gpu(const struct plan *plan);
/* The ledger of the method that ranks. */
const struct vc_ledger *plan_ledger(const struct plan *plan);

/* The best candidate that fits; NULL: none does. */
const struct vc_candidate *plan_best(const struct plan *plan);

void plan_print_text(struct output *out, const struct plan *plan);
void plan_print_json(struct json_writer *json, const struct plan *plan);
void plan_print_csv(struct output *out, const struct plan *plan, bool heading);

enum {
	PLAN_TEXT = 1024 /* room for any of the following */
};

/* "Llama-2-7B, 6.74B parameters: inference in fp16, 1 sequence of 4096 tokens" */
void plan_title(const struct plan *plan, char to[PLAN_TEXT]);

/* Whether it fits, on what, what is left and what that costs. */
void plan_verdict(const struct plan *plan, enum byte_unit unit, char to[PLAN_TEXT]);

/*
 * The sentences that belong below the ledger: the memory to look for and what it comes from, then
 * phases, host memory and serving where there are such. False past the end.
 */
bool plan_remark(const struct plan *plan, enum byte_unit unit, size_t index, char to[PLAN_TEXT]);

/* "weights = P × b = 7000000000 × 2 = 14000000000 B (14 GB)" */
void plan_formula(const struct vc_line *line, enum byte_unit unit, char to[PLAN_TEXT]);

/* "Weights take most: 74 %." */
void plan_dominant(const struct plan *plan, char to[PLAN_TEXT]);

/*
 * Everything that was assumed and moves the result, and every warning: the program's own notes,
 * the ranking ledger's, the other ledger's. Returns the note's code, NULL past the end.
 */
const char *plan_note(const struct plan *plan, enum byte_unit unit, size_t index,
                      char to[PLAN_TEXT]);

#endif
