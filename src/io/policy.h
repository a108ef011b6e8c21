/* A policy file: what every spec of a repository has to keep to. docs/ci.md */
#ifndef VC_POLICY_H
#define VC_POLICY_H

#include "errors.h"

struct vc_policy_exception {
	char *spec;    /* a glob */
	char *reason;  /* required */
	char *expires; /* "2027-03-31", the last day that it holds; required */
};

/* Quantities stay texts and are known to be well-formed; NULL: not given. */
struct vc_policy_rule {
	char *name;   /* required */
	char **specs; /* globs; none: every spec */
	uint32_t specs_count;
	char *gpu;
	char *max_gpus, *max_memory, *min_headroom, *max_price, *max_increase;
	struct vc_policy_exception *exceptions;
	uint32_t exceptions_count;
};

struct vc_policy {
	uint64_t version;
	struct vc_policy_rule *rules;
	uint32_t rules_count;
};

/* To be freed; NULL with every mistake of the file in `errors`. */
struct vc_policy *vc_policy_read(const char *path, struct vc_error_list *errors);
void vc_policy_free(struct vc_policy *policy);

/* "5%" in millionths of the whole, or "2GB" in bytes: one of the two is set. */
bool vc_policy_increase(const char *text, uint64_t *ppm, uint64_t *bytes);

#endif
