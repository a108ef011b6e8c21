/* What `plan` says in sentences. */
#include "plan.h"

#include "names.h"
#include "note.h"
#include "origin.h"
#include "plan_change.h"
#include "plan_hardware.h"
#include "plan_table.h"
#include "print_text.h"

#include <inttypes.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* ---- The title ---- */

static void append_precision(char *to, const struct vc_workload *workload)
{
	text_append(to, PLAN_TEXT, " in %s", vc_dtype_info(workload->precision)->name);
	if (workload->quantization && workload->quantization->quantizer != VC_QUANTIZER_NONE) {
		text_append(to, PLAN_TEXT, ", weights in %s", workload->quantization->name);
	}
}

/* A model that reads images and nothing else has no sequence length. */
static bool sees_only(const struct vc_model *model)
{
	for (uint32_t i = 0; i < model->stack_count; i++) {
		if (model->stacks[i].role != VC_STACK_VISION) {
			return false;
		}
	}
	return model->stack_count > 0;
}

void plan_title(const struct plan *plan, char to[PLAN_TEXT])
{
	const struct vc_request *request = &plan->request;
	const struct vc_workload *workload = &request->workload;
	const char *name = request->model->name;
	char params[40];

	format_count(params, sizeof params, plan->params);
	*to = '\0';
	text_append(to, PLAN_TEXT, "%s, %s parameters: ", *name ? name : plan->spec->source,
	            params);
	if (workload->task == VC_TASK_TRAINING) {
		text_append(to, PLAN_TEXT, "%s training with %s",
		            name_of_training_method(request->training.method),
		            vc_optimizer_info(request->training.optimizer)->name);
	} else {
		text_append(to, PLAN_TEXT, "inference");
	}
	append_precision(to, workload);
	if (sees_only(request->model)) {
		text_append(to, PLAN_TEXT, ", %" PRIu64 " %s", workload->batch_size,
		            workload->batch_size == 1 ? "image" : "images");
	} else {
		text_append(to, PLAN_TEXT, ", %" PRIu64 " %s of %" PRIu64 " tokens",
		            workload->batch_size,
		            workload->batch_size == 1 ? "sequence" : "sequences",
		            workload->sequence_length);
	}
	if (workload->task == VC_TASK_INFERENCE && workload->concurrency > 1) {
		text_append(to, PLAN_TEXT, ", %" PRIu64 " requests at once", workload->concurrency);
	}
}

/* ---- The verdict ---- */

static void append_bytes(char *to, uint64_t bytes, enum byte_unit unit, enum rounding rounding)
{
	char quantity[64];

	format_quantity(quantity, sizeof quantity, bytes, unit, rounding);
	text_append(to, PLAN_TEXT, "%s", quantity);
}

static uint64_t percent(uint64_t part, uint64_t whole)
{
	while (part > UINT64_MAX / 200) {
		part /= 2;
		whole /= 2;
	}
	return whole ? (part * 100 + whole / 2) / whole : 0;
}

/* "4.61 GB (19 %) are left, idle at $0.14 of the $0.75 an hour (aws g5.xlarge, 2026-07-20)." */
static void append_left(char *to, const struct plan *plan, const struct vc_candidate *best,
                        enum byte_unit unit)
{
	const struct vc_price *price = &best->gpu->price;
	uint64_t left = (uint64_t)best->headroom_bytes;
	uint64_t share = percent(left, best->have_bytes);
	char idle[64], whole[64];
	uint64_t all;

	append_bytes(to, left, unit, ROUND_DOWN);
	text_append(to, PLAN_TEXT, " (%" PRIu64 " %%) %s left%s", share, "are",
	            best->gpus > 1 ? " on each" : "");
	if (plan_fills_gpu(plan)) {
		text_append(to, PLAN_TEXT, ", which the engine fills with cache");
	} else if (price_times(price, best->gpus, &all) && all <= UINT64_MAX / 100) {
		format_price(idle, sizeof idle, all * share / 100, price->currency);
		format_price(whole, sizeof whole, all, price->currency);
		text_append(to, PLAN_TEXT, ", idle at %s of the %s an hour (", idle, whole);
		price_said_by(to, PLAN_TEXT, price);
		text_append(to, PLAN_TEXT, ")");
	}
	text_append(to, PLAN_TEXT, ".");
}

static void append_best(const struct plan *plan, const struct vc_candidate *best,
                        enum byte_unit unit, char to[PLAN_TEXT])
{
	bool priced = plan->arguments->sort.index == VC_SORT_PRICE && best->gpu->price.known &&
	              plan->count > 1;

	if (best->gpus == 1) {
		text_append(to, PLAN_TEXT, "It fits %s %s%s: ", plan->count > 1 ? "one" : "the",
		            best->gpu->name, priced ? ", the cheapest of those considered" : "");
	} else {
		text_append(to, PLAN_TEXT, "%s %" PRIu32 " × %s%s: ",
		            plan->request.parallelism.stated ? "The stated layout fits"
		                                             : "No single GPU holds it;",
		            best->gpus, best->gpu->name,
		            plan->request.parallelism.stated ? ""
		            : priced                         ? " do, at the lowest price"
		                                             : " do");
	}
	append_left(to, plan, best, unit);
}

static const struct vc_candidate *first_tight(const struct plan *plan)
{
	for (size_t i = 0; i < plan->count; i++) {
		if (plan->candidates[i].verdict == VC_VERDICT_TIGHT) {
			return &plan->candidates[i];
		}
	}
	return NULL;
}

static void append_none(const struct plan *plan, enum byte_unit unit, char to[PLAN_TEXT])
{
	const struct vc_candidate *nearest = &plan->candidates[0], *tight = first_tight(plan);
	const struct vc_candidate *shown = tight ? tight : nearest;

	if (plan->count == 1) {
		text_append(to, PLAN_TEXT, "It %s %s", tight ? "is tight on" : "does not fit",
		            shown->gpu->name);
	} else {
		text_append(to, PLAN_TEXT,
		            "None of the %zu GPUs considered holds it with %s%" PRIu32
		            " of a kind; %s %s",
		            plan->count, plan->request.parallelism.stated ? "" : "up to ",
		            plan->request.parallelism.stated ? shown->gpus : plan->options.max_gpus,
		            tight ? "it is tight on" : "the nearest is", shown->gpu->name);
	}
	if (shown->gpus > 1) {
		text_append(to, PLAN_TEXT, " × %" PRIu32, shown->gpus);
	}
	if (shown->host_short) {
		text_append(to, PLAN_TEXT, ": host memory is missing.");
	} else {
		text_append(to, PLAN_TEXT, ": ");
		append_bytes(to, 0 - (uint64_t)shown->headroom_bytes, unit, ROUND_UP);
		text_append(to, PLAN_TEXT, " %s%s.",
		            tight ? "are missing for the usual reserve" : "are missing",
		            shown->gpus > 1 ? " on each" : "");
	}
	if (!plan->listed_all && plan->arguments->gpus.count == 0 &&
	    plan->spec->hardware.gpu_count == 0) {
		text_append(to, PLAN_TEXT, " With --all the whole catalog is considered.");
	}
}

void plan_verdict(const struct plan *plan, enum byte_unit unit, char to[PLAN_TEXT])
{
	const struct vc_candidate *best = plan_best(plan);

	*to = '\0';
	if (best) {
		append_best(plan, best, unit, to);
	} else if (plan->count) {
		append_none(plan, unit, to);
	}
}

void plan_dominant(const struct plan *plan, char to[PLAN_TEXT])
{
	const struct vc_ledger *ledger = plan_ledger(plan);
	enum vc_component largest = VC_COMPONENT_WEIGHTS;

	*to = '\0';
	for (int c = 0; c < VC_COMPONENT_COUNT; c++) {
		if (vc_ledger_component(ledger, (enum vc_component)c) >
		    vc_ledger_component(ledger, largest)) {
			largest = (enum vc_component)c;
		}
	}
	text_append(to, PLAN_TEXT, "Most of it, %" PRIu64 " %%, is %s.",
	            percent(vc_ledger_component(ledger, largest), ledger->total_bytes),
	            name_of_component(largest));
}

/* ---- Notes ---- */

/* The fields of a workload that people care about, as far as nobody gave them. */
static void append_default(const struct plan *plan, char *to, const char *field, const char *value)
{
	const char *name = strchr(field, '.') + 1;

	if (!vc_spec_gives(plan->spec, field)) {
		text_append(to, PLAN_TEXT, "%s%s %s", *to ? ", " : "Not given, so as usual: ", name,
		            value);
	}
}

static bool note_defaults(const struct plan *plan, enum byte_unit unit, char to[PLAN_TEXT])
{
	const struct vc_workload *workload = &plan->request.workload;
	char number[3][24];

	(void)unit;
	snprintf(number[0], sizeof number[0], "%" PRIu64, workload->batch_size);
	snprintf(number[1], sizeof number[1], "%" PRIu64, workload->sequence_length);
	snprintf(number[2], sizeof number[2], "%" PRIu64, workload->concurrency);
	append_default(plan, to, "workload.task", name_of_task(workload->task));
	append_default(plan, to, "workload.precision", vc_dtype_info(workload->precision)->name);
	append_default(plan, to, "workload.batch_size", number[0]);
	append_default(plan, to, "workload.sequence_length", number[1]);
	if (workload->task == VC_TASK_INFERENCE) {
		append_default(plan, to, "workload.concurrency", number[2]);
	} else {
		append_default(plan, to, "training.method",
		               name_of_training_method(plan->request.training.method));
		append_default(plan, to, "training.optimizer",
		               vc_optimizer_info(plan->request.training.optimizer)->name);
	}
	if (*to) {
		text_append(to, PLAN_TEXT, ".");
	}
	return *to;
}

static bool is_inference(const struct vc_request *request)
{
	return request->workload.task == VC_TASK_INFERENCE;
}

static bool is_training(const struct vc_request *request)
{
	return request->workload.task == VC_TASK_TRAINING;
}

static bool trains_everything(const struct vc_request *request)
{
	return is_training(request) && request->training.method == VC_TRAINING_FULL;
}

static bool names_no_engine(const struct vc_request *request)
{
	return request->engine.name == VC_ENGINE_NONE;
}

static bool has_no_shape(const struct vc_request *request)
{
	return !vc_model_has_shape(request->model);
}

/* Fields that such a job does not use, and why. */
static const struct {
	const char *prefix;
	bool (*holds)(const struct vc_request *request);
	const char *why;
} unused[] = {
	{ "training.", is_inference, "the task is inference" },
	{ "workload.concurrency", is_training, "the task is training" },
	{ "workload.kv_cache_precision", is_training, "the task is training" },
	{ "training.lora.", trains_everything, "the method is full" },
	{ "engine.", names_no_engine, "no engine is named" },
	{ "workload.kv_cache_precision", has_no_shape, "the architecture is not known" },
};

/* A sentence for each reason. */
static bool note_unused(const struct plan *plan, enum byte_unit unit, char to[PLAN_TEXT])
{
	const struct vc_spec_field *field;

	(void)unit;
	for (size_t u = 0; u < LENGTH(unused); u++) {
		size_t length = strlen(unused[u].prefix), count = 0;

		for (size_t i = 0;
		     unused[u].holds(&plan->request) && (field = vc_spec_field_at(i)) != NULL;
		     i++) {
			if (strncmp(field->path, unused[u].prefix, length) == 0 &&
			    vc_spec_gives(plan->spec, field->path)) {
				text_append(to, PLAN_TEXT, "%s%s",
				            count ? ", "
				            : *to ? " "
				                  : "",
				            field->path);
				count++;
			}
		}
		if (count) {
			text_append(to, PLAN_TEXT, " %s given but not used: %s.",
			            count > 1 ? "are" : "is", unused[u].why);
		}
	}
	return *to;
}

/* What of the GPUs considered is the user's. */
static bool note_own_files(const struct plan *plan, enum byte_unit unit, char to[PLAN_TEXT])
{
	struct origin_note note = { .count = 0 };

	(void)unit;
	for (size_t i = 0; i < plan->count; i++) {
		origin_add(&note, plan->candidates[i].gpu, true);
	}
	if (origin_end(&note)) {
		text_append(to, PLAN_TEXT, "%s", note.text);
	}
	return *to;
}

static bool note_precision(const struct plan *plan, enum byte_unit unit, char to[PLAN_TEXT])
{
	size_t count = 0;

	(void)unit;
	for (size_t i = 0; i < plan->count; i++) {
		const struct vc_candidate *candidate = &plan->candidates[i];

		if (!candidate->precision_supported && count++ < 4) {
			text_append(to, PLAN_TEXT, "%s%s", *to ? ", " : "", candidate->gpu->name);
		}
	}
	if (count > 4) {
		text_append(to, PLAN_TEXT, " and %zu more", count - 4);
	}
	if (count) {
		text_append(to, PLAN_TEXT, " %s not compute in %s; fp16 takes as much memory.",
		            count > 1 ? "do" : "does",
		            vc_dtype_info(plan->request.workload.precision)->name);
	}
	return count > 0;
}

static const struct {
	const char *code;
	plan_noter *note;
} own_notes[] = {
	{ "defaults", note_defaults },
	{ "fields-unused", note_unused },
	{ "gpu-local", plan_note_local },
	{ "precision-unsupported", note_precision },
	{ "what-to-change", plan_note_change },
	{ "layout-beyond-engine", plan_note_engine },
	{ "tensor-over-pcie", plan_note_pcie },
	{ "tensor-over-network", plan_note_network },
	{ "host-memory-short", plan_note_host_short },
	{ "host-memory-below-twice", plan_note_host_twice },
	{ "offload-suits", plan_note_offload },
	{ "offload-link", plan_note_moved },
	{ "mostly-idle", plan_note_idle },
	{ "fewer-gpus", plan_note_fewer },
	{ "over-budget", plan_note_budget },
	{ "own-files", note_own_files },
};

static bool said_by(const struct vc_ledger *ledger, const char *code)
{
	for (uint32_t i = 0; i < ledger->note_count; i++) {
		if (strcmp(ledger->notes[i].code, code) == 0) {
			return true;
		}
	}
	return false;
}

/* The `index`-th note of both ledgers, what both say once. */
static const struct vc_note *ledger_note(const struct plan *plan, size_t index)
{
	const struct vc_ledger *first = plan_ledger(plan);
	const struct vc_ledger *second = first == &plan->rule ? &plan->detailed : &plan->rule;

	if (index < first->note_count) {
		return &first->notes[index];
	}
	index -= first->note_count;
	for (uint32_t i = 0; i < second->note_count; i++) {
		if (!said_by(first, second->notes[i].code) && index-- == 0) {
			return &second->notes[i];
		}
	}
	return NULL;
}

/* Where the detailed method is shown, what the rule took for granted is behind its total alone. */
static bool is_of_rule_alone(const struct plan *plan, const struct vc_note *note)
{
	const struct vc_ledger *rule = &plan->rule;

	return plan_ledger(plan) != rule && note >= rule->notes &&
	       note < rule->notes + rule->note_count;
}

/* Many name the rule themselves. */
static void label_rule(char to[PLAN_TEXT])
{
	char text[PLAN_TEXT];

	if (!strstr(to, "he rule ") && !strstr(to, "he rule's ")) {
		memcpy(text, to, sizeof text);
		*to = '\0';
		text_append(to, PLAN_TEXT, "Rule method: %s", text);
	}
}

const char *plan_note(const struct plan *plan, enum byte_unit unit, size_t index,
                      char to[PLAN_TEXT])
{
	const struct vc_note *note;

	for (size_t i = 0; i < LENGTH(own_notes); i++) {
		*to = '\0';
		if (own_notes[i].note(plan, unit, to) && index-- == 0) {
			return own_notes[i].code;
		}
	}
	note = ledger_note(plan, index);
	if (!note) {
		return NULL;
	}
	note_render(to, PLAN_TEXT, note, unit);
	if (is_of_rule_alone(plan, note)) {
		label_rule(to);
	}
	return note->code;
}
