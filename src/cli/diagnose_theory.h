/* What the estimate says of the job that failed, and which changes make it fit. */
#ifndef VC_CLI_DIAGNOSE_THEORY_H
#define VC_CLI_DIAGNOSE_THEORY_H

#include "advise_plans.h"
#include "log.h"

struct theory {
	const struct vc_spec *spec;
	struct vc_gpu gpu; /* as the log shows it, where it does */
	bool gpu_known;
	bool gpu_guessed; /* by its memory: --gpu was not given */
	enum vc_method method;
	uint64_t need_bytes, high_bytes; /* most likely, and for sure */
	bool searched;
	struct advise_result result;
	/* llama.cpp keeps layers on the host: how many of them the GPU holds. 0: not asked, or none
	 */
	uint32_t gpu_layers, layers;
};

/*
 * The GPU that is named, or else the one that the log shows, by its name or its memory; gpu_known
 * is false where neither tells. theory->spec is set and the catalog open. False with a message.
 */
bool theory_gpu(struct theory *theory, const struct session *session, const struct log *log);

/*
 * Estimates `spec` on the GPU that is named, or else on the one that the log shows, and puts what
 * it needs into the log's evidence. False with a message.
 */
bool theory_estimate(struct theory *theory, struct session *session, const struct vc_spec *spec,
                     struct log *log);

/* Searches for changes that fit, where the diagnosis asks for them. False with a message. */
bool theory_search(struct theory *theory, struct session *session,
                   const struct vc_diagnosis *diagnosis);

#endif
