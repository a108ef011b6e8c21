/*
 * getopt_long does the walking; what it gets wrong is put right here: it takes abbreviations of
 * long options, which would turn every new option into a change for scripts, and it has no names
 * to suggest.
 */
#include "arguments.h"

#include "nearest.h"
#include "option_uses.h"
#include "print_text.h"
#include "quantity.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_OPTIONS = 96,
	FIRST_LONG = 256,    /* above every letter */
	SHOWN = 160,         /* of a wrong word in a message */
	MOST_PPM = 100000000 /* a factor of 100 */
};

struct parser {
	struct arguments *arguments;
	const char *prefix; /* "vramcalc plan" */
	FILE *errors;
	char *compose; /* where the next composed setting goes */
	const struct option_row *rows[MAX_OPTIONS];
	bool given[MAX_OPTIONS];
	size_t count;
	struct option longs[MAX_OPTIONS + 1];
	char letters[2 * MAX_OPTIONS + 2];
};

static void *member(struct arguments *arguments, const struct option_row *row)
{
	return (char *)arguments + row->offset;
}

static bool takes_value(const struct option_row *row)
{
	return row->kind != OPTION_FLAG;
}

/* The options of one command, as getopt_long wants them. */
static void list_options(struct parser *p, unsigned command)
{
	size_t count = 0, letters = 0;

	p->letters[letters++] = ':'; /* tell a missing value from an unknown option */
	for (const struct option_row *row = option_table; row->name; row++) {
		if (!(row->commands & command) || count == MAX_OPTIONS) {
			continue;
		}
		p->rows[count] = row;
		p->longs[count] =
		        (struct option){ row->name,
			                 takes_value(row) ? required_argument : no_argument, NULL,
			                 FIRST_LONG + (int)count };
		count++;
		if (row->letter) {
			p->letters[letters++] = row->letter;
		}
		if (row->letter && takes_value(row)) {
			p->letters[letters++] = ':';
		}
	}
	p->letters[letters] = '\0';
	p->longs[count] = (struct option){ 0 };
	p->count = count;
}

/* The place of the option that getopt_long returned `key` for; p->count: none. */
static size_t place_of(const struct parser *p, int key)
{
	size_t i = 0;

	if (key >= FIRST_LONG) {
		return (size_t)(key - FIRST_LONG);
	}
	while (i < p->count && p->rows[i]->letter != key) {
		i++;
	}
	return i;
}

static const struct option_row *row_of(const struct parser *p, int key)
{
	size_t place = place_of(p, key);

	return place < p->count ? p->rows[place] : NULL;
}

static const struct option_row *row_of_another_command(const char *name)
{
	for (const struct option_row *row = option_table; row->name; row++) {
		if (strcmp(row->name, name) == 0) {
			return row;
		}
	}
	return NULL;
}

static bool unknown_option(const struct parser *p, const char *word)
{
	struct vc_nearest nearest = { 0 };
	char name[64], shown[SHOWN];

	text_copy(shown, sizeof shown, word, true);
	snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
	nearest.wanted = name;
	for (size_t i = 0; p->longs[i].name; i++) {
		vc_nearest_offer(&nearest, p->longs[i].name);
	}
	for (size_t i = 0; p->longs[i].name && !nearest.best && strlen(name) > 1; i++) {
		if (strncmp(p->longs[i].name, name, strlen(name)) == 0) {
			nearest.best = p->longs[i].name;
		}
	}
	fprintf(p->errors, "%s: %s: no such option", p->prefix, shown);
	if (!nearest.best && row_of_another_command(name)) {
		fprintf(p->errors, " of this command");
	}
	if (nearest.best) {
		fprintf(p->errors, " (did you mean --%s?)\n", nearest.best);
	} else {
		fprintf(p->errors, " (%s --help lists them)\n", p->prefix);
	}
	return false;
}

/* getopt_long returned '?' or ':' for `word`. */
static bool refuse(const struct parser *p, int key, const char *word)
{
	const struct option_row *row = optopt ? row_of(p, optopt) : NULL;

	if (key == ':' && row) {
		fprintf(p->errors, "%s: --%s: a value is missing (expected %s)\n", p->prefix,
		        row->name, option_value_name(row));
	} else if (row) {
		fprintf(p->errors, "%s: --%s: takes no value\n", p->prefix, row->name);
	} else if (optopt) {
		char shown[SHOWN], letter[] = { (char)optopt, '\0' };

		text_copy(shown, sizeof shown, letter, true);
		fprintf(p->errors, "%s: -%s: no such option (%s --help lists them)\n", p->prefix,
		        shown, p->prefix);
	} else {
		return unknown_option(p, word);
	}
	return false;
}

static bool wrong_value(const struct parser *p, const struct option_row *row, const char *text,
                        const char *expected)
{
	char shown[SHOWN];

	text_copy(shown, sizeof shown, text, true);
	fprintf(p->errors, "%s: --%s: \"%s\" will not do (expected %s)\n", p->prefix, row->name,
	        shown, expected);
	return false;
}

static bool set_choice(const struct parser *p, const struct option_row *row, const char *text)
{
	char expected[256] = "";
	const char *choice;

	for (int i = 0; (choice = option_choice(row, (size_t)i)) != NULL; i++) {
		if (strcmp(choice, text) == 0) {
			*(struct choice *)member(p->arguments, row) = (struct choice){ i, true };
			return true;
		}
		text_append(expected, sizeof expected, "%s%s",
		            i == 0                              ? ""
		            : option_choice(row, (size_t)i + 1) ? ", "
		                                                : " or ",
		            choice);
	}
	return wrong_value(p, row, text, expected);
}

static bool set_number(const struct parser *p, const struct option_row *row, const char *text)
{
	enum vc_quantity kind = row->kind == OPTION_BYTES   ? VC_QUANTITY_BYTES
	                        : row->kind == OPTION_RATIO ? VC_QUANTITY_PPM
	                        : row->kind == OPTION_MONEY ? VC_QUANTITY_MICROS
	                                                    : VC_QUANTITY_COUNT;
	uint64_t *number = member(p->arguments, row);

	if (vc_quantity_parse(kind, text, number) == VC_QUANTITY_OK && *number > 0 &&
	    (row->kind != OPTION_RATIO || *number <= MOST_PPM)) {
		return true;
	}
	return wrong_value(p, row, text, vc_quantity_expected(kind));
}

static void append(struct text_list *list, const char *text)
{
	list->items[list->count++] = text;
}

/* "batch-size" and "8" become "--batch-size:workload.batch_size=8". */
static void append_setting(struct parser *p, const struct option_row *row, const char *text)
{
	size_t room = strlen(row->name) + strlen(row->field) + strlen(text) + sizeof "--:=";

	(void)snprintf(p->compose, room, "--%s:%s=%s", row->name, row->field, text);
	append(&p->arguments->settings, p->compose);
	p->compose += room;
}

static bool set_option(struct parser *p, const struct option_row *row, const char *text)
{
	switch (row->kind) {
	case OPTION_FLAG:
		*(bool *)member(p->arguments, row) = true;
		return true;
	case OPTION_TEXT:
		*(const char **)member(p->arguments, row) = text;
		return true;
	case OPTION_CHOICE:
		return set_choice(p, row, text);
	case OPTION_COUNT:
	case OPTION_BYTES:
	case OPTION_RATIO:
	case OPTION_MONEY:
		return set_number(p, row, text);
	case OPTION_LIST:
		append(member(p->arguments, row), text);
		return true;
	case OPTION_FIELD:
		append_setting(p, row, text);
		return true;
	}
	return false;
}

/* The word that getopt_long just took an option from. */
static const char *option_word(char **argv)
{
	/* A value that is a word of its own is what optarg points to. */
	return argv[optarg && optarg == argv[optind - 1] ? optind - 2 : optind - 1];
}

static bool is_abbreviated(const char *word, const char *name)
{
	size_t length = strcspn(word + 2, "=");

	return length != strlen(name) || strncmp(word + 2, name, length) != 0;
}

static bool walk(struct parser *p, int argc, char **argv)
{
	int key;

	opterr = 0;
	optind = 0; /* glibc: start anew */
	while ((key = getopt_long(argc, argv, p->letters, p->longs, NULL)) != -1) {
		const char *word = option_word(argv);
		const struct option_row *row;

		if (key == '?' || key == ':') {
			return refuse(p, key, word);
		}
		row = row_of(p, key);
		if (key >= FIRST_LONG && is_abbreviated(word, row->name)) {
			return unknown_option(p, word);
		}
		if (!set_option(p, row, optarg)) {
			return false;
		}
		p->given[place_of(p, key)] = true;
	}
	while (optind < argc) {
		append(&p->arguments->operands, argv[optind++]);
	}
	return true;
}

int arguments_unknown_command(const char *word, FILE *errors)
{
	struct vc_nearest nearest = { .wanted = word };
	char shown[SHOWN];

	text_copy(shown, sizeof shown, word, true);
	for (const struct command *c = command_table; c->name; c++) {
		vc_nearest_offer(&nearest, c->name);
	}
	if (nearest.best) {
		fprintf(errors, "vramcalc: %s: no such command (did you mean %s?)\n", shown,
		        nearest.best);
	} else if (strpbrk(word, "./")) {
		fprintf(errors, "vramcalc: %s: no such command (did you mean vramcalc plan %s?)\n",
		        shown, shown);
	} else {
		fprintf(errors, "vramcalc: %s: no such command (vramcalc --help lists them)\n",
		        shown);
	}
	return EXIT_WRONG_INPUT;
}

/* Room for lists and composed settings: no list can hold more than there are words. */
static bool allocate(struct arguments *arguments, int argc, char **argv)
{
	struct text_list *lists[] = { &arguments->gpus, &arguments->catalogs, &arguments->vary,
		                      &arguments->settings, &arguments->operands };
	size_t words = (size_t)argc + 1, length = 0, longest_prefix = 0;

	for (const struct option_row *row = option_table; row->name; row++) {
		size_t prefix = row->field ? strlen(row->name) + strlen(row->field) : 0;

		longest_prefix = prefix > longest_prefix ? prefix : longest_prefix;
	}
	for (int i = 0; i < argc; i++) {
		length += strlen(argv[i]) + longest_prefix + sizeof "--:=";
	}
	arguments->texts = malloc(words * (sizeof lists / sizeof *lists) * sizeof(char *));
	arguments->composed = malloc(length + 1);
	if (!arguments->texts || !arguments->composed) {
		return false;
	}
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		lists[i]->items = arguments->texts + i * words;
	}
	return true;
}

static bool check_operands(const struct parser *p)
{
	const struct command *command = p->arguments->command;
	size_t count = p->arguments->operands.count;
	char shown[SHOWN];

	if (count < command->least) {
		fprintf(p->errors, "%s: no %s given (%s --help shows examples)\n", p->prefix,
		        command->operands, p->prefix);
		return false;
	}
	if (count > command->most) {
		text_copy(shown, sizeof shown, p->arguments->operands.items[command->most], true);
		fprintf(p->errors, "%s: %s: one word too many\n", p->prefix, shown);
		return false;
	}
	return true;
}

static bool makes_sense(const struct parser *p)
{
	struct option_uses uses = { p->arguments, p->prefix, p->rows, p->given, p->count };

	return p->arguments->help || p->arguments->version ||
	       (check_operands(p) && option_uses_agree(&uses, p->errors));
}

bool arguments_parse(struct arguments *arguments, int argc, char **argv, FILE *errors)
{
	struct parser parser = { .arguments = arguments, .errors = errors };
	char prefix[64] = "vramcalc";
	bool named = argc > 1 && argv[1][0] != '-';

	*arguments = (struct arguments){ 0 };
	if (!allocate(arguments, argc, argv)) {
		fprintf(errors, "vramcalc: out of memory\n");
		return false;
	}
	/* Without a command only the options of `help` make sense: vramcalc --version. */
	arguments->command = command_by_name(named ? argv[1] : "help");
	if (!arguments->command) {
		arguments_unknown_command(argv[1], errors);
		return false;
	}
	arguments->named = named;
	if (named) {
		text_append(prefix, sizeof prefix, " %s", arguments->command->name);
	}
	parser.prefix = prefix;
	parser.compose = arguments->composed;
	list_options(&parser, arguments->command->bit);
	return walk(&parser, argc - named, argv + named) && makes_sense(&parser);
}

void arguments_free(struct arguments *arguments)
{
	free(arguments->texts);
	free(arguments->composed);
}
