/* What tables say of an offer: getters for rows that begin with a struct priced_offer. */
#ifndef VC_CLI_OFFER_CELLS_H
#define VC_CLI_OFFER_CELLS_H

#include "offer_search.h"
#include "table.h"

const struct vc_offer *offer_of(const void *row);

void cell_cloud(const void *row, struct cell *cell);
void cell_region(const void *row, struct cell *cell);
void cell_instance(const void *row, struct cell *cell);
void cell_offer_gpu(const void *row, struct cell *cell);
void cell_host(const void *row, struct cell *cell);
void cell_spot_assumed(const void *row, struct cell *cell);
void cell_offer_currency(const void *row, struct cell *cell);
void cell_offer_as_of(const void *row, struct cell *cell);
void cell_offer_source(const void *row, struct cell *cell);
void cell_offer_origin(const void *row, struct cell *cell);

#endif
