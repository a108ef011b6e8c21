#include "http.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* libcurl's binary interface, as curl/curl.h has numbered it since version 7.85. */
enum {
	OPTION_WRITEDATA = 10001,
	OPTION_URL = 10002,
	OPTION_RANGE = 10007,
	OPTION_USERAGENT = 10018,
	OPTION_HTTPHEADER = 10023,
	OPTION_HEADERDATA = 10029,
	OPTION_PROTOCOLS_STR = 10318,
	OPTION_WRITEFUNCTION = 20011,
	OPTION_HEADERFUNCTION = 20079,
	OPTION_TIMEOUT = 13,
	OPTION_LOW_SPEED_LIMIT = 19,
	OPTION_LOW_SPEED_TIME = 20,
	OPTION_FOLLOWLOCATION = 52,
	OPTION_CONNECTTIMEOUT = 78,
	OPTION_NOSIGNAL = 99,
	INFO_RESPONSE_CODE = 0x200002,
	INFO_REDIRECT_URL = 0x10001F,
	GLOBAL_DEFAULT = 3,
	MAX_REDIRECTIONS = 5
};

struct library {
	void *handle;
	int (*global_init)(long flags);
	void *(*easy_init)(void);
	int (*easy_setopt)(void *easy, int option, ...);
	int (*easy_perform)(void *easy);
	int (*easy_getinfo)(void *easy, int info, ...);
	void (*easy_cleanup)(void *easy);
	const char *(*easy_strerror)(int code);
	void *(*slist_append)(void *list, const char *text);
	void (*slist_free_all)(void *list);
};

struct vc_http {
	struct library curl;
	void *easy;
	struct vc_http_options options;
};

static enum vc_status fail(struct vc_error *error, enum vc_status status, const char *format,
                           const char *detail)
{
	*error = (struct vc_error){ .status = status };
	(void)snprintf(error->message, sizeof error->message, "%s%s", format, detail);
	return status;
}

/* ---- Addresses --------------------------------------------------------------------------------
 */

/* The host and port of a URL; 0 when there is none. */
static size_t host_of(const char *url, const char **host)
{
	const char *start = strstr(url, "://");

	if (!start) {
		return 0;
	}
	*host = start + 3;
	return strcspn(*host, "/?#");
}

static bool is_loopback(const char *host, size_t length)
{
	size_t name = length && host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":/?#");

	if (name > length) {
		return false;
	}
	return (name == 9 && memcmp(host, "localhost", 9) == 0) ||
	       (name == 5 && memcmp(host, "[::1]", 5) == 0) ||
	       (name > 4 && memcmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") >= name);
}

bool vc_http_allowed(const char *url)
{
	const char *host = "";
	size_t length = host_of(url, &host);

	/* what stands before an '@' is a password, and what follows it the host */
	if (length == 0 || memchr(host, '@', length)) {
		return false;
	}
	return strncmp(url, "https://", 8) == 0 ||
	       (strncmp(url, "http://", 7) == 0 && is_loopback(host, length));
}

static bool is_local(const char *url)
{
	return strncmp(url, "http://", 7) == 0;
}

/* ---- The library ------------------------------------------------------------------------------
 */

static bool find(const struct library *curl, const char *name, void *function)
{
	void *symbol = dlsym(curl->handle, name);

	/* ISO C knows no cast from an object to a function; POSIX promises that this works */
	memcpy(function, &symbol, sizeof symbol);
	return symbol != NULL;
}

static bool load(struct library *curl)
{
	static const char *const names[] = { "libcurl.so.4", "libcurl-gnutls.so.4",
		                             "libcurl.4.dylib" };

	for (size_t i = 0; i < sizeof names / sizeof *names && !curl->handle; i++) {
		curl->handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	}
	return curl->handle && find(curl, "curl_global_init", &curl->global_init) &&
	       find(curl, "curl_easy_init", &curl->easy_init) &&
	       find(curl, "curl_easy_setopt", &curl->easy_setopt) &&
	       find(curl, "curl_easy_perform", &curl->easy_perform) &&
	       find(curl, "curl_easy_getinfo", &curl->easy_getinfo) &&
	       find(curl, "curl_easy_cleanup", &curl->easy_cleanup) &&
	       find(curl, "curl_easy_strerror", &curl->easy_strerror) &&
	       find(curl, "curl_slist_append", &curl->slist_append) &&
	       find(curl, "curl_slist_free_all", &curl->slist_free_all) &&
	       curl->global_init(GLOBAL_DEFAULT) == 0;
}

struct vc_http *vc_http_open(const struct vc_http_options *options, struct vc_error *error)
{
#ifndef VRAMCALC_HUB
	(void)options;
	(void)load;
	(void)fail(error, VC_UNSUPPORTED, "this program is built without a hub (VRAMCALC_HUB)", "");
	return NULL;
#else
	struct vc_http *http = calloc(1, sizeof *http);

	if (http && load(&http->curl)) {
		http->easy = http->curl.easy_init();
	}
	if (!http || !http->easy) {
		(void)fail(error, VC_UNSUPPORTED,
		           "needs libcurl, which cannot be loaded (install libcurl4)", "");
		vc_http_close(http);
		return NULL;
	}
	http->options = *options;
	return http;
#endif
}

void vc_http_close(struct vc_http *http)
{
	if (!http) {
		return;
	}
	if (http->easy) {
		http->curl.easy_cleanup(http->easy);
	}
	/* the library stays loaded: its own threads and exit handlers may still need it */
	free(http);
}

/* ---- One request ------------------------------------------------------------------------------
 */

struct transfer {
	struct vc_http_answer *answer;
	uint64_t limit;
	bool too_large;
};

static size_t take_body(char *bytes, size_t size, size_t count, void *context)
{
	struct transfer *transfer = context;
	struct vc_http_answer *answer = transfer->answer;
	char *larger;

	size *= count;
	if (size > transfer->limit - answer->length) {
		transfer->too_large = true;
		return 0;
	}
	larger = realloc(answer->bytes, answer->length + size + 1);
	if (!larger) {
		return 0;
	}
	answer->bytes = larger;
	memcpy(larger + answer->length, bytes, size);
	answer->length += size;
	larger[answer->length] = '\0';
	return size;
}

/* Content-Range: bytes 0-7/1234 */
static size_t take_header(char *bytes, size_t size, size_t count, void *context)
{
	static const char name[] = "content-range:";
	struct transfer *transfer = context;
	char line[128];
	size_t length = size * count < sizeof line - 1 ? size * count : sizeof line - 1;
	const char *slash;

	memcpy(line, bytes, length);
	line[length] = '\0';
	for (size_t i = 0; i < sizeof name - 1; i++) {
		char c = line[i] >= 'A' && line[i] <= 'Z' ? (char)(line[i] + 32) : line[i];

		if (c != name[i]) {
			return size * count;
		}
	}
	slash = strchr(line, '/');
	if (slash && slash[1] >= '0' && slash[1] <= '9') {
		transfer->answer->total = strtoull(slash + 1, NULL, 10);
	}
	return size * count;
}

static bool is_token_host(const struct vc_http *http, const char *url)
{
	const char *host = "";
	size_t length = host_of(url, &host);

	return http->options.token && strlen(http->options.host) == length &&
	       strncmp(host, http->options.host, length) == 0;
}

static void set_options(struct vc_http *http, const char *url, struct transfer *transfer)
{
	const struct vc_http_options *options = &http->options;
	const struct library *curl = &http->curl;
	long connect = options->connect_seconds ? (long)options->connect_seconds : 10;
	long stall = options->stall_seconds ? (long)options->stall_seconds : 20;
	long total = options->total_seconds ? (long)options->total_seconds : 120;

	(void)curl->easy_setopt(http->easy, OPTION_URL, url);
	(void)curl->easy_setopt(http->easy, OPTION_PROTOCOLS_STR, is_local(url) ? "http" : "https");
	(void)curl->easy_setopt(http->easy, OPTION_FOLLOWLOCATION, 0L);
	(void)curl->easy_setopt(http->easy, OPTION_NOSIGNAL, 1L);
	(void)curl->easy_setopt(http->easy, OPTION_USERAGENT, "vramcalc/" VC_VERSION_STRING);
	(void)curl->easy_setopt(http->easy, OPTION_CONNECTTIMEOUT, connect);
	(void)curl->easy_setopt(http->easy, OPTION_LOW_SPEED_LIMIT, 1L);
	(void)curl->easy_setopt(http->easy, OPTION_LOW_SPEED_TIME, stall);
	(void)curl->easy_setopt(http->easy, OPTION_TIMEOUT, total);
	(void)curl->easy_setopt(http->easy, OPTION_WRITEFUNCTION, take_body);
	(void)curl->easy_setopt(http->easy, OPTION_WRITEDATA, transfer);
	(void)curl->easy_setopt(http->easy, OPTION_HEADERFUNCTION, take_header);
	(void)curl->easy_setopt(http->easy, OPTION_HEADERDATA, transfer);
}

/* One request without redirections. */
static int perform(struct vc_http *http, const char *url, const char *range,
                   struct transfer *transfer)
{
	const struct library *curl = &http->curl;
	void *headers = NULL;
	char line[1024];
	int code;

	if (is_token_host(http, url)) {
		(void)snprintf(line, sizeof line, "Authorization: Bearer %s", http->options.token);
		headers = curl->slist_append(NULL, line);
		memset(line, 0, sizeof line);
	}
	set_options(http, url, transfer);
	(void)curl->easy_setopt(http->easy, OPTION_RANGE, range);
	(void)curl->easy_setopt(http->easy, OPTION_HTTPHEADER, headers);
	code = curl->easy_perform(http->easy);
	(void)curl->easy_setopt(http->easy, OPTION_HTTPHEADER, NULL);
	curl->slist_free_all(headers);
	(void)curl->easy_getinfo(http->easy, INFO_RESPONSE_CODE, &transfer->answer->code);
	return code;
}

static void drop_body(struct vc_http_answer *answer)
{
	free(answer->bytes);
	answer->bytes = NULL;
	answer->length = 0;
}

static enum vc_status judge(const struct vc_http *http, int code, const struct transfer *transfer,
                            bool ranged, struct vc_error *error)
{
	char number[32];

	(void)snprintf(number, sizeof number, "%ld", transfer->answer->code);
	if (transfer->too_large) {
		return fail(error, VC_INVALID,
		            ranged && transfer->answer->code == 200
		                    ? "the server ignores ranges (status 206 is expected)"
		                    : "the answer is larger than expected",
		            "");
	}
	if (code != 0) {
		return fail(error, VC_IO, "no answer: ", http->curl.easy_strerror(code));
	}
	switch (transfer->answer->code) {
	case 206:
		return ranged ? VC_OK
		              : fail(error, VC_INVALID, "the server sends a part unasked", "");
	case 200:
		return !ranged ? VC_OK
		               : fail(error, VC_INVALID,
		                      "the server ignores ranges (status 206 is expected)", "");
	case 401:
	case 403:
		return fail(
		        error, VC_IO,
		        "is not open to you: gated or private (HF_TOKEN with access is expected)",
		        "");
	case 404:
		return fail(error, VC_IO, "is not there", "");
	case 429:
		return fail(error, VC_IO, "the server asks to wait: too many requests", "");
	default:
		return fail(error, VC_IO, "the server answers with status ", number);
	}
}

/* Where a redirection leads, when it is one that may be followed; then `url` is that. */
static bool follow(struct vc_http *http, char *url, size_t size, struct vc_error *error)
{
	const char *next = NULL;
	bool allowed;

	(void)http->curl.easy_getinfo(http->easy, INFO_REDIRECT_URL, &next);
	allowed = next && strlen(next) < size && vc_http_allowed(next) &&
	          (!is_local(next) || is_local(url));
	if (!allowed) {
		(void)fail(error, VC_INVALID,
		           "is redirected to what is not https (https is expected)", "");
		return false;
	}
	(void)snprintf(url, size, "%s", next);
	return true;
}

enum vc_status vc_http_get(struct vc_http *http, const struct vc_http_request *request,
                           struct vc_http_answer *answer, struct vc_error *error)
{
	struct transfer transfer = { .answer = answer, .limit = request->limit };
	char url[4096], range[64];
	bool ranged = request->length > 0;
	enum vc_status status = VC_INVALID;

	*answer = (struct vc_http_answer){ .total = UINT64_MAX };
	(void)snprintf(url, sizeof url, "%s", request->url);
	(void)snprintf(range, sizeof range, "%llu-%llu", (unsigned long long)request->offset,
	               (unsigned long long)(request->offset + request->length - 1));
	if (!vc_http_allowed(url)) {
		return fail(error, VC_INVALID, "is no https address", "");
	}
	for (int i = 0;; i++) {
		int code = perform(http, url, ranged ? range : NULL, &transfer);

		if (code != 0 || answer->code < 300 || answer->code > 399) {
			status = judge(http, code, &transfer, ranged, error);
			break;
		}
		drop_body(answer);
		if (i == MAX_REDIRECTIONS) {
			status = fail(error, VC_INVALID, "is redirected more than five times", "");
			break;
		}
		if (!follow(http, url, sizeof url, error)) {
			status = error->status;
			break;
		}
	}
	if (status == VC_OK && !answer->bytes) {
		answer->bytes = calloc(1, 1);
	}
	if (status != VC_OK || !answer->bytes) {
		drop_body(answer);
	}
	return status;
}
