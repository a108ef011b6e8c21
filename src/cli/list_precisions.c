/* `precisions`: element types and quantizations. */
#include "commands.h"
#include "list.h"

#include "vramcalc/vramcalc.h"

/* ---- Element types: a row is an enum vc_dtype ---- */

static const struct vc_dtype_info *dtype_of(const void *row)
{
	return vc_dtype_info(*(const enum vc_dtype *)row);
}

static void get_name(const void *row, struct cell *cell)
{
	cell_text(cell, dtype_of(row)->name);
}

static void get_bytes(const void *row, struct cell *cell)
{
	cell_number(cell, dtype_of(row)->block_bytes);
	cell->divisor = dtype_of(row)->block_elements;
}

static void get_block_elements(const void *row, struct cell *cell)
{
	cell_number(cell, dtype_of(row)->block_elements);
}

static void get_block_bytes(const void *row, struct cell *cell)
{
	cell_number(cell, dtype_of(row)->block_bytes);
}

static void get_compute(const void *row, struct cell *cell)
{
	cell_flag(cell, dtype_of(row)->compute);
}

static void get_summary(const void *row, struct cell *cell)
{
	cell_text(cell, dtype_of(row)->summary);
}

static const struct column dtype_columns[] = {
	{ .id = "name", .heading = "element type", .get = get_name },
	{ .id = "bytes_per_element",
	  .heading = "bytes per element",
	  .type = CELL_RATIO,
	  .get = get_bytes },
	{ .id = "block_elements",
	  .heading = "block",
	  .type = CELL_COUNT,
	  .use = COLUMN_DATA,
	  .get = get_block_elements },
	{ .id = "block_bytes",
	  .heading = "block bytes",
	  .type = CELL_COUNT,
	  .use = COLUMN_DATA,
	  .get = get_block_bytes },
	{ .id = "compute",
	  .heading = "workload.precision",
	  .type = CELL_FLAG,
	  .priority = 2,
	  .get = get_compute },
	{ .id = "summary", .heading = "is", .may_be_cut = true, .priority = 1, .get = get_summary },
};

/* ---- Quantizations: a row is a pointer to one ---- */

static const struct vc_quantization *quantization_of(const void *row)
{
	return *(const struct vc_quantization *const *)row;
}

static void get_quantization(const void *row, struct cell *cell)
{
	cell_text(cell, quantization_of(row)->name);
}

static void get_held_in(const void *row, struct cell *cell)
{
	enum vc_dtype dtype = quantization_of(row)->dtype;

	cell_text(cell, dtype == VC_DTYPE_NONE ? NULL : vc_dtype_info(dtype)->name);
}

static void get_held_bytes(const void *row, struct cell *cell)
{
	const struct vc_dtype_info *info = vc_dtype_info(quantization_of(row)->dtype);

	cell_number(cell, info->block_bytes);
	cell->divisor = info->block_elements;
	cell->known = quantization_of(row)->dtype != VC_DTYPE_NONE;
}

static void get_group(const void *row, struct cell *cell)
{
	cell_number_or_none(cell, quantization_of(row)->group_size);
}

static void get_quantization_summary(const void *row, struct cell *cell)
{
	cell_text(cell, quantization_of(row)->summary);
}

static const struct column quantization_columns[] = {
	{ .id = "name", .heading = "quantization", .get = get_quantization },
	{ .id = "element_type", .heading = "most weights in", .get = get_held_in },
	{ .id = "bytes_per_element",
	  .heading = "bytes per element",
	  .type = CELL_RATIO,
	  .get = get_held_bytes },
	{ .id = "group_size",
	  .heading = "group",
	  .type = CELL_COUNT,
	  .priority = 2,
	  .get = get_group },
	{ .id = "summary",
	  .heading = "is",
	  .may_be_cut = true,
	  .priority = 1,
	  .get = get_quantization_summary },
};

enum {
	MOST_QUANTIZATIONS = 128
};

int precisions_command(struct arguments *arguments)
{
	enum vc_dtype dtypes[VC_DTYPE_COUNT];
	const struct vc_quantization *quantizations[MOST_QUANTIZATIONS];
	struct output out;
	struct table tables[] = {
		{ .id = "precisions",
		  .columns = dtype_columns,
		  .column_count = sizeof dtype_columns / sizeof *dtype_columns,
		  .rows = dtypes,
		  .row_size = sizeof *dtypes },
		{ .id = "quantizations",
		  .columns = quantization_columns,
		  .column_count = sizeof quantization_columns / sizeof *quantization_columns,
		  .rows = quantizations,
		  .row_size = sizeof(const struct vc_quantization *) },
	};

	for (int i = VC_DTYPE_NONE + 1; i < VC_DTYPE_COUNT; i++) {
		dtypes[tables[0].row_count++] = (enum vc_dtype)i;
	}
	for (size_t i = 0; i < MOST_QUANTIZATIONS && vc_quantization_at(i); i++) {
		quantizations[tables[1].row_count++] = vc_quantization_at(i);
	}
	output_open(&out, arguments);
	list_print(&out, "precisions", tables, sizeof tables / sizeof *tables);
	return EXIT_FITS;
}
