#include "plan_layouts.h"

#include "list.h"
#include "plan_table.h"
#include "print_text.h"
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>

struct layout_row {
	struct vc_candidate candidate;
	enum vc_layout_reason reason;
	char why[160];
};

struct layout_list {
	struct layout_row *rows;
	size_t count, room;
	bool failed;
};

static const struct vc_candidate *candidate_of(const void *row)
{
	return &((const struct layout_row *)row)->candidate;
}

/* Whether it could be estimated at all. */
static bool was_tried(const struct layout_row *row)
{
	return row->candidate.have_bytes != 0;
}

static void get_gpu(const void *row, struct cell *cell)
{
	cell_text(cell, candidate_of(row)->gpu->id);
}

static void get_gpus(const void *row, struct cell *cell)
{
	cell_number(cell, candidate_of(row)->gpus);
}

static void get_together(const void *row, struct cell *cell)
{
	plan_layout_text(cell->buffer, sizeof cell->buffer, &candidate_of(row)->layout);
	cell->known = *cell->buffer;
}

static void get_tensor(const void *row, struct cell *cell)
{
	cell_number(cell, candidate_of(row)->layout.tensor);
}

static void get_pipeline(const void *row, struct cell *cell)
{
	cell_number(cell, candidate_of(row)->layout.pipeline);
}

static void get_data(const void *row, struct cell *cell)
{
	cell_number(cell, candidate_of(row)->layout.data);
}

static void get_expert(const void *row, struct cell *cell)
{
	cell_number(cell, candidate_of(row)->layout.expert);
}

static void get_zero_stage(const void *row, struct cell *cell)
{
	cell_number(cell, candidate_of(row)->layout.zero_stage);
}

static void get_need(const void *row, struct cell *cell)
{
	cell_number(cell, candidate_of(row)->need_bytes);
	cell->known = was_tried(row);
}

static void get_headroom(const void *row, struct cell *cell)
{
	int64_t headroom = candidate_of(row)->headroom_bytes;

	cell_number(cell, headroom < 0 ? 0 - (uint64_t)headroom : (uint64_t)headroom);
	cell->known = was_tried(row);
	cell->negative = headroom < 0;
}

static void get_sent(const void *row, struct cell *cell)
{
	cell_number_or_none(cell, candidate_of(row)->traffic.bytes);
}

static void get_over(const void *row, struct cell *cell)
{
	const struct vc_traffic *traffic = &candidate_of(row)->traffic;

	cell_text(cell, traffic->slowest == VC_INTERCONNECT_NONE
	                        ? NULL
	                        : vc_interconnect_name(traffic->slowest));
}

static void get_verdict(const void *row, struct cell *cell)
{
	cell_text(cell, was_tried(row) ? vc_verdict_name(candidate_of(row)->verdict) : NULL);
}

static void get_reason(const void *row, struct cell *cell)
{
	cell_text(cell, vc_layout_reason_name(((const struct layout_row *)row)->reason));
}

static void get_why(const void *row, struct cell *cell)
{
	cell_text(cell, ((const struct layout_row *)row)->why);
	cell->tone = ((const struct layout_row *)row)->reason == VC_LAYOUT_CHOSEN ? TONE_GOOD
	                                                                          : TONE_PLAIN;
}

static const struct column columns[] = {
	{ .id = "gpu", .heading = "GPU", .use = COLUMN_DATA, .get = get_gpu },
	{ .id = "gpus", .heading = "GPUs", .type = CELL_COUNT, .get = get_gpus },
	{ .id = "together", .heading = "together", .use = COLUMN_PEOPLE, .get = get_together },
	{ .id = "tensor",
	  .heading = "tensor",
	  .type = CELL_COUNT,
	  .use = COLUMN_DATA,
	  .get = get_tensor },
	{ .id = "pipeline",
	  .heading = "pipeline",
	  .type = CELL_COUNT,
	  .use = COLUMN_DATA,
	  .get = get_pipeline },
	{ .id = "data",
	  .heading = "data",
	  .type = CELL_COUNT,
	  .use = COLUMN_DATA,
	  .get = get_data },
	{ .id = "expert",
	  .heading = "expert",
	  .type = CELL_COUNT,
	  .use = COLUMN_DATA,
	  .get = get_expert },
	{ .id = "zero_stage",
	  .heading = "ZeRO",
	  .type = CELL_COUNT,
	  .use = COLUMN_DATA,
	  .get = get_zero_stage },
	{ .id = "need_bytes", .heading = "needs", .type = CELL_NEED, .get = get_need },
	{ .id = "headroom_bytes",
	  .heading = "left",
	  .type = CELL_HEADROOM,
	  .priority = 1,
	  .get = get_headroom },
	{ .id = "sent_bytes",
	  .heading = "sends",
	  .type = CELL_BYTES,
	  .priority = 2,
	  .get = get_sent },
	{ .id = "interconnect", .heading = "over", .priority = 2, .get = get_over },
	{ .id = "verdict", .heading = "verdict", .use = COLUMN_DATA, .get = get_verdict },
	{ .id = "reason", .heading = "reason", .use = COLUMN_DATA, .get = get_reason },
	{ .id = "why", .heading = "", .may_be_cut = true, .get = get_why },
};

static void say_why(struct layout_row *row, const char *why)
{
	static const char *const words[VC_LAYOUT_REASON_COUNT] = {
		[VC_LAYOUT_CHOSEN] = "taken",
		[VC_LAYOUT_ALTERNATIVE] = "fits as well, behind the one taken",
		[VC_LAYOUT_MORE_GPUS] = "fits, with more GPUs",
		[VC_LAYOUT_UNUSUAL] = "fits with fewer, but is less usual",
		[VC_LAYOUT_MEMORY] = "too little memory",
		[VC_LAYOUT_HOST_MEMORY] = "too little host memory",
		[VC_LAYOUT_NODES] = "tensor ranks would talk between nodes",
	};
	bool tight = row->reason == VC_LAYOUT_MEMORY && row->candidate.verdict == VC_VERDICT_TIGHT;

	snprintf(row->why, sizeof row->why, "%s%s", *why ? why : words[row->reason],
	         tight ? " for the usual reserve" : "");
}

static void add(const struct vc_layout_trial *trial, void *context)
{
	struct layout_list *list = context;
	struct layout_row *row;

	if (list->count == list->room) {
		size_t room = list->room ? list->room * 2 : 64;
		struct layout_row *rows = realloc(list->rows, room * sizeof *rows);

		list->failed = list->failed || !rows;
		if (!rows) {
			return;
		}
		list->rows = rows;
		list->room = room;
	}
	row = &list->rows[list->count++];
	*row = (struct layout_row){ .candidate = trial->candidate, .reason = trial->reason };
	say_why(row, trial->why);
}

bool plan_layouts(const struct plan *plan, struct table *table)
{
	struct layout_list list = { .count = 0 };
	struct vc_error error = { 0 };
	enum vc_status status;

	status = vc_layouts(&plan->request, plan->candidates[0].gpu, &plan->options, add, &list,
	                    &error);
	if (status != VC_OK || list.failed) {
		list.failed ? report_no_memory() : report_error(&error);
		free(list.rows);
		return false;
	}
	*table = (struct table){ .id = "layouts",
		                 .columns = columns,
		                 .column_count = sizeof columns / sizeof *columns,
		                 .rows = list.rows,
		                 .row_count = list.count,
		                 .row_size = sizeof *list.rows };
	return true;
}
