/*
 * Rental platforms over the criteria of a decision matrix, made from src/catalog/platforms.yaml; a
 * catalog has them with those of the user's files.
 */
#ifndef VC_PLATFORM_H
#define VC_PLATFORM_H

#include "catalog.h"

enum {
	VC_CRITERIA = 6
};

struct vc_criterion {
	const char *id, *name, *question, *rubric;
};

/* What is known of a platform under one criterion; the criteria's order is the cells'. */
struct vc_platform_cell {
	bool scored;
	uint32_t score_ppm; /* 0 to 1 in millionths */
	const char *is;     /* "" where nothing is known */
	struct vc_origin origin;
};

struct vc_platform_size {
	uint32_t gb;
	const char *vendor, *is;
};

struct vc_platform_evidence {
	const char *about;                                 /* a criterion's id, or "other" */
	const char *grade, *as_of, *source, *text, *doubt; /* no doubt: "" */
	struct vc_origin origin;
};

/* What platforms are filtered by; each is a list of words that ends with NULL. */
enum vc_platform_trait {
	VC_PLATFORM_SLICING,
	VC_PLATFORM_COMPLIANCE,
	VC_PLATFORM_FRAMEWORK,
	VC_PLATFORM_FIT,
	VC_PLATFORM_TRAITS
};

struct vc_platform {
	const char *id, *name, *local_name; /* no local name: "" */
	const char *kind;                   /* "general", "specialist" or "own" */
	struct vc_platform_cell cells[VC_CRITERIA];
	const char *const *traits[VC_PLATFORM_TRAITS];
	const struct vc_platform_size *sizes;
	size_t size_count;
	const struct vc_platform_evidence *evidence;
	size_t evidence_count;
	bool hidden;             /* left out by a user's file; never so in an opened catalog */
	struct vc_origin origin; /* where it was last changed */
};

extern const struct vc_criterion vc_criteria[VC_CRITERIA];
extern const char vc_platforms_as_of[];    /* when the facts were read */
extern const char vc_platforms_compared[]; /* the time that the documents compare */

/*
 * The mean of the scores, weighted; what is not known leaves the sum and its weight the divisor.
 * `known` counts the criteria with a weight that are known, of `weighted`.
 */
struct vc_platform_score {
	bool scored;
	uint32_t score_ppm;
	unsigned known, weighted;
};
struct vc_platform_score vc_platform_score(const struct vc_platform *platform,
                                           const uint64_t weights_ppm[VC_CRITERIA]);

bool vc_platform_has(const struct vc_platform *platform, enum vc_platform_trait trait,
                     const char *word);
/* Rents accelerators of this vendor. */
bool vc_platform_sells(const struct vc_platform *platform, const char *vendor);

enum {
	VC_WEIGHTS_PROBLEM = 160
};

/* "memory=3,billing=1"; what is not named has no weight. False with what is wrong in `problem`. */
bool vc_platform_weights(const char *text, uint64_t weights_ppm[VC_CRITERIA],
                         char problem[VC_WEIGHTS_PROBLEM]);

#endif
