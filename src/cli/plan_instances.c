#include "plan_instances.h"

#include "list.h"
#include "offer_cells.h"
#include "print_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A row knows the plan, so that its getters and the order can. */
struct row {
	struct plan_instance instance;
	const struct plan *plan;
};

static const struct plan_instance *instance_of(const void *row)
{
	return &((const struct row *)row)->instance;
}

static uint64_t times(const void *row, uint64_t micros)
{
	uint32_t instances = instance_of(row)->instances;

	return micros <= UINT64_MAX / instances ? micros * instances : 0;
}

static void get_spec(const void *row, struct cell *cell)
{
	cell_text(cell, ((const struct row *)row)->plan->spec->source);
}

static void get_instances(const void *row, struct cell *cell)
{
	cell_number(cell, instance_of(row)->instances);
}

static void get_gpus(const void *row, struct cell *cell)
{
	cell_number(cell, instance_of(row)->gpus);
}

static void get_used(const void *row, struct cell *cell)
{
	cell_number(cell, instance_of(row)->candidate.gpus);
}

static void get_layout(const void *row, struct cell *cell)
{
	plan_layout_text(cell->buffer, sizeof cell->buffer, &instance_of(row)->candidate.layout);
	cell->known = *cell->buffer;
}

static void get_headroom(const void *row, struct cell *cell)
{
	cell_number(cell, (uint64_t)instance_of(row)->candidate.headroom_bytes);
}

static void get_need(const void *row, struct cell *cell)
{
	cell_number(cell, instance_of(row)->candidate.need_bytes);
}

/* Twice the memory of all its GPUs, not of the used ones alone: somebody else may use the rest. */
static void get_host_ratio(const void *row, struct cell *cell)
{
	const struct plan_instance *instance = row;

	cell_number(cell, offer_of(row)->host_bytes);
	cell->divisor =
	        instance->candidate.gpu->memory_bytes * (instance->gpus / instance->instances);
	cell->known = cell->value && cell->divisor;
}

static void get_host_mark(const void *row, struct cell *cell)
{
	struct cell ratio = { .known = false };

	get_host_ratio(row, &ratio);
	cell_text(cell,
	          ratio.known && ratio.value / 2 < ratio.divisor ? "host below 2 × VRAM" : NULL);
	cell->tone = TONE_CAREFUL;
}

static void money(const void *row, uint64_t micros, struct cell *cell)
{
	cell_number_or_none(cell, times(row, micros));
	cell->text = offer_of(row)->currency;
}

static void get_on_demand(const void *row, struct cell *cell)
{
	money(row, offer_of(row)->on_demand_micros, cell);
}

static void get_spot(const void *row, struct cell *cell)
{
	money(row, instance_of(row)->priced.spot_micros, cell);
}

static void get_run(const void *row, struct cell *cell)
{
	money(row, instance_of(row)->priced.run_micros, cell);
}

static void get_spot_run(const void *row, struct cell *cell)
{
	money(row, instance_of(row)->priced.spot_run_micros, cell);
}

static const struct column columns[] = {
	{ .id = "spec", .heading = "spec", .use = COLUMN_DATA, .get = get_spec },
	{ .id = "cloud", .heading = "cloud", .get = cell_cloud },
	{ .id = "region", .heading = "region", .priority = 4, .get = cell_region },
	{ .id = "instance", .heading = "instance", .may_be_cut = true, .get = cell_instance },
	{ .id = "instances", .heading = "of it", .type = CELL_COUNT, .get = get_instances },
	{ .id = "gpu", .heading = "GPU", .priority = 1, .get = cell_offer_gpu },
	{ .id = "gpus", .heading = "GPUs", .type = CELL_COUNT, .get = get_gpus },
	{ .id = "gpus_used", .heading = "used", .type = CELL_COUNT, .get = get_used },
	{ .id = "layout", .heading = "together", .priority = 5, .get = get_layout },
	{ .id = "need_bytes",
	  .heading = "needs",
	  .type = CELL_NEED,
	  .use = COLUMN_DATA,
	  .get = get_need },
	{ .id = "headroom_bytes",
	  .heading = "left",
	  .type = CELL_HEADROOM,
	  .priority = 2,
	  .get = get_headroom },
	{ .id = "host_bytes",
	  .heading = "host",
	  .type = CELL_BYTES,
	  .priority = 6,
	  .get = cell_host },
	{ .id = "host_per_vram",
	  .heading = "host / VRAM",
	  .type = CELL_RATIO,
	  .use = COLUMN_DATA,
	  .get = get_host_ratio },
	{ .id = "on_demand", .heading = "per hour", .type = CELL_MONEY, .get = get_on_demand },
	{ .id = "spot", .heading = "spot", .type = CELL_MONEY, .priority = 3, .get = get_spot },
	{ .id = "spot_assumed",
	  .heading = "assumed",
	  .type = CELL_FLAG,
	  .use = COLUMN_DATA,
	  .get = cell_spot_assumed },
	{ .id = "run", .heading = "run", .type = CELL_MONEY, .get = get_run },
	{ .id = "spot_run", .heading = "spot run", .type = CELL_MONEY, .get = get_spot_run },
	{ .id = "currency", .heading = "currency", .use = COLUMN_DATA, .get = cell_offer_currency },
	{ .id = "as_of", .heading = "as of", .priority = 7, .get = cell_offer_as_of },
	{ .id = "source", .heading = "source", .use = COLUMN_DATA, .get = cell_offer_source },
	{ .id = "mark", .heading = "", .use = COLUMN_PEOPLE, .priority = 8, .get = get_host_mark },
	{ .id = "origin", .heading = "from", .priority = 3, .get = cell_offer_origin },
};

uint64_t plan_instance_micros(const struct plan *plan, const struct plan_instance *instance)
{
	return times(instance, plan->arguments->spot ? instance->priced.spot_micros
	                                             : instance->priced.offer->on_demand_micros);
}

/* The budget's currency first, then by name, for nothing is converted. */
static int compare_currencies(const struct row *a, const struct row *b)
{
	const char *wanted = a->plan->options.currency;
	int x = strcmp(offer_of(a)->currency, wanted) != 0;
	int y = strcmp(offer_of(b)->currency, wanted) != 0;

	return x != y ? x - y : strcmp(offer_of(a)->currency, offer_of(b)->currency);
}

/* The cheapest first, what has no price last; then fewest GPUs, then the catalog's order. */
static int compare_rows(const void *a, const void *b)
{
	const struct plan_instance *x = a, *y = b;
	uint64_t p = plan_instance_micros(((const struct row *)a)->plan, x);
	uint64_t q = plan_instance_micros(((const struct row *)b)->plan, y);
	int currencies = compare_currencies(a, b);

	if ((p == 0) != (q == 0)) {
		return p == 0 ? 1 : -1;
	}
	if (currencies) {
		return currencies;
	}
	if (p != q) {
		return p < q ? -1 : 1;
	}
	if (x->gpus != y->gpus) {
		return x->gpus < y->gpus ? -1 : 1;
	}
	return (offer_of(a) > offer_of(b)) - (offer_of(a) < offer_of(b));
}

static const struct vc_gpu *considered(const struct plan *plan, const char *id)
{
	for (size_t i = 0; i < plan->count; i++) {
		if (strcmp(plan->candidates[i].gpu->id, id) == 0) {
			return plan->candidates[i].gpu;
		}
	}
	return NULL;
}

/* Whole GPUs that somebody rents out. */
static bool is_rentable(const struct vc_offer *offer)
{
	return vc_offer_ranks(offer) && offer->gpus_micros >= 1000000 &&
	       offer->gpus_micros % 1000000 == 0;
}

/* The job on so many of one instance type: tensor ranks stay within one of them. */
static enum vc_status lay_out(const struct plan *plan, const struct vc_gpu *gpu,
                              struct plan_instance *instance, struct vc_error *error)
{
	const struct vc_offer *offer = instance->priced.offer;
	struct vc_select_options options = plan->options;
	enum vc_status status;

	options.node_gpus = offer->gpus_micros / 1000000;
	options.host_memory_bytes = offer->host_bytes;
	status = vc_select(&plan->request, &gpu, 1, &options, &instance->candidate, error);
	if (status == VC_OK) {
		instance->instances =
		        (instance->candidate.gpus + options.node_gpus - 1) / options.node_gpus;
		instance->gpus = instance->instances * options.node_gpus;
	}
	return status;
}

/* Machines of a marketplace stand in different places: one of them, or none. */
static bool holds(const struct row *row)
{
	return row->instance.candidate.gpus_needed &&
	       (row->instance.instances == 1 || offer_of(row)->kind != VC_OFFER_MARKET);
}

/* --max-price, in USD, and the budget, in its own currency, are for all of them. */
static bool is_affordable(const struct row *row)
{
	const struct vc_select_options *options = &row->plan->options;
	uint64_t most = row->plan->arguments->max_price_micros;
	uint64_t price = plan_instance_micros(row->plan, &row->instance);
	bool counted = options->max_price_micros &&
	               strcmp(offer_of(row)->currency, options->currency) == 0;

	return (most == 0 || (price && price <= most)) &&
	       (!counted || price <= options->max_price_micros);
}

static enum vc_status find(const struct plan *plan, struct row *rows, size_t *count,
                           struct vc_error *error)
{
	struct offer_search search = offer_search(plan->arguments);

	for (size_t i = 0; i < plan->catalog->offer_count; i++) {
		const struct vc_offer *offer = &plan->catalog->offers[i];
		const struct vc_gpu *gpu = considered(plan, offer->gpu_id);
		struct row *row = &rows[*count];
		enum vc_status status;

		if (!gpu || !is_rentable(offer) || !offer_passes(&search, offer)) {
			continue;
		}
		*row = (struct row){ .plan = plan, .instance.priced = offer_price(&search, offer) };
		status = lay_out(plan, gpu, &row->instance, error);
		if (status != VC_OK) {
			return status;
		}
		*count += holds(row) && is_affordable(row);
	}
	return VC_OK;
}

bool plan_instances(const struct plan *plan, struct table *table)
{
	struct row *rows = calloc(plan->catalog->offer_count + 1, sizeof *rows);
	struct vc_error error = { 0 };
	size_t count = 0;

	if (!rows) {
		report_no_memory();
		return false;
	}
	if (find(plan, rows, &count, &error) != VC_OK) {
		report_error(&error);
		free(rows);
		return false;
	}
	qsort(rows, count, sizeof *rows, compare_rows);
	*table = (struct table){ .id = "instances",
		                 .columns = columns,
		                 .column_count = sizeof columns / sizeof *columns,
		                 .rows = rows,
		                 .row_count = count,
		                 .row_size = sizeof *rows };
	return true;
}
