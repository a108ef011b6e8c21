/* The GPUs of this machine in a session's catalog: what --gpu local means. */
#ifndef VC_CLI_LOCAL_CATALOG_H
#define VC_CLI_LOCAL_CATALOG_H

#include "arguments.h"
#include "local_gpu.h"

struct local_catalog {
	struct local_gpus list;
	char names[LOCAL_GPUS][LOCAL_NAME + 48];
	struct vc_catalog_gpu *gpus; /* the catalog's, and behind them those of this machine */
	size_t usable;
};

/* Reads this machine, or the recorded tree that VRAMCALC_SYSFS names. */
void local_catalog_read(struct local_gpus *list);

/* Says on standard error why nothing of the list can be used. */
void local_catalog_complain(const struct local_gpus *list, const char *command);

/* Whether a --gpu asks for this machine: "local", "local-0". */
bool local_catalog_asked(const struct arguments *arguments);

/*
 * Puts this machine's GPUs behind those of an open catalog. NULL with a message where there is
 * none that a job can use; else to be freed, after the catalog's last use.
 */
struct local_catalog *local_catalog_add(struct vc_catalog *catalog, const char *command);
void local_catalog_free(struct local_catalog *local);

/* How many GPUs like this one there are, with as much free; UINT32_MAX of a GPU of the catalog. */
uint32_t local_catalog_count(const struct local_catalog *local, const struct vc_gpu *gpu);

/* What is free of it and who holds the rest, as a sentence; false of a GPU of the catalog. */
bool local_catalog_note(const struct local_catalog *local, const struct vc_gpu *gpu,
                        enum byte_unit unit, char *to, size_t size);

/* `gpus --local`. Returns the exit status. */
int local_list(const struct arguments *arguments, const struct vc_catalog *catalog);

#endif
