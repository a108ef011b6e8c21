/* Completion scripts for bash, zsh and fish, from the tables of commands and options. */
#include "help.h"

#include "bundled.h"
#include "catalog.h"

#include <stdbool.h>

static const char *gpu_name(size_t index)
{
	return index < vc_catalog_builtin.count ? vc_catalog_builtin.gpus[index].gpu.id : NULL;
}

static const char *command_name(size_t index)
{
	return command_table[index].name;
}

/* The words that complete a value or an operand; NULL where there are none. */
static const char *(*words_of(enum completion completion))(size_t)
{
	switch (completion) {
	case COMPLETE_MODELS:
		return vc_bundled_name;
	case COMPLETE_GPUS:
		return gpu_name;
	case COMPLETE_COMMANDS:
		return command_name;
	default:
		return NULL;
	}
}

static bool takes_files(enum completion completion)
{
	return completion == COMPLETE_FILES || completion == COMPLETE_MODELS;
}

static void print_words(FILE *out, const char *(*word)(size_t))
{
	for (size_t i = 0; word && word(i); i++) {
		fprintf(out, "%s%s", i ? " " : "", word(i));
	}
}

static void print_choices(FILE *out, const struct option_row *row)
{
	for (size_t i = 0; option_choice(row, i); i++) {
		fprintf(out, "%s%s", i ? " " : "", option_choice(row, i));
	}
}

/* ---- bash ---- */

static void bash_value(FILE *out, const struct command *c, const struct option_row *row)
{
	const char *(*words)(size_t) = words_of(row->completion);

	if (!option_value_name(row)) {
		return;
	}
	fprintf(out, "\t%s,--%s", c->name, row->name);
	if (row->letter) {
		fprintf(out, "|%s,-%c", c->name, row->letter);
	}
	fprintf(out, ") COMPREPLY=(");
	if (option_choice(row, 0) || words) {
		fprintf(out, "$(compgen -W '");
		print_choices(out, row);
		print_words(out, words);
		fprintf(out, "' -- \"$cur\")");
	} else if (takes_files(row->completion)) {
		fprintf(out, "$(compgen -f -- \"$cur\")");
	}
	fprintf(out, "); return ;;\n");
}

static void bash_operands(FILE *out, const struct command *c)
{
	fprintf(out, "\t%s,-*) COMPREPLY=($(compgen -W '", c->name);
	for (const struct option_row *row = option_table; row->name; row++) {
		if (row->commands & c->bit) {
			fprintf(out, "--%s ", row->name);
		}
	}
	fprintf(out, "' -- \"$cur\")) ;;\n\t%s,*) COMPREPLY=(", c->name);
	if (words_of(c->completion)) {
		fprintf(out, "$(compgen -W '");
		print_words(out, words_of(c->completion));
		fprintf(out, "' -- \"$cur\")");
	}
	fprintf(out, "%s) ;;\n", takes_files(c->completion) ? " $(compgen -f -- \"$cur\")" : "");
}

static void bash(FILE *out)
{
	fputs("# bash completion for vramcalc\n"
	      "_vramcalc()\n{\n"
	      "\tlocal IFS=$' \\n'\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	      "\t# bash splits --option=value at the equals sign\n"
	      "\tif [ \"$cur\" = = ]; then\n\t\tcur=\n"
	      "\telif [ \"$prev\" = = ]; then\n\t\tprev=${COMP_WORDS[COMP_CWORD-2]}\n\tfi\n"
	      "\tCOMPREPLY=()\n"
	      "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
	      "\t\tCOMPREPLY=($(compgen -W '",
	      out);
	print_words(out, command_name);
	fputs(" --help --version' -- \"$cur\"))\n\t\treturn\n\tfi\n"
	      "\tcase ${COMP_WORDS[1]},$prev in\n",
	      out);
	for (const struct command *c = command_table; c->name; c++) {
		for (const struct option_row *row = option_table; row->name; row++) {
			if (row->commands & c->bit) {
				bash_value(out, c, row);
			}
		}
	}
	fputs("\tesac\n\tcase ${COMP_WORDS[1]},$cur in\n", out);
	for (const struct command *c = command_table; c->name; c++) {
		bash_operands(out, c);
	}
	fputs("\tesac\n}\ncomplete -o filenames -F _vramcalc vramcalc\n", out);
}

/* ---- zsh ---- */

/* Inside single quotes and, in _arguments, inside brackets. */
static void zsh_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\'') {
			fputs("'\\''", out);
			continue;
		}
		if (*text == '[' || *text == ']' || *text == ':' || *text == '\\') {
			putc('\\', out);
		}
		putc(*text, out);
	}
}

static void zsh_action(FILE *out, const struct option_row *row)
{
	const char *(*words)(size_t) = words_of(row->completion);

	if (option_choice(row, 0) || words) {
		putc('(', out);
		print_choices(out, row);
		print_words(out, words);
		putc(')', out);
	} else if (takes_files(row->completion)) {
		fputs("_files", out);
	} else {
		putc(' ', out);
	}
}

static void zsh_option(FILE *out, const struct option_row *row)
{
	const char *value = option_value_name(row);
	bool repeats = row->kind == OPTION_LIST;

	fputs(" \\\n\t\t\t", out);
	if (row->letter) {
		fprintf(out, "%s{-%c,--%s%s}'[", repeats ? "'*'" : "", row->letter, row->name,
		        value ? "=" : "");
	} else {
		fprintf(out, "'%s--%s%s[", repeats ? "*" : "", row->name, value ? "=" : "");
	}
	zsh_text(out, option_help(row));
	putc(']', out);
	if (value) {
		fprintf(out, ":%s:", value);
		zsh_action(out, row);
	}
	putc('\'', out);
}

static void zsh_operands(FILE *out, const struct command *c)
{
	const char *(*words)(size_t) = words_of(c->completion);

	if (!words) {
		return;
	}
	fprintf(out, " \\\n\t\t\t'*:%s:", c->operands);
	if (takes_files(c->completion)) {
		fprintf(out, "{ compadd -- ");
		print_words(out, words);
		fprintf(out, "; _files }'");
		return;
	}
	putc('(', out);
	print_words(out, words);
	fputs(")'", out);
}

static void zsh(FILE *out)
{
	fputs("#compdef vramcalc\n\n_vramcalc()\n{\n\tlocal -a commands=(\n", out);
	for (const struct command *c = command_table; c->name; c++) {
		fprintf(out, "\t\t'%s:", c->name);
		zsh_text(out, c->summary);
		fputs("'\n", out);
	}
	fputs("\t)\n\n\tif (( CURRENT == 2 )); then\n"
	      "\t\t_describe command commands\n"
	      "\t\t_arguments '--help[print help]' '--version[print the version]'\n"
	      "\t\treturn\n\tfi\n"
	      "\tshift words\n\t(( CURRENT-- ))\n\tcase $words[1] in\n",
	      out);
	for (const struct command *c = command_table; c->name; c++) {
		fprintf(out, "\t%s)\n\t\t_arguments -S", c->name);
		for (const struct option_row *row = option_table; row->name; row++) {
			if (row->commands & c->bit) {
				zsh_option(out, row);
			}
		}
		zsh_operands(out, c);
		fputs("\n\t\t;;\n", out);
	}
	fputs("\tesac\n}\n\n"
	      "# Loaded as a function by compinit, or sourced.\n"
	      "if [ \"$funcstack[1]\" = _vramcalc ]; then\n\t_vramcalc \"$@\"\nelse\n"
	      "\tcompdef _vramcalc vramcalc\nfi\n",
	      out);
}

/* ---- fish ---- */

static void fish_text(FILE *out, const char *text)
{
	putc('\'', out);
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\') {
			putc('\\', out);
		}
		putc(*text, out);
	}
	putc('\'', out);
}

static void fish_option(FILE *out, const struct command *c, const struct option_row *row)
{
	const char *(*words)(size_t) = words_of(row->completion);

	fprintf(out, "complete -c vramcalc -n '__fish_seen_subcommand_from %s' -l %s", c->name,
	        row->name);
	if (row->letter) {
		fprintf(out, " -s %c", row->letter);
	}
	if (option_value_name(row)) {
		fputs(takes_files(row->completion) ? " -r -F" : " -x", out);
	}
	if (option_choice(row, 0) || words) {
		fputs(" -a '", out);
		print_choices(out, row);
		print_words(out, words);
		putc('\'', out);
	}
	fputs(" -d ", out);
	fish_text(out, option_help(row));
	putc('\n', out);
}

static void fish_command(FILE *out, const struct command *c)
{
	fprintf(out, "complete -c vramcalc -n __fish_use_subcommand -f -a %s -d ", c->name);
	fish_text(out, c->summary);
	fprintf(out, "\ncomplete -c vramcalc -n '__fish_seen_subcommand_from %s' %s", c->name,
	        takes_files(c->completion) ? "-F" : "-f");
	if (words_of(c->completion)) {
		fputs(" -a '", out);
		print_words(out, words_of(c->completion));
		putc('\'', out);
	}
	putc('\n', out);
	for (const struct option_row *row = option_table; row->name; row++) {
		if (row->commands & c->bit) {
			fish_option(out, c, row);
		}
	}
}

static void fish(FILE *out)
{
	fputs("# fish completion for vramcalc\n"
	      "complete -c vramcalc -n __fish_use_subcommand -l help -s h -d 'print help'\n"
	      "complete -c vramcalc -n __fish_use_subcommand -l version -s V -d 'print the "
	      "version'\n",
	      out);
	for (const struct command *c = command_table; c->name; c++) {
		fish_command(out, c);
	}
}

void completion_print(FILE *out, enum shell shell)
{
	switch (shell) {
	case SHELL_BASH:
		bash(out);
		break;
	case SHELL_ZSH:
		zsh(out);
		break;
	case SHELL_FISH:
		fish(out);
		break;
	}
}
