/* `pack`: several jobs on the fewest or the cheapest GPUs, whole, shared or in MIG slices. */
#include "commands.h"
#include "json_writer.h"
#include "origin.h"
#include "output.h"
#include "print_text.h"
#include "report.h"
#include "session.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	MOST_JOBS = 10000
};

/* One running copy of a spec. */
struct job {
	const char *name;
	size_t spec; /* which of the specs */
};

struct fleet {
	const struct vc_gpu *gpu;
	const struct vc_mig_table *mig; /* NULL: shared */
	struct vc_packing packing;
	struct vc_placement *placements; /* one for each job */
	uint64_t *need_bytes;
};

struct pack {
	struct session session;
	struct output out;
	struct vc_spec *specs;
	size_t spec_count, job_count;
	struct job *jobs;
	struct vc_pack_bin *bins;
	struct fleet best, tried;
};

/* ---- Jobs: "SPEC" or "SPEC:3" ---- */

static bool split_count(const char *operand, char name[4096], uint64_t *count)
{
	const char *colon = strrchr(operand, ':');
	struct stat facts;

	snprintf(name, 4096, "%s", operand);
	*count = 1;
	if (!colon || (colon[1] && !isdigit((unsigned char)colon[1])) ||
	    stat(operand, &facts) == 0 || colon[1 + strspn(colon + 1, "0123456789")] != '\0') {
		return true;
	}
	*count = strtoull(colon + 1, NULL, 10);
	if (*count == 0 || *count > MOST_JOBS) {
		fprintf(stderr,
		        "vramcalc pack: %s: how many? (1 to %d are expected behind the colon)\n",
		        operand, (int)MOST_JOBS);
		return false;
	}
	name[colon - operand] = '\0';
	return true;
}

static bool add_jobs(struct pack *pack, const char *operand)
{
	struct vc_spec *spec = &pack->specs[pack->spec_count];
	char name[4096];
	uint64_t count;
	struct job *jobs;

	if (!split_count(operand, name, &count) || !session_read(&pack->session, name, spec)) {
		return false;
	}
	if (spec->request.parallelism.stated && vc_layout_gpus(&spec->request.parallelism) > 1) {
		fprintf(stderr,
		        "%s: parallelism: spreads over several GPUs (one GPU or a part of "
		        "one is expected)\n",
		        name);
		vc_spec_free(spec);
		return false;
	}
	jobs = realloc(pack->jobs, (pack->job_count + count) * sizeof *jobs);
	if (!jobs || pack->job_count + count > MOST_JOBS) {
		fprintf(stderr, "vramcalc pack: too many jobs (at most %d are expected)\n",
		        (int)MOST_JOBS);
		pack->jobs = jobs ? jobs : pack->jobs;
		vc_spec_free(spec);
		return false;
	}
	pack->jobs = jobs;
	for (uint64_t i = 0; i < count; i++) {
		pack->jobs[pack->job_count++] = (struct job){ spec->source, pack->spec_count };
	}
	pack->spec_count++;
	return true;
}

/* ---- Fleets of one kind of GPU ---- */

static bool open_fleet(struct fleet *fleet, size_t jobs)
{
	fleet->placements = calloc(jobs, sizeof *fleet->placements);
	fleet->need_bytes = calloc(jobs, sizeof *fleet->need_bytes);
	return fleet->placements && fleet->need_bytes;
}

/* What each job needs of this GPU; jobs of one spec need the same. */
static bool find_needs(struct pack *pack, struct fleet *fleet)
{
	uint64_t need_bytes = 0;

	for (size_t i = 0; i < pack->job_count; i++) {
		const struct vc_spec *spec = &pack->specs[pack->jobs[i].spec];
		struct vc_request request = spec->request;
		struct vc_ledger ledger;
		struct vc_error error = { 0 };

		if (i == 0 || pack->jobs[i].spec != pack->jobs[i - 1].spec) {
			session_request(&pack->session, &request);
			request.gpu = fleet->gpu;
			if (vc_estimate(&request, &ledger, &error) != VC_OK) {
				return session_refuse(spec, &error);
			}
			need_bytes = ledger.need_bytes;
		}
		fleet->need_bytes[i] = need_bytes;
	}
	return true;
}

/* Fewer left over, then the lower price, then fewer GPUs; without prices fewer GPUs. */
static bool is_better(const struct pack *pack, const struct fleet *a, const struct fleet *b)
{
	const struct vc_price *x = &a->gpu->price, *y = &b->gpu->price;
	bool by_price = pack->session.arguments->sort.index == VC_SORT_PRICE;
	uint64_t p = 0, q = 0;
	bool p_known = price_times(x, a->packing.gpus, &p);
	bool q_known = price_times(y, b->packing.gpus, &q);

	if (a->packing.unplaced != b->packing.unplaced) {
		return a->packing.unplaced < b->packing.unplaced;
	}
	if (by_price && p_known != q_known) {
		return p_known;
	}
	if (by_price && strcmp(x->currency, y->currency) == 0 && p != q) {
		return p < q;
	}
	return a->packing.gpus < b->packing.gpus;
}

static bool try_gpu(struct pack *pack, const struct vc_gpu *gpu)
{
	struct fleet *fleet = &pack->tried;
	struct vc_error error = { 0 };

	fleet->gpu = gpu;
	fleet->mig = NULL;
	if (pack->session.arguments->mig) {
		fleet->mig = vc_catalog_mig(vc_catalog_entry(gpu));
		if (!fleet->mig) {
			return true; /* not one that slices */
		}
	}
	if (!find_needs(pack, fleet)) {
		return false;
	}
	if (vc_pack(fleet->need_bytes, pack->job_count,
	            vc_gpu_offers_bytes(gpu, (enum vc_method)pack->session.arguments->method.index),
	            fleet->mig, fleet->placements, pack->bins, &fleet->packing, &error) != VC_OK) {
		report_error(&error);
		return false;
	}
	if (!pack->best.gpu || is_better(pack, fleet, &pack->best)) {
		struct fleet swapped = pack->best;

		pack->best = *fleet;
		*fleet = swapped;
	}
	return true;
}

static bool try_all(struct pack *pack)
{
	struct gpu_list list = { .gpus = malloc(pack->session.catalog.count * sizeof *list.gpus) };
	bool tried = list.gpus && session_choose(&pack->session, &pack->specs[0], &list);

	for (size_t i = 0; tried && i < list.count; i++) {
		tried = try_gpu(pack, list.gpus[i]);
	}
	free(list.gpus);
	if (tried && !pack->best.gpu) {
		fprintf(stderr, "vramcalc pack: %s (expected one such as a100-80gb-sxm)\n",
		        pack->session.arguments->mig
		                ? "--mig: none of these GPUs has known MIG profiles"
		                : "no GPU to pack onto");
		return false;
	}
	return tried;
}

/* ---- Output ---- */

static uint64_t free_bytes(const struct pack *pack, uint32_t gpu)
{
	const struct fleet *fleet = &pack->best;
	uint64_t used = 0;
	uint64_t have = vc_gpu_offers_bytes(fleet->gpu,
	                                    (enum vc_method)pack->session.arguments->method.index);

	for (size_t i = 0; i < pack->job_count; i++) {
		if (fleet->placements[i].gpu == gpu) {
			used += fleet->placements[i].profile
			                ? fleet->placements[i].profile->memory_bytes
			                : fleet->need_bytes[i];
		}
	}
	return used < have ? have - used : 0;
}

static void json_placement(struct json_writer *json, const struct pack *pack, size_t job)
{
	const struct vc_placement *placement = &pack->best.placements[job];

	json_open(json, NULL, '{');
	json_text(json, "spec", pack->jobs[job].name);
	json_text(json, "profile", placement->profile ? placement->profile->name : NULL);
	if (placement->profile) {
		json_u64(json, "start", placement->start);
	} else {
		json_null(json, "start");
	}
	json_u64(json, "memory_bytes",
	         placement->profile ? placement->profile->memory_bytes
	                            : pack->best.need_bytes[job]);
	json_u64(json, "need_bytes", pack->best.need_bytes[job]);
	json_close(json, '}');
}

static void json_packed(struct json_writer *json, const struct pack *pack, uint32_t gpu)
{
	json_open(json, NULL, '{');
	json_text(json, "gpu", pack->best.gpu->id);
	json_u64(json, "index", gpu);
	json_bool(json, "mig", pack->best.mig != NULL);
	json_open(json, "placements", '[');
	for (size_t i = 0; i < pack->job_count; i++) {
		if (pack->best.placements[i].gpu == gpu) {
			json_placement(json, pack, i);
		}
	}
	json_close(json, ']');
	json_u64(json, "free_bytes", free_bytes(pack, gpu));
	json_close(json, '}');
}

static void print_json(struct pack *pack)
{
	const struct fleet *fleet = &pack->best;
	struct json_writer json = { .out = pack->out.file };
	uint64_t price;

	json_open(&json, NULL, '{');
	json_text(&json, "schema", "vramcalc/pack/v1");
	json_open(&json, "gpus", '[');
	for (uint32_t gpu = 0; gpu < fleet->packing.gpus; gpu++) {
		json_packed(&json, pack, gpu);
	}
	json_close(&json, ']');
	json_open(&json, "unplaced", '[');
	for (size_t i = 0; i < pack->job_count; i++) {
		if (fleet->placements[i].gpu == VC_PACK_NONE) {
			json_text(&json, NULL, pack->jobs[i].name);
		}
	}
	json_close(&json, ']');
	if (price_times(&fleet->gpu->price, fleet->packing.gpus, &price)) {
		json_ratio(&json, "price_per_hour", price, 1000000);
	} else {
		json_null(&json, "price_per_hour");
	}
	json_text(&json, "currency",
	          fleet->gpu->price.known ? fleet->gpu->price.currency
	                                  : pack->specs[0].budget.currency);
	json_text(&json, "origin", fleet->gpu->origin);
	json_price(&json, "price", fleet->gpu, fleet->packing.gpus);
	json_bool(&json, "optimal", fleet->packing.optimal);
	json_close(&json, '}');
}

static void print_job(struct pack *pack, size_t job)
{
	const struct vc_placement *placement = &pack->best.placements[job];
	char line[512] = "", need[64], slice[64];

	format_quantity(need, sizeof need, pack->best.need_bytes[job], pack->out.unit, ROUND_UP);
	text_append(line, sizeof line, "%s needs %s", pack->jobs[job].name, need);
	if (placement->profile) {
		format_quantity(slice, sizeof slice, placement->profile->memory_bytes,
		                pack->out.unit, ROUND_DOWN);
		text_append(line, sizeof line, "; %s at %u holds %s", placement->profile->name,
		            (unsigned)placement->start, slice);
	}
	fputs("  - ", pack->out.file);
	output_paragraph(&pack->out, TONE_PLAIN, line, 4);
}

/* The command that makes the instances, with their placements, for one GPU. */
static void print_mig_command(struct pack *pack, uint32_t gpu)
{
	bool first = true;

	if (!pack->best.mig) {
		return;
	}
	fprintf(pack->out.file, "  nvidia-smi mig -i %u -cgi ", (unsigned)gpu);
	for (size_t i = 0; i < pack->job_count; i++) {
		const struct vc_placement *placement = &pack->best.placements[i];

		if (placement->gpu == gpu) {
			fprintf(pack->out.file, "%s%s:%u", first ? "" : ",",
			        placement->profile->name, (unsigned)placement->start);
			first = false;
		}
	}
	fputs(" -C\n", pack->out.file);
}

static void print_summary(struct pack *pack)
{
	const struct fleet *fleet = &pack->best;
	const struct vc_price *price = &fleet->gpu->price;
	size_t placed = pack->job_count - fleet->packing.unplaced;
	char line[768] = "", together[64], apart[64];
	uint64_t all, one_each;

	text_append(line, sizeof line, "%zu %s on %u × %s", placed, placed == 1 ? "job" : "jobs",
	            (unsigned)fleet->packing.gpus, fleet->gpu->name);
	if (fleet->packing.gpus && price_times(price, fleet->packing.gpus, &all) &&
	    price_times(price, placed, &one_each)) {
		format_price(together, sizeof together, all, price->currency);
		format_price(apart, sizeof apart, one_each, price->currency);
		text_append(line, sizeof line, ": %s an hour, where a GPU for each would be %s",
		            together, apart);
	}
	text_append(line, sizeof line, ". %s",
	            fleet->packing.optimal ? "No packing has fewer of this GPU."
	                                   : "A good packing; fewer GPUs are not ruled out.");
	if (!fleet->mig && fleet->packing.gpus < placed) {
		text_append(line, sizeof line,
		            " Processes on one GPU share its compute and are "
		            "not isolated; --mig slices it.");
	}
	output_paragraph(&pack->out, TONE_PLAIN, line, 0);
}

static void print_text(struct pack *pack)
{
	struct origin_note note = { .count = 0 };
	char line[256], free_text[64];

	if (pack->best.packing.gpus > 0) {
		print_summary(pack);
	}
	for (uint32_t gpu = 0; gpu < pack->best.packing.gpus; gpu++) {
		format_quantity(free_text, sizeof free_text, free_bytes(pack, gpu), pack->out.unit,
		                ROUND_DOWN);
		snprintf(line, sizeof line, "GPU %u, %s free", (unsigned)gpu, free_text);
		putc('\n', pack->out.file);
		output_heading(&pack->out, line);
		for (size_t i = 0; i < pack->job_count; i++) {
			if (pack->best.placements[i].gpu == gpu) {
				print_job(pack, i);
			}
		}
		print_mig_command(pack, gpu);
	}
	for (size_t i = 0; i < pack->job_count; i++) {
		if (pack->best.placements[i].gpu == VC_PACK_NONE) {
			snprintf(line, sizeof line, "%s does not fit one %s%s", pack->jobs[i].name,
			         pack->best.gpu->name, pack->best.mig ? " or a slice of it" : "");
			output_paragraph(&pack->out, TONE_BAD, line, 0);
		}
	}
	origin_add(&note, pack->best.gpu, true);
	origin_print(&pack->out, &note);
}

/* ---- The command ---- */

static enum exit_status pack_jobs(struct pack *pack)
{
	pack->bins = calloc(pack->job_count, sizeof *pack->bins);
	if (!pack->bins || !open_fleet(&pack->best, pack->job_count) ||
	    !open_fleet(&pack->tried, pack->job_count)) {
		report_no_memory();
		return EXIT_WRONG_INPUT;
	}
	if (!session_catalog(&pack->session, pack->specs[0].budget.currency) || !try_all(pack)) {
		return EXIT_WRONG_INPUT;
	}
	if (pack->out.format == FORMAT_JSON) {
		print_json(pack);
	} else {
		print_text(pack);
	}
	return pack->best.packing.unplaced ? EXIT_DOES_NOT_FIT : EXIT_FITS;
}

int pack_command(struct arguments *arguments)
{
	struct pack pack = { .session.arguments = arguments };
	enum exit_status status = EXIT_WRONG_INPUT;
	bool read = true;

	output_open(&pack.out, arguments);
	pack.specs = calloc(arguments->operands.count, sizeof *pack.specs);
	for (size_t i = 0; pack.specs && i < arguments->operands.count; i++) {
		read = add_jobs(&pack, arguments->operands.items[i]) && read;
	}
	if (pack.specs && read) {
		status = pack_jobs(&pack);
	}
	for (size_t i = 0; i < pack.spec_count; i++) {
		vc_spec_free(&pack.specs[i]);
	}
	free(pack.best.placements);
	free(pack.best.need_bytes);
	free(pack.tried.placements);
	free(pack.tried.need_bytes);
	free(pack.bins);
	free(pack.jobs);
	free(pack.specs);
	session_close(&pack.session);
	return (int)status;
}
