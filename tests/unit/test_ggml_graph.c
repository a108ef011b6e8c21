/* ggml's graph allocator: every expected peak is worked out by hand in the test. */
#include "ggml_graph.h"
#include "test.h"

/* 256 floats: 1024 bytes, a multiple of every alignment used here. */
static const struct shape kib = { 256, 1, 1 };

static struct graph graph;

static void start(void)
{
	memset(&graph, 0, sizeof graph);
}

static void test_a_chain_needs_two_places(void **state)
{
	int x;

	(void)state;
	start();
	x = graph_op(&graph, kib, NO_NODE, NO_NODE);
	for (int i = 0; i < 10; i++) {
		x = graph_op(&graph, kib, x, NO_NODE);
	}
	/* each result beside its source, whose place the one after takes */
	assert_u64(graph_peak_bytes(&graph, 128), 2 * 1024ull);
}

static void test_in_place_needs_one(void **state)
{
	int x;

	(void)state;
	start();
	x = graph_op(&graph, kib, NO_NODE, NO_NODE);
	for (int i = 0; i < 10; i++) {
		x = graph_in_place(&graph, kib, x, NO_NODE);
	}
	assert_u64(graph_peak_bytes(&graph, 128), 1024);
}

static void test_in_place_only_over_the_last_use(void **state)
{
	int x, y;

	(void)state;
	start();
	x = graph_op(&graph, kib, NO_NODE, NO_NODE);
	y = graph_in_place(&graph, kib, x, NO_NODE); /* x is read again below */
	graph_in_place(&graph, kib, y, x);
	assert_u64(graph_peak_bytes(&graph, 128), 2 * 1024ull);
}

static void test_in_place_needs_the_same_shape(void **state)
{
	int x;

	(void)state;
	start();
	x = graph_op(&graph, kib, NO_NODE, NO_NODE);
	graph_in_place(&graph, (struct shape){ 128, 2, 1 }, x, NO_NODE);
	assert_u64(graph_peak_bytes(&graph, 128), 2 * 1024ull);
}

static void test_a_view_holds_its_source(void **state)
{
	int x, view, y;

	(void)state;
	start();
	x = graph_op(&graph, kib, NO_NODE, NO_NODE);
	view = graph_view(&graph, (struct shape){ 64, 4, 1 }, x);
	y = graph_op(&graph, kib, NO_NODE, NO_NODE);
	graph_op(&graph, kib, y, NO_NODE); /* 3 KiB: x is still to be read through the view */
	graph_sink(&graph, view, NO_NODE);
	assert_u64(graph_peak_bytes(&graph, 128), 3 * 1024ull);
}

static void test_nothing_is_written_over_a_view(void **state)
{
	int x, view;

	(void)state;
	start();
	x = graph_op(&graph, kib, NO_NODE, NO_NODE);
	view = graph_view(&graph, kib, x);
	graph_in_place(&graph, kib, view, NO_NODE);
	assert_u64(graph_peak_bytes(&graph, 128), 2 * 1024ull);
}

static void test_outputs_stay(void **state)
{
	int x, y;

	(void)state;
	start();
	x = graph_op(&graph, kib, NO_NODE, NO_NODE);
	graph_keep(&graph, x);
	y = graph_in_place(&graph, kib, x, NO_NODE);
	graph_op(&graph, kib, y, NO_NODE);
	assert_u64(graph_peak_bytes(&graph, 128), 3 * 1024ull);
}

static void test_the_smallest_hole_is_taken(void **state)
{
	const struct shape four = { 1024, 1, 1 }, two = { 512, 1, 1 };
	int a, b, c, d, e;

	(void)state;
	start();
	a = graph_op(&graph, four, NO_NODE, NO_NODE); /* 0..4 */
	b = graph_op(&graph, kib, NO_NODE, NO_NODE);  /* 4..5 */
	c = graph_op(&graph, two, NO_NODE, NO_NODE);  /* 5..7 */
	d = graph_op(&graph, kib, NO_NODE, NO_NODE);  /* 7..8 */
	graph_sink(&graph, a, NO_NODE);
	graph_sink(&graph, c, NO_NODE);              /* holes: 0..4, 5..7, the end */
	e = graph_op(&graph, two, NO_NODE, NO_NODE); /* 5..7, not 0..2 */
	graph_sink(&graph, graph_op(&graph, four, e, NO_NODE), NO_NODE); /* 0..4 fits */
	graph_sink(&graph, b, d);
	assert_u64(graph_peak_bytes(&graph, 128), 8 * 1024ull);
}

static void test_offsets_are_aligned_and_halves_are_half(void **state)
{
	int x;

	(void)state;
	start();
	x = graph_op(&graph, (struct shape){ 1, 1, 1 }, NO_NODE, NO_NODE); /* 4 bytes: 128 */
	graph_halve(&graph, graph_op(&graph, kib, x, NO_NODE));            /* 512 */
	assert_u64(graph_peak_bytes(&graph, 128), 640);
}

static void test_overflow_saturates(void **state)
{
	const struct shape huge = { UINT64_MAX / 2, 1000, 1000 };

	(void)state;
	start();
	graph_op(&graph, kib, graph_op(&graph, huge, NO_NODE, NO_NODE), NO_NODE);
	assert_true(graph_peak_bytes(&graph, 128) > INT64_MAX);
}

static void test_too_many_nodes_are_noticed(void **state)
{
	int x = NO_NODE;

	(void)state;
	start();
	for (int i = 0; i < GRAPH_MAX_NODES; i++) {
		x = graph_op(&graph, kib, x, NO_NODE);
	}
	assert_false(graph.full);
	x = graph_view(&graph, kib, x);
	assert_true(graph.full);
	assert_true(x < GRAPH_MAX_NODES);
	assert_u64(graph_peak_bytes(&graph, 128), 2 * 1024ull);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_chain_needs_two_places),
		cmocka_unit_test(test_in_place_needs_one),
		cmocka_unit_test(test_in_place_only_over_the_last_use),
		cmocka_unit_test(test_in_place_needs_the_same_shape),
		cmocka_unit_test(test_a_view_holds_its_source),
		cmocka_unit_test(test_nothing_is_written_over_a_view),
		cmocka_unit_test(test_outputs_stay),
		cmocka_unit_test(test_the_smallest_hole_is_taken),
		cmocka_unit_test(test_offsets_are_aligned_and_halves_are_half),
		cmocka_unit_test(test_overflow_saturates),
		cmocka_unit_test(test_too_many_nodes_are_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
