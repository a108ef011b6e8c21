#include "test.h"

#include "table.h"

struct row {
	const char *name;
	uint64_t bytes, price;
	int64_t left;
};

static void get_name(const void *data, struct cell *cell)
{
	cell->text = ((const struct row *)data)->name;
	cell->known = cell->text != NULL;
}

static void get_bytes(const void *data, struct cell *cell)
{
	cell->known = true;
	cell->value = ((const struct row *)data)->bytes;
}

static void get_share(const void *data, struct cell *cell)
{
	get_bytes(data, cell);
	cell->divisor = 4000000000;
}

static void get_left(const void *data, struct cell *cell)
{
	int64_t left = ((const struct row *)data)->left;

	cell->known = true;
	cell->negative = left < 0;
	cell->value = (uint64_t)(left < 0 ? -left : left);
}

static void get_price(const void *data, struct cell *cell)
{
	cell->value = ((const struct row *)data)->price;
	cell->known = cell->value != 0;
	cell->text = "USD";
}

static void get_nothing(const void *data, struct cell *cell)
{
	(void)data;
	(void)cell;
}

static const struct column columns[] = {
	{ .id = "name", .heading = "what", .get = get_name },
	{ .id = "bytes", .heading = "size", .type = CELL_BYTES, .get = get_bytes },
	{ .id = "share", .heading = "share", .type = CELL_SHARE, .priority = 2, .get = get_share },
	{ .id = "bar", .heading = "", .type = CELL_BAR, .priority = 3, .get = get_share },
	{ .id = "left_bytes",
	  .heading = "left",
	  .type = CELL_HEADROOM,
	  .priority = 1,
	  .get = get_left },
	{ .id = "price.per_hour", .heading = "cost", .type = CELL_MONEY, .get = get_price },
	{ .id = "price.nothing", .heading = "nothing", .get = get_nothing },
};

static const struct row rows[] = {
	{ "a,b", 1000000000, 526000, 1 },
	{ "c|d", 3000000000, 0, -5000000001 },
};

static const struct table table = {
	.id = "rows",
	.columns = columns,
	.column_count = sizeof columns / sizeof *columns,
	.rows = rows,
	.row_count = 2,
	.row_size = sizeof *rows,
};

static void assert_prints(struct output *out, const struct table *printed, const char *want)
{
	char *text;
	size_t length;

	out->file = open_memstream(&text, &length);
	table_print(out, printed);
	fclose(out->file);
	assert_string_equal(text, want);
	free(text);
}

static void assert_printed(struct output *out, const char *want)
{
	assert_prints(out, &table, want);
}

static void csv_is_exact_and_quoted(void **state)
{
	struct output out = { .format = FORMAT_CSV };

	(void)state;
	assert_printed(&out, "name,bytes,left_bytes,price_per_hour,price_nothing\n"
	                     "\"a,b\",1000000000,1,0.526,\n"
	                     "c|d,3000000000,-5000000001,,\n");
}

/* A name with an escape sequence, a line break, U+009b and a byte that is no UTF-8. */
static void csv_drives_no_terminal(void **state)
{
	static const struct row hostile[] = {
		{ "a\x1b[2J\nb", 1, 0, 0 },
		{ "\"\xc2\x9b\",\xff\xc3\xa9", 2, 0, 0 },
	};
	struct table named = table;
	struct output out = { .format = FORMAT_CSV };

	(void)state;
	named.rows = hostile;
	assert_prints(&out, &named,
	              "name,bytes,left_bytes,price_per_hour,price_nothing\n"
	              "a\\x1b[2J\\x0ab,1,0,,\n"
	              "\"\"\"\\x9b\"\",\\xff\xc3\xa9\",2,0,,\n");
}

static void markdown_leaves_empty_columns_out(void **state)
{
	struct output out = { .format = FORMAT_MARKDOWN, .utf8 = true };

	(void)state;
	assert_printed(&out, "| what | size (GB) | share | left (GB) | cost |\n"
	                     "| --- | ---: | ---: | ---: | ---: |\n"
	                     "| a,b | 1.00 | 25 % | 0.00 | $0.53 |\n"
	                     "| c\\|d | 3.00 | 75 % | -5.01 | |\n");
}

static void a_pipe_gets_everything(void **state)
{
	struct output out = { .format = FORMAT_TEXT, .utf8 = true, .width = 20 };

	(void)state;
	assert_printed(&out, "  what  size (GB)  share  left (GB)   cost\n"
	                     "  a,b        1.00   25 %       0.00  $0.53\n"
	                     "  c|d        3.00   75 %      -5.01\n");
}

/* 3 MB are not 0.00 GB, and points stay under points; 40 kB would take five digits. */
static void small_sizes_are_seen(void **state)
{
	static const struct row small[] = {
		{ "a", 13500000000, 0, 3000000 },
		{ "b", 3000000, 0, -13000000000 },
		{ "c", 40000, 0, 120000 },
	};
	struct table mixed = table;
	struct output out = { .format = FORMAT_TEXT, .utf8 = true, .width = 80 };

	(void)state;
	mixed.rows = small;
	mixed.row_count = 3;
	assert_prints(&out, &mixed,
	              "  what  size (GB)  share  left (GB)\n"
	              "  a        13.50   338 %     0.003\n"
	              "  b         0.003    0 %   -13.00\n"
	              "  c         0.00     0 %     0.0001\n");
}

static void a_narrow_terminal_gets_what_matters(void **state)
{
	struct output out = { .format = FORMAT_TEXT, .terminal = true, .width = 30 };

	(void)state;
	/* the bar goes first, then the share; 2 + 4 + 2 + 9 + 2 + 9 + 2 + 5 is 35: left goes too */
	assert_printed(&out, "  what  size (GB)   cost\n"
	                     "  a,b        1.00  $0.53\n"
	                     "  c|d        3.00\n");
}

static void bars_fill_what_is_left(void **state)
{
	struct output out = { .format = FORMAT_TEXT, .terminal = true, .width = 54 };

	(void)state;
	/* 54 - 2 - (4 + 9 + 5 + 9 + 5) - 6 x 2 leave bars of up to 8 columns: 2 and 6 of them */
	assert_printed(&out, "  what  size (GB)  share          left (GB)   cost\n"
	                     "  a,b        1.00   25 %  ##           0.00  $0.53\n"
	                     "  c|d        3.00   75 %  ######      -5.01\n");
}

static void json_nests_by_the_dot(void **state)
{
	char *text;
	size_t length;
	struct json_writer json = { .out = open_memstream(&text, &length), .compact = true };

	(void)state;
	json_open(&json, NULL, '{');
	table_json(&json, &table);
	json_close(&json, '}');
	fclose(json.out);
	assert_string_equal(text, "{\"rows\": [{\"name\": \"a,b\", \"bytes\": 1000000000, "
	                          "\"left_bytes\": 1, \"price\": {\"per_hour\": 0.526, "
	                          "\"nothing\": null}}, {\"name\": \"c|d\", \"bytes\": 3000000000, "
	                          "\"left_bytes\": -5000000001, \"price\": null}]}\n");
	free(text);
}

static void colors_surround_cells(void **state)
{
	struct output out = { .format = FORMAT_TEXT, .color = true, .width = 80 };
	char *text;
	size_t length;

	(void)state;
	out.file = open_memstream(&text, &length);
	table_print(&out, &table);
	fclose(out.file);
	assert_non_null(strstr(text, "\033[1mwhat"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(csv_is_exact_and_quoted),
		cmocka_unit_test(csv_drives_no_terminal),
		cmocka_unit_test(markdown_leaves_empty_columns_out),
		cmocka_unit_test(a_pipe_gets_everything),
		cmocka_unit_test(small_sizes_are_seen),
		cmocka_unit_test(a_narrow_terminal_gets_what_matters),
		cmocka_unit_test(bars_fill_what_is_left),
		cmocka_unit_test(json_nests_by_the_dot),
		cmocka_unit_test(colors_surround_cells),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
