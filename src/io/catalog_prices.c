/* A GPU's prices: of the offers of it one in each currency. docs/catalog.md#add-a-price */
#include "catalog_draft.h"

#include <stdio.h>
#include <string.h>

static uint64_t per_gpu(const struct vc_offer *offer)
{
	if (offer->gpus_micros == 0) {
		return 0;
	}
	return (offer->on_demand_micros * 1000000 + offer->gpus_micros / 2) / offer->gpus_micros;
}

/* "aws g4dn.xlarge us-east-1"; a price without a cloud is named by its file and line. */
static const char *offer_text(struct vc_catalog_draft *draft, const struct vc_offer *offer)
{
	bool region = *offer->region && strcmp(offer->region, "*") != 0;
	char text[512];

	if (!*offer->cloud) {
		return offer->origin.text;
	}
	snprintf(text, sizeof text, "%s %s%s%s", offer->cloud, offer->instance, region ? " " : "",
	         region ? offer->region : "");
	return vc_draft_keep(draft, text);
}

enum {
	MAX_CURRENCIES = 200 /* more than there are */
};

/* The offers that set a GPU's prices: one per currency. */
struct best {
	const struct vc_offer *offers[MAX_CURRENCIES];
	uint32_t count;
};

/* A GPU's own price_per_hour, which has no cloud, before rows of what the user pays, before all
 * others. */
static int rank(const struct vc_offer *offer)
{
	return offer->kind != VC_OFFER_OWN ? 0 : *offer->cloud ? 1 : 2;
}

/* Among equals the cheaper one; of two price_per_hour the later file's holds. */
static bool beats(const struct vc_offer *a, const struct vc_offer *b)
{
	if (rank(a) != rank(b)) {
		return rank(a) > rank(b);
	}
	return rank(a) == 2 ? a > b : per_gpu(a) < per_gpu(b);
}

static void consider(struct best *best, const struct vc_offer *offer)
{
	uint32_t i = 0;

	if (per_gpu(offer) == 0 || !vc_offer_ranks(offer)) {
		return;
	}
	while (i < best->count && strcmp(best->offers[i]->currency, offer->currency) != 0) {
		i++;
	}
	if (i == best->count && i < MAX_CURRENCIES) {
		best->offers[best->count++] = offer;
	} else if (i < best->count && beats(offer, best->offers[i])) {
		best->offers[i] = offer;
	}
}

static const struct vc_price *price_in(const struct vc_catalog_gpu *gpu, const char *currency)
{
	for (uint32_t i = 0; i < gpu->price_count; i++) {
		if (strcmp(gpu->prices[i].currency, currency) == 0) {
			return &gpu->prices[i];
		}
	}
	return NULL;
}

/* In `currency`, else in USD, else in any. */
static struct vc_price choose_price(const struct vc_catalog_gpu *gpu, const char *currency)
{
	const struct vc_price *price = currency ? price_in(gpu, currency) : NULL;

	if (!price) {
		price = price_in(gpu, "USD");
	}
	if (!price && gpu->price_count) {
		price = gpu->prices;
	}
	return price ? *price : (struct vc_price){ .offer = "", .as_of = "" };
}

void vc_draft_set_prices(struct vc_catalog_draft *draft, struct vc_catalog_gpu *gpu,
                         const char *currency)
{
	struct best best = { .count = 0 };
	struct vc_price *prices;

	for (size_t i = 0; i < draft->offer_count; i++) {
		if (draft->offers[i].gpu_id == gpu->gpu.id) { /* resolved: the very text */
			consider(&best, &draft->offers[i]);
		}
	}
	prices = vc_arena_take(&draft->arena, (best.count + 1) * sizeof *prices);
	if (!prices) {
		vc_draft_no_memory(draft);
		return;
	}
	for (uint32_t i = 0; i < best.count; i++) {
		prices[i] =
		        (struct vc_price){ .known = true,
			                   .per_hour_micros = per_gpu(best.offers[i]),
			                   .offer = offer_text(draft, best.offers[i]),
			                   .as_of = best.offers[i]->as_of,
			                   .origin = draft->is_users ? best.offers[i]->origin.text
			                                             : NULL };
		memcpy(prices[i].currency, best.offers[i]->currency, 4);
	}
	gpu->prices = prices;
	gpu->price_count = best.count;
	gpu->gpu.price = choose_price(gpu, currency);
}
