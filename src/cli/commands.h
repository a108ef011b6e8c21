/* What the command table runs. Each returns the program's exit status. */
#ifndef VC_CLI_COMMANDS_H
#define VC_CLI_COMMANDS_H

struct arguments;

int plan_command(struct arguments *arguments);
int compare_command(struct arguments *arguments);
int check_command(struct arguments *arguments);
int pack_command(struct arguments *arguments);
int diff_command(struct arguments *arguments);
int solve_command(struct arguments *arguments);
int advise_command(struct arguments *arguments);
int diagnose_command(struct arguments *arguments);
int verify_command(struct arguments *arguments);
int gpus_command(struct arguments *arguments);
int models_command(struct arguments *arguments);
int offers_command(struct arguments *arguments);
int platforms_command(struct arguments *arguments);
int engines_command(struct arguments *arguments);
int precisions_command(struct arguments *arguments);
int import_command(struct arguments *arguments);
int schema_command(struct arguments *arguments);
int help_command(struct arguments *arguments);

#endif
