/*
 * GET over HTTP through libcurl, which is loaded only when somebody asks for it: it brings some
 * thirty libraries along. https alone, plain http only to this machine itself.
 */
#ifndef VC_HTTP_H
#define VC_HTTP_H

#include "vramcalc/vramcalc.h"

struct vc_http; /* one session: connections are kept for the next request */

struct vc_http_options {
	const char *token; /* sent to `host` alone; NULL: none. Never part of a message. */
	const char *host;  /* "huggingface.co", with a port where there is one */
	uint32_t connect_seconds, stall_seconds, total_seconds; /* 0: 10, 20, 120 */
};

struct vc_http_request {
	const char *url;
	uint64_t offset, length; /* of the range that is wanted; length 0: everything */
	uint64_t limit;          /* bytes of the answer; more is refused */
};

struct vc_http_answer {
	char *bytes; /* with a NUL behind; to be freed */
	size_t length;
	uint64_t total; /* bytes of the whole file, from Content-Range; UINT64_MAX: unknown */
	long code;      /* 200, 206, 404, ...; 0: none came */
};

/* NULL with a message where libcurl cannot be loaded. */
struct vc_http *vc_http_open(const struct vc_http_options *options, struct vc_error *error);
void vc_http_close(struct vc_http *http);

/*
 * VC_OK for 200, or for 206 where a range is wanted; the answer is then to be freed. At most five
 * redirections are followed, each to https (or from this machine to itself).
 */
enum vc_status vc_http_get(struct vc_http *http, const struct vc_http_request *request,
                           struct vc_http_answer *answer, struct vc_error *error);

/* Whether a URL may be asked for at all: https, or http to 127.0.0.0/8, ::1 or localhost. */
bool vc_http_allowed(const char *url);

#endif
