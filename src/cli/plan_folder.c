#include "plan_folder.h"

#include "list.h"
#include "origin.h"
#include "report.h"
#include "table.h"

#include <stdlib.h>
#include <string.h>

struct plan_folder_row {
	char file[128];
	const char *quantization;
	uint64_t weight_bytes, total_bytes, need_bytes;
	const struct vc_gpu *gpu; /* the first that holds it; NULL: none does */
	uint32_t gpus;
	bool fits;
};

void plan_folder_add(struct plan_folder *folder, const struct plan *plan)
{
	struct plan_folder_row *rows = realloc(folder->rows, (folder->count + 1) * sizeof *rows);
	const struct vc_candidate *best = plan_best(plan);
	const struct vc_model *model = plan->request.model;
	const char *name = strrchr(plan->spec->source, '/');
	struct plan_folder_row *row;

	if (!rows) {
		report_no_memory();
		return;
	}
	folder->rows = rows;
	row = &rows[folder->count++];
	*row = (struct plan_folder_row){
		.quantization = model->quantization ? model->quantization->name
		                                    : vc_dtype_info(model->dtype)->name,
		.weight_bytes = model->file.total_bytes,
		.total_bytes = plan_ledger(plan)->total_bytes,
		.need_bytes = best ? best->need_bytes : plan_ledger(plan)->need_bytes,
		.gpu = best ? best->gpu : NULL,
		.gpus = best ? best->gpus_needed : 0,
		.fits = best && best->verdict == VC_VERDICT_FITS,
	};
	snprintf(row->file, sizeof row->file, "%s", name ? name + 1 : plan->spec->source);
}

static int compare_rows(const void *a, const void *b)
{
	const struct plan_folder_row *x = a, *y = b;

	if (x->fits != y->fits) {
		return x->fits ? -1 : 1;
	}
	if (x->gpus != y->gpus) {
		return x->gpus < y->gpus ? -1 : 1;
	}
	if (x->weight_bytes != y->weight_bytes) {
		return x->weight_bytes > y->weight_bytes ? -1 : 1;
	}
	return strcmp(x->file, y->file);
}

static void get_file(const void *row, struct cell *cell)
{
	cell_text(cell, ((const struct plan_folder_row *)row)->file);
}

static void get_quantization(const void *row, struct cell *cell)
{
	cell_text(cell, ((const struct plan_folder_row *)row)->quantization);
}

static void get_weights(const void *row, struct cell *cell)
{
	cell_number(cell, ((const struct plan_folder_row *)row)->weight_bytes);
}

static void get_total(const void *row, struct cell *cell)
{
	cell_number(cell, ((const struct plan_folder_row *)row)->total_bytes);
}

static void get_need(const void *row, struct cell *cell)
{
	cell_number(cell, ((const struct plan_folder_row *)row)->need_bytes);
}

static void get_gpu(const void *row, struct cell *cell)
{
	const struct plan_folder_row *r = row;

	cell_text(cell, r->gpu ? r->gpu->name : "none");
}

static void get_gpus(const void *row, struct cell *cell)
{
	const struct plan_folder_row *r = row;

	cell_number(cell, r->gpus);
	cell->known = r->gpu != NULL;
}

static void get_price(const void *row, struct cell *cell)
{
	const struct plan_folder_row *r = row;

	cell->known = r->gpu && price_times(&r->gpu->price, r->gpus, &cell->value);
	if (cell->known) {
		cell->text = r->gpu->price.currency;
	}
}

static void get_verdict(const void *row, struct cell *cell)
{
	cell_text(cell, ((const struct plan_folder_row *)row)->fits ? "fits" : "no");
}

static const struct column columns[] = {
	{ .id = "file", .heading = "file", .may_be_cut = true, .get = get_file },
	{ .id = "quantization", .heading = "held in", .priority = 2, .get = get_quantization },
	{ .id = "weights_bytes", .heading = "weights", .type = CELL_BYTES, .get = get_weights },
	{ .id = "total_bytes",
	  .heading = "M",
	  .type = CELL_BYTES,
	  .priority = 1,
	  .get = get_total },
	{ .id = "need_bytes", .heading = "needs", .type = CELL_NEED, .get = get_need },
	{ .id = "gpu", .heading = "GPU", .get = get_gpu },
	{ .id = "gpus", .heading = "GPUs", .type = CELL_COUNT, .get = get_gpus },
	{ .id = "price", .heading = "per hour", .type = CELL_MONEY, .get = get_price },
	{ .id = "verdict", .heading = "verdict", .get = get_verdict },
};

void plan_folder_print(struct output *out, struct plan_folder *folder)
{
	struct table table = {
		.id = "files",
		.columns = columns,
		.column_count = sizeof columns / sizeof *columns,
		.row_size = sizeof *folder->rows,
	};
	struct origin_note note = { .count = 0 };

	if (folder->count == 0) {
		return;
	}
	qsort(folder->rows, folder->count, sizeof *folder->rows, compare_rows);
	table.rows = folder->rows;
	table.row_count = folder->count;
	table_print(out, &table);
	for (size_t i = 0; i < folder->count; i++) {
		if (folder->rows[i].gpu) {
			origin_add(&note, folder->rows[i].gpu, true);
		}
	}
	origin_print(out, &note);
}

bool plan_folder_fits(const struct plan_folder *folder)
{
	for (size_t i = 0; i < folder->count; i++) {
		if (folder->rows[i].fits) {
			return true;
		}
	}
	return false;
}

void plan_folder_free(struct plan_folder *folder)
{
	free(folder->rows);
	*folder = (struct plan_folder){ .count = 0 };
}
