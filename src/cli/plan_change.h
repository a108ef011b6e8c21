/* What to change where nothing holds a job, in one sentence; `advise` says more. */
#ifndef VC_CLI_PLAN_CHANGE_H
#define VC_CLI_PLAN_CHANGE_H

#include "plan.h"

/* Searches for the GPU that is nearest to holding the job. */
void plan_find_change(struct plan *plan);

bool plan_note_change(const struct plan *plan, enum byte_unit unit, char to[PLAN_TEXT]);

#endif
