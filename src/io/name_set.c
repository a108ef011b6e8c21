#include "name_set.h"

#include <stdlib.h>

uint64_t vc_name_hash(const char *name, size_t length)
{
	uint64_t value = 14695981039346656037u;

	for (size_t i = 0; i < length; i++) {
		value = (value ^ (unsigned char)name[i]) * 1099511628211u;
	}
	return value ? value : 1;
}

/* The slot that holds the value, or the free one where it belongs. */
static uint64_t *find(const struct vc_name_set *set, uint64_t value)
{
	size_t i = (size_t)(value >> 32) & (set->room - 1);

	while (set->slots[i] && set->slots[i] != value) {
		i = (i + 1) & (set->room - 1);
	}
	return &set->slots[i];
}

static bool grow(struct vc_name_set *set)
{
	struct vc_name_set larger = { .room = set->room ? set->room * 2 : 256 };

	larger.slots = calloc(larger.room, sizeof *larger.slots);
	if (!larger.slots) {
		return false;
	}
	for (size_t i = 0; i < set->room; i++) {
		if (set->slots[i]) {
			*find(&larger, set->slots[i]) = set->slots[i];
		}
	}
	larger.count = set->count;
	free(set->slots);
	*set = larger;
	return true;
}

enum vc_name_added vc_name_set_add(struct vc_name_set *set, const char *name, size_t length)
{
	uint64_t value = vc_name_hash(name, length);
	uint64_t *slot;

	if (set->count * 2 >= set->room && !grow(set)) {
		return VC_NAME_NO_MEMORY;
	}
	slot = find(set, value);
	if (*slot) {
		return VC_NAME_SEEN;
	}
	*slot = value;
	set->count++;
	return VC_NAME_NEW;
}

void vc_name_set_drop(struct vc_name_set *set)
{
	free(set->slots);
	*set = (struct vc_name_set){ 0 };
}
