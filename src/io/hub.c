#include "hub.h"

#include "gguf.h"
#include "http.h"
#include "hub_cache.h"
#include "safetensors.h"
#include "source.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	MAX_PART = 96, /* of an organization's or a model's name */
	LISTING_BYTES = 16 << 20,
	CONFIG_BYTES = 4 << 20,
	INDEX_BYTES = 64 << 20,
	FIRST_BYTES = 64 << 10, /* of a weight file: most headers are whole with these */
	CHUNK_BYTES = 1 << 20,
	HEADER_BYTES = 100000008,
	MAX_CHUNKS = 256
};

struct hub {
	const char *name; /* the SPEC, for messages */
	struct vc_hub_name parts;
	char endpoint[256];
	struct vc_http *http;
	struct vc_error_list *errors;
	char *folder;   /* of this revision in the cache */
	cJSON *listing; /* what the hub says of the revision */
};

/* ---- Messages ---------------------------------------------------------------------------------
 */

static bool fail(struct hub *hub, enum vc_status status, const char *file, const char *what)
{
	struct vc_error error = { .status = status };

	(void)snprintf(error.file, sizeof error.file, "%s", hub->name);
	(void)snprintf(error.message, sizeof error.message, "%.120s%s%.180s", file,
	               *file ? ": " : "", what);
	vc_errors_append(hub->errors, &error);
	return false;
}

/* ---- Names ------------------------------------------------------------------------------------
 */

static const char name_characters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

bool vc_hub_is_name(const char *name)
{
	return strncmp(name, "hf:", 3) == 0;
}

/* Copies the next `length` characters when all of them are allowed and none would climb. */
static bool take_part(const char *text, size_t length, const char *more, char *part)
{
	if (length == 0 || length > MAX_PART || *text == '.') {
		return false;
	}
	for (size_t i = 0; i < length; i++) {
		if (!strchr(name_characters, text[i]) && !strchr(more, text[i])) {
			return false;
		}
	}
	memcpy(part, text, length);
	part[length] = '\0';
	return !strstr(part, "..");
}

bool vc_hub_name_parse(const char *name, struct vc_hub_name *parts)
{
	const char *at = name + 3;
	size_t length = strcspn(at, "/");

	(void)snprintf(parts->revision, sizeof parts->revision, "main");
	parts->file[0] = '\0';
	if (!take_part(at, length, "", parts->organization) || at[length] != '/') {
		return false;
	}
	at += length + 1;
	length = strcspn(at, "@:");
	if (!take_part(at, length, "", parts->model)) {
		return false;
	}
	at += length;
	if (*at == '@') {
		length = strcspn(++at, ":");
		if (!take_part(at, length, "/", parts->revision)) {
			return false;
		}
		at += length;
	}
	return !*at || (*at == ':' && take_part(at + 1, strlen(at + 1), "", parts->file));
}

static bool take_endpoint(struct hub *hub)
{
	const char *endpoint = getenv("HF_ENDPOINT"); /* NOLINT(concurrency-mt-unsafe) */
	size_t length;

	endpoint = endpoint && *endpoint ? endpoint : "https://huggingface.co";
	length = strlen(endpoint);
	while (length > 0 && endpoint[length - 1] == '/') {
		length--;
	}
	if (length >= sizeof hub->endpoint || !vc_http_allowed(endpoint)) {
		return fail(hub, VC_INVALID, "HF_ENDPOINT",
		            "is no https address (plain http is for this machine alone)");
	}
	memcpy(hub->endpoint, endpoint, length);
	hub->endpoint[length] = '\0';
	return true;
}

/* ---- Requests ---------------------------------------------------------------------------------
 */

static bool open_http(struct hub *hub)
{
	const char *token = getenv("HF_TOKEN");            /* NOLINT(concurrency-mt-unsafe) */
	const char *wait = getenv("VRAMCALC_HUB_TIMEOUT"); /* NOLINT(concurrency-mt-unsafe) */
	unsigned long seconds = wait ? strtoul(wait, NULL, 10) : 0;
	struct vc_http_options options = {
		.token = token && *token ? token : NULL,
		.host = strstr(hub->endpoint, "://") + 3,
	};
	struct vc_error error;

	if (seconds > 0 && seconds < 3600) {
		options.connect_seconds = (uint32_t)seconds;
		options.stall_seconds = (uint32_t)seconds;
	}
	hub->http = vc_http_open(&options, &error);
	return hub->http || fail(hub, error.status, "", error.message);
}

static bool get(struct hub *hub, const char *file, const struct vc_http_request *request,
                struct vc_http_answer *answer)
{
	struct vc_error error;

	return vc_http_get(hub->http, request, answer, &error) == VC_OK ||
	       fail(hub, error.status, file, error.message);
}

/* The address of a file of this revision. A '/' in a revision is not one of the address. */
static void address(const struct hub *hub, const char *file, char *url, size_t size)
{
	(void)snprintf(url, size, "%s/%s/%s/resolve/%s/%s", hub->endpoint, hub->parts.organization,
	               hub->parts.model, hub->parts.commit, file);
}

static bool fetch_listing(struct hub *hub)
{
	char url[1024], revision[3 * MAX_PART + 1];
	struct vc_http_request request = { .url = url, .limit = LISTING_BYTES };
	struct vc_http_answer answer;
	size_t at = 0;
	const cJSON *commit;

	for (const char *p = hub->parts.revision; *p; p++) {
		at += (size_t)snprintf(revision + at, sizeof revision - at,
		                       *p == '/' ? "%%2F" : "%c", *p);
	}
	(void)snprintf(url, sizeof url, "%s/api/models/%s/%s/revision/%s", hub->endpoint,
	               hub->parts.organization, hub->parts.model, revision);
	if (!get(hub, "", &request, &answer)) {
		return false;
	}
	hub->listing = cJSON_ParseWithLength(answer.bytes, answer.length);
	free(answer.bytes);
	commit = cJSON_GetObjectItemCaseSensitive(hub->listing, "sha");
	if (!cJSON_IsString(commit) || !vc_hub_is_commit(commit->valuestring)) {
		return fail(hub, VC_INVALID, "",
		            "the hub's answer names no commit (a hub of models is expected)");
	}
	(void)snprintf(hub->parts.commit, sizeof hub->parts.commit, "%s", commit->valuestring);
	return true;
}

static bool fetch_whole(struct hub *hub, const char *file, uint64_t limit)
{
	char url[1024];
	struct vc_http_request request = { .url = url, .limit = limit };
	struct vc_http_answer answer;
	bool written;

	address(hub, file, url, sizeof url);
	if (!get(hub, file, &request, &answer)) {
		return false;
	}
	written = vc_hub_cache_write(hub->folder, file, answer.bytes, answer.length, UINT64_MAX);
	free(answer.bytes);
	return written || fail(hub, VC_IO, file, "the cache cannot be written");
}

static bool fetch_range(struct hub *hub, const char *file, uint64_t offset, uint64_t length,
                        struct vc_http_answer *answer)
{
	char url[1024];
	struct vc_http_request request = { url, offset, length, length };

	address(hub, file, url, sizeof url);
	return get(hub, file, &request, answer);
}

/* ---- Headers of weight files ------------------------------------------------------------------
 */

/* Its length is in the first 8 bytes: one request for most files, two for the rest. */
static bool fetch_safetensors(struct hub *hub, const char *file)
{
	struct vc_http_answer first, rest = { 0 };
	uint64_t size = 8;
	bool good;

	if (!fetch_range(hub, file, 0, FIRST_BYTES, &first)) {
		return false;
	}
	for (size_t i = 0; i < 8 && first.length >= 8; i++) {
		size += (uint64_t)(unsigned char)first.bytes[i] << 8 * i;
	}
	if (first.length < 8 || size > HEADER_BYTES) {
		free(first.bytes);
		return fail(hub, VC_INVALID, file,
		            "begins with no length of a header (safetensors is expected)");
	}
	if (size > first.length) {
		char *larger = NULL;

		good = fetch_range(hub, file, first.length, size - first.length, &rest);
		good = good && (rest.length == size - first.length ||
		                fail(hub, VC_INVALID, file, "ends within its header"));
		if (good) {
			larger = realloc(first.bytes, size);
		}
		if (larger) {
			memcpy(larger + first.length, rest.bytes, rest.length);
			first.bytes = larger;
		}
		free(rest.bytes);
		if (!larger) {
			free(first.bytes);
			return !good ? false
			             : fail(hub, VC_NO_MEMORY, file, "does not fit into memory");
		}
	}
	good = vc_hub_cache_write(hub->folder, file, first.bytes, size, first.total);
	free(first.bytes);
	return good || fail(hub, VC_IO, file, "the cache cannot be written");
}

/* A GGUF header says nowhere how long it is: it is fetched as it is read. */
struct chunks {
	struct hub *hub;
	const char *file;
	struct vc_http_answer answer;
	uint64_t offset, end; /* of what is held; of all that was fetched */
	uint32_t count;
	int copy; /* the cache's file */
};

static bool fetch_chunk(struct chunks *chunks, uint64_t offset)
{
	free(chunks->answer.bytes);
	chunks->answer.bytes = NULL;
	if (++chunks->count > MAX_CHUNKS) {
		return fail(chunks->hub, VC_INVALID, chunks->file,
		            "has a header of more than 256 MiB");
	}
	if (!fetch_range(chunks->hub, chunks->file, offset, CHUNK_BYTES, &chunks->answer)) {
		return false;
	}
	chunks->offset = offset;
	chunks->end = offset + chunks->answer.length;
	return vc_hub_cache_put(chunks->copy, chunks->answer.bytes, chunks->answer.length,
	                        offset) ||
	       fail(chunks->hub, VC_IO, chunks->file, "the cache cannot be written");
}

static ptrdiff_t read_chunk(void *context, uint64_t offset, void *bytes, size_t size)
{
	struct chunks *chunks = context;
	uint64_t from;

	if (offset < chunks->offset || offset - chunks->offset >= chunks->answer.length) {
		if (offset >= chunks->answer.total) {
			return 0;
		}
		if (!fetch_chunk(chunks, offset)) {
			return -1;
		}
	}
	from = offset - chunks->offset;
	if (from >= chunks->answer.length) {
		return 0;
	}
	size = size < chunks->answer.length - from ? size : (size_t)(chunks->answer.length - from);
	memcpy(bytes, chunks->answer.bytes + from, size);
	return (ptrdiff_t)size;
}

static bool read_gguf_header(struct chunks *chunks)
{
	size_t errors = chunks->hub->errors->count;
	struct vc_stream *stream = vc_stream_of(read_chunk, chunks, chunks->answer.total);
	struct vc_error error = { .status = VC_NO_MEMORY };
	struct vc_gguf gguf = { .metadata = NULL };
	bool good = stream && vc_gguf_read(stream, NULL, NULL, &gguf, &error) == VC_OK;

	vc_gguf_drop(&gguf);
	free(stream);
	/* what went wrong with a request is said already */
	return good || chunks->hub->errors->count > errors ||
	       fail(chunks->hub, error.status, chunks->file, error.message);
}

static bool fetch_gguf(struct hub *hub, const char *file)
{
	struct chunks chunks = { .hub = hub, .file = file };
	size_t errors = hub->errors->count;
	bool good;

	chunks.copy = vc_hub_cache_begin(hub->folder, file);
	if (chunks.copy < 0) {
		return fail(hub, VC_IO, file, "the cache cannot be written");
	}
	good = fetch_chunk(&chunks, 0) && read_gguf_header(&chunks) && hub->errors->count == errors;
	good = vc_hub_cache_end(hub->folder, file, chunks.copy, chunks.answer.total, good) && good;
	free(chunks.answer.bytes);
	return good;
}

/* ---- What a model needs -----------------------------------------------------------------------
 */

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);

	return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* The files at the top of the repository that end like this; the first of them in *first. */
static size_t find_files(const struct hub *hub, const char *end, const char **first)
{
	const cJSON *siblings = cJSON_GetObjectItemCaseSensitive(hub->listing, "siblings"), *item;
	size_t count = 0;

	cJSON_ArrayForEach(item, siblings)
	{
		const cJSON *name = cJSON_GetObjectItemCaseSensitive(item, "rfilename");
		char part[MAX_PART + 1];

		if (cJSON_IsString(name) && ends_with(name->valuestring, end) &&
		    take_part(name->valuestring, strlen(name->valuestring), "", part)) {
			*first = count ? *first : name->valuestring;
			count++;
		}
	}
	return count;
}

static bool fetch_shards(struct hub *hub, const char *index)
{
	struct vc_safetensors_shards shards = { 0 };
	struct vc_error error = { .status = VC_IO };
	struct vc_source source;
	char *path = vc_path_join(hub->folder, index), part[MAX_PART + 1];
	bool good = fetch_whole(hub, index, INDEX_BYTES) && path &&
	            vc_source_open_file(path, &source, hub->errors) == VC_OK;

	if (good) {
		struct vc_stream *stream = vc_stream_of_file(&source.file, source.size);

		good = stream && vc_safetensors_index(stream, &shards, &error) == VC_OK;
		good = good || fail(hub, error.status, index, error.message);
		free(stream);
		vc_source_close(&source);
	}
	for (size_t i = 0; i < shards.count && good; i++) {
		const char *name = shards.names[i];

		good = take_part(name, strlen(name), "", part)
		               ? fetch_safetensors(hub, name)
		               : fail(hub, VC_INVALID, index, "names a strange file");
	}
	vc_safetensors_shards_drop(&shards);
	free(path);
	return good;
}

static bool fetch_ggufs(struct hub *hub)
{
	const char *first = NULL;
	size_t count = find_files(hub, ".gguf", &first);
	char message[160];

	if (count == 0) {
		return fail(hub, VC_INVALID, "",
		            "holds neither config.json nor weights that are understood");
	}
	if (count > 1) {
		(void)snprintf(message, sizeof message,
		               "holds %zu GGUF files (one of them is expected: hf:...:%.80s)",
		               count, first);
		return fail(hub, VC_INVALID, "", message);
	}
	return fetch_gguf(hub, first);
}

static bool fetch_named(struct hub *hub, const char *file)
{
	return ends_with(file, ".gguf")          ? fetch_gguf(hub, file)
	       : ends_with(file, ".safetensors") ? fetch_safetensors(hub, file)
	                                         : fetch_whole(hub, file, CONFIG_BYTES);
}

static bool fetch_model(struct hub *hub)
{
	const char *config = NULL, *weights = NULL;
	bool known =
	        find_files(hub, "config.json", &config) > 0 && strcmp(config, "config.json") == 0;

	if (hub->parts.file[0]) {
		return fetch_named(hub, hub->parts.file);
	}
	if (known && !fetch_whole(hub, "config.json", CONFIG_BYTES)) {
		return false;
	}
	if (find_files(hub, ".safetensors.index.json", &weights)) {
		return fetch_shards(hub, weights);
	}
	if (find_files(hub, "model.safetensors", &weights) ||
	    find_files(hub, ".safetensors", &weights) == 1) {
		return fetch_safetensors(hub, weights);
	}
	return known || fetch_ggufs(hub);
}

/* ---- All of it --------------------------------------------------------------------------------
 */

static bool fetch_revision(struct hub *hub)
{
	if (!open_http(hub) || !fetch_listing(hub)) {
		return false;
	}
	hub->folder = vc_hub_cache_folder(hub->endpoint, &hub->parts);
	if (!hub->folder) {
		return fail(hub, VC_IO, "",
		            "there is no cache (XDG_CACHE_HOME or HOME is expected, writable)");
	}
	if (!vc_hub_cache_has(hub->folder, hub->parts.file) &&
	    (!fetch_model(hub) || !vc_hub_cache_finish(hub->folder, hub->parts.file))) {
		return false;
	}
	vc_hub_cache_remember(hub->endpoint, &hub->parts);
	return true;
}

/* A commit never changes; a branch's last known commit serves without a network. */
static bool find_cached(struct hub *hub, bool offline)
{
	bool commit = vc_hub_is_commit(hub->parts.revision);

	if (commit) {
		(void)snprintf(hub->parts.commit, sizeof hub->parts.commit, "%.40s",
		               hub->parts.revision);
	} else if (!offline || !vc_hub_cache_recall(hub->endpoint, &hub->parts)) {
		return false;
	}
	hub->folder = vc_hub_cache_folder(hub->endpoint, &hub->parts);
	if (hub->folder && vc_hub_cache_has(hub->folder, hub->parts.file)) {
		return true;
	}
	free(hub->folder);
	hub->folder = NULL;
	return false;
}

char *vc_hub_fetch(const char *name, bool offline, struct vc_error_list *errors)
{
	struct hub hub = { .name = name, .errors = errors };
	char *found = NULL;
	bool good;

	if (!vc_hub_name_parse(name, &hub.parts)) {
		(void)fail(&hub, VC_INVALID, "",
		           "is no name of a model (hf:ORG/NAME, hf:ORG/NAME@REVISION or "
		           "hf:ORG/NAME:FILE is expected)");
		return NULL;
	}
	if (!take_endpoint(&hub)) {
		return NULL;
	}
	good = find_cached(&hub, offline);
	if (!good && offline) {
		(void)fail(&hub, VC_IO, "",
		           "is not in the cache (fetch it once without --offline)");
	} else if (!good) {
		good = fetch_revision(&hub);
	}
	if (good) {
		found = hub.parts.file[0] ? vc_path_join(hub.folder, hub.parts.file)
		                          : strdup(hub.folder);
	}
	vc_http_close(hub.http);
	cJSON_Delete(hub.listing);
	free(hub.folder);
	return found;
}
