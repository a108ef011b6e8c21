/*
 * Figures: how long a whole run takes against /bin/true on the same machine, and one that searches
 * every layout of the whole catalog on up to 64 GPUs; how much memory a run needs at most, and how
 * many estimates a second the library makes. Times are only printed; memory above 8 MB is a
 * failure. bench PROGRAM SPEC
 */
#include "vramcalc/vramcalc.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum {
	RUNS = 400,
	SEARCHES = 25,
	ESTIMATES = 200000,
	MEMORY_LIMIT = 8000000
};

static double seconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* One run with its output thrown away; false when it does not end in success. */
static bool run(char *const argv[], struct rusage *usage)
{
	posix_spawn_file_actions_t actions;
	int status = -1;
	pid_t child;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	if (posix_spawn(&child, argv[0], &actions, NULL, argv, environ) == 0) {
		(void)wait4(child, &status, 0, usage);
	}
	posix_spawn_file_actions_destroy(&actions);
	return status == 0;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The two programs take turns, so that what else the machine does hits both alike. */
static bool compare_times(const char *what, int runs, char *const ours[], char *const theirs[])
{
	static double our_times[RUNS], their_times[RUNS];
	struct rusage usage;

	for (int i = 0; i < runs; i++) {
		double start = seconds(), middle;

		if (!run(ours, &usage)) {
			return false;
		}
		middle = seconds();
		if (!run(theirs, &usage)) {
			return false;
		}
		our_times[i] = middle - start;
		their_times[i] = seconds() - middle;
	}
	qsort(our_times, (size_t)runs, sizeof our_times[0], ascending);
	qsort(their_times, (size_t)runs, sizeof their_times[0], ascending);
	printf("%s: %.2f times /bin/true (median %.3f ms against %.3f ms; best %.2f times)\n", what,
	       our_times[runs / 2] / their_times[runs / 2], our_times[runs / 2] * 1e3,
	       their_times[runs / 2] * 1e3, our_times[0] / their_times[0]);
	return true;
}

static bool estimate_speed(void)
{
	static struct vc_model model = { .params = 7000000000 };
	static struct vc_ledger ledger;
	struct vc_request request = { .model = &model, .workload.precision = VC_DTYPE_FP16 };
	struct vc_error error;
	double start = seconds();

	for (uint64_t i = 0; i < ESTIMATES; i++) {
		request.workload.batch_size = 1 + i % 64;
		if (vc_estimate(&request, &ledger, &error) != VC_OK) {
			return false;
		}
	}
	printf("estimates: %.2f million a second\n", ESTIMATES / (seconds() - start) * 1e-6);
	return true;
}

/* A dense model of 70 billion parameters, served and trained, by either method. */
static bool compare_searches(char *program, char *const theirs[])
{
	char plan[] = "plan", model[] = "llama-2-70b", all[] = "--all", most[] = "--max-gpus",
	     gpus[] = "64", method[] = "--method", task[] = "--task", training[] = "training",
	     names[2][9] = { "rule", "detailed" };

	for (int i = 0; i < 4; i++) {
		char *ours[] = { program, plan,         model, all,      most, gpus,
			         method,  names[i % 2], task,  training, NULL };
		char what[64];

		if (i < 2) {
			ours[8] = NULL;
		}
		snprintf(what, sizeof what, "layouts on 64 GPUs, %s, %s",
		         i < 2 ? "inference" : "training", names[i % 2]);
		if (!compare_times(what, SEARCHES, ours, theirs)) {
			return false;
		}
	}
	return true;
}

int main(int argc, char **argv)
{
	char plan[] = "plan", true_path[] = "/bin/true";
	char *ours[] = { argc > 1 ? argv[1] : NULL, plan, argc > 2 ? argv[2] : NULL, NULL };
	char *theirs[] = { true_path, NULL };
	struct rusage usage = { 0 };
	long bytes;

	if (argc != 3 || !run(ours, &usage)) {
		fprintf(stderr, "bench PROGRAM SPEC: the program does not run\n");
		return EXIT_FAILURE;
	}
	bytes = usage.ru_maxrss * 1024;
	printf("peak memory: %.2f MB\n", (double)bytes * 1e-6);
	if (!compare_times("start-up", RUNS, ours, theirs) || !compare_searches(argv[1], theirs) ||
	    !estimate_speed()) {
		return EXIT_FAILURE;
	}
	if (bytes > MEMORY_LIMIT) {
		fprintf(stderr, "more than 8 MB\n");
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
