#include "picture_table.h"

#include "list.h"

static void get_gpu(const void *data, struct cell *cell)
{
	cell_text(cell, ((const struct bar_row *)data)->candidate->gpu->name);
}

static void get_gpus(const void *data, struct cell *cell)
{
	cell_number(cell, ((const struct bar_row *)data)->candidate->gpus);
}

static void get_component(const void *data, struct cell *cell)
{
	cell_number_or_none(cell, vc_ledger_component(((const struct bar_row *)data)->ledger,
	                                              (enum vc_component)cell->index));
}

static void get_total(const void *data, struct cell *cell)
{
	cell_number(cell, ((const struct bar_row *)data)->ledger->total_bytes);
}

static void get_low(const void *data, struct cell *cell)
{
	cell_number(cell, ((const struct bar_row *)data)->ledger->low_bytes);
}

static void get_high(const void *data, struct cell *cell)
{
	cell_number(cell, ((const struct bar_row *)data)->ledger->high_bytes);
}

/* One column a component; those that no GPU holds are not shown. */
#define PART(component, title)                                                                     \
	{                                                                                          \
		.id = (title), .heading = (title), .type = CELL_BYTES, .index = (component),       \
		.get = get_component                                                               \
	}

const struct column bar_columns[] = {
	{ .id = "gpu", .heading = "GPU", .get = get_gpu },
	{ .id = "gpus", .heading = "GPUs", .type = CELL_COUNT, .get = get_gpus },
	PART(VC_COMPONENT_WEIGHTS, "weights"),
	PART(VC_COMPONENT_KV_CACHE, "KV cache"),
	PART(VC_COMPONENT_RECURRENT_STATE, "recurrent state"),
	PART(VC_COMPONENT_ACTIVATIONS, "activations"),
	PART(VC_COMPONENT_LOGITS, "logits"),
	PART(VC_COMPONENT_GRADIENTS, "gradients"),
	PART(VC_COMPONENT_MASTER_WEIGHTS, "master weights"),
	PART(VC_COMPONENT_OPTIMIZER_STATES, "optimizer states"),
	PART(VC_COMPONENT_ADAPTERS, "adapters"),
	PART(VC_COMPONENT_COMMUNICATION, "communication"),
	PART(VC_COMPONENT_CUDA_GRAPHS, "CUDA graphs"),
	PART(VC_COMPONENT_FRAMEWORK, "framework"),
	PART(VC_COMPONENT_FRAGMENTATION, "fragmentation"),
	{ .id = "total", .heading = "sum", .type = CELL_BYTES, .get = get_total },
	{ .id = "low", .heading = "low", .type = CELL_BYTES, .get = get_low },
	{ .id = "high", .heading = "high", .type = CELL_BYTES, .get = get_high },
};
const size_t bar_column_count = sizeof bar_columns / sizeof *bar_columns;

static void get_value(const void *data, struct cell *cell)
{
	cell_number(cell, ((const struct point_row *)data)->point->value);
}

static void get_point_need(const void *data, struct cell *cell)
{
	cell_number(cell, ((const struct point_row *)data)->point->need_bytes);
}

static void get_expected(const void *data, struct cell *cell)
{
	cell_number(cell, ((const struct point_row *)data)->point->expected_bytes);
}

static void get_point_verdict(const void *data, struct cell *cell)
{
	const struct point_row *row = data;
	uint64_t limit = row->growth->limit_bytes;

	cell_text(cell, vc_verdict_name(limit >= row->point->need_bytes       ? VC_VERDICT_FITS
	                                : limit >= row->point->expected_bytes ? VC_VERDICT_TIGHT
	                                                                      : VC_VERDICT_NO));
}

static void get_point_remark(const void *data, struct cell *cell)
{
	const struct point_row *row = data;

	cell_text(cell, row->point->value == row->growth->now ? "as asked" : NULL);
}

const struct column point_columns[] = {
	{ .id = "value", .heading = "value", .type = CELL_COUNT, .get = get_value },
	{ .id = "need", .heading = "needs", .type = CELL_NEED, .get = get_point_need },
	{ .id = "expected", .heading = "expected", .type = CELL_BYTES, .get = get_expected },
	{ .id = "verdict", .heading = "verdict", .get = get_point_verdict },
	{ .id = "remark", .heading = "remark", .get = get_point_remark },
};
const size_t point_column_count = sizeof point_columns / sizeof *point_columns;
