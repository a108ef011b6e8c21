/* A command line, parsed: getopt_long over the option table. */
#ifndef VC_CLI_ARGUMENTS_H
#define VC_CLI_ARGUMENTS_H

#include "format.h"
#include "option.h"

#include <stdio.h>

/* What main() returns. */
enum exit_status {
	EXIT_FITS = 0, /* done; where the question is whether it fits: yes */
	EXIT_DOES_NOT_FIT = 1,
	EXIT_WRONG_INPUT = 2
};

enum color_when {
	COLOR_AUTO,
	COLOR_ALWAYS,
	COLOR_NEVER
};

struct text_list {
	const char **items;
	size_t count;
};

struct choice {
	int index; /* among the values of the option */
	bool given;
};

struct arguments {
	const struct command *command;
	bool named; /* the command was, not only options of the program itself */
	bool help, version;
	bool json, csv, markdown, explain, layouts, quiet, all;
	bool manual;
	struct choice completion, method, sort, unit, color;
	uint64_t max_gpus; /* 0: not given; of the following numbers too */
	uint64_t gpus_at_hand, overhead_bytes;
	uint64_t margin_ppm, activation_ppm; /* in millionths */
	struct choice solve_for, emit, vendor;
	const char *spec;                  /* --spec */
	const char *calibrate;             /* of verify: the file that figures are added to */
	const char *calibration;           /* and of others: the one that shifts estimates */
	const char *columns, *sort_column; /* of compare */
	const char *output;                /* the file that results go to; NULL: standard output */
	const char *svg, *html;            /* of plan: the files that pictures go to */
	uint64_t jobs;
	const char *junit, *sarif, *base, *max_increase, *policy;
	bool github, mig, instances, local;
	bool offline; /* nothing is fetched from a hub */
	uint64_t max_memory_bytes, max_price_micros, min_headroom_ppm;
	const char *weights, *slicing, *compliance, *framework, *fit; /* of platforms */
	bool cuda_only;
	const char *cloud, *region, *currency; /* of offers */
	bool spot, not_resumable, assume_spot;
	struct choice billing;
	/* Of a run on offers, in millionths of hours. */
	uint64_t hours_micros, interval_micros, checkpoint_micros, restart_micros;
	struct text_list gpus, catalogs, vary;
	struct text_list settings; /* "FIELD=VALUE" in the order in which they were given */
	struct text_list operands;
	const char **texts; /* room of the lists */
	char *composed;     /* text of the settings that options of their own make */
};

/*
 * Parses all words behind the program's name. On failure one line has gone to `errors`, which the
 * program's exit status EXIT_WRONG_INPUT follows. arguments_free() is due either way.
 */
bool arguments_parse(struct arguments *arguments, int argc, char **argv, FILE *errors);
void arguments_free(struct arguments *arguments);

/* Says so, with the nearest name, and returns EXIT_WRONG_INPUT. */
int arguments_unknown_command(const char *word, FILE *errors);

#endif
