/*
 * The rule method: the founding documents' formulas. Weights P x b; KV 2 x batch x seq x width x
 * layers x bytes; activations a share of the weights; gradients as large as the weights, optimizer
 * states by their number of copies; M_rec = 1.2 x (M + 2 GB). docs/formulas.md#rule
 */
#include "estimate.h"
#include "file_weights.h"
#include "ledger.h"
#include "lora.h"
#include "sat.h"
#include "size_class.h"
#include "text.h"

/* What the ledger's lines share. */
struct rule {
	const struct vc_request *request;
	struct vc_ledger *ledger;
	uint64_t params;
	enum vc_dtype weight_dtype;
	uint64_t weight_bytes; /* P x b, or a file's bytes; on one GPU, before ZeRO */
	bool from_file;
	uint64_t ranks; /* tensor x pipeline */
	uint64_t data;  /* ZeRO group */
	bool trainer;   /* a framework that trains holds the model: ZeRO applies */
};

/* Documents: 10 to 30 % of the weights at inference, 20 to 50 % in training; the middle is taken.
 */
struct share {
	uint32_t low_ppm, middle_ppm, high_ppm;
};

static const struct share shares[] = {
	[VC_TASK_INFERENCE] = { 100000, 200000, 300000 },
	[VC_TASK_TRAINING] = { 200000, 350000, 500000 },
};

static bool is_sharded(const struct rule *rule, uint32_t from_stage)
{
	return rule->trainer && rule->data > 1 &&
	       rule->request->parallelism.zero_stage >= from_stage;
}

static uint64_t zero_share(const struct rule *rule, uint64_t bytes, uint32_t from_stage)
{
	return is_sharded(rule, from_stage) ? sat_div_up(bytes, rule->data) : bytes;
}

static void line_inputs(const struct rule *rule, struct vc_line *line, uint32_t from_stage)
{
	const struct vc_request *request = rule->request;

	if (rule->ranks > 1) {
		vc_line_input(line, "t", request->parallelism.tensor);
		vc_line_input(line, "p", request->parallelism.pipeline);
	}
	if (is_sharded(rule, from_stage)) {
		vc_line_input(line, "N", rule->data);
	}
}

static const char *divided(const struct rule *rule, uint32_t from_stage, const char *const forms[4])
{
	return forms[(rule->ranks > 1 ? 1 : 0) + (is_sharded(rule, from_stage) ? 2 : 0)];
}

/* On the GPU, or on the host where the spec offloads it: there for all the layout's GPUs. */
static struct vc_line *place(struct rule *rule, enum vc_offload offload,
                             enum vc_component component, uint64_t bytes, const char *formula)
{
	if (offload == VC_OFFLOAD_NONE) {
		return vc_ledger_add(rule->ledger, component, bytes, formula);
	}
	return vc_ledger_add_host(rule->ledger, component, sat_mul(bytes, rule->ledger->gpus),
	                          formula);
}

static void add_weights(struct rule *rule)
{
	static const char *const forms[] = { "P × b", "P × b / (t × p)", "P × b / N",
		                             "P × b / (t × p × N)" };
	static const char *const file_forms[] = { "F", "F / (t × p)", "F / N", "F / (t × p × N)" };
	const struct vc_dtype_info *dtype = vc_dtype_info(rule->weight_dtype);
	struct vc_line *line;

	line = place(rule, rule->request->parallelism.offload_parameters, VC_COMPONENT_WEIGHTS,
	             zero_share(rule, rule->weight_bytes, 3),
	             divided(rule, 3, rule->from_file ? file_forms : forms));
	if (rule->from_file) {
		vc_line_input(line, "F", rule->request->model->file.total_bytes);
	} else {
		vc_line_input(line, "P", rule->params);
		vc_line_ratio(line, "b", dtype->block_bytes, dtype->block_elements);
	}
	line_inputs(rule, line, 3);
}

/* The first attention layer speaks for all: the documents know one kind of layer. */
static const struct vc_mixer *first_attention(const struct vc_model *model, uint64_t *layers)
{
	const struct vc_stack *stack = &model->stacks[0];
	const struct vc_mixer *first = NULL;

	*layers = 0;
	for (uint32_t s = 0; s < model->stack_count; s++) {
		if (model->stacks[s].role == VC_STACK_DECODER) {
			stack = &model->stacks[s];
		}
	}
	for (uint32_t i = 0; i < stack->layers; i++) {
		const struct vc_layer_kind *kind = &model->kinds[stack->pattern[i]];

		for (uint32_t m = 0; m < kind->mixer_count; m++) {
			const struct vc_mixer *mixer = &kind->mixers[m];

			if ((mixer->type == VC_MIXER_ATTENTION || mixer->type == VC_MIXER_LATENT) &&
			    mixer->causal) {
				first = first ? first : mixer;
				++*layers;
				break;
			}
		}
	}
	return first;
}

static void note_kv(struct rule *rule, const struct vc_mixer *mixer, uint64_t layers)
{
	const struct vc_stack *stack = &rule->request->model->stacks[0];

	if (mixer->type == VC_MIXER_LATENT) {
		vc_ledger_note(rule->ledger, "kv-latent",
		               "The rule's KV formula takes full heads; this model caches a "
		               "compressed latent instead, far less: see the detailed method.",
		               NULL);
	} else if (mixer->kv_heads < mixer->heads) {
		vc_ledger_note(rule->ledger, "kv-grouped-queries",
		               "The KV cache counts the {0} key/value head{0s} of {1} query heads.",
		               (const uint64_t[3]){ mixer->kv_heads, mixer->heads, 0 });
	}
	if (layers < stack->layers) {
		vc_ledger_note(rule->ledger, "kv-attending-layers",
		               "Only {0} of {1} layers attend and hold keys and values.",
		               (const uint64_t[3]){ layers, stack->layers, 0 });
	}
	if (mixer->window) {
		vc_ledger_note(rule->ledger, "kv-window-ignored",
		               "The rule keeps all tokens in every layer; sliding layers of this "
		               "model keep {0}.",
		               (const uint64_t[3]){ mixer->window, 0, 0 });
	}
}

static void add_kv_cache(struct rule *rule)
{
	const struct vc_workload *workload = &rule->request->workload;
	const struct vc_parallelism *layout = &rule->request->parallelism;
	const struct vc_dtype_info *dtype = vc_dtype_info(workload->kv_cache_precision);
	uint64_t layers, sequences, tokens, width, elements;
	const struct vc_mixer *mixer;
	struct vc_line *line;

	if (!vc_model_has_shape(rule->request->model)) {
		vc_ledger_note(rule->ledger, "kv-left-out",
		               "The KV cache is left out: the architecture is not known "
		               "(give model.architecture or model.config).",
		               NULL);
		return;
	}
	mixer = first_attention(rule->request->model, &layers);
	if (!mixer) {
		vc_ledger_note(rule->ledger, "kv-none",
		               "This model keeps no KV cache: no layer attends to earlier tokens.",
		               NULL);
		return;
	}
	note_kv(rule, mixer, layers);
	width = mixer->type == VC_MIXER_LATENT
	                ? rule->request->model->stacks[0].hidden_size / layout->tensor
	                : sat_mul(sat_div_up(mixer->kv_heads, layout->tensor), mixer->head_dim);
	/* Replicas of the model share the requests out between them. */
	sequences = sat_div_up(sat_mul(workload->batch_size, workload->concurrency), layout->data);
	tokens = sat_div_up(workload->sequence_length, layout->context);
	layers = sat_div_up(layers, layout->pipeline);
	elements = sat_mul(sat_mul3(sequences, tokens, width), sat_mul(layers, 2));
	line = vc_ledger_add(rule->ledger, VC_COMPONENT_KV_CACHE,
	                     vc_dtype_bytes(workload->kv_cache_precision, elements),
	                     "2 × batch × seq × width × layers × bytes");
	vc_line_input(line, "batch", sequences);
	vc_line_input(line, "seq", tokens);
	vc_line_input(line, "width", width);
	vc_line_input(line, "layers", layers);
	vc_line_ratio(line, "bytes", dtype->block_bytes, dtype->block_elements);
}

static void add_trained(struct rule *rule, uint64_t trained, uint64_t trained_bytes)
{
	static const char *const gradient_forms[] = { "P_train × b", "P_train × b / (t × p)",
		                                      "P_train × b / N",
		                                      "P_train × b / (t × p × N)" };
	static const char *const state_forms[] = { "P_train × s", "P_train × s / (t × p)",
		                                   "P_train × s / N", "P_train × s / (t × p × N)" };
	const struct vc_optimizer_info *optimizer =
	        vc_optimizer_info(rule->request->training.optimizer);
	const struct vc_dtype_info *dtype = vc_dtype_info(rule->request->workload.precision);
	bool copies = optimizer->state_elements == 1;
	uint64_t states_bytes = copies ? sat_mul(trained_bytes, optimizer->states)
	                               : sat_div_up(sat_scale_up(trained, optimizer->state_bytes,
	                                                         optimizer->state_elements),
	                                            rule->ranks);
	struct vc_line *line;

	line = vc_ledger_add(rule->ledger, VC_COMPONENT_GRADIENTS,
	                     zero_share(rule, trained_bytes, 2), divided(rule, 2, gradient_forms));
	vc_line_input(line, "P_train", trained);
	vc_line_ratio(line, "b", dtype->block_bytes, dtype->block_elements);
	line_inputs(rule, line, 2);
	if (states_bytes == 0) {
		return;
	}
	line = place(rule, rule->request->parallelism.offload_optimizer,
	             VC_COMPONENT_OPTIMIZER_STATES, zero_share(rule, states_bytes, 1),
	             divided(rule, 1, state_forms));
	vc_line_input(line, "P_train", trained);
	vc_line_ratio(line, "s",
	              copies ? (uint64_t)optimizer->states * dtype->block_bytes
	                     : optimizer->state_bytes,
	              copies ? dtype->block_elements : optimizer->state_elements);
	line_inputs(rule, line, 1);
}

static void add_adapters(struct rule *rule)
{
	static const char *const forms[] = { "A × b", "A × b / (t × p)", "A × b / N",
		                             "A × b / (t × p × N)" };
	const struct vc_dtype_info *dtype = vc_dtype_info(rule->request->workload.precision);
	uint64_t adapters = vc_lora_params(rule->request->model, &rule->request->training.lora);
	uint64_t bytes = sat_div_up(vc_dtype_bytes(rule->request->workload.precision, adapters),
	                            rule->ranks);
	struct vc_line *line;

	if (adapters == 0) {
		vc_ledger_note(rule->ledger, "adapters-left-out",
		               "The adapters, their gradients and states are left out: the shapes "
		               "of the layers that they sit on are not known.",
		               NULL);
		return;
	}
	line = vc_ledger_add(rule->ledger, VC_COMPONENT_ADAPTERS, zero_share(rule, bytes, 3),
	                     divided(rule, 3, forms));
	vc_line_input(line, "A", adapters);
	vc_line_ratio(line, "b", dtype->block_bytes, dtype->block_elements);
	line_inputs(rule, line, 3);
	add_trained(rule, adapters, bytes);
}

/* Returns the activation bytes at a share; with full checkpointing half of them are kept. */
static uint64_t activation_bytes(const struct rule *rule, uint32_t share_ppm)
{
	uint64_t bytes = sat_scale_up(rule->weight_bytes, share_ppm, 1000000);

	if (rule->request->workload.task == VC_TASK_TRAINING &&
	    rule->request->training.gradient_checkpointing == VC_CHECKPOINTING_FULL) {
		bytes = sat_div_up(bytes, 2);
	}
	return bytes;
}

static struct share add_activations(struct rule *rule)
{
	const struct vc_request *request = rule->request;
	struct share share = shares[request->workload.task];
	bool halved = request->workload.task == VC_TASK_TRAINING &&
	              request->training.gradient_checkpointing == VC_CHECKPOINTING_FULL;
	struct vc_line *line;

	if (request->rule.activation_ppm) {
		share = (struct share){ request->rule.activation_ppm, request->rule.activation_ppm,
			                request->rule.activation_ppm };
	} else {
		vc_ledger_note(
		        rule->ledger, "activations-share",
		        "Activations (layer inputs and outputs, norm temporaries, dropout "
		        "masks) are taken as {0%} of the weights; usual are {1%} to {2%}.",
		        (const uint64_t[3]){ share.middle_ppm, share.low_ppm, share.high_ppm });
	}
	line = vc_ledger_add(rule->ledger, VC_COMPONENT_ACTIVATIONS,
	                     activation_bytes(rule, share.middle_ppm),
	                     halved ? "a × W / 2" : "a × W");
	vc_line_ratio(line, "a", share.middle_ppm, 1000000);
	vc_line_input(line, "W", rule->weight_bytes);
	return share;
}

static void note_training(struct rule *rule)
{
	const uint64_t weight_bytes = rule->weight_bytes;

	if (rule->request->training.method != VC_TRAINING_FULL) {
		return;
	}
	vc_ledger_note(
	        rule->ledger, "training-one-precision",
	        "The rule trains with weights, gradients and states in one precision; "
	        "mixed precision with fp32 master weights and Adam states takes 16 bytes a "
	        "parameter, {0B} before activations.",
	        (const uint64_t[3]){ sat_div_up(sat_mul(rule->params, 16), rule->ranks), 0, 0 });
	vc_ledger_note(
	        rule->ledger, "training-multiple",
	        "A common shorthand for Adam, 3.2 to 3.7 times the weights ({0B} to {1B}), leaves "
	        "the "
	        "weights themselves out; the sum of the parts is 4.2 to 4.5 times and is used "
	        "here. Without optimizer states and activations it would be {2B}.",
	        (const uint64_t[3]){ sat_scale_up(weight_bytes, 32, 10),
	                             sat_scale_up(weight_bytes, 37, 10),
	                             sat_mul(weight_bytes, 2) });
}

static void note_params(struct rule *rule, uint64_t counted)
{
	uint64_t stated = rule->request->model->params;

	if (stated && counted && stated != counted) {
		vc_ledger_note(rule->ledger, "params-stated",
		               "The rule uses the stated {0} parameters; the architecture has {1}.",
		               (const uint64_t[3]){ stated, counted, 0 });
	}
}

static void finish_totals(struct rule *rule, struct share share)
{
	struct vc_ledger *ledger = rule->ledger;
	uint64_t middle = activation_bytes(rule, share.middle_ppm);
	uint64_t total = 0;

	for (uint32_t i = 0; i < ledger->line_count; i++) {
		total = sat_add(total, ledger->lines[i].bytes);
	}
	ledger->low_bytes = sat_add(sat_sub(total, middle), activation_bytes(rule, share.low_ppm));
	ledger->high_bytes =
	        sat_add(sat_sub(total, middle), activation_bytes(rule, share.high_ppm));
	ledger->recommended_bytes = vc_recommended_bytes(total, &rule->request->rule);
	ledger->need_bytes = ledger->recommended_bytes;
	ledger->need_expected_bytes = sat_add(total, rule->request->rule.overhead_bytes);
	vc_ledger_phase(ledger, "steady", total);
}

enum vc_status vc_estimate_rule(const struct vc_request *request, bool trainer,
                                struct vc_ledger *ledger, struct vc_error *error)
{
	const struct vc_parallelism *layout = &request->parallelism;
	const struct vc_quantization *quantization = request->workload.quantization;
	struct rule rule = {
		.request = request, .ledger = ledger, .data = layout->data, .trainer = trainer
	};
	struct vc_counts counts = { 0 };
	enum vc_status status = VC_OK;
	struct share share;

	if (vc_model_has_shape(request->model)) {
		status = vc_model_count(request->model, &counts, error);
	}
	if (status != VC_OK) {
		return status;
	}
	rule.params = request->model->params ? request->model->params : counts.total;
	note_params(&rule, counts.total);
	rule.weight_dtype = quantization && quantization->dtype ? quantization->dtype
	                                                        : request->workload.precision;
	rule.ranks = sat_mul(layout->tensor, layout->pipeline);
	rule.from_file =
	        file_weights_hold(request->model, request->workload.precision, quantization);
	rule.weight_bytes =
	        sat_div_up(rule.from_file ? request->model->file.total_bytes
	                                  : vc_dtype_bytes(rule.weight_dtype, rule.params),
	                   rule.ranks);
	file_weights_note(request, counts.total, ledger);
	add_weights(&rule);
	if (request->workload.task == VC_TASK_INFERENCE) {
		add_kv_cache(&rule);
	} else if (request->training.method == VC_TRAINING_FULL) {
		add_trained(&rule, rule.params,
		            sat_div_up(vc_dtype_bytes(request->workload.precision, rule.params),
		                       rule.ranks));
	} else {
		add_adapters(&rule);
	}
	share = add_activations(&rule);
	if (request->workload.task == VC_TASK_TRAINING) {
		note_training(&rule);
	}
	if (request->workload.task == VC_TASK_TRAINING &&
	    request->training.method == VC_TRAINING_QLORA &&
	    rule.weight_dtype == request->workload.precision) {
		vc_ledger_note(ledger, "qlora-not-quantized",
		               "workload.quantization is not given: the rule counts the frozen "
		               "weights in the precision; QLoRA usually holds them as bnb-nf4-dq.",
		               NULL);
	}
	finish_totals(&rule, share);
	vc_note_size_class(ledger, request->workload.task, rule.params);
	return vc_ledger_finish(ledger, error);
}
