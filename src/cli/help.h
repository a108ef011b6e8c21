/* --help, of the program and of each command. */
#ifndef VC_CLI_HELP_H
#define VC_CLI_HELP_H

#include "option.h"

#include <stdio.h>

void help_program(FILE *out);
void help_of_command(FILE *out, const struct command *command);

/* The manual page, as mdoc. */
void manual_print(FILE *out);

/* Numbered as the choices of --completion. */
enum shell {
	SHELL_BASH,
	SHELL_ZSH,
	SHELL_FISH
};
void completion_print(FILE *out, enum shell shell);

#endif
