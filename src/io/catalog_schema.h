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

struct vc_size_row {
	uint64_t gb;
	char *vendor, *is;
};

struct vc_cell_row {
	char *criterion, *score, *is;
};

struct vc_evidence_row {
	char *about, *grade, *as_of, *source, *text, *doubt;
};

struct vc_platform_row {
	char *id, *name, *local_name, *kind;
	char **slicing, **compliance, **frameworks, **fits;
	struct vc_size_row *sizes;
	struct vc_cell_row *cells;
	struct vc_evidence_row *evidence;
	uint32_t slicing_count, compliance_count, frameworks_count, fits_count;
	uint32_t sizes_count, cells_count, evidence_count;
	bool *hidden;
};

struct vc_criterion_row {
	char *id, *name, *question, *rubric;
};

struct vc_catalog_file {
	uint64_t version;
	char *as_of;
	struct vc_source_row *sources;
	struct vc_gpu_row *gpus;
	struct vc_platform_row *platforms;
	uint32_t sources_count, gpus_count, platforms_count;
	/* of the built-in file alone */
	char *compared;
	struct vc_criterion_row *criteria;
	uint32_t criteria_count;
};

/* What the file holds, to be freed; NULL when anything is wrong, which is in the draft's errors. */
struct vc_catalog_file *vc_catalog_file_load(struct vc_catalog_draft *draft,
                                             const struct vc_catalog_text *source);
void vc_catalog_file_free(struct vc_catalog_file *file);

/* Lay the rows of a file over the draft. */
void vc_catalog_lay_gpus(struct vc_catalog_draft *draft, const struct vc_catalog_text *source,
                         const struct vc_catalog_file *file);
void vc_catalog_lay_platforms(struct vc_catalog_draft *draft, const struct vc_catalog_text *source,
                              const struct vc_catalog_file *file);

/* The lines, in order, of all mappings of the lists at "gpus" or "platforms.cells"; `count` at
 * most. In the draft's memory; NULL when there is none. */
const uint32_t *vc_catalog_lines(struct vc_catalog_draft *draft,
                                 const struct vc_catalog_text *source, const char *path,
                                 size_t count);

/* Adds an error at the place of "gpus[3].memory_gb". */
void vc_catalog_refuse(struct vc_catalog_draft *draft, const struct vc_catalog_text *source,
                       const char *path, const char *message);

#endif
