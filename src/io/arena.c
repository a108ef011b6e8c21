/* A list of blocks; a request that is larger than a block gets one of its own. */
#include "arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
	BLOCK_BYTES = 16384
};

struct vc_arena_block {
	struct vc_arena_block *next;
	size_t size, used;
	max_align_t data[];
};

static struct vc_arena_block *add_block(struct vc_arena *arena, size_t size)
{
	struct vc_arena_block *block;

	if (size > SIZE_MAX - sizeof *block) {
		return NULL;
	}
	block = calloc(1, sizeof *block + size);
	if (block) {
		block->next = arena->blocks;
		block->size = size;
		arena->blocks = block;
	}
	return block;
}

void *vc_arena_take(struct vc_arena *arena, size_t size)
{
	struct vc_arena_block *block = arena->blocks;
	size_t rounded;
	void *taken;

	if (size > SIZE_MAX / 2) {
		return NULL;
	}
	rounded = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
	if (!block || block->size - block->used < rounded) {
		block = add_block(arena, rounded > BLOCK_BYTES ? rounded : BLOCK_BYTES);
	}
	if (!block) {
		return NULL;
	}
	taken = (char *)block->data + block->used;
	block->used += rounded;
	return taken;
}

void *vc_arena_copy(struct vc_arena *arena, const void *from, size_t size)
{
	void *copy = vc_arena_take(arena, size);

	if (copy && size) {
		memcpy(copy, from, size);
	}
	return copy;
}

char *vc_arena_text(struct vc_arena *arena, const char *text, size_t length)
{
	char *copy = vc_arena_take(arena, length + 1);

	if (copy) {
		memcpy(copy, text, length);
	}
	return copy;
}

void vc_arena_free(struct vc_arena *arena)
{
	while (arena->blocks) {
		struct vc_arena_block *next = arena->blocks->next;

		free(arena->blocks);
		arena->blocks = next;
	}
}
