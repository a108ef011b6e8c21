#include "test.h"
#include "vramcalc/vramcalc.h"

/* NVIDIA MIG User Guide (v580), A100 80GB. */
static const struct vc_mig_profile profiles[] = {
	{ "1g.10gb", 1, 1, 7, 0, 10200547328, 7, { 0, 1, 2, 3, 4, 5, 6 } },
	{ "1g.10gb+me", 1, 1, 1, 1, 10200547328, 7, { 0, 1, 2, 3, 4, 5, 6 } },
	{ "1g.20gb", 1, 2, 4, 0, 20937965568, 4, { 0, 2, 4, 6 } },
	{ "2g.20gb", 2, 2, 3, 0, 20937965568, 3, { 0, 2, 4 } },
	{ "3g.40gb", 3, 4, 2, 0, 42144366592, 2, { 0, 4 } },
	{ "4g.40gb", 4, 4, 1, 0, 42144366592, 1, { 0 } },
	{ "7g.80gb", 7, 8, 1, 1, 84825604096, 1, { 0 } },
};
static const struct vc_mig_table a100 = { "a100-80gb", 8, 7, 7, profiles };

enum {
	MOST = 256
};
static struct vc_placement placements[MOST];
static struct vc_pack_bin bins[MOST];

static struct vc_packing pack(const uint64_t *need, size_t jobs, uint64_t capacity,
                              const struct vc_mig_table *mig)
{
	struct vc_packing packing;
	struct vc_error error = { 0 };

	assert_int_equal(vc_pack(need, jobs, capacity, mig, placements, bins, &packing, &error),
	                 VC_OK);
	return packing;
}

static void the_case_study_fits_one_card(void **state)
{
	/* 13B in fp16: 1.2 x (26 + 2) = 33.6 GB; 7B: 1.2 x (14 + 2) = 19.2 GB, twice */
	const uint64_t need[] = { 33600000000, 19200000000, 19200000000 };
	struct vc_packing packing = pack(need, 3, 80000000000, &a100);

	(void)state;
	assert_int_equal(packing.gpus, 1);
	assert_true(packing.optimal);
	assert_string_equal(placements[0].profile->name, "3g.40gb");
	assert_int_equal(placements[0].start, 4);
	assert_string_equal(placements[1].profile->name, "2g.20gb");
	assert_int_equal(placements[1].start, 0);
	assert_string_equal(placements[2].profile->name, "2g.20gb");
	assert_int_equal(placements[2].start, 2);
	/* shared, 72 of 80 GB */
	packing = pack(need, 3, 80000000000, NULL);
	assert_int_equal(packing.gpus, 1);
	assert_null(placements[0].profile);
}

static void first_fit_is_improved_on(void **state)
{
	/* First-fit decreasing fills 10 as 6+3, 5+2+2 and 2; two hold 6+2+2 and 5+3+2 */
	const uint64_t need[] = { 6, 5, 3, 2, 2, 2 };
	struct vc_packing packing = pack(need, 6, 10, NULL);

	(void)state;
	assert_int_equal(packing.gpus, 2);
	assert_true(packing.optimal);
}

static void what_fits_nothing_is_left_over(void **state)
{
	const uint64_t need[] = { 90000000000, 10000000000 };
	struct vc_packing packing = pack(need, 2, 80000000000, NULL);

	(void)state;
	assert_int_equal(packing.gpus, 1);
	assert_int_equal(packing.unplaced, 1);
	assert_true(placements[0].gpu == VC_PACK_NONE);
	assert_int_equal(placements[1].gpu, 0);
	packing = pack(need, 0, 80000000000, NULL);
	assert_int_equal(packing.gpus, 0);
}

static void smallest_slice_that_holds(void **state)
{
	/* 6 GB on an A100 80GB is a 1g.10gb: there is no 6 GB slice on this card */
	const uint64_t need[] = { 6000000000, 84000000000 };
	struct vc_packing packing = pack(need, 1, 80000000000, &a100);

	(void)state;
	assert_int_equal(packing.gpus, 1);
	assert_int_equal(placements[0].profile->size, 1);
	packing = pack(need + 1, 1, 80000000000, &a100);
	assert_string_equal(placements[0].profile->name, "7g.80gb");
	/* seven fit, the eighth opens a second card */
	const uint64_t small[8] = { 9, 9, 9, 9, 9, 9, 9, 9 };
	packing = pack(small, 8, 80000000000, &a100);
	assert_int_equal(packing.gpus, 2);
	assert_true(packing.optimal);
}

/* The fewest bins by trying every assignment, for comparison. */
static uint32_t brute_force(const uint64_t *need, size_t jobs, uint64_t capacity, size_t next,
                            uint64_t *used, uint32_t gpus)
{
	uint32_t best = UINT32_MAX;

	if (next == jobs) {
		return gpus;
	}
	for (uint32_t gpu = 0; gpu <= gpus; gpu++) {
		if (used[gpu] + need[next] <= capacity) {
			uint32_t found;

			used[gpu] += need[next];
			found = brute_force(need, jobs, capacity, next + 1, used,
			                    gpu == gpus ? gpus + 1 : gpus);
			used[gpu] -= need[next];
			best = found < best ? found : best;
		}
	}
	return best;
}

static void few_jobs_are_packed_optimally(void **state)
{
	uint64_t seed = 3;

	(void)state;
	for (int round = 0; round < 400; round++) {
		uint64_t need[8], used[9] = { 0 }, filled[8] = { 0 };
		size_t jobs;
		struct vc_packing packing;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		jobs = 1 + (seed >> 60) % 8;
		for (size_t i = 0; i < jobs; i++) {
			need[i] = 1 + (seed >> (5 * i)) % 60;
		}
		packing = pack(need, jobs, 100, NULL);
		assert_true(packing.optimal);
		assert_int_equal(packing.gpus, brute_force(need, jobs, 100, 0, used, 0));
		for (size_t i = 0; i < jobs; i++) {
			assert_true(placements[i].gpu < packing.gpus);
			filled[placements[i].gpu] += need[i];
			assert_true(filled[placements[i].gpu] <= 100);
		}
	}
}

static void many_jobs_are_packed_soundly(void **state)
{
	static uint64_t need[200];
	uint64_t seed = 5, total = 0;
	struct vc_packing packing;

	(void)state;
	for (size_t i = 0; i < 200; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		need[i] = 1000000000 + (seed >> 33) % 40000000000;
		total += need[i];
	}
	packing = pack(need, 200, 80000000000, NULL);
	/* first-fit decreasing is within 11/9 of the optimum and a bin (Johnson 1973) */
	assert_true(packing.gpus <= (total / 80000000000 + 1) * 11 / 9 + 1);
	assert_int_equal(packing.unplaced, 0);
	packing = pack(need, 200, 80000000000, &a100);
	for (size_t i = 0; i < 200; i++) {
		assert_true(placements[i].gpu < packing.gpus);
		assert_true(placements[i].profile->memory_bytes >= need[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_case_study_fits_one_card),
		cmocka_unit_test(first_fit_is_improved_on),
		cmocka_unit_test(what_fits_nothing_is_left_over),
		cmocka_unit_test(smallest_slice_that_holds),
		cmocka_unit_test(few_jobs_are_packed_optimally),
		cmocka_unit_test(many_jobs_are_packed_soundly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
