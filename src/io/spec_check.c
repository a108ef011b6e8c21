/* What a text must hold to be a value of its field: kind, range, choices. */
#include "nearest.h"
#include "quantity.h"
#include "spec_fields.h"

#include <stdio.h>
#include <string.h>

static const enum vc_quantity quantities[] = {
	[VC_FIELD_COUNT] = VC_QUANTITY_COUNT,
	[VC_FIELD_BYTES] = VC_QUANTITY_BYTES,
	[VC_FIELD_RATIO] = VC_QUANTITY_PPM,
	[VC_FIELD_MONEY] = VC_QUANTITY_MICROS,
};

enum vc_quantity vc_field_quantity(enum vc_field_kind kind)
{
	return quantities[kind];
}

static void refuse(const struct vc_guard_scalar *scalar, struct vc_error_list *errors,
                   const char *what, const char *expected)
{
	vc_errors_add(errors, &scalar->place, scalar->path, "'%.60s' %s (%s)", scalar->text, what,
	              expected);
}

static void check_quantity(const struct vc_spec_field *field, const struct vc_guard_scalar *scalar,
                           struct vc_error_list *errors)
{
	static const char *const problems[] = {
		[VC_QUANTITY_MALFORMED] = "is not a number",
		[VC_QUANTITY_NO_UNIT] = "has no unit",
		[VC_QUANTITY_NEGATIVE] = "is negative",
		[VC_QUANTITY_FRACTION] = "is not a whole number",
		[VC_QUANTITY_TOO_LARGE] = "is too large",
	};
	enum vc_quantity kind = quantities[field->kind];
	char low[VC_QUANTITY_TEXT], high[VC_QUANTITY_TEXT], expected[128];
	uint64_t value = 0;
	enum vc_quantity_status status = vc_quantity_parse(kind, scalar->text, &value);

	if (status == VC_QUANTITY_OK && value >= field->minimum && value <= field->maximum) {
		return;
	}
	vc_quantity_format(kind, field->minimum, low);
	vc_quantity_format(kind, field->maximum, high);
	if (status == VC_QUANTITY_MALFORMED || status == VC_QUANTITY_NO_UNIT ||
	    status == VC_QUANTITY_FRACTION) {
		bool too_fine = status == VC_QUANTITY_FRACTION && field->kind == VC_FIELD_RATIO;

		refuse(scalar, errors, too_fine ? "has too many digits" : problems[status],
		       vc_quantity_expected(kind));
		return;
	}
	if (field->kind == VC_FIELD_RATIO) {
		(void)snprintf(expected, sizeof expected, "a decimal above 0 and up to %s", high);
	} else if (field->minimum == field->maximum) {
		(void)snprintf(expected, sizeof expected, "only %s is known", low);
	} else if (field->maximum == INT64_MAX) {
		bool low_side = status == VC_QUANTITY_NEGATIVE || status == VC_QUANTITY_OK;

		(void)snprintf(expected, sizeof expected, "at %s %s is expected",
		               low_side ? "least" : "most", low_side ? low : "2^63-1");
	} else {
		(void)snprintf(expected, sizeof expected, "%s to %s is expected", low, high);
	}
	refuse(scalar, errors,
	       status != VC_QUANTITY_OK ? problems[status]
	       : value < field->minimum ? "is too small"
	                                : "is too large",
	       expected);
}

/* "one of a, b, c, ...", as many as fit */
static void list_choices(const struct vc_spec_field *field, char *text, size_t size)
{
	const char *name;
	size_t at = (size_t)snprintf(text, size, "one of");

	for (size_t i = 0; (name = vc_spec_choice(field, i)) != NULL; i++) {
		if (at + strlen(name) + 8 > size) {
			(void)snprintf(text + at, size - at, ", ...");
			return;
		}
		at += (size_t)snprintf(text + at, size - at, "%s%s", i ? ", " : " ", name);
	}
	(void)snprintf(text + at, size - at, " is expected");
}

static void check_choice(const struct vc_spec_field *field, const struct vc_guard_scalar *scalar,
                         struct vc_error_list *errors)
{
	struct vc_nearest nearest = { .wanted = scalar->text };
	char expected[220];
	const char *name;

	if (!field->choices || vc_choice_value(field->choices, scalar->text) != VC_NO_CHOICE) {
		return;
	}
	for (size_t i = 0; (name = vc_spec_choice(field, i)) != NULL; i++) {
		vc_nearest_offer(&nearest, name);
	}
	if (nearest.best) {
		(void)snprintf(expected, sizeof expected, "did you mean '%s'?", nearest.best);
	} else {
		list_choices(field, expected, sizeof expected);
	}
	refuse(scalar, errors, "is not known", expected);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The number at *text, and what follows it. */
static bool take_number(const char **text, uint32_t *number)
{
	const char *p = *text;

	for (*number = 0; is_digit(*p) && *number < 100000000; p++) {
		*number = *number * 10 + (uint32_t)(*p - '0');
	}
	if (p == *text || is_digit(*p)) {
		return false;
	}
	*text = p;
	return true;
}

bool vc_version_parse(const char *text, struct vc_version *version)
{
	uint32_t parts[3] = { 0 };
	const char *p = text + (*text == 'v' || *text == 'b');
	size_t i = 0;

	while (take_number(&p, &parts[i])) {
		i++;
		if (i == 3 || *p != '.' || !is_digit(p[1])) {
			break;
		}
		p++;
	}
	/* what follows the numbers: "rc1", ".post1", "+cu124" */
	if (i == 0 || p[strspn(p, "abcdefghijklmnopqrstuvwxyz0123456789.+-_")]) {
		return false;
	}
	*version = (struct vc_version){ parts[0], parts[1], parts[2] };
	return true;
}

static void check_currency(const struct vc_guard_scalar *scalar, struct vc_error_list *errors)
{
	if (strlen(scalar->text) != 3 ||
	    scalar->text[strspn(scalar->text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")]) {
		refuse(scalar, errors, "is not a currency", "three capital letters such as USD");
	}
}

void vc_spec_check(const struct vc_guard_scalar *scalar, struct vc_error_list *errors)
{
	struct vc_version version;
	size_t index;
	const struct vc_field_row *row = vc_field_row_by_path(scalar->path, &index);

	if (!row) {
		return;
	}
	switch (row->field.kind) {
	case VC_FIELD_COUNT:
	case VC_FIELD_BYTES:
	case VC_FIELD_RATIO:
	case VC_FIELD_MONEY:
		check_quantity(&row->field, scalar, errors);
		break;
	case VC_FIELD_CHOICE:
	case VC_FIELD_LIST:
		check_choice(&row->field, scalar, errors);
		break;
	case VC_FIELD_VERSION:
		if (!vc_version_parse(scalar->text, &version)) {
			refuse(scalar, errors, "is not a version", "such as 0.11, 0.11.2 or b4567");
		}
		break;
	case VC_FIELD_CURRENCY:
		check_currency(scalar, errors);
		break;
	default:
		break;
	}
}
