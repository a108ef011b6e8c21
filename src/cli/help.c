#include "help.h"

#include "arguments.h"
#include "commands.h"
#include "print_text.h"

#include <inttypes.h>
#include <string.h>

enum {
	WIDTH = 80,
	SHOWN_CHOICES = 8, /* --help is for reading; the manual page lists all */
	LEFT = 30          /* columns of an option and its value */
};

/* Words of `text` from column `at` on, continued at column `indent`. */
static void wrap(FILE *out, const char *text, size_t at, size_t indent)
{
	for (bool first = true; *text; first = false) {
		size_t word = strcspn(text, " ");

		if (!first && at + 1 + word > WIDTH) {
			fprintf(out, "\n%*s", (int)indent, "");
			at = indent;
		} else if (!first) {
			putc(' ', out);
			at++;
		}
		fprintf(out, "%.*s", (int)word, text);
		at += word;
		text += word + strspn(text + word, " ");
	}
	putc('\n', out);
}

static void print_examples(FILE *out, const struct example *examples)
{
	fprintf(out, "\nExamples:\n");
	for (; examples->command_line; examples++) {
		fprintf(out, "  %s\n      %s\n", examples->command_line, examples->does);
	}
}

/* "help (one of a, b, c) [default]" */
static void describe(const struct option_row *option, char *text, size_t size)
{
	const char *choice, *fallback = option_fallback(option);

	text_append(text, size, "%s", option_help(option));
	for (size_t i = 0; i < SHOWN_CHOICES && (choice = option_choice(option, i)) != NULL; i++) {
		text_append(text, size, "%s%s", i ? ", " : " (", choice);
	}
	if (option_choice(option, 0)) {
		text_append(text, size, "%s",
		            option_choice(option, SHOWN_CHOICES) ? ", ...)" : ")");
	}
	if (fallback && *fallback) {
		text_append(text, size, " [%s]", fallback);
	}
}

static void print_option(FILE *out, const struct option_row *option)
{
	const char *value = option_value_name(option);
	char left[64] = "    ", text[512] = "";
	size_t width;

	if (option->letter) {
		left[0] = '-';
		left[1] = option->letter;
		left[2] = ',';
	}
	text_append(left, sizeof left, "--%s%s%s", option->name, value ? " " : "",
	            value ? value : "");
	width = strlen(left) + 2;
	fprintf(out, "  %s", left);
	if (width + 2 > LEFT) {
		fprintf(out, "\n%*s", LEFT, "");
	} else {
		fprintf(out, "%*s", (int)(LEFT - width), "");
	}
	describe(option, text, sizeof text);
	wrap(out, text, LEFT, LEFT);
}

static void print_options(FILE *out, unsigned command)
{
	int shown = -1;

	for (const struct option_row *row = option_table; row->name; row++) {
		if (!(row->commands & command)) {
			continue;
		}
		if ((int)row->group != shown) {
			shown = (int)row->group;
			fprintf(out, "\n%s:\n", option_group_name(row->group));
		}
		print_option(out, row);
	}
}

void help_of_command(FILE *out, const struct command *command)
{
	char first[] = { (char)(command->summary[0] - 'a' + 'A'), '\0' };

	fprintf(out, "Usage: vramcalc %s [OPTION...]%s%s\n\n%s%s.\n", command->name,
	        *command->operands ? " " : "", command->operands, first, command->summary + 1);
	if (*command->description) {
		putc('\n', out);
		wrap(out, command->description, 0, 0);
	}
	print_examples(out, command->examples);
	print_options(out, command->bit);
}

void help_program(FILE *out)
{
	fprintf(out, "Usage: vramcalc COMMAND [OPTION...] [OPERAND...]\n\n"
	             "How much GPU memory a model needs, and which GPUs hold it.\n\nCommands:\n");
	for (const struct command *c = command_table; c->name; c++) {
		fprintf(out, "  %-12s  %s\n", c->name, c->summary);
	}
	print_examples(out, program_examples);
	fprintf(out, "\nvramcalc COMMAND --help explains a command and its options.\n"
	             "Exit status: 0 done, or it fits; 1 it does not fit; 2 wrong command or "
	             "input.\n");
}

int help_command(struct arguments *arguments)
{
	const struct command *command = NULL;

	if (arguments->operands.count && (arguments->manual || arguments->completion.given)) {
		fputs("vramcalc help: --man and --completion are about all commands (expected no "
		      "COMMAND)\n",
		      stderr);
		return EXIT_WRONG_INPUT;
	}
	if (arguments->manual) {
		manual_print(stdout);
		return EXIT_FITS;
	}
	if (arguments->completion.given) {
		completion_print(stdout, (enum shell)arguments->completion.index);
		return EXIT_FITS;
	}
	if (arguments->operands.count == 0) {
		help_program(stdout);
		return EXIT_FITS;
	}
	command = command_by_name(arguments->operands.items[0]);
	if (!command) {
		return arguments_unknown_command(arguments->operands.items[0], stderr);
	}
	help_of_command(stdout, command);
	return EXIT_FITS;
}
