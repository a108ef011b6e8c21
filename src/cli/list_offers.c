/* `offers`: instance types with GPUs, and their prices. */
#include "catalog.h"
#include "commands.h"
#include "errors.h"
#include "list.h"
#include "offer_cells.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>

static void get_gpus(const void *row, struct cell *cell)
{
	cell_number_or_none(cell, offer_of(row)->gpus_micros);
	cell->divisor = 1000000;
}

static void get_kind(const void *row, struct cell *cell)
{
	cell_text(cell, vc_offer_kind_name(offer_of(row)->kind));
}

static void money(const struct vc_offer *offer, uint64_t micros, struct cell *cell)
{
	cell_number_or_none(cell, micros);
	cell->text = offer->currency;
}

static void get_on_demand(const void *row, struct cell *cell)
{
	money(offer_of(row), offer_of(row)->on_demand_micros, cell);
}

static void get_on_demand_gpu(const void *row, struct cell *cell)
{
	money(offer_of(row), offer_per_gpu(offer_of(row), offer_of(row)->on_demand_micros), cell);
}

static void get_on_demand_gb(const void *row, struct cell *cell)
{
	const struct vc_gpu *gpu = ((const struct priced_offer *)row)->gpu;

	money(offer_of(row), gpu ? offer_per_gb(offer_of(row), gpu) : 0, cell);
}

static void get_spot(const void *row, struct cell *cell)
{
	money(offer_of(row), ((const struct priced_offer *)row)->spot_micros, cell);
}

static void get_spot_gpu(const void *row, struct cell *cell)
{
	money(offer_of(row),
	      offer_per_gpu(offer_of(row), ((const struct priced_offer *)row)->spot_micros), cell);
}

static void get_assumed_mark(const void *row, struct cell *cell)
{
	cell_text(cell, ((const struct priced_offer *)row)->spot_assumed ? "spot assumed" : NULL);
	cell->tone = TONE_CAREFUL;
}

static void get_run(const void *row, struct cell *cell)
{
	money(offer_of(row), ((const struct priced_offer *)row)->run_micros, cell);
}

static void get_spot_run(const void *row, struct cell *cell)
{
	money(offer_of(row), ((const struct priced_offer *)row)->spot_run_micros, cell);
}

static void get_note(const void *row, struct cell *cell)
{
	cell_text(cell, offer_of(row)->note);
}

static const struct column columns[] = {
	{ .id = "cloud", .heading = "cloud", .get = cell_cloud },
	{ .id = "region", .heading = "region", .priority = 3, .get = cell_region },
	{ .id = "instance", .heading = "instance", .may_be_cut = true, .get = cell_instance },
	{ .id = "gpu", .heading = "GPU", .priority = 1, .get = cell_offer_gpu },
	{ .id = "gpus", .heading = "GPUs", .type = CELL_RATIO, .priority = 2, .get = get_gpus },
	{ .id = "host_bytes",
	  .heading = "host",
	  .type = CELL_BYTES,
	  .priority = 9,
	  .get = cell_host },
	{ .id = "kind", .heading = "kind", .priority = 8, .get = get_kind },
	{ .id = "on_demand",
	  .heading = "per hour",
	  .type = CELL_MONEY,
	  .priority = 4,
	  .get = get_on_demand },
	{ .id = "on_demand_per_gpu",
	  .heading = "per GPU",
	  .type = CELL_MONEY,
	  .get = get_on_demand_gpu },
	{ .id = "on_demand_per_gb",
	  .heading = "per GB",
	  .type = CELL_MONEY,
	  .priority = 10,
	  .get = get_on_demand_gb },
	{ .id = "spot", .heading = "spot", .type = CELL_MONEY, .priority = 6, .get = get_spot },
	{ .id = "spot_per_gpu",
	  .heading = "spot per GPU",
	  .type = CELL_MONEY,
	  .priority = 5,
	  .get = get_spot_gpu },
	{ .id = "spot_assumed",
	  .heading = "assumed",
	  .type = CELL_FLAG,
	  .use = COLUMN_DATA,
	  .get = cell_spot_assumed },
	{ .id = "mark", .heading = "", .use = COLUMN_PEOPLE, .get = get_assumed_mark },
	{ .id = "run", .heading = "run", .type = CELL_MONEY, .get = get_run },
	{ .id = "spot_run", .heading = "spot run", .type = CELL_MONEY, .get = get_spot_run },
	{ .id = "currency", .heading = "currency", .use = COLUMN_DATA, .get = cell_offer_currency },
	{ .id = "as_of", .heading = "as of", .priority = 7, .get = cell_offer_as_of },
	{ .id = "source", .heading = "source", .use = COLUMN_DATA, .get = cell_offer_source },
	{ .id = "note", .heading = "note", .use = COLUMN_DATA, .get = get_note },
	{ .id = "origin", .heading = "from", .priority = 4, .get = cell_offer_origin },
};

static void get_note_text(const void *row, struct cell *cell)
{
	cell_text(cell, ((const struct offer_note *)row)->text);
}

static const struct column note_columns[] = {
	{ .id = "text", .heading = "of the run", .get = get_note_text },
};

/* By currency, since none is converted; in each the cheapest GPU first, what has no price last. */
static int compare_prices(const void *a, const void *b, bool spot)
{
	const struct vc_offer *x = offer_of(a), *y = offer_of(b);
	uint64_t p = offer_per_gpu(x, spot ? ((const struct priced_offer *)a)->spot_micros
	                                   : x->on_demand_micros);
	uint64_t q = offer_per_gpu(y, spot ? ((const struct priced_offer *)b)->spot_micros
	                                   : y->on_demand_micros);
	int currencies = strcmp(y->currency, x->currency); /* USD before CNY */
	bool quoted = x->kind == VC_OFFER_QUOTED;

	if (currencies) {
		return currencies;
	}
	if (quoted != (y->kind == VC_OFFER_QUOTED)) {
		return quoted ? 1 : -1;
	}
	if (p != q) {
		return p - 1 < q - 1 ? -1 : 1; /* 0 is above all */
	}
	return (x > y) - (x < y); /* the catalog's order: one array holds them all */
}

static int by_on_demand(const void *a, const void *b)
{
	return compare_prices(a, b, false);
}

static int by_spot(const void *a, const void *b)
{
	return compare_prices(a, b, true);
}

static bool read_search(const struct vc_catalog *catalog, struct offer_search *search)
{
	const struct text_list *named = &search->arguments->gpus;
	const struct name_place place = { "vramcalc offers", "--gpu" };
	bool good = offer_search_check(search, catalog);

	for (size_t i = 0; i < named->count; i++) {
		good = report_gpu(catalog, named->items[i], &place, &search->gpus) && good;
	}
	return good;
}

static int list(const struct vc_catalog *catalog, struct offer_search *search,
                struct priced_offer *found)
{
	struct offer_note notes[OFFER_NOTES] = { { "" } };
	struct table tables[2] = { { .id = "offers",
		                     .columns = columns,
		                     .column_count = sizeof columns / sizeof *columns,
		                     .rows = found,
		                     .row_size = sizeof *found },
		                   { .id = "notes",
		                     .columns = note_columns,
		                     .column_count = 1,
		                     .rows = notes,
		                     .row_size = sizeof *notes } };
	struct output out;

	if (!read_search(catalog, search)) {
		return EXIT_WRONG_INPUT;
	}
	for (size_t i = 0; i < catalog->offer_count; i++) {
		const struct vc_offer *offer = &catalog->offers[i];

		if (offer_passes(search, offer)) {
			struct priced_offer *row = &found[tables[0].row_count++];

			*row = offer_price(search, offer);
			vc_catalog_find(catalog, offer->gpu_id, &row->gpu, 1);
		}
	}
	qsort(found, tables[0].row_count, sizeof *found,
	      search->arguments->spot ? by_spot : by_on_demand);
	tables[1].row_count = offer_run_notes(search, notes);
	output_open(&out, search->arguments);
	list_print(&out, "offers", tables, tables[1].row_count ? 2 : 1);
	return EXIT_FITS;
}

int offers_command(struct arguments *arguments)
{
	struct vc_catalog_options options = { .files = arguments->catalogs.items,
		                              .file_count = arguments->catalogs.count };
	struct offer_search search = offer_search(arguments);
	struct vc_error_list errors = { 0 };
	struct priced_offer *found;
	int status = EXIT_WRONG_INPUT;
	struct vc_catalog catalog;

	if (vc_catalog_open(&catalog, &options, &errors) != VC_OK) {
		report_errors(&errors);
		return EXIT_WRONG_INPUT;
	}
	search.gpus.gpus = malloc(catalog.count * sizeof *search.gpus.gpus);
	found = malloc((catalog.offer_count + 1) * sizeof *found);
	if (search.gpus.gpus && found) {
		status = list(&catalog, &search, found);
	} else {
		report_no_memory();
	}
	free(found);
	free(search.gpus.gpus);
	vc_catalog_close(&catalog);
	return status;
}
