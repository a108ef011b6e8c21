/* What `plan` says of the hardware: links, the host's memory, a GPU that is mostly idle. */
#ifndef VC_CLI_PLAN_HARDWARE_H
#define VC_CLI_PLAN_HARDWARE_H

#include "plan.h"

/* A note on the GPU that ranks first; false: nothing to say. */
typedef bool plan_noter(const struct plan *plan, enum byte_unit unit, char to[PLAN_TEXT]);

plan_noter plan_note_pcie;       /* tensor ranks talk over PCIe */
plan_noter plan_note_network;    /* or between nodes, as a stated layout may */
plan_noter plan_note_host_short; /* the host does not hold what is offloaded */
plan_noter plan_note_host_twice; /* or less than twice the GPUs' memory */
plan_noter plan_note_offload;    /* nothing fits, but the host has room to offload to */
plan_noter plan_note_engine;     /* the engine cannot do the stated layout */
plan_noter plan_note_fewer;      /* fewer GPUs do, in an unusual layout */
plan_noter plan_note_budget;     /* what fits costs more than the budget */
plan_noter plan_note_idle;       /* more than half of the one GPU is left */
plan_noter plan_note_local;      /* what is free of this machine's GPUs */
plan_noter plan_note_moved;      /* what offloading moves in a step, and how long that takes */

#endif
