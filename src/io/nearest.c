/* Levenshtein's distance over one row; names that differ in more than a third are not near. */
#include "nearest.h"

#include <string.h>

enum {
	LONGEST = 63
};

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static size_t least(size_t a, size_t b, size_t c)
{
	size_t m = a < b ? a : b;

	return m < c ? m : c;
}

static size_t edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	size_t row[LONGEST + 1];

	for (size_t j = 0; j <= b_length; j++) {
		row[j] = j;
	}
	for (size_t i = 1; i <= a_length; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= b_length; j++) {
			size_t above = row[j];

			row[j] = least(above + 1, row[j - 1] + 1,
			               diagonal + (lower(a[i - 1]) != lower(b[j - 1])));
			diagonal = above;
		}
	}
	return row[b_length];
}

void vc_nearest_offer(struct vc_nearest *nearest, const char *candidate)
{
	size_t wanted = strnlen(nearest->wanted, LONGEST + 1);
	size_t offered = strnlen(candidate, LONGEST + 1);
	size_t longer = wanted > offered ? wanted : offered;
	size_t distance;

	if (longer > LONGEST) {
		return;
	}
	distance = edit_distance(nearest->wanted, wanted, candidate, offered);
	if (distance * 3 > longer || (nearest->best && distance >= nearest->distance)) {
		return;
	}
	nearest->best = candidate;
	nearest->distance = distance;
}
