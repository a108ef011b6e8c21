/* `compare`: one row per spec and combination of varied fields. */
#ifndef VC_CLI_COMPARE_H
#define VC_CLI_COMPARE_H

#include "output.h"
#include "session.h"
#include "table.h"
#include "vary.h"

enum {
	COMPARE_GPUS = 64
};

/* What all rows share; constant while they are made. */
struct comparison {
	const struct arguments *arguments;
	struct session session;
	struct variations variations;
	struct gpu_list gpus;           /* a fit column each */
	const struct vc_gpu *reference; /* what `detailed` is for */
	bool with_detailed;
	struct column columns[TABLE_COLUMNS];
	size_t column_count;
};

struct compare_fit {
	enum vc_verdict verdict;
	uint32_t gpus_needed; /* 0: it does not fit */
	uint64_t need_bytes;
};

struct compare_row {
	const struct comparison *comparison;
	char spec[256];
	const char *settings[VARY_FIELDS];
	bool failed;
	struct vc_error error; /* when failed */
	uint64_t params, rule_total_bytes, recommended_bytes;
	bool has_detailed;
	uint64_t total_bytes, low_bytes, high_bytes;
	struct compare_fit fits[COMPARE_GPUS];
};

/* A spec: a file or name, or its text. */
struct compare_source {
	const char *name; /* as shown */
	const char *text; /* NULL: vc_spec_read(name) */
	size_t length;
	uint32_t line;               /* of the stream, for messages */
	struct vc_spec_cache *cache; /* of the stream; NULL: none */
};

/* Fills a row; a spec that is wrong makes a failed one. `errors` gets all that is wrong. */
void compare_fill(const struct comparison *comparison, const struct compare_source *source,
                  uint64_t combination, struct compare_row *row, struct vc_error_list *errors);

/* The columns that --columns asks for; false with a message when one does not exist. */
bool compare_columns(struct comparison *comparison);

/* One line of NDJSON. */
void compare_json(FILE *file, const struct compare_row *row);

/* Sorts by --sort; false with a message when there is no such column. */
bool compare_sort(const struct comparison *comparison, struct compare_row *rows, size_t count);

#endif
