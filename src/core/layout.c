/*
 * The layouts of several GPUs: enumerated, checked against engine, architecture and node, and with
 * what their ranks send each other. docs/formulas.md#communication
 */
#include "layout.h"

#include "model.h"
#include "sat.h"
#include "shard.h"
#include "text.h"

enum {
	NODE_GPUS = 8 /* of the usual server */
};

static const struct vc_stack *main_stack(const struct vc_model *model)
{
	return &model->stacks[model_main_stack(model)];
}

/* ---- Which there are ---- */

struct walk {
	const struct vc_request *request;
	bool experts; /* worth spreading: the rule knows no experts */
	layout_visitor *visitor;
	void *context;
};

/* The same degrees with each dividing of experts and, in training, each ZeRO stage, 3 first. */
static bool visit_variants(const struct walk *walk, struct vc_parallelism *layout)
{
	uint32_t ranks = layout->tensor * layout->data;
	bool stages = walk->request->workload.task == VC_TASK_TRAINING && layout->data > 1;

	for (uint32_t spread = 0; spread <= (walk->experts && ranks > 1 ? 1u : 0u); spread++) {
		layout->expert = spread ? ranks : 1;
		for (uint32_t stage = stages ? 4 : 1; stage-- > 0;) {
			layout->zero_stage = stage;
			if (!walk->visitor(layout, walk->context)) {
				return false;
			}
		}
	}
	return true;
}

bool layout_by_layers(const struct vc_request *request)
{
	return request->engine.name == VC_ENGINE_LLAMACPP;
}

/* Serving: the widest tensor group first, which divides each token's work too; then stages. */
static bool each_serving(const struct walk *walk, struct vc_parallelism *layout, uint32_t gpus)
{
	for (uint32_t tensor = layout_by_layers(walk->request) ? 1 : gpus; tensor > 0; tensor--) {
		for (uint32_t data = 1; gpus % tensor == 0 && data <= gpus / tensor; data++) {
			layout->tensor = tensor;
			layout->data = data;
			layout->pipeline = gpus / tensor / data;
			if (gpus / tensor % data == 0 && !visit_variants(walk, layout)) {
				return false;
			}
		}
	}
	return true;
}

/* Training: fewest stages, which idle while they fill; then the narrowest tensor group. */
static bool each_training(const struct walk *walk, struct vc_parallelism *layout, uint32_t gpus)
{
	for (uint32_t pipeline = 1; pipeline <= gpus; pipeline++) {
		for (uint32_t tensor = 1; gpus % pipeline == 0 && tensor <= gpus / pipeline;
		     tensor++) {
			layout->pipeline = pipeline;
			layout->tensor = tensor;
			layout->data = gpus / pipeline / tensor;
			if (gpus / pipeline % tensor == 0 && !visit_variants(walk, layout)) {
				return false;
			}
		}
	}
	return true;
}

bool layout_each(const struct vc_request *request, uint32_t gpus, layout_visitor *visitor,
                 void *context)
{
	struct walk walk = { .request = request,
		             .experts = request->method == VC_METHOD_DETAILED &&
		                        model_experts(request->model) > 0,
		             .visitor = visitor,
		             .context = context };
	struct vc_parallelism layout = request->parallelism;

	return request->workload.task == VC_TASK_TRAINING ? each_training(&walk, &layout, gpus)
	                                                  : each_serving(&walk, &layout, gpus);
}

/* ---- What forbids one ---- */

uint32_t layout_node_gpus(const struct vc_gpu *gpu, const struct vc_select_options *options)
{
	if (options->node_gpus) {
		return options->node_gpus;
	}
	return gpu->link_gpus > NODE_GPUS ? gpu->link_gpus : NODE_GPUS;
}

bool layout_heads_divide(const struct vc_model *model, uint32_t ranks)
{
	const struct vc_stack *stack = main_stack(model);

	if (!vc_model_has_shape(model)) {
		return false;
	}
	for (uint32_t i = 0; i < stack->layers; i++) {
		const struct vc_layer_kind *kind = &model->kinds[stack->pattern[i]];

		for (uint32_t m = 0; m < kind->mixer_count; m++) {
			const struct vc_mixer *mixer = &kind->mixers[m];

			if (mixer->heads % ranks || mixer->kv_heads % ranks) {
				return false;
			}
		}
	}
	return true;
}

static const char *engine_lacks(const struct vc_request *request)
{
	const struct vc_engine_info *engine = vc_engine_info(request->engine.name);
	const struct vc_parallelism *layout = &request->parallelism;
	bool training = request->workload.task == VC_TASK_TRAINING;

	if (layout->tensor > 1 && !(training ? engine->trains_tensor : engine->tensor)) {
		return "the engine has no tensor parallelism";
	}
	if (layout->pipeline > 1 && !(training ? engine->trains_pipeline : engine->pipeline)) {
		return "the engine has no pipeline stages";
	}
	return layout->expert > 1 && !engine->expert ? "the engine has no expert parallelism"
	                                             : NULL;
}

/* DeepSpeed refuses it, runtime/pipe/engine.py: what ZeRO-2 reduces and ZeRO-3 gathers at each
 * micro-batch, a pipeline needs whole until its last. */
static bool stages_gather(const struct vc_parallelism *layout)
{
	return layout->pipeline > 1 && layout->zero_stage >= 2;
}

enum vc_layout_reason layout_problem(const struct vc_request *request, uint32_t node_gpus,
                                     const char **why, struct vc_error *error)
{
	const struct vc_parallelism *layout = &request->parallelism;
	struct vc_request resolved = *request;

	*why = engine_lacks(request);
	if (*why) {
		return VC_LAYOUT_ENGINE;
	}
	if (stages_gather(layout)) {
		*why = "pipeline stages do not go with ZeRO-2 and ZeRO-3";
		return VC_LAYOUT_INVALID;
	}
	if (layout->expert > 1 && model_experts(request->model) % layout->expert != 0) {
		*why = "the experts do not divide over the ranks";
		return VC_LAYOUT_INVALID;
	}
	if (vc_request_resolve(&resolved, error) != VC_OK) {
		*why = error->message;
		return VC_LAYOUT_INVALID;
	}
	*why = "";
	return layout->tensor > node_gpus ? VC_LAYOUT_NODES : VC_LAYOUT_CHOSEN;
}

/* ---- What ranks send each other ---- */

static enum vc_interconnect interconnect(const struct vc_gpu *gpu, uint32_t gpus,
                                         uint32_t node_gpus)
{
	bool links = gpu->link != VC_LINK_NONE && gpu->link != VC_LINK_UNKNOWN;

	if (gpus <= 1) {
		return VC_INTERCONNECT_NONE;
	}
	if (gpus > node_gpus) {
		return VC_INTERCONNECT_NETWORK;
	}
	return links && (gpu->link_gpus == 0 || gpus <= gpu->link_gpus) ? VC_INTERCONNECT_LINK
	                                                                : VC_INTERCONNECT_PCIE;
}

struct flow {
	uint32_t gpus; /* that the group spans: tensor innermost, stages outermost */
	uint64_t bytes;
};

/* The share that does not stay: (n - 1) / n. */
static uint64_t others(uint64_t bytes, uint32_t ranks)
{
	return ranks > 1 ? sat_scale_up(bytes, ranks - 1, ranks) : 0;
}

/* An all-reduce of the hidden state after each mixer and each feed-forward part, and as many on
 * the way back; a ring sends 2 (t - 1) / t of it. arxiv.org/abs/1909.08053, section 3 */
static uint64_t tensor_bytes(const struct vc_request *request, uint64_t hidden_bytes)
{
	const struct vc_parallelism *layout = &request->parallelism;
	uint64_t layers = sat_div_up(main_stack(request->model)->layers, layout->pipeline);
	uint64_t rounds = request->workload.task == VC_TASK_TRAINING ? 4 : 2;

	return others(sat_mul3(hidden_bytes, layers, rounds * 2), layout->tensor);
}

/* Each token goes to its experts and comes back. */
static uint64_t expert_bytes(const struct vc_request *request, uint64_t hidden_bytes)
{
	const struct vc_parallelism *layout = &request->parallelism;
	const struct vc_stack *stack = main_stack(request->model);
	uint64_t chosen = 0;

	for (uint32_t i = 0; layout->expert > 1 && i < stack->layers; i++) {
		const struct vc_layer_kind *kind = &request->model->kinds[stack->pattern[i]];

		for (uint32_t f = 0; f < kind->ffn_count; f++) {
			chosen += kind->ffns[f].experts_per_token;
		}
	}
	chosen = sat_div_up(chosen, layout->pipeline) * 2;
	return others(sat_mul(hidden_bytes, chosen), layout->expert);
}

/* Gradients are all-reduced; ZeRO-3 gathers the weights twice and scatters the gradients.
 * arxiv.org/abs/1910.02054, section 7 */
static uint64_t data_bytes(const struct vc_request *request, const struct traffic_basis *basis)
{
	const struct vc_parallelism *layout = &request->parallelism;
	uint64_t gradients = sat_mul(basis->gradient_bytes, layout->zero_stage < 3 ? 2 : 1);
	uint64_t weights = sat_mul(basis->weight_bytes, layout->zero_stage < 3 ? 0 : 2);

	if (request->workload.task != VC_TASK_TRAINING) {
		return 0;
	}
	return others(
	        sat_div_up(sat_add(gradients, weights), sat_mul(layout->tensor, layout->pipeline)),
	        layout->data);
}

static uint32_t ranks_of(uint32_t a, uint32_t b)
{
	uint64_t ranks = (uint64_t)a * b;

	return ranks > UINT32_MAX ? UINT32_MAX : (uint32_t)ranks;
}

struct layout_traffic layout_traffic(const struct vc_request *request, uint32_t node_gpus,
                                     const struct traffic_basis *basis)
{
	const struct vc_parallelism *layout = &request->parallelism;
	const struct vc_workload *workload = &request->workload;
	bool training = workload->task == VC_TASK_TRAINING;
	uint64_t sequences =
	        training ? workload->batch_size : sat_div_up(workload->batch_size, layout->data);
	uint64_t hidden_bytes = 0;
	uint32_t stage_ranks = ranks_of(layout->tensor, layout->data);
	struct layout_traffic traffic = { .slowest.slowest = VC_INTERCONNECT_NONE };

	if (vc_model_has_shape(request->model)) {
		hidden_bytes = vc_dtype_bytes(workload->precision,
		                              sat_mul3(sequences, workload->sequence_length,
		                                       main_stack(request->model)->hidden_size));
	}
	const struct flow flows[] = {
		{ layout->tensor, tensor_bytes(request, hidden_bytes) },
		{ layout->expert > 1 ? stage_ranks : 1, expert_bytes(request, hidden_bytes) },
		{ training && layout->data > 1 ? stage_ranks : 1, data_bytes(request, basis) },
		{ layout->pipeline > 1 ? ranks_of(stage_ranks, layout->pipeline) : 1,
		  sat_mul(hidden_bytes, training ? 2 : 1) },
	};

	for (size_t i = 0; i < sizeof flows / sizeof *flows; i++) {
		enum vc_interconnect over = interconnect(request->gpu, flows[i].gpus, node_gpus);

		if (over > traffic.slowest.slowest) {
			traffic.slowest = (struct vc_traffic){ over, 0 };
		}
		if (over == traffic.slowest.slowest && over != VC_INTERCONNECT_NONE) {
			traffic.slowest.bytes = sat_add(traffic.slowest.bytes, flows[i].bytes);
		}
	}
	traffic.network_bytes =
	        traffic.slowest.slowest == VC_INTERCONNECT_NETWORK ? traffic.slowest.bytes : 0;
	if (!sat_ok(traffic.slowest.bytes)) {
		traffic.slowest.bytes = 0; /* past counting: not known */
	}
	return traffic;
}

uint64_t vc_interconnect_mbs(const struct vc_gpu *gpu, enum vc_interconnect interconnect)
{
	/* GT/s per lane with 8b/10b, then 128b/130b, then 242 of 256 bytes of a flit */
	static const uint32_t lane_mbs[] = { 0, 250, 500, 985, 1969, 3938, 7563 };

	if (interconnect == VC_INTERCONNECT_LINK) {
		return (uint64_t)gpu->link_gbs * 500;
	}
	if (interconnect == VC_INTERCONNECT_PCIE &&
	    gpu->pcie_generation < sizeof lane_mbs / sizeof *lane_mbs) {
		return (uint64_t)lane_mbs[gpu->pcie_generation] * gpu->pcie_lanes;
	}
	return 0;
}

const char *vc_interconnect_name(enum vc_interconnect interconnect)
{
	static const char *const names[] = { [VC_INTERCONNECT_NONE] = "none",
		                             [VC_INTERCONNECT_LINK] = "link",
		                             [VC_INTERCONNECT_PCIE] = "pcie",
		                             [VC_INTERCONNECT_NETWORK] = "network" };

	return names[interconnect <= VC_INTERCONNECT_NETWORK ? interconnect : VC_INTERCONNECT_NONE];
}

const char *vc_layout_reason_name(enum vc_layout_reason reason)
{
	static const char *const names[VC_LAYOUT_REASON_COUNT] = {
		[VC_LAYOUT_CHOSEN] = "chosen",
		[VC_LAYOUT_ALTERNATIVE] = "alternative",
		[VC_LAYOUT_MORE_GPUS] = "more-gpus",
		[VC_LAYOUT_UNUSUAL] = "unusual",
		[VC_LAYOUT_MEMORY] = "memory",
		[VC_LAYOUT_HOST_MEMORY] = "host-memory",
		[VC_LAYOUT_NODES] = "tensor-across-nodes",
		[VC_LAYOUT_ENGINE] = "engine",
		[VC_LAYOUT_INVALID] = "architecture",
	};

	return names[reason < VC_LAYOUT_REASON_COUNT ? reason : VC_LAYOUT_MEMORY];
}
