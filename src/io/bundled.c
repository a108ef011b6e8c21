/* Finds a bundled model by binary search over the tables that the build writes from models/. */
#include "bundled.h"

#include "bundled_data.h"

/* The next letter, digit or dot of a name in lower case; 0 at its end. A dot is no separator:
 * opt-1.3b is not opt-13b. */
static char next_letter(const char **name)
{
	for (; **name; (*name)++) {
		char c = **name;

		if (c >= 'A' && c <= 'Z') {
			c = (char)(c + 32);
		}
		if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.') {
			(*name)++;
			return c;
		}
	}
	return 0;
}

static int compare(const char *name, const char *key)
{
	char a, b;

	do {
		a = next_letter(&name);
		b = *key++;
	} while (a == b && a);
	return a - b;
}

bool vc_bundled_find(const char *name, const char **text, size_t *length)
{
	size_t low = 0, high = vc_bundled_key_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct vc_bundled_key *key = &vc_bundled_keys[middle];
		int order = compare(name, vc_bundled_pool + key->key);

		if (order == 0) {
			*text = vc_bundled_pool + vc_bundled_entries[key->entry].text;
			*length = vc_bundled_entries[key->entry].length;
			return true;
		}
		if (order < 0) {
			high = middle;
		} else {
			low = middle + 1;
		}
	}
	return false;
}

const char *vc_bundled_name(size_t index)
{
	if (index >= vc_bundled_entry_count) {
		return NULL;
	}
	return vc_bundled_pool + vc_bundled_entries[index].name;
}
