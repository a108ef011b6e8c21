/* Comparing engine versions: policies hold from a version on. */
#ifndef VC_ENGINE_VERSION_H
#define VC_ENGINE_VERSION_H

#include "vramcalc/vramcalc.h"

static inline bool version_at_least(struct vc_version version, struct vc_version from)
{
	if (version.major != from.major) {
		return version.major > from.major;
	}
	return version.minor != from.minor ? version.minor > from.minor
	                                   : version.patch >= from.patch;
}

/* The request's version; the newest that is modelled where it names none. */
struct vc_version engine_version(const struct vc_engine_options *options);

/* Says so where the request's version is outside what is modelled. */
void engine_note_version(const struct vc_engine_options *options, struct vc_ledger *ledger);

#endif
