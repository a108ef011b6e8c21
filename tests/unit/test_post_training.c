#include "shapes.h"
#include "test.h"

/* Expected figures are worked out by hand for Llama-2-7B: P = 6,738,415,616 parameters in bf16,
 * W = 2 P = 13,476,831,232 bytes. Four sequences of 2048 tokens, T = 8192. */
static const uint64_t P = 6738415616, W = 13476831232;

/* Large enough for everything at once, so that nothing is squeezed. */
static const struct vc_gpu card = { .id = "card", .usable_bytes = 288000000000 };
static struct vc_model model;
static struct vc_role_request roles[VC_ROLE_COUNT];

static struct vc_request policy_of(enum vc_training_method method)
{
	shape_decoder(&model, &llama_2_7b);
	memset(roles, 0, sizeof roles);
	roles[VC_ROLE_ROLLOUT].given = true;
	return (struct vc_request){
		.model = &model,
		.method = VC_METHOD_DETAILED,
		.workload = { .task = VC_TASK_TRAINING,
		              .precision = VC_DTYPE_BF16,
		              .batch_size = 4,
		              .sequence_length = 2048 },
		.training = { .method = method,
		              .mixed_precision = VC_MIXED_NONE,
		              .gradient_checkpointing = VC_CHECKPOINTING_FULL,
		              .loss_implementation = VC_LOSS_FUSED },
		.engine.name = VC_ENGINE_TRANSFORMERS,
		.gpu = &card,
		.roles = roles,
	};
}

static struct vc_ledger ledger_of(const struct vc_request *request)
{
	struct vc_ledger ledger;
	struct vc_error error = { 0 };

	if (vc_estimate(request, &ledger, &error) != VC_OK) {
		fail_msg("%s: %s", error.field, error.message);
	}
	return ledger;
}

static uint64_t phase(const struct vc_ledger *ledger, const char *name)
{
	for (uint32_t i = 0; i < ledger->phase_count; i++) {
		if (strcmp(ledger->phases[i].name, name) == 0) {
			return ledger->phases[i].total_bytes;
		}
	}
	fail_msg("no phase %s", name);
	return 0;
}

static uint64_t bytes_of(const struct vc_ledger *ledger, const char *role, int component)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < ledger->line_count; i++) {
		if (strcmp(ledger->lines[i].role, role) == 0 &&
		    (component < 0 || (int)ledger->lines[i].component == component)) {
			bytes += ledger->lines[i].bytes;
		}
	}
	return bytes;
}

static void a_reference_stays_in_every_stage(void **state)
{
	struct vc_request request = policy_of(VC_TRAINING_FULL), alone = request;
	struct vc_ledger ledger;

	(void)state;
	alone.roles = NULL;
	roles[VC_ROLE_REFERENCE].given = true;
	ledger = ledger_of(&request);
	assert_u64(bytes_of(&ledger, "reference", VC_COMPONENT_WEIGHTS), W);
	assert_u64(phase(&ledger, "update-policy"), ledger_of(&alone).total_bytes + W);
	/* Weights 2 P and Adam's moments 4 P of the policy, 2 P of the reference; one block of the
	 * forward pass, 2 T (4 h + 3 f) = 16384 x (4 x 4096 + 3 x 11008) = 809,500,672; logits
	 * 6 T V = 1,572,864,000; the context, 3/4 GiB. */
	assert_u64(phase(&ledger, "score-reference"), 8 * P + 809500672 + 1572864000 + 805306368);
}

static void adapters_are_switched_off_for_the_reference(void **state)
{
	struct vc_request request = policy_of(VC_TRAINING_LORA);
	struct vc_ledger ledger;

	(void)state;
	roles[VC_ROLE_REFERENCE].given = true;
	ledger = ledger_of(&request);
	assert_u64(bytes_of(&ledger, "reference", VC_COMPONENT_WEIGHTS), 0);
	assert_u64(bytes_of(&ledger, "policy", VC_COMPONENT_WEIGHTS), W);
}

static void a_critic_keeps_its_own_states(void **state)
{
	struct vc_request request = policy_of(VC_TRAINING_FULL), alone = request;
	struct vc_ledger ledger;

	(void)state;
	alone.roles = NULL;
	roles[VC_ROLE_REFERENCE].given = true;
	roles[VC_ROLE_REWARD].given = true;
	roles[VC_ROLE_CRITIC].given = true;
	ledger = ledger_of(&request);
	/* reference 2 P, reward 2 P, critic 2 P and its moments 4 P */
	assert_u64(phase(&ledger, "update-policy"), ledger_of(&alone).total_bytes + 10 * P);
	/* the critic's step is the policy's: same model, same training */
	assert_u64(phase(&ledger, "update-critic"), phase(&ledger, "update-policy"));
}

/* 2 x 32 layers x 4096 x 2 bytes a token for 4 x 2048 tokens: 4 GiB */
static void the_policy_generates_with_its_own_weights(void **state)
{
	struct vc_request request = policy_of(VC_TRAINING_LORA);
	struct vc_ledger ledger;

	(void)state;
	request.workload.batch_size = 32;
	ledger = ledger_of(&request);
	assert_true(phase(&ledger, "rollout") > phase(&ledger, "update-policy"));
	assert_u64(bytes_of(&ledger, "rollout", VC_COMPONENT_WEIGHTS), 0);
	assert_u64(bytes_of(&ledger, "rollout", VC_COMPONENT_KV_CACHE), 8 * 4294967296);
	/* under ZeRO 3 they are gathered: whole, beside the share that the rank keeps */
	request = policy_of(VC_TRAINING_FULL);
	request.parallelism = (struct vc_parallelism){ .stated = true, .data = 4, .zero_stage = 3 };
	ledger = ledger_of(&request);
	assert_u64(bytes_of(&ledger, "rollout", VC_COMPONENT_WEIGHTS), W);
	assert_u64(bytes_of(&ledger, "policy", VC_COMPONENT_WEIGHTS), W / 4);
}

static void a_sleeping_engine_gives_its_memory_back(void **state)
{
	struct vc_request request = policy_of(VC_TRAINING_LORA);
	struct vc_request engine = { .model = &model,
		                     .method = VC_METHOD_DETAILED,
		                     .workload = { .precision = VC_DTYPE_BF16,
		                                   .batch_size = 1,
		                                   .sequence_length = 2048 },
		                     .engine = { .name = VC_ENGINE_VLLM,
		                                 .gpu_memory_utilization_ppm = 300000,
		                                 .enforce_eager = true },
		                     .gpu = &card };
	struct vc_ledger awake, asleep, served;

	(void)state;
	roles[VC_ROLE_ROLLOUT].request = &engine;
	awake = ledger_of(&request);
	request.rollout_sleeps = true;
	asleep = ledger_of(&request);
	served = ledger_of(&engine);
	assert_u64(phase(&awake, "update-policy") - phase(&asleep, "update-policy"),
	           vc_ledger_component(&served, VC_COMPONENT_WEIGHTS) +
	                   vc_ledger_component(&served, VC_COMPONENT_KV_CACHE));
	assert_u64(phase(&awake, "rollout"), phase(&asleep, "rollout"));
	assert_true(vc_ledger_component(&served, VC_COMPONENT_WEIGHTS) >= W);
}

/* The documents' formulas know no stages: all of it, and no cache for models that only score. */
static void the_rule_adds_everything(void **state)
{
	struct vc_request request = policy_of(VC_TRAINING_FULL);
	struct vc_ledger ledger;

	(void)state;
	request.method = VC_METHOD_RULE;
	roles[VC_ROLE_REFERENCE].given = true;
	ledger = ledger_of(&request);
	/* W + 0.2 W, rounded up */
	assert_u64(bytes_of(&ledger, "reference", -1), 16172197479);
	/* the policy's own weights, and 4 GiB of cache and 0.2 W */
	assert_u64(bytes_of(&ledger, "rollout", -1), 4294967296 + 2695366247);
	assert_u64(ledger.total_bytes, bytes_of(&ledger, "policy", -1) +
	                                       bytes_of(&ledger, "reference", -1) +
	                                       bytes_of(&ledger, "rollout", -1));
	assert_u64(ledger.recommended_bytes, ((ledger.total_bytes + 2000000000) * 12 + 9) / 10);
}

/* docs/rule.md: ZeRO 3 divides the weights, and a model that only scores is held like the policy.
 */
static void zero_divides_frozen_weights_by_the_rule(void **state)
{
	struct vc_request request = policy_of(VC_TRAINING_FULL);
	struct vc_ledger ledger;

	(void)state;
	request.method = VC_METHOD_RULE;
	request.parallelism = (struct vc_parallelism){ .stated = true, .data = 4, .zero_stage = 3 };
	roles[VC_ROLE_REFERENCE].given = true;
	roles[VC_ROLE_REWARD].given = true;
	ledger = ledger_of(&request);
	assert_u64(bytes_of(&ledger, "reference", VC_COMPONENT_WEIGHTS), W / 4);
	assert_u64(bytes_of(&ledger, "reward", VC_COMPONENT_WEIGHTS), W / 4);
	/* what generates holds whole weights: they are gathered for it */
	assert_u64(bytes_of(&ledger, "rollout", VC_COMPONENT_WEIGHTS), W);
	request.parallelism.zero_stage = 2;
	ledger = ledger_of(&request);
	assert_u64(bytes_of(&ledger, "reference", VC_COMPONENT_WEIGHTS), W);
	assert_u64(bytes_of(&ledger, "reward", VC_COMPONENT_WEIGHTS), W);
}

/* A policy's experts are spread, a dense reward model beside it is not. */
static void a_dense_model_stays_whole_beside_spread_experts(void **state)
{
	static struct vc_model reward_model;
	struct vc_request request = policy_of(VC_TRAINING_FULL);
	struct vc_request reward = request;
	struct vc_ledger ledger;

	(void)state;
	shape_decoder(&reward_model, &llama_2_7b);
	model.kinds[0].ffns[0].type = VC_FFN_MOE;
	model.kinds[0].ffns[0].experts = 4;
	model.kinds[0].ffns[0].experts_per_token = 2;
	reward.model = &reward_model;
	reward.roles = NULL;
	request.method = VC_METHOD_RULE;
	request.parallelism = (struct vc_parallelism){ .stated = true, .data = 4, .expert = 4 };
	roles[VC_ROLE_REWARD] = (struct vc_role_request){ .given = true, .request = &reward };
	ledger = ledger_of(&request);
	assert_u64(bytes_of(&ledger, "reward", VC_COMPONENT_WEIGHTS), W);
}

/* Where the card is nearly full, the policy's allocator keeps less idle. */
static void the_others_leave_less_to_keep_idle(void **state)
{
	const struct vc_gpu small = { .id = "small", .usable_bytes = 84987740160 };
	struct vc_request request = policy_of(VC_TRAINING_FULL);
	struct vc_ledger ledger;

	(void)state;
	request.gpu = &small;
	roles[VC_ROLE_REFERENCE].given = true;
	ledger = ledger_of(&request);
	/* 10 P at the step and 2 P of the reference leave 4 GB */
	assert_true(12 * P < small.usable_bytes);
	assert_true(phase(&ledger, "update-policy") <= small.usable_bytes);
}

static void the_detailed_method_needs_a_gpu(void **state)
{
	struct vc_request request = policy_of(VC_TRAINING_FULL);
	struct vc_ledger ledger;
	struct vc_error error;

	(void)state;
	request.gpu = NULL;
	roles[VC_ROLE_REFERENCE].given = true;
	assert_int_equal(vc_estimate(&request, &ledger, &error), VC_UNSUPPORTED);
	assert_string_equal(error.field, "hardware.gpus");
}

static void only_training_has_models(void **state)
{
	struct vc_request request = policy_of(VC_TRAINING_FULL);
	struct vc_ledger ledger;
	struct vc_error error;

	(void)state;
	request.workload.task = VC_TASK_INFERENCE;
	assert_int_equal(vc_estimate(&request, &ledger, &error), VC_INVALID);
	assert_string_equal(error.field, "models");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reference_stays_in_every_stage),
		cmocka_unit_test(adapters_are_switched_off_for_the_reference),
		cmocka_unit_test(a_critic_keeps_its_own_states),
		cmocka_unit_test(the_policy_generates_with_its_own_weights),
		cmocka_unit_test(a_sleeping_engine_gives_its_memory_back),
		cmocka_unit_test(the_rule_adds_everything),
		cmocka_unit_test(zero_divides_frozen_weights_by_the_rule),
		cmocka_unit_test(a_dense_model_stays_whole_beside_spread_experts),
		cmocka_unit_test(the_others_leave_less_to_keep_idle),
		cmocka_unit_test(the_detailed_method_needs_a_gpu),
		cmocka_unit_test(only_training_has_models),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
