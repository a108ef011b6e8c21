#include "option_uses.h"

#include <string.h>

enum {
	NAME = 64
};

/* The next name of a list; false behind the last one. */
static bool next_name(const char **list, char name[NAME])
{
	size_t length;

	if (!*list || **list == '\0') {
		return false;
	}
	length = strcspn(*list, " ");
	snprintf(name, NAME, "%.*s", (int)length, *list);
	*list += length + strspn(*list + length, " ");
	return true;
}

static bool has_value(const struct option_uses *uses, const struct option_row *row,
                      const char *value)
{
	const struct choice *choice = (const void *)((const char *)uses->arguments + row->offset);

	return strcmp(option_choice(row, (size_t)choice->index), value) == 0;
}

static bool is_given(const struct option_uses *uses, const char *name)
{
	size_t length = strcspn(name, "=");

	for (size_t i = 0; i < uses->count; i++) {
		const struct option_row *row = uses->rows[i];

		if (uses->given[i] && strncmp(row->name, name, length) == 0 &&
		    row->name[length] == '\0') {
			return name[length] == '\0' || has_value(uses, row, name + length + 1);
		}
	}
	return false;
}

/* "method=detailed" is written --method detailed. */
static void put_name(FILE *file, const char *name)
{
	size_t length = strcspn(name, "=");

	fprintf(file, "--%.*s%s%s", (int)length, name, name[length] ? " " : "",
	        name[length] ? name + length + 1 : "");
}

static bool has_needs(const struct option_uses *uses, const struct option_rule *rule,
                      const char *option, FILE *errors)
{
	const char *list = rule->needs;
	char name[NAME];
	bool met = list == NULL;

	while (!met && next_name(&list, name)) {
		met = is_given(uses, name);
	}
	if (met) {
		return true;
	}
	fprintf(errors, "%s: --%s: goes with ", uses->prefix, option);
	list = rule->needs;
	for (bool first = true; next_name(&list, name); first = false) {
		fputs(first ? "" : " or ", errors);
		put_name(errors, name);
	}
	putc('\n', errors);
	return false;
}

static bool excludes_none(const struct option_uses *uses, const struct option_rule *rule,
                          const char *option, FILE *errors)
{
	const char *list = rule->excludes;
	char name[NAME];

	while (next_name(&list, name)) {
		if (strcmp(name, option) != 0 && is_given(uses, name)) {
			fprintf(errors, "%s: --%s: does not go with ", uses->prefix, option);
			put_name(errors, name);
			putc('\n', errors);
			return false;
		}
	}
	return true;
}

bool option_uses_agree(const struct option_uses *uses, FILE *errors)
{
	for (const struct option_rule *rule = option_rules; rule->options; rule++) {
		const char *list = rule->options;
		char option[NAME];

		if (!(rule->commands & uses->arguments->command->bit) ||
		    (rule->with && !is_given(uses, rule->with))) {
			continue;
		}
		while (next_name(&list, option)) {
			if (is_given(uses, option) &&
			    (!has_needs(uses, rule, option, errors) ||
			     !excludes_none(uses, rule, option, errors))) {
				return false;
			}
		}
	}
	return true;
}
