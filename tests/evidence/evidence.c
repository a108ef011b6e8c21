/*
 * Holds the detailed method against measured memory: evidence DIR GROUP. Reads
 * DIR/cases/GROUP.jsonl (a spec, a GPU and one published figure a line), prints the error per
 * quantity and fails where one is worse than DIR/bounds.csv allows. Cases that say what their
 * source left out ("unsaid") are printed and not judged. See README.md beside this file.
 */
#include "catalog.h"
#include "json_read.h"
#include "spec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_CASES = 4096,
	MAX_QUANTITIES = 16,
	MAX_PATH_BYTES = 1024
};

/* What a case measures, and the components whose sum it is held against. */
struct quantity {
	const char *name;
	uint32_t components; /* bits 1 << vc_component */
};

#define BIT(component) (1u << VC_COMPONENT_##component)
#define ALL            ((1u << VC_COMPONENT_COUNT) - 1)

static const struct quantity quantities[MAX_QUANTITIES] = {
	{ "weights", BIT(WEIGHTS) | BIT(ADAPTERS) },
	{ "kv_cache", BIT(KV_CACHE) | BIT(RECURRENT_STATE) },
	{ "activation_peak", BIT(ACTIVATIONS) | BIT(LOGITS) },
	{ "compute_buffer", BIT(ACTIVATIONS) | BIT(LOGITS) },
	{ "non_torch", BIT(FRAMEWORK) | BIT(COMMUNICATION) },
	{ "cuda_graphs", BIT(CUDA_GRAPHS) },
	{ "static", BIT(WEIGHTS) | BIT(ADAPTERS) | BIT(GRADIENTS) | BIT(MASTER_WEIGHTS) |
	                    BIT(OPTIMIZER_STATES) },
	{ "total_allocated", ALL & ~BIT(FRAMEWORK) & ~BIT(FRAGMENTATION) },
	{ "total_reserved", ALL & ~BIT(FRAMEWORK) },
	{ "process_nvidia_smi", ALL },
	{ "kv_pool", 0 },
	{ "kv_tokens", 0 },
	{ "outcome", 0 },
};

/* Errors of one quantity, as shares; for outcomes 1 where the verdict is wrong. */
struct tally {
	size_t count, inside, ranged, tight, failed;
	double errors[MAX_CASES];
};

struct run {
	const char *folder;
	struct tally tallies[MAX_QUANTITIES];
	size_t unsaid;
};

static const char *text_of(const cJSON *object, const char *key)
{
	const cJSON *item = json_member(object, key, strlen(key));

	return cJSON_IsString(item) ? item->valuestring : NULL;
}

static double number_of(const cJSON *object, const char *key, double fallback)
{
	const cJSON *item = json_member(object, key, strlen(key));

	return cJSON_IsNumber(item) ? item->valuedouble : fallback;
}

static size_t quantity_of(const char *name)
{
	size_t i = 0;

	while (i < MAX_QUANTITIES && quantities[i].name && strcmp(quantities[i].name, name) != 0) {
		i++;
	}
	return i;
}

static double predicted(const struct vc_ledger *ledger, size_t quantity)
{
	double sum = 0;

	if (strcmp(quantities[quantity].name, "kv_pool") == 0) {
		return (double)ledger->serving.kv_bytes_available;
	}
	if (strcmp(quantities[quantity].name, "kv_tokens") == 0) {
		return (double)ledger->serving.kv_tokens;
	}
	for (int i = 0; i < VC_COMPONENT_COUNT; i++) {
		if (quantities[quantity].components >> i & 1) {
			sum += (double)vc_ledger_component(ledger, (enum vc_component)i);
		}
	}
	return sum;
}

/* The range of the components' own lines: false where they have none. */
static bool component_range(const struct vc_ledger *ledger, size_t quantity, double range[2])
{
	uint32_t components = quantities[quantity].components;
	bool ranged = false;

	if (strcmp(quantities[quantity].name, "kv_pool") == 0) {
		components = BIT(KV_CACHE);
	}
	range[0] = range[1] = 0;
	for (uint32_t i = 0; i < ledger->line_count; i++) {
		const struct vc_line *line = &ledger->lines[i];

		if (components >> line->component & 1) {
			ranged |= line->high_bytes > 0;
			range[0] += (double)(line->high_bytes ? line->low_bytes : line->bytes);
			range[1] += (double)(line->high_bytes ? line->high_bytes : line->bytes);
		}
	}
	return ranged;
}

/* Of sums of most components the ledger's own range holds, in proportion. */
static bool range_of(const struct vc_ledger *ledger, size_t quantity, double said, double range[2])
{
	double total = (double)ledger->total_bytes;
	bool most = quantities[quantity].components & BIT(WEIGHTS) &&
	            quantities[quantity].components & BIT(KV_CACHE);

	if (!most && component_range(ledger, quantity, range)) {
		return true;
	}
	if (quantities[quantity].components == 0 || total <= 0) {
		return false;
	}
	range[0] = said * (double)ledger->low_bytes / total;
	range[1] = said * (double)ledger->high_bytes / total;
	return true;
}

static void report(const cJSON *item, const char *verdict, double said, double measured)
{
	printf("  %-9s %+8.2f %%  said %16.0f  measured %16.0f  %s\n", verdict,
	       100 * (said / measured - 1), said, measured, text_of(item, "id"));
}

static void judge_outcome(struct run *run, const cJSON *item, const struct vc_ledger *ledger,
                          const struct vc_gpu *gpu)
{
	struct tally *tally = &run->tallies[quantity_of("outcome")];
	const cJSON *measured = json_member(item, "measured", strlen("measured"));
	bool fits = strcmp(text_of(measured, "value"), "fits") == 0;
	uint64_t have = gpu->usable_bytes ? gpu->usable_bytes : gpu->memory_bytes;
	bool tight = have < ledger->need_bytes && have >= ledger->need_expected_bytes;
	bool wrong = !tight && (have >= ledger->need_bytes) != fits;

	tally->errors[tally->count++] = wrong;
	tally->tight += tight;
	if (wrong) {
		printf("  outcome   %s, not so: %s\n", fits ? "fits" : "oom", text_of(item, "id"));
	}
}

static void judge_figure(struct run *run, const cJSON *item, size_t quantity,
                         const struct vc_ledger *ledger)
{
	struct tally *tally = &run->tallies[quantity];
	const cJSON *measured = json_member(item, "measured", strlen("measured"));
	bool per_gpu = cJSON_IsTrue(json_member(measured, "per_gpu", strlen("per_gpu")));
	double wanted = number_of(measured, "bytes", number_of(measured, "value", 0));
	double gpus = per_gpu ? 1 : number_of(item, "gpus", 1), range[2];
	double said = predicted(ledger, quantity) * gpus;
	double error = wanted > 0 ? said / wanted - 1 : 0;

	if (text_of(item, "unsaid")) {
		report(item, "unsaid", said, wanted);
		run->unsaid++;
		return;
	}
	tally->errors[tally->count++] = fabs(error);
	if (range_of(ledger, quantity, said / gpus, range)) {
		tally->ranged++;
		tally->inside += range[0] * gpus <= wanted && wanted <= range[1] * gpus;
	}
	if (fabs(error) > 0.1) {
		report(item, "far off", said, wanted);
	}
}

static bool estimate(const cJSON *item, const struct vc_gpu *gpu, const char *folder,
                     struct vc_ledger *ledger)
{
	char *text = cJSON_PrintUnformatted(json_member(item, "spec", strlen("spec")));
	struct vc_spec_text source = {
		.name = text_of(item, "id"), .text = text, .length = strlen(text), .folder = folder
	};
	struct vc_error_list errors = { 0 };
	struct vc_error error = { 0 };
	struct vc_spec spec;
	char line[VC_ERROR_TEXT];
	enum vc_status status = vc_spec_read_memory(&source, NULL, &spec, &errors);

	if (status == VC_OK) {
		struct vc_request request = spec.request;

		request.method = VC_METHOD_DETAILED;
		request.gpu = gpu;
		memset(ledger, 0, sizeof *ledger);
		status = vc_estimate(&request, ledger, &error);
		vc_spec_free(&spec);
	} else {
		error = errors.errors[0];
	}
	if (status != VC_OK) {
		printf("  no prediction for %s: %s\n", text_of(item, "id"),
		       vc_error_format(&error, line));
	}
	cJSON_free(text);
	return status == VC_OK;
}

static void judge(struct run *run, const cJSON *item)
{
	static struct vc_ledger ledger;
	const cJSON *measured = json_member(item, "measured", strlen("measured"));
	size_t quantity = quantity_of(text_of(measured, "what"));
	const char *name = text_of(item, "gpu");
	const struct vc_gpu *gpu = NULL;

	/* Weights hardly depend on the GPU: where a source names none, one is taken. */
	if (quantity >= MAX_QUANTITIES || !quantities[quantity].name ||
	    vc_catalog_find(&vc_catalog_builtin, name ? name : "a100-80gb-sxm", &gpu, 1) == 0 ||
	    !estimate(item, gpu, run->folder, &ledger)) {
		if (quantity < MAX_QUANTITIES) {
			run->tallies[quantity].failed++;
		}
		return;
	}
	if (strcmp(quantities[quantity].name, "outcome") == 0) {
		judge_outcome(run, item, &ledger, gpu);
	} else {
		judge_figure(run, item, quantity, &ledger);
	}
}

static bool read_cases(struct run *run, const char *path)
{
	FILE *file = fopen(path, "r");
	char *line = NULL;
	size_t room = 0;
	ssize_t length;
	bool ok = true;

	if (!file) {
		fprintf(stderr, "%s: cannot be read\n", path);
		return false;
	}
	while (ok && (length = getline(&line, &room, file)) > 0) {
		struct vc_error error;
		cJSON *item = json_parse(line, (size_t)length, &error);

		ok = item != NULL;
		if (ok) {
			judge(run, item);
		} else {
			fprintf(stderr, "%s: not JSON: %.60s\n", path, line);
		}
		cJSON_Delete(item);
	}
	free(line);
	fclose(file);
	return ok;
}

static int ascending(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Of sorted errors. */
static double quantile(const struct tally *tally, double share)
{
	size_t at = (size_t)(share * (double)tally->count);

	return tally->errors[at < tally->count ? at : tally->count - 1];
}

static double mean(const struct tally *tally)
{
	double sum = 0;

	for (size_t i = 0; i < tally->count; i++) {
		sum += tally->errors[i];
	}
	return sum / (double)tally->count;
}

/* "group,quantity,median %,90th percentile %": for outcomes the share that is wrong, twice; then,
 * where it is held, the least share of figures within their range. */
static bool bound_of(const char *folder, const char *group, const char *quantity, double bounds[3])
{
	char path[MAX_PATH_BYTES], line[256], wanted[128];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof path, "%s/bounds.csv", folder);
	snprintf(wanted, sizeof wanted, "%s,%s,", group, quantity);
	file = fopen(path, "r");
	while (file && !found && fgets(line, sizeof line, file)) {
		char *end;

		if (strncmp(line, wanted, strlen(wanted)) != 0) {
			continue;
		}
		bounds[0] = strtod(line + strlen(wanted), &end);
		bounds[1] = *end == ',' ? strtod(end + 1, &end) : bounds[0];
		bounds[2] = *end == ',' ? strtod(end + 1, NULL) : 0;
		found = true;
	}
	if (file) {
		fclose(file);
	}
	return found;
}

static bool summarize(const struct run *run, const char *group, size_t quantity,
                      struct tally *tally)
{
	const char *name = quantities[quantity].name;
	bool outcome = strcmp(name, "outcome") == 0;
	double bounds[3] = { INFINITY, INFINITY, 0 }, median, high;
	bool bounded = bound_of(run->folder, group, name, bounds), ok;

	qsort(tally->errors, tally->count, sizeof *tally->errors, ascending);
	median = 100 * (outcome ? mean(tally) : quantile(tally, 0.5));
	high = outcome ? median : 100 * quantile(tally, 0.9);
	ok = median <= bounds[0] && high <= bounds[1] && (!bounded || tally->failed == 0);
	ok = ok && 100 * (double)tally->inside >= bounds[2] * (double)tally->ranged;
	printf("%-14s %-19s %5zu cases, %zu without prediction  ", group, name, tally->count,
	       tally->failed);
	if (outcome) {
		printf("%.1f %% wrong, %zu tight", median, tally->tight);
	} else {
		printf("median %.2f %%, 90 %% below %.1f %%", median, high);
	}
	if (tally->ranged > 0) {
		printf(", %zu of %zu in range", tally->inside, tally->ranged);
	}
	printf(bounded ? "; allowed %.2f and %.1f: %s\n" : "; no bound\n", bounds[0], bounds[1],
	       ok ? "kept" : "EXCEEDED");
	return ok;
}

int main(int argc, char **argv)
{
	static struct run run;
	char path[MAX_PATH_BYTES], folder[MAX_PATH_BYTES];
	bool ok;

	if (argc != 3) {
		fprintf(stderr, "usage: evidence DIR GROUP\n");
		return 2;
	}
	snprintf(folder, sizeof folder, "%s", argv[1]);
	snprintf(path, sizeof path, "%s/cases/%s.jsonl", argv[1], argv[2]);
	run.folder = folder;
	ok = read_cases(&run, path);
	for (size_t i = 0; i < MAX_QUANTITIES && quantities[i].name; i++) {
		if (run.tallies[i].count > 0) {
			ok = summarize(&run, argv[2], i, &run.tallies[i]) && ok;
		} else if (run.tallies[i].failed > 0) {
			printf("%-14s %-19s %zu without prediction\n", argv[2], quantities[i].name,
			       run.tallies[i].failed);
		}
	}
	if (run.unsaid > 0) {
		printf("%zu cases whose source leaves out what decides, not judged\n", run.unsaid);
	}
	return ok ? 0 : 1;
}
