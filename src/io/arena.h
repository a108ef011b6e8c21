/* Memory that is given back all at once: what an opened catalog consists of. */
#ifndef VC_ARENA_H
#define VC_ARENA_H

#include <stddef.h>

struct vc_arena_block;

/* Zero-initialize before use. */
struct vc_arena {
	struct vc_arena_block *blocks;
};

/* Zeroed and aligned for any type; NULL when there is no memory. */
void *vc_arena_take(struct vc_arena *arena, size_t size);
void *vc_arena_copy(struct vc_arena *arena, const void *from, size_t size);
char *vc_arena_text(struct vc_arena *arena, const char *text, size_t length);
void vc_arena_free(struct vc_arena *arena);

#endif
