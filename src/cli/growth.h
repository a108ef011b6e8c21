/* How the memory of a job grows with its batch, its requests or its length: estimates over powers
 * of two. */
#ifndef VC_CLI_GROWTH_H
#define VC_CLI_GROWTH_H

#include "plan.h"

enum {
	GROWTH_POINTS = 48
};

struct growth_point {
	uint64_t value;
	uint64_t need_bytes, expected_bytes; /* what one GPU must offer: for sure, most likely */
};

struct growth {
	enum vc_solve_field field;
	enum vc_method method;                /* that the points are by */
	const struct vc_candidate *candidate; /* whose GPU and layout they are for */
	uint64_t limit_bytes;                 /* what that GPU offers */
	uint64_t now;                         /* the spec's value; one of the points */
	uint64_t most;                        /* the largest value that fits; 0: none does */
	bool bounded;                         /* false: `most` is only how far the search went */
	bool flat;                            /* memory does not depend on it */
	size_t count;
	struct growth_point points[GROWTH_POINTS];
};

/* How a field is called: in ids, at the start of a sentence, its unit, on an axis. */
struct growth_words {
	const char *id, *name, *unit, *axis;
};
extern const struct growth_words growth_words[VC_SOLVE_FIELD_COUNT];

/*
 * On the best candidate, by the method that ranks; where memory does not depend on the field by
 * the rule method and the detailed one is known, by that. `growth->count` is 0 where there is
 * nothing to show.
 */
void growth_estimate(const struct plan *plan, enum vc_solve_field field, struct growth *growth);

/* What the points say, in a sentence or two. */
void growth_sentence(const struct growth *growth, const struct plan *plan, char to[PLAN_TEXT]);

#endif
