/* What to do before and while a job runs. */
#ifndef VC_CLI_PLAN_CHECKLIST_H
#define VC_CLI_PLAN_CHECKLIST_H

#include "output.h"

void plan_print_checklist(struct output *out);

#endif
