/* `plan --layouts`: every layout of the first GPU, and why it was taken or not. */
#ifndef VC_CLI_PLAN_LAYOUTS_H
#define VC_CLI_PLAN_LAYOUTS_H

#include "plan_table.h"

plan_list plan_layouts;

#endif
