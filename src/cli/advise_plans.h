/* Plans that make a job fit: found, and shown for people and for programs. */
#ifndef VC_CLI_ADVISE_PLANS_H
#define VC_CLI_ADVISE_PLANS_H

#include "json_writer.h"
#include "origin.h"
#include "output.h"
#include "session.h"

enum {
	ADVISE_MOST_PLANS = 8
};

struct advise_result {
	const struct vc_gpu *gpu;
	struct vc_advice advice;
	struct vc_plan plans[ADVISE_MOST_PLANS];
};

/* Searches for `result->gpu`. The catalog is open. */
enum vc_status advise_search(struct session *session, const struct vc_request *request,
                             struct advise_result *result, struct vc_error *error);

void advise_json_plan(struct json_writer *json, const char *key, const struct vc_plan *plan);
/* "1. needs ..." with its steps. */
void advise_print_plan(struct output *out, const struct advise_result *result, size_t index);
/* That none fits, and the one that misses by least. */
/* Which models beside the policy are taken as they are; nothing where there are none. */
void advise_print_others(struct output *out, const struct vc_request *request);
void advise_print_hopeless(struct output *out, const struct advise_result *result);
/* The plans' GPUs; the price is what chose one. */
void advise_add_origins(struct origin_note *note, const struct advise_result *result);

#endif
