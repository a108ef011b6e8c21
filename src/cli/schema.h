/* What the commands print as JSON, field by field, for `schema`. */
#ifndef VC_CLI_SCHEMA_H
#define VC_CLI_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

enum schema_type {
	SCHEMA_TEXT,
	SCHEMA_BYTES, /* 0 to 2^63-1 */
	SCHEMA_INTEGER,
	SCHEMA_NUMBER,
	SCHEMA_FLAG,
	SCHEMA_OBJECT, /* its members are fields behind it; where there are none, they are not fixed
	                */
	SCHEMA_TEXTS,  /* an array of texts */
	SCHEMA_COUNTS  /* an array of integers */
};

struct schema_field {
	const char *path; /* "gpus[].price.per_hour" */
	enum schema_type type;
	bool required, nullable;
	const char *constant; /* the only value; NULL: any */
	const char *summary;  /* NULL: none */
};

struct schema_output {
	const char *name; /* the command */
	const struct schema_field *fields;
	size_t count;
};

const struct schema_output *schema_output_at(size_t index); /* NULL past the end */

#endif
