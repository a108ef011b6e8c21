/* The nearest known name, for "did you mean" in messages. */
#ifndef VC_NEAREST_H
#define VC_NEAREST_H

#include <stddef.h>

/* Feeds candidates one by one: start with { .wanted = "prams" }, offer each known name, read best.
 */
struct vc_nearest {
	const char *wanted;
	const char *best; /* NULL while nothing is near */
	size_t distance;
};

void vc_nearest_offer(struct vc_nearest *nearest, const char *candidate);

#endif
