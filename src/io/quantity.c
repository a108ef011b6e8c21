/*
 * A number with a unit is digits x 2^a x 5^b, held that way until the end: 1.07B is 107 x 10^7.
 * Floating point would miss the integer for every 28th value of two decimals.
 */
#include "quantity.h"

#include <stdio.h>
#include <string.h>

enum {
	LEAST_BARE_BYTES = 1000000, /* somebody who writes 24 means 24GB, not 24 bytes */
	EXPONENT_LIMIT = 9999       /* enough to overflow, or to vanish, whatever the digits are */
};

struct suffix {
	const char *name;
	int tens, twos; /* 10^tens x 2^twos */
};

/* Of two that write a value equally short, vc_quantity_format() takes the later one. */
static const struct suffix count_suffixes[] = {
	{ "", 0, 0 },    { "k", 3, 0 },   { "M", 6, 0 },   { "G", 9, 0 },
	{ "B", 9, 0 },   { "T", 12, 0 },  { "Ki", 0, 10 }, { "Mi", 0, 20 },
	{ "Gi", 0, 30 }, { "Ti", 0, 40 }, { NULL, 0, 0 },
};
static const struct suffix byte_suffixes[] = {
	{ "", 0, 0 },     { "B", 0, 0 },    { "kB", 3, 0 },   { "MB", 6, 0 },
	{ "GB", 9, 0 },   { "TB", 12, 0 },  { "KiB", 0, 10 }, { "MiB", 0, 20 },
	{ "GiB", 0, 30 }, { "TiB", 0, 40 }, { NULL, 0, 0 },
};
static const struct suffix millionth_suffixes[] = { { "", 6, 0 }, { NULL, 0, 0 } };

static const struct {
	const struct suffix *suffixes;
	const char *expected;
} kinds[] = {
	[VC_QUANTITY_COUNT] = { count_suffixes, "a whole number such as 4096, 7B, 340M or 128Ki" },
	[VC_QUANTITY_BYTES] = { byte_suffixes, "a size such as 24GB, 80GiB or 512MiB" },
	[VC_QUANTITY_PPM] = { millionth_suffixes, "a decimal number such as 0.9" },
	[VC_QUANTITY_MICROS] = { millionth_suffixes, "an amount such as 1.25" },
};

const char *vc_quantity_expected(enum vc_quantity kind)
{
	return kinds[kind].expected;
}

/* digits x 10^tens, without zeros at the end of the digits */
struct decimal {
	uint64_t digits;
	int tens;
	bool long_digits; /* more than 64 bits hold */
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static void push_digit(struct decimal *number, unsigned digit, int *zeros)
{
	if (digit == 0) {
		(*zeros)++;
		return;
	}
	for (; *zeros >= 0; (*zeros)--) {
		unsigned add = *zeros == 0 ? digit : 0;

		if (number->digits > (UINT64_MAX - add) / 10) {
			number->long_digits = true;
			return;
		}
		number->digits = number->digits * 10 + add;
	}
	*zeros = 0;
}

/* "6_738.25": '_' stands between digits of the whole part only. NULL when malformed. */
static const char *read_digits(const char *text, struct decimal *number)
{
	int zeros = 0;
	const char *p = text;

	if (!is_digit(*p) || (*p == '0' && (is_digit(p[1]) || p[1] == '_'))) {
		return NULL;
	}
	for (; is_digit(*p) || (*p == '_' && is_digit(p[1])); p++) {
		if (*p != '_') {
			push_digit(number, (unsigned)(*p - '0'), &zeros);
		}
	}
	if (*p == '.') {
		if (!is_digit(*++p)) {
			return NULL;
		}
		for (; is_digit(*p); p++) {
			push_digit(number, (unsigned)(*p - '0'), &zeros);
			number->tens -= number->tens > -EXPONENT_LIMIT;
		}
	}
	number->tens += zeros < EXPONENT_LIMIT ? zeros : EXPONENT_LIMIT;
	return p;
}

static const char *read_exponent(const char *p, struct decimal *number)
{
	bool negative;
	int exponent = 0;

	if (lower(*p) != 'e') {
		return p;
	}
	negative = p[1] == '-';
	p += p[1] == '-' || p[1] == '+' ? 2 : 1;
	if (!is_digit(*p)) {
		return NULL;
	}
	for (; is_digit(*p); p++) {
		exponent = exponent < EXPONENT_LIMIT ? exponent * 10 + (*p - '0') : exponent;
	}
	number->tens += negative ? -exponent : exponent;
	return p;
}

static const struct suffix *find_suffix(enum vc_quantity kind, const char *text)
{
	const struct suffix *suffix = kinds[kind].suffixes;

	text += *text == ' ' && text[1] ? 1 : 0;
	for (; suffix->name; suffix++) {
		size_t i = 0;

		while (text[i] && lower(text[i]) == lower(suffix->name[i])) {
			i++;
		}
		if (text[i] == suffix->name[i]) {
			return suffix;
		}
	}
	return NULL;
}

/* value x base^power, exactly */
static enum vc_quantity_status scale(uint64_t *value, unsigned base, int power)
{
	for (; power > 0; power--) {
		if (*value > INT64_MAX / base) {
			return VC_QUANTITY_TOO_LARGE;
		}
		*value *= base;
	}
	for (; power < 0; power++) {
		if (*value % base) {
			return VC_QUANTITY_FRACTION;
		}
		*value /= base;
	}
	return VC_QUANTITY_OK;
}

static enum vc_quantity_status evaluate(const struct decimal *number, const struct suffix *suffix,
                                        uint64_t *value)
{
	int fives = number->tens + suffix->tens;
	int twos = fives + suffix->twos;
	enum vc_quantity_status status;

	if (number->long_digits) {
		return fives < 0 ? VC_QUANTITY_FRACTION : VC_QUANTITY_TOO_LARGE;
	}
	*value = number->digits;
	if (*value == 0) {
		return VC_QUANTITY_OK;
	}
	/* Division first: what is exact in the end never overflows on the way. */
	status = scale(value, fives < twos ? 5 : 2, fives < twos ? fives : twos);
	if (status == VC_QUANTITY_OK) {
		status = scale(value, fives < twos ? 2 : 5, fives < twos ? twos : fives);
	}
	if (status == VC_QUANTITY_OK && *value > INT64_MAX) {
		status = VC_QUANTITY_TOO_LARGE;
	}
	return status;
}

enum vc_quantity_status vc_quantity_parse(enum vc_quantity kind, const char *text, uint64_t *value)
{
	struct decimal number = { 0 };
	bool negative = text[0] == '-';
	const char *end = read_digits(text + negative, &number);
	const struct suffix *suffix;
	enum vc_quantity_status status;
	uint64_t exact = 0;

	if (end) {
		end = read_exponent(end, &number);
	}
	suffix = end ? find_suffix(kind, end) : NULL;
	if (!suffix) {
		return VC_QUANTITY_MALFORMED;
	}
	if (negative) {
		return VC_QUANTITY_NEGATIVE;
	}
	status = evaluate(&number, suffix, &exact);
	if (status == VC_QUANTITY_OK && kind == VC_QUANTITY_BYTES && !suffix->name[0] &&
	    exact > 0 && exact < LEAST_BARE_BYTES) {
		return VC_QUANTITY_NO_UNIT;
	}
	*value = status == VC_QUANTITY_OK ? exact : *value;
	return status;
}

/* value / 10^tens with up to `places` decimals, when that is exact */
static bool write_decimal(uint64_t value, int tens, int places, char *text)
{
	uint64_t unit = 1, whole, rest;
	int width = tens;

	for (int i = 0; i < tens; i++) {
		unit *= 10;
	}
	whole = value / unit;
	rest = value % unit;
	for (; width > 0 && rest % 10 == 0; width--) {
		rest /= 10;
	}
	if ((tens > 0 && whole == 0 && places < tens) || width > places) {
		return false;
	}
	if (width == 0) {
		(void)snprintf(text, VC_QUANTITY_TEXT, "%llu", (unsigned long long)whole);
	} else {
		(void)snprintf(text, VC_QUANTITY_TEXT, "%llu.%0*llu", (unsigned long long)whole,
		               width, (unsigned long long)rest);
	}
	return true;
}

/* Two decimals at most, and 2^10 only from 64 Ki on: people write 1.07B, 4096 and 128Ki. */
static bool write_with_suffix(const struct suffix *suffix, uint64_t value, char *text)
{
	uint64_t unit = 1ull << suffix->twos;

	if (value == 0 || (suffix->tens == 0 && suffix->twos == 0)) {
		return false;
	}
	if (suffix->twos ? value % unit || value / unit >= 1024 || value < 65536
	                 : !write_decimal(value, suffix->tens, 2, text)) {
		return false;
	}
	if (suffix->twos) {
		(void)snprintf(text, VC_QUANTITY_TEXT, "%llu", (unsigned long long)(value / unit));
	}
	(void)strncat(text, suffix->name, VC_QUANTITY_TEXT - 1 - strlen(text));
	return true;
}

char *vc_quantity_format(enum vc_quantity kind, uint64_t value, char text[VC_QUANTITY_TEXT])
{
	const struct suffix *suffix = kinds[kind].suffixes;
	char candidate[VC_QUANTITY_TEXT];
	size_t plain;

	if (suffix == millionth_suffixes) {
		(void)write_decimal(value, 6, 6, text);
		return text;
	}
	(void)write_decimal(value, 0, 0, text);
	if (kind == VC_QUANTITY_BYTES && value > 0 && value < LEAST_BARE_BYTES) {
		(void)strncat(text, "B", VC_QUANTITY_TEXT - 1 - strlen(text));
	}
	plain = strlen(text);
	for (; suffix->name; suffix++) {
		if (write_with_suffix(suffix, value, candidate) && strlen(candidate) < plain &&
		    strlen(candidate) <= strlen(text)) {
			memcpy(text, candidate, sizeof candidate);
		}
	}
	return text;
}
