/* Training and fine-tuning: the ledger of the phase that peaks. docs/formulas.md#training */
#include "detailed.h"
#include "ledger.h"
#include "model.h"
#include "sat.h"
#include "text.h"
#include "train_range.h"

static const char *const phase_names[TRAIN_PHASE_COUNT] = {
	[TRAIN_PHASE_LOAD] = "load",
	[TRAIN_PHASE_LOSS] = "loss",
	[TRAIN_PHASE_BACKWARD] = "backward",
	[TRAIN_PHASE_STEP] = "optimizer-step",
};

struct writer {
	const struct train_job *job;
	const struct train_peak *peak;
	struct vc_ledger *ledger;
};

/* A line of 0 bytes is left out. */
static struct vc_line *put(const struct writer *writer, enum vc_component component, uint64_t bytes,
                           const char *formula)
{
	return bytes > 0 ? vc_ledger_add(writer->ledger, component, bytes, formula) : NULL;
}

static void input(struct vc_line *line, const char *name, uint64_t value)
{
	if (line) {
		vc_line_input(line, name, value);
	}
}

/* bytes / elements, as one number where it is whole. */
static void per_element(struct vc_line *line, const char *name, uint64_t bytes, uint64_t elements)
{
	if (!line || elements == 0) {
		return;
	}
	if (bytes % elements == 0) {
		vc_line_input(line, name, bytes / elements);
	} else {
		vc_line_ratio(line, name, bytes, elements);
	}
}

/* What N ranks share: elements, bytes an element and N. */
static void put_shared(const struct writer *writer, enum vc_component component, uint64_t bytes,
                       const char *formula, const struct vc_input *elements, uint64_t ranks)
{
	struct vc_line *line = put(writer, component, bytes, formula);

	input(line, elements->name, elements->value);
	per_element(line, component == VC_COMPONENT_OPTIMIZER_STATES ? "s" : "b",
	            sat_mul(bytes, ranks), elements->value);
	input(line, "N", ranks);
}

/* Matrices in the quantization's bytes, the rest in the compute precision. */
static void put_quantized(const struct writer *writer)
{
	const struct train_job *job = writer->job;
	uint64_t ranks = train_sharding(job->request, job->policy).weights;
	struct vc_line *line = put(writer, VC_COMPONENT_WEIGHTS, job->held.weights,
	                           ranks > 1 ? "Q / N + S + rest × b / N" : "Q + S + rest × b");

	input(line, "Q", sat_sub(job->size.quantized_bytes, job->held.scales));
	input(line, "S", job->held.scales);
	input(line, "rest", sat_sub(job->size.params, job->size.linears));
	input(line, "b", train_rest_bytes(job->request));
	if (ranks > 1) {
		input(line, "N", ranks);
	}
}

static void put_held(const struct writer *writer)
{
	const struct train_job *job = writer->job;
	const struct train_static *held = &job->held;
	const struct train_groups groups = train_sharding(job->request, job->policy);
	const struct vc_input trained = { "P_train", held->trained, 1 };
	const struct vc_input adapters = { "A", job->size.adapters, 1 };
	const struct vc_input saved = { "M", job->size.saved, 1 };
	const struct vc_input params = { "P", job->size.params, 1 };

	if (job->request->training.method != VC_TRAINING_FULL && train_scheme(job->request)) {
		put_quantized(writer);
	} else {
		put_shared(writer, VC_COMPONENT_WEIGHTS, held->weights, "P × b / N", &params,
		           groups.weights);
	}
	put_shared(writer, VC_COMPONENT_ADAPTERS, held->adapters, "A × b / N", &adapters,
	           groups.weights);
	put_shared(writer, VC_COMPONENT_ADAPTERS, held->saved, "M × b / N (copies of whole tables)",
	           &saved, groups.weights);
	if (writer->peak->name == TRAIN_PHASE_LOAD) {
		return;
	}
	put_shared(writer, VC_COMPONENT_MASTER_WEIGHTS, held->master, "P_train × b / N", &trained,
	           groups.states);
	put_shared(writer, VC_COMPONENT_OPTIMIZER_STATES, held->states, "P_train × s / N", &trained,
	           groups.states);
}

static void put_gradients(const struct writer *writer, const struct train_phase *phase)
{
	const struct train_job *job = writer->job;
	const struct train_static *held = &job->held;
	const struct train_groups groups = train_sharding(job->request, job->policy);
	const struct vc_input trained = { "P_train", held->trained, 1 };

	if (!phase->gradients) {
		return;
	}
	put_shared(writer, held->gradients_stay ? VC_COMPONENT_GRADIENTS : VC_COMPONENT_ACTIVATIONS,
	           held->gradients,
	           held->gradients_stay ? "P_train × b / N"
	                                : "P_train × b / N (gradients until the step)",
	           &trained, groups.gradients);
	put_shared(writer, VC_COMPONENT_ACTIVATIONS, phase->copy,
	           "P_train × b / N (copies of the step)", &trained, groups.states);
}

static void put_images(const struct writer *writer, uint64_t bytes, const char *formula,
                       const char *each)
{
	uint64_t images = writer->job->request->workload.batch_size;
	struct vc_line *line = put(writer, VC_COMPONENT_ACTIVATIONS, bytes, formula);

	input(line, "images", images);
	per_element(line, each, bytes, images);
}

static void put_phase(const struct writer *writer)
{
	const struct train_activation *activation = &writer->job->activation;
	const struct train_phase *phase = &writer->peak->phases[writer->peak->name];
	uint64_t places = sat_mul(activation->tokens, activation->layers);
	struct vc_line *line;

	put_gradients(writer, phase);
	if (activation->image_bytes > 0) {
		put_images(writer, phase->saved, "images × k (kept for backward)", "k");
		put_images(writer, phase->working, "images × w (the largest block's output)", "w");
	} else {
		line = put(writer, VC_COMPONENT_ACTIVATIONS, phase->saved,
		           "T × L × k (kept for backward)");
		input(line, "T", activation->tokens);
		input(line, "L", activation->layers);
		per_element(line, "k", phase->saved, places);
		line = put(writer, VC_COMPONENT_ACTIVATIONS, phase->working,
		           writer->peak->name == TRAIN_PHASE_LOSS
		                   ? "T × w (hidden states at the loss)"
		                   : "T × w (backward of one layer)");
		input(line, "T", activation->tokens);
		per_element(line, "w", phase->working, activation->tokens);
	}
	if (writer->job->request->training.loss_implementation == VC_LOSS_EAGER) {
		line = put(writer, VC_COMPONENT_LOGITS, phase->logits, "c × T × V");
		input(line, "c", writer->peak->logit_bytes);
		input(line, "V", writer->job->size.vocabulary);
	} else {
		line = put(writer, VC_COMPONENT_LOGITS, phase->logits,
		           "T × w (gradient of the hidden states)");
		per_element(line, "w", phase->logits, activation->tokens);
	}
	input(line, "T", activation->tokens);
	line = put(writer, VC_COMPONENT_LOGITS, phase->outputs,
	           "others × b × T × V (outputs gathered on the first card)");
	input(line, "others", sat_sub(writer->job->request->parallelism.data, 1));
	input(line, "b", train_precision_bytes(writer->job->request));
	input(line, "T", activation->tokens);
	input(line, "V", writer->job->size.vocabulary);
	line = put(writer, VC_COMPONENT_COMMUNICATION, train_gathered_bytes(&phase->gathered),
	           "root + u × unit (gathered parameters)");
	input(line, "root", phase->gathered.kept);
	input(line, "u", phase->gathered.units);
	input(line, "unit", phase->gathered.unit);
}

/* A line that is a product of two numbers. */
static void put_product(const struct writer *writer, enum vc_component component,
                        const char *formula, const struct vc_input factors[2])
{
	struct vc_line *line =
	        put(writer, component, sat_mul(factors[0].value, factors[1].value), formula);

	input(line, factors[0].name, factors[0].value);
	input(line, factors[1].name, factors[1].value);
}

static void put_outside(const struct writer *writer, uint64_t bytes, const char *name)
{
	input(put(writer, VC_COMPONENT_FRAMEWORK, bytes, name), name, bytes);
}

static void put_surroundings(const struct writer *writer)
{
	const struct train_peak *peak = writer->peak;
	struct vc_line *line;

	put_product(writer, VC_COMPONENT_ACTIVATIONS, "n × space (libraries' workspaces)",
	            (const struct vc_input[]){ { "n", writer->job->workspaces.handles, 1 },
	                                       { "space", writer->job->workspaces.blas, 1 } });
	input(put(writer, VC_COMPONENT_ACTIVATIONS, writer->job->workspaces.transformer_engine,
	          "space (Transformer Engine's workspace)"),
	      "space", writer->job->workspaces.transformer_engine);
	if (peak->name != TRAIN_PHASE_LOAD) {
		put_product(writer, VC_COMPONENT_COMMUNICATION, "elements × b (buckets)",
		            (const struct vc_input[]){ { "elements", peak->buckets.elements, 1 },
		                                       { "b", peak->buckets.bytes, 1 } });
	}
	put_outside(writer, peak->context, "context");
	put_outside(writer, peak->collectives, "collectives");
	line = put(writer, VC_COMPONENT_FRAGMENTATION, peak->fragmentation.bytes,
	           peak->fragmentation.formula);
	for (uint32_t i = 0; line && i < peak->fragmentation.input_count; i++) {
		vc_line_ratio(line, peak->fragmentation.inputs[i].name,
		              peak->fragmentation.inputs[i].value,
		              peak->fragmentation.inputs[i].divisor);
	}
}

/* What is offloaded lies in the host's memory for all ranks together. */
static void put_host(const struct writer *writer)
{
	const struct train_static *held = &writer->job->held;
	const struct {
		enum vc_component component;
		uint64_t bytes;
		const char *formula;
	} rows[] = {
		{ VC_COMPONENT_WEIGHTS, held->host_weights, "weights of a rank × GPUs" },
		{ VC_COMPONENT_MASTER_WEIGHTS, held->host_master, "trained × 4 / N × GPUs" },
		{ VC_COMPONENT_OPTIMIZER_STATES, held->host_states, "trained × states / N × GPUs" },
		{ VC_COMPONENT_GRADIENTS, held->host_gradients, "trained × 4 / N × GPUs" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (rows[i].bytes > 0) {
			vc_ledger_add_host(writer->ledger, rows[i].component,
			                   sat_mul(rows[i].bytes, writer->ledger->gpus),
			                   rows[i].formula);
		}
	}
}

static void note_framework(const struct writer *writer)
{
	const struct train_peak *peak = writer->peak;
	uint64_t step = peak->phases[TRAIN_PHASE_STEP].total;
	uint64_t copying = sat_add(step, writer->job->held.spared_copy);
	uint64_t more[3] = { sat_sub(copying, peak->allocated) };

	if (writer->job->request->engine.name != VC_ENGINE_NONE) {
		return;
	}
	vc_ledger_note(writer->ledger, "training-no-framework",
	               "no trainer is named: the optimizer steps in place, and the range adds a "
	               "quarter of all but weights and states, as trainers differ; engine.name "
	               "narrows it",
	               NULL);
	if (step > 0 && more[0] > 0) {
		vc_ledger_note(
		        writer->ledger, "training-stock-step",
		        "a step that copies the gradients, as the stock one of transformers' "
		        "Trainer does (engine.name), would allocate {0B} more",
		        more);
	}
}

static void note_assumptions(const struct writer *writer)
{
	const struct train_job *job = writer->job;
	const struct vc_training *training = &job->request->training;
	uint64_t logits[3] = { writer->peak->logit_bytes, job->policy->logits.most, 0 };

	note_framework(writer);
	if (training->loss_implementation == VC_LOSS_EAGER) {
		vc_ledger_note(writer->ledger, "training-logits",
		               "the loss is taken to hold {0} bytes per logit; the range reaches "
		               "to the {1} of the hungriest implementation",
		               logits);
	}
	if (!job->held.gradients_stay && training->method == VC_TRAINING_FULL) {
		vc_ledger_note(writer->ledger, "training-gradients-freed",
		               "gradients are freed after each step: they count as activations of "
		               "the phases that have them",
		               NULL);
	}
	if (training->method == VC_TRAINING_QLORA && !train_is_raised(job->request)) {
		vc_ledger_note(writer->ledger, "training-kbit-preparation",
		               "what is not quantized is taken to stay in 16 bits; preparation for "
		               "k-bit training raises it to fp32 (training.kbit_preparation), "
		               "which the range covers in part",
		               NULL);
	}
	if (train_mixes_lengths(job)) {
		vc_ledger_note(writer->ledger, "training-mixed-lengths",
		               "samples of several lengths leave blocks of every length behind, "
		               "which the range covers; training.packing says that there is one",
		               NULL);
	}
	if (vc_optimizer_info(training->optimizer)->paged) {
		vc_ledger_note(writer->ledger, "training-paged-states",
		               "paged optimizer states are counted in host memory", NULL);
	}
	if (job->activation.saved_bytes == 0) {
		vc_ledger_note(writer->ledger, "training-activations-unknown",
		               "activations of this kind of layer (convolutions) are not counted",
		               NULL);
	}
	if (job->activation.approximated) {
		vc_ledger_note(writer->ledger, "training-mixers-approximated",
		               "activations of state-space and linear-attention layers are rough: "
		               "the widths of their projections",
		               NULL);
	}
}

static uint64_t write_ledger(const struct writer *writer)
{
	const struct train_peak *peak = writer->peak;
	uint64_t outside = sat_add(peak->context, peak->collectives);

	put_held(writer);
	put_phase(writer);
	put_surroundings(writer);
	put_host(writer);
	note_assumptions(writer);
	for (int i = 0; i < TRAIN_PHASE_COUNT; i++) {
		/* a device that was just filled has nothing idle yet */
		uint64_t idle = i == TRAIN_PHASE_LOAD ? 0 : peak->fragmentation.bytes;

		if (peak->phases[i].exists) {
			vc_ledger_phase(writer->ledger, phase_names[i],
			                sat_add(peak->phases[i].total, sat_add(outside, idle)));
		}
	}
	return sat_add(peak->allocated, sat_add(outside, peak->fragmentation.bytes));
}

static enum vc_status check_experts(const struct vc_request *request, struct vc_error *error)
{
	const struct vc_parallelism *layout = &request->parallelism;
	uint64_t ranks = sat_mul(layout->data, layout->tensor);
	uint64_t experts = model_experts(request->model);

	if (layout->expert > 1 && ranks % layout->expert != 0) {
		return vc_fail(error, VC_INVALID, "parallelism.expert",
		               "%u does not divide the %u data- and tensor-parallel ranks (a "
		               "divisor of data x tensor)",
		               (uint64_t)layout->expert, ranks);
	}
	if (layout->expert > 1 && experts % layout->expert != 0) {
		return vc_fail(error, VC_INVALID, "parallelism.expert",
		               "%u ranks for %u experts (a divisor of the number of experts)",
		               (uint64_t)layout->expert, experts);
	}
	return VC_OK;
}

static enum vc_status check_replicas(const struct vc_parallelism *layout, struct vc_error *error)
{
	if (layout->shard > 0 && layout->data % layout->shard != 0) {
		return vc_fail(error, VC_INVALID, "parallelism.shard",
		               "%u does not divide the %u data-parallel ranks (a divisor of "
		               "parallelism.data)",
		               (uint64_t)layout->shard, (uint64_t)layout->data);
	}
	if (layout->data_parallel == VC_DATA_PARALLEL_DP &&
	    (layout->zero_stage > 0 || vc_layout_gpus(layout) != layout->data)) {
		return vc_fail(error, VC_INVALID, "parallelism.data_parallel",
		               "dp goes with no other kind of parallelism and no ZeRO (ddp)");
	}
	return VC_OK;
}

static enum vc_status check(const struct vc_request *request, struct vc_error *error)
{
	const struct vc_parallelism *layout = &request->parallelism;
	uint64_t chunks = sat_mul(layout->pipeline, layout->virtual_pipeline);
	uint64_t layers = request->model->stacks[0].layers;
	uint64_t length = request->workload.sequence_length;
	enum vc_status status = check_experts(request, error);

	if (status == VC_OK && layout->virtual_pipeline > 1 && chunks > layers) {
		return vc_fail(error, VC_INVALID, "parallelism.virtual_pipeline",
		               "%u chunks for %u layers (at least one layer a chunk)", chunks,
		               layers);
	}
	if (status == VC_OK && layout->context > length) {
		return vc_fail(error, VC_INVALID, "parallelism.context",
		               "%u ranks for %u tokens (at least one token a rank)",
		               (uint64_t)layout->context, length);
	}
	return status == VC_OK ? check_replicas(layout, error) : status;
}

/* QLoRA as its paper has it, arxiv.org/abs/2305.14314, where no scheme is stated. */
static struct vc_request complete(const struct vc_request *request, struct vc_ledger *ledger)
{
	struct vc_request completed = *request;

	if (request->training.method == VC_TRAINING_QLORA && !train_scheme(request)) {
		completed.workload.quantization = vc_quantization_by_name("bnb-nf4-dq");
		vc_ledger_note(
		        ledger, "training-quantization-assumed",
		        "workload.quantization is not given: bnb-nf4-dq is assumed for qlora",
		        NULL);
	}
	return completed;
}

/* The first pipeline stage keeps the most micro-batches, the last has the logits, and where layers
 * do not divide, one between may have a layer more: the fullest of all. */
static void fullest_stage(const struct vc_request *request, struct train_job *fullest,
                          struct train_peak *peak)
{
	train_job(request, 0, fullest);
	train_peak(fullest, peak);
	for (uint32_t stage = 1; stage < request->parallelism.pipeline; stage++) {
		struct train_job job;
		struct train_peak other;

		train_job(request, stage, &job);
		train_peak(&job, &other);
		if (other.allocated > peak->allocated) {
			*fullest = job;
			*peak = other;
		}
	}
}

enum vc_status vc_estimate_training(const struct vc_request *stated, struct vc_ledger *ledger,
                                    struct vc_error *error)
{
	struct vc_request completed = complete(stated, ledger);
	struct train_job job;
	struct train_peak peak;
	enum vc_status status = check(&completed, error);
	uint64_t total;

	if (status != VC_OK) {
		return status;
	}
	fullest_stage(&completed, &job, &peak);
	total = write_ledger(&(struct writer){ &job, &peak, ledger });
	train_range(&job, &peak, total, ledger);
	return VC_OK;
}
