/*
 * A catalog being put together: file by file, later ones over earlier ones, key by key. The build
 * makes the built-in tables with it, vc_catalog_open() a user's own. Private to src/io.
 */
#ifndef VC_CATALOG_DRAFT_H
#define VC_CATALOG_DRAFT_H

#include "arena.h"
#include "catalog.h"
#include "errors.h"

/* An hour's price at most, in millionths: times a million it stays below 2^63. */
#define VC_MOST_PRICE_MICROS UINT64_C(9000000000000)

struct vc_catalog_draft {
	struct vc_arena arena;
	struct vc_catalog_gpu *gpus;
	size_t gpu_count, gpu_room;
	struct vc_offer *offers;
	size_t offer_count, offer_room;
	struct vc_offer
	        *replaced; /* rows of files that a later file replaced: checked all the same */
	size_t replaced_count, replaced_room;
	struct vc_offer_index *index; /* of `offers`; NULL until a file of offers is read */
	struct vc_platform *platforms;
	size_t platform_count, platform_room;
	const struct vc_criterion *criteria; /* VC_CRITERIA of them */
	struct vc_error_list *errors;
	size_t errors_before;
	bool is_users; /* files are laid over a catalog: what they name is shown */
	/* The id of the n-th way to partition a GPU, NULL past the last; NULL: any id will do. */
	const char *(*mig_table)(size_t index);
};

/* A file's text; `name` stands in messages and in origins. */
struct vc_catalog_text {
	const char *name, *text;
	size_t length;
};

/* Fills in everything. `base` may be NULL. False when there is no memory, which is in draft->errors
 * then. */
bool vc_draft_start(struct vc_catalog_draft *draft, const struct vc_catalog *base,
                    struct vc_error_list *errors);
/* YAML or JSON with GPUs and platforms. */
void vc_draft_read_yaml(struct vc_catalog_draft *draft, const struct vc_catalog_text *source);
/* CSV. */
void vc_draft_read_offers(struct vc_catalog_draft *draft, const struct vc_catalog_text *source);

/*
 * Checks what holds between entries, fills in prices and what is derived, and hands the arena to
 * the catalog. False, with everything freed, when any error came up since vc_draft_start().
 */
bool vc_draft_finish(struct vc_catalog_draft *draft, const char *currency,
                     struct vc_catalog *catalog);

/* Room for one more; NULL when there is no memory. */
struct vc_catalog_gpu *vc_draft_add_gpu(struct vc_catalog_draft *draft);
struct vc_offer *vc_draft_add_offer(struct vc_catalog_draft *draft);
struct vc_offer *vc_draft_add_replaced(struct vc_catalog_draft *draft);
struct vc_platform *vc_draft_add_platform(struct vc_catalog_draft *draft);

/* A copy in the draft's memory; "" when there is none. */
const char *vc_draft_keep(struct vc_catalog_draft *draft, const char *text);
/* `file` stays the caller's and has to live as long as the draft's memory. */
struct vc_origin vc_draft_origin(struct vc_catalog_draft *draft, const char *file, uint32_t line);

/* Once offers are resolved: their gpu_id is the GPU's very own. `currency` may be NULL. */
void vc_draft_set_prices(struct vc_catalog_draft *draft, struct vc_catalog_gpu *gpu,
                         const char *currency);

void vc_draft_no_memory(struct vc_catalog_draft *draft);

#endif
