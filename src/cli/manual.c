/* The manual page in mdoc, from the tables of commands and options; mandoc -Tlint has no remark. */
#include "help.h"

#include "vramcalc/vramcalc.h"

#include <stdbool.h>
#include <string.h>

static const char released[] = "November 30, 2026";

enum {
	WIDTH = 78 /* of a line of the source; mandoc remarks on longer ones */
};

static void escaped(FILE *out, const char *word, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (word[i] == '\\') {
			fputs("\\e", out);
		} else {
			putc(word[i], out);
		}
	}
}

/*
 * Running text with a new line for each sentence, as mdoc wants it, first letter large, full stop
 * added. A dot or an apostrophe at the start of a line would be a request.
 */
static void sentences(FILE *out, const char *text)
{
	char first = *text >= 'a' && *text <= 'z' ? (char)(*text - 'a' + 'A') : *text;
	size_t at = 0;

	for (const char *word = text; *word;) {
		size_t length = strcspn(word, " ");
		bool ends = word > text + 1 && word[-2] == '.';

		if (at && (ends || at + 1 + length > WIDTH)) {
			putc('\n', out);
			at = 0;
		} else if (at) {
			putc(' ', out);
		}
		if (at == 0 && (*word == '.' || *word == '\'')) {
			fputs("\\&", out);
		}
		if (word == text) {
			putc(first, out);
		}
		escaped(out, word + (word == text), length - (word == text));
		at += length + 1;
		word += length + strspn(word + length, " ");
	}
	fputs(text[strlen(text) - 1] == '.' ? "\n" : ".\n", out);
}

static void operands(FILE *out, const char *text)
{
	bool optional = *text == '[';

	if (!*text) {
		return;
	}
	text += optional;
	fprintf(out, ".%sAr %.*s", optional ? "Op " : "", (int)strcspn(text, ".]"), text);
	fprintf(out, "%s\n", strstr(text, "...") ? " ..." : "");
}

static void option(FILE *out, const struct option_row *row)
{
	const char *value = option_value_name(row), *fallback = option_fallback(row), *choice;

	fprintf(out, ".It ");
	if (row->letter) {
		fprintf(out, "Fl %c , ", row->letter);
	}
	fprintf(out, "Fl Fl %s", row->name);
	if (value) {
		fprintf(out, " Ar %s", value);
	}
	putc('\n', out);
	sentences(out, option_help(row));
	if (row->field) {
		fprintf(out, "Sets\n.Va %s .\n", row->field);
	}
	for (size_t i = 0; (choice = option_choice(row, i)) != NULL; i++) {
		fprintf(out, "%s.Cm %s%s\n", i ? "" : "Values:\n", choice,
		        option_choice(row, i + 1) ? " ," : " .");
	}
	if (fallback && *fallback) {
		fprintf(out, "Default:\n.Cm %s .\n", fallback);
	}
}

static void command(FILE *out, const struct command *c)
{
	bool any = false;

	fprintf(out, ".Ss %s\n", c->name);
	sentences(out, c->summary);
	if (*c->description) {
		sentences(out, c->description);
	}
	for (const struct option_row *row = option_table; row->name; row++) {
		if ((row->commands & c->bit) && row->commands != ON_ALL) {
			fprintf(out, "%s", any ? "" : ".Bl -tag -width Ds\n");
			option(out, row);
			any = true;
		}
	}
	fprintf(out, "%s", any ? ".El\n" : "");
}

static void options_of_all(FILE *out)
{
	fprintf(out, ".Ss All commands\n.Bl -tag -width Ds\n");
	for (const struct option_row *row = option_table; row->name; row++) {
		if (row->commands == ON_ALL) {
			option(out, row);
		}
	}
	fprintf(out, ".El\n");
}

static void examples(FILE *out)
{
	fprintf(out, ".Sh EXAMPLES\n");
	for (const struct command *c = command_table; c->name; c++) {
		for (const struct example *e = c->examples; e->command_line; e++) {
			sentences(out, e->does);
			fprintf(out, ".Dl %s\n", e->command_line);
			if (e[1].command_line || c[1].name) {
				fprintf(out, ".Pp\n");
			}
		}
	}
}

static void ending(FILE *out)
{
	fputs(".Sh ENVIRONMENT\n"
	      ".Bl -tag -width Ds\n"
	      ".It Ev COLUMNS\n"
	      "Width of the terminal, where it differs from what the terminal says.\n"
	      ".It Ev LC_ALL , LC_CTYPE , LANG\n"
	      "Whether the output may hold characters beyond ASCII.\n"
	      "Nothing else follows the locale.\n"
	      ".It Ev NO_COLOR\n"
	      "Where set and not empty, the output has no color unless\n"
	      ".Fl Fl color\n"
	      "asks for it.\n"
	      ".It Ev XDG_CONFIG_HOME\n"
	      "Where\n"
	      ".Pa vramcalc/*.yaml\n"
	      "adds to the catalog of GPUs and overrides it; by default\n"
	      ".Pa ~/.config .\n"
	      ".El\n"
	      ".Sh EXIT STATUS\n"
	      ".Bl -tag -width Ds\n"
	      ".It 0\n"
	      "Done; where the question is whether it fits: it does.\n"
	      ".It 1\n"
	      "It does not fit.\n"
	      ".It 2\n"
	      "The command line or an input is wrong, or the output cannot be written.\n"
	      ".El\n",
	      out);
}

void manual_print(FILE *out)
{
	fprintf(out,
	        ".Dd %s\n.Dt VRAMCALC 1\n.Os\n.Sh NAME\n.Nm vramcalc\n"
	        ".Nd estimate the GPU memory that a model needs\n.Sh SYNOPSIS\n",
	        released);
	for (const struct command *c = command_table; c->name; c++) {
		fprintf(out, ".Nm\n.Cm %s\n.Op Ar option ...\n", c->name);
		operands(out, c->operands);
	}
	fputs(".Sh DESCRIPTION\n"
	      ".Nm\n"
	      "tells how much GPU memory a model needs for inference or training,\n"
	      "and which GPUs hold it.\n"
	      "Results go to standard output, everything else to standard error.\n"
	      "Long options are never abbreviated.\n",
	      out);
	for (const struct command *c = command_table; c->name; c++) {
		command(out, c);
	}
	options_of_all(out);
	ending(out);
	examples(out);
}
