/*
 * Reads whatever is taken as a SPEC into one plain struct, with every check made: a spec in YAML or
 * JSON, a config.json or the folder that holds one, a bundled model's name, "-" for standard input.
 * Nothing else in the program parses these.
 */
#ifndef VC_SPEC_H
#define VC_SPEC_H

#include "errors.h"
#include "vramcalc/vramcalc.h"

struct vc_hardware {
	uint32_t gpu_count;
	char **gpus;                /* as written; the catalog says what they name */
	uint32_t max_gpus;          /* default 8 */
	uint64_t host_memory_bytes; /* 0: not given */
};

struct vc_budget {
	bool price_given;
	uint64_t price_per_hour_micros;
	char currency[4]; /* default USD */
};

/*
 * The reader fills in the defaults of hardware and budget. In `request` a member that the spec
 * leaves out stays zero, so that vc_request_resolve() and the engine choose; vc_spec_gives() tells
 * the two apart.
 */
struct vc_spec {
	char *source;           /* as the user named it; "-" for standard input */
	struct vc_model *model; /* owned unless borrowed from a cache */
	bool borrowed;
	struct vc_request request; /* request.model == model */
	struct vc_hardware hardware;
	struct vc_budget budget;
	struct vc_spec_roles *roles; /* the models beside the policy; NULL: none */
	uint64_t given[2];           /* a bit per field: ask vc_spec_gives() */
	char *file;                  /* what was read, as messages name it: FOLDER/config.json */
	char *text; /* what it held, for vc_spec_place(); NULL when it has no lines */
	size_t length;
};

/*
 * The model of the spec that was read last, for streams that say much about one model: as long as
 * the next spec's architecture is the same text, it is not read again. Zero-initialize; not to be
 * shared by threads. A spec that was read with a cache borrows its model until the next one is.
 */
struct vc_spec_cache {
	struct vc_model *model;
	char *text; /* of the architecture that `model` was made from */
	size_t length;
	char name[128]; /* that it gave the model; "": none */
};
void vc_spec_cache_free(struct vc_spec_cache *cache);

struct vc_spec_options {
	const char *const *overrides; /* "workload.batch_size=8", as --set takes them */
	size_t override_count;
	struct vc_spec_cache *cache; /* NULL: none */
	bool offline;                /* "hf:..." comes from the cache or not at all */
	bool beside;                 /* named by another spec's models: it has none of its own */
};

/*
 * Each returns VC_OK and a spec to be freed, or another status, at least one error in `errors`
 * (which keeps what it held before) and a spec that holds nothing. `options` may be NULL.
 */
enum vc_status vc_spec_read(const char *name, const struct vc_spec_options *options,
                            struct vc_spec *spec, struct vc_error_list *errors);

/* From memory: a line of NDJSON, an embedded model. `name` stands for the file in messages. */
struct vc_spec_text {
	const char *name, *text;
	size_t length;
	const char *folder; /* what model.config and model.weights are relative to; NULL: here */
};
enum vc_status vc_spec_read_memory(const struct vc_spec_text *source,
                                   const struct vc_spec_options *options, struct vc_spec *spec,
                                   struct vc_error_list *errors);

void vc_spec_free(struct vc_spec *spec);

/* Whether the file or an override gives this field ("workload.sequence_length"). */
bool vc_spec_gives(const struct vc_spec *spec, const char *field);

/* Sets the file, and line and column of error->field, in an error that was found later. */
void vc_spec_place(const struct vc_spec *spec, struct vc_error *error);

/* ---- The fields, one row each: what --set, --vary and solve take, what `schema` prints ------- */

enum vc_field_kind {
	VC_FIELD_TEXT,
	VC_FIELD_CHOICE, /* one of `choices` */
	VC_FIELD_FLAG,   /* true or false */
	VC_FIELD_COUNT,  /* minimum..maximum; suffixes as VC_QUANTITY_COUNT */
	VC_FIELD_BYTES,
	VC_FIELD_RATIO, /* a decimal; minimum and maximum are in millionths */
	VC_FIELD_MONEY,
	VC_FIELD_VERSION,
	VC_FIELD_CURRENCY,
	VC_FIELD_LIST, /* of texts */
	VC_FIELD_TREE  /* model.architecture: any key of a config.json */
};

struct vc_spec_field {
	const char *path; /* "workload.batch_size" */
	enum vc_field_kind kind;
	uint64_t minimum, maximum;
	const char *fallback; /* the default as a spec would write it */
	const char *summary;
	const struct vc_choices *choices; /* NULL: any value of the kind */
};

/* The names that a field takes, NULL past the end. */
const char *vc_spec_choice(const struct vc_spec_field *field, size_t index);

/* In the order of the spec; NULL past the end. */
const struct vc_spec_field *vc_spec_field_at(size_t index);
const struct vc_spec_field *vc_spec_field_by_path(const char *path);
/* The nearest known path, for messages; NULL when none is near. */
const char *vc_spec_field_nearest(const char *path);

#endif
