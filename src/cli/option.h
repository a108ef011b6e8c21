/*
 * The options and commands of the program. One table of each makes parsing, --help, the manual
 * page and the completions for bash, zsh and fish; nothing about an option is said anywhere else.
 */
#ifndef VC_CLI_OPTION_H
#define VC_CLI_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arguments;

enum option_kind {
	OPTION_FLAG,   /* bool */
	OPTION_TEXT,   /* const char * */
	OPTION_CHOICE, /* struct choice */
	OPTION_COUNT,  /* uint64_t, at least 1, with k, M, G, Ki, Mi, Gi */
	OPTION_BYTES,  /* uint64_t, with GB, GiB, MB, MiB, B */
	OPTION_RATIO,  /* uint64_t, a decimal in millionths, above 0 and at most 100 */
	OPTION_MONEY,  /* uint64_t, in millionths */
	OPTION_LIST,   /* struct text_list: may be given several times */
	OPTION_FIELD   /* appends "FIELD=VALUE" to arguments.settings, as --set would */
};

/* Headings of --help and of the manual page. */
enum option_group {
	GROUP_WORKLOAD,
	GROUP_TRAINING,
	GROUP_LAYOUT,
	GROUP_HARDWARE,
	GROUP_OUTPUT,
	GROUP_OTHER,
	GROUP_COUNT
};

/* What a shell may offer for a value or an operand, beside the choices. */
enum completion {
	COMPLETE_NOTHING,
	COMPLETE_FILES,
	COMPLETE_MODELS, /* bundled models, and files */
	COMPLETE_GPUS,
	COMPLETE_COMMANDS
};

/* One bit a command: which commands take an option. */
enum command_set {
	ON_PLAN = 1 << 0,
	ON_GPUS = 1 << 1,
	ON_MODELS = 1 << 2,
	ON_PRECISIONS = 1 << 3,
	ON_HELP = 1 << 4,
	ON_SOLVE = 1 << 5,
	ON_ADVISE = 1 << 6,
	ON_DIAGNOSE = 1 << 7,
	ON_ENGINES = 1 << 8,
	ON_COMPARE = 1 << 11,
	ON_CHECK = 1 << 12,
	ON_PACK = 1 << 13,
	ON_DIFF = 1 << 14,
	ON_PLATFORMS = 1 << 15,
	ON_OFFERS = 1 << 16,
	ON_IMPORT = 1 << 9,
	ON_SCHEMA = 1 << 10,
	ON_VERIFY = 1 << 17,
	ON_LISTS = ON_GPUS | ON_MODELS | ON_PRECISIONS | ON_ENGINES | ON_PLATFORMS | ON_OFFERS,
	ON_JOBS = ON_PLAN | ON_COMPARE | ON_CHECK | ON_DIFF | ON_PACK | ON_SOLVE | ON_ADVISE |
	          ON_DIAGNOSE,          /* those that judge a spec */
	ON_SPECS = ON_JOBS | ON_VERIFY, /* those that read one */
	ON_ALL = ON_SPECS | ON_LISTS | ON_SCHEMA | ON_IMPORT | ON_HELP
};

struct option_row {
	const char *name; /* long name, without the dashes; NULL ends the table */
	char letter;      /* 0: none */
	enum option_kind kind;
	enum option_group group;
	unsigned commands; /* of enum command_set */
	size_t offset;     /* in struct arguments; not of OPTION_FIELD */
	const char *value; /* what the value is called in --help: "GPU"; NULL for flags */
	/* The values: NULL past the end. OPTION_CHOICE takes no other; elsewhere they are offered
	 * by completion, and the reader of the spec judges. */
	const char *(*choice)(size_t index);
	enum completion completion;
	const char *field;    /* OPTION_FIELD: "workload.batch_size"; value, choice, fallback and
	                         help are then the field's */
	const char *fallback; /* shown as the default */
	const char *help;     /* a phrase: no capital, no full stop */
};

struct example {
	const char *command_line, *does; /* NULL ends the list */
};

struct command {
	const char *name;
	unsigned bit; /* of enum command_set */
	int (*run)(struct arguments *arguments);
	const char *operands; /* "SPEC..."; "" where it takes none */
	size_t least, most;   /* how many operands it takes */
	enum completion completion;
	const char *summary;     /* a phrase, as for options */
	const char *description; /* sentences for --help and the manual page */
	const struct example *examples;
};

extern const struct option_row option_table[];
extern const struct command command_table[];    /* ends with a NULL name */
extern const struct example program_examples[]; /* the first thing that --help shows */

/*
 * What an option needs beside it, or does not go with: one without effect is refused, not ignored.
 * Lists are names apart by blanks; "method=detailed" is an option with that value.
 */
struct option_rule {
	unsigned commands;
	const char *options;  /* each of these; NULL ends the table */
	const char *with;     /* only where this is given too; NULL: always */
	const char *needs;    /* one of these as well; NULL: none */
	const char *excludes; /* none of these beside itself; NULL: none */
};

extern const struct option_rule option_rules[];

const char *option_group_name(enum option_group group);
/* What --help says of an option, whether its row says it or the field of the spec that it sets. */
const char *option_value_name(const struct option_row *option); /* NULL: a flag */
const char *option_help(const struct option_row *option);
const char *option_fallback(const struct option_row *option);             /* NULL: none */
const char *option_choice(const struct option_row *option, size_t index); /* NULL: past the end */
const struct command *command_by_name(const char *name);

#endif
