/* Walks a model as one rank holds it. docs/formulas.md#training */
#include "train_size.h"

#include "lora.h"
#include "quantization.h"
#include "sat.h"
#include "train_policy.h"

#include <string.h>

struct walk {
	const struct vc_request *request;
	const struct rank *rank;
	struct train_size *size;
	const struct vc_layer_kind *kind; /* of `unit`, while its tensors pass */
	uint64_t unit, unit_linears, unit_quantized_bytes;
	bool untied;
};

static void add(uint64_t *sum, uint64_t value)
{
	*sum = sat_add(*sum, value);
}

static void add_optimizer(struct train_size *size, const struct vc_tensor *t, uint64_t layers)
{
	uint64_t many = sat_mul(t->count, layers);
	uint64_t small = t->in < t->out ? t->in : t->out, large = t->in < t->out ? t->out : t->in;

	add(&size->vectors, sat_mul(many, t->bias));
	if (small <= 1) {
		add(&size->vectors, sat_mul3(many, t->in, t->out));
		return;
	}
	add(&size->factors, sat_mul(many, sat_add(t->in, t->out)));
	if (t->linear && small > TRAIN_GALORE_RANK) {
		add(&size->low_rank,
		    sat_mul3(many, TRAIN_GALORE_RANK, sat_add(small, sat_mul(2, large))));
	} else {
		add(&size->low_rank, sat_mul3(sat_mul(2, many), t->in, t->out));
	}
}

/* rank x (in + out), arxiv.org/abs/2106.09685, of the tensor as it is sharded */
static uint64_t adapter_elements(const struct walk *walk, const struct vc_tensor *t)
{
	const struct vc_training *training = &walk->request->training;
	uint64_t each = sat_mul(training->lora.rank, sat_add(t->in, t->out));

	if (training->method == VC_TRAINING_FULL || !lora_is_target(&training->lora, t)) {
		return 0;
	}
	return sat_mul(t->count, training->lora.dora ? sat_add(each, t->out) : each);
}

static void add_layer_tensor(struct walk *walk, const struct vc_visit *visit,
                             const struct vc_tensor *t)
{
	const struct vc_quantization *scheme = train_scheme(walk->request);
	struct train_size *size = walk->size;
	uint64_t elements = tensor_elements(t);
	bool language =
	        visit->stack->role == VC_STACK_DECODER || visit->stack->role == VC_STACK_ENCODER;

	if (visit->kind != walk->kind) {
		walk->kind = visit->kind;
		walk->unit = walk->unit_linears = walk->unit_quantized_bytes = 0;
	}
	add(&walk->unit, elements);
	if (language) {
		add(&size->adapters, sat_mul(adapter_elements(walk, t), visit->layers));
	}
	if (scheme && language && quantization_touches(scheme, t)) {
		uint64_t bytes = quantized_bytes(scheme, t, walk->request->workload.precision);
		uint64_t values = vc_dtype_bytes(scheme->dtype, elements);

		add(&size->linears, sat_mul(elements, visit->layers));
		add(&walk->unit_linears, elements);
		add(&walk->unit_quantized_bytes, bytes);
		add(&size->quantized_bytes, sat_mul(bytes, visit->layers));
		add(&size->scale_bytes, sat_mul(sat_sub(bytes, values), visit->layers));
	} else if (!scheme && t->linear) {
		add(&size->linears, sat_mul(elements, visit->layers));
		add(&walk->unit_linears, elements);
	}
	if (walk->unit > size->unit) {
		size->unit = walk->unit;
		size->unit_linears = walk->unit_linears;
		size->unit_quantized_bytes = walk->unit_quantized_bytes;
	}
}

static void add_extra(struct walk *walk, const struct vc_extra *extra, const struct vc_tensor *t)
{
	const struct vc_lora *lora = &walk->request->training.lora;
	struct train_size *size = walk->size;
	uint64_t elements = tensor_elements(t);
	bool copied = rank_holds_extra(extra, walk->rank) ||
	              (walk->untied && t->module == VC_MODULE_LM_HEAD);

	if (t->module == VC_MODULE_LM_HEAD) {
		size->vocabulary = t->out;
		size->head = copied ? sat_add(size->head, elements) : size->head;
	} else if (t->module == VC_MODULE_EMBEDDING && copied) {
		add(&size->embedding, elements);
	}
	if (!lora->all_linear) {
		add(&size->adapters, adapter_elements(walk, t));
	}
	if (lora->modules_to_save >> t->module & 1) {
		add(&size->saved, elements);
	}
	if (copied) {
		add(&size->params, elements);
		add_optimizer(size, t, 1);
	}
}

static void visit_tensor(const struct vc_visit *visit, void *context)
{
	struct walk *walk = context;
	struct vc_tensor t = shard_tensor(visit->tensor, walk->rank);

	if (visit->extra) {
		if (!visit->extra->buffer) {
			add_extra(walk, visit->extra, &t);
		}
		return;
	}
	add(&walk->size->params, sat_mul(tensor_elements(&t), visit->layers));
	add_optimizer(walk->size, &t, visit->layers);
	add_layer_tensor(walk, visit, &t);
}

/* A stated number of parameters corrects the sum; what is too many goes out of the blocks. */
static void correct(const struct vc_request *request, const struct rank *rank,
                    struct train_size *size)
{
	const struct vc_model *model = request->model;
	uint64_t ranks =
	        sat_mul(rank->tensor ? rank->tensor : 1, rank->pipeline ? rank->pipeline : 1);
	struct vc_counts counts;
	struct vc_error error;

	if (model->params == 0 || vc_model_count(model, &counts, &error) != VC_OK ||
	    counts.total == 0) {
		return;
	}
	if (model->params >= counts.total) {
		add(&size->params, (model->params - counts.total) / ranks);
		return;
	}
	size->params = sat_sub(size->params, (counts.total - model->params) / ranks);
	size->unit =
	        sat_scale_up(size->unit, sat_mul(model->params, 1000000) / counts.total, 1000000);
	if (size->linears > size->params) {
		size->linears = size->params;
	}
}

void train_size(const struct vc_request *request, const struct rank *rank, bool untied,
                struct train_size *size)
{
	const struct vc_model *model = request->model;
	struct walk walk = { .request = request, .rank = rank, .size = size, .untied = untied };

	memset(size, 0, sizeof *size);
	for (uint32_t i = 0; i < model->stack_count; i++) {
		if (model->stacks[i].role == VC_STACK_MTP) {
			continue;
		}
		walk.kind = NULL;
		model_walk_range(model, i, rank_range(model, i, rank),
		                 (struct visitor){ visit_tensor, &walk });
	}
	correct(request, rank, size);
}
