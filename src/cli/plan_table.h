/* The tables of `plan`: the ledger's lines, both methods side by side, the ranked GPUs. */
#ifndef VC_CLI_PLAN_TABLE_H
#define VC_CLI_PLAN_TABLE_H

#include "plan.h"
#include "table.h"

/* One row of the ledger: a line, or the total of all (line == NULL). */
struct ledger_row {
	const struct plan *plan;
	const struct vc_ledger *ledger;
	const struct vc_line *line;
};

struct method_row {
	const struct plan *plan;
	const struct vc_ledger *ledger;
	const char *name;
};

struct gpu_row {
	const struct plan *plan;
	const struct vc_candidate *candidate;
	size_t rank;
};

extern const struct column gpu_columns[], line_columns[];
extern const size_t gpu_column_count, line_column_count;

/* A further table, whose rows are to be freed. False without memory or when an estimate failed,
 * which is reported. */
typedef bool plan_list(const struct plan *plan, struct table *table);

plan_list plan_lines;   /* the ledger of the method that ranks, with its total */
plan_list plan_methods; /* both estimates, where both are known */
plan_list plan_gpus;    /* all candidates, ranked */
/* "GPUs by the rule method, cheapest first" */
void plan_gpus_heading(const struct plan *plan, char *to, size_t size);

/* "tensor parallel", "tensor 4, data 2, ZeRO-3"; "" for a single GPU. */
void plan_layout_text(char *to, size_t size, const struct vc_parallelism *layout);

#endif
