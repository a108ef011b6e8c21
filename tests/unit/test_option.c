/* The tables of options and commands, checked against their own rules. */
#include "test.h"

#include "arguments.h"
#include "spec.h"

#include <ctype.h>

/* Neither starts nor ends like a sentence; "ZeRO" and "GPU" are no sentence's start. */
static bool is_phrase(const char *text)
{
	return text && *text && text[strlen(text) - 1] != '.' &&
	       (!isupper((unsigned char)text[0]) || !islower((unsigned char)text[1]) ||
	        strpbrk(text + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") < strchr(text, ' '));
}

static void names_and_letters_are_unique_in_a_command(void **state)
{
	(void)state;
	for (const struct option_row *a = option_table; a->name; a++) {
		for (const struct option_row *b = option_table; b < a; b++) {
			bool meet = (a->commands & b->commands) != 0;

			assert_false(meet && strcmp(a->name, b->name) == 0);
			assert_false(meet && a->letter && a->letter == b->letter);
		}
	}
}

static void every_option_is_complete(void **state)
{
	size_t count = 0;

	(void)state;
	for (const struct option_row *row = option_table; row->name; row++, count++) {
		assert_true(row->commands != 0 && (row->commands & ~(unsigned)ON_ALL) == 0);
		assert_true(strspn(row->name, "abcdefghijklmnopqrstuvwxyz-") == strlen(row->name));
		assert_true(row->group < GROUP_COUNT && option_group_name(row->group));
		assert_true(is_phrase(option_help(row)));
		assert_int_equal(option_value_name(row) == NULL, row->kind == OPTION_FLAG);
		assert_true(row->kind == OPTION_FIELD || row->offset < sizeof(struct arguments));
		assert_int_equal(row->kind == OPTION_FIELD, row->field != NULL);
		if (row->kind == OPTION_CHOICE) {
			assert_non_null(option_choice(row, 0));
		}
	}
	assert_true(count > 20 && count < 96); /* what the parser has room for */
}

static void groups_are_together(void **state)
{
	(void)state;
	for (const struct option_row *row = option_table; row[1].name; row++) {
		assert_true(row[1].group >= row->group);
	}
}

static void fields_exist(void **state)
{
	(void)state;
	for (const struct option_row *row = option_table; row->name; row++) {
		if (row->field) {
			assert_non_null(vc_spec_field_by_path(row->field));
		}
	}
}

static void defaults_are_choices(void **state)
{
	(void)state;
	for (const struct option_row *row = option_table; row->name; row++) {
		if (row->kind == OPTION_CHOICE && row->fallback) {
			/* zero is what an option has that is not given */
			assert_string_equal(option_choice(row, 0), row->fallback);
		}
	}
}

static bool any_command_takes(const char *name, size_t length, unsigned commands)
{
	for (const struct option_row *row = option_table; row->name; row++) {
		if ((row->commands & commands) && strlen(row->name) == length &&
		    strncmp(row->name, name, length) == 0) {
			return true;
		}
	}
	return false;
}

/* A misspelt name in a rule would never hold. */
static void rules_name_options(void **state)
{
	(void)state;
	for (const struct option_rule *rule = option_rules; rule->options; rule++) {
		const char *const lists[] = { rule->options, rule->with, rule->needs,
			                      rule->excludes };

		assert_true(rule->needs || rule->excludes);
		for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
			for (const char *name = lists[i]; name && *name;) {
				size_t length = strcspn(name, " ");

				assert_true(any_command_takes(name, strcspn(name, " ="),
				                              rule->commands));
				name += length + strspn(name + length, " ");
			}
		}
	}
}

static void every_command_is_complete(void **state)
{
	unsigned bits = 0;

	(void)state;
	for (const struct command *c = command_table; c->name; c++) {
		assert_ptr_equal(command_by_name(c->name), c);
		assert_true(c->bit && (c->bit & (c->bit - 1)) == 0 && !(bits & c->bit));
		bits |= c->bit;
		assert_non_null(c->run);
		assert_true(is_phrase(c->summary));
		assert_true(c->least <= c->most);
		assert_int_equal(c->most == 0, *c->operands == '\0');
		assert_non_null(c->examples[0].command_line);
		for (const struct example *e = c->examples; e->command_line; e++) {
			assert_true(strncmp(e->command_line, "vramcalc ", 9) == 0);
			assert_true(is_phrase(e->does));
		}
	}
	assert_int_equal(bits, ON_ALL);
	assert_null(command_by_name("quux"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_and_letters_are_unique_in_a_command),
		cmocka_unit_test(every_option_is_complete),
		cmocka_unit_test(groups_are_together),
		cmocka_unit_test(fields_exist),
		cmocka_unit_test(defaults_are_choices),
		cmocka_unit_test(rules_name_options),
		cmocka_unit_test(every_command_is_complete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
