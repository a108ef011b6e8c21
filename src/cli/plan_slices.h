/* `plan --mig`: the MIG slices of all GPUs that hold the job, the cheapest share first. */
#ifndef VC_CLI_PLAN_SLICES_H
#define VC_CLI_PLAN_SLICES_H

#include "plan_table.h"

plan_list plan_slices; /* rows are struct vc_slice */

/* The slice's part of the GPU's price per hour. */
uint64_t plan_share_micros(const struct vc_slice *slice);

#endif
