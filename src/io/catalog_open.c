/* The built-in catalog with the files of the user's directory and of the command line over it. */
#include "catalog_draft.h"
#include "source.h"
#include "utf8.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_FILES = 256,
	PATH_ROOM = 4096
};

/* Paths of the user's directory, in byte order of names; owned. */
struct found {
	char *paths[MAX_FILES];
	size_t count;
};

static bool ends_in(const char *name, const char *ending)
{
	size_t length = strlen(name), tail = strlen(ending);

	return length > tail && strcmp(name + length - tail, ending) == 0;
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* $XDG_CONFIG_HOME/vramcalc or ~/.config/vramcalc; the specification ignores relative paths. */
static bool user_directory(char path[PATH_ROOM])
{
	const char *config = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");
	int length = 0;

	if (config && *config == '/') {
		length = snprintf(path, PATH_ROOM, "%s/vramcalc", config);
	} else if (home && *home) {
		length = snprintf(path, PATH_ROOM, "%s/.config/vramcalc", home);
	}
	return length > 0 && length < PATH_ROOM;
}

static bool find_files(struct found *found)
{
	char directory[PATH_ROOM];
	const struct dirent *entry;
	DIR *open_directory;
	bool all = true;

	if (!user_directory(directory) || !(open_directory = opendir(directory))) {
		return true;
	}
	while (all && (entry = readdir(open_directory))) {
		size_t room = strlen(directory) + strlen(entry->d_name) + 2;
		bool wanted = *entry->d_name != '.' &&
		              (ends_in(entry->d_name, ".yaml") || ends_in(entry->d_name, ".csv"));
		char *path = wanted && found->count < MAX_FILES ? malloc(room) : NULL;

		if (path) {
			snprintf(path, room, "%s/%s", directory, entry->d_name);
			found->paths[found->count++] = path;
		}
		all = path || !wanted;
	}
	(void)closedir(open_directory);
	qsort(found->paths, found->count, sizeof *found->paths, by_bytes);
	return all;
}

static void refuse(struct vc_catalog_draft *draft, const char *path, struct vc_text_mark mark,
                   const char *message)
{
	const struct vc_place place = { path, mark.line, mark.column };

	vc_errors_add(draft->errors, &place, "", "%s", message);
}

static void read_one(struct vc_catalog_draft *draft, const char *path)
{
	struct vc_catalog_text source = { .name = path };
	struct vc_text_mark mark = { 0, 0 };
	const char *problem;
	char *text = NULL;

	if (vc_source_read_file(path, &text, &source.length, draft->errors) != VC_OK) {
		return;
	}
	source.text = text;
	problem = vc_text_problem(text, source.length, &mark);
	if (problem) {
		refuse(draft, path, mark, problem);
	} else if (ends_in(path, ".csv")) {
		vc_draft_read_offers(draft, &source);
	} else {
		vc_text_join_surrogates(text, source.length);
		vc_draft_read_yaml(draft, &source);
	}
	free(text);
}

static bool other_currency(const char *currency)
{
	return currency && *currency && strcmp(currency, "USD") != 0;
}

enum vc_status vc_catalog_open(struct vc_catalog *catalog, const struct vc_catalog_options *options,
                               struct vc_error_list *errors)
{
	static const struct vc_catalog_options none;
	const struct vc_catalog_options *o = options ? options : &none;
	struct found found = { .count = 0 };
	struct vc_catalog_draft draft;
	bool good;

	*catalog = vc_catalog_builtin;
	good = o->no_user_files || find_files(&found);
	if (good && found.count == 0 && o->file_count == 0 && !other_currency(o->currency)) {
		return VC_OK;
	}
	if (vc_draft_start(&draft, &vc_catalog_builtin, errors) && good) {
		for (size_t i = 0; i < found.count; i++) {
			read_one(&draft, found.paths[i]);
		}
		for (size_t i = 0; i < o->file_count; i++) {
			read_one(&draft, o->files[i]);
		}
	} else {
		vc_draft_no_memory(&draft);
	}
	for (size_t i = 0; i < found.count; i++) {
		free(found.paths[i]);
	}
	good = vc_draft_finish(&draft, o->currency, catalog);
	return good ? VC_OK : vc_errors_status(errors);
}

const struct vc_mig_table *vc_catalog_mig(const struct vc_catalog_gpu *gpu)
{
	for (size_t i = 0; i < vc_mig_table_count; i++) {
		if (strcmp(vc_mig_tables[i].id, gpu->mig_table) == 0) {
			return &vc_mig_tables[i];
		}
	}
	return NULL;
}
