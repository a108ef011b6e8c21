/* Comparison of hardware names; locale plays no part. */
#include "gpu_name.h"

#include <stddef.h>
#include <string.h>

static bool is_separator(char c)
{
	return c == ' ' || c == '-' || c == '_' || c == '.' || c == '/' || c == '(' || c == ')';
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

bool vc_names_equal(const char *a, const char *b)
{
	for (;;) {
		while (is_separator(*a)) {
			a++;
		}
		while (is_separator(*b)) {
			b++;
		}
		if (lower(*a) != lower(*b)) {
			return false;
		}
		if (!*a) {
			return true;
		}
		a++;
		b++;
	}
}

/* Where `name` goes on after `word`, or NULL when it does not begin with it. */
static const char *after_word(const char *name, const char *word)
{
	while (*word && lower(*name) == *word) {
		name++;
		word++;
	}
	return !*word && is_separator(*name) ? name + 1 : NULL;
}

const char *vc_name_without_maker(const char *name)
{
	/* Not "quadro": an RTX 6000 is three different cards. */
	static const char *const makers[] = { "nvidia", "amd",      "intel",   "huawei",
		                              "google", "apple",    "geforce", "tesla",
		                              "radeon", "instinct", "ascend" };
	size_t i = 0;

	while (i < sizeof makers / sizeof makers[0]) {
		const char *rest = after_word(name, makers[i]);

		i++;
		if (rest && *rest) {
			name = rest;
			i = 0;
		}
	}
	return name;
}
