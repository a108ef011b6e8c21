/* `models`: the bundled ones. */
#include "bundled.h"
#include "commands.h"
#include "list.h"
#include "nearest.h"
#include "print_text.h"
#include "report.h"
#include "spec.h"

#include "vramcalc/vramcalc.h"

#include <stdlib.h>
#include <string.h>

struct model_row {
	const char *id;
	char name[128], family[48];
	uint64_t params, layers, hidden_size;
};

static void get_id(const void *row, struct cell *cell)
{
	cell_text(cell, ((const struct model_row *)row)->id);
}

static void get_name(const void *row, struct cell *cell)
{
	cell_text(cell, ((const struct model_row *)row)->name);
}

static void get_family(const void *row, struct cell *cell)
{
	cell_text(cell, ((const struct model_row *)row)->family);
}

static void get_params(const void *row, struct cell *cell)
{
	cell_number(cell, ((const struct model_row *)row)->params);
}

static void get_layers(const void *row, struct cell *cell)
{
	cell_number_or_none(cell, ((const struct model_row *)row)->layers);
}

static void get_hidden_size(const void *row, struct cell *cell)
{
	cell_number_or_none(cell, ((const struct model_row *)row)->hidden_size);
}

/* In half precision, the commonest, so that models compare. */
static void get_weights(const void *row, struct cell *cell)
{
	cell_number(cell, vc_dtype_bytes(VC_DTYPE_FP16, ((const struct model_row *)row)->params));
}

static const struct column columns[] = {
	{ .id = "id", .heading = "SPEC", .get = get_id },
	{ .id = "name", .heading = "model", .priority = 3, .may_be_cut = true, .get = get_name },
	{ .id = "parameters", .heading = "parameters", .type = CELL_PARAMS, .get = get_params },
	{ .id = "family", .heading = "family", .priority = 2, .get = get_family },
	{ .id = "layers",
	  .heading = "layers",
	  .type = CELL_COUNT,
	  .priority = 4,
	  .get = get_layers },
	{ .id = "hidden_size",
	  .heading = "hidden size",
	  .type = CELL_COUNT,
	  .priority = 5,
	  .get = get_hidden_size },
	{ .id = "fp16_weight_bytes",
	  .heading = "weights in fp16",
	  .type = CELL_BYTES,
	  .priority = 1,
	  .get = get_weights },
};

static bool read_model(const char *id, struct model_row *row)
{
	struct vc_error_list errors = { 0 };
	struct vc_counts counts = { 0 };
	struct vc_error error = { 0 };
	const struct vc_model *model;
	struct vc_spec spec;

	*row = (struct model_row){ .id = id };
	if (vc_spec_read(id, NULL, &spec, &errors) != VC_OK) {
		report_errors(&errors);
		return false;
	}
	model = spec.model;
	if (vc_model_count(model, &counts, &error) != VC_OK) {
		report_error(&error);
	}
	snprintf(row->name, sizeof row->name, "%s", model->name);
	snprintf(row->family, sizeof row->family, "%s", model->family);
	row->params = counts.total ? counts.total : model->params;
	for (uint32_t i = 0; i < model->stack_count; i++) {
		row->layers += model->stacks[i].layers;
		row->hidden_size = i == 0 ? model->stacks[i].hidden_size : row->hidden_size;
	}
	vc_spec_free(&spec);
	return true;
}

/* Whether the words of the command line ask for this model: all do where there are none. */
static bool is_wanted(const struct text_list *words, const struct model_row *row)
{
	for (size_t i = 0; i < words->count; i++) {
		if (strstr(row->id, words->items[i]) || strcmp(row->family, words->items[i]) == 0) {
			return true;
		}
	}
	return words->count == 0;
}

static int none_wanted(const struct text_list *words)
{
	struct vc_nearest nearest = { .wanted = words->items[0] };
	char shown[160];

	text_copy(shown, sizeof shown, words->items[0], true);
	for (size_t i = 0; vc_bundled_name(i); i++) {
		vc_nearest_offer(&nearest, vc_bundled_name(i));
	}
	if (nearest.best) {
		fprintf(stderr, "vramcalc models: no model is called \"%s\" (did you mean %s?)\n",
		        shown, nearest.best);
	} else {
		fprintf(stderr,
		        "vramcalc models: no model is called \"%s\" (without a word all are "
		        "listed)\n",
		        shown);
	}
	return EXIT_WRONG_INPUT;
}

int models_command(struct arguments *arguments)
{
	struct table table = { .id = "models",
		               .columns = columns,
		               .column_count = sizeof columns / sizeof *columns,
		               .row_size = sizeof(struct model_row) };
	size_t count = 0;
	bool good = true;
	struct model_row *rows;
	struct output out;

	while (vc_bundled_name(count)) {
		count++;
	}
	rows = malloc((count + 1) * sizeof *rows);
	if (!rows) {
		report_no_memory();
		return EXIT_WRONG_INPUT;
	}
	for (size_t i = 0; i < count; i++) {
		struct model_row *row = &rows[table.row_count];

		good = read_model(vc_bundled_name(i), row) && good;
		table.row_count += is_wanted(&arguments->operands, row);
	}
	table.rows = rows;
	if (table.row_count) {
		output_open(&out, arguments);
		list_print(&out, "models", &table, 1);
	} else {
		good = none_wanted(&arguments->operands) == EXIT_FITS;
	}
	free(rows);
	return good ? EXIT_FITS : EXIT_WRONG_INPUT;
}
