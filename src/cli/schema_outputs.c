/* The fields of every JSON output that the interface fixes; docs/json.md explains them. */
#include "schema.h"

#define MUST(p, t)                                                                                 \
	{                                                                                          \
		.path = (p), .type = (t), .required = true                                         \
	}
#define MUST_OR_NULL(p, t)                                                                         \
	{                                                                                          \
		.path = (p), .type = (t), .required = true, .nullable = true                       \
	}
#define MAY(p, t)                                                                                  \
	{                                                                                          \
		.path = (p), .type = (t), .nullable = true                                         \
	}
#define SCHEMA(name)                                                                               \
	{                                                                                          \
		.path = "schema", .type = SCHEMA_TEXT, .required = true, .constant = (name)        \
	}

/* A method's ledger at a path; the two share these fields. */
#define LINES(p)                                                                                   \
	MUST(p "[].name", SCHEMA_TEXT), MUST(p "[].bytes", SCHEMA_BYTES),                          \
	        MUST(p "[].formula", SCHEMA_TEXT), MUST(p "[].inputs", SCHEMA_OBJECT),             \
	        MAY(p "[].low_bytes", SCHEMA_BYTES), MAY(p "[].high_bytes", SCHEMA_BYTES),         \
	        MAY(p "[].role", SCHEMA_TEXT), MAY(p "[].parts[].role", SCHEMA_TEXT),              \
	        MAY(p "[].parts[].bytes", SCHEMA_BYTES), MAY(p "[].parts[].formula", SCHEMA_TEXT), \
	        MAY(p "[].parts[].inputs", SCHEMA_OBJECT)
#define LEDGER(p)                                                                                  \
	MUST(p ".total_bytes", SCHEMA_BYTES), MUST(p ".recommended_bytes", SCHEMA_BYTES),          \
	        MUST(p ".low_bytes", SCHEMA_BYTES), MUST(p ".high_bytes", SCHEMA_BYTES),           \
	        MUST(p ".need_bytes", SCHEMA_BYTES), MUST(p ".gpus", SCHEMA_BYTES),                \
	        LINES(p ".components"), MUST(p ".phases[].name", SCHEMA_TEXT),                     \
	        MUST(p ".phases[].total_bytes", SCHEMA_BYTES),                                     \
	        MUST(p ".host.total_bytes", SCHEMA_BYTES), LINES(p ".host.components")
#define LAYOUT(p)                                                                                  \
	MUST(p ".tensor", SCHEMA_BYTES), MUST(p ".pipeline", SCHEMA_BYTES),                        \
	        MUST(p ".data", SCHEMA_BYTES), MUST(p ".zero_stage", SCHEMA_BYTES),                \
	        MUST(p ".context", SCHEMA_BYTES), MUST(p ".expert", SCHEMA_BYTES)
/* Where a GPU comes from, and what so many of it cost. */
#define PRICE(p)                                                                                   \
	MUST(p ".per_hour", SCHEMA_NUMBER), MUST(p ".per_gpu_hour", SCHEMA_NUMBER),                \
	        MUST(p ".currency", SCHEMA_TEXT), MUST_OR_NULL(p ".offer", SCHEMA_TEXT),           \
	        MUST_OR_NULL(p ".as_of", SCHEMA_TEXT), MUST_OR_NULL(p ".origin", SCHEMA_TEXT)
#define ORIGIN(p)                                                                                  \
	MUST_OR_NULL(p "origin", SCHEMA_TEXT), MUST_OR_NULL(p "price", SCHEMA_OBJECT),             \
	        PRICE(p "price")
#define MAY_ORIGIN(p) MAY(p "origin", SCHEMA_TEXT), MAY(p "price", SCHEMA_OBJECT), PRICE(p "price")
#define ADVISED_PLAN(p)                                                                            \
	MUST(p ".steps[].measure", SCHEMA_TEXT), MUST(p ".steps[].set", SCHEMA_OBJECT),            \
	        MUST(p ".steps[].saves_bytes", SCHEMA_BYTES),                                      \
	        MUST(p ".steps[].cost", SCHEMA_TEXT),                                              \
	        MUST_OR_NULL(p ".steps[].call", SCHEMA_TEXT), MUST(p ".gpu", SCHEMA_TEXT),         \
	        ORIGIN(p "."), MUST(p ".total_bytes", SCHEMA_BYTES),                               \
	        MUST(p ".need_bytes", SCHEMA_BYTES), MUST(p ".verdict", SCHEMA_TEXT)

static const struct schema_field plan_fields[] = {
	SCHEMA("vramcalc/plan/v1"),
	MUST("vramcalc", SCHEMA_TEXT),
	MUST("spec", SCHEMA_TEXT),
	MUST_OR_NULL("model.name", SCHEMA_TEXT),
	MUST("model.parameters", SCHEMA_BYTES),
	MUST("model.active_parameters", SCHEMA_BYTES),
	MUST_OR_NULL("model.family", SCHEMA_TEXT),
	MUST("model.source", SCHEMA_TEXT),
	MAY("model.tensors[].place", SCHEMA_TEXT),
	MAY("model.tensors[].tensor", SCHEMA_TEXT),
	MAY("model.tensors[].out", SCHEMA_BYTES),
	MAY("model.tensors[].in", SCHEMA_BYTES),
	MAY("model.tensors[].bias", SCHEMA_BYTES),
	MAY("model.tensors[].times", SCHEMA_BYTES),
	MAY("model.tensors[].parameters", SCHEMA_BYTES),
	MAY("model.tensors[].remark", SCHEMA_TEXT),
	MUST("workload.task", SCHEMA_TEXT),
	MUST("workload.precision", SCHEMA_TEXT),
	MUST("workload.quantization", SCHEMA_TEXT),
	MUST("workload.batch_size", SCHEMA_BYTES),
	MUST("workload.sequence_length", SCHEMA_BYTES),
	MUST("workload.concurrency", SCHEMA_BYTES),
	MUST("workload.kv_cache_precision", SCHEMA_TEXT),
	MUST("workload.attn_implementation", SCHEMA_TEXT),
	MUST_OR_NULL("training", SCHEMA_OBJECT),
	MUST("training.method", SCHEMA_TEXT),
	MUST("training.optimizer", SCHEMA_TEXT),
	MUST("training.optimizer_implementation", SCHEMA_TEXT),
	MUST("training.optimizer_in_backward", SCHEMA_FLAG),
	MUST("training.distributed_optimizer", SCHEMA_FLAG),
	MUST("training.mixed_precision", SCHEMA_TEXT),
	MUST_OR_NULL("training.adapter_precision", SCHEMA_TEXT),
	MUST_OR_NULL("training.gradient_precision", SCHEMA_TEXT),
	MUST("training.gradient_checkpointing", SCHEMA_TEXT),
	MUST("training.loss_implementation", SCHEMA_TEXT),
	MUST("training.compile", SCHEMA_FLAG),
	MUST("training.gradient_accumulation", SCHEMA_BYTES),
	MUST_OR_NULL("training.lora_rank", SCHEMA_BYTES),
	MUST("method", SCHEMA_TEXT),
	LEDGER("estimates.rule"),
	MUST("estimates.rule.overhead_bytes", SCHEMA_BYTES),
	MUST("estimates.rule.margin", SCHEMA_NUMBER),
	MUST_OR_NULL("estimates.detailed", SCHEMA_OBJECT),
	MUST("estimates.detailed.gpu", SCHEMA_TEXT),
	MUST_OR_NULL("estimates.detailed.engine", SCHEMA_TEXT),
	LAYOUT("estimates.detailed.layout"),
	LEDGER("estimates.detailed"),
	MUST("gpus[].rank", SCHEMA_BYTES),
	MUST("gpus[].id", SCHEMA_TEXT),
	MUST("gpus[].name", SCHEMA_TEXT),
	MUST("gpus[].memory_bytes", SCHEMA_BYTES),
	MUST_OR_NULL("gpus[].driver_bytes", SCHEMA_BYTES),
	MUST("gpus[].fits", SCHEMA_FLAG),
	MUST("gpus[].verdict", SCHEMA_TEXT),
	MUST("gpus[].need_bytes", SCHEMA_BYTES),
	MUST("gpus[].have_bytes", SCHEMA_BYTES),
	MUST("gpus[].total_bytes", SCHEMA_BYTES),
	MUST_OR_NULL("gpus[].gpus_needed", SCHEMA_BYTES),
	MUST("gpus[].gpus", SCHEMA_BYTES),
	MUST("gpus[].headroom_bytes", SCHEMA_INTEGER),
	LAYOUT("gpus[].layout"),
	MUST("gpus[].precision_supported", SCHEMA_FLAG),
	MAY("gpus[].communication", SCHEMA_OBJECT),
	MUST("gpus[].communication.over", SCHEMA_TEXT),
	MUST("gpus[].communication.sent_bytes", SCHEMA_BYTES),
	MUST_OR_NULL("gpus[].communication.bytes_per_second", SCHEMA_BYTES),
	MUST("gpus[].communication.tensor_over_pcie", SCHEMA_FLAG),
	MAY("gpus[].host_bytes", SCHEMA_BYTES),
	MAY("gpus[].over_budget", SCHEMA_FLAG),
	ORIGIN("gpus[]."),
	MAY("layouts[].gpu", SCHEMA_TEXT),
	MAY("layouts[].gpus", SCHEMA_BYTES),
	MAY("layouts[].tensor", SCHEMA_BYTES),
	MAY("layouts[].pipeline", SCHEMA_BYTES),
	MAY("layouts[].data", SCHEMA_BYTES),
	MAY("layouts[].expert", SCHEMA_BYTES),
	MAY("layouts[].zero_stage", SCHEMA_BYTES),
	MAY("layouts[].need_bytes", SCHEMA_BYTES),
	MAY("layouts[].headroom_bytes", SCHEMA_INTEGER),
	MAY("layouts[].sent_bytes", SCHEMA_BYTES),
	MAY("layouts[].interconnect", SCHEMA_TEXT),
	MAY("layouts[].verdict", SCHEMA_TEXT),
	MAY("layouts[].reason", SCHEMA_TEXT),
	MAY("layouts[].why", SCHEMA_TEXT),
	MAY("slices[].gpu", SCHEMA_TEXT),
	MAY("slices[].profile", SCHEMA_TEXT),
	MAY("slices[].compute_slices", SCHEMA_BYTES),
	MAY("slices[].memory_bytes", SCHEMA_BYTES),
	MAY("slices[].need_bytes", SCHEMA_BYTES),
	MAY("slices[].headroom_bytes", SCHEMA_INTEGER),
	MAY("slices[].memory_share", SCHEMA_NUMBER),
	MAY("slices[].instances", SCHEMA_BYTES),
	MAY("slices[].starts", SCHEMA_COUNTS),
	MAY("slices[].price_share", SCHEMA_OBJECT),
	MUST("slices[].price_share.per_hour", SCHEMA_NUMBER),
	MUST("slices[].price_share.gpu_per_hour", SCHEMA_NUMBER),
	MUST("slices[].price_share.currency", SCHEMA_TEXT),
	MUST_OR_NULL("slices[].price_share.offer", SCHEMA_TEXT),
	MUST_OR_NULL("slices[].price_share.as_of", SCHEMA_TEXT),
	MUST_OR_NULL("slices[].price_share.origin", SCHEMA_TEXT),
	MAY("instances[].spec", SCHEMA_TEXT),
	MAY("instances[].cloud", SCHEMA_TEXT),
	MAY("instances[].region", SCHEMA_TEXT),
	MAY("instances[].instance", SCHEMA_TEXT),
	MAY("instances[].instances", SCHEMA_BYTES),
	MAY("instances[].gpu", SCHEMA_TEXT),
	MAY("instances[].gpus", SCHEMA_BYTES),
	MAY("instances[].gpus_used", SCHEMA_BYTES),
	MAY("instances[].layout", SCHEMA_TEXT),
	MAY("instances[].need_bytes", SCHEMA_BYTES),
	MAY("instances[].headroom_bytes", SCHEMA_INTEGER),
	MAY("instances[].host_bytes", SCHEMA_BYTES),
	MAY("instances[].host_per_vram", SCHEMA_NUMBER),
	MAY("instances[].on_demand", SCHEMA_NUMBER),
	MAY("instances[].spot", SCHEMA_NUMBER),
	MAY("instances[].spot_assumed", SCHEMA_FLAG),
	MAY("instances[].run", SCHEMA_NUMBER),
	MAY("instances[].spot_run", SCHEMA_NUMBER),
	MAY("instances[].currency", SCHEMA_TEXT),
	MAY("instances[].as_of", SCHEMA_TEXT),
	MAY("instances[].source", SCHEMA_TEXT),
	MAY("instances[].origin", SCHEMA_TEXT),
	MAY("serving", SCHEMA_OBJECT),
	MUST("serving.gpu", SCHEMA_TEXT),
	MUST("serving.kv_bytes_available", SCHEMA_BYTES),
	MUST("serving.kv_tokens", SCHEMA_BYTES),
	MUST("serving.max_concurrency", SCHEMA_NUMBER),
	MUST("notes[].code", SCHEMA_TEXT),
	MUST("notes[].text", SCHEMA_TEXT),
};

static const struct schema_field check_fields[] = {
	SCHEMA("vramcalc/check/v1"),
	MUST("pass", SCHEMA_FLAG),
	MUST("results[].spec", SCHEMA_TEXT),
	MUST_OR_NULL("results[].gpu", SCHEMA_TEXT),
	MUST("results[].kind", SCHEMA_TEXT),
	MUST("results[].pass", SCHEMA_FLAG),
	MUST("results[].need_bytes", SCHEMA_BYTES),
	MUST("results[].have_bytes", SCHEMA_BYTES),
	MUST("results[].short_by_bytes", SCHEMA_BYTES),
	MUST_OR_NULL("results[].remedy", SCHEMA_OBJECT),
	ORIGIN("results[]."),
	MUST("results[].message", SCHEMA_TEXT),
};

static const struct schema_field diff_fields[] = {
	SCHEMA("vramcalc/diff/v1"),
	MUST("old", SCHEMA_TEXT),
	MUST("new", SCHEMA_TEXT),
	MUST("old_bytes", SCHEMA_BYTES),
	MUST("new_bytes", SCHEMA_BYTES),
	MUST("components[].component", SCHEMA_TEXT),
	MUST("components[].old_bytes", SCHEMA_BYTES),
	MUST("components[].new_bytes", SCHEMA_BYTES),
	MUST("components[].change_bytes", SCHEMA_INTEGER),
	MUST("fields[].field", SCHEMA_TEXT),
	MUST("fields[].old", SCHEMA_TEXT),
	MUST("fields[].new", SCHEMA_TEXT),
	MUST("gpus[].id", SCHEMA_TEXT),
	ORIGIN("gpus[]."),
};

static const struct schema_field pack_fields[] = {
	SCHEMA("vramcalc/pack/v1"),
	MUST("gpus[].gpu", SCHEMA_TEXT),
	MUST("gpus[].index", SCHEMA_BYTES),
	MUST("gpus[].mig", SCHEMA_FLAG),
	MUST("gpus[].placements[].spec", SCHEMA_TEXT),
	MUST_OR_NULL("gpus[].placements[].profile", SCHEMA_TEXT),
	MUST_OR_NULL("gpus[].placements[].start", SCHEMA_BYTES),
	MUST("gpus[].placements[].memory_bytes", SCHEMA_BYTES),
	MUST("gpus[].placements[].need_bytes", SCHEMA_BYTES),
	MUST("gpus[].free_bytes", SCHEMA_BYTES),
	MUST("unplaced", SCHEMA_TEXTS),
	MUST_OR_NULL("price_per_hour", SCHEMA_NUMBER),
	MUST("currency", SCHEMA_TEXT),
	ORIGIN(""),
	MUST("optimal", SCHEMA_FLAG),
};

static const struct schema_field solve_fields[] = {
	SCHEMA("vramcalc/solve/v1"),
	MUST("gpu", SCHEMA_TEXT),
	ORIGIN(""),
	MUST("field", SCHEMA_TEXT),
	MUST_OR_NULL("value", SCHEMA_BYTES),
	MUST("bytes_at_value", SCHEMA_BYTES),
	MUST("bytes_at_next", SCHEMA_BYTES),
	MUST("limit_bytes", SCHEMA_BYTES),
};

static const struct schema_field advise_fields[] = {
	SCHEMA("vramcalc/advise/v1"),
	MUST("gpu", SCHEMA_TEXT),
	ORIGIN(""),
	MUST("fits_as_is", SCHEMA_FLAG),
	MUST("total_bytes", SCHEMA_BYTES),
	MUST("need_bytes", SCHEMA_BYTES),
	MUST("have_bytes", SCHEMA_BYTES),
	ADVISED_PLAN("plans[]"),
	MAY("closest", SCHEMA_OBJECT),
	ADVISED_PLAN("closest"),
};

static const struct schema_field diagnose_fields[] = {
	SCHEMA("vramcalc/diagnose/v1"),
	MUST("file", SCHEMA_TEXT),
	MUST("cause", SCHEMA_TEXT),
	MUST("confidence", SCHEMA_TEXT),
	MUST("reason", SCHEMA_TEXT),
	MUST_OR_NULL("recognized", SCHEMA_TEXT),
	MUST("memory", SCHEMA_TEXT),
	MUST_OR_NULL("evidence.total_bytes", SCHEMA_BYTES),
	MUST_OR_NULL("evidence.requested_bytes", SCHEMA_BYTES),
	MUST_OR_NULL("evidence.allocated_bytes", SCHEMA_BYTES),
	MUST_OR_NULL("evidence.reserved_bytes", SCHEMA_BYTES),
	MUST_OR_NULL("evidence.free_bytes", SCHEMA_BYTES),
	MUST_OR_NULL("evidence.other_processes_bytes", SCHEMA_BYTES),
	MUST_OR_NULL("evidence.limit_bytes", SCHEMA_BYTES),
	MUST_OR_NULL("evidence.process_bytes", SCHEMA_BYTES),
	MUST_OR_NULL("evidence.slope_bytes_per_sample", SCHEMA_INTEGER),
	MAY("evidence.theory_bytes", SCHEMA_BYTES),
	MUST("advice", SCHEMA_TEXTS),
	MAY("gpu", SCHEMA_TEXT),
	MAY_ORIGIN(""),
	MAY("method", SCHEMA_TEXT),
	MAY("fits_as_is", SCHEMA_FLAG),
	ADVISED_PLAN("plans[]"),
	MAY("gpu_layers", SCHEMA_INTEGER),
};

/* A row: what is not required is missing where the spec is wrong; `error` says so then. */
static const struct schema_field compare_fields[] = {
	SCHEMA("vramcalc/compare/v1"),
	MUST("spec", SCHEMA_TEXT),
	MUST("vary", SCHEMA_OBJECT),
	MAY("parameters", SCHEMA_BYTES),
	MAY("rule", SCHEMA_OBJECT),
	MUST("rule.total_bytes", SCHEMA_BYTES),
	MUST("rule.recommended_bytes", SCHEMA_BYTES),
	MAY("detailed", SCHEMA_OBJECT),
	MUST("detailed.gpu", SCHEMA_TEXT),
	MUST("detailed.total_bytes", SCHEMA_BYTES),
	MUST("detailed.low_bytes", SCHEMA_BYTES),
	MUST("detailed.high_bytes", SCHEMA_BYTES),
	MAY("gpus[].id", SCHEMA_TEXT),
	MAY_ORIGIN("gpus[]."),
	MAY("gpus[].fits", SCHEMA_FLAG),
	MAY("gpus[].verdict", SCHEMA_TEXT),
	MAY("gpus[].need_bytes", SCHEMA_BYTES),
	MAY("gpus[].gpus_needed", SCHEMA_BYTES),
	MAY("error", SCHEMA_OBJECT),
	MUST_OR_NULL("error.file", SCHEMA_TEXT),
	MUST("error.line", SCHEMA_BYTES),
	MUST("error.column", SCHEMA_BYTES),
	MUST_OR_NULL("error.field", SCHEMA_TEXT),
	MUST("error.message", SCHEMA_TEXT),
};

static const struct schema_field gpus_fields[] = {
	SCHEMA("vramcalc/gpus/v1"),
	MUST("gpus[].id", SCHEMA_TEXT),
	MUST("gpus[].name", SCHEMA_TEXT),
	MUST("gpus[].family", SCHEMA_TEXT),
	MUST("gpus[].vendor", SCHEMA_TEXT),
	MUST_OR_NULL("gpus[].architecture", SCHEMA_TEXT),
	MUST_OR_NULL("gpus[].compute_capability", SCHEMA_TEXT),
	MUST("gpus[].memory_bytes", SCHEMA_BYTES),
	MUST_OR_NULL("gpus[].driver_bytes", SCHEMA_BYTES),
	MUST_OR_NULL("gpus[].usable_bytes", SCHEMA_BYTES),
	MUST_OR_NULL("gpus[].bandwidth_gbs", SCHEMA_BYTES),
	MUST_OR_NULL("gpus[].link", SCHEMA_TEXT),
	MUST_OR_NULL("gpus[].link_gbs", SCHEMA_BYTES),
	MUST_OR_NULL("gpus[].pcie", SCHEMA_TEXT),
	MUST("gpus[].bf16", SCHEMA_FLAG),
	MUST("gpus[].fp8", SCHEMA_FLAG),
	MUST("gpus[].fp4", SCHEMA_FLAG),
	MUST("gpus[].int8", SCHEMA_FLAG),
	MUST("gpus[].mig", SCHEMA_FLAG),
	MUST_OR_NULL("gpus[].price", SCHEMA_OBJECT),
	MUST("gpus[].verified", SCHEMA_FLAG),
	MUST_OR_NULL("gpus[].origin", SCHEMA_TEXT),
	MUST_OR_NULL("gpus[].sources", SCHEMA_TEXT),
	MUST_OR_NULL("gpus[].note", SCHEMA_TEXT),
};

static const struct schema_field models_fields[] = {
	SCHEMA("vramcalc/models/v1"),
	MUST("models[].id", SCHEMA_TEXT),
	MUST("models[].name", SCHEMA_TEXT),
	MUST("models[].parameters", SCHEMA_BYTES),
	MUST_OR_NULL("models[].family", SCHEMA_TEXT),
	MUST_OR_NULL("models[].layers", SCHEMA_BYTES),
	MUST_OR_NULL("models[].hidden_size", SCHEMA_BYTES),
	MUST("models[].fp16_weight_bytes", SCHEMA_BYTES),
};

static const struct schema_field engines_fields[] = {
	SCHEMA("vramcalc/engines/v1"),
	MUST("engines[].name", SCHEMA_TEXT),
	MUST("engines[].inference", SCHEMA_FLAG),
	MUST("engines[].training", SCHEMA_FLAG),
	MUST("engines[].versions", SCHEMA_TEXT),
	MUST_OR_NULL("engines[].newest", SCHEMA_TEXT),
	MUST("engines[].summary", SCHEMA_TEXT),
	MUST_OR_NULL("engines[].source", SCHEMA_TEXT),
};

static const struct schema_field precisions_fields[] = {
	SCHEMA("vramcalc/precisions/v1"),
	MUST("precisions[].name", SCHEMA_TEXT),
	MUST("precisions[].bytes_per_element", SCHEMA_NUMBER),
	MUST("precisions[].block_elements", SCHEMA_BYTES),
	MUST("precisions[].block_bytes", SCHEMA_BYTES),
	MUST("precisions[].compute", SCHEMA_FLAG),
	MUST("precisions[].summary", SCHEMA_TEXT),
	MUST("quantizations[].name", SCHEMA_TEXT),
	MUST_OR_NULL("quantizations[].element_type", SCHEMA_TEXT),
	MUST_OR_NULL("quantizations[].bytes_per_element", SCHEMA_NUMBER),
	MUST_OR_NULL("quantizations[].group_size", SCHEMA_BYTES),
	MUST("quantizations[].summary", SCHEMA_TEXT),
};

static const struct schema_field offers_fields[] = {
	SCHEMA("vramcalc/offers/v1"),
	MUST("offers[].cloud", SCHEMA_TEXT),
	MUST_OR_NULL("offers[].region", SCHEMA_TEXT),
	MUST("offers[].instance", SCHEMA_TEXT),
	MUST("offers[].gpu", SCHEMA_TEXT),
	MUST_OR_NULL("offers[].gpus", SCHEMA_NUMBER),
	MUST_OR_NULL("offers[].host_bytes", SCHEMA_BYTES),
	MUST("offers[].kind", SCHEMA_TEXT),
	MUST_OR_NULL("offers[].on_demand", SCHEMA_NUMBER),
	MUST_OR_NULL("offers[].on_demand_per_gpu", SCHEMA_NUMBER),
	MUST_OR_NULL("offers[].on_demand_per_gb", SCHEMA_NUMBER),
	MUST_OR_NULL("offers[].spot", SCHEMA_NUMBER),
	MUST_OR_NULL("offers[].spot_per_gpu", SCHEMA_NUMBER),
	MUST("offers[].spot_assumed", SCHEMA_FLAG),
	MUST_OR_NULL("offers[].run", SCHEMA_NUMBER),
	MUST_OR_NULL("offers[].spot_run", SCHEMA_NUMBER),
	MUST("offers[].currency", SCHEMA_TEXT),
	MUST_OR_NULL("offers[].as_of", SCHEMA_TEXT),
	MUST_OR_NULL("offers[].source", SCHEMA_TEXT),
	MUST_OR_NULL("offers[].note", SCHEMA_TEXT),
	MUST_OR_NULL("offers[].origin", SCHEMA_TEXT),
	MAY("notes[].text", SCHEMA_TEXT),
};

static const struct schema_field platforms_fields[] = {
	SCHEMA("vramcalc/platforms/v1"),
	MUST("as_of", SCHEMA_TEXT),
	MUST("compared", SCHEMA_TEXT),
	MUST("criteria[].id", SCHEMA_TEXT),
	MUST("criteria[].name", SCHEMA_TEXT),
	MUST("criteria[].question", SCHEMA_TEXT),
	MUST("criteria[].rubric", SCHEMA_TEXT),
	MUST("criteria[].weight", SCHEMA_NUMBER),
	MUST("platforms[].id", SCHEMA_TEXT),
	MUST("platforms[].name", SCHEMA_TEXT),
	MUST_OR_NULL("platforms[].local_name", SCHEMA_TEXT),
	MUST("platforms[].kind", SCHEMA_TEXT),
	MUST_OR_NULL("platforms[].score", SCHEMA_NUMBER),
	MUST("platforms[].criteria_known", SCHEMA_BYTES),
	MUST("platforms[].criteria", SCHEMA_OBJECT),
	MUST("platforms[].sizes[].gb", SCHEMA_BYTES),
	MUST("platforms[].sizes[].vendor", SCHEMA_TEXT),
	MUST("platforms[].sizes[].is", SCHEMA_TEXT),
	MUST("platforms[].slices", SCHEMA_TEXTS),
	MUST("platforms[].compliance", SCHEMA_TEXTS),
	MUST("platforms[].images", SCHEMA_TEXTS),
	MUST("platforms[].fits", SCHEMA_TEXTS),
	MUST("platforms[].evidence[].about", SCHEMA_TEXT),
	MUST("platforms[].evidence[].grade", SCHEMA_TEXT),
	MUST("platforms[].evidence[].as_of", SCHEMA_TEXT),
	MUST("platforms[].evidence[].source", SCHEMA_TEXT),
	MUST("platforms[].evidence[].text", SCHEMA_TEXT),
	MUST_OR_NULL("platforms[].evidence[].doubt", SCHEMA_TEXT),
	MUST_OR_NULL("platforms[].evidence[].origin", SCHEMA_TEXT),
	MUST_OR_NULL("platforms[].origin", SCHEMA_TEXT),
};

static const struct schema_field local_fields[] = {
	SCHEMA("vramcalc/local/v1"),
	MUST("gpus[].id", SCHEMA_TEXT),
	MUST("gpus[].name", SCHEMA_TEXT),
	MUST_OR_NULL("gpus[].catalog_id", SCHEMA_TEXT),
	MUST("gpus[].vendor", SCHEMA_TEXT),
	MUST_OR_NULL("gpus[].total_bytes", SCHEMA_BYTES),
	MUST_OR_NULL("gpus[].free_bytes", SCHEMA_BYTES),
	MUST_OR_NULL("gpus[].used_bytes", SCHEMA_BYTES),
	MUST_OR_NULL("gpus[].processes", SCHEMA_BYTES),
	MUST("gpus[].mig", SCHEMA_FLAG),
	MUST_OR_NULL("gpus[].unusable", SCHEMA_TEXT),
};

static const struct schema_field verify_fields[] = {
	SCHEMA("vramcalc/verify/v1"),
	MUST("spec", SCHEMA_TEXT),
	MUST_OR_NULL("engine", SCHEMA_TEXT),
	MUST("gpu", SCHEMA_TEXT),
	ORIGIN(""),
	MUST_OR_NULL("rank", SCHEMA_TEXT),
	MUST("total_bytes", SCHEMA_BYTES),
	MUST("low_bytes", SCHEMA_BYTES),
	MUST("high_bytes", SCHEMA_BYTES),
	MUST("within_range", SCHEMA_FLAG),
	MUST("components[].name", SCHEMA_TEXT),
	MUST("components[].said_bytes", SCHEMA_BYTES),
	MUST_OR_NULL("components[].measured_bytes", SCHEMA_BYTES),
	MUST_OR_NULL("components[].difference_bytes", SCHEMA_INTEGER),
	MUST("components[].by_difference", SCHEMA_FLAG),
	MUST("components[].within_range", SCHEMA_FLAG),
	MUST_OR_NULL("components[].explanation", SCHEMA_TEXT),
	MUST_OR_NULL("kv_tokens", SCHEMA_OBJECT),
	MUST("kv_tokens.said", SCHEMA_BYTES),
	MUST("kv_tokens.measured", SCHEMA_BYTES),
	MUST_OR_NULL("sum", SCHEMA_OBJECT),
	MUST("sum.of", SCHEMA_TEXT),
	MUST("sum.whole_bytes", SCHEMA_BYTES),
	MUST("sum.terms_bytes", SCHEMA_BYTES),
	MUST("sum.closes", SCHEMA_FLAG),
	MUST_OR_NULL("sum.absent", SCHEMA_TEXT),
	MUST("settings[].field", SCHEMA_TEXT),
	MUST("settings[].log", SCHEMA_TEXT),
	MUST_OR_NULL("settings[].spec", SCHEMA_TEXT),
	MUST("settings[].contradicts", SCHEMA_FLAG),
};

#define OUTPUT(n, f)                                                                               \
	{                                                                                          \
		(n), (f), sizeof(f) / sizeof *(f)                                                  \
	}

static const struct schema_output outputs[] = {
	OUTPUT("plan", plan_fields),           OUTPUT("check", check_fields),
	OUTPUT("diff", diff_fields),           OUTPUT("pack", pack_fields),
	OUTPUT("solve", solve_fields),         OUTPUT("advise", advise_fields),
	OUTPUT("diagnose", diagnose_fields),   OUTPUT("compare", compare_fields),
	OUTPUT("gpus", gpus_fields),           OUTPUT("models", models_fields),
	OUTPUT("engines", engines_fields),     OUTPUT("precisions", precisions_fields),
	OUTPUT("platforms", platforms_fields), OUTPUT("offers", offers_fields),
	OUTPUT("verify", verify_fields),       OUTPUT("local", local_fields),
};

const struct schema_output *schema_output_at(size_t index)
{
	return index < sizeof outputs / sizeof *outputs ? &outputs[index] : NULL;
}
