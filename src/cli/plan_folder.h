/* `plan FOLDER` where a folder holds several GGUF files: one row each, the best that fits first. */
#ifndef VC_CLI_PLAN_FOLDER_H
#define VC_CLI_PLAN_FOLDER_H

#include "plan.h"

struct plan_folder_row;

struct plan_folder {
	struct plan_folder_row *rows;
	size_t count;
};

void plan_folder_add(struct plan_folder *folder, const struct plan *plan);
/* Files that fit come first, the one with most bytes, thus of most precision, before all. */
void plan_folder_print(struct output *out, struct plan_folder *folder);
bool plan_folder_fits(const struct plan_folder *folder);
void plan_folder_free(struct plan_folder *folder);

#endif
