#include "hub_cache.h"

#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char whole[] = ".whole";

bool vc_hub_is_commit(const char *text)
{
	return strlen(text) == 40 && strspn(text, "0123456789abcdef") == 40;
}

/* Makes a folder and those above it. */
static bool make_folders(char *path)
{
	for (char *p = path + 1; *p; p++) {
		if (*p == '/') {
			*p = '\0';
			(void)mkdir(path, 0777);
			*p = '/';
		}
	}
	return mkdir(path, 0777) == 0 || errno == EEXIST;
}

/* Where everything about a model is; false when no variable says where caches are. */
static bool model_folder(const char *endpoint, const struct vc_hub_name *parts, char *path,
                         size_t size)
{
	const char *cache = getenv("XDG_CACHE_HOME"); /* NOLINT(concurrency-mt-unsafe) */
	const char *home = getenv("HOME");            /* NOLINT(concurrency-mt-unsafe) */
	bool stated = cache && *cache == '/';
	const char *host = strstr(endpoint, "://") + 3;
	int length;

	if (!stated && !(home && *home == '/')) {
		return false;
	}
	length = snprintf(path, size, "%s%s/vramcalc/hub/%.*s/%s--%s", stated ? cache : home,
	                  stated ? "" : "/.cache", (int)strcspn(host, "/"), host,
	                  parts->organization, parts->model);
	return length > 0 && (size_t)length < size;
}

char *vc_hub_cache_folder(const char *endpoint, const struct vc_hub_name *parts)
{
	char path[4096];
	char *folder = NULL;

	if (model_folder(endpoint, parts, path, sizeof path)) {
		folder = vc_path_join(path, parts->commit);
	}
	if (folder && !make_folders(folder)) {
		free(folder);
		folder = NULL;
	}
	return folder;
}

bool vc_hub_cache_has(const char *folder, const char *file)
{
	char *path = vc_path_join(folder, *file ? file : whole);
	bool there = path && access(path, R_OK) == 0;

	free(path);
	return there;
}

bool vc_hub_cache_finish(const char *folder, const char *file)
{
	return *file || vc_hub_cache_write(folder, whole, "", 0, UINT64_MAX);
}

static void ref_name(const struct vc_hub_name *parts, char *name, size_t size)
{
	(void)snprintf(name, size, "ref-%s", parts->revision);
	for (char *p = name; *p; p++) {
		*p = *p == '/' ? '+' : *p;
	}
}

void vc_hub_cache_remember(const char *endpoint, const struct vc_hub_name *parts)
{
	char path[4096], name[128];

	/* a cache that forgets is asked again the next time */
	if (model_folder(endpoint, parts, path, sizeof path)) {
		ref_name(parts, name, sizeof name);
		(void)vc_hub_cache_write(path, name, parts->commit, 40, UINT64_MAX);
	}
}

bool vc_hub_cache_recall(const char *endpoint, struct vc_hub_name *parts)
{
	char path[4096], name[128];
	struct vc_error_list errors = { 0 };
	char *ref, *text;
	size_t length;
	bool known = false;

	if (!model_folder(endpoint, parts, path, sizeof path)) {
		return false;
	}
	ref_name(parts, name, sizeof name);
	ref = vc_path_join(path, name);
	if (ref && vc_source_read_file(ref, &text, &length, &errors) == VC_OK) {
		known = vc_hub_is_commit(text);
		(void)snprintf(parts->commit, sizeof parts->commit, "%s", known ? text : "");
		free(text);
	}
	free(ref);
	return known;
}

/* ---- Files ------------------------------------------------------------------------------------
 */

static char *part_path(const char *folder, const char *file)
{
	char name[160];

	(void)snprintf(name, sizeof name, ".part-%ld-%s", (long)getpid(), file);
	return vc_path_join(folder, name);
}

int vc_hub_cache_begin(const char *folder, const char *file)
{
	char *path = part_path(folder, file);
	int copy = path ? open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666) : -1;

	free(path);
	return copy;
}

bool vc_hub_cache_put(int copy, const char *bytes, size_t length, uint64_t offset)
{
	while (length > 0) {
		ssize_t put = pwrite(copy, bytes, length, (off_t)offset);

		if (put <= 0 && errno != EINTR) {
			return false;
		}
		put = put > 0 ? put : 0;
		bytes += put;
		length -= (size_t)put;
		offset += (uint64_t)put;
	}
	return true;
}

bool vc_hub_cache_end(const char *folder, const char *file, int copy, uint64_t total, bool keep)
{
	char *part = part_path(folder, file), *path = vc_path_join(folder, file);
	bool good = keep && part && path;

	if (good && total <= INT64_MAX) {
		good = ftruncate(copy, (off_t)total) == 0;
	}
	good = close(copy) == 0 && good;
	good = good && rename(part, path) == 0;
	if (!good && part) {
		(void)unlink(part);
	}
	free(part);
	free(path);
	return good;
}

bool vc_hub_cache_write(const char *folder, const char *file, const char *bytes, size_t length,
                        uint64_t total)
{
	int copy = vc_hub_cache_begin(folder, file);

	return copy >= 0 && vc_hub_cache_end(folder, file, copy, total,
	                                     vc_hub_cache_put(copy, bytes, length, 0));
}
