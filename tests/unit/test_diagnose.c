#include "test.h"
#include "vramcalc/vramcalc.h"

#define GIB(x) ((uint64_t)((x)*1073741824.0))

enum {
	ALL = VC_KNOWS_TOTAL | VC_KNOWS_REQUESTED | VC_KNOWS_ALLOCATED | VC_KNOWS_RESERVED |
	      VC_KNOWS_FREE
};

struct report {
	const char *source;
	struct vc_evidence evidence;
	enum vc_cause cause;
};

static const struct report reports[] = {
	{ "github.com/Tianhao-Qi/Mask2DiT/issues/4",
	  { .out_of_memory = true,
	    .known = ALL,
	    .total_bytes = GIB(79.33),
	    .requested_bytes = GIB(35.60),
	    .free_bytes = GIB(26.16),
	    .allocated_bytes = GIB(11.97),
	    .reserved_bytes = GIB(11.97 + 40.69) },
	  VC_CAUSE_FRAGMENTATION },
	{ "github.com/zju3dv/Diffuman4D/issues/20",
	  { .out_of_memory = true,
	    .known = VC_KNOWS_TOTAL | VC_KNOWS_REQUESTED | VC_KNOWS_FREE,
	    .total_bytes = GIB(23.99),
	    .requested_bytes = GIB(0.9375),
	    .free_bytes = GIB(15.52) },
	  VC_CAUSE_UNKNOWN },
	{ "github.com/jhc13/taggui/issues/188",
	  { .out_of_memory = true,
	    .applied = VC_APPLIED_EXPANDABLE_SEGMENTS,
	    .known = VC_KNOWS_TOTAL | VC_KNOWS_REQUESTED | VC_KNOWS_FREE,
	    .total_bytes = GIB(4),
	    .requested_bytes = 20 << 20,
	    .free_bytes = GIB(2.35) },
	  VC_CAUSE_UNKNOWN },
	{ "first step, everything allocated is live",
	  { .out_of_memory = true,
	    .known = ALL,
	    .total_bytes = GIB(39.4),
	    .requested_bytes = GIB(2),
	    .free_bytes = GIB(0.5),
	    .allocated_bytes = GIB(38.2),
	    .reserved_bytes = GIB(38.4) },
	  VC_CAUSE_CAPACITY },
	{ "somebody else's job on the card",
	  { .out_of_memory = true,
	    .known = ALL | VC_KNOWS_OTHERS,
	    .total_bytes = GIB(23.7),
	    .requested_bytes = GIB(1),
	    .free_bytes = GIB(0.2),
	    .allocated_bytes = GIB(5),
	    .reserved_bytes = GIB(5.1),
	    .other_processes_bytes = GIB(18) },
	  VC_CAUSE_OTHER_PROCESS },
	{ "an engine that finds no room for its cache",
	  { .refused_at_start = true },
	  VC_CAUSE_CAPACITY },
	{ "nothing but the words", { .out_of_memory = true }, VC_CAUSE_UNKNOWN },
	{ "a rising curve that ends in failure",
	  { .out_of_memory = true, .used = { VC_TREND_RISING, 1000000000 } },
	  VC_CAUSE_LEAK },
	{ "a plateau that ends in failure, theory above the card",
	  { .out_of_memory = true,
	    .known = VC_KNOWS_TOTAL,
	    .total_bytes = 40000000000,
	    .theory_bytes = 60900000000,
	    .used = { VC_TREND_PLATEAU, 0 } },
	  VC_CAUSE_CAPACITY },
	{ "the same with theory below the card",
	  { .out_of_memory = true,
	    .known = VC_KNOWS_TOTAL,
	    .total_bytes = 40000000000,
	    .theory_bytes = 20000000000,
	    .used = { VC_TREND_PLATEAU, 0 } },
	  VC_CAUSE_FRAGMENTATION },
	{ "a rising curve without a failure", { .used = { VC_TREND_RISING, 5 } }, VC_CAUSE_LEAK },
	{ "a flat curve", { .used = { VC_TREND_FLAT, 0 } }, VC_CAUSE_NONE },
	{ "a first-iteration failure with the request alone",
	  { .out_of_memory = true, .known = VC_KNOWS_REQUESTED, .requested_bytes = GIB(4) },
	  VC_CAUSE_CAPACITY },
	{ "the kernel's OOM killer", { .memory = VC_MEMORY_HOST }, VC_CAUSE_CAPACITY },
	{ "no evidence", { 0 }, VC_CAUSE_UNKNOWN },
};

static void reports_are_told_apart(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof reports / sizeof *reports; i++) {
		struct vc_diagnosis diagnosis = vc_diagnose(&reports[i].evidence);

		if (diagnosis.cause != reports[i].cause) {
			fail_msg("%s: %s, expected %s", reports[i].source,
			         vc_cause_name(diagnosis.cause), vc_cause_name(reports[i].cause));
		}
		assert_true(diagnosis.cause == VC_CAUSE_NONE || diagnosis.advice_count > 0);
		assert_true(diagnosis.cause != VC_CAUSE_UNKNOWN ||
		            diagnosis.confidence == VC_CONFIDENCE_LOW);
	}
}

static void what_is_set_is_not_advised(void **state)
{
	struct vc_evidence evidence = reports[0].evidence;
	struct vc_diagnosis diagnosis = vc_diagnose(&evidence);

	(void)state;
	assert_non_null(strstr(diagnosis.advice[0], "expandable_segments"));
	assert_int_equal(diagnosis.confidence, VC_CONFIDENCE_HIGH);
	evidence.applied = VC_APPLIED_EXPANDABLE_SEGMENTS;
	diagnosis = vc_diagnose(&evidence);
	for (uint32_t i = 0; i < diagnosis.advice_count; i++) {
		assert_null(strstr(diagnosis.advice[i], "expandable_segments"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reports_are_told_apart),
		cmocka_unit_test(what_is_set_is_not_advised),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
