/* `offers`: instance types with GPUs, and their prices. */
#include "catalog.h"
#include "commands.h"
#include "errors.h"
#include "list.h"
#include "nearest.h"
#include "print_text.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>

static const struct vc_offer *offer_of(const void *row)
{
	return *(const struct vc_offer *const *)row;
}

static void get_cloud(const void *row, struct cell *cell)
{
	cell_text(cell, offer_of(row)->cloud);
}

static void get_region(const void *row, struct cell *cell)
{
	cell_text(cell, offer_of(row)->region);
}

static void get_instance(const void *row, struct cell *cell)
{
	cell_text(cell, offer_of(row)->instance);
}

static void get_gpu(const void *row, struct cell *cell)
{
	cell_text(cell, offer_of(row)->gpu_id);
}

static void get_gpus(const void *row, struct cell *cell)
{
	cell_number_or_none(cell, offer_of(row)->gpus_micros);
	cell->divisor = 1000000;
}

static void get_kind(const void *row, struct cell *cell)
{
	cell_text(cell, vc_offer_kind_name(offer_of(row)->kind));
}

/* The price of one GPU; 0: unknown, as it is where only a part of one is for rent. */
static uint64_t per_gpu(const struct vc_offer *offer, uint64_t micros)
{
	return offer->gpus_micros && offer->kind != VC_OFFER_FRACTION &&
	                       micros <= UINT64_MAX / 1000000
	               ? micros * 1000000 / offer->gpus_micros
	               : 0;
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
	money(offer_of(row), per_gpu(offer_of(row), offer_of(row)->on_demand_micros), cell);
}

static void get_spot(const void *row, struct cell *cell)
{
	money(offer_of(row), offer_of(row)->spot_micros, cell);
}

static void get_spot_gpu(const void *row, struct cell *cell)
{
	money(offer_of(row), per_gpu(offer_of(row), offer_of(row)->spot_micros), cell);
}

static void get_currency(const void *row, struct cell *cell)
{
	cell_text(cell, offer_of(row)->currency);
}

static void get_as_of(const void *row, struct cell *cell)
{
	cell_text(cell, offer_of(row)->as_of);
}

static void get_source(const void *row, struct cell *cell)
{
	cell_text(cell, offer_of(row)->source);
}

static void get_note(const void *row, struct cell *cell)
{
	cell_text(cell, offer_of(row)->note);
}

static const struct column columns[] = {
	{ .id = "cloud", .heading = "cloud", .get = get_cloud },
	{ .id = "region", .heading = "region", .priority = 3, .get = get_region },
	{ .id = "instance", .heading = "instance", .may_be_cut = true, .get = get_instance },
	{ .id = "gpu", .heading = "GPU", .priority = 1, .get = get_gpu },
	{ .id = "gpus", .heading = "GPUs", .type = CELL_RATIO, .priority = 2, .get = get_gpus },
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
	{ .id = "spot", .heading = "spot", .type = CELL_MONEY, .priority = 6, .get = get_spot },
	{ .id = "spot_per_gpu",
	  .heading = "spot per GPU",
	  .type = CELL_MONEY,
	  .priority = 5,
	  .get = get_spot_gpu },
	{ .id = "currency", .heading = "currency", .use = COLUMN_DATA, .get = get_currency },
	{ .id = "as_of", .heading = "as of", .priority = 7, .get = get_as_of },
	{ .id = "source", .heading = "source", .use = COLUMN_DATA, .get = get_source },
	{ .id = "note", .heading = "note", .use = COLUMN_DATA, .get = get_note },
};

struct search {
	const struct arguments *arguments;
	const char *currency; /* NULL: any */
	struct gpu_list gpus; /* none: any */
};

static bool is_gpu(const struct search *search, const char *id)
{
	for (size_t i = 0; i < search->gpus.count; i++) {
		if (strcmp(search->gpus.gpus[i]->id, id) == 0) {
			return true;
		}
	}
	return search->gpus.count == 0;
}

static bool passes(const struct search *search, const struct vc_offer *offer)
{
	const struct arguments *arguments = search->arguments;
	uint64_t price = arguments->spot ? offer->spot_micros : offer->on_demand_micros;

	return (!arguments->cloud || strcmp(arguments->cloud, offer->cloud) == 0) &&
	       (!arguments->region || strcmp(arguments->region, offer->region) == 0) &&
	       (!search->currency || strcmp(search->currency, offer->currency) == 0) &&
	       (!arguments->spot || price) &&
	       (!arguments->max_price_micros || (price && price <= arguments->max_price_micros)) &&
	       is_gpu(search, offer->gpu_id);
}

/* By currency, since none is converted; in each the cheapest GPU first, what has no price last. */
static int compare_prices(const void *a, const void *b, bool spot)
{
	const struct vc_offer *x = offer_of(a), *y = offer_of(b);
	uint64_t p = per_gpu(x, spot ? x->spot_micros : x->on_demand_micros);
	uint64_t q = per_gpu(y, spot ? y->spot_micros : y->on_demand_micros);
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

/* A word that no offer has in this place is a slip; so said, with the nearest. */
static bool is_known(const struct vc_catalog *catalog, const char *option, size_t offset,
                     const char *word)
{
	struct vc_nearest nearest = { .wanted = word };
	char shown[160];

	for (size_t i = 0; word && i < catalog->offer_count; i++) {
		const char *have;

		memcpy(&have, (const char *)&catalog->offers[i] + offset, sizeof have);
		if (strcmp(have, word) == 0) {
			return true;
		}
		vc_nearest_offer(&nearest, have);
	}
	if (!word) {
		return true;
	}
	text_copy(shown, sizeof shown, word, true);
	fprintf(stderr, "vramcalc offers: --%s: no offer has %s (%s%s%s)\n", option, shown,
	        nearest.best ? "did you mean " : "vramcalc offers lists them",
	        nearest.best ? nearest.best : "", nearest.best ? "?" : "");
	return false;
}

static bool read_search(const struct vc_catalog *catalog, struct search *search)
{
	const struct arguments *arguments = search->arguments;
	const struct name_place place = { "vramcalc offers", "--gpu" };
	bool good = is_known(catalog, "cloud", offsetof(struct vc_offer, cloud), arguments->cloud);

	good = is_known(catalog, "region", offsetof(struct vc_offer, region), arguments->region) &&
	       good;
	for (size_t i = 0; i < arguments->gpus.count; i++) {
		good = report_gpu(catalog, arguments->gpus.items[i], &place, &search->gpus) && good;
	}
	search->currency = arguments->currency           ? arguments->currency
	                   : arguments->max_price_micros ? "USD"
	                                                 : NULL;
	return good;
}

static int list(const struct vc_catalog *catalog, struct search *search,
                const struct vc_offer **found)
{
	struct table table = { .id = "offers",
		               .columns = columns,
		               .column_count = sizeof columns / sizeof *columns,
		               .rows = found,
		               .row_size = sizeof *found };
	struct output out;

	if (!read_search(catalog, search)) {
		return EXIT_WRONG_INPUT;
	}
	for (size_t i = 0; i < catalog->offer_count; i++) {
		if (passes(search, &catalog->offers[i])) {
			found[table.row_count++] = &catalog->offers[i];
		}
	}
	qsort(found, table.row_count, sizeof *found,
	      search->arguments->spot ? by_spot : by_on_demand);
	output_open(&out, search->arguments);
	list_print(&out, "offers", &table, 1);
	return EXIT_FITS;
}

int offers_command(struct arguments *arguments)
{
	struct vc_catalog_options options = { .files = arguments->catalogs.items,
		                              .file_count = arguments->catalogs.count };
	struct search search = { .arguments = arguments };
	struct vc_error_list errors = { 0 };
	const struct vc_offer **found;
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
