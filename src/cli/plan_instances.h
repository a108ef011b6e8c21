/* `plan --instances`: whole instance types that hold the job, by what they cost. */
#ifndef VC_CLI_PLAN_INSTANCES_H
#define VC_CLI_PLAN_INSTANCES_H

#include "offer_search.h"
#include "plan_table.h"

plan_list plan_instances; /* rows are struct plan_instance */

/* So many of one instance type, and how the job lies on them. */
struct plan_instance {
	struct priced_offer priced;
	uint32_t instances, gpus; /* rented: all of their GPUs */
	struct vc_candidate candidate;
};

/* The price of all of them in an hour, on-demand or with --spot at that; 0: unknown. */
uint64_t plan_instance_micros(const struct plan *plan, const struct plan_instance *instance);

#endif
