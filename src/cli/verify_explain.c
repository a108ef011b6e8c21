/*
 * What explains a gap between estimate and log: a field that the spec has wrong, an assumption
 * under which the figure would be met, or what else is known to cause it. Assumptions are tried
 * one by one with the estimate itself.
 */
#include "print_text.h"
#include "spec_fields.h"
#include "verify.h"

#include <inttypes.h>
#include <string.h>

#define BIT(component) (1u << VC_COMPONENT_##component)
#define LENGTH(array)  (sizeof(array) / sizeof *(array))
#define MIB            1048576ull

enum {
	MOST_VALUES = 20
};

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* A figure is met within 1 %, bytes within 20 MiB too: twice the last digit that logs print. */
static bool meets(const struct verify_row *row, uint64_t said)
{
	uint64_t slack = row->measured / 100;

	slack = !row->tokens && slack < 20 * MIB ? 20 * MIB : slack;
	return distance(said, row->measured) <= slack;
}

static bool needs_reason(const struct verify_row *row)
{
	return row->measured_known &&
	       distance(row->said, row->measured) >
	               (row->tokens ? row->measured / 50 : VERIFY_CLOSE_BYTES);
}

static bool estimate_row(const struct verification *v, const struct vc_request *request,
                         const struct verify_row *row, uint64_t *said)
{
	struct vc_request asked = *request;
	struct vc_ledger ledger;
	struct vc_error error;

	asked.method = VC_METHOD_DETAILED;
	asked.gpu = &v->gpu;
	if (vc_estimate(&asked, &ledger, &error) != VC_OK) {
		return false;
	}
	*said = row->tokens ? ledger.serving.kv_tokens
	                    : verify_components(&ledger, row->components);
	return true;
}

/* ---- The spec against the log -------------------------------------------------------------- */

static void name_contradictions(const struct verification *v, struct verify_row *row)
{
	const char *before = "with the log's ";

	for (size_t i = 0; i < v->setting_count; i++) {
		const struct verify_setting *setting = &v->settings[i];

		if (setting->differs && setting->given) {
			text_append(row->why, sizeof row->why, "%s%s %s (the spec says %s)", before,
			            setting->log->field, setting->log->value, setting->spec);
			before = ", ";
		}
	}
}

static bool explain_by_log(const struct verification *v, const struct vc_spec *as_run,
                           struct verify_row *row)
{
	uint64_t said;

	if (!estimate_row(v, &as_run->request, row, &said) ||
	    distance(said, row->measured) >= distance(row->said, row->measured) / 2) {
		return false;
	}
	name_contradictions(v, row);
	if (*row->why && !meets(row, said)) {
		text_append(row->why, sizeof row->why, ", in part");
	}
	return *row->why != '\0';
}

/* ---- Assumptions --------------------------------------------------------------------------- */

/* Fields that a spec seldom states and that decide a component. */
static const struct assumption {
	const char *field;
	uint32_t components; /* that it is tried for */
	bool tokens;
	uint64_t values[MOST_VALUES]; /* 0 ends them */
} assumptions[] = {
	{ "engine.max_num_seqs",
	  BIT(ACTIVATIONS) | BIT(LOGITS) | BIT(CUDA_GRAPHS) | BIT(RECURRENT_STATE),
	  false,
	  { 1, 2, 4, 8, 16, 32, 48, 64, 96, 100, 128, 160, 192, 256, 320, 384, 512, 1024, 2048 } },
	{ "engine.max_num_batched_tokens",
	  BIT(ACTIVATIONS) | BIT(LOGITS),
	  false,
	  { 512, 1024, 2048, 4096, 5120, 8192, 16384, 20480, 32768, 65536, 131072 } },
	{ "workload.sequence_length",
	  BIT(ACTIVATIONS) | BIT(LOGITS) | BIT(KV_CACHE),
	  false,
	  { 512, 1024, 2048, 4096, 8192, 10240, 16384, 20480, 32768, 40960, 65536, 131072,
	    262144 } },
	{ "engine.ubatch_size",
	  BIT(ACTIVATIONS) | BIT(LOGITS),
	  false,
	  { 64, 128, 256, 512, 1024, 2048, 4096 } },
	{ "workload.batch_size", BIT(KV_CACHE) | BIT(RECURRENT_STATE), false, { 1, 2, 4, 8, 16 } },
	{ "parallelism.tensor", BIT(WEIGHTS), false, { 1, 2, 4, 8, 16 } },
	{ "engine.speculative_tokens", BIT(WEIGHTS), false, { 1 } },
	{ "workload.attn_implementation",
	  BIT(ACTIVATIONS) | BIT(LOGITS),
	  false,
	  { VC_ATTENTION_EAGER, VC_ATTENTION_FLASH } },
	{ "workload.precision",
	  BIT(WEIGHTS),
	  false,
	  { VC_DTYPE_FP32, VC_DTYPE_BF16, VC_DTYPE_FP8 } },
	{ "workload.kv_cache_precision",
	  BIT(KV_CACHE),
	  true,
	  { VC_DTYPE_FP8, VC_DTYPE_Q8_0, VC_DTYPE_Q4_0, VC_DTYPE_FP16, VC_DTYPE_FP32 } },
	{ "engine.enforce_eager", BIT(CUDA_GRAPHS), false, { 1 } },
	{ "engine.gpu_memory_utilization",
	  0,
	  false,
	  { 500000, 600000, 700000, 750000, 800000, 850000, 880000, 900000, 920000, 950000, 970000,
	    980000, 990000 } },
};

static void put(struct vc_spec *spec, const struct vc_field_row *row, uint64_t value)
{
	char *at = (char *)spec + row->offset;
	uint32_t narrow = (uint32_t)value;
	int choice = (int)value;
	bool flag = value != 0;

	switch (row->store) {
	case VC_STORE_U64:
		memcpy(at, &value, sizeof value);
		break;
	case VC_STORE_U32:
		memcpy(at, &narrow, sizeof narrow);
		break;
	case VC_STORE_ENUM:
		memcpy(at, &choice, sizeof choice);
		break;
	case VC_STORE_BOOL:
		memcpy(at, &flag, sizeof flag);
		break;
	case VC_STORE_NONE:
		break;
	}
}

void verify_value(char *to, size_t size, const struct vc_field_row *row, uint64_t value)
{
	if (row->store == VC_STORE_BOOL) {
		text_append(to, size, "%s", value ? "true" : "false");
	} else if (row->field.kind == VC_FIELD_RATIO) {
		format_ratio(to, size, value, 1000000);
	} else if (row->store != VC_STORE_ENUM) {
		text_append(to, size, "%" PRIu64, value);
	}
	for (size_t i = 0; row->store == VC_STORE_ENUM && vc_choice_at(row->field.choices, i);
	     i++) {
		const char *name = vc_choice_at(row->field.choices, i);

		if (vc_choice_value(row->field.choices, name) == (long)value) {
			text_append(to, size, "%s", name);
			return;
		}
	}
}

/* The best so far. */
struct trial {
	uint64_t distance;
	char field[64], value[48];
};

static void try_request(const struct verification *v, const struct vc_request *request,
                        const struct verify_row *row, const char *field, const char *value,
                        struct trial *best)
{
	uint64_t said, away;

	if (!estimate_row(v, request, row, &said) || !meets(row, said) || said == row->said) {
		return;
	}
	away = distance(said, row->measured);
	if (away < best->distance) {
		best->distance = away;
		snprintf(best->field, sizeof best->field, "%s", field);
		snprintf(best->value, sizeof best->value, "%s", value);
	}
}

static void try_values(const struct verification *v, const struct vc_spec *spec,
                       const struct assumption *assumption, const struct verify_row *row,
                       struct trial *best)
{
	size_t index;
	const struct vc_field_row *field = vc_field_row_by_path(assumption->field, &index);

	for (size_t i = 0; i < MOST_VALUES && assumption->values[i]; i++) {
		struct vc_spec changed = *spec;
		char value[48] = "";

		put(&changed, field, assumption->values[i]);
		verify_value(value, sizeof value, field, assumption->values[i]);
		try_request(v, &changed.request, row, assumption->field, value, best);
	}
}

/* Whatever the model itself says of its quantization is not doubted. */
static void try_quantizations(const struct verification *v, const struct vc_spec *spec,
                              const struct verify_row *row, struct trial *best)
{
	const struct vc_quantization *one;

	if (spec->model->quantization || spec->model->file.total_bytes > 0) {
		return;
	}
	for (size_t i = 0; (one = vc_quantization_at(i)) != NULL; i++) {
		struct vc_request request = spec->request;

		if ((one->quantizer == VC_QUANTIZER_GGUF) ==
		    (request.engine.name == VC_ENGINE_LLAMACPP)) {
			request.workload.quantization = one;
			try_request(v, &request, row, "workload.quantization", one->name, best);
		}
	}
}

/* A pool depends on all terms, which are tried for themselves, and on the share of the GPU. */
static bool is_tried(const struct verification *v, const struct assumption *assumption,
                     const struct verify_row *row)
{
	if (row->tokens) {
		return assumption->tokens;
	}
	if (row->components == BIT(KV_CACHE) && v->ledger.serving.known) {
		return assumption->components == 0;
	}
	return (assumption->components & row->components) != 0;
}

static bool explain_by_assumption(const struct verification *v, const struct vc_spec *as_run,
                                  struct verify_row *row)
{
	struct trial best = { .distance = UINT64_MAX };

	for (size_t i = 0; i < LENGTH(assumptions); i++) {
		const struct assumption *assumption = &assumptions[i];

		if (!startup_value(&v->log->startup, assumption->field) &&
		    is_tried(v, assumption, row)) {
			try_values(v, as_run, assumption, row, &best);
		}
	}
	if (row->components & BIT(WEIGHTS) && strcmp(row->name, "weights") == 0) {
		try_quantizations(v, as_run, row, &best);
	}
	if (best.distance == UINT64_MAX) {
		return false;
	}
	text_append(row->why, sizeof row->why, "as with %s %s, which the log does not state",
	            best.field, best.value);
	return true;
}

/* ---- What else ----------------------------------------------------------------------------- */

/* A pool is what the other terms leave: it is off by what they are off, and by the budget. */
static bool explain_pool(const struct verification *v, struct verify_row *row)
{
	int64_t others = 0, own = (int64_t)(row->measured - row->said), left;

	if (!v->ledger.serving.known || strcmp(row->name, "kv_cache") != 0) {
		return false;
	}
	for (size_t i = 0; i < v->row_count; i++) {
		const struct verify_row *other = &v->rows[i];
		bool inside = strcmp(other->name, "weights") == 0 ||
		              strcmp(other->name, "activations") == 0 ||
		              strcmp(other->name, "framework") == 0 ||
		              strcmp(other->name, "recurrent_state") == 0 ||
		              strcmp(other->name, "activations_and_framework") == 0;

		if (inside && other->measured_known) {
			others += (int64_t)(other->measured - other->said);
		}
	}
	left = own + others;
	if (left < 0 ? -left > VERIFY_CLOSE_BYTES : left > VERIFY_CLOSE_BYTES) {
		return false;
	}
	text_append(row->why, sizeof row->why, "what the other terms leave");
	return true;
}

/* Tokens are off as the pool is, unless a token takes other bytes than said. */
static bool explain_tokens(const struct verification *v, const struct vc_spec *as_run,
                           struct verify_row *row)
{
	uint64_t pool = v->rank && startup_knows(v->rank, STARTUP_CACHE)
	                        ? v->rank->bytes[STARTUP_CACHE]
	                        : 0;
	struct verify_row fair = *row;

	if (!row->tokens) {
		return false;
	}
	if (pool > 0) {
		fair.measured =
		        (uint64_t)((double)row->measured *
		                   (double)v->ledger.serving.kv_bytes_available / (double)pool);
		if (!meets(&fair, row->said) && explain_by_assumption(v, as_run, &fair)) {
			memcpy(row->why, fair.why, sizeof row->why);
			return true;
		}
	}
	if (pool == 0 || meets(&fair, row->said)) {
		text_append(row->why, sizeof row->why, "what the pool holds");
		return true;
	}
	return false;
}

static void explain_otherwise(const struct verification *v, struct verify_row *row)
{
	bool more = row->measured > row->said;

	if (row->tokens) {
		text_append(row->why, sizeof row->why, "%s than any single assumption explains",
		            more ? "more" : "fewer");
	} else if (row->cut_short) {
		text_append(row->why, sizeof row->why,
		            "memory ran out before the run had all that it needs");
	} else if (strcmp(row->name, "framework") == 0) {
		text_append(row->why, sizeof row->why, "%s",
		            !more ? "less than that engine was seen to take"
		            : v->request.parallelism.tensor > 1
		                    ? "buffers of NCCL and all-reduce, or other processes on the "
		                      "GPU"
		                    : "other processes on the GPU, or a version that counts the "
		                      "CUDA context");
	} else if (strcmp(row->name, "process") == 0 && more) {
		text_append(row->why, sizeof row->why, "other processes on the GPU count here");
	} else if (strcmp(row->name, "kv_cache") == 0 && v->ledger.serving.known) {
		text_append(row->why, sizeof row->why, "%s",
		            more ? "less is taken by terms that the log does not say"
		                 : "more is taken by terms that the log does not say, or by other "
		                   "processes");
	} else {
		text_append(row->why, sizeof row->why,
		            "no single assumption that was tried explains it");
	}
}

void verify_explain(struct verification *verification, const struct vc_spec *as_run)
{
	for (size_t i = 0; i < verification->row_count; i++) {
		struct verify_row *row = &verification->rows[i];

		if (needs_reason(row) && row->cut_short) {
			explain_otherwise(verification, row);
		} else if (needs_reason(row) && !explain_by_log(verification, as_run, row) &&
		           !explain_tokens(verification, as_run, row) &&
		           !explain_pool(verification, row) &&
		           !explain_by_assumption(verification, as_run, row)) {
			explain_otherwise(verification, row);
		}
	}
}
