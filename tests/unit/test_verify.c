/* Whether a log's terms make up what it says they are parts of: figures of public logs. */
#include "test.h"
#include "verify.h"

#define GIB(hundredths) ((uint64_t)(hundredths)*1073741824ull / 100)

struct logged {
	const char *source; /* github.com/ and the name, or "public log" */
	enum vc_engine engine;
	struct {
		enum startup_term term;
		unsigned hundredths; /* of a GiB, as printed */
	} terms[8];
	bool closes;
	const char *absent; /* a word of it; NULL: all terms are there */
};

#define W STARTUP_WEIGHTS
#define O STARTUP_OUTSIDE
#define P STARTUP_PEAK
#define C STARTUP_CACHE
#define B STARTUP_BUDGET

static const struct logged logs[] = {
	{ "vllm-project/vllm/pull/10511",
	  VC_ENGINE_VLLM,
	  { { B, 7129 }, { W, 1496 }, { O, 179 }, { P, 126 }, { C, 5329 } },
	  true,
	  NULL },
	{ "vllm-project/vllm/pull/10511, tp 2",
	  VC_ENGINE_VLLM,
	  { { B, 7129 }, { W, 748 }, { O, 358 }, { P, 126 }, { C, 5898 } },
	  true,
	  NULL },
	{ "vllm-project/vllm/issues/11251",
	  VC_ENGINE_VLLM,
	  { { B, 1420 }, { W, 751 }, { O, 39 }, { P, 253 }, { C, 376 } },
	  true,
	  NULL },
	{ "vllm-project/vllm/pull/14447",
	  VC_ENGINE_VLLM,
	  { { B, 2335 }, { W, 2121 }, { O, 20 }, { P, 37 }, { C, 157 } },
	  true,
	  NULL },
	{ "kubernetes-sigs/gateway-api-inference-extension/pull/550",
	  VC_ENGINE_VLLM,
	  { { B, 7127 }, { W, 1255 }, { O, 16 }, { P, 238 }, { C, 5618 } },
	  true,
	  NULL },
	{ "public log, Phi-4 in 4 bits",
	  VC_ENGINE_VLLM,
	  { { B, 5509 }, { W, 863 }, { O, 9 }, { P, 116 }, { C, 4521 } },
	  true,
	  NULL },
	{ "public log, vLLM on GB200, with an estimate of graphs",
	  VC_ENGINE_VLLM,
	  { { B, 16956 },
	    { W, 10669 },
	    { O, 95 },
	    { P, 631 },
	    { C, 5062 },
	    { STARTUP_RESERVE, 499 } },
	  true,
	  NULL },
	{ "the same without its peak",
	  VC_ENGINE_VLLM,
	  { { B, 7127 }, { W, 1255 }, { O, 16 }, { C, 5618 } },
	  false,
	  "peak" },
	{ "a pool that is 0.3 GiB short",
	  VC_ENGINE_VLLM,
	  { { B, 7129 }, { W, 1496 }, { O, 179 }, { P, 126 }, { C, 5299 } },
	  false,
	  NULL },
	{ "public log, SGLang of February 2026",
	  VC_ENGINE_SGLANG,
	  { { STARTUP_FREE_START, 1524 },
	    { W, 598 },
	    { STARTUP_STATE, 277 },
	    { C, 304 },
	    { STARTUP_WORKSPACE, 44 },
	    { STARTUP_GRAPHS, 9 },
	    { STARTUP_FREE_END, 289 } },
	  true,
	  NULL },
	{ "the same without what attention took",
	  VC_ENGINE_SGLANG,
	  { { STARTUP_FREE_START, 1524 },
	    { W, 598 },
	    { STARTUP_STATE, 277 },
	    { C, 304 },
	    { STARTUP_GRAPHS, 9 },
	    { STARTUP_FREE_END, 289 } },
	  false,
	  "attention" },
};

static struct verification *compare(const struct logged *logged)
{
	static struct verification verification;
	static struct startup_rank rank;
	static struct log log;

	memset(&verification, 0, sizeof verification);
	memset(&rank, 0, sizeof rank);
	log_open(&log);
	log.startup.engine = logged->engine;
	for (size_t i = 0; i < sizeof logged->terms / sizeof *logged->terms; i++) {
		if (logged->terms[i].hundredths) {
			startup_set(&rank, logged->terms[i].term, GIB(logged->terms[i].hundredths));
		}
	}
	verification.log = &log;
	verification.rank = &rank;
	verify_compare(&verification);
	return &verification;
}

static void closes_where_all_terms_are_there(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
		const struct verify_sum *sum = &compare(&logs[i])->sum;

		if (!sum->whole || sum->closes != logs[i].closes ||
		    (sum->absent != NULL) != (logs[i].absent != NULL) ||
		    (sum->absent && !strstr(sum->absent, logs[i].absent))) {
			fail_msg("%s: %" PRIu64 " of %" PRIu64 ", absent: %s", logs[i].source,
			         sum->sum_bytes, sum->whole_bytes,
			         sum->absent ? sum->absent : "nothing");
		}
	}
}

/* Nothing is in range of an estimate of nothing but nothing. */
static void judges_by_the_range_of_the_estimate(void **state)
{
	struct verification *v = compare(&logs[0]);

	(void)state;
	assert_false(v->within);
	v->ledger = (struct vc_ledger){
		.total_bytes = GIB(7000),
		.low_bytes = GIB(6500),
		.high_bytes = GIB(7500),
		.line_count = 4,
		.lines = { { .component = VC_COMPONENT_WEIGHTS, .bytes = GIB(1496) },
		           { .component = VC_COMPONENT_KV_CACHE, .bytes = GIB(5500) },
		           { .component = VC_COMPONENT_LOGITS, .bytes = GIB(126) },
		           { .component = VC_COMPONENT_FRAMEWORK, .bytes = GIB(16) } }
	};
	verify_compare(v);
	assert_true(v->within);
	v->ledger.lines[3].bytes = GIB(700); /* 5.21 GiB too much, with 5 on either side */
	verify_compare(v);
	assert_false(v->within);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(closes_where_all_terms_are_there),
		cmocka_unit_test(judges_by_the_range_of_the_estimate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
