/* $XDG_CACHE_HOME/vramcalc/hub/HOST/ORG--NAME/COMMIT/: what was fetched of one revision. */
#ifndef VC_HUB_CACHE_H
#define VC_HUB_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vc_hub_name {
	char organization[97], model[97], revision[97], file[97]; /* file: "" where none is named */
	char commit[41];                                          /* once it is known */
};

/* "hf:ORG/NAME[@REVISION][:FILE]"; the revision is main where none is named. */
bool vc_hub_name_parse(const char *name, struct vc_hub_name *parts);

/* Forty hexadecimal digits. */
bool vc_hub_is_commit(const char *text);

/* The folder of a commit, made where it is missing; owned. NULL when there can be none. */
char *vc_hub_cache_folder(const char *endpoint, const struct vc_hub_name *parts);

/* Whether what a name needs is there whole: the file, or everything. */
bool vc_hub_cache_has(const char *folder, const char *file);
bool vc_hub_cache_finish(const char *folder, const char *file);

/* Which commit a branch or tag was at, the last time. */
void vc_hub_cache_remember(const char *endpoint, const struct vc_hub_name *parts);
bool vc_hub_cache_recall(const char *endpoint, struct vc_hub_name *parts);

/*
 * Writes a file that appears only when it is whole. `total` is how long the file is on the hub: the
 * rest is a hole, which takes no space; UINT64_MAX: no rest.
 */
bool vc_hub_cache_write(const char *folder, const char *file, const char *bytes, size_t length,
                        uint64_t total);
int vc_hub_cache_begin(const char *folder, const char *file);
bool vc_hub_cache_put(int copy, const char *bytes, size_t length, uint64_t offset);
bool vc_hub_cache_end(const char *folder, const char *file, int copy, uint64_t total, bool keep);

#endif
