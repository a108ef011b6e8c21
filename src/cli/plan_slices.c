#include "plan_slices.h"

#include "list.h"
#include "print_text.h"
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct vc_slice *slice_of(const void *row)
{
	return row;
}

static void get_gpu_id(const void *row, struct cell *cell)
{
	cell_text(cell, slice_of(row)->gpu->id);
}

static void get_gpu(const void *row, struct cell *cell)
{
	cell_text(cell, slice_of(row)->gpu->name);
}

static void get_profile(const void *row, struct cell *cell)
{
	cell_text(cell, slice_of(row)->profile->name);
}

static void get_compute(const void *row, struct cell *cell)
{
	cell_number(cell, slice_of(row)->profile->compute);
}

static void get_memory(const void *row, struct cell *cell)
{
	cell_number(cell, slice_of(row)->profile->memory_bytes);
}

static void get_need(const void *row, struct cell *cell)
{
	cell_number(cell, slice_of(row)->need_bytes);
}

static void get_headroom(const void *row, struct cell *cell)
{
	cell_number(cell, slice_of(row)->headroom_bytes);
}

static void get_instances(const void *row, struct cell *cell)
{
	cell_number(cell, slice_of(row)->instances);
}

/* In the order of the axis: "0, 2, 4". */
static void get_starts(const void *row, struct cell *cell)
{
	const struct vc_slice *slice = row;

	for (unsigned start = 0; start < 256; start++) {
		if (slice->instances && memchr(slice->starts, (int)start, slice->instances)) {
			text_append(cell->buffer, sizeof cell->buffer, "%s%u",
			            *cell->buffer ? ", " : "", start);
		}
	}
	cell->known = *cell->buffer;
}

static void get_share(const void *row, struct cell *cell)
{
	cell_number(cell, slice_of(row)->share_ppm);
	cell->divisor = 1000000;
}

uint64_t plan_share_micros(const struct vc_slice *slice)
{
	uint64_t micros = slice->gpu->price.per_hour_micros;

	return micros <= UINT64_MAX / 1000000 ? micros * slice->share_ppm / 1000000
	                                      : micros / 1000000 * slice->share_ppm;
}

static void get_share_price(const void *row, struct cell *cell)
{
	const struct vc_price *price = &slice_of(row)->gpu->price;

	cell_number(cell, plan_share_micros(row));
	cell->known = price->known;
	cell->text = price->currency;
}

static void get_whole_price(const void *row, struct cell *cell)
{
	const struct vc_price *price = &slice_of(row)->gpu->price;

	cell_number(cell, price->per_hour_micros);
	cell->known = price->known;
	cell->text = price->currency;
}

static void get_currency(const void *row, struct cell *cell)
{
	const struct vc_price *price = &slice_of(row)->gpu->price;

	cell_text(cell, price->known ? price->currency : NULL);
}

static void get_offer(const void *row, struct cell *cell)
{
	const struct vc_price *price = &slice_of(row)->gpu->price;

	cell_text(cell, price->known ? price->offer : NULL);
}

static void get_as_of(const void *row, struct cell *cell)
{
	const struct vc_price *price = &slice_of(row)->gpu->price;

	cell_text(cell, price->known ? price->as_of : NULL);
}

static void get_origin(const void *row, struct cell *cell)
{
	const struct vc_price *price = &slice_of(row)->gpu->price;

	cell_text(cell, price->known ? price->origin : NULL);
}

static const struct column columns[] = {
	{ .id = "gpu", .heading = "id", .use = COLUMN_DATA, .get = get_gpu_id },
	{ .id = "name", .heading = "GPU", .may_be_cut = true, .get = get_gpu },
	{ .id = "profile", .heading = "slice", .get = get_profile },
	{ .id = "compute_slices",
	  .heading = "compute",
	  .type = CELL_COUNT,
	  .use = COLUMN_DATA,
	  .get = get_compute },
	{ .id = "memory_bytes", .heading = "has", .type = CELL_BYTES, .get = get_memory },
	{ .id = "need_bytes", .heading = "needs", .type = CELL_NEED, .get = get_need },
	{ .id = "headroom_bytes",
	  .heading = "left",
	  .type = CELL_HEADROOM,
	  .priority = 1,
	  .get = get_headroom },
	{ .id = "instances", .heading = "at once", .type = CELL_COUNT, .get = get_instances },
	{ .id = "starts", .heading = "placed at", .priority = 2, .get = get_starts },
	{ .id = "share",
	  .heading = "share",
	  .type = CELL_SHARE,
	  .use = COLUMN_PEOPLE,
	  .get = get_share },
	{ .id = "memory_share",
	  .heading = "share",
	  .type = CELL_RATIO,
	  .use = COLUMN_DATA,
	  .get = get_share },
	{ .id = "share_per_hour",
	  .heading = "share per hour",
	  .type = CELL_MONEY,
	  .get = get_share_price },
	{ .id = "gpu_per_hour",
	  .heading = "GPU per hour",
	  .type = CELL_MONEY,
	  .get = get_whole_price },
	{ .id = "currency", .heading = "currency", .use = COLUMN_DATA, .get = get_currency },
	{ .id = "offer", .heading = "offer", .use = COLUMN_DATA, .get = get_offer },
	{ .id = "as_of", .heading = "as of", .use = COLUMN_DATA, .get = get_as_of },
	{ .id = "origin", .heading = "price from", .priority = 3, .get = get_origin },
};

/* Priced ones of one currency first; then whose share costs least; then what was listed first. */
static int compare_slices(const void *a, const void *b)
{
	const struct vc_slice *x = a, *y = b;
	const struct vc_price *p = &x->gpu->price, *q = &y->gpu->price;
	int currencies = strcmp(p->currency, q->currency);
	uint64_t cost = plan_share_micros(x), other = plan_share_micros(y);

	if (p->known != q->known) {
		return p->known ? -1 : 1;
	}
	if (p->known && currencies) {
		return -currencies; /* USD before CNY */
	}
	if (cost != other) {
		return cost < other ? -1 : 1;
	}
	if (x->gpu != y->gpu) {
		return strcmp(x->gpu->id, y->gpu->id);
	}
	return (x->profile->compute < y->profile->compute) -
	       (x->profile->compute > y->profile->compute);
}

static size_t most_slices(const struct plan *plan)
{
	size_t most = 0;

	for (size_t i = 0; i < plan->count; i++) {
		const struct vc_mig_table *mig =
		        vc_catalog_mig(vc_catalog_entry(plan->candidates[i].gpu));

		most += mig ? mig->profile_count : 0;
	}
	return most;
}

bool plan_slices(const struct plan *plan, struct table *table)
{
	struct vc_slice *slices = calloc(most_slices(plan) + 1, sizeof *slices);
	struct vc_error error = { 0 };
	size_t count = 0, more;

	if (!slices) {
		report_no_memory();
		return false;
	}
	for (size_t i = 0; i < plan->count; i++) {
		const struct vc_gpu *gpu = plan->candidates[i].gpu;
		const struct vc_mig_table *mig = vc_catalog_mig(vc_catalog_entry(gpu));

		if (mig &&
		    vc_slices(&plan->request, gpu, mig, &slices[count], &more, &error) != VC_OK) {
			report_error(&error);
			free(slices);
			return false;
		}
		count += mig ? more : 0;
	}
	qsort(slices, count, sizeof *slices, compare_slices);
	*table = (struct table){ .id = "slices",
		                 .columns = columns,
		                 .column_count = sizeof columns / sizeof *columns,
		                 .rows = slices,
		                 .row_count = count,
		                 .row_size = sizeof *slices };
	return true;
}
