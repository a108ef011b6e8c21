/* `plan --svg` and `plan --html`: what a picture of one plan is drawn from. */
#ifndef VC_CLI_PICTURE_H
#define VC_CLI_PICTURE_H

#include "growth.h"
#include "plan.h"

enum {
	PICTURE_GPUS = 12 /* candidates that are drawn; tables have all */
};

struct picture {
	const struct plan *plan;
	enum byte_unit unit;
	size_t shown;               /* candidates drawn, the best first */
	struct vc_ledger *ledgers;  /* one for each, on its GPU and layout */
	struct growth load, length; /* by sequences or requests at once; by tokens of each */
	unsigned number;            /* among the pictures of a file, from 1 */
	bool alone;                 /* the only one of its file */
};

/* Text in memory: what stands before it in the file is known only when all of it is. */
struct text_stream {
	FILE *file;
	char *text;
	size_t size;
};

/* What --svg and --html ask for. Zero-initialize. */
struct picture_files {
	const struct arguments *arguments;
	struct text_stream svg, about;     /* the pictures below each other; the same in words */
	struct text_stream html, contents; /* a section each; a list of them */
	unsigned count;
	bool several;          /* there may be more than one */
	int svg_height;        /* of the pictures so far */
	char title[PLAN_TEXT]; /* all names */
};

/* Each is false when there is no memory or a file cannot be written; a message has been given. */
bool picture_files_open(struct picture_files *files, const struct arguments *arguments,
                        bool several);
bool picture_files_add(struct picture_files *files, const struct plan *plan);
/* Writes the files, unless no plan was added. */
bool picture_files_close(struct picture_files *files);

/* "Llama-2-7B": the model's name, else where the spec came from. */
const char *picture_name(const struct plan *plan);

/* The ledger whose phases are worth showing; NULL: none has two. */
const struct vc_ledger *picture_phases(const struct plan *plan);

/* One plan in each format, and the file around all of them. */
void svg_picture(struct picture_files *files, const struct picture *picture);
void svg_file(FILE *file, const struct picture_files *files);
void html_picture(FILE *file, const struct picture *picture);
void html_contents(FILE *file, const struct picture *picture);
void html_file(FILE *file, const struct picture_files *files);

#endif
