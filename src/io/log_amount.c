/* Amounts of memory as programs print them. */
#include "log.h"

#include <ctype.h>
#include <string.h>

static uint64_t scaled(uint64_t whole, uint64_t fraction, uint64_t digits_scale, uint64_t unit)
{
	/* Some drivers print absurd sizes (2^64 as GiB): they are held at the largest number. */
	uint64_t part =
	        unit / digits_scale * fraction + unit % digits_scale * fraction / digits_scale;

	return whole > (UINT64_MAX - part) / unit ? UINT64_MAX : whole * unit + part;
}

/* Bytes of the unit at `at`, 0 when there is none; *end is behind it. */
static uint64_t unit_at(const char *at, const char **end)
{
	static const struct {
		const char *name;
		uint64_t bytes;
	} units[] = {
		{ "bytes", 1 },
		{ "Bytes", 1 },
		{ "byte", 1 },
		{ "KiB", 1024 },
		{ "MiB", 1048576 },
		{ "GiB", 1073741824 },
		{ "TiB", 1099511627776 },
		{ "kB", 1000 },
		{ "KB", 1000 },
		{ "MB", 1000000 },
		{ "GB", 1000000000 },
		{ "TB", 1000000000000 },
		{ "B", 1 },
		/* as XLA and TensorFlow abbreviate */
		{ "K", 1024 },
		{ "M", 1048576 },
		{ "G", 1073741824 },
		{ "T", 1099511627776 },
	};

	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		size_t length = strlen(units[i].name);

		if (strncmp(at, units[i].name, length) == 0 &&
		    !isalpha((unsigned char)at[length])) {
			*end = at + length;
			return units[i].bytes;
		}
	}
	return 0;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Whole digits, with commas between groups of three. */
static const char *whole_digits(const char *at, uint64_t *value)
{
	for (*value = 0; is_digit(*at); at++) {
		*value = *value > UINT64_MAX / 10 - 1 ? UINT64_MAX / 10 - 1
		                                      : *value * 10 + (uint64_t)(*at - '0');
		if (at[1] == ',' && strspn(at + 2, "0123456789") == 3) {
			at++;
		}
	}
	return at;
}

bool log_amount(const char *text, uint64_t *bytes, const char **end)
{
	uint64_t whole, fraction = 0, scale = 1, unit;
	const char *at = text;

	if (!is_digit(*at)) {
		return false;
	}
	at = whole_digits(at, &whole);
	if (*at == '.') {
		for (at++; is_digit(*at); at++) {
			if (scale < 1000000) {
				fraction = fraction * 10 + (uint64_t)(*at - '0');
				scale *= 10;
			}
		}
	}
	at += strspn(at, " ");
	unit = unit_at(at, end);
	if (unit == 0) {
		return false;
	}
	*bytes = scaled(whole, fraction, scale, unit);
	return true;
}

bool log_count(const char *text, uint64_t *value)
{
	size_t digits = strspn(text, "0123456789");

	if (digits == 0 || digits > 18) {
		return false;
	}
	*value = 0;
	for (size_t i = 0; i < digits; i++) {
		*value = *value * 10 + (uint64_t)(text[i] - '0');
	}
	return true;
}

bool log_bytes(const char *text, uint64_t *bytes)
{
	const char *end;

	return log_amount(text, bytes, &end) ||
	       (log_count(text, bytes) && text[strspn(text, "0123456789")] != '.');
}

bool log_amount_after(const char *line, const char *phrase, uint64_t *bytes)
{
	const char *at = strstr(line, phrase), *end;

	return at && log_amount(at + strlen(phrase), bytes, &end);
}

bool log_amount_ending(const char *line, const char *where, uint64_t *bytes)
{
	const char *end;

	/* An amount is a number, blanks and a unit: at most some thirty characters. */
	for (const char *at = where; at > line && where - at < 40;) {
		at--;
		if (is_digit(*at) && (at == line || !(is_digit(at[-1]) || at[-1] == '.'))) {
			return log_amount(at, bytes, &end) && end == where;
		}
	}
	return false;
}

bool log_amount_before(const char *line, const char *phrase, uint64_t *bytes)
{
	const char *where = strstr(line, phrase);

	return where && log_amount_ending(line, where, bytes);
}

uint64_t log_permille(const char *text)
{
	uint64_t value = 0;

	if (strncmp(text, "1.0", 3) == 0) {
		return 1000;
	}
	if (text[0] != '0' || text[1] != '.') {
		return 0;
	}
	text += 2;
	for (int i = 0; i < 3; i++) {
		value = value * 10 + (*text >= '0' && *text <= '9' ? (uint64_t)(*text++ - '0') : 0);
	}
	return value;
}
