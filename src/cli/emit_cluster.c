/*
 * What schedulers and clouds take: a Slurm batch script, a Kubernetes manifest, a SkyPilot task.
 * slurm.schedmd.com/sbatch.html and gres.html; kubernetes.io "Schedule GPUs",
 * github.com/NVIDIA/k8s-device-plugin (MIG: its "mixed" strategy); docs.skypilot.co "Task YAML".
 */
#include "emit.h"

#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t gibibyte = 1ull << 30;

/* "llama-2-7b": what every scheduler takes as a name, 40 characters at most. */
static void job_name(const struct emit_job *job, char name[41])
{
	const char *from = job->request->model->name;
	const char *slash = strrchr(from, '/');
	size_t length = 0;

	for (from = slash ? slash + 1 : from; *from && length < 40; from++) {
		char c = *from >= 'A' && *from <= 'Z' ? (char)(*from - 'A' + 'a') : *from;
		bool word = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');

		if (word || (length > 0 && name[length - 1] != '-')) {
			name[length++] = (char)(word ? c : '-');
		}
	}
	while (length > 0 && name[length - 1] == '-') {
		length--;
	}
	name[length] = '\0';
	if (length == 0 || (name[0] >= '0' && name[0] <= '9')) {
		char rest[41];

		memcpy(rest, name, length + 1);
		(void)snprintf(name, 41, "job%s%.36s", length ? "-" : "", rest);
	}
}

static bool job_words(struct emit_job *job, struct words *words, const char *rendezvous)
{
	if (job->request->workload.task == VC_TASK_TRAINING) {
		return emit_torchrun_words(job, words, rendezvous);
	}
	if (job->nodes > 1) {
		job->refusal =
		        "the row takes several nodes, each of which an inference engine starts "
		        "in its own way (--max-gpus)";
		return false;
	}
	return emit_serving_words(job, words);
}

/* DeepSpeed's file where the words name one, else NULL; freed by the caller. */
static bool deepspeed_text(struct emit_job *job, const struct words *words, char **text)
{
	bool named = false, written;
	size_t length;
	FILE *memory;

	*text = NULL;
	for (size_t i = 0; i < words->count; i++) {
		named |= strcmp(words_get(words, i), "--deepspeed") == 0;
	}
	if (!named) {
		return true;
	}
	memory = open_memstream(text, &length);
	if (!memory) {
		report_no_memory();
		return false;
	}
	written = emit_deepspeed(job, memory);
	if (fclose(memory) != 0 || !written) {
		free(*text);
		*text = NULL;
	}
	return *text != NULL;
}

/* The command, behind whatever writes the file that it reads. */
static void put_commands(FILE *file, const struct words *words, const char *deepspeed,
                         const char *prefix, const char *indent)
{
	if (deepspeed) {
		fprintf(file, "%scat >ds_config.json <<'END'\n", indent);
		while (*deepspeed) {
			int length = (int)strcspn(deepspeed, "\n");

			fprintf(file, "%s%.*s\n", indent, length, deepspeed);
			deepspeed += length + (deepspeed[length] == '\n');
		}
		fprintf(file, "%sEND\n", indent);
	}
	fputs(prefix, file);
	words_print_shell(words, file, "  ");
}

static uint64_t host_gib(const struct emit_job *job)
{
	return (job->host_bytes + gibibyte - 1) / gibibyte;
}

/* ---- Slurm ---- */

enum {
	CPUS_PER_GPU = 4, /* the least that servers and data loaders do well with */
	TYPE_NAME = 64
};

/*
 * The catalogue's name where it is the driver's too, without what the catalogue says in brackets;
 * false for the Tesla and Quadro boards, whose driver's names tell more than the catalogue's.
 */
static bool driver_name(const struct vc_gpu *gpu, char name[TYPE_NAME])
{
	bool geforce = strncmp(gpu->name, "GeForce ", 8) == 0;
	const char *end = strstr(gpu->name, " (");
	size_t length = end ? (size_t)(end - gpu->name) : strlen(gpu->name);

	if (geforce && length > 5 && strncmp(gpu->name + length - 2, "GB", 2) == 0) {
		while (gpu->name[length - 1] != ' ') { /* "RTX 3060 12GB" */
			length--;
		}
		length--;
	}
	return snprintf(name, TYPE_NAME, "%s%.*s", geforce ? "NVIDIA " : "", (int)length,
	                gpu->name) < TYPE_NAME &&
	       strncmp(name, "NVIDIA ", 7) == 0;
}

/*
 * What Slurm's AutoDetect=nvml calls the GPU: the driver's name in lower case with "_" for spaces;
 * of a GPU in slices what stands before the first "-", and the slice's name behind it (older ones
 * round its GiB: 3g.39gb). Slurm's src/plugins/gpu/nvml/gpu_nvml.c.
 */
static bool gres_type(const struct emit_job *job, char type[TYPE_NAME])
{
	char name[TYPE_NAME];
	const char *slice = job->slice ? job->slice->profile->name : "";

	if (!driver_name(job->best->gpu, name)) {
		return false;
	}
	for (char *c = name; *c; c++) {
		*c = *c == ' ' ? '_' : *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
	}
	if (name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_.-")]) {
		return false; /* it would end the option */
	}
	if (*slice) {
		name[strcspn(name, "-")] = '\0';
	}
	return snprintf(type, TYPE_NAME, "%s%s%s", name, *slice ? "_" : "", slice) < TYPE_NAME;
}

static void put_slurm_resources(const struct emit_job *job, FILE *file, const char *type)
{
	char name[41];

	job_name(job, name);
	fprintf(file,
	        "#!/bin/bash\n"
	        "#SBATCH --job-name=%s\n"
	        "#SBATCH --nodes=%u\n"
	        "#SBATCH --ntasks-per-node=1\n"
	        "#SBATCH --cpus-per-task=%u\n"
	        "#SBATCH --gpus-per-node=%s%s%u\n"
	        "#SBATCH --mem=%" PRIu64 "G\n",
	        name, job->nodes, CPUS_PER_GPU * job->node_gpus, type, *type ? ":" : "",
	        job->node_gpus, host_gib(job));
	emit_heading(job, file);
	emit_host_note(job, file);
	emit_comment(file, "cpus: %u for each GPU, an assumption", CPUS_PER_GPU);
	if (*type) {
		emit_comment(file,
		             "%s: as AutoDetect=nvml of Slurm names it; your site's names: "
		             "sinfo -o %%G",
		             type);
	} else {
		emit_comment(file,
		             "gpus: of any type; for this one --gpus-per-node=TYPE:%u, TYPE as "
		             "sinfo -o %%G lists it, or --constraint",
		             job->node_gpus);
	}
}

bool emit_slurm(struct emit_job *job, FILE *file)
{
	struct words words = { .count = 0 };
	char type[TYPE_NAME] = "", *deepspeed;
	bool typed = gres_type(job, type);

	if (job->slice && !typed) {
		job->refusal = "Slurm's name for a slice of this GPU is not known";
		return false;
	}
	if (!job_words(job, &words, "$head_node:29500") ||
	    !deepspeed_text(job, &words, &deepspeed)) {
		return false;
	}
	put_slurm_resources(job, file, type);
	fputs("set -euo pipefail\n", file);
	if (job->nodes > 1) {
		fputs("head_node=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\n",
		      file);
	}
	/* srun of 22.05 and newer takes the count from no environment variable of the job's */
	put_commands(file, &words, deepspeed, "srun --cpus-per-task=\"$SLURM_CPUS_PER_TASK\" \\\n",
	             "");
	free(deepspeed);
	return true;
}

/* ---- Kubernetes ---- */

static const char *device_resource(enum vc_vendor vendor)
{
	switch (vendor) {
	case VC_VENDOR_NVIDIA:
		return "nvidia.com/gpu";
	case VC_VENDOR_AMD:
		return "amd.com/gpu";
	case VC_VENDOR_INTEL:
		return "habana.ai/gaudi";
	case VC_VENDOR_GOOGLE:
		return "google.com/tpu";
	default:
		return NULL;
	}
}

static bool find_resource(struct emit_job *job, char resource[64])
{
	const char *whole = device_resource(job->best->gpu->vendor);

	if (!whole) {
		job->refusal = "no device plugin for this GPU is known";
		return false;
	}
	if (job->slice) {
		(void)snprintf(resource, 64, "nvidia.com/mig-%s", job->slice->profile->name);
	} else {
		(void)snprintf(resource, 64, "%s", whole);
	}
	return true;
}

static const char *image_of(const struct emit_job *job)
{
	if (job->request->workload.task == VC_TASK_TRAINING) {
		return "IMAGE";
	}
	if (job->best->gpu->vendor != VC_VENDOR_NVIDIA) {
		return "IMAGE"; /* the engines' own images are for CUDA */
	}
	switch (job->request->engine.name) {
	case VC_ENGINE_SGLANG:
		return "lmsysorg/sglang:latest";
	case VC_ENGINE_LLAMACPP:
		return "IMAGE";
	default:
		return "vllm/vllm-openai:latest";
	}
}

static void put_container(const struct emit_job *job, FILE *file, const struct words *words,
                          const char *resource)
{
	fputs("      containers:\n"
	      "        - name: main\n"
	      "          image: ",
	      file);
	print_quoted(file, image_of(job));
	fputs("\n          command:\n", file);
	words_print_yaml(words, file, "            ");
	fprintf(file,
	        "          resources:\n"
	        "            requests:\n"
	        "              memory: %" PRIu64 "Gi\n"
	        "            limits:\n"
	        "              %s: %u\n"
	        "          volumeMounts:\n"
	        "            - name: shm\n"
	        "              mountPath: /dev/shm\n"
	        "      volumes:\n"
	        "        - name: shm\n"
	        "          emptyDir:\n"
	        "            medium: Memory\n",
	        host_gib(job), resource, job->best->gpus);
}

static void put_kind(FILE *file, const char *name, bool training)
{
	fprintf(file,
	        "apiVersion: %s\n"
	        "kind: %s\n"
	        "metadata:\n"
	        "  name: %s\n"
	        "spec:\n",
	        training ? "batch/v1" : "apps/v1", training ? "Job" : "Deployment", name);
	if (training) {
		fputs("  backoffLimit: 0\n"
		      "  template:\n"
		      "    spec:\n"
		      "      restartPolicy: Never\n",
		      file);
		return;
	}
	fprintf(file,
	        "  replicas: 1\n"
	        "  selector:\n"
	        "    matchLabels:\n"
	        "      app: %s\n"
	        "  template:\n"
	        "    metadata:\n"
	        "      labels:\n"
	        "        app: %s\n"
	        "    spec:\n",
	        name, name);
}

bool emit_kubernetes(struct emit_job *job, FILE *file)
{
	bool training = job->request->workload.task == VC_TASK_TRAINING;
	struct words words = { .count = 0 };
	char name[41], resource[64];

	if (job->nodes > 1) {
		job->refusal = "the row takes several nodes, a pod has one (--max-gpus, or --emit "
		               "slurm or skypilot)";
		return false;
	}
	if (!find_resource(job, resource) || !job_words(job, &words, NULL)) {
		return false;
	}
	job_name(job, name);
	emit_heading(job, file);
	emit_host_note(job, file);
	if (strcmp(image_of(job), "IMAGE") == 0) {
		emit_comment(file, "IMAGE: a container with %s",
		             training ? "PyTorch and TRAIN.py" : "the engine for this GPU");
	}
	put_kind(file, name, training);
	put_container(job, file, &words, resource);
	return true;
}

/* ---- SkyPilot ---- */

/* Names of its catalogs (`sky show-gpus --all`). */
static const char *sky_accelerator(const struct vc_gpu *gpu)
{
	static const char *const names[][2] = {
		{ "t4", "T4" },
		{ "p4", "P4" },
		{ "p100-16gb", "P100" },
		{ "v100-16gb", "V100" },
		{ "v100-32gb", "V100-32GB" },
		{ "l4", "L4" },
		{ "l40", "L40" },
		{ "l40s", "L40S" },
		{ "a10", "A10" },
		{ "a10g", "A10G" },
		{ "a100-40gb-sxm", "A100" },
		{ "a100-40gb-pcie", "A100" },
		{ "a100-80gb-sxm", "A100-80GB" },
		{ "a100-80gb-pcie", "A100-80GB" },
		{ "h100-80gb-sxm", "H100" },
		{ "h100-80gb-pcie", "H100" },
		{ "h200-141gb", "H200" },
		{ "gh200-96gb", "GH200" },
		{ "b200-180gb", "B200" },
		{ "rtx-3090", "RTX3090" },
		{ "rtx-4090", "RTX4090" },
		{ "rtx-a5000", "RTXA5000" },
		{ "rtx-a6000", "RTXA6000" },
		{ "rtx-6000-ada", "RTX6000-Ada" },
		{ "mi300x", "MI300X" },
	};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		if (strcmp(gpu->id, names[i][0]) == 0) {
			return names[i][1];
		}
	}
	return NULL;
}

bool emit_skypilot(struct emit_job *job, FILE *file)
{
	const char *accelerator = sky_accelerator(job->best->gpu);
	struct words words = { .count = 0 };
	char name[41], *deepspeed;

	if (!accelerator) {
		job->refusal = "SkyPilot has no name for this GPU that is known (--gpu)";
		return false;
	}
	if (!job_words(job, &words, "$head_node:29500") ||
	    !deepspeed_text(job, &words, &deepspeed)) {
		return false;
	}
	job_name(job, name);
	emit_heading(job, file);
	emit_host_note(job, file);
	fprintf(file,
	        "name: %s\n"
	        "num_nodes: %u\n"
	        "resources:\n"
	        "  accelerators: %s:%u\n"
	        "  memory: %" PRIu64 "+\n",
	        name, job->nodes, accelerator, job->node_gpus,
	        (job->host_bytes + 999999999) / 1000000000);
	if (job->plan->arguments->spot) {
		fputs("  use_spot: true\n", file);
	}
	fputs("run: |\n", file);
	if (job->nodes > 1) {
		fputs("  head_node=$(echo \"$SKYPILOT_NODE_IPS\" | head -n 1)\n", file);
	}
	put_commands(file, &words, deepspeed, "", "  ");
	free(deepspeed);
	return true;
}
