/* `engines`: what runs models, and how far it is modelled. */
#include "commands.h"
#include "list.h"
#include "print_text.h"

#include "vramcalc/vramcalc.h"

#include <inttypes.h>

static const struct vc_engine_info *engine_of(const void *row)
{
	return vc_engine_info(*(const enum vc_engine *)row);
}

static void get_name(const void *row, struct cell *cell)
{
	cell_text(cell, engine_of(row)->name);
}

static void get_inference(const void *row, struct cell *cell)
{
	cell_flag(cell, engine_of(row)->inference);
}

static void get_training(const void *row, struct cell *cell)
{
	cell_flag(cell, engine_of(row)->training);
}

static void get_versions(const void *row, struct cell *cell)
{
	cell_text(cell, engine_of(row)->versions);
}

static void get_newest(const void *row, struct cell *cell)
{
	const struct vc_version *newest = &engine_of(row)->newest;

	cell->known = newest->major || newest->minor || newest->patch;
	text_append(cell->buffer, sizeof cell->buffer, "%" PRIu32 ".%" PRIu32 ".%" PRIu32,
	            newest->major, newest->minor, newest->patch);
}

static void get_summary(const void *row, struct cell *cell)
{
	cell_text(cell, engine_of(row)->summary);
}

static void get_source(const void *row, struct cell *cell)
{
	cell_text(cell, engine_of(row)->source);
}

static const struct column columns[] = {
	{ .id = "name", .heading = "engine", .get = get_name },
	{ .id = "inference",
	  .heading = "inference",
	  .type = CELL_FLAG,
	  .priority = 2,
	  .get = get_inference },
	{ .id = "training",
	  .heading = "training",
	  .type = CELL_FLAG,
	  .priority = 2,
	  .get = get_training },
	{ .id = "versions",
	  .heading = "versions modelled",
	  .may_be_cut = true,
	  .priority = 3,
	  .get = get_versions },
	{ .id = "newest", .heading = "newest", .use = COLUMN_DATA, .get = get_newest },
	{ .id = "summary", .heading = "is", .may_be_cut = true, .priority = 1, .get = get_summary },
	{ .id = "source", .heading = "source", .use = COLUMN_DATA, .get = get_source },
};

int engines_command(struct arguments *arguments)
{
	enum vc_engine engines[VC_ENGINE_COUNT];
	struct table table = { .id = "engines",
		               .columns = columns,
		               .column_count = sizeof columns / sizeof *columns,
		               .rows = engines,
		               .row_count = VC_ENGINE_COUNT,
		               .row_size = sizeof *engines };
	struct output out;

	for (int i = 0; i < VC_ENGINE_COUNT; i++) {
		engines[i] = (enum vc_engine)i;
	}
	output_open(&out, arguments);
	list_print(&out, "engines", &table, 1);
	return EXIT_FITS;
}
