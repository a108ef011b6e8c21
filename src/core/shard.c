/* How weights divide over ranks. docs/formulas.md#sharding */
#include "shard.h"
#include "sat.h"

static uint32_t degree(uint32_t given)
{
	return given ? given : 1;
}

struct layer_range rank_layers(const struct rank *rank, uint32_t layers)
{
	uint32_t stages = degree(rank->pipeline), stage = rank->stage;
	uint32_t each = layers / stages, left = layers % stages;
	/* stages before the last that take one layer more begin at stages - 1 - left */
	uint32_t from = stages - 1 - left;
	uint32_t extra = stage > from ? stage - from : 0;
	struct layer_range range;

	extra = extra > left ? left : extra;
	range.begin = stage * each + extra;
	range.end = range.begin + each + (stage >= from && stage + 1 < stages);
	return range;
}

uint32_t model_main_stack(const struct vc_model *model)
{
	for (uint32_t i = 0; i < model->stack_count; i++) {
		if (model->stacks[i].role == VC_STACK_DECODER) {
			return i;
		}
	}
	return 0;
}

struct layer_range rank_range(const struct vc_model *model, uint32_t stack, const struct rank *rank)
{
	const struct vc_stack *layers = &model->stacks[stack];
	uint32_t last = degree(rank->pipeline) - 1;
	uint32_t holder = layers->role == VC_STACK_MTP ? last : 0;

	if (stack == model_main_stack(model)) {
		return rank_layers(rank, layers->layers);
	}
	return rank->stage == holder ? (struct layer_range){ 0, layers->layers }
	                             : (struct layer_range){ UINT32_MAX, 0 };
}

bool rank_holds_extra(const struct vc_extra *extra, const struct rank *rank)
{
	return !extra->tied || (extra->last && degree(rank->pipeline) > 1);
}

uint32_t shard_kv_heads(uint32_t kv_heads, uint32_t tensor)
{
	uint32_t share = kv_heads / degree(tensor) + (kv_heads % degree(tensor) != 0);

	return kv_heads > 0 && share == 0 ? 1 : share;
}

static void divide_outputs(struct vc_tensor *t, uint64_t by)
{
	t->out = sat_div_up(t->out, by);
	t->bias = sat_div_up(t->bias, by);
}

/* Queries divide; of keys and values a rank keeps whole heads. */
static void divide_heads(struct vc_tensor *t, uint32_t by)
{
	uint64_t whole = t->out;
	uint64_t queries = sat_div_up(sat_sub(t->out, t->kv_out), by);
	uint64_t heads = t->kv_heads ? t->kv_heads : 1;

	t->kv_out = sat_mul(t->kv_out / heads, shard_kv_heads(t->kv_heads, by));
	t->out = sat_add(queries, t->kv_out);
	if (t->bias > 0 && whole > 0) {
		t->bias = sat_scale_up(t->bias, t->out, whole);
	}
	t->kv_heads = shard_kv_heads(t->kv_heads, by);
}

static void divide_experts(struct vc_tensor *t, const struct rank *rank)
{
	uint32_t expert = degree(rank->expert);
	uint32_t by = rank->expert_tensor ? rank->expert_tensor
	              : expert > 1        ? 1
	                                  : degree(rank->tensor);

	t->count = sat_div_up(t->count, expert);
	if (t->split == VC_SPLIT_EXPERT_COLUMN) {
		divide_outputs(t, by);
	} else {
		t->in = sat_div_up(t->in, by);
	}
}

struct vc_tensor shard_tensor(const struct vc_tensor *tensor, const struct rank *rank)
{
	struct vc_tensor t = *tensor;
	uint32_t by = degree(rank->tensor);

	switch (t.split) {
	case VC_SPLIT_COLUMN:
		divide_outputs(&t, by);
		break;
	case VC_SPLIT_ROW:
		t.in = sat_div_up(t.in, by);
		break;
	case VC_SPLIT_KV:
		divide_heads(&t, by);
		break;
	case VC_SPLIT_VOCAB:
		if (rank->vocab_multiple > 0) {
			t.out = sat_round_up(t.out, rank->vocab_multiple);
		}
		divide_outputs(&t, by);
		break;
	case VC_SPLIT_EXPERT_COLUMN:
	case VC_SPLIT_EXPERT_ROW:
		divide_experts(&t, rank);
		break;
	default:
		break;
	}
	return t;
}
