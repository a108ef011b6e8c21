#include "tensors.h"

#include "list.h"
#include "print_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct collection {
	struct tensor_row *rows;
	size_t count, room;
	uint64_t total;
	bool failed;
};

static const char *role_name(enum vc_stack_role role)
{
	static const char *const names[] = {
		[VC_STACK_DECODER] = "decoder", [VC_STACK_ENCODER] = "encoder",
		[VC_STACK_VISION] = "vision",   [VC_STACK_AUDIO] = "audio",
		[VC_STACK_MTP] = "next-token",
	};

	return names[role];
}

static const char *mixer_name(enum vc_mixer_type type)
{
	static const char *const names[] = {
		[VC_MIXER_NONE] = "",
		[VC_MIXER_ATTENTION] = "attention",
		[VC_MIXER_LATENT] = "latent attention",
		[VC_MIXER_CROSS_ATTENTION] = "cross-attention",
		[VC_MIXER_MAMBA] = "Mamba",
		[VC_MIXER_MAMBA2] = "Mamba-2",
		[VC_MIXER_GATED_DELTANET] = "gated delta net",
		[VC_MIXER_KIMI_DELTA] = "delta attention",
		[VC_MIXER_SHORT_CONV] = "short convolution",
		[VC_MIXER_LIGHTNING] = "lightning attention",
		[VC_MIXER_RECURRENT] = "recurrence",
	};

	return names[type];
}

static const char *ffn_name(enum vc_ffn_type type)
{
	static const char *const names[] = {
		[VC_FFN_NONE] = "",
		[VC_FFN_DENSE] = "MLP",
		[VC_FFN_GATED] = "gated MLP",
		[VC_FFN_MOE] = "experts",
	};

	return names[type];
}

static void append_part(char *to, size_t size, bool *any, const char *part)
{
	if (*part) {
		text_append(to, size, "%s%s", *any ? ", " : " of ", part);
		*any = true;
	}
}

/* "decoder: 32 layers of attention, gated MLP"; "decoder" outside the layers. */
static void describe_place(char *to, size_t size, const struct vc_visit *visit)
{
	bool any = false;

	*to = '\0';
	text_append(to, size, "%s", role_name(visit->stack->role));
	if (!visit->kind) {
		return;
	}
	text_append(to, size, ": %" PRIu64 " layer%s", visit->layers,
	            visit->layers == 1 ? "" : "s");
	for (uint32_t i = 0; i < visit->kind->mixer_count; i++) {
		append_part(to, size, &any, mixer_name(visit->kind->mixers[i].type));
	}
	for (uint32_t i = 0; i < visit->kind->ffn_count; i++) {
		append_part(to, size, &any, ffn_name(visit->kind->ffns[i].type));
	}
}

static struct tensor_row *new_row(struct collection *all)
{
	if (all->count == all->room) {
		size_t room = all->room ? all->room * 2 : 64;
		struct tensor_row *rows = realloc(all->rows, room * sizeof *rows);

		if (!rows) {
			all->failed = true;
			return NULL;
		}
		all->rows = rows;
		all->room = room;
	}
	all->rows[all->count] = (struct tensor_row){ 0 };
	return &all->rows[all->count++];
}

static void collect(const struct vc_visit *visit, void *context)
{
	struct collection *all = context;
	struct tensor_row *row = all->failed ? NULL : new_row(all);
	const struct vc_tensor *tensor = visit->tensor;

	if (!row) {
		return;
	}
	row->tensor = *tensor;
	row->times = visit->layers * tensor->count;
	row->elements = row->times * (tensor->out * tensor->in + tensor->bias);
	describe_place(row->place, sizeof row->place, visit);
	row->first = all->count == 1 || strcmp(row->place, row[-1].place) != 0;
	row->remark = visit->extra && visit->extra->buffer ? "computed, no parameter"
	              : visit->extra && visit->extra->tied ? "tied, counted once"
	              : visit->stack->role == VC_STACK_MTP ? "not in the total"
	                                                   : NULL;
	all->total += row->remark ? 0 : row->elements;
}

struct tensor_row *tensor_rows(const struct vc_model *model, size_t *count)
{
	struct collection all = { 0 };
	struct tensor_row *total;

	*count = 0;
	if (!vc_model_has_shape(model)) {
		return NULL;
	}
	vc_model_walk(model, collect, &all);
	total = all.failed ? NULL : new_row(&all);
	if (!total) {
		free(all.rows);
		return NULL;
	}
	*total = (struct tensor_row){ .elements = all.total, .total = true };
	*count = all.count;
	return all.rows;
}

/* ---- Columns ---- */

static enum tone tone_of(const struct tensor_row *row)
{
	return row->total ? TONE_STRONG : row->remark ? TONE_FAINT : TONE_PLAIN;
}

static void get_place(const void *data, struct cell *cell)
{
	const struct tensor_row *row = data;

	cell_text(cell, row->total ? "total" : row->place);
	cell->tone = tone_of(row);
}

static void get_first_place(const void *data, struct cell *cell)
{
	const struct tensor_row *row = data;

	get_place(data, cell);
	cell->known = row->first || row->total;
}

static void get_tensor(const void *data, struct cell *cell)
{
	const struct tensor_row *row = data;

	cell_text(cell, row->total ? NULL : vc_module_name(row->tensor.module));
	cell->tone = tone_of(row);
}

static void get_out(const void *data, struct cell *cell)
{
	cell_number_or_none(cell, ((const struct tensor_row *)data)->tensor.out);
}

static void get_in(const void *data, struct cell *cell)
{
	cell_number_or_none(cell, ((const struct tensor_row *)data)->tensor.in);
}

static void get_bias(const void *data, struct cell *cell)
{
	const struct tensor_row *row = data;

	cell_number(cell, row->tensor.bias);
	cell->known = !row->total;
}

static void get_shape(const void *data, struct cell *cell)
{
	const struct tensor_row *row = data;
	const struct vc_tensor *tensor = &row->tensor;

	text_append(cell->buffer, sizeof cell->buffer, "%" PRIu64, tensor->out);
	if (tensor->in != 1) {
		text_append(cell->buffer, sizeof cell->buffer, " × %" PRIu64, tensor->in);
	}
	if (tensor->bias) {
		text_append(cell->buffer, sizeof cell->buffer, " + %" PRIu64, tensor->bias);
	}
	cell->known = !row->total;
	cell->tone = tone_of(row);
}

static void get_times(const void *data, struct cell *cell)
{
	cell_number_or_none(cell, ((const struct tensor_row *)data)->times);
	cell->tone = tone_of(data);
}

static void get_elements(const void *data, struct cell *cell)
{
	cell_number(cell, ((const struct tensor_row *)data)->elements);
	cell->tone = tone_of(data);
}

static void get_remark(const void *data, struct cell *cell)
{
	cell_text(cell, ((const struct tensor_row *)data)->remark);
	cell->tone = TONE_FAINT;
}

const struct column tensor_columns[] = {
	{ .id = "place", .heading = "in", .use = COLUMN_DATA, .get = get_place },
	{ .id = "place",
	  .heading = "in",
	  .use = COLUMN_PEOPLE,
	  .may_be_cut = true,
	  .get = get_first_place },
	{ .id = "tensor", .heading = "tensor", .get = get_tensor },
	{ .id = "out", .heading = "out", .type = CELL_COUNT, .use = COLUMN_DATA, .get = get_out },
	{ .id = "in", .heading = "in", .type = CELL_COUNT, .use = COLUMN_DATA, .get = get_in },
	{ .id = "bias",
	  .heading = "bias",
	  .type = CELL_COUNT,
	  .use = COLUMN_DATA,
	  .get = get_bias },
	{ .id = "shape",
	  .heading = "out × in + bias",
	  .use = COLUMN_PEOPLE,
	  .priority = 1,
	  .get = get_shape },
	{ .id = "times", .heading = "times", .type = CELL_COUNT, .get = get_times },
	{ .id = "parameters", .heading = "parameters", .type = CELL_COUNT, .get = get_elements },
	{ .id = "remark", .heading = "", .priority = 2, .get = get_remark },
};
const size_t tensor_column_count = sizeof tensor_columns / sizeof *tensor_columns;
