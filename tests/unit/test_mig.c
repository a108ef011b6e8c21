#include "test.h"
#include "vramcalc/vramcalc.h"

/* NVIDIA MIG User Guide (v580), A100 80GB: lgipp prints {0..6}:1, {0,2,4,6}:2, {0,2,4}:2, {0,4}:4,
 * {0}:4, {0}:8. */
static const struct vc_mig_profile a100_profiles[] = {
	{ "1g.10gb", 1, 1, 7, 0, 10200547328, 7, { 0, 1, 2, 3, 4, 5, 6 } },
	{ "1g.10gb+me", 1, 1, 1, 1, 10200547328, 7, { 0, 1, 2, 3, 4, 5, 6 } },
	{ "1g.20gb", 1, 2, 4, 0, 20937965568, 4, { 0, 2, 4, 6 } },
	{ "2g.20gb", 2, 2, 3, 0, 20937965568, 3, { 0, 2, 4 } },
	{ "3g.40gb", 3, 4, 2, 0, 42144366592, 2, { 0, 4 } },
	{ "4g.40gb", 4, 4, 1, 0, 42144366592, 1, { 0 } },
	{ "7g.80gb", 7, 8, 1, 1, 84825604096, 1, { 0 } },
};
static const struct vc_mig_table a100 = { "a100-80gb", 8, 7, 7, a100_profiles };

/* The same guide, A30: four slices and an axis of four. */
static const struct vc_mig_profile a30_profiles[] = {
	{ "1g.6gb", 1, 1, 4, 0, 6241124352, 4, { 0, 1, 2, 3 } },
	{ "2g.12gb", 2, 2, 2, 0, 12515803136, 2, { 0, 2 } },
	{ "4g.24gb", 4, 4, 1, 1, 25031606272, 1, { 0 } },
};
static const struct vc_mig_table a30 = { "a30-24gb", 4, 4, 3, a30_profiles };

struct example {
	const struct vc_mig_table *table;
	const char *set; /* names with blanks between */
	bool fits;
	int starts[8]; /* -1: not decided */
};

static const struct example examples[] = {
	{ &a100, "3g.40gb 2g.20gb 2g.20gb", true, { 4, 0, 2 } },
	{ &a100, "3g.40gb 2g.20gb 2g.20gb 1g.10gb", false, { 0 } },
	{ &a100, "3g.40gb 3g.40gb", true, { 4, 0 } },
	{ &a100, "3g.40gb 3g.40gb 1g.10gb", false, { 0 } },
	{ &a100, "4g.40gb 3g.40gb", true, { 0, 4 } },
	{ &a100, "4g.40gb 2g.20gb 1g.10gb", true, { 0, 4, 6 } },
	{ &a100, "4g.40gb 2g.20gb 2g.20gb", false, { 0 } },
	{ &a100, "4g.40gb 2g.20gb 1g.20gb", true, { 0, 4, 6 } },
	{ &a100, "2g.20gb 2g.20gb 2g.20gb 1g.10gb", true, { 0, 2, 4, 6 } },
	{ &a100, "2g.20gb 2g.20gb 2g.20gb 1g.20gb", true, { 0, 2, 4, 6 } },
	{ &a100, "2g.20gb 2g.20gb 2g.20gb 2g.20gb", false, { 0 } },
	{ &a100, "1g.20gb 1g.20gb 1g.20gb 1g.20gb", true, { 0, 2, 4, 6 } },
	{ &a100,
	  "1g.10gb 1g.10gb 1g.10gb 1g.10gb 1g.10gb 1g.10gb 1g.10gb",
	  true,
	  { 0, 1, 2, 3, 4, 5, 6 } },
	{ &a100, "1g.10gb 1g.10gb 1g.10gb 1g.10gb 1g.10gb 1g.10gb 1g.10gb 1g.10gb", false, { 0 } },
	{ &a100,
	  "1g.10gb 1g.10gb 1g.10gb 1g.10gb 1g.10gb 1g.10gb 1g.10gb+me",
	  true,
	  { 0, 1, 2, 3, 4, 5, 6 } },
	{ &a100, "1g.10gb+me 1g.10gb+me", false, { 0 } },
	{ &a100, "3g.40gb 1g.10gb 1g.10gb 1g.10gb 1g.10gb", true, { 4, 0, 1, 2, 3 } },
	{ &a100, "3g.40gb 2g.20gb 1g.10gb 1g.10gb", true, { 4, 0, 2, 3 } },
	{ &a100, "7g.80gb 1g.10gb", false, { 0 } },
	{ &a30, "2g.12gb 1g.6gb 1g.6gb", true, { 0, 2, 3 } },
	{ &a30, "2g.12gb 2g.12gb 1g.6gb", false, { 0 } },
	{ &a30, "1g.6gb 1g.6gb 1g.6gb 1g.6gb", true, { 0, 1, 2, 3 } },
};

static size_t parse(const struct example *example, const struct vc_mig_profile **wanted)
{
	size_t count = 0;

	for (const char *at = example->set; *at; at += strspn(at, " ")) {
		size_t length = strcspn(at, " ");

		for (size_t i = 0; i < example->table->profile_count; i++) {
			const char *name = example->table->profiles[i].name;

			if (strlen(name) == length && strncmp(name, at, length) == 0) {
				wanted[count++] = &example->table->profiles[i];
			}
		}
		at += length;
	}
	return count;
}

static void decided_examples_come_out(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
		const struct vc_mig_profile *wanted[16];
		uint8_t starts[VC_MAX_MIG_INSTANCES];
		size_t count = parse(&examples[i], wanted);

		if (vc_mig_place(examples[i].table, wanted, count, starts) != examples[i].fits) {
			fail_msg("%s", examples[i].set);
		}
		for (size_t k = 0; examples[i].fits && k < count; k++) {
			assert_int_equal(starts[k], examples[i].starts[k]);
		}
	}
}

static void unknown_starts_are_not_planned(void **state)
{
	const struct vc_mig_profile profile = { "1g.23gb", 1, 1, 7, 0, 0, 0, { 0 } };
	const struct vc_mig_table table = { "b200", 8, 7, 1, &profile };
	const struct vc_mig_profile *wanted[] = { &profile };
	uint8_t starts[VC_MAX_MIG_INSTANCES];

	(void)state;
	assert_false(vc_mig_place(&table, wanted, 1, starts));
	assert_true(vc_mig_place(&table, wanted, 0, starts));
}

/* Whatever is placed lies apart, and the order of the wishes does not decide whether it fits. */
static void placements_never_overlap(void **state)
{
	uint64_t seed = 11;

	(void)state;
	for (int round = 0; round < 5000; round++) {
		const struct vc_mig_profile *wanted[7], *reversed[7];
		uint8_t starts[VC_MAX_MIG_INSTANCES];
		uint32_t occupied = 0;
		size_t count;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		count = 1 + (seed >> 60) % 7;
		for (size_t i = 0; i < count; i++) {
			wanted[i] = &a100_profiles[(seed >> (4 + 5 * i)) % 6];
			reversed[count - 1 - i] = wanted[i];
		}
		assert_int_equal(vc_mig_place(&a100, wanted, count, starts),
		                 vc_mig_place(&a100, reversed, count, starts));
		if (!vc_mig_place(&a100, wanted, count, starts)) {
			continue;
		}
		for (size_t i = 0; i < count; i++) {
			uint32_t range = ((1u << wanted[i]->size) - 1) << starts[i];

			assert_int_equal(occupied & range, 0);
			occupied |= range;
		}
		assert_true(occupied < 256);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decided_examples_come_out),
		cmocka_unit_test(unknown_starts_are_not_planned),
		cmocka_unit_test(placements_never_overlap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
