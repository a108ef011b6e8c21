/* Strict reading of foreign JSON: cJSON alone rounds, saturates and ignores case. */
#ifndef VC_JSON_READ_H
#define VC_JSON_READ_H

#include "vramcalc/vramcalc.h"

#include <cjson/cJSON.h>

/* The whole text must be one value. NULL on failure, with the place in `error`. Free the result
 * with cJSON_Delete(). */
cJSON *json_parse(const char *text, size_t length, struct vc_error *error);

/* An exact integer from 0 to 2^53 - 1: false for anything else, "12" and 1.5 included. */
bool json_count(const cJSON *item, uint64_t *count);

/* By exact case; NULL when absent or null. */
const cJSON *json_member(const cJSON *object, const char *name, size_t length);

/* Where the value of a dotted path ("text_config.hidden_size") begins; false: not found. */
bool json_locate(const char *text, const char *path, uint32_t *line, uint32_t *column);

#endif
