/* `verify`: an estimate held against what a run's log says, term by term. */
#ifndef VC_CLI_VERIFY_H
#define VC_CLI_VERIFY_H

#include "json_writer.h"
#include "log.h"
#include "session.h"

enum {
	VERIFY_ROWS = 12,
	VERIFY_WHY = 320,
	VERIFY_SETTINGS = STARTUP_SETTINGS
};

/* A figure that both the estimate and the log may have. */
struct verify_row {
	const char *name; /* of JSON: a component's, or "total_allocated", "process", "kv_tokens" */
	const char *label;   /* as people call it in this engine */
	uint32_t components; /* bits 1 << vc_component that the estimate sums for it */
	bool tokens;         /* a count, not bytes */
	bool measured_known;
	bool by_difference; /* no line says it: what the others leave */
	bool cut_short;     /* memory ran out: the peak would have been this or more */
	uint64_t said, measured;
	bool within;          /* the estimate's range */
	char why[VERIFY_WHY]; /* a phrase that explains the gap; "" where there is none */
};

/* A field as the log states it. */
struct verify_setting {
	const struct startup_setting *log;
	bool given;   /* by the spec */
	bool differs; /* from the spec's value or, where it gives none, the default */
	char spec[STARTUP_VALUE];
};

/* Whether the log's own terms make up what it says they are parts of. */
struct verify_sum {
	const char *whole; /* in words; NULL: the log has no such figure */
	uint64_t whole_bytes, sum_bytes;
	bool closes;        /* within VERIFY_CLOSE_BYTES */
	const char *absent; /* the terms that the log does not have; NULL: it has all */
};

#define VERIFY_CLOSE_BYTES 107374182 /* 0.1 GiB */

struct verification {
	const char *source;
	const struct log *log;
	const struct startup_rank *rank; /* NULL: no engine's start-up was read */
	struct vc_gpu gpu;               /* with the total that the log shows */
	bool gpu_guessed;
	struct vc_request request; /* the spec, completed by the log */
	struct vc_ledger ledger;
	size_t setting_count, row_count;
	struct verify_setting settings[VERIFY_SETTINGS];
	struct verify_row rows[VERIFY_ROWS];
	struct verify_sum sum;
	bool within;
};

/* The rows and the sum; nothing is measured where row_count is 0. */
void verify_compare(struct verification *verification);
/* What explains each row's gap. `as_run`: the spec as the log states it throughout. */
void verify_explain(struct verification *verification, const struct vc_spec *as_run);

/* A value of a field that is kept as a number, as a spec writes it. */
struct vc_field_row;
void verify_value(char *to, size_t size, const struct vc_field_row *row, uint64_t value);

uint64_t verify_components(const struct vc_ledger *ledger, uint32_t components);

/* Adds the figures to a file of own measurements. Says what is wrong and returns false. */
bool verify_calibrate(const struct verification *verification, const char *path);

void verify_print(struct output *out, const struct verification *verification);
void verify_json(struct json_writer *json, const struct verification *verification);

#endif
