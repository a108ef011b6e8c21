/* `gpus --local`: what this machine has, and what is free of it. */
#include "list.h"
#include "local_catalog.h"
#include "names.h"
#include "print_text.h"
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>

struct local_row {
	const struct local_gpu *gpu;
	const struct vc_gpu *known;
};

static const struct local_gpu *gpu_of(const void *row)
{
	return ((const struct local_row *)row)->gpu;
}

static void get_id(const void *row, struct cell *cell)
{
	cell_text(cell, gpu_of(row)->id);
}

static void get_name(const void *row, struct cell *cell)
{
	/* what a driver says is shown as text */
	cell->known = text_copy(cell->buffer, sizeof cell->buffer, gpu_of(row)->name, true) > 0;
}

static void get_known(const void *row, struct cell *cell)
{
	const struct vc_gpu *known = ((const struct local_row *)row)->known;

	cell_text(cell, known ? known->id : NULL);
}

static void get_vendor(const void *row, struct cell *cell)
{
	cell_text(cell, name_of_vendor(gpu_of(row)->vendor));
}

static void get_total(const void *row, struct cell *cell)
{
	cell_number_or_none(cell, gpu_of(row)->total_bytes);
}

static void get_free(const void *row, struct cell *cell)
{
	cell_number(cell, gpu_of(row)->free_bytes);
	cell->known = gpu_of(row)->total_bytes > 0 && gpu_of(row)->usable;
	cell->tone = TONE_STRONG;
}

static void get_used(const void *row, struct cell *cell)
{
	cell_number(cell, gpu_of(row)->used_bytes);
	/* of a GPU in slices it is the slices' sum; else it is not known where what is free is not
	 */
	cell->known = gpu_of(row)->total_bytes > 0 && (gpu_of(row)->usable || gpu_of(row)->mig);
}

static void get_processes(const void *row, struct cell *cell)
{
	cell_number(cell, gpu_of(row)->process_count);
	/* they are asked for behind the memory */
	cell->known = gpu_of(row)->vendor == VC_VENDOR_NVIDIA && gpu_of(row)->total_bytes > 0;
}

static void get_mig(const void *row, struct cell *cell)
{
	cell_flag(cell, gpu_of(row)->mig);
}

static void get_why(const void *row, struct cell *cell)
{
	cell_text(cell, gpu_of(row)->why);
	cell->tone = TONE_CAREFUL;
}

static const struct column columns[] = {
	{ .id = "id", .heading = "id", .get = get_id },
	{ .id = "name", .heading = "GPU", .may_be_cut = true, .priority = 3, .get = get_name },
	{ .id = "catalog_id", .heading = "in the catalog", .priority = 4, .get = get_known },
	{ .id = "vendor", .heading = "vendor", .use = COLUMN_DATA, .get = get_vendor },
	{ .id = "total_bytes", .heading = "total", .type = CELL_BYTES, .get = get_total },
	{ .id = "free_bytes", .heading = "free", .type = CELL_BYTES, .get = get_free },
	{ .id = "used_bytes", .heading = "used", .type = CELL_BYTES, .get = get_used },
	{ .id = "processes",
	  .heading = "processes",
	  .type = CELL_COUNT,
	  .priority = 2,
	  .get = get_processes },
	{ .id = "mig", .heading = "MIG", .type = CELL_FLAG, .use = COLUMN_DATA, .get = get_mig },
	{ .id = "unusable", .heading = "", .priority = 1, .get = get_why },
};

int local_list(const struct arguments *arguments, const struct vc_catalog *catalog)
{
	struct local_gpus *list = calloc(1, sizeof *list);
	struct local_row rows[LOCAL_GPUS];
	struct table table = { .id = "gpus",
		               .columns = columns,
		               .column_count = sizeof columns / sizeof *columns,
		               .rows = rows,
		               .row_size = sizeof *rows };
	enum exit_status status = EXIT_WRONG_INPUT;
	struct output out;

	if (!list) {
		report_no_memory();
		return EXIT_WRONG_INPUT;
	}
	local_catalog_read(list);
	for (size_t i = 0; i < list->count; i++) {
		rows[table.row_count++] =
		        (struct local_row){ &list->gpus[i],
			                    local_gpu_known(catalog, &list->gpus[i]) };
	}
	if (list->count == 0) {
		local_catalog_complain(list, "gpus");
	} else {
		output_open(&out, arguments);
		list_print(&out, "local", &table, 1);
		status = EXIT_FITS;
	}
	free(list);
	return (int)status;
}
