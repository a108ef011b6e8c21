#include "offer_search.h"

#include "format.h"
#include "nearest.h"
#include "print_text.h"

#include <stddef.h>
#include <string.h>

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

/* A word that no offer has in this place is a slip; so said, with the nearest. */
static bool is_known(const struct offer_search *search, const struct vc_catalog *catalog,
                     const char *option, size_t offset)
{
	const char *word = offset == offsetof(struct vc_offer, cloud) ? search->arguments->cloud
	                                                              : search->arguments->region;
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
	fprintf(stderr, "vramcalc %s: --%s: no offer has %s (%s%s%s)\n",
	        search->arguments->command->name, option, shown,
	        nearest.best ? "did you mean " : "vramcalc offers lists them",
	        nearest.best ? nearest.best : "", nearest.best ? "?" : "");
	return false;
}

/* A year has 8760 hours; what is above a million is a slip. */
static bool are_hours(const struct offer_search *search)
{
	const struct vc_run *run = &search->run;
	enum {
		MOST_HOURS = 1000000
	};
	const uint64_t most = UINT64_C(1000000) * MOST_HOURS;

	if (run->hours_micros <= most && run->interval_micros <= most &&
	    run->checkpoint_micros <= most && run->restart_micros <= most) {
		return true;
	}
	fprintf(stderr, "vramcalc %s: --hours and the other times are at most %d hours\n",
	        search->arguments->command->name, MOST_HOURS);
	return false;
}

struct offer_search offer_search(const struct arguments *arguments)
{
	return (struct offer_search){
		.arguments = arguments,
		.run = { billed(arguments), or_else(arguments->interval_micros, 6000000),
		         or_else(arguments->checkpoint_micros, 1000000),
		         or_else(arguments->restart_micros, 200000) },
		.currency = arguments->currency           ? arguments->currency
		            : arguments->max_price_micros ? "USD"
		                                          : NULL,
	};
}

bool offer_search_check(const struct offer_search *search, const struct vc_catalog *catalog)
{
	bool good = are_hours(search) &&
	            is_known(search, catalog, "cloud", offsetof(struct vc_offer, cloud));

	return is_known(search, catalog, "region", offsetof(struct vc_offer, region)) && good;
}

/* The spot price, or where none is known and one is to be assumed a quarter of on-demand. */
static uint64_t spot_of(const struct arguments *arguments, const struct vc_offer *offer)
{
	return offer->spot_micros || !arguments->assume_spot ? offer->spot_micros
	                                                     : offer->on_demand_micros / 4;
}

static bool is_gpu(const struct offer_search *search, const char *id)
{
	for (size_t i = 0; i < search->gpus.count; i++) {
		if (strcmp(search->gpus.gpus[i]->id, id) == 0) {
			return true;
		}
	}
	return search->gpus.count == 0;
}

bool offer_passes(const struct offer_search *search, const struct vc_offer *offer)
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

struct priced_offer offer_price(const struct offer_search *search, const struct vc_offer *offer)
{
	const struct arguments *arguments = search->arguments;
	const struct vc_run *run = &search->run;
	struct priced_offer row = { .offer = offer, .spot_micros = spot_of(arguments, offer) };

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

uint64_t offer_per_gpu(const struct vc_offer *offer, uint64_t micros)
{
	return offer->gpus_micros && offer->kind != VC_OFFER_FRACTION &&
	                       micros <= UINT64_MAX / 1000000
	               ? micros * 1000000 / offer->gpus_micros
	               : 0;
}

uint64_t offer_per_gb(const struct vc_offer *offer, const struct vc_gpu *gpu)
{
	uint64_t gigabytes = gpu->memory_bytes / 1000000000;

	return gigabytes ? offer_per_gpu(offer, offer->on_demand_micros) / gigabytes : 0;
}

/* What the prices of the run assume. */
size_t offer_run_notes(const struct offer_search *search, struct offer_note notes[OFFER_NOTES])
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
