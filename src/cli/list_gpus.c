/* `gpus`: the catalog. */
#include "catalog.h"
#include "commands.h"
#include "errors.h"
#include "list.h"
#include "local_catalog.h"
#include "names.h"
#include "print_text.h"
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>

static const struct vc_gpu *gpu_of(const void *row)
{
	return *(const struct vc_gpu *const *)row;
}

static void get_id(const void *row, struct cell *cell)
{
	cell_text(cell, gpu_of(row)->id);
}

static void get_name(const void *row, struct cell *cell)
{
	cell_text(cell, gpu_of(row)->name);
}

static void get_family(const void *row, struct cell *cell)
{
	cell_text(cell, gpu_of(row)->family);
}

static void get_vendor(const void *row, struct cell *cell)
{
	cell_text(cell, name_of_vendor(gpu_of(row)->vendor));
}

static void get_architecture(const void *row, struct cell *cell)
{
	cell_text(cell, gpu_of(row)->architecture);
}

static void get_compute_capability(const void *row, struct cell *cell)
{
	uint32_t capability = gpu_of(row)->compute_capability;

	cell->known = capability != 0;
	text_append(cell->buffer, sizeof cell->buffer, "%" PRIu32 ".%" PRIu32, capability / 10,
	            capability % 10);
}

static void get_memory(const void *row, struct cell *cell)
{
	cell_number(cell, gpu_of(row)->memory_bytes);
}

static void get_driver(const void *row, struct cell *cell)
{
	cell_number_or_none(cell, gpu_of(row)->driver_bytes);
}

static void get_usable(const void *row, struct cell *cell)
{
	cell_number_or_none(cell, gpu_of(row)->usable_bytes);
}

static void get_bandwidth(const void *row, struct cell *cell)
{
	cell_number_or_none(cell, gpu_of(row)->bandwidth_gbs);
}

static void get_link(const void *row, struct cell *cell)
{
	enum vc_link link = gpu_of(row)->link;

	cell_text(cell, link == VC_LINK_UNKNOWN ? NULL : name_of_link(link));
}

static void get_link_rate(const void *row, struct cell *cell)
{
	cell_number_or_none(cell, gpu_of(row)->link_gbs);
}

static void get_pcie(const void *row, struct cell *cell)
{
	const struct vc_gpu *gpu = gpu_of(row);

	cell->known = gpu->pcie_generation && gpu->pcie_lanes;
	text_append(cell->buffer, sizeof cell->buffer, "%" PRIu32 ".0 x%" PRIu32,
	            gpu->pcie_generation, gpu->pcie_lanes);
}

static void get_bf16(const void *row, struct cell *cell)
{
	cell_flag(cell, gpu_of(row)->supports_bf16);
}

static void get_fp8(const void *row, struct cell *cell)
{
	cell_flag(cell, gpu_of(row)->supports_fp8);
}

static void get_fp4(const void *row, struct cell *cell)
{
	cell_flag(cell, gpu_of(row)->supports_fp4);
}

static void get_int8(const void *row, struct cell *cell)
{
	cell_flag(cell, gpu_of(row)->supports_int8);
}

static void get_mig(const void *row, struct cell *cell)
{
	cell_flag(cell, gpu_of(row)->mig_capable);
}

static void get_price(const void *row, struct cell *cell)
{
	const struct vc_price *price = &gpu_of(row)->price;

	cell_number(cell, price->per_hour_micros);
	cell->known = price->known;
	cell->text = price->currency;
}

static void get_currency(const void *row, struct cell *cell)
{
	cell_text(cell, gpu_of(row)->price.known ? gpu_of(row)->price.currency : NULL);
}

static void get_offer(const void *row, struct cell *cell)
{
	cell_text(cell, gpu_of(row)->price.known ? gpu_of(row)->price.offer : NULL);
}

static void get_as_of(const void *row, struct cell *cell)
{
	cell_text(cell, gpu_of(row)->price.known ? gpu_of(row)->price.as_of : NULL);
}

static void get_price_origin(const void *row, struct cell *cell)
{
	cell_text(cell, gpu_of(row)->price.known ? gpu_of(row)->price.origin : NULL);
}

static void get_origin(const void *row, struct cell *cell)
{
	cell_text(cell, gpu_of(row)->origin);
}

static void get_sources(const void *row, struct cell *cell)
{
	cell_text(cell, vc_catalog_entry(gpu_of(row))->sources);
}

static void get_note(const void *row, struct cell *cell)
{
	cell_text(cell, vc_catalog_entry(gpu_of(row))->note);
}

static void get_verified(const void *row, struct cell *cell)
{
	cell_flag(cell, gpu_of(row)->verified);
}

static void get_mark(const void *row, struct cell *cell)
{
	cell_text(cell, gpu_of(row)->verified ? NULL : "unverified");
	cell->tone = TONE_CAREFUL;
}

static const struct column columns[] = {
	{ .id = "id", .heading = "id", .get = get_id },
	{ .id = "name", .heading = "GPU", .may_be_cut = true, .priority = 7, .get = get_name },
	{ .id = "family", .heading = "family", .use = COLUMN_DATA, .get = get_family },
	{ .id = "vendor", .heading = "vendor", .use = COLUMN_DATA, .get = get_vendor },
	{ .id = "architecture", .heading = "architecture", .priority = 8, .get = get_architecture },
	{ .id = "compute_capability",
	  .heading = "CC",
	  .priority = 9,
	  .get = get_compute_capability },
	{ .id = "memory_bytes", .heading = "marketed", .type = CELL_BYTES, .get = get_memory },
	{ .id = "driver_bytes",
	  .heading = "driver",
	  .type = CELL_BYTES,
	  .priority = 2,
	  .get = get_driver },
	{ .id = "usable_bytes",
	  .heading = "usable",
	  .type = CELL_BYTES,
	  .priority = 1,
	  .get = get_usable },
	{ .id = "bandwidth_gbs",
	  .heading = "GB/s",
	  .type = CELL_COUNT,
	  .priority = 6,
	  .get = get_bandwidth },
	{ .id = "link", .heading = "link", .priority = 4, .get = get_link },
	{ .id = "link_gbs",
	  .heading = "link GB/s",
	  .type = CELL_COUNT,
	  .priority = 5,
	  .get = get_link_rate },
	{ .id = "pcie", .heading = "PCIe", .priority = 10, .get = get_pcie },
	{ .id = "bf16", .heading = "bf16", .type = CELL_FLAG, .use = COLUMN_DATA, .get = get_bf16 },
	{ .id = "fp8", .heading = "fp8", .type = CELL_FLAG, .use = COLUMN_DATA, .get = get_fp8 },
	{ .id = "fp4", .heading = "fp4", .type = CELL_FLAG, .use = COLUMN_DATA, .get = get_fp4 },
	{ .id = "int8", .heading = "int8", .type = CELL_FLAG, .use = COLUMN_DATA, .get = get_int8 },
	{ .id = "mig", .heading = "MIG", .type = CELL_FLAG, .use = COLUMN_DATA, .get = get_mig },
	{ .id = "price.per_hour",
	  .heading = "per hour",
	  .type = CELL_MONEY,
	  .priority = 3,
	  .get = get_price },
	{ .id = "price.currency", .heading = "currency", .use = COLUMN_DATA, .get = get_currency },
	{ .id = "price.offer",
	  .heading = "offer",
	  .may_be_cut = true,
	  .priority = 11,
	  .get = get_offer },
	{ .id = "price.as_of", .heading = "as of", .priority = 12, .get = get_as_of },
	{ .id = "verified",
	  .heading = "verified",
	  .type = CELL_FLAG,
	  .use = COLUMN_DATA,
	  .get = get_verified },
	{ .id = "mark", .heading = "", .use = COLUMN_PEOPLE, .priority = 13, .get = get_mark },
	{ .id = "price.origin", .heading = "price from", .priority = 4, .get = get_price_origin },
	{ .id = "origin", .heading = "from", .priority = 4, .get = get_origin },
	{ .id = "sources", .heading = "sources", .use = COLUMN_DATA, .get = get_sources },
	{ .id = "note", .heading = "note", .use = COLUMN_DATA, .get = get_note },
};

static bool choose(const struct arguments *arguments, const struct vc_catalog *catalog,
                   struct gpu_list *list)
{
	bool all_known = true;

	for (size_t i = 0; i < catalog->count && !arguments->operands.count; i++) {
		list->gpus[list->count++] = &catalog->gpus[i].gpu;
	}
	for (size_t i = 0; i < arguments->operands.count; i++) {
		all_known = report_gpu(catalog, arguments->operands.items[i],
		                       &(struct name_place){ "vramcalc gpus", "" }, list) &&
		            all_known;
	}
	return all_known;
}

static void keep_vendor(const struct arguments *arguments, struct gpu_list *list)
{
	size_t kept = 0;

	for (size_t i = 0; arguments->vendor.given && i < list->count; i++) {
		if (list->gpus[i]->vendor == (enum vc_vendor)arguments->vendor.index) {
			list->gpus[kept++] = list->gpus[i];
		}
	}
	list->count = arguments->vendor.given ? kept : list->count;
}

int gpus_command(struct arguments *arguments)
{
	struct vc_catalog_options options = { .files = arguments->catalogs.items,
		                              .file_count = arguments->catalogs.count };
	struct vc_error_list errors = { 0 };
	struct gpu_list list = { 0 };
	int status = EXIT_WRONG_INPUT;
	struct vc_catalog catalog;
	struct output out;

	if (vc_catalog_open(&catalog, &options, &errors) != VC_OK) {
		report_errors(&errors);
		return EXIT_WRONG_INPUT;
	}
	if (arguments->local) {
		status = local_list(arguments, &catalog);
		vc_catalog_close(&catalog);
		return status;
	}
	output_open(&out, arguments);
	list.gpus = malloc(catalog.count * sizeof *list.gpus);
	if (!list.gpus) {
		report_no_memory();
	} else if (choose(arguments, &catalog, &list)) {
		struct table table = { .id = "gpus",
			               .columns = columns,
			               .column_count = sizeof columns / sizeof *columns,
			               .rows = list.gpus,
			               .row_size = sizeof *list.gpus };

		keep_vendor(arguments, &list);
		table.row_count = list.count;
		list_print(&out, "gpus", &table, 1);
		status = EXIT_FITS;
	}
	free(list.gpus);
	vc_catalog_close(&catalog);
	return status;
}
