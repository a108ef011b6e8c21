/*
 * Writes the built-in catalog as C: const tables, so that it costs nothing to have.
 * embed_catalog OUTPUT.c GPUS.yaml OFFERS.csv MIG.yaml PLATFORMS.yaml
 */
#include "catalog_draft.h"
#include "mig.h"
#include "platforms.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `*text` is to be freed, whatever comes of it. */
static bool read_file(const char *path, char **text, struct vc_catalog_text *source)
{
	enum {
		LIMIT = 4 << 20
	};
	FILE *file = fopen(path, "rb");
	const char *slash = strrchr(path, '/');
	size_t length = 0;
	bool good;

	*text = malloc(LIMIT + 1);
	if (file && *text) {
		length = fread(*text, 1, LIMIT, file);
		(*text)[length] = 0;
	}
	good = file && *text && !ferror(file) && length < LIMIT;
	if (file) {
		fclose(file);
	}
	if (!good) {
		fprintf(stderr, "%s: cannot be read\n", path);
	}
	*source = (struct vc_catalog_text){ slash ? slash + 1 : path, *text, length };
	return good;
}

void embed_text(FILE *out, const char *text)
{
	putc('"', out);
	for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
		if (*c < ' ' || *c > '~' || *c == '"' || *c == '\\' || *c == '?') {
			fprintf(out, "\\%03o", *c);
		} else {
			putc(*c, out);
		}
	}
	putc('"', out);
}

static void put_member(FILE *out, const char *name, const char *text)
{
	fprintf(out, "\t\t.%s = ", name);
	embed_text(out, text);
	fputs(",\n", out);
}

static void put_number(FILE *out, const char *name, uint64_t value)
{
	if (value) {
		fprintf(out, "\t\t.%s = UINT64_C(%" PRIu64 "),\n", name, value);
	}
}

static void put_price(FILE *out, const struct vc_price *price)
{
	fprintf(out, "{ %d, UINT64_C(%" PRIu64 "), \"%s\", ", price->known, price->per_hour_micros,
	        price->currency);
	embed_text(out, price->offer ? price->offer : "");
	fputs(", ", out);
	embed_text(out, price->as_of ? price->as_of : "");
	fputs(", 0 },\n", out);
}

static void put_lists(FILE *out, size_t i, const struct vc_catalog_gpu *entry)
{
	fprintf(out, "static const char *const aliases_%zu[] = { ", i);
	for (size_t j = 0; entry->gpu.aliases[j]; j++) {
		embed_text(out, entry->gpu.aliases[j]);
		fputs(", ", out);
	}
	fprintf(out, "0 };\nstatic const struct vc_price prices_%zu[] = {\n", i);
	for (uint32_t j = 0; j < entry->price_count; j++) {
		put_price(out, &entry->prices[j]);
	}
	fprintf(out, "{ 0 } };\nstatic const struct vc_citation citations_%zu[] = {\n", i);
	for (uint32_t j = 0; j < entry->citation_count; j++) {
		fprintf(out, "\t{ \"%s\", ", entry->citations[j].field);
		embed_text(out, entry->citations[j].source);
		fputs(" },\n", out);
	}
	fputs("\t{ 0 } };\n", out);
}

static void put_gpu(FILE *out, size_t i, const struct vc_catalog_gpu *entry)
{
	const struct vc_gpu *gpu = &entry->gpu;

	fputs("\t{\n", out);
	put_member(out, "gpu.id", gpu->id);
	put_member(out, "gpu.name", gpu->name);
	put_member(out, "gpu.family", gpu->family);
	put_member(out, "gpu.architecture", gpu->architecture);
	fprintf(out, "\t\t.gpu.aliases = aliases_%zu,\n", i);
	put_number(out, "gpu.vendor", gpu->vendor);
	put_number(out, "gpu.compute_capability", gpu->compute_capability);
	put_number(out, "gpu.memory_bytes", gpu->memory_bytes);
	put_number(out, "gpu.driver_bytes", gpu->driver_bytes);
	put_number(out, "gpu.usable_bytes", gpu->usable_bytes);
	put_number(out, "gpu.supports_bf16", gpu->supports_bf16);
	put_number(out, "gpu.supports_fp8", gpu->supports_fp8);
	put_number(out, "gpu.supports_fp4", gpu->supports_fp4);
	put_number(out, "gpu.supports_int8", gpu->supports_int8);
	put_number(out, "gpu.link", gpu->link);
	put_number(out, "gpu.link_gbs", gpu->link_gbs);
	put_number(out, "gpu.link_gpus", gpu->link_gpus);
	put_number(out, "gpu.pcie_generation", gpu->pcie_generation);
	put_number(out, "gpu.pcie_lanes", gpu->pcie_lanes);
	put_number(out, "gpu.bandwidth_gbs", gpu->bandwidth_gbs);
	put_number(out, "gpu.mig_capable", gpu->mig_capable);
	put_number(out, "gpu.unified_memory", gpu->unified_memory);
	put_number(out, "gpu.verified", gpu->verified);
	fputs("\t\t.gpu.price = ", out);
	put_price(out, &gpu->price);
	fprintf(out, "\t\t.prices = prices_%zu, .citations = citations_%zu,\n", i, i);
	put_number(out, "price_count", entry->price_count);
	put_number(out, "citation_count", entry->citation_count);
	put_member(out, "form", entry->form);
	put_member(out, "memory_type", entry->memory_type);
	put_member(out, "link_scope", entry->link_scope);
	put_member(out, "note", entry->note);
	put_member(out, "sources", entry->sources);
	put_member(out, "mig_table", entry->mig_table);
	put_number(out, "mig_instances", entry->mig_instances);
	put_number(out, "tdp_watts", entry->tdp_watts);
	put_number(out, "devices_per_board", entry->devices_per_board);
	put_number(out, "usable_derived", entry->usable_derived);
	put_number(out, "documented", entry->documented);
	fprintf(out, "\t\t.origin = { 0, %" PRIu32 ", 0 },\n\t},\n", entry->origin.line);
}

static void put_offer(FILE *out, const struct vc_offer *offer)
{
	fputs("\t{\n", out);
	put_member(out, "cloud", offer->cloud);
	put_member(out, "region", offer->region);
	put_member(out, "instance", offer->instance);
	put_member(out, "gpu_id", offer->gpu_id);
	put_number(out, "kind", offer->kind);
	put_number(out, "gpus_micros", offer->gpus_micros);
	put_number(out, "host_bytes", offer->host_bytes);
	put_number(out, "on_demand_micros", offer->on_demand_micros);
	put_number(out, "spot_micros", offer->spot_micros);
	put_member(out, "currency", offer->currency);
	put_member(out, "as_of", offer->as_of);
	put_member(out, "source", offer->source);
	put_member(out, "note", offer->note);
	fprintf(out, "\t\t.origin = { 0, %" PRIu32 ", 0 },\n\t},\n", offer->origin.line);
}

static void put_catalog(FILE *out, const struct vc_catalog *catalog)
{
	for (size_t i = 0; i < catalog->count; i++) {
		put_lists(out, i, &catalog->gpus[i]);
	}
	fputs("static const struct vc_catalog_gpu gpus[] = {\n", out);
	for (size_t i = 0; i < catalog->count; i++) {
		put_gpu(out, i, &catalog->gpus[i]);
	}
	fputs("};\nstatic const struct vc_offer offers[] = {\n", out);
	for (size_t i = 0; i < catalog->offer_count; i++) {
		put_offer(out, &catalog->offers[i]);
	}
	fprintf(out,
	        "};\nconst struct vc_catalog vc_catalog_builtin = {\n"
	        "\t.gpus = gpus, .count = %zu, .offers = offers, .offer_count = %zu,\n"
	        "\t.platforms = platforms, .platform_count = %zu, .criteria = vc_criteria,\n};\n",
	        catalog->count, catalog->offer_count, catalog->platform_count);
}

enum {
	GPUS,
	OFFERS,
	MIG,
	PLATFORMS,
	FILES
};

static bool embed(FILE *out, const struct vc_catalog_text files[FILES])
{
	struct vc_error_list errors = { .count = 0 };
	struct vc_catalog_draft draft;
	struct vc_catalog catalog;
	char text[VC_ERROR_TEXT];
	bool good;

	fputs("#include \"catalog.h\"\n", out);
	if (vc_draft_start(&draft, NULL, &errors)) {
		vc_draft_read_yaml(&draft, &files[GPUS]);
		vc_draft_read_offers(&draft, &files[OFFERS]);
		embed_platforms(out, &files[PLATFORMS], &draft);
	}
	good = vc_draft_finish(&draft, "USD", &catalog);
	if (good) {
		put_catalog(out, &catalog);
		vc_catalog_close(&catalog);
	}
	good = embed_mig(out, &files[MIG], &errors) && good;
	for (size_t i = 0; i < vc_errors_kept(&errors); i++) {
		fprintf(stderr, "%s\n", vc_error_format(&errors.errors[i], text));
	}
	return good;
}

int main(int argc, char **argv)
{
	struct vc_catalog_text files[FILES];
	char *texts[FILES] = { NULL };
	FILE *out = argc == 2 + FILES ? fopen(argv[1], "wb") : NULL;
	bool good = out != NULL;

	for (int i = 0; i < FILES && good; i++) {
		good = read_file(argv[2 + i], &texts[i], &files[i]);
	}
	good = good && embed(out, files);
	if (out && fclose(out) != 0) {
		good = false;
	}
	for (int i = 0; i < FILES; i++) {
		free(texts[i]);
	}
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
