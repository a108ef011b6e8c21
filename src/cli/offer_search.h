/* Offers as the command line asks for them: which pass, and what a run on them costs. */
#ifndef VC_CLI_OFFER_SEARCH_H
#define VC_CLI_OFFER_SEARCH_H

#include "arguments.h"
#include "report.h"
#include "run_price.h"

/* --cloud, --region, --currency, --spot, --max-price, and the run of --hours. */
struct offer_search {
	const struct arguments *arguments;
	struct vc_run run;    /* hours as they are billed; 0: no run is meant */
	const char *currency; /* NULL: any */
	struct gpu_list gpus; /* none: any */
};

/* With no GPUs yet. */
struct offer_search offer_search(const struct arguments *arguments);

/* Whether the words that were given are those of some offer and the times are possible; says on
 * standard error what is not. */
bool offer_search_check(const struct offer_search *search, const struct vc_catalog *catalog);

bool offer_passes(const struct offer_search *search, const struct vc_offer *offer);

struct priced_offer {
	const struct vc_offer *offer; /* first */
	const struct vc_gpu *gpu;     /* NULL: nobody asked */
	uint64_t spot_micros;         /* the offer's, or assumed */
	bool spot_assumed;
	uint64_t run_micros, spot_run_micros; /* 0: unknown, or no run is meant */
};
struct priced_offer offer_price(const struct offer_search *search, const struct vc_offer *offer);

/* The on-demand price of a GB (10^9 bytes, as marketed) of GPU memory; 0: unknown. */
uint64_t offer_per_gb(const struct vc_offer *offer, const struct vc_gpu *gpu);

/* The price of one GPU; 0: unknown, as it is where only a part of one is for rent. */
uint64_t offer_per_gpu(const struct vc_offer *offer, uint64_t micros);

/* What the prices of the run assume; returns how many sentences. */
enum {
	OFFER_NOTES = 3
};
struct offer_note {
	char text[320];
};
size_t offer_run_notes(const struct offer_search *search, struct offer_note notes[OFFER_NOTES]);

#endif
