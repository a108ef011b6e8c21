#include "vary.h"

#include "print_text.h"
#include "quantity.h"
#include "spec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool wrong(FILE *errors, const char *word, const char *what)
{
	char shown[160];

	text_copy(shown, sizeof shown, word, true);
	fprintf(errors, "vramcalc compare: --vary: \"%s\": %s\n", shown, what);
	return false;
}

static bool add(struct variation *variation, const char *value, size_t length)
{
	size_t room = strlen(variation->field) + length + sizeof "--vary:=";
	char *setting = malloc(room);

	if (!setting || variation->count == VARY_VALUES) {
		free(setting);
		return false;
	}
	(void)snprintf(setting, room, "--vary:%s=%.*s", variation->field, (int)length, value);
	variation->settings[variation->count++] = setting;
	return true;
}

/* "1..64*2": from, to, and how to get from one value to the next. */
struct range {
	uint64_t from, to, step;
	bool multiplies;
};

static bool parse_number(const char *text, size_t length, uint64_t *value)
{
	char number[64];

	if (length == 0 || length >= sizeof number) {
		return false;
	}
	memcpy(number, text, length);
	number[length] = '\0';
	return vc_quantity_parse(VC_QUANTITY_COUNT, number, value) == VC_QUANTITY_OK;
}

static bool parse_range(const char *text, size_t length, const char *dots, struct range *range)
{
	const char *to = dots + 2, *end = text + length;
	const char *step = to + strcspn(to, "*+,");

	*range = (struct range){ .step = 1 };
	if (!parse_number(text, (size_t)(dots - text), &range->from) ||
	    !parse_number(to, (size_t)(step - to), &range->to)) {
		return false;
	}
	if (step < end) {
		range->multiplies = *step == '*';
		if (!parse_number(step + 1, (size_t)(end - step) - 1, &range->step)) {
			return false;
		}
	}
	return range->from <= range->to &&
	       (range->multiplies ? range->step > 1 && range->from > 0 : range->step > 0);
}

static bool add_range(struct variation *variation, const struct range *range)
{
	uint64_t value = range->from;

	for (;;) {
		char number[32];
		uint64_t next;

		snprintf(number, sizeof number, "%" PRIu64, value);
		if (!add(variation, number, strlen(number))) {
			return false;
		}
		if (range->multiplies
		            ? value > range->to / range->step
		            : value > range->to - range->step || range->to < range->step) {
			return true;
		}
		next = range->multiplies ? value * range->step : value + range->step;
		value = next;
	}
}

static bool add_values(struct variation *variation, const char *word, const char *text,
                       FILE *errors)
{
	static const char too_many[] = "too many values (expected at most 4096 of a field)";

	for (;;) {
		size_t length = strcspn(text, ",");
		const char *dots = strstr(text, "..");
		struct range range;

		if (length == 0) {
			return wrong(errors, word, "a value is missing (expected FIELD=V1,V2,...)");
		}
		if (dots && dots < text + length) {
			if (!parse_range(text, length, dots, &range)) {
				return wrong(errors, word,
				             "no range (expected A..B, A..B+STEP or A..B*FACTOR)");
			}
			if (!add_range(variation, &range)) {
				return wrong(errors, word, too_many);
			}
		} else if (!add(variation, text, length)) {
			return wrong(errors, word, too_many);
		}
		if (!text[length]) {
			return true;
		}
		text += length + 1;
	}
}

static bool known_field(const char *field, const char *word, FILE *errors)
{
	const char *nearest;
	char what[200];

	if (vc_spec_field_by_path(field) || strncmp(field, "model.architecture.", 19) == 0) {
		return true;
	}
	nearest = vc_spec_field_nearest(field);
	snprintf(what, sizeof what, "no such field%s%s%s", nearest ? " (did you mean " : "",
	         nearest ? nearest : "", nearest ? "?)" : "");
	return wrong(errors, word, what);
}

static bool parse_one(struct variations *all, char **storage, const char *word, FILE *errors)
{
	struct variation *variation = &all->fields[all->count];
	size_t length = strcspn(word, "=");

	if (all->count == VARY_FIELDS) {
		return wrong(errors, word, "one field too many (expected at most 8)");
	}
	if (!word[length] || length == 0) {
		return wrong(errors, word, "no values (expected FIELD=V1,V2,...)");
	}
	memcpy(*storage, word, length);
	(*storage)[length] = '\0';
	variation->field = *storage;
	*storage += length + 1;
	for (size_t i = 0; i < all->count; i++) {
		if (strcmp(all->fields[i].field, variation->field) == 0) {
			return wrong(errors, word, "the field is varied twice (expected once)");
		}
	}
	variation->settings = malloc(VARY_VALUES * sizeof *variation->settings);
	all->count++;
	if (!variation->settings || !known_field(variation->field, word, errors) ||
	    !add_values(variation, word, word + length + 1, errors)) {
		return false;
	}
	all->combinations *= variation->count;
	if (all->combinations > UINT32_MAX) {
		return wrong(errors, word, "too many combinations");
	}
	return true;
}

bool variations_parse(struct variations *variations, const struct text_list *words, FILE *errors)
{
	size_t length = 1;
	char *storage;

	*variations = (struct variations){ .combinations = 1 };
	for (size_t i = 0; i < words->count; i++) {
		length += strlen(words->items[i]) + 1;
	}
	storage = variations->storage = malloc(length);
	if (!storage) {
		fprintf(errors, "vramcalc: out of memory\n");
		return false;
	}
	for (size_t i = 0; i < words->count; i++) {
		if (!parse_one(variations, &storage, words->items[i], errors)) {
			return false;
		}
	}
	return true;
}

void variations_free(struct variations *variations)
{
	for (size_t i = 0; i < variations->count; i++) {
		for (size_t k = 0; k < variations->fields[i].count; k++) {
			free(variations->fields[i].settings[k]);
		}
		free(variations->fields[i].settings);
	}
	free(variations->storage);
}

void variations_at(const struct variations *variations, uint64_t combination,
                   const char *settings[VARY_FIELDS])
{
	for (size_t i = variations->count; i-- > 0;) {
		const struct variation *field = &variations->fields[i];

		settings[i] = field->settings[combination % field->count];
		combination /= field->count;
	}
}

const char *setting_value(const char *setting)
{
	return setting + strcspn(setting, "=") + 1;
}
