/* Platforms in YAML: each row of a file is laid over the platform of the same id, cell by cell. */
#include "catalog_schema.h"
#include "nearest.h"
#include "platform.h"
#include "quantity.h"

#include <stdio.h>
#include <string.h>

/* The file being read. */
struct reader {
	struct vc_catalog_draft *draft;
	const struct vc_catalog_text *source;
	const char *name;                                    /* of the file, in the arena */
	const uint32_t *lines, *cell_lines, *evidence_lines; /* where rows begin; those of rows
	                                                        read are behind */
	const struct vc_platform_row *row;
	uint32_t index; /* of the row in the file */
};

/* `list` and `key` may be NULL: "platforms[2].cells[0].score". */
static void refuse(struct reader *reader, const char *list, uint32_t index, const char *key,
                   const char *message)
{
	char path[96];
	int length = snprintf(path, sizeof path, "platforms[%u]", reader->index);

	if (list) {
		length += snprintf(path + length, sizeof path - (size_t)length, ".%s[%u]", list,
		                   index);
	}
	if (key) {
		snprintf(path + length, sizeof path - (size_t)length, ".%s", key);
	}
	vc_catalog_refuse(reader->draft, reader->source, path, message);
}

static const char *keep(struct reader *reader, const char *text)
{
	return text ? vc_draft_keep(reader->draft, text) : "";
}

/* What is wrong with a word that is none of `known`; false when it is one. */
static bool is_strange(const char *word, const char *const *known, char message[160])
{
	struct vc_nearest nearest = { .wanted = word };
	size_t length;

	for (size_t i = 0; known[i]; i++) {
		if (strcmp(known[i], word) == 0) {
			return false;
		}
		vc_nearest_offer(&nearest, known[i]);
	}
	length = (size_t)snprintf(message, 160, "unknown '%.40s' (", word);
	if (nearest.best) {
		snprintf(message + length, 160 - length, "did you mean %s?)", nearest.best);
		return true;
	}
	for (size_t i = 0; known[i] && length < 160; i++) {
		length += (size_t)snprintf(message + length, 160 - length, "%s%s", known[i],
		                           !known[i + 1]  ? ")"
		                           : known[i + 2] ? ", "
		                                          : " or ");
	}
	return true;
}

/* ---- Cells and what says so ---- */

/* "other" is what evidence can be about besides. */
static bool is_no_criterion(const struct reader *reader, const char *id, bool or_other,
                            char message[160])
{
	const char *known[VC_CRITERIA + 2] = { NULL };

	for (size_t i = 0; i < VC_CRITERIA; i++) {
		known[i] = reader->draft->criteria[i].id;
	}
	known[VC_CRITERIA] = or_other ? "other" : NULL;
	return is_strange(id, known, message);
}

static bool has_evidence(const struct vc_platform_row *row, const char *criterion)
{
	for (uint32_t i = 0; i < row->evidence_count; i++) {
		if (strcmp(row->evidence[i].about, criterion) == 0) {
			return true;
		}
	}
	return false;
}

static void lay_cell(struct reader *reader, uint32_t i, struct vc_platform *to)
{
	const struct vc_cell_row *row = &reader->row->cells[i];
	struct vc_platform_cell cell = { .scored = strcmp(row->score, "unknown") != 0 };
	uint64_t ppm = 0;
	char message[160];
	size_t at = 0;

	if (is_no_criterion(reader, row->criterion, false, message)) {
		refuse(reader, "cells", i, "criterion", message);
		return;
	}
	for (uint32_t j = 0; j < i; j++) {
		if (strcmp(reader->row->cells[j].criterion, row->criterion) == 0) {
			refuse(reader, "cells", i, "criterion", "has a cell already (one each)");
			return;
		}
	}
	if (cell.scored &&
	    (vc_quantity_parse(VC_QUANTITY_PPM, row->score, &ppm) != VC_QUANTITY_OK ||
	     ppm > 1000000)) {
		refuse(reader, "cells", i, "score",
		       "is neither unknown nor a number from 0 to 1 (such as 0.6)");
	} else if (cell.scored && !has_evidence(reader->row, row->criterion)) {
		refuse(reader, "cells", i, "score",
		       "nothing says so (evidence about this criterion in the same row)");
	}
	cell.score_ppm = (uint32_t)ppm;
	cell.is = keep(reader, row->is);
	cell.origin = vc_draft_origin(reader->draft, reader->name, reader->cell_lines[i]);
	while (strcmp(reader->draft->criteria[at].id, row->criterion) != 0) {
		at++;
	}
	to->cells[at] = cell;
}

static void check_evidence(struct reader *reader, uint32_t i)
{
	static const char *const grades[] = { "document",    "first-party", "code",
		                              "third-party", "own",         NULL };
	const struct vc_evidence_row *row = &reader->row->evidence[i];
	char message[160];

	if (is_no_criterion(reader, row->about, true, message)) {
		refuse(reader, "evidence", i, "about", message);
	}
	if (is_strange(row->grade, grades, message)) {
		refuse(reader, "evidence", i, "grade", message);
	}
}

/* What the file says comes before what was there. */
static void lay_evidence(struct reader *reader, struct vc_platform *to)
{
	const struct vc_platform_row *row = reader->row;
	size_t count = row->evidence_count + to->evidence_count;
	struct vc_platform_evidence *all;

	if (row->evidence_count == 0) {
		return;
	}
	all = vc_arena_take(&reader->draft->arena, count * sizeof *all);
	if (!all) {
		vc_draft_no_memory(reader->draft);
		return;
	}
	for (uint32_t i = 0; i < row->evidence_count; i++) {
		const struct vc_evidence_row *from = &row->evidence[i];

		check_evidence(reader, i);
		all[i] = (struct vc_platform_evidence){
			.about = keep(reader, from->about),
			.grade = keep(reader, from->grade),
			.as_of = keep(reader, from->as_of),
			.source = keep(reader, from->source),
			.text = keep(reader, from->text),
			.doubt = keep(reader, from->doubt),
			.origin = vc_draft_origin(reader->draft, reader->name,
			                          reader->evidence_lines[i]),
		};
	}
	if (to->evidence_count) {
		memcpy(all + row->evidence_count, to->evidence, to->evidence_count * sizeof *all);
	}
	to->evidence = all;
	to->evidence_count = count;
}

/* ---- The rest of a row ---- */

static void lay_texts(struct reader *reader, struct vc_platform *to)
{
	static const char *const kinds[] = { "general", "specialist", "own", NULL };
	const struct vc_platform_row *row = reader->row;
	char message[160];

	to->name = row->name ? keep(reader, row->name) : to->name;
	to->local_name = row->local_name ? keep(reader, row->local_name) : to->local_name;
	to->hidden = row->hidden ? *row->hidden : to->hidden;
	if (row->kind && is_strange(row->kind, kinds, message)) {
		refuse(reader, NULL, 0, "kind", message);
	} else if (row->kind) {
		to->kind = keep(reader, row->kind);
	} else if (!*to->kind) {
		refuse(reader, NULL, 0, NULL,
		       "kind is missing (a new platform is general, specialist or own)");
	}
}

static void lay_traits(struct reader *reader, struct vc_platform *to)
{
	const struct vc_platform_row *row = reader->row;
	const struct {
		char **words;
		uint32_t count;
	} given[VC_PLATFORM_TRAITS] = {
		[VC_PLATFORM_SLICING] = { row->slicing, row->slicing_count },
		[VC_PLATFORM_COMPLIANCE] = { row->compliance, row->compliance_count },
		[VC_PLATFORM_FRAMEWORK] = { row->frameworks, row->frameworks_count },
		[VC_PLATFORM_FIT] = { row->fits, row->fits_count },
	};

	for (size_t i = 0; i < VC_PLATFORM_TRAITS; i++) {
		const char **words = given[i].words
		                             ? vc_arena_take(&reader->draft->arena,
		                                             (given[i].count + 1) * sizeof *words)
		                             : NULL;

		if (given[i].words && !words) {
			vc_draft_no_memory(reader->draft);
			return;
		}
		for (uint32_t j = 0; words && j < given[i].count; j++) {
			words[j] = keep(reader, given[i].words[j]);
		}
		to->traits[i] = words ? words : to->traits[i];
	}
}

static void lay_sizes(struct reader *reader, struct vc_platform *to)
{
	static const char *const vendors[] = { "nvidia", "amd",   "intel", "google",
		                               "huawei", "apple", "other", NULL };
	const struct vc_platform_row *row = reader->row;
	struct vc_platform_size *sizes;
	char message[160];

	if (!row->sizes) {
		return;
	}
	sizes = vc_arena_take(&reader->draft->arena, (row->sizes_count + 1) * sizeof *sizes);
	if (!sizes) {
		vc_draft_no_memory(reader->draft);
		return;
	}
	for (uint32_t i = 0; i < row->sizes_count; i++) {
		const struct vc_size_row *from = &row->sizes[i];

		if (from->gb == 0 || from->gb > 65536) {
			refuse(reader, "sizes", i, "gb", "is out of range (1 to 65536)");
		}
		if (is_strange(from->vendor, vendors, message)) {
			refuse(reader, "sizes", i, "vendor", message);
		}
		sizes[i] =
		        (struct vc_platform_size){ (uint32_t)from->gb, keep(reader, from->vendor),
			                           keep(reader, from->is) };
	}
	to->sizes = sizes;
	to->size_count = row->sizes_count;
}

static struct vc_platform *platform_for(struct reader *reader, const char *id)
{
	static const char *const none[] = { NULL };
	struct vc_catalog_draft *draft = reader->draft;
	struct vc_platform *added;

	for (size_t i = 0; i < draft->platform_count; i++) {
		if (strcmp(draft->platforms[i].id, id) == 0) {
			return &draft->platforms[i];
		}
	}
	added = vc_draft_add_platform(draft);
	if (added) {
		added->id = added->name = vc_draft_keep(draft, id);
		added->local_name = added->kind = "";
		for (size_t i = 0; i < VC_PLATFORM_TRAITS; i++) {
			added->traits[i] = none;
		}
		for (size_t i = 0; i < VC_CRITERIA; i++) {
			added->cells[i].is = "";
		}
	}
	return added;
}

static void lay_row(struct reader *reader)
{
	const struct vc_platform_row *row = reader->row;
	struct vc_platform *to = platform_for(reader, row->id);

	if (!to) {
		return;
	}
	if (to->origin.file == reader->name) {
		refuse(reader, NULL, 0, "id", "is in this file already (one row each)");
	}
	to->origin = vc_draft_origin(reader->draft, reader->name, reader->lines[reader->index]);
	lay_texts(reader, to);
	lay_traits(reader, to);
	lay_sizes(reader, to);
	for (uint32_t i = 0; i < row->cells_count; i++) {
		lay_cell(reader, i, to);
	}
	lay_evidence(reader, to);
	reader->cell_lines += row->cells_count;
	reader->evidence_lines += row->evidence_count;
}

void vc_catalog_lay_platforms(struct vc_catalog_draft *draft, const struct vc_catalog_text *source,
                              const struct vc_catalog_file *file)
{
	struct reader reader = { .draft = draft, .source = source };
	size_t cells = 0, evidence = 0;

	if (!draft->criteria) {
		return;
	}
	for (uint32_t i = 0; i < file->platforms_count; i++) {
		cells += file->platforms[i].cells_count;
		evidence += file->platforms[i].evidence_count;
	}
	reader.name = vc_draft_keep(draft, source->name);
	reader.lines = vc_catalog_lines(draft, source, "platforms", file->platforms_count);
	reader.cell_lines = vc_catalog_lines(draft, source, "platforms.cells", cells);
	reader.evidence_lines = vc_catalog_lines(draft, source, "platforms.evidence", evidence);
	if (!reader.lines || !reader.cell_lines || !reader.evidence_lines) {
		return;
	}
	for (; reader.index < file->platforms_count; reader.index++) {
		reader.row = &file->platforms[reader.index];
		lay_row(&reader);
	}
}
