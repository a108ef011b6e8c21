/* The tables that embed_models.cmake writes: offsets into one pool, so that loading the program
 * relocates nothing. */
#ifndef VC_BUNDLED_DATA_H
#define VC_BUNDLED_DATA_H

#include <stddef.h>
#include <stdint.h>

struct vc_bundled_entry {
	uint32_t name, text, length;
};

/* A name or alias in lower case without separators, and the entry it finds. */
struct vc_bundled_key {
	uint32_t key, entry;
};

extern const char vc_bundled_pool[];
extern const struct vc_bundled_entry vc_bundled_entries[]; /* by name */
extern const size_t vc_bundled_entry_count;
extern const struct vc_bundled_key vc_bundled_keys[]; /* by key */
extern const size_t vc_bundled_key_count;

#endif
