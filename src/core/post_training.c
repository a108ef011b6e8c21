/*
 * One step of reinforcement learning runs through stages: answers are generated, the frozen models
 * score them, then policy and critic are trained on them. What a model holds between its stages
 * (resident) stays in all the others. Stages and placement as documented by huggingface/trl
 * (PPOTrainer, GRPOTrainer, "Speeding up training": vLLM colocate and sleep mode), verl (FSDP
 * workers, free_cache_engine) and OpenRLHF (colocate_all_models). docs/formulas.md#post-training
 */
#include "post_training.h"

#include "estimate.h"
#include "forward.h"
#include "ledger.h"
#include "model.h"
#include "sat.h"
#include "text.h"
#include "train_phase.h"

#include <string.h>

enum {
	POLICY = VC_ROLE_COUNT, /* the models: roles, and the policy behind them */
	MODELS,
	/* bf16 logits and the copy that log-softmax makes of them in fp32 */
	SCORE_LOGIT_BYTES = 6
};

static const char *const names[MODELS] = { "reference", "reward", "critic", "rollout", "policy" };
static const char *const stages[MODELS] = { "score-reference", "score-reward", "update-critic",
	                                    "rollout", "update-policy" };

const char *vc_role_name(enum vc_role role)
{
	return names[role];
}

struct actor {
	bool exists;
	struct vc_ledger ledger; /* at its own peak, alone on the GPU */
};

struct scene {
	const struct vc_request *policy;
	struct actor actors[MODELS];
};

static bool only_scores(int model)
{
	return model == VC_ROLE_REFERENCE || model == VC_ROLE_REWARD;
}

static bool is_held(enum vc_component component)
{
	return component == VC_COMPONENT_WEIGHTS || component == VC_COMPONENT_ADAPTERS ||
	       component == VC_COMPONENT_MASTER_WEIGHTS ||
	       component == VC_COMPONENT_OPTIMIZER_STATES || component == VC_COMPONENT_GRADIENTS;
}

/* Whether a line stays while other models work. */
static bool is_resident(const struct scene *scene, int model, const struct vc_line *line)
{
	if (model == VC_ROLE_ROLLOUT) {
		return !scene->policy->rollout_sleeps &&
		       scene->policy->roles[VC_ROLE_ROLLOUT].request &&
		       (line->component == VC_COMPONENT_WEIGHTS ||
		        line->component == VC_COMPONENT_KV_CACHE ||
		        line->component == VC_COMPONENT_RECURRENT_STATE ||
		        line->component == VC_COMPONENT_CUDA_GRAPHS);
	}
	return is_held(line->component);
}

static bool counts_in(const struct scene *scene, int stage, int model, const struct vc_line *line)
{
	/* one process, one context: the policy's */
	if (line->component == VC_COMPONENT_FRAMEWORK) {
		return model == POLICY;
	}
	return model == stage || is_resident(scene, model, line);
}

static uint64_t stage_bytes(const struct scene *scene, int stage)
{
	uint64_t bytes = 0;

	for (int m = 0; m < MODELS; m++) {
		const struct vc_ledger *ledger = &scene->actors[m].ledger;

		for (uint32_t i = 0; scene->actors[m].exists && i < ledger->line_count; i++) {
			if (counts_in(scene, stage, m, &ledger->lines[i])) {
				bytes = sat_add(bytes, ledger->lines[i].bytes);
			}
		}
	}
	return bytes;
}

/* What all models but the policy keep while it works. */
static uint64_t resident_bytes(const struct scene *scene)
{
	uint64_t bytes = 0;

	for (int m = 0; m < POLICY; m++) {
		const struct vc_ledger *ledger = &scene->actors[m].ledger;

		for (uint32_t i = 0; scene->actors[m].exists && i < ledger->line_count; i++) {
			if (is_resident(scene, m, &ledger->lines[i])) {
				bytes = sat_add(bytes, ledger->lines[i].bytes);
			}
		}
	}
	return bytes;
}

static void copy_lines(const struct scene *scene, int stage, int model, struct vc_ledger *out)
{
	const struct vc_ledger *ledger = &scene->actors[model].ledger;

	for (uint32_t i = 0; i < ledger->line_count; i++) {
		const struct vc_line *line = &ledger->lines[i];
		struct vc_line *copy;

		if (!counts_in(scene, stage, model, line)) {
			continue;
		}
		copy = vc_ledger_add(out, line->component, line->bytes, line->formula);
		copy->role = names[model];
		copy->input_count = line->input_count;
		memcpy(copy->inputs, line->inputs, sizeof copy->inputs);
	}
	for (uint32_t i = 0; i < ledger->host.line_count; i++) {
		const struct vc_line *line = &ledger->host.lines[i];

		vc_ledger_add_host(out, line->component, line->bytes, line->formula)->role =
		        names[model];
	}
	for (uint32_t i = 0; i < ledger->note_count; i++) {
		vc_ledger_note(out, ledger->notes[i].code, ledger->notes[i].text,
		               ledger->notes[i].args);
	}
}

/* ---- Each model alone ---- */

/* What a model that only scores holds: its weights as the policy's framework shards them, one
 * layer's forward pass, and logits unless it gives one number (reward). */
static void score_ledger(struct vc_request *request, bool logits, struct vc_ledger *ledger)
{
	static const struct forward_traits traits = { .hidden_copies = 4, .element_bytes = 2 };
	struct train_job job;
	struct train_gathered gathered;
	struct forward_widths widths = forward_widths(request);
	struct vc_line *line;
	uint64_t block;

	request->workload.task = VC_TASK_TRAINING;
	request->training.method = VC_TRAINING_LORA; /* frozen, and no module is a target */
	request->training.lora = (struct vc_lora){ .rank = 1 };
	train_job(request, 0, &job);
	line = vc_ledger_add(ledger, VC_COMPONENT_WEIGHTS, job.held.weights, "P × b / N");
	vc_line_input(line, "P", job.size.params);
	vc_line_ratio(line, "b",
	              sat_mul(job.held.weights, train_sharding(request, job.policy).weights),
	              job.size.params ? job.size.params : 1);
	vc_line_input(line, "N", train_sharding(request, job.policy).weights);
	block = forward_block_bytes(&widths, &traits, job.activation.tokens);
	line = vc_ledger_add(ledger, VC_COMPONENT_ACTIVATIONS, block, "block");
	vc_line_input(line, "block", block);
	gathered = train_gathered(&job);
	if (train_gathered_bytes(&gathered) > 0) {
		line = vc_ledger_add(ledger, VC_COMPONENT_COMMUNICATION,
		                     train_gathered_bytes(&gathered), "root + u × unit");
		vc_line_input(line, "root", gathered.kept);
		vc_line_input(line, "u", gathered.units);
		vc_line_input(line, "unit", gathered.unit);
	}
	if (logits) {
		line = vc_ledger_add(ledger, VC_COMPONENT_LOGITS,
		                     train_logits(&job, SCORE_LOGIT_BYTES), "c × T × V");
		vc_line_input(line, "c", SCORE_LOGIT_BYTES);
		vc_line_input(line, "T", job.activation.tokens);
		vc_line_input(line, "V", job.size.vocabulary);
	}
}

static void drop(struct vc_ledger *ledger, enum vc_component component)
{
	uint64_t bytes = vc_ledger_component(ledger, component);
	uint64_t *const sums[] = { &ledger->total_bytes, &ledger->low_bytes, &ledger->high_bytes,
		                   &ledger->need_bytes, &ledger->need_expected_bytes };
	uint32_t kept = 0;

	for (uint32_t i = 0; i < ledger->line_count; i++) {
		if (ledger->lines[i].component != component) {
			ledger->lines[kept++] = ledger->lines[i];
		}
	}
	ledger->line_count = kept;
	for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
		*sums[i] = sat_sub(*sums[i], bytes);
	}
}

/* With adapters, the policy is its own reference as soon as they are switched off. Generation needs
 * whole weights, which ZeRO 3 gathers for it (TRL's ds3_gather_for_generation). */
static bool uses_policy_weights(const struct scene *scene, int role)
{
	const struct vc_request *policy = scene->policy;

	if (role == POLICY || policy->roles[role].request) {
		return false;
	}
	return role == VC_ROLE_REFERENCE
	               ? policy->training.method != VC_TRAINING_FULL
	               : role == VC_ROLE_ROLLOUT && policy->parallelism.zero_stage < 3;
}

static struct vc_request request_of(const struct scene *scene, int role)
{
	const struct vc_request *given = scene->policy->roles[role].request;
	struct vc_request request = given ? *given : *scene->policy;

	if (!request.parallelism.stated) {
		request.parallelism = scene->policy->parallelism;
		if (model_experts(request.model) == 0) {
			request.parallelism.expert = 1; /* which divides the policy's */
		}
	}
	request.roles = NULL;
	request.method = scene->policy->method;
	request.gpu = scene->policy->gpu;
	request.rule = scene->policy->rule;
	return request;
}

static enum vc_status estimate_reward_or_reference(struct scene *scene, int role,
                                                   struct vc_error *error)
{
	struct vc_request request = request_of(scene, role);
	struct vc_ledger *ledger = &scene->actors[role].ledger;
	enum vc_status status = vc_request_resolve(&request, error);

	if (status != VC_OK) {
		return status;
	}
	if (!vc_model_has_shape(request.model)) {
		return vc_fail(error, VC_UNSUPPORTED, "models",
		               "the detailed method needs the architecture of each model");
	}
	/* The policy's framework holds it. */
	request.engine.name = scene->policy->engine.name;
	request.training.loss_implementation = VC_LOSS_EAGER;
	score_ledger(&request, role == VC_ROLE_REFERENCE, ledger);
	return vc_ledger_finish(ledger, error);
}

static enum vc_status estimate_own_rollout(struct scene *scene, struct vc_error *error)
{
	struct vc_request request = request_of(scene, VC_ROLE_ROLLOUT);

	request.workload.task = VC_TASK_INFERENCE;
	request.engine = (struct vc_engine_options){ .name = VC_ENGINE_TRANSFORMERS };
	request.parallelism =
	        (struct vc_parallelism){ .stated = true,
		                         .tensor = scene->policy->parallelism.tensor };
	return vc_estimate(&request, &scene->actors[VC_ROLE_ROLLOUT].ledger, error);
}

/* Its allocator has what the others leave of the card. */
static enum vc_status estimate_policy(struct scene *scene, struct vc_error *error)
{
	struct vc_request request = *scene->policy;
	struct vc_gpu rest;

	request.roles = NULL;
	if (request.method == VC_METHOD_DETAILED) {
		rest = *request.gpu;
		rest.usable_bytes = sat_max(1, sat_sub(vc_gpu_offers_bytes(&rest, request.method),
		                                       resident_bytes(scene)));
		request.gpu = &rest;
	}
	return vc_estimate(&request, &scene->actors[POLICY].ledger, error);
}

static enum vc_status estimate_model(struct scene *scene, int model, struct vc_error *error)
{
	struct vc_request request;

	scene->actors[model].exists = true;
	if (model == POLICY) {
		return estimate_policy(scene, error);
	}
	if (scene->policy->method == VC_METHOD_DETAILED && only_scores(model)) {
		return estimate_reward_or_reference(scene, model, error);
	}
	if (model == VC_ROLE_ROLLOUT && !scene->policy->roles[model].request) {
		return estimate_own_rollout(scene, error);
	}
	request = request_of(scene, model);
	if (model == VC_ROLE_CRITIC) {
		request.workload.task = VC_TASK_TRAINING;
		/* one value a token in the place of logits */
		request.training.loss_implementation = VC_LOSS_FUSED;
		request.engine.name = scene->policy->engine.name;
	} else {
		request.workload.task = VC_TASK_INFERENCE;
	}
	return only_scores(model)
	               ? vc_estimate_frozen(&request, &scene->actors[model].ledger, error)
	               : vc_estimate(&request, &scene->actors[model].ledger, error);
}

/* ---- Together ---- */

/* What an engine needs for all of its sequences at once, or, since others wait in its queue, for
 * one. */
static uint64_t need_of(const struct vc_ledger *own, uint64_t length, uint64_t needed)
{
	return own->serving.known && own->serving.kv_tokens >= length ? own->total_bytes : needed;
}

static void add_range(const struct scene *scene, int stage, struct vc_ledger *out)
{
	const struct vc_ledger *own = &scene->actors[stage].ledger;
	const struct vc_request *given =
	        stage == POLICY ? NULL : scene->policy->roles[stage].request;
	uint64_t length = given ? given->workload.sequence_length : 0;
	uint64_t bytes = stage_bytes(scene, stage);
	/* what the models of other stages add to this one's own ledger */
	uint64_t more = sat_sub(bytes, own->total_bytes);
	/* a model that only scores has no range of its own: a tenth */
	uint64_t low = own->low_bytes ? sat_add(own->low_bytes, more) : sat_scale_up(bytes, 9, 10);
	uint64_t high =
	        own->high_bytes ? sat_add(own->high_bytes, more) : sat_scale_up(bytes, 11, 10);
	uint64_t need =
	        own->need_bytes ? sat_add(need_of(own, length, own->need_bytes), more) : high;
	uint64_t expected = own->need_expected_bytes
	                            ? sat_add(need_of(own, length, own->need_expected_bytes), more)
	                            : bytes;

	vc_ledger_phase(out, stages[stage], bytes);
	out->low_bytes = sat_max(out->low_bytes, low);
	out->high_bytes = sat_max(out->high_bytes, high);
	out->need_bytes = sat_max(out->need_bytes, need);
	out->need_expected_bytes = sat_max(out->need_expected_bytes, expected);
}

static int fullest_stage(const struct scene *scene)
{
	int fullest = POLICY;

	for (int s = 0; s < MODELS; s++) {
		if (scene->actors[s].exists &&
		    stage_bytes(scene, s) > stage_bytes(scene, fullest)) {
			fullest = s;
		}
	}
	return fullest;
}

static enum vc_status join_detailed(const struct scene *scene, struct vc_ledger *ledger,
                                    struct vc_error *error)
{
	int stage = fullest_stage(scene);

	for (int m = MODELS - 1; m >= 0; m--) {
		if (scene->actors[m].exists) {
			copy_lines(scene, stage, m, ledger);
		}
	}
	for (int s = 0; s < MODELS; s++) {
		if (scene->actors[s].exists) {
			add_range(scene, s, ledger);
		}
	}
	vc_ledger_note(ledger, "post-training",
	               "several models share the GPUs; the lines are those of the stage that holds "
	               "the most",
	               NULL);
	ledger->recommended_bytes = ledger->high_bytes;
	return vc_ledger_finish(ledger, error);
}

/* The documents know no stages: everything is there at once. */
static enum vc_status join_rule(const struct scene *scene, struct vc_ledger *ledger,
                                struct vc_error *error)
{
	const struct vc_request *policy = scene->policy;
	uint64_t total = 0;

	for (int m = MODELS - 1; m >= 0; m--) {
		const struct vc_ledger *own = &scene->actors[m].ledger;

		for (uint32_t i = 0; scene->actors[m].exists && i < own->line_count; i++) {
			struct vc_line *line =
			        vc_ledger_add(ledger, own->lines[i].component, own->lines[i].bytes,
			                      own->lines[i].formula);

			line->role = names[m];
			line->input_count = own->lines[i].input_count;
			memcpy(line->inputs, own->lines[i].inputs, sizeof line->inputs);
			total = sat_add(total, own->lines[i].bytes);
		}
		ledger->low_bytes = sat_add(ledger->low_bytes, own->low_bytes);
		ledger->high_bytes = sat_add(ledger->high_bytes, own->high_bytes);
	}
	ledger->recommended_bytes = vc_recommended_bytes(total, &policy->rule);
	ledger->need_bytes = ledger->recommended_bytes;
	ledger->need_expected_bytes = sat_add(total, policy->rule.overhead_bytes);
	vc_ledger_phase(ledger, "steady", total);
	return vc_ledger_finish(ledger, error);
}

enum vc_status vc_estimate_post_training(const struct vc_request *policy, struct vc_ledger *ledger,
                                         struct vc_error *error)
{
	struct scene scene = { .policy = policy };

	if (policy->method == VC_METHOD_DETAILED && !policy->gpu) {
		return vc_fail(error, VC_UNSUPPORTED, "hardware.gpus",
		               "the detailed method needs a GPU (a name from the catalog)");
	}
	for (int m = 0; m < MODELS; m++) {
		enum vc_status status = VC_OK;

		if (m == POLICY || policy->roles[m].given) {
			status = estimate_model(&scene, m, error);
		}
		if (status != VC_OK) {
			return status;
		}
		if (uses_policy_weights(&scene, m)) {
			drop(&scene.actors[m].ledger, VC_COMPONENT_WEIGHTS);
		}
		if (only_scores(m)) {
			drop(&scene.actors[m].ledger, VC_COMPONENT_KV_CACHE);
		}
	}
	return policy->method == VC_METHOD_RULE ? join_rule(&scene, ledger, error)
	                                        : join_detailed(&scene, ledger, error);
}
