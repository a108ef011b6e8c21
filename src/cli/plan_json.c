/* `plan` for programs: docs/json.md describes every field. */
#include "names.h"
#include "origin.h"
#include "plan.h"
#include "plan_instances.h"
#include "plan_layouts.h"
#include "plan_slices.h"
#include "tensors.h"

#include <stdlib.h>

static void text_or_null(struct json_writer *json, const char *key, const char *text)
{
	json_text(json, key, text && *text ? text : NULL);
}

/* ---- What was asked ---- */

static void write_tensors(struct json_writer *json, const struct vc_model *model)
{
	size_t count;
	struct tensor_row *rows = tensor_rows(model, &count);
	struct table table = { .id = "tensors",
		               .columns = tensor_columns,
		               .column_count = tensor_column_count,
		               .rows = rows,
		               .row_count = count ? count - 1 : 0, /* without their sum */
		               .row_size = sizeof *rows };

	table_json(json, &table);
	free(rows);
}

static void write_model(struct json_writer *json, const struct plan *plan)
{
	const struct vc_model *model = plan->request.model;

	json_open(json, "model", '{');
	text_or_null(json, "name", model->name);
	json_u64(json, "parameters", plan->params);
	json_u64(json, "active_parameters",
	         plan->counts.active && plan->counts.active < plan->params ? plan->counts.active
	                                                                   : plan->params);
	text_or_null(json, "family", model->family);
	json_text(json, "source", name_of_source(model->source));
	if (plan->arguments->explain) {
		write_tensors(json, model);
	}
	json_close(json, '}');
}

static void write_workload(struct json_writer *json, const struct vc_request *request)
{
	const struct vc_workload *workload = &request->workload;

	json_open(json, "workload", '{');
	json_text(json, "task", name_of_task(workload->task));
	json_text(json, "precision", vc_dtype_info(workload->precision)->name);
	json_text(json, "quantization",
	          workload->quantization ? workload->quantization->name : "none");
	json_u64(json, "batch_size", workload->batch_size);
	json_u64(json, "sequence_length", workload->sequence_length);
	json_u64(json, "concurrency", workload->concurrency);
	json_text(json, "kv_cache_precision", vc_dtype_info(workload->kv_cache_precision)->name);
	json_text(json, "attn_implementation", name_of_attention(workload->attn_implementation));
	json_close(json, '}');
}

static void write_dtype(struct json_writer *json, const char *key, enum vc_dtype dtype)
{
	json_text(json, key, dtype == VC_DTYPE_NONE ? NULL : vc_dtype_info(dtype)->name);
}

static void write_training(struct json_writer *json, const struct vc_request *request)
{
	const struct vc_training *training = &request->training;

	if (request->workload.task != VC_TASK_TRAINING) {
		json_null(json, "training");
		return;
	}
	json_open(json, "training", '{');
	json_text(json, "method", name_of_training_method(training->method));
	json_text(json, "optimizer", vc_optimizer_info(training->optimizer)->name);
	json_text(json, "optimizer_implementation",
	          name_of_optimizer_implementation(training->optimizer_implementation));
	json_bool(json, "optimizer_in_backward", training->optimizer_in_backward);
	json_bool(json, "distributed_optimizer", training->distributed_optimizer);
	json_text(json, "mixed_precision", name_of_mixed_precision(training->mixed_precision));
	write_dtype(json, "adapter_precision", training->adapter_precision);
	write_dtype(json, "gradient_precision", training->gradient_precision);
	json_text(json, "gradient_checkpointing",
	          name_of_checkpointing(training->gradient_checkpointing));
	json_text(json, "loss_implementation", name_of_loss(training->loss_implementation));
	json_bool(json, "compile", training->compile);
	json_u64(json, "gradient_accumulation", training->gradient_accumulation);
	if (training->method == VC_TRAINING_FULL) {
		json_null(json, "lora_rank");
	} else {
		json_u64(json, "lora_rank", training->lora.rank);
	}
	json_close(json, '}');
}

/* ---- Estimates ---- */

static void write_derivation(struct json_writer *json, const struct vc_line *line)
{
	json_text(json, "formula", line->formula);
	json_open_line(json, "inputs", '{');
	for (uint32_t i = 0; i < line->input_count; i++) {
		const struct vc_input *input = &line->inputs[i];

		json_ratio(json, input->name, input->value, input->divisor ? input->divisor : 1);
	}
	json_close(json, '}');
}

/* Of lines without a range of their own, the bytes count. */
static void write_range(struct json_writer *json, const struct vc_line *lines, uint32_t count,
                        enum vc_component component)
{
	uint64_t low = 0, high = 0;
	bool known = false;

	for (uint32_t i = 0; i < count; i++) {
		const struct vc_line *line = &lines[i];
		bool ranged = line->high_bytes > 0;

		if (line->component == component) {
			known |= ranged;
			low += ranged ? line->low_bytes : line->bytes;
			high += ranged ? line->high_bytes : line->bytes;
		}
	}
	if (known) {
		json_u64(json, "low_bytes", low);
		json_u64(json, "high_bytes", high);
	}
}

/* The lines of one component, of which there is more than one. */
static void write_parts(struct json_writer *json, const struct vc_line *lines, uint32_t count,
                        enum vc_component component)
{
	json_text(json, "formula", "sum of the parts");
	json_open_line(json, "inputs", '{');
	json_close(json, '}');
	json_open(json, "parts", '[');
	for (uint32_t i = 0; i < count; i++) {
		if (lines[i].component == component) {
			json_open(json, NULL, '{');
			if (lines[i].role) {
				json_text(json, "role", lines[i].role);
			}
			json_u64(json, "bytes", lines[i].bytes);
			write_derivation(json, &lines[i]);
			json_close(json, '}');
		}
	}
	json_close(json, ']');
}

/* One entry per component, at the place of its first line. */
static void write_lines(struct json_writer *json, const struct vc_line *lines, uint32_t count)
{
	json_open(json, "components", '[');
	for (uint32_t i = 0; i < count; i++) {
		enum vc_component component = lines[i].component;
		uint64_t bytes = 0;
		uint32_t before = 0, all = 0;

		for (uint32_t j = 0; j < count; j++) {
			bool same = lines[j].component == component;

			before += same && j < i;
			all += same;
			/* Part of a total that was checked: it cannot overflow. */
			bytes += same ? lines[j].bytes : 0;
		}
		if (before > 0) {
			continue;
		}
		json_open(json, NULL, '{');
		json_text(json, "name", vc_component_name(component));
		json_u64(json, "bytes", bytes);
		write_range(json, lines, count, component);
		if (all == 1) {
			if (lines[i].role) {
				json_text(json, "role", lines[i].role);
			}
			write_derivation(json, &lines[i]);
		} else {
			write_parts(json, lines, count, component);
		}
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void write_ledger(struct json_writer *json, const struct vc_ledger *ledger)
{
	json_u64(json, "total_bytes", ledger->total_bytes);
	json_u64(json, "recommended_bytes", ledger->recommended_bytes);
	json_u64(json, "low_bytes", ledger->low_bytes);
	json_u64(json, "high_bytes", ledger->high_bytes);
	json_u64(json, "need_bytes", ledger->need_bytes);
	json_u64(json, "gpus", ledger->gpus);
	write_lines(json, ledger->lines, ledger->line_count);
	json_open(json, "phases", '[');
	for (uint32_t i = 0; i < ledger->phase_count; i++) {
		json_open_line(json, NULL, '{');
		json_text(json, "name", ledger->phases[i].name);
		json_u64(json, "total_bytes", ledger->phases[i].total_bytes);
		json_close(json, '}');
	}
	json_close(json, ']');
	json_open(json, "host", '{');
	json_u64(json, "total_bytes", ledger->host.total_bytes);
	write_lines(json, ledger->host.lines, ledger->host.line_count);
	json_close(json, '}');
}

static void write_layout(struct json_writer *json, const struct vc_parallelism *layout)
{
	json_open_line(json, "layout", '{');
	json_u64(json, "tensor", layout->tensor);
	json_u64(json, "pipeline", layout->pipeline);
	json_u64(json, "data", layout->data);
	json_u64(json, "zero_stage", layout->zero_stage);
	json_u64(json, "context", layout->context);
	json_u64(json, "expert", layout->expert);
	json_close(json, '}');
}

static void write_estimates(struct json_writer *json, const struct plan *plan)
{
	char engine[64];

	json_open(json, "estimates", '{');
	json_open(json, "rule", '{');
	write_ledger(json, &plan->rule);
	json_u64(json, "overhead_bytes", plan->request.rule.overhead_bytes);
	json_ratio(json, "margin", plan->request.rule.margin_ppm, 1000000);
	json_close(json, '}');
	if (plan->has_detailed) {
		json_open(json, "detailed", '{');
		json_text(json, "gpu", plan->detailed_for->gpu->id);
		name_of_engine(engine, sizeof engine, &plan->request.engine);
		text_or_null(json, "engine", engine);
		write_layout(json, &plan->detailed_for->layout);
		write_ledger(json, &plan->detailed);
		json_close(json, '}');
	} else {
		json_null(json, "detailed");
	}
	json_close(json, '}');
}

/* ---- GPUs ---- */

static void write_communication(struct json_writer *json, const struct vc_candidate *candidate)
{
	const struct vc_traffic *traffic = &candidate->traffic;
	uint64_t mbs = vc_interconnect_mbs(candidate->gpu, traffic->slowest);

	if (traffic->slowest == VC_INTERCONNECT_NONE) {
		json_null(json, "communication");
		return;
	}
	json_open_line(json, "communication", '{');
	json_text(json, "over", vc_interconnect_name(traffic->slowest));
	json_u64(json, "sent_bytes", traffic->bytes);
	if (mbs) {
		json_u64(json, "bytes_per_second", mbs * 1000000);
	} else {
		json_null(json, "bytes_per_second");
	}
	json_bool(json, "tensor_over_pcie", candidate->tensor_over_pcie);
	json_close(json, '}');
}

static void write_gpu(struct json_writer *json, const struct vc_candidate *candidate, size_t rank)
{
	const struct vc_gpu *gpu = candidate->gpu;

	json_open(json, NULL, '{');
	json_u64(json, "rank", rank);
	json_text(json, "id", gpu->id);
	json_text(json, "name", gpu->name);
	json_u64(json, "memory_bytes", gpu->memory_bytes);
	if (gpu->driver_bytes) {
		json_u64(json, "driver_bytes", gpu->driver_bytes);
	} else {
		json_null(json, "driver_bytes");
	}
	json_bool(json, "fits", candidate->verdict == VC_VERDICT_FITS);
	json_text(json, "verdict", vc_verdict_name(candidate->verdict));
	json_u64(json, "need_bytes", candidate->need_bytes);
	json_u64(json, "have_bytes", candidate->have_bytes);
	json_u64(json, "total_bytes", candidate->total_bytes);
	if (candidate->gpus_needed) {
		json_u64(json, "gpus_needed", candidate->gpus_needed);
	} else {
		json_null(json, "gpus_needed");
	}
	json_u64(json, "gpus", candidate->gpus);
	json_i64(json, "headroom_bytes", candidate->headroom_bytes);
	write_layout(json, &candidate->layout);
	json_bool(json, "precision_supported", candidate->precision_supported);
	write_communication(json, candidate);
	json_u64(json, "host_bytes", candidate->host_bytes);
	json_bool(json, "over_budget", candidate->over_budget);
	json_text(json, "origin", gpu->origin);
	json_price(json, "price", gpu, candidate->gpus);
	json_close(json, '}');
}

static void write_rows(struct json_writer *json, const struct plan *plan, plan_list *list)
{
	struct table table;

	if (plan->count && list(plan, &table)) {
		table_json(json, &table);
		free((void *)table.rows);
	}
}

static void write_share(struct json_writer *json, const struct vc_slice *slice)
{
	const struct vc_price *price = &slice->gpu->price;

	if (!price->known) {
		json_null(json, "price_share");
		return;
	}
	json_open(json, "price_share", '{');
	json_ratio(json, "per_hour", plan_share_micros(slice), 1000000);
	json_ratio(json, "gpu_per_hour", price->per_hour_micros, 1000000);
	json_text(json, "currency", price->currency);
	text_or_null(json, "offer", price->offer);
	text_or_null(json, "as_of", price->as_of);
	json_text(json, "origin", price->origin);
	json_close(json, '}');
}

static void write_slice(struct json_writer *json, const struct vc_slice *slice)
{
	json_open(json, NULL, '{');
	json_text(json, "gpu", slice->gpu->id);
	json_text(json, "profile", slice->profile->name);
	json_u64(json, "compute_slices", slice->profile->compute);
	json_u64(json, "memory_bytes", slice->profile->memory_bytes);
	json_u64(json, "need_bytes", slice->need_bytes);
	json_u64(json, "headroom_bytes", slice->headroom_bytes);
	json_ratio(json, "memory_share", slice->share_ppm, 1000000);
	json_u64(json, "instances", slice->instances);
	json_open_line(json, "starts", '[');
	for (uint32_t i = 0; i < slice->instances; i++) {
		json_u64(json, NULL, slice->starts[i]);
	}
	json_close(json, ']');
	write_share(json, slice);
	json_close(json, '}');
}

static void write_slices(struct json_writer *json, const struct plan *plan)
{
	const struct vc_slice *slices;
	struct table table;

	if (!plan_slices(plan, &table)) {
		return;
	}
	slices = table.rows;
	json_open(json, "slices", '[');
	for (size_t i = 0; i < table.row_count; i++) {
		write_slice(json, &slices[i]);
	}
	json_close(json, ']');
	free((void *)table.rows);
}

static void write_serving(struct json_writer *json, const struct plan *plan)
{
	const struct vc_serving *serving = &plan->detailed.serving;

	if (!plan->has_detailed || !serving->known || plan->count != 1) {
		return;
	}
	json_open(json, "serving", '{');
	json_text(json, "gpu", plan->detailed_for->gpu->id);
	json_u64(json, "kv_bytes_available", serving->kv_bytes_available);
	json_u64(json, "kv_tokens", serving->kv_tokens);
	json_ratio(json, "max_concurrency", serving->max_concurrency_milli, 1000);
	json_close(json, '}');
}

static void write_notes(struct json_writer *json, const struct plan *plan)
{
	char text[PLAN_TEXT];
	const char *code;

	json_open(json, "notes", '[');
	for (size_t i = 0; (code = plan_note(plan, UNIT_GB, i, text)) != NULL; i++) {
		json_open(json, NULL, '{');
		json_text(json, "code", code);
		json_text(json, "text", text);
		json_close(json, '}');
	}
	json_close(json, ']');
}

void plan_print_json(struct json_writer *json, const struct plan *plan)
{
	json_open(json, NULL, '{');
	json_text(json, "schema", "vramcalc/plan/v1");
	json_text(json, "vramcalc", VC_VERSION_STRING);
	json_text(json, "spec", plan->spec->source);
	write_model(json, plan);
	write_workload(json, &plan->request);
	write_training(json, &plan->request);
	json_text(json, "method", name_of_method(plan->request.method));
	write_estimates(json, plan);
	json_open(json, "gpus", '[');
	for (size_t i = 0; i < plan->count; i++) {
		write_gpu(json, &plan->candidates[i], i + 1);
	}
	json_close(json, ']');
	if (plan->arguments->layouts) {
		write_rows(json, plan, plan_layouts);
	}
	if (plan->arguments->mig) {
		write_slices(json, plan);
	}
	if (plan->arguments->instances) {
		write_rows(json, plan, plan_instances);
	}
	write_serving(json, plan);
	write_notes(json, plan);
	json_close(json, '}');
}
