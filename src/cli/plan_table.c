#include "plan_table.h"

#include "list.h"
#include "names.h"
#include "note.h"
#include "origin.h"
#include "print_text.h"
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* ---- The ledger ---- */

static uint64_t row_bytes(const struct ledger_row *row)
{
	return row->line ? row->line->bytes : row->ledger->total_bytes;
}

static bool component_repeats(const struct vc_ledger *ledger, enum vc_component component)
{
	uint32_t lines = 0;

	for (uint32_t i = 0; i < ledger->line_count; i++) {
		lines += ledger->lines[i].component == component;
	}
	return lines > 1;
}

/* Lines of one component are told apart by what their formulas say in words: what stands in
 * parentheses, "P × b (gradients until the step)", or all of it where there is no sign. */
static void append_words(char *to, size_t size, const char *formula)
{
	const char *label = formula_label(formula);

	if (label) {
		text_append(to, size, ", %.*s", (int)strcspn(label + 2, ")"), label + 2);
	} else if (!strpbrk(formula, "/+*=") && !strstr(formula, "×") && !strstr(formula, " - ")) {
		text_append(to, size, ", %s", formula);
	}
}

static void get_component(const void *data, struct cell *cell)
{
	const struct ledger_row *row = data;

	if (row->line &&
	    (row->line->role || component_repeats(row->ledger, row->line->component))) {
		text_append(cell->buffer, sizeof cell->buffer, "%s%s%s",
		            name_of_component(row->line->component), row->line->role ? ", " : "",
		            row->line->role ? row->line->role : "");
		append_words(cell->buffer, sizeof cell->buffer, row->line->formula);
		cell->known = true;
		cell->text = NULL;
	} else {
		cell_text(cell, row->line ? name_of_component(row->line->component) : "total");
	}
	cell->tone = row->line ? TONE_PLAIN : TONE_STRONG;
}

static void get_line_bytes(const void *data, struct cell *cell)
{
	const struct ledger_row *row = data;

	cell_number(cell, row_bytes(row));
	cell->tone = row->line ? TONE_PLAIN : TONE_STRONG;
}

static void get_line_share(const void *data, struct cell *cell)
{
	const struct ledger_row *row = data;

	cell_number(cell, row_bytes(row));
	cell->divisor = row->ledger->total_bytes;
	cell->known = cell->divisor && row->line;
	cell->tone = TONE_FAINT;
}

/* The longest bar is the largest line's, so that small ones can be told apart. */
static void get_line_bar(const void *data, struct cell *cell)
{
	const struct ledger_row *row = data;

	cell_number(cell, row_bytes(row));
	cell->divisor = 1;
	for (uint32_t i = 0; i < row->ledger->line_count; i++) {
		uint64_t bytes = row->ledger->lines[i].bytes;

		cell->divisor = bytes > cell->divisor ? bytes : cell->divisor;
	}
	cell->known = row->line != NULL;
	cell->value = row->line ? cell->value : 0;
	cell->tone = TONE_GOOD;
}

static const struct column ledger_columns[] = {
	{ .id = "component", .heading = "memory for", .get = get_component },
	{ .id = "bytes", .heading = "size", .type = CELL_BYTES, .get = get_line_bytes },
	{ .id = "share",
	  .heading = "share",
	  .type = CELL_SHARE,
	  .priority = 1,
	  .get = get_line_share },
	{ .id = "bar", .heading = "", .type = CELL_BAR, .priority = 2, .get = get_line_bar },
};

/* ---- The ledger as data: one row per line, with its formula ---- */

static void get_spec(const void *data, struct cell *cell)
{
	const struct ledger_row *row = data;

	cell_text(cell, row->plan->spec->source);
}

static void get_line_method(const void *data, struct cell *cell)
{
	const struct ledger_row *row = data;

	cell_text(cell, name_of_method(row->ledger->method));
}

static void get_line_id(const void *data, struct cell *cell)
{
	const struct ledger_row *row = data;

	cell_text(cell, row->line ? vc_component_name(row->line->component) : "total");
}

static void get_formula(const void *data, struct cell *cell)
{
	const struct ledger_row *row = data;

	cell_text(cell, row->line ? row->line->formula : NULL);
}

static void get_numbers(const void *data, struct cell *cell)
{
	const struct ledger_row *row = data;

	if (row->line) {
		formula_render(cell->buffer, sizeof cell->buffer, row->line);
		cell->known = true;
	}
}

/* Whose, where a job has several models. */
static void get_role(const void *data, struct cell *cell)
{
	const struct ledger_row *row = data;

	cell_text(cell, row->line ? row->line->role : NULL);
}

const struct column line_columns[] = {
	{ .id = "spec", .heading = "spec", .use = COLUMN_DATA, .get = get_spec },
	{ .id = "method", .heading = "method", .use = COLUMN_DATA, .get = get_line_method },
	{ .id = "component", .heading = "component", .get = get_line_id },
	{ .id = "bytes", .heading = "size", .type = CELL_BYTES, .get = get_line_bytes },
	{ .id = "formula", .heading = "formula", .get = get_formula },
	{ .id = "numbers", .heading = "with its numbers", .get = get_numbers },
	{ .id = "role", .heading = "role", .use = COLUMN_DATA, .get = get_role },
};
const size_t line_column_count = LENGTH(line_columns);

/* ---- Both methods ---- */

static void get_method(const void *data, struct cell *cell)
{
	const struct method_row *row = data;

	cell_text(cell, row->name);
	cell->tone = row->ledger == plan_ledger(row->plan) ? TONE_STRONG : TONE_PLAIN;
}

static void get_total(const void *data, struct cell *cell)
{
	cell_number(cell, ((const struct method_row *)data)->ledger->total_bytes);
}

static void get_low(const void *data, struct cell *cell)
{
	cell_number(cell, ((const struct method_row *)data)->ledger->low_bytes);
}

static void get_high(const void *data, struct cell *cell)
{
	cell_number(cell, ((const struct method_row *)data)->ledger->high_bytes);
}

static void get_method_need(const void *data, struct cell *cell)
{
	cell_number(cell, ((const struct method_row *)data)->ledger->need_bytes);
}

static void get_method_for(const void *data, struct cell *cell)
{
	const struct method_row *row = data;
	const struct vc_candidate *candidate = row->plan->detailed_for;
	char engine[64];

	if (row->ledger->method == VC_METHOD_RULE || !candidate) {
		cell_text(cell, "any GPU");
		return;
	}
	name_of_engine(engine, sizeof engine, &row->plan->request.engine);
	text_append(cell->buffer, sizeof cell->buffer, "%s%s%s", candidate->gpu->name,
	            *engine ? ", " : "", engine);
	if (candidate->gpus > 1) {
		text_append(cell->buffer, sizeof cell->buffer, ", one of %" PRIu32,
		            candidate->gpus);
	}
	cell->known = true;
}

static const struct column method_columns[] = {
	{ .id = "method", .heading = "method", .get = get_method },
	{ .id = "total_bytes", .heading = "total", .type = CELL_BYTES, .get = get_total },
	{ .id = "low_bytes", .heading = "low", .type = CELL_BYTES, .priority = 1, .get = get_low },
	{ .id = "high_bytes",
	  .heading = "high",
	  .type = CELL_BYTES,
	  .priority = 1,
	  .get = get_high },
	{ .id = "need_bytes", .heading = "needs", .type = CELL_NEED, .get = get_method_need },
	{ .id = "for", .heading = "on", .may_be_cut = true, .get = get_method_for },
};

/* ---- The GPUs ---- */

/* What does not fit steps back. */
static enum tone row_tone(const struct gpu_row *row)
{
	return row->candidate->gpus_needed || row->candidate->verdict == VC_VERDICT_TIGHT
	               ? TONE_PLAIN
	               : TONE_FAINT;
}

static void get_gpu_spec(const void *data, struct cell *cell)
{
	cell_text(cell, ((const struct gpu_row *)data)->plan->spec->source);
}

static void get_gpu_method(const void *data, struct cell *cell)
{
	cell_text(cell, name_of_method(((const struct gpu_row *)data)->plan->request.method));
}

static void get_rank(const void *data, struct cell *cell)
{
	cell_number(cell, ((const struct gpu_row *)data)->rank);
	cell->tone = row_tone(data);
}

static void get_gpu_id(const void *data, struct cell *cell)
{
	cell_text(cell, ((const struct gpu_row *)data)->candidate->gpu->id);
}

static void get_gpu_name(const void *data, struct cell *cell)
{
	cell_text(cell, ((const struct gpu_row *)data)->candidate->gpu->name);
	cell->tone = row_tone(data);
}

static void get_marketed(const void *data, struct cell *cell)
{
	cell_number(cell, ((const struct gpu_row *)data)->candidate->gpu->memory_bytes);
}

static void get_have(const void *data, struct cell *cell)
{
	cell_number(cell, ((const struct gpu_row *)data)->candidate->have_bytes);
	cell->tone = row_tone(data);
}

static void get_need(const void *data, struct cell *cell)
{
	cell_number(cell, ((const struct gpu_row *)data)->candidate->need_bytes);
	cell->tone = row_tone(data);
}

static void get_headroom(const void *data, struct cell *cell)
{
	int64_t headroom = ((const struct gpu_row *)data)->candidate->headroom_bytes;

	cell_number(cell, headroom < 0 ? 0 - (uint64_t)headroom : (uint64_t)headroom);
	cell->negative = headroom < 0;
	cell->tone = row_tone(data);
}

void plan_layout_text(char *to, size_t size, const struct vc_parallelism *layout)
{
	const struct {
		uint32_t degree;
		const char *name;
	} parts[] = { { layout->tensor, "tensor" },
		      { layout->pipeline, "pipeline" },
		      { layout->data, "data" },
		      { layout->context, "context" } };
	unsigned used = 0;

	*to = '\0';
	for (size_t i = 0; i < LENGTH(parts); i++) {
		used += parts[i].degree > 1;
	}
	for (size_t i = 0; i < LENGTH(parts); i++) {
		if (parts[i].degree > 1 && used == 1) {
			text_append(to, size, "%s parallel", parts[i].name);
		} else if (parts[i].degree > 1) {
			text_append(to, size, "%s%s %" PRIu32, *to ? ", " : "", parts[i].name,
			            parts[i].degree);
		}
	}
	if (layout->zero_stage) {
		text_append(to, size, "%sZeRO-%" PRIu32, *to ? ", " : "", layout->zero_stage);
	}
	if (layout->shard) {
		text_append(to, size, " over %" PRIu32, layout->shard);
	}
	if (layout->expert > 1) {
		text_append(to, size, ", experts over %" PRIu32, layout->expert);
	}
}

static void get_layout(const void *data, struct cell *cell)
{
	const struct gpu_row *row = data;

	plan_layout_text(cell->buffer, sizeof cell->buffer, &row->candidate->layout);
	cell->known = *cell->buffer;
	cell->tone = row_tone(row);
}

static void get_gpu_count(const void *data, struct cell *cell)
{
	cell_number(cell, ((const struct gpu_row *)data)->candidate->gpus);
	cell->tone = row_tone(data);
}

static void get_gpus_needed(const void *data, struct cell *cell)
{
	const struct gpu_row *row = data;

	cell_number(cell, row->candidate->gpus_needed);
	cell->known = row->candidate->gpus_needed != 0;
}

static void get_verdict(const void *data, struct cell *cell)
{
	static const enum tone tones[] = { [VC_VERDICT_FITS] = TONE_GOOD,
		                           [VC_VERDICT_TIGHT] = TONE_CAREFUL,
		                           [VC_VERDICT_NO] = TONE_BAD };
	const struct gpu_row *row = data;

	cell_text(cell, vc_verdict_name(row->candidate->verdict));
	cell->tone = tones[row->candidate->verdict];
}

static void get_remark(const void *data, struct cell *cell)
{
	const struct gpu_row *row = data;
	enum vc_dtype precision = row->plan->request.workload.precision;

	if (!row->candidate->precision_supported) {
		text_append(cell->buffer, sizeof cell->buffer, "no %s",
		            vc_dtype_info(precision)->name);
		cell->known = true;
		cell->tone = TONE_CAREFUL;
	}
	if (row->candidate->over_budget) {
		text_append(cell->buffer, sizeof cell->buffer, "%sover budget",
		            cell->known ? ", " : "");
		cell->known = true;
		cell->tone = TONE_CAREFUL;
	}
}

static const struct vc_price *price_of(const struct gpu_row *row)
{
	return &row->candidate->gpu->price;
}

static void get_price(const void *data, struct cell *cell)
{
	const struct gpu_row *row = data;
	const struct vc_price *price = price_of(row);

	cell->known = price_times(price, row->candidate->gpus, &cell->value);
	cell->text = price->currency;
	cell->tone = row_tone(row);
}

static void get_gpu_price(const void *data, struct cell *cell)
{
	const struct vc_price *price = price_of(data);

	cell_number(cell, price->per_hour_micros);
	cell->known = price->known;
}

static void get_currency(const void *data, struct cell *cell)
{
	const struct vc_price *price = price_of(data);

	cell_text(cell, price->known ? price->currency : NULL);
}

static void get_offer(const void *data, struct cell *cell)
{
	const struct vc_price *price = price_of(data);

	cell_text(cell, price->known ? price->offer : NULL);
}

static void get_as_of(const void *data, struct cell *cell)
{
	const struct vc_price *price = price_of(data);

	cell_text(cell, price->known ? price->as_of : NULL);
}

static void get_price_origin(const void *data, struct cell *cell)
{
	const struct vc_price *price = price_of(data);

	cell_text(cell, price->known ? price->origin : NULL);
}

static void get_origin(const void *data, struct cell *cell)
{
	cell_text(cell, ((const struct gpu_row *)data)->candidate->gpu->origin);
}

const struct column gpu_columns[] = {
	{ .id = "spec", .heading = "spec", .use = COLUMN_DATA, .get = get_gpu_spec },
	{ .id = "method", .heading = "method", .use = COLUMN_DATA, .get = get_gpu_method },
	{ .id = "rank", .heading = "#", .type = CELL_COUNT, .priority = 2, .get = get_rank },
	{ .id = "id", .heading = "id", .use = COLUMN_DATA, .get = get_gpu_id },
	{ .id = "name", .heading = "GPU", .get = get_gpu_name },
	{ .id = "memory_bytes",
	  .heading = "marketed",
	  .type = CELL_BYTES,
	  .use = COLUMN_DATA,
	  .get = get_marketed },
	{ .id = "have_bytes", .heading = "has", .type = CELL_BYTES, .get = get_have },
	{ .id = "need_bytes",
	  .heading = "needs",
	  .type = CELL_NEED,
	  .priority = 1,
	  .get = get_need },
	{ .id = "headroom_bytes", .heading = "left", .type = CELL_HEADROOM, .get = get_headroom },
	{ .id = "gpus", .heading = "GPUs", .type = CELL_COUNT, .get = get_gpu_count },
	{ .id = "layout", .heading = "together", .priority = 4, .get = get_layout },
	{ .id = "gpus_needed",
	  .heading = "needed",
	  .type = CELL_COUNT,
	  .use = COLUMN_DATA,
	  .get = get_gpus_needed },
	{ .id = "price.per_hour",
	  .heading = "per hour",
	  .type = CELL_MONEY,
	  .priority = 3,
	  .get = get_price },
	{ .id = "price.per_gpu_hour",
	  .heading = "per GPU-hour",
	  .type = CELL_MONEY,
	  .use = COLUMN_DATA,
	  .get = get_gpu_price },
	{ .id = "price.currency", .heading = "currency", .use = COLUMN_DATA, .get = get_currency },
	{ .id = "price.offer", .heading = "offer", .use = COLUMN_DATA, .get = get_offer },
	{ .id = "price.as_of", .heading = "as of", .use = COLUMN_DATA, .get = get_as_of },
	{ .id = "verdict", .heading = "verdict", .get = get_verdict },
	{ .id = "remark", .heading = "", .priority = 5, .get = get_remark },
	{ .id = "price.origin",
	  .heading = "price from",
	  .use = COLUMN_DATA,
	  .get = get_price_origin },
	{ .id = "origin", .heading = "from", .use = COLUMN_DATA, .get = get_origin },
};
const size_t gpu_column_count = LENGTH(gpu_columns);

/* ---- As tables ---- */

bool plan_lines(const struct plan *plan, struct table *table)
{
	const struct vc_ledger *ledger = plan_ledger(plan);
	size_t count = ledger->line_count + 1;
	struct ledger_row *rows = malloc(count * sizeof *rows);

	if (!rows) {
		report_no_memory();
		return false;
	}
	for (size_t i = 0; i < count; i++) {
		rows[i] = (struct ledger_row){ plan, ledger,
			                       i + 1 < count ? &ledger->lines[i] : NULL };
	}
	*table = (struct table){ .id = "ledger",
		                 .columns = ledger_columns,
		                 .column_count = LENGTH(ledger_columns),
		                 .rows = rows,
		                 .row_count = count,
		                 .row_size = sizeof *rows,
		                 .rule_before = ledger->line_count };
	return true;
}

bool plan_methods(const struct plan *plan, struct table *table)
{
	size_t count = plan->has_detailed ? 2 : 1;
	struct method_row *rows = malloc(count * sizeof *rows);

	if (!rows) {
		report_no_memory();
		return false;
	}
	rows[0] = (struct method_row){ plan, &plan->rule, "rule" };
	if (plan->has_detailed) {
		rows[1] = (struct method_row){ plan, &plan->detailed, "detailed" };
	}
	*table = (struct table){ .id = "methods",
		                 .columns = method_columns,
		                 .column_count = LENGTH(method_columns),
		                 .rows = rows,
		                 .row_count = count,
		                 .row_size = sizeof *rows };
	return true;
}

bool plan_gpus(const struct plan *plan, struct table *table)
{
	struct gpu_row *rows = malloc((plan->count + 1) * sizeof *rows);

	if (!rows) {
		report_no_memory();
		return false;
	}
	for (size_t i = 0; i < plan->count; i++) {
		rows[i] = (struct gpu_row){ plan, &plan->candidates[i], i + 1 };
	}
	*table = (struct table){ .id = "gpus",
		                 .columns = gpu_columns,
		                 .column_count = gpu_column_count,
		                 .rows = rows,
		                 .row_count = plan->count,
		                 .row_size = sizeof *rows };
	return true;
}

void plan_gpus_heading(const struct plan *plan, char *to, size_t size)
{
	snprintf(to, size, "GPUs by the %s method, %s first", name_of_method(plan->request.method),
	         plan->arguments->sort.index == VC_SORT_PRICE ? "cheapest" : "tightest");
}
