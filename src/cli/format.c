#include "format.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum {
	MOST_MORE = 2,    /* digits that one cell has beyond the others of its table */
	MOST_DECIMALS = 9 /* a rest of a unit times 10^9 stays below 2^64 */
};

static const struct {
	const char *name;
	uint64_t bytes;
} units[UNIT_COUNT] = {
	[UNIT_GB] = { "GB", 1000000000 },
	[UNIT_GIB] = { "GiB", 1 << 30 },
	[UNIT_MIB] = { "MiB", 1 << 20 },
	[UNIT_B] = { "B", 1 },
};

const char *format_unit_name(enum byte_unit unit)
{
	return units[unit].name;
}

uint64_t format_unit_bytes(enum byte_unit unit)
{
	return units[unit].bytes;
}

static uint64_t power_of_ten(unsigned exponent)
{
	uint64_t power = 1;

	while (exponent--) {
		power *= 10;
	}
	return power;
}

unsigned format_decimals(uint64_t bytes, enum byte_unit unit)
{
	unsigned decimals = 2;

	if (unit == UNIT_B) {
		return 0;
	}
	if (unit == UNIT_MIB) {
		return format_visible_decimals(bytes, unit,
		                               bytes >= 100 * units[unit].bytes ? 0 : 1);
	}
	while (bytes > 0 && decimals < MOST_DECIMALS &&
	       bytes < units[unit].bytes / power_of_ten(decimals - 2)) {
		decimals++;
	}
	return decimals;
}

unsigned format_visible_decimals(uint64_t bytes, enum byte_unit unit, unsigned decimals)
{
	for (unsigned more = 0; bytes > 0 && more <= MOST_MORE; more++) {
		if (bytes >= units[unit].bytes / power_of_ten(decimals + more) / 2) {
			return decimals + more;
		}
	}
	return decimals;
}

/* A quotient that is rounded at so many digits behind the point. */
struct quotient {
	uint64_t value, divisor;
	unsigned decimals;
	enum rounding rounding;
};

/* The rest x 10^decimals stays below 2^64 for all callers. */
static void divide(char *to, size_t size, struct quotient q)
{
	uint64_t scale = power_of_ten(q.decimals);
	uint64_t whole = q.value / q.divisor, rest = q.value % q.divisor * scale;
	uint64_t part = rest / q.divisor, left = rest % q.divisor;

	if ((q.rounding == ROUND_UP && left) ||
	    (q.rounding == ROUND_NEAREST && left >= q.divisor - left)) {
		part++;
	}
	whole += part / scale;
	part %= scale;
	if (q.decimals) {
		snprintf(to, size, "%" PRIu64 ".%0*" PRIu64, whole, (int)q.decimals, part);
	} else {
		snprintf(to, size, "%" PRIu64, whole);
	}
}

void format_bytes(char *to, size_t size, uint64_t bytes, struct byte_style style)
{
	divide(to, size,
	       (struct quotient){ bytes, units[style.unit].bytes, style.decimals, style.rounding });
}

static void drop_trailing_zeros(char *number)
{
	char *end = number + strlen(number);

	if (!strchr(number, '.')) {
		return;
	}
	while (end[-1] == '0') {
		*--end = '\0';
	}
	if (end[-1] == '.') {
		end[-1] = '\0';
	}
}

void format_quantity(char *to, size_t size, uint64_t bytes, enum byte_unit unit,
                     enum rounding rounding)
{
	char number[40];

	format_bytes(number, sizeof number, bytes,
	             (struct byte_style){ unit, format_decimals(bytes, unit), rounding });
	drop_trailing_zeros(number);
	snprintf(to, size, "%s %s", number, units[unit].name);
}

void format_count(char *to, size_t size, uint64_t count)
{
	static const struct {
		uint64_t value;
		const char *suffix;
	} steps[] = { { 1000000000000, "T" }, { 1000000000, "B" }, { 1000000, "M" } };
	char number[40];

	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		if (count >= steps[i].value) {
			unsigned decimals = count >= 100 * steps[i].value ? 0 : 2;

			divide(number, sizeof number,
			       (struct quotient){ count, steps[i].value, decimals, ROUND_NEAREST });
			drop_trailing_zeros(number);
			snprintf(to, size, "%s%s", number, steps[i].suffix);
			return;
		}
	}
	snprintf(to, size, "%" PRIu64, count);
}

void format_ratio(char *to, size_t size, uint64_t value, uint64_t divisor)
{
	uint64_t rest = value % divisor;
	size_t used;

	snprintf(to, size, "%" PRIu64, value / divisor);
	used = strlen(to);
	if (rest == 0 || used + 2 >= size) {
		return;
	}
	to[used++] = '.';
	for (int digit = 0; rest && digit < 9 && rest <= UINT64_MAX / 10 && used + 1 < size;
	     digit++) {
		rest *= 10;
		to[used++] = (char)('0' + rest / divisor);
		rest %= divisor;
	}
	to[used] = '\0';
}

void format_price(char *to, size_t size, uint64_t micros, const char *currency)
{
	bool dollars = strcmp(currency, "USD") == 0;
	char number[40];

	divide(number, sizeof number,
	       (struct quotient){ micros, 1000000, micros && micros < 100000 ? 3 : 2,
	                          ROUND_NEAREST });
	snprintf(to, size, "%s%s%s%s", dollars ? "$" : "", number, dollars || !*currency ? "" : " ",
	         dollars ? "" : currency);
}
