/* Have these bytes been seen before? Remembers a 64-bit hash of each, so that memory stays small
 * whatever a file holds: two of 2^18 names collide once in 2^29 files. */
#ifndef VC_NAME_SET_H
#define VC_NAME_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vc_name_set {
	uint64_t *slots; /* 0: free */
	size_t room, count;
};

enum vc_name_added {
	VC_NAME_NEW,
	VC_NAME_SEEN,
	VC_NAME_NO_MEMORY
};

/* FNV-1a, 64 bits (www.isthe.com/chongo/tech/comp/fnv); never 0. */
uint64_t vc_name_hash(const char *name, size_t length);

enum vc_name_added vc_name_set_add(struct vc_name_set *set, const char *name, size_t length);
void vc_name_set_drop(struct vc_name_set *set);

#endif
