/* Scores of platforms: what is not known leaves the sum. */
#include "test.h"

#include "catalog_draft.h"
#include "platform.h"

#include <string.h>

static const struct vc_platform *platform(const char *id)
{
	for (size_t i = 0; i < vc_catalog_builtin.platform_count; i++) {
		if (strcmp(vc_catalog_builtin.platforms[i].id, id) == 0) {
			return &vc_catalog_builtin.platforms[i];
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
	some.cells[0] = (struct vc_platform_cell){ .scored = true, .score_ppm = 700000 };
	some.cells[2] = (struct vc_platform_cell){ .scored = true, .score_ppm = 1000000 };
	some.cells[3] = (struct vc_platform_cell){ .scored = true, .score_ppm = 100000 };
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
	assert_int_equal(vc_catalog_builtin.platform_count, 5);
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
	for (size_t i = 0; i < vc_catalog_builtin.platform_count; i++) {
		const struct vc_platform *of = &vc_catalog_builtin.platforms[i];

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

/* ---- Platforms of the user's ---- */

/* What is built in with a file of this text over it. */
static bool open_with(const char *text, struct vc_catalog *catalog, struct vc_error_list *errors)
{
	const struct vc_catalog_text source = { "own.yaml", text, strlen(text) };
	struct vc_catalog_draft draft;

	*errors = (struct vc_error_list){ .count = 0 };
	assert_true(vc_draft_start(&draft, &vc_catalog_builtin, errors));
	vc_draft_read_yaml(&draft, &source);
	return vc_draft_finish(&draft, NULL, catalog);
}

static const struct vc_platform *of_catalog(const struct vc_catalog *catalog, const char *id)
{
	for (size_t i = 0; i < catalog->platform_count; i++) {
		if (strcmp(catalog->platforms[i].id, id) == 0) {
			return &catalog->platforms[i];
		}
	}
	return NULL;
}

static void a_platform_is_added(void **state)
{
	const struct vc_platform *mine;
	struct vc_error_list errors;
	struct vc_catalog catalog;

	(void)state;
	assert_true(open_with(
	        "platforms:\n"
	        "  - id: ours\n"
	        "    kind: own\n"
	        "    slicing: [mig]\n"
	        "    sizes: [{gb: 80, vendor: nvidia, is: H100}]\n"
	        "    evidence:\n"
	        "      - {about: other, grade: own, as_of: \"2026\", source: a, text: b}\n"
	        "      - {about: memory, grade: own, as_of: \"2026\", source: c, text: d}\n"
	        "    cells:\n"
	        "      - {criterion: support, score: unknown, is: a colleague}\n"
	        "      - {criterion: memory, score: 0.4}\n",
	        &catalog, &errors));
	assert_int_equal(catalog.platform_count, vc_catalog_builtin.platform_count + 1);
	mine = of_catalog(&catalog, "ours");
	assert_string_equal(mine->name, "ours");
	assert_string_equal(mine->origin.text, "own.yaml:2");
	assert_true(vc_platform_has(mine, VC_PLATFORM_SLICING, "mig"));
	assert_true(vc_platform_sells(mine, "nvidia"));
	assert_true(mine->cells[0].scored);
	assert_int_equal(mine->cells[0].score_ppm, 400000);
	assert_string_equal(mine->cells[0].origin.text, "own.yaml:11");
	assert_false(mine->cells[5].scored);
	assert_string_equal(mine->cells[5].is, "a colleague");
	assert_string_equal(mine->evidence[1].source, "c");
	assert_string_equal(mine->evidence[1].origin.text, "own.yaml:8");
	assert_null(mine->cells[1].origin.text);
	vc_catalog_close(&catalog);
}

static void cells_are_laid_over_the_built_in_ones(void **state)
{
	const struct vc_platform *was = platform("volcano"), *is;
	struct vc_error_list errors;
	struct vc_catalog catalog;

	(void)state;
	assert_true(open_with(
	        "platforms:\n"
	        "  - id: volcano\n"
	        "    cells: [{criterion: billing, score: 0.7}]\n"
	        "    evidence:\n"
	        "      - {about: billing, grade: own, as_of: \"2026\", source: a, text: b}\n"
	        "  - {id: tencent, hidden: true}\n",
	        &catalog, &errors));
	is = of_catalog(&catalog, "volcano");
	assert_int_equal(is->cells[1].score_ppm, 700000);
	assert_string_equal(is->cells[1].origin.text, "own.yaml:3");
	assert_int_equal(is->cells[3].score_ppm, was->cells[3].score_ppm);
	assert_null(is->cells[3].origin.text);
	assert_string_equal(is->name, was->name);
	assert_int_equal(is->evidence_count, was->evidence_count + 1);
	assert_string_equal(is->evidence[0].text, "b");
	assert_string_equal(is->evidence[1].text, was->evidence[0].text);
	assert_null(of_catalog(&catalog, "tencent"));
	vc_catalog_close(&catalog);
}

static void mistakes_are_named_at_their_place(void **state)
{
	static const struct {
		const char *text, *field, *message;
		uint32_t line, column;
	} rows[] = {
		{ "platforms:\n  - {id: x}\n", "platforms[0]", "kind is missing", 2, 5 },
		{ "platforms:\n  - {id: x, kind: genral}\n", "platforms[0].kind",
		  "unknown 'genral' (did you mean general?)", 2, 19 },
		{ "platforms:\n  - {id: x, kind: own, cost: 1}\n", "platforms[0].cost",
		  "unknown field", 2, 24 },
		{ "platforms: [{id: volcano, cells: [{criterion: speed, score: 1}]}]\n",
		  "platforms[0].cells[0].criterion",
		  "unknown 'speed' (memory, billing, slicing, interconnect, frameworks or support)",
		  1, 47 },
		{ "platforms: [{id: volcano, cells: [{criterion: memory, score: 1}]}]\n",
		  "platforms[0].cells[0].score", "nothing says so", 1, 62 },
		{ "platforms: [{id: volcano, cells: [{criterion: memory, score: 1.1}]}]\n",
		  "platforms[0].cells[0].score", "from 0 to 1", 1, 62 },
		{ "platforms: [{id: volcano, cells: [{criterion: memory, score: .nan}]}]\n",
		  "platforms[0].cells[0].score", "from 0 to 1", 1, 62 },
		{ "platforms: [{id: volcano, cells: [{criterion: memory, score: unknown},"
		  " {criterion: memory, score: unknown}]}]\n",
		  "platforms[0].cells[1].criterion", "has a cell already", 1, 84 },
		{ "platforms: [{id: volcano, evidence: [{about: memory, grade: own, text: a,"
		  " source: b}]}]\n",
		  "platforms[0].evidence[0].as_of", "missing", 1, 38 },
		{ "platforms: [{id: volcano, evidence: [{about: speed, grade: own, text: a,"
		  " source: b, as_of: c}]}]\n",
		  "platforms[0].evidence[0].about", "support or other", 1, 46 },
		{ "platforms: [{id: volcano, evidence: [{about: other, grade: hearsay, text: a,"
		  " source: b, as_of: c}]}]\n",
		  "platforms[0].evidence[0].grade", "unknown 'hearsay'", 1, 60 },
		{ "platforms: [{id: volcano, sizes: [{gb: 80, vendor: nvida, is: a}]}]\n",
		  "platforms[0].sizes[0].vendor", "did you mean nvidia?", 1, 52 },
		{ "platforms: [{id: volcano, sizes: [{gb: 0, vendor: amd, is: a}]}]\n",
		  "platforms[0].sizes[0].gb", "out of range", 1, 40 },
		{ "platforms:\n- {id: volcano}\n- {id: volcano}\n", "platforms[1].id",
		  "in this file already", 3, 8 },
		{ "criteria: []\nplatforms: []\n", "criteria", "unknown field", 1, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct vc_error_list errors;
		struct vc_catalog catalog;
		char text[VC_ERROR_TEXT];

		assert_false(open_with(rows[i].text, &catalog, &errors));
		if (!strstr(errors.errors[0].message, rows[i].message)) {
			fail_msg("row %zu: %s", i, vc_error_format(&errors.errors[0], text));
		}
		assert_string_equal(errors.errors[0].file, "own.yaml");
		assert_string_equal(errors.errors[0].field, rows[i].field);
		assert_int_equal(errors.errors[0].line, rows[i].line);
		assert_int_equal(errors.errors[0].column, rows[i].column);
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
		cmocka_unit_test(a_platform_is_added),
		cmocka_unit_test(cells_are_laid_over_the_built_in_ones),
		cmocka_unit_test(mistakes_are_named_at_their_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
