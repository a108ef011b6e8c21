/* JSON piece by piece from a stream, for texts that are too large to hold. The first mistake
 * sticks: later calls return at once, and nobody needs to check in between. */
#ifndef VC_JSON_SCAN_H
#define VC_JSON_SCAN_H

#include "stream.h"
#include "vramcalc/vramcalc.h"

struct vc_json_scan {
	struct vc_stream *stream;
	uint64_t end;           /* the offset behind the text */
	struct vc_error *error; /* its status is VC_OK until something is wrong */
};

bool vc_scan_good(const struct vc_json_scan *scan);

/* "what at byte N". Returns false. */
bool vc_scan_fail(struct vc_json_scan *scan, uint64_t offset, const char *what);

/* The next character behind blanks, not taken; -1 at the end or after a mistake. */
int vc_scan_peek(struct vc_json_scan *scan);
/* Takes this character; false and a mistake when another is there. */
bool vc_scan_take(struct vc_json_scan *scan, char wanted);

/*
 * Steps through an object or a list: `first` starts true. True when another member follows, false
 * at the end, which is taken, or after a mistake. Call after vc_scan_take('{' or '[').
 */
bool vc_scan_next(struct vc_json_scan *scan, char closing, bool *first);

/* A string as UTF-8 without quotes; a mistake when it has `size` bytes or more, or holds NUL. */
bool vc_scan_string(struct vc_json_scan *scan, char *text, size_t size);
/* Digits alone, up to 2^63-1. */
bool vc_scan_count(struct vc_json_scan *scan, uint64_t *value);
/* Passes over a value of any kind, at most 32 levels deep. */
void vc_scan_skip(struct vc_json_scan *scan);

#endif
