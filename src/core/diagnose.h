/* What the advice of a diagnosis needs to know of its evidence. */
#ifndef VC_DIAGNOSE_H
#define VC_DIAGNOSE_H

#include "vramcalc/vramcalc.h"

static inline bool diagnose_knows(const struct vc_evidence *evidence, uint32_t members)
{
	return (evidence->known & members) == members;
}

/* Sentences for the cause that was found, what to set first. */
void diagnose_advise(const struct vc_evidence *evidence, struct vc_diagnosis *diagnosis);

#endif
