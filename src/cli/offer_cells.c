#include "offer_cells.h"

#include "list.h"

const struct vc_offer *offer_of(const void *row)
{
	return ((const struct priced_offer *)row)->offer;
}

void cell_cloud(const void *row, struct cell *cell)
{
	cell_text(cell, offer_of(row)->cloud);
}

void cell_region(const void *row, struct cell *cell)
{
	cell_text(cell, offer_of(row)->region);
}

void cell_instance(const void *row, struct cell *cell)
{
	cell_text(cell, offer_of(row)->instance);
}

void cell_offer_gpu(const void *row, struct cell *cell)
{
	cell_text(cell, offer_of(row)->gpu_id);
}

void cell_host(const void *row, struct cell *cell)
{
	cell_number_or_none(cell, offer_of(row)->host_bytes);
}

void cell_spot_assumed(const void *row, struct cell *cell)
{
	cell_flag(cell, ((const struct priced_offer *)row)->spot_assumed);
}

void cell_offer_currency(const void *row, struct cell *cell)
{
	cell_text(cell, offer_of(row)->currency);
}

void cell_offer_as_of(const void *row, struct cell *cell)
{
	cell_text(cell, offer_of(row)->as_of);
}

void cell_offer_source(const void *row, struct cell *cell)
{
	cell_text(cell, offer_of(row)->source);
}

void cell_offer_origin(const void *row, struct cell *cell)
{
	cell_text(cell, offer_of(row)->origin.text);
}
