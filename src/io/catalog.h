/*
 * The GPUs, offers and platforms that the program knows: built in, and changed by the user's own
 * files.
 *
 * The built-in catalog is const tables made from src/catalog/ at build time, by the reader that
 * also reads users' files; using it costs nothing at start. docs/catalog.md describes the files.
 */
#ifndef VC_CATALOG_H
#define VC_CATALOG_H

#include "vramcalc/vramcalc.h"

struct vc_error_list;
struct vc_platform;
struct vc_criterion;

/* Who said so: `file` and `text` are NULL for what is built in. */
struct vc_origin {
	const char *file;
	uint32_t line;
	const char *text; /* "FILE:LINE" */
};

/* Where a figure comes from: "memory", and the public source it was read in. */
struct vc_citation {
	const char *field, *source;
};

enum vc_offer_kind {
	VC_OFFER_LIST,     /* a cloud's list price */
	VC_OFFER_MARKET,   /* the lowest offer seen on a marketplace */
	VC_OFFER_FRACTION, /* a part of a GPU: never the price of a whole one */
	VC_OFFER_QUOTED,   /* said somewhere, rentable nowhere: shown, never ranked */
	VC_OFFER_OWN       /* what the user pays: outranks every other in its currency */
};

const char *vc_offer_kind_name(enum vc_offer_kind kind);

/* One instance type in one region; a price of 0 is unknown. Prices are for the whole instance. */
struct vc_offer {
	const char *cloud, *region, *instance, *gpu_id;
	enum vc_offer_kind kind;
	uint32_t gpus_micros; /* GPUs in the instance, in millionths; 0: unknown */
	uint64_t host_bytes;  /* memory of the instance's own; 0: unknown */
	uint64_t on_demand_micros, spot_micros; /* per hour, in millionths of the currency */
	char currency[4];
	const char *as_of, *source, *note; /* "" where there is none */
	struct vc_origin origin;
	uint32_t gpu_column; /* of the origin's line: where the GPU is named */
};

struct vc_catalog_gpu {
	struct vc_gpu gpu; /* first, so that a vc_gpu of a catalog leads back to its entry */
	/* The cheapest hour per currency; gpu.price is one of them. */
	const struct vc_price *prices;
	uint32_t price_count;
	uint32_t citation_count;
	const struct vc_citation *citations;
	const char *sources; /* the citations as one text, "memory: ...; link: ..." */
	const char *form, *memory_type, *link_scope, *note; /* "" where there is none */
	const char *mig_table; /* id in mig.yaml; "" where there is none */
	uint32_t mig_instances, tdp_watts;
	uint32_t devices_per_board; /* CUDA or ROCm devices that share one board; 1 */
	bool usable_derived;        /* gpu.usable_bytes follows a rule of thumb, not a reading */
	bool documented;            /* shown unless more is asked for */
	bool unlisted;              /* a user's file says that it is not */
	bool hidden;                /* left out by a user's file; never so in an opened catalog */
	struct vc_origin origin;    /* where it was last changed */
};

struct vc_catalog {
	const struct vc_catalog_gpu *gpus; /* in the order in which they are listed */
	size_t count;
	const struct vc_offer *offers;
	size_t offer_count;
	const struct vc_platform *platforms; /* platform.h */
	size_t platform_count;
	const struct vc_criterion *criteria;
	void *memory; /* what vc_catalog_close() frees; NULL for the built-in one */
};

/* Everything that is built in. */
extern const struct vc_catalog vc_catalog_builtin;

struct vc_catalog_options {
	/* .csv for offers, any other name for YAML or JSON with GPUs and platforms; later ones win
	 */
	const char *const *files;
	size_t file_count;
	bool no_user_files;   /* leave out $XDG_CONFIG_HOME/vramcalc and ~/.config/vramcalc */
	const char *currency; /* which price becomes gpu.price; NULL: USD */
};

/*
 * The built-in catalog with the user's files merged over it, key by key. Without any such file
 * this is the built-in tables themselves. What is wrong in the files goes to `errors`, all of it;
 * the status is then not VC_OK and there is nothing to close.
 */
enum vc_status vc_catalog_open(struct vc_catalog *catalog, const struct vc_catalog_options *options,
                               struct vc_error_list *errors);
void vc_catalog_close(struct vc_catalog *catalog);

/*
 * The GPUs that `name` means, in catalog order: one for an id or an alias, all sizes for a bare
 * family name ("A100"). Case, blanks, '-' and '_' do not matter. Writes at most `room` of them and
 * returns how many there are; 0: no such GPU.
 */
size_t vc_catalog_find(const struct vc_catalog *catalog, const char *name,
                       const struct vc_gpu **gpus, size_t room);

/* The id, alias or family nearest to an unknown name; NULL where none is near. */
const char *vc_catalog_nearest(const struct vc_catalog *catalog, const char *name);

/* How GPUs are partitioned, made from src/catalog/mig.yaml; NULL where no table has this id. */
extern const struct vc_mig_table vc_mig_tables[];
extern const size_t vc_mig_table_count;
const struct vc_mig_table *vc_catalog_mig(const struct vc_catalog_gpu *gpu);

/* Whether its price is one of whole GPUs that somebody rents out. */
bool vc_offer_ranks(const struct vc_offer *offer);

/* The entry of a GPU of any catalog. */
const struct vc_catalog_gpu *vc_catalog_entry(const struct vc_gpu *gpu);

#endif
