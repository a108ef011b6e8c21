/* The shape of a catalog file as libcyaml binds it; what is absent is NULL. Private to src/io. */
#ifndef VC_CATALOG_SCHEMA_H
#define VC_CATALOG_SCHEMA_H

#include "catalog_draft.h"

enum vc_support {
	VC_SUPPORTS_BF16,
	VC_SUPPORTS_FP8,
	VC_SUPPORTS_FP4,
	VC_SUPPORTS_INT8
};

/* Each a key of the file's `sources`, or the source itself. */
struct vc_gpu_sources {
	char *memory, *usable, *bandwidth, *link, *mig, *tdp, *compute_capability;
};

struct vc_gpu_row {
	char *id, *name, *family, *architecture, *compute_capability, *form, *memory_type;
	char *link_scope, *mig_table, *note;
	char **aliases;
	uint32_t aliases_count, supports_count;
	enum vc_support *supports;
	enum vc_vendor *vendor;
	enum vc_link *link;
	uint64_t *memory_gb, *driver_mib, *usable_mib, *bandwidth_gbs, *link_gbs, *link_gpus;
	uint64_t *pcie_generation, *pcie_lanes, *mig_instances, *tdp_watts, *devices_per_board;
	char *price_per_hour, *currency, *price_as_of;
	bool *documented, *usable_derived, *verified, *hidden;
	struct vc_gpu_sources *sources;
};

struct vc_source_row {
	char *id, *ref;
};

struct vc_gpu_file {
	uint64_t version;
	char *as_of;
	struct vc_source_row *sources;
	uint32_t sources_count, gpus_count;
	struct vc_gpu_row *gpus;
};

/* What the file holds, to be freed; NULL when anything is wrong, which is in the draft's errors. */
struct vc_gpu_file *vc_gpu_file_load(struct vc_catalog_draft *draft,
                                     const struct vc_catalog_text *source);
void vc_gpu_file_free(struct vc_gpu_file *file);

/* The line of each row of `gpus`, in the draft's memory. */
const uint32_t *vc_gpu_file_lines(struct vc_catalog_draft *draft,
                                  const struct vc_catalog_text *source, uint32_t count);

#endif
