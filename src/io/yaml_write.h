/* Writes a JSON tree as YAML that a person edits: objects as blocks, lists on lines of their own
 * width, plain words where they stay words. */
#ifndef VC_YAML_WRITE_H
#define VC_YAML_WRITE_H

#include <cjson/cJSON.h>
#include <stdio.h>

struct vc_yaml_comment {
	const char *key, *text; /* a table ends with NULL */
};

struct vc_yaml_style {
	int indent;
	const struct vc_yaml_comment *comments; /* behind the keys that have one; NULL: none */
};

/* The members of an object, each on its own line. */
void vc_yaml_write_object(const cJSON *object, const struct vc_yaml_style *style, FILE *out);
/* A string as a plain scalar, or quoted where it would read as something else. */
void vc_yaml_write_text(const char *text, FILE *out);

#endif
