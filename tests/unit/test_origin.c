/* What an output says of the user's files. */
#include "test.h"

#include "origin.h"

static const struct vc_gpu builtin = {
	.id = "a10",
	.name = "NVIDIA A10",
	.price = { true, 1000000, "USD", "aws g5.xlarge", "2026-07-20", NULL },
};
static const struct vc_gpu priced = {
	.id = "t4",
	.name = "Tesla T4",
	.price = { true, 1000000, "USD", "lab box", "2026-11-01", "p.csv:2" },
};
static const struct vc_gpu added = {
	.id = "card",
	.name = "Card",
	.origin = "g.yaml:3",
	.price = { true, 1000000, "USD", "lab box", "", "p.csv:3" },
};
static const struct vc_gpu both = {
	.id = "both",
	.name = "Both",
	.origin = "g.yaml:9",
	.price = { true, 1000000, "USD", "g.yaml:9", "2026-11-02", "g.yaml:9" },
};

static void one_sentence_names_files_and_lines(void **state)
{
	struct origin_note note = { .count = 0 };

	(void)state;
	origin_add(&note, &builtin, true);
	origin_add(&note, &priced, true);
	origin_add(&note, &added, true);
	origin_add(&note, &priced, true);
	origin_add(&note, &both, true);
	assert_true(origin_end(&note));
	assert_string_equal(note.text, "From your files: the price of Tesla T4 (p.csv:2, "
	                               "2026-11-01); Card (g.yaml:3), its price (p.csv:3); Both "
	                               "with its price (g.yaml:9, 2026-11-02).");
}

static void a_price_that_does_not_matter_is_left_out(void **state)
{
	struct origin_note note = { .count = 0 };

	(void)state;
	origin_add(&note, &priced, false);
	assert_false(origin_end(&note));
	origin_add(&note, &both, false);
	assert_true(origin_end(&note));
	assert_string_equal(note.text, "From your files: Both (g.yaml:9).");
}

static void of_many_it_says_that_there_are_more(void **state)
{
	static const char *const ids[] = { "a", "b", "c", "d", "e" };
	struct origin_note note = { .count = 0 };

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		const struct vc_gpu gpu = { .id = ids[i], .name = ids[i], .origin = "f:1" };

		origin_add(&note, &gpu, true);
	}
	assert_true(origin_end(&note));
	assert_string_equal(note.text,
	                    "From your files: a (f:1); b (f:1); c (f:1); d (f:1); and more.");
}

static void a_price_is_said_by_its_offer(void **state)
{
	static const struct {
		const struct vc_gpu *gpu;
		const char *text;
	} rows[] = {
		{ &builtin, "aws g5.xlarge, 2026-07-20" },
		{ &priced, "lab box, 2026-11-01, p.csv:2" },
		{ &added, "lab box, p.csv:3" },
		{ &both, "g.yaml:9, 2026-11-02" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char text[80] = "";

		price_said_by(text, sizeof text, &rows[i].gpu->price);
		assert_string_equal(text, rows[i].text);
	}
}

/* 3 x 2^63 is beyond 2^64; one of it is not. */
static void a_sum_that_64_bits_do_not_hold_is_no_price(void **state)
{
	const struct vc_price dear = { .known = true, .per_hour_micros = UINT64_C(1) << 63 };
	const struct vc_price none = { .known = false };
	uint64_t micros;

	(void)state;
	assert_true(price_times(&dear, 1, &micros));
	assert_u64(micros, UINT64_C(1) << 63);
	assert_false(price_times(&dear, 3, &micros));
	assert_false(price_times(&none, 1, &micros));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_sentence_names_files_and_lines),
		cmocka_unit_test(a_price_that_does_not_matter_is_left_out),
		cmocka_unit_test(of_many_it_says_that_there_are_more),
		cmocka_unit_test(a_price_is_said_by_its_offer),
		cmocka_unit_test(a_sum_that_64_bits_do_not_hold_is_no_price),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
