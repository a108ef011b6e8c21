/* Scores of platforms: what is not known leaves the sum. */
#include "test.h"

#include "platform.h"

#include <string.h>

static const struct vc_platform *platform(const char *id)
{
	for (size_t i = 0; i < vc_platform_count; i++) {
		if (strcmp(vc_platforms[i].id, id) == 0) {
			return &vc_platforms[i];
		}
	}
	return NULL;
}

static void unknowns_leave_the_sum(void **state)
{
	struct vc_platform some = { .id = "some" };
	const uint64_t weights[VC_CRITERIA] = { 3000000, 1000000, 0, 1000000, 0, 0 };
	struct vc_platform_score score;

	(void)state;
	some.cells[0] = (struct vc_platform_cell){ true, 700000, "" };
	some.cells[2] = (struct vc_platform_cell){ true, 1000000, "" };
	some.cells[3] = (struct vc_platform_cell){ true, 100000, "" };
	score = vc_platform_score(&some, weights);
	/* (3 x 0.7 + 1 x 0.1) / (3 + 1): billing is unknown, slicing has no weight */
	assert_true(score.scored);
	assert_int_equal(score.score_ppm, 550000);
	assert_int_equal(score.known, 2);
	assert_int_equal(score.weighted, 3);
}

static void nothing_known_is_no_score(void **state)
{
	struct vc_platform none = { .id = "none" };
	const uint64_t weights[VC_CRITERIA] = { 1, 1, 1, 1, 1, 1 };
	struct vc_platform_score score = vc_platform_score(&none, weights);

	(void)state;
	assert_false(score.scored);
	assert_int_equal(score.known, 0);
	assert_int_equal(score.weighted, 6);
}

static void weights_are_read(void **state)
{
	uint64_t weights[VC_CRITERIA];
	char problem[VC_WEIGHTS_PROBLEM];

	(void)state;
	assert_true(vc_platform_weights("memory=3,support=0.5", weights, problem));
	assert_int_equal(weights[0], 3000000);
	assert_int_equal(weights[1], 0);
	assert_int_equal(weights[5], 500000);
}

static void wrong_weights_are_refused(void **state)
{
	static const char *const wrong[][2] = {
		{ "memroy=3", "did you mean memory" },
		{ "speed=1", "no criterion is named speed" },
		{ "memory=x", "not a number" },
		{ "memory", "not a number" },
		{ "memory=-1", "not a number" },
		{ "memory=2000", "not a number" },
		{ "memory=1,memory=2", "two weights" },
		{ "memory=0", "all weights are 0" },
		{ "memory=1,", "no criterion" },
		{ "", "no criterion" },
	};
	uint64_t weights[VC_CRITERIA];
	char problem[VC_WEIGHTS_PROBLEM];

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		assert_false(vc_platform_weights(wrong[i][0], weights, problem));
		assert_non_null(strstr(problem, wrong[i][1]));
	}
}

/* What the documents say of each of the five. */
static void the_documents_platforms_are_there(void **state)
{
	(void)state;
	assert_int_equal(vc_platform_count, 5);
	assert_string_equal(vc_platforms_compared, "2025-Q4");
	assert_string_equal(platform("alibaba")->kind, "general");
	assert_string_equal(platform("zhixingyun")->kind, "specialist");
	assert_true(vc_platform_has(platform("alibaba"), VC_PLATFORM_FIT, "multi-region"));
	assert_true(vc_platform_has(platform("tencent"), VC_PLATFORM_SLICING, "software"));
	assert_true(vc_platform_has(platform("tencent"), VC_PLATFORM_FIT, "start-up"));
	assert_true(vc_platform_has(platform("huawei"), VC_PLATFORM_COMPLIANCE, "mlps3"));
	assert_true(vc_platform_sells(platform("huawei"), "huawei"));
	assert_false(vc_platform_sells(platform("volcano"), "huawei"));
	assert_true(vc_platform_has(platform("zhixingyun"), VC_PLATFORM_SLICING, "mig"));
	assert_true(vc_platform_has(platform("zhixingyun"), VC_PLATFORM_FRAMEWORK, "vllm"));
	assert_false(vc_platform_has(platform("alibaba"), VC_PLATFORM_SLICING, "mig"));
}

/* A score without evidence would be an opinion. */
static void every_score_has_evidence(void **state)
{
	(void)state;
	for (size_t i = 0; i < vc_platform_count; i++) {
		const struct vc_platform *of = &vc_platforms[i];

		for (size_t c = 0; c < VC_CRITERIA; c++) {
			bool found = !of->cells[c].scored;

			for (size_t e = 0; e < of->evidence_count; e++) {
				found |= strcmp(of->evidence[e].about, vc_criteria[c].id) == 0;
			}
			assert_true(found);
		}
		for (size_t e = 0; e < of->evidence_count; e++) {
			assert_true(*of->evidence[e].as_of && *of->evidence[e].source);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unknowns_leave_the_sum),
		cmocka_unit_test(nothing_known_is_no_score),
		cmocka_unit_test(weights_are_read),
		cmocka_unit_test(wrong_weights_are_refused),
		cmocka_unit_test(the_documents_platforms_are_there),
		cmocka_unit_test(every_score_has_evidence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
