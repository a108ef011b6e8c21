/* Inside `check`: what is asked of a spec, and the questions one by one. */
#ifndef VC_CLI_CHECK_GATE_H
#define VC_CLI_CHECK_GATE_H

#include "change.h"
#include "check.h"
#include "policy.h"
#include "session.h"

/* What is asked: by the command line, or by one rule of a policy. */
struct limits {
	const char *rule; /* its name; NULL: the command line's */
	struct text_list gpus;
	uint64_t max_gpus; /* 0: not given; of the following too */
	uint64_t max_memory_bytes, max_price_micros, min_headroom_ppm;
	bool spec_gpus; /* those that a spec names count, where no others are named */
	bool compared;
	uint64_t max_increase_bytes, max_increase_ppm;
};

struct gate {
	const struct arguments *arguments;
	struct session session;
	enum byte_unit unit;
	struct limits asked;  /* by the command line */
	struct limits limits; /* that are being checked */
	struct vc_policy *policy;
	char today[11];
	struct check_results results;
};

/* Counts a result as passed or failed. */
void check_settle(struct check_results *results, struct check_result *result, bool pass);

/*
 * Each adds a result, which says what would pass where it fails. False, with a message, when there
 * is no answer.
 */
bool check_gpu(struct gate *gate, const struct vc_spec *spec, const struct vc_request *request,
               const struct vc_gpu *gpu);
/* By the bytes that one GPU must offer; without --gpu only the rule can say that. */
bool check_memory(struct gate *gate, const struct vc_spec *spec, const struct vc_request *request);
/* Some GPU of the catalog holds it at the price. */
bool check_price(struct gate *gate, const struct vc_spec *spec, const struct vc_request *request);
bool check_increase(struct gate *gate, const struct vc_spec *spec,
                    const struct vc_request *request);

/* ---- What would pass ---- */

/* Whether a request passes a question. */
typedef bool check_question(const struct gate *gate, const struct vc_request *request,
                            const void *about);

/* A question that was failed. */
struct check_trial {
	const struct gate *gate;
	const struct vc_request *request;
	check_question *passes;
	const void *about;
	const struct change *change; /* what it changed goes back first; NULL: no matter */
	const struct vc_gpu *gpu;    /* to look for plans on; NULL: none */
};

/*
 * Looks for one of the workload's numbers that is to become smaller, else for a plan of `advise`,
 * and adds it to the result and its message. There may be none.
 */
void check_find_remedy(const struct check_trial *trial, struct check_result *result);

#endif
