/* `plan` for spreadsheets: one row per GPU, with --explain one per line of the ledgers, with
 * --layouts one per layout, with --mig one per slice, with
 * --instances one per instance type. */
#include "plan.h"
#include "plan_instances.h"
#include "plan_layouts.h"
#include "plan_slices.h"
#include "plan_table.h"

#include <stdlib.h>

static void csv(struct output *out, const struct table *table, bool heading)
{
	if (heading) {
		table_csv_heading(out->file, table);
	}
	table_csv_rows(out->file, table);
}

static void csv_lines(struct output *out, const struct plan *plan, bool heading)
{
	const struct vc_ledger *ledgers[] = { &plan->rule, &plan->detailed };

	for (size_t l = 0; l < (plan->has_detailed ? 2u : 1u); l++) {
		struct ledger_row rows[VC_MAX_LINES + 1];
		struct table table = { .columns = line_columns,
			               .column_count = line_column_count,
			               .rows = rows,
			               .row_count = ledgers[l]->line_count + 1,
			               .row_size = sizeof *rows };

		for (uint32_t i = 0; i < ledgers[l]->line_count; i++) {
			rows[i] = (struct ledger_row){ plan, ledgers[l], &ledgers[l]->lines[i] };
		}
		rows[ledgers[l]->line_count] = (struct ledger_row){ plan, ledgers[l], NULL };
		csv(out, &table, heading && l == 0);
	}
}

static void csv_rows(struct output *out, const struct plan *plan, plan_list *list, bool heading)
{
	struct table table;

	if (plan->count && list(plan, &table)) {
		csv(out, &table, heading);
		free((void *)table.rows);
	}
}

void plan_print_csv(struct output *out, const struct plan *plan, bool heading)
{
	if (plan->arguments->explain) {
		csv_lines(out, plan, heading);
		return;
	}
	if (plan->arguments->layouts) {
		csv_rows(out, plan, plan_layouts, heading);
		return;
	}
	if (plan->arguments->mig) {
		csv_rows(out, plan, plan_slices, heading);
		return;
	}
	if (plan->arguments->instances) {
		csv_rows(out, plan, plan_instances, heading);
		return;
	}
	for (size_t i = 0; i < plan->count; i++) {
		struct gpu_row row = { plan, &plan->candidates[i], i + 1 };
		struct table table = { .columns = gpu_columns,
			               .column_count = gpu_column_count,
			               .rows = &row,
			               .row_count = 1,
			               .row_size = sizeof row };

		csv(out, &table, heading && i == 0);
	}
}
