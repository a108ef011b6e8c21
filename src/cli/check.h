/* `check`: what was asked of each spec, whether it holds, and the ways to report it. */
#ifndef VC_CLI_CHECK_H
#define VC_CLI_CHECK_H

#include "output.h"

#include "vramcalc/vramcalc.h"

enum check_kind {
	CHECK_GPU,      /* it fits a GPU, with the headroom and at the price that are asked for */
	CHECK_MEMORY,   /* it needs at most so many bytes */
	CHECK_PRICE,    /* some GPU holds it at this price */
	CHECK_INCREASE, /* it did not grow by more than is allowed */
	CHECK_INPUT     /* the spec cannot be read or estimated */
};

/* Settings with which a spec that failed would pass. */
struct check_remedy {
	size_t count; /* 0: none is known */
	bool up_to;   /* the one number may be that or less */
	struct vc_setting settings[VC_MAX_STEPS * VC_MAX_SETTINGS];
};

struct check_result {
	enum check_kind kind;
	const char *spec;
	const char *gpu; /* catalog id; NULL where no GPU is meant */
	/* That GPU, or the one that a price was found for, and how many; NULL: none. */
	const struct vc_gpu *judged;
	uint32_t judged_gpus;
	bool priced; /* its price decides */
	bool pass;
	uint64_t need_bytes, have_bytes; /* of an increase: the new and the old total */
	struct check_remedy remedy;
	uint32_t line, column; /* of the spec, from 1; 0: it is about all of it */
	char message[1024];    /* one sentence, for people */
};

struct check_results {
	struct check_result *items;
	size_t count, failed, errors;
};

/* A new result to fill in; NULL and a message when there is no memory. */
struct check_result *check_add(struct check_results *results, enum check_kind kind,
                               const char *spec);

const char *check_kind_name(enum check_kind kind);

void check_print_text(struct output *out, const struct check_results *results);
void check_print_json(struct output *out, const struct check_results *results);
void check_print_markdown(struct output *out, const struct check_results *results);
/* Workflow commands: github.com turns them into annotations on the files. */
void check_print_github(struct output *out, const struct check_results *results);

/* To a temporary name first, then renamed: a reader never sees half a file. False with a message.
 */
bool check_write_junit(const char *path, const struct check_results *results);
bool check_write_sarif(const char *path, const struct check_results *results);

#endif
