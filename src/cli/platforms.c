/* `platforms`: where GPUs are for rent, criterion by criterion, and what says so. */
#include "commands.h"
#include "list.h"
#include "nearest.h"
#include "platform.h"
#include "print_text.h"
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct row {
	const struct vc_platform *platform;
	struct vc_platform_score score;
	bool cuda_only;
};

struct evidence_row {
	const struct vc_platform *platform;
	const struct vc_platform_evidence *evidence;
};

struct listing {
	const struct arguments *arguments;
	const struct vc_catalog *catalog;
	uint64_t weights_ppm[VC_CRITERIA];
	struct row *rows;
	size_t count;
};

/* ---- Columns ---- */

static const struct row *row_of(const void *row)
{
	return row;
}

static void get_id(const void *row, struct cell *cell)
{
	cell_text(cell, row_of(row)->platform->id);
}

static void get_name(const void *row, struct cell *cell)
{
	cell_text(cell, row_of(row)->platform->name);
}

static void get_local_name(const void *row, struct cell *cell)
{
	cell_text(cell, row_of(row)->platform->local_name);
}

static void get_kind(const void *row, struct cell *cell)
{
	cell_text(cell, row_of(row)->platform->kind);
}

static void get_origin(const void *row, struct cell *cell)
{
	cell_text(cell, row_of(row)->platform->origin.text);
}

static void get_score(const void *row, struct cell *cell)
{
	const struct vc_platform_score *score = &row_of(row)->score;

	*cell = (struct cell){ .known = score->scored,
		               .value = (score->score_ppm + 500) / 1000,
		               .divisor = 1000 };
}

static void get_known(const void *row, struct cell *cell)
{
	const struct vc_platform_score *score = &row_of(row)->score;

	cell->known = score->weighted != 0;
	text_append(cell->buffer, sizeof cell->buffer, "%u of %u", score->known, score->weighted);
}

static void get_cell(const void *row, struct cell *cell)
{
	const struct vc_platform_cell *of = &row_of(row)->platform->cells[cell->index];

	cell->known = of->scored;
	cell->value = of->score_ppm;
	cell->divisor = 1000000;
}

static bool is_shown(const struct row *row, const struct vc_platform_size *size)
{
	return !row->cuda_only || strcmp(size->vendor, "nvidia") == 0;
}

static void get_sizes(const void *data, struct cell *cell)
{
	const struct row *row = data;

	for (size_t i = 0; i < row->platform->size_count; i++) {
		const struct vc_platform_size *size = &row->platform->sizes[i];

		if (is_shown(row, size)) {
			text_append(cell->buffer, sizeof cell->buffer, "%s%" PRIu32,
			            cell->known ? " " : "", size->gb);
			cell->known = true;
		}
	}
}

static void get_trait(const void *row, struct cell *cell)
{
	const char *const *words = row_of(row)->platform->traits[cell->index];

	for (size_t i = 0; words[i]; i++) {
		text_append(cell->buffer, sizeof cell->buffer, "%s%s", i ? " " : "", words[i]);
		cell->known = true;
	}
}

#define CRITERION(n, name, rank)                                                                   \
	{                                                                                          \
		.id = (name), .heading = (name), .type = CELL_RATIO, .priority = (rank),           \
		.index = (n), .get = get_cell                                                      \
	}

static const struct column columns[] = {
	{ .id = "id", .heading = "platform", .get = get_id },
	{ .id = "name", .heading = "name", .use = COLUMN_DATA, .get = get_name },
	{ .id = "local_name", .heading = "local name", .use = COLUMN_DATA, .get = get_local_name },
	{ .id = "kind", .heading = "kind", .priority = 9, .get = get_kind },
	{ .id = "score", .heading = "score", .type = CELL_RATIO, .get = get_score },
	{ .id = "known", .heading = "known", .priority = 1, .get = get_known },
	CRITERION(0, "memory", 3),
	CRITERION(1, "billing", 4),
	CRITERION(2, "slicing", 5),
	CRITERION(3, "interconnect", 6),
	CRITERION(4, "frameworks", 7),
	CRITERION(5, "support", 8),
	{ .id = "sizes_gb", .heading = "GPUs of GB", .priority = 10, .get = get_sizes },
	{ .id = "slices",
	  .heading = "slices",
	  .use = COLUMN_DATA,
	  .index = VC_PLATFORM_SLICING,
	  .get = get_trait },
	{ .id = "compliance",
	  .heading = "compliance",
	  .use = COLUMN_DATA,
	  .index = VC_PLATFORM_COMPLIANCE,
	  .get = get_trait },
	{ .id = "images",
	  .heading = "images",
	  .use = COLUMN_DATA,
	  .index = VC_PLATFORM_FRAMEWORK,
	  .get = get_trait },
	{ .id = "fits",
	  .heading = "fits",
	  .use = COLUMN_DATA,
	  .index = VC_PLATFORM_FIT,
	  .get = get_trait },
	{ .id = "origin", .heading = "from", .priority = 8, .get = get_origin },
};

static void get_evidence_platform(const void *row, struct cell *cell)
{
	cell_text(cell, ((const struct evidence_row *)row)->platform->id);
}

/* The text at `index` of evidence. */
static void get_evidence(const void *row, struct cell *cell)
{
	const struct vc_platform_evidence *of = ((const struct evidence_row *)row)->evidence;
	const char *const texts[] = { of->about, of->grade, of->as_of,      of->source,
		                      of->text,  of->doubt, of->origin.text };

	cell_text(cell, texts[cell->index]);
}

static const struct column evidence_columns[] = {
	{ .id = "platform", .heading = "platform", .get = get_evidence_platform },
	{ .id = "about", .heading = "about", .index = 0, .get = get_evidence },
	{ .id = "grade", .heading = "grade", .index = 1, .get = get_evidence },
	{ .id = "as_of", .heading = "as of", .index = 2, .get = get_evidence },
	{ .id = "source", .heading = "source", .index = 3, .get = get_evidence },
	{ .id = "text", .heading = "says", .index = 4, .get = get_evidence },
	{ .id = "doubt", .heading = "doubt", .index = 5, .get = get_evidence },
	{ .id = "origin", .heading = "from", .index = 6, .get = get_evidence },
};

/* ---- JSON ---- */

static void json_cells(struct json_writer *json, const struct vc_platform *platform)
{
	json_open(json, "criteria", '{');
	for (size_t i = 0; i < VC_CRITERIA; i++) {
		const struct vc_platform_cell *cell = &platform->cells[i];

		json_open_line(json, vc_criteria[i].id, '{');
		if (cell->scored) {
			json_ratio(json, "score", cell->score_ppm, 1000000);
		} else {
			json_null(json, "score");
		}
		json_text(json, "is", *cell->is ? cell->is : NULL);
		json_text(json, "origin", cell->origin.text);
		json_close(json, '}');
	}
	json_close(json, '}');
}

static void json_facts(struct json_writer *json, const struct row *row)
{
	static const char *const keys[VC_PLATFORM_TRAITS] = {
		[VC_PLATFORM_SLICING] = "slices",
		[VC_PLATFORM_COMPLIANCE] = "compliance",
		[VC_PLATFORM_FRAMEWORK] = "images",
		[VC_PLATFORM_FIT] = "fits",
	};
	const struct vc_platform *platform = row->platform;

	json_open(json, "sizes", '[');
	for (size_t i = 0; i < platform->size_count; i++) {
		const struct vc_platform_size *size = &platform->sizes[i];

		if (is_shown(row, size)) {
			json_open_line(json, NULL, '{');
			json_u64(json, "gb", size->gb);
			json_text(json, "vendor", size->vendor);
			json_text(json, "is", size->is);
			json_close(json, '}');
		}
	}
	json_close(json, ']');
	for (size_t i = 0; i < VC_PLATFORM_TRAITS; i++) {
		json_open_line(json, keys[i], '[');
		for (const char *const *word = platform->traits[i]; *word; word++) {
			json_text(json, NULL, *word);
		}
		json_close(json, ']');
	}
	json_open(json, "evidence", '[');
	for (size_t i = 0; i < platform->evidence_count; i++) {
		const struct vc_platform_evidence *evidence = &platform->evidence[i];

		json_open(json, NULL, '{');
		json_text(json, "about", evidence->about);
		json_text(json, "grade", evidence->grade);
		json_text(json, "as_of", evidence->as_of);
		json_text(json, "source", evidence->source);
		json_text(json, "text", evidence->text);
		json_text(json, "doubt", *evidence->doubt ? evidence->doubt : NULL);
		json_text(json, "origin", evidence->origin.text);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void json_platform(struct json_writer *json, const struct row *row)
{
	json_open(json, NULL, '{');
	json_text(json, "id", row->platform->id);
	json_text(json, "name", row->platform->name);
	json_text(json, "local_name",
	          *row->platform->local_name ? row->platform->local_name : NULL);
	json_text(json, "kind", row->platform->kind);
	if (row->score.scored) {
		json_ratio(json, "score", row->score.score_ppm, 1000000);
	} else {
		json_null(json, "score");
	}
	json_u64(json, "criteria_known", row->score.known);
	json_cells(json, row->platform);
	json_facts(json, row);
	json_text(json, "origin", row->platform->origin.text);
	json_close(json, '}');
}

static void print_json(struct output *out, const struct listing *listing)
{
	struct json_writer json = { .out = out->file };

	json_open(&json, NULL, '{');
	json_text(&json, "schema", "vramcalc/platforms/v1");
	json_text(&json, "as_of", vc_platforms_as_of);
	json_text(&json, "compared", vc_platforms_compared);
	json_open(&json, "criteria", '[');
	for (size_t i = 0; i < VC_CRITERIA; i++) {
		json_open(&json, NULL, '{');
		json_text(&json, "id", vc_criteria[i].id);
		json_text(&json, "name", vc_criteria[i].name);
		json_text(&json, "question", vc_criteria[i].question);
		json_text(&json, "rubric", vc_criteria[i].rubric);
		json_ratio(&json, "weight", listing->weights_ppm[i], 1000000);
		json_close(&json, '}');
	}
	json_close(&json, ']');
	json_open(&json, "platforms", '[');
	for (size_t i = 0; i < listing->count; i++) {
		json_platform(&json, &listing->rows[i]);
	}
	json_close(&json, ']');
	json_close(&json, '}');
}

/* ---- For people ---- */

static void print_evidence(struct output *out, const struct vc_platform_evidence *evidence)
{
	char line[8192] = "";

	text_append(line, sizeof line, "%s (%s, %s; %s)", evidence->text, evidence->grade,
	            evidence->as_of, evidence->source);
	if (*evidence->doubt) {
		text_append(line, sizeof line, "; but %s", evidence->doubt);
	}
	if (evidence->origin.text) {
		text_append(line, sizeof line, " [%s]", evidence->origin.text);
	}
	fputs("  - ", out->file);
	output_paragraph(out, TONE_PLAIN, line, 4);
}

static void print_about(struct output *out, const struct vc_platform *platform, const char *about)
{
	for (size_t i = 0; i < platform->evidence_count; i++) {
		if (strcmp(platform->evidence[i].about, about) == 0) {
			print_evidence(out, &platform->evidence[i]);
		}
	}
}

static void print_explained(struct output *out, const struct vc_platform *platform)
{
	char line[8192], score[48];

	putc('\n', out->file);
	snprintf(line, sizeof line, "%s (%s)", platform->name, platform->id);
	output_heading(out, line);
	for (size_t i = 0; i < VC_CRITERIA; i++) {
		const struct vc_platform_cell *cell = &platform->cells[i];

		format_ratio(score, sizeof score, cell->score_ppm, 1000000);
		snprintf(line, sizeof line, "%s %s%s%s", vc_criteria[i].id,
		         cell->scored ? score : "not known", *cell->is ? ": " : "", cell->is);
		if (cell->origin.text) {
			text_append(line, sizeof line, " [%s]", cell->origin.text);
		}
		fputs("- ", out->file);
		output_paragraph(out, TONE_PLAIN, line, 2);
		print_about(out, platform, vc_criteria[i].id);
	}
	fputs("- ", out->file);
	output_paragraph(out, TONE_PLAIN, "other", 2);
	print_about(out, platform, "other");
}

static void print_dates(struct output *out, const struct listing *listing)
{
	char line[512];

	snprintf(line, sizeof line,
	         "The documents compare %s; facts as read until %s. What is not known leaves the "
	         "sum%s%s",
	         vc_platforms_compared, vc_platforms_as_of,
	         listing->arguments->weights ? "." : "; --weights ranks.",
	         listing->arguments->explain ? "" : " --explain shows the evidence.");
	putc('\n', out->file);
	output_paragraph(out, TONE_FAINT, line, 0);
}

static void print_evidence_csv(struct output *out, const struct listing *listing)
{
	for (size_t i = 0; i < listing->count; i++) {
		const struct vc_platform *platform = listing->rows[i].platform;

		for (size_t j = 0; j < platform->evidence_count; j++) {
			const struct evidence_row row = { platform, &platform->evidence[j] };
			const struct table table = { .id = "evidence",
				                     .columns = evidence_columns,
				                     .column_count = sizeof evidence_columns /
				                                     sizeof *evidence_columns,
				                     .rows = &row,
				                     .row_count = 1,
				                     .row_size = sizeof row };

			if (i == 0 && j == 0) {
				table_csv_heading(out->file, &table);
			}
			table_csv_rows(out->file, &table);
		}
	}
}

static void print(struct output *out, const struct listing *listing)
{
	struct table table = { .id = "platforms",
		               .columns = columns,
		               .column_count = sizeof columns / sizeof *columns,
		               .rows = listing->rows,
		               .row_count = listing->count,
		               .row_size = sizeof *listing->rows };

	if (out->format == FORMAT_JSON) {
		print_json(out, listing);
		return;
	}
	if (out->format == FORMAT_CSV && listing->arguments->explain) {
		print_evidence_csv(out, listing);
		return;
	}
	table_print(out, &table);
	if (out->format == FORMAT_CSV) {
		return;
	}
	for (size_t i = 0; listing->arguments->explain && i < listing->count; i++) {
		print_explained(out, listing->rows[i].platform);
	}
	print_dates(out, listing);
}

/* ---- What is meant ---- */

struct filter {
	enum vc_platform_trait trait;
	const char *option, *word; /* NULL: not asked for */
};

enum {
	FILTERS = 4
};

/* A word that no platform has is a slip, not a filter that nothing passes. */
static bool is_word(const struct vc_catalog *catalog, const struct filter *filter)
{
	const char *option = filter->option, *word = filter->word;
	enum vc_platform_trait trait = filter->trait;
	struct vc_nearest nearest = { .wanted = word };
	char known[512] = "", shown[160];

	for (size_t i = 0; i < catalog->platform_count; i++) {
		for (const char *const *have = catalog->platforms[i].traits[trait]; *have; have++) {
			if (strcmp(*have, word) == 0) {
				return true;
			}
			vc_nearest_offer(&nearest, *have);
			text_append(known, sizeof known, "%s%s", *known ? ", " : "", *have);
		}
	}
	text_copy(shown, sizeof shown, word, true);
	if (nearest.best) {
		fprintf(stderr, "vramcalc platforms: --%s: no platform has %s (did you mean %s?)\n",
		        option, shown, nearest.best);
	} else {
		fprintf(stderr,
		        "vramcalc platforms: --%s: no platform has %s (expected one of %s)\n",
		        option, shown, known);
	}
	return false;
}

static bool passes(const struct vc_platform *platform, const struct filter filters[FILTERS],
                   bool cuda_only)
{
	for (size_t i = 0; i < FILTERS; i++) {
		if (filters[i].word &&
		    !vc_platform_has(platform, filters[i].trait, filters[i].word)) {
			return false;
		}
	}
	return !cuda_only || vc_platform_sells(platform, "nvidia");
}

static bool is_before(const struct row *a, const struct row *b)
{
	return a->score.scored && (!b->score.scored || a->score.score_ppm > b->score.score_ppm);
}

/* The highest score first; equals keep the catalog's order. */
static void insert(struct listing *listing, const struct row *row)
{
	size_t at = listing->count++;

	while (at > 0 && is_before(row, &listing->rows[at - 1])) {
		listing->rows[at] = listing->rows[at - 1];
		at--;
	}
	listing->rows[at] = *row;
}

static bool choose(struct listing *listing)
{
	const struct arguments *arguments = listing->arguments;
	const struct filter filters[FILTERS] = {
		{ VC_PLATFORM_SLICING, "slicing", arguments->slicing },
		{ VC_PLATFORM_COMPLIANCE, "compliance", arguments->compliance },
		{ VC_PLATFORM_FRAMEWORK, "framework", arguments->framework },
		{ VC_PLATFORM_FIT, "fit", arguments->fit },
	};
	char problem[VC_WEIGHTS_PROBLEM];

	if (arguments->weights &&
	    !vc_platform_weights(arguments->weights, listing->weights_ppm, problem)) {
		char shown[2 * VC_WEIGHTS_PROBLEM];

		text_copy(shown, sizeof shown, problem, true);
		fprintf(stderr, "vramcalc platforms: --weights: %s\n", shown);
		return false;
	}
	for (size_t i = 0; i < FILTERS; i++) {
		if (filters[i].word && !is_word(listing->catalog, &filters[i])) {
			return false;
		}
	}
	for (size_t i = 0; i < listing->catalog->platform_count; i++) {
		struct row row = { .platform = &listing->catalog->platforms[i],
			           .cuda_only = arguments->cuda_only };

		if (passes(row.platform, filters, row.cuda_only)) {
			row.score = vc_platform_score(row.platform, listing->weights_ppm);
			insert(listing, &row);
		}
	}
	return true;
}

int platforms_command(struct arguments *arguments)
{
	const struct vc_catalog_options options = { .files = arguments->catalogs.items,
		                                    .file_count = arguments->catalogs.count };
	struct vc_catalog catalog;
	struct listing listing = { .arguments = arguments, .catalog = &catalog };
	struct vc_error_list errors = { 0 };
	int status = EXIT_WRONG_INPUT;
	struct output out;

	if (vc_catalog_open(&catalog, &options, &errors) != VC_OK) {
		report_errors(&errors);
		return EXIT_WRONG_INPUT;
	}
	output_open(&out, arguments);
	listing.rows = calloc(catalog.platform_count + 1, sizeof *listing.rows);
	if (!listing.rows) {
		report_no_memory();
	} else if (choose(&listing)) {
		print(&out, &listing);
		status = EXIT_FITS;
	}
	free(listing.rows);
	vc_catalog_close(&catalog);
	return status;
}
