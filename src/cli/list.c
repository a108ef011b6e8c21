#include "list.h"

void cell_text(struct cell *cell, const char *text)
{
	cell->known = text && *text;
	cell->text = text;
}

void cell_number(struct cell *cell, uint64_t value)
{
	cell->known = true;
	cell->value = value;
}

void cell_number_or_none(struct cell *cell, uint64_t value)
{
	cell->known = value != 0;
	cell->value = value;
}

void cell_flag(struct cell *cell, bool value)
{
	cell->known = true;
	cell->value = value;
}

static void print_json(struct output *out, const char *schema, const struct table *tables,
                       size_t count)
{
	struct json_writer json = { .out = out->file };
	char name[64];

	snprintf(name, sizeof name, "vramcalc/%s/v1", schema);
	json_open(&json, NULL, '{');
	json_text(&json, "schema", name);
	for (size_t i = 0; i < count; i++) {
		table_json(&json, &tables[i]);
	}
	json_close(&json, '}');
}

void list_print(struct output *out, const char *schema, const struct table *tables, size_t count)
{
	if (out->format == FORMAT_JSON) {
		print_json(out, schema, tables, count);
		return;
	}
	for (size_t i = 0; i < (out->format == FORMAT_CSV ? 1 : count); i++) {
		if (i) {
			putc('\n', out->file);
		}
		table_print(out, &tables[i]);
	}
}
