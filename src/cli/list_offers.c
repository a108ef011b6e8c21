/* `offers`: instance types with GPUs, and their prices. */
#include "catalog.h"
#include "commands.h"
#include "errors.h"
#include "list.h"
#include "nearest.h"
#include "print_text.h"
#include "report.h"
#include "run_price.h"

#include <stdlib.h>
#include <string.h>

struct row {
	const struct vc_offer *offer; /* first */
	uint64_t spot_micros;         /* the offer's, or assumed */
	bool spot_assumed;
	uint64_t run_micros, spot_run_micros; /* 0: unknown, or no run is meant */
};

static const struct vc_offer *offer_of(const void *row)
{
	return ((const struct row *)row)->offer;
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
	money(offer_of(row), ((const struct row *)row)->spot_micros, cell);
}

static void get_spot_gpu(const void *row, struct cell *cell)
{
	money(offer_of(row), per_gpu(offer_of(row), ((const struct row *)row)->spot_micros), cell);
}

static void get_assumed(const void *row, struct cell *cell)
{
	cell_flag(cell, ((const struct row *)row)->spot_assumed);
}

static void get_assumed_mark(const void *row, struct cell *cell)
{
	cell_text(cell, ((const struct row *)row)->spot_assumed ? "spot assumed" : NULL);
	cell->tone = TONE_CAREFUL;
}

static void get_run(const void *row, struct cell *cell)
{
	money(offer_of(row), ((const struct row *)row)->run_micros, cell);
}

static void get_spot_run(const void *row, struct cell *cell)
{
	money(offer_of(row), ((const struct row *)row)->spot_run_micros, cell);
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
	{ .id = "spot_assumed",
	  .heading = "assumed",
	  .type = CELL_FLAG,
	  .use = COLUMN_DATA,
	  .get = get_assumed },
	{ .id = "mark", .heading = "", .use = COLUMN_PEOPLE, .get = get_assumed_mark },
	{ .id = "run", .heading = "run", .type = CELL_MONEY, .get = get_run },
	{ .id = "spot_run", .heading = "spot run", .type = CELL_MONEY, .get = get_spot_run },
	{ .id = "currency", .heading = "currency", .use = COLUMN_DATA, .get = get_currency },
	{ .id = "as_of", .heading = "as of", .priority = 7, .get = get_as_of },
	{ .id = "source", .heading = "source", .use = COLUMN_DATA, .get = get_source },
	{ .id = "note", .heading = "note", .use = COLUMN_DATA, .get = get_note },
};

struct note {
	char text[320];
};

static void get_note_text(const void *row, struct cell *cell)
{
	cell_text(cell, ((const struct note *)row)->text);
}

static const struct column note_columns[] = {
	{ .id = "text", .heading = "of the run", .get = get_note_text },
};

/* The spot price, or where none is known and one is to be assumed a quarter of on-demand. */
static uint64_t spot_of(const struct arguments *arguments, const struct vc_offer *offer)
{
	return offer->spot_micros || !arguments->assume_spot ? offer->spot_micros
	                                                     : offer->on_demand_micros / 4;
}

struct search {
	struct vc_run run;

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
	uint64_t price = arguments->spot ? spot_of(arguments, offer) : offer->on_demand_micros;

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
	uint64_t p = per_gpu(x, spot ? ((const struct row *)a)->spot_micros : x->on_demand_micros);
	uint64_t q = per_gpu(y, spot ? ((const struct row *)b)->spot_micros : y->on_demand_micros);
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

/* A year has 8760 hours; what is above a million is a slip. */
static bool are_hours(const struct vc_run *run)
{
	enum {
		MOST_HOURS = 1000000
	};
	const uint64_t most = UINT64_C(1000000) * MOST_HOURS;

	if (run->hours_micros <= most && run->interval_micros <= most &&
	    run->checkpoint_micros <= most && run->restart_micros <= most) {
		return true;
	}
	fprintf(stderr, "vramcalc offers: --hours and the other times are at most %d hours\n",
	        MOST_HOURS);
	return false;
}

static bool read_search(const struct vc_catalog *catalog, struct search *search)
{
	const struct arguments *arguments = search->arguments;
	const struct name_place place = { "vramcalc offers", "--gpu" };
	bool good = are_hours(&search->run) &&
	            is_known(catalog, "cloud", offsetof(struct vc_offer, cloud), arguments->cloud);

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

/* Hours as they are billed. */
static uint64_t billed(const struct arguments *arguments)
{
	enum {
		MILLION = 1000000
	};
	uint64_t hours = arguments->hours_micros, per_hour = arguments->billing.index ? 1 : 60;

	if (!arguments->billing.given || hours > UINT64_MAX / 120) {
		return hours;
	}
	return ((hours * per_hour + MILLION - 1) / MILLION * MILLION + per_hour - 1) / per_hour;
}

static uint64_t or_else(uint64_t given, uint64_t otherwise)
{
	return given ? given : otherwise;
}

static struct row price_run(const struct search *search, const struct vc_offer *offer)
{
	const struct arguments *arguments = search->arguments;
	const struct vc_run *run = &search->run;
	struct row row = { .offer = offer, .spot_micros = spot_of(arguments, offer) };

	row.spot_assumed = row.spot_micros != offer->spot_micros;
	if (run->hours_micros) {
		row.run_micros = vc_run_price(offer->on_demand_micros, run->hours_micros, 1000000);
	}
	if (run->hours_micros && !arguments->not_resumable) {
		row.spot_run_micros =
		        vc_run_price(row.spot_micros, run->hours_micros, vc_run_spot_factor(run));
	}
	return row;
}

/* What the prices of the run assume. */
static size_t note_run(const struct search *search, struct note notes[3])
{
	const struct arguments *arguments = search->arguments;
	const struct vc_run *run = &search->run;
	struct vc_run really = search->run; /* not rounded as it is billed */
	char factor[48], few[48], many[48];
	size_t count = 0;

	really.hours_micros = arguments->hours_micros;
	if (!run->hours_micros) {
		return 0;
	}
	format_ratio(factor, sizeof factor, vc_run_spot_factor(run), 1000000);
	format_ratio(many, sizeof many, vc_run_interruptions(&really, run->interval_micros),
	             1000000);
	format_ratio(few, sizeof few, vc_run_interruptions(&really, 48000000), 1000000);
	snprintf(notes[count++].text, sizeof notes->text,
	         "A spot run expects %s%s%s interruptions%s.", many,
	         arguments->interval_micros ? "" : " to ", arguments->interval_micros ? "" : few,
	         arguments->interval_micros ? ""
	         : arguments->not_resumable ? ", every 6 to 48 h (assumed)"
	                                    : ", every 6 to 48 h (assumed; priced at 6)");
	snprintf(notes[count++].text, sizeof notes->text,
	         "Its price has the factor 1 + (c/2 + r)/m = %s for lost work and restarts%s.",
	         factor,
	         arguments->checkpoint_micros && arguments->restart_micros
	                 ? ""
	                 : "; c = 1 h and r = 0.2 h are assumed where not given");
	if (arguments->not_resumable) {
		snprintf(notes[count - 1].text, sizeof notes->text,
		         "A run that starts over when interrupted has no expected spot price%s.",
		         really.hours_micros > 24000000 ? "; above 24 h spot is the wrong choice: "
		                                          "take on-demand or reserved"
		                                        : "");
	}
	return count;
}

static int list(const struct vc_catalog *catalog, struct search *search, struct row *found)
{
	struct note notes[3] = { { "" } };
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
		if (passes(search, &catalog->offers[i])) {
			found[tables[0].row_count++] = price_run(search, &catalog->offers[i]);
		}
	}
	qsort(found, tables[0].row_count, sizeof *found,
	      search->arguments->spot ? by_spot : by_on_demand);
	tables[1].row_count = note_run(search, notes);
	output_open(&out, search->arguments);
	list_print(&out, "offers", tables, tables[1].row_count ? 2 : 1);
	return EXIT_FITS;
}

int offers_command(struct arguments *arguments)
{
	struct vc_catalog_options options = { .files = arguments->catalogs.items,
		                              .file_count = arguments->catalogs.count };
	struct search search = { .arguments = arguments,
		                 .run = { billed(arguments),
		                          or_else(arguments->interval_micros, 6000000),
		                          or_else(arguments->checkpoint_micros, 1000000),
		                          or_else(arguments->restart_micros, 200000) } };
	struct vc_error_list errors = { 0 };
	struct row *found;
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
