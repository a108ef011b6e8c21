#include "ledger.h"
#include "test.h"

static void lines_add_up(void **state)
{
	struct vc_ledger ledger = { 0 };
	struct vc_error error;

	(void)state;
	vc_line_ratio(vc_ledger_add(&ledger, VC_COMPONENT_WEIGHTS, 5, "a"), "b", 1, 2);
	vc_ledger_add(&ledger, VC_COMPONENT_WEIGHTS, 7, "b");
	vc_ledger_add(&ledger, VC_COMPONENT_LOGITS, 1, "c");
	vc_ledger_add_host(&ledger, VC_COMPONENT_WEIGHTS, 100, "d");
	assert_int_equal(vc_ledger_finish(&ledger, &error), VC_OK);
	assert_u64(ledger.total_bytes, 13);
	assert_u64(ledger.host.total_bytes, 100);
	assert_u64(vc_ledger_component(&ledger, VC_COMPONENT_WEIGHTS), 12);
	assert_u64(ledger.lines[0].inputs[0].divisor, 2);
}

static void a_full_ledger_keeps_its_sum(void **state)
{
	struct vc_ledger ledger = { 0 };
	struct vc_error error;

	(void)state;
	for (uint64_t i = 1; i <= VC_MAX_LINES + 10; i++) {
		vc_ledger_add(&ledger, VC_COMPONENT_LOGITS, i, "");
		vc_ledger_phase(&ledger, "p", i);
	}
	assert_int_equal(vc_ledger_finish(&ledger, &error), VC_OK);
	assert_u64(ledger.total_bytes, 58 * 59 / 2);
	assert_int_equal(ledger.phase_count, VC_MAX_PHASES);
}

static void notes_come_once(void **state)
{
	static char codes[VC_MAX_NOTES + 3][8];
	struct vc_ledger ledger = { 0 };

	(void)state;
	vc_ledger_note(&ledger, "a", "first", NULL);
	vc_ledger_note(&ledger, "a", "again", NULL);
	assert_int_equal(ledger.note_count, 1);
	assert_string_equal(ledger.notes[0].text, "first");
	for (int i = 0; i < VC_MAX_NOTES + 3; i++) {
		snprintf(codes[i], sizeof codes[i], "n%d", i);
		vc_ledger_note(&ledger, codes[i], "", (const uint64_t[3]){ 1, 2, 3 });
	}
	assert_int_equal(ledger.note_count, VC_MAX_NOTES);
	assert_u64(ledger.notes[1].args[2], 3);
}

static void names_are_complete(void **state)
{
	(void)state;
	for (int i = 0; i < VC_COMPONENT_COUNT; i++) {
		assert_true(strlen(vc_component_name((enum vc_component)i)) > 0);
	}
	assert_string_equal(vc_component_name(VC_COMPONENT_KV_CACHE), "kv_cache");
	assert_string_equal(vc_verdict_name(VC_VERDICT_TIGHT), "tight");
	for (int i = VC_ENGINE_NONE + 1; i < VC_ENGINE_COUNT; i++) {
		assert_int_equal(vc_engine_by_name(vc_engine_name((enum vc_engine)i)), i);
	}
	assert_int_equal(vc_engine_by_name("vLLM"), VC_ENGINE_VLLM);
	assert_int_equal(vc_engine_by_name("vllmm"), VC_ENGINE_COUNT);
}

static void optimizers_are_complete(void **state)
{
	(void)state;
	for (int i = VC_OPTIMIZER_DEFAULT + 1; i < VC_OPTIMIZER_COUNT; i++) {
		const struct vc_optimizer_info *info = vc_optimizer_info((enum vc_optimizer)i);

		assert_int_equal(vc_optimizer_by_name(info->name), i);
		assert_true(info->state_elements > 0);
		assert_true(strlen(info->summary) > 0);
	}
	assert_int_equal(vc_optimizer_by_name("adamw-9bit"), VC_OPTIMIZER_COUNT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_add_up),
		cmocka_unit_test(a_full_ledger_keeps_its_sum),
		cmocka_unit_test(notes_come_once),
		cmocka_unit_test(names_are_complete),
		cmocka_unit_test(optimizers_are_complete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
