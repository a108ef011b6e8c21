/* The built-in catalog with the files of the user's directory and of the command line over it. */
#include "catalog_draft.h"
#include "source.h"
#include "utf8.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum {
	MAX_FILES = 256,
	PATH_ROOM = 4096
};

/* Paths of the user's directory, in byte order of names; owned. */
struct found {
	char *paths[MAX_FILES];
	size_t count;
};

/* In whatever case, as some systems write them. */
static bool ends_in(const char *name, const char *ending)
{
	size_t length = strlen(name), tail = strlen(ending);

	return length > tail && strcasecmp(name + length - tail, ending) == 0;
}

static bool is_catalog(const char *name)
{
	return *name != '.' && (ends_in(name, ".yaml") || ends_in(name, ".yml") ||
	                        ends_in(name, ".json") || ends_in(name, ".csv"));
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

static void refuse_folder(struct vc_error_list *errors, const char *directory, const char *message)
{
	vc_errors_add(errors, &(struct vc_place){ .file = directory }, "", "%s", message);
}

/* A folder that is not there holds nothing; one that is there is read or refused. */
static DIR *open_folder(const char *directory, struct vc_error_list *errors)
{
	DIR *folder = opendir(directory);
	struct stat status;

	if (!folder && lstat(directory, &status) == 0) {
		refuse_folder(errors, directory,
		              "cannot be read (a folder of catalog files is expected)");
	}
	return folder;
}

static void take_name(struct found *found, const char *directory, const char *name,
                      struct vc_error_list *errors)
{
	size_t room = strlen(directory) + strlen(name) + 2;
	char *path;

	if (found->count == MAX_FILES) {
		refuse_folder(errors, directory, "holds too many catalog files (at most 256)");
		return;
	}
	path = malloc(room);
	if (!path) {
		refuse_folder(errors, directory, "does not fit into memory");
		return;
	}
	snprintf(path, room, "%s/%s", directory, name);
	found->paths[found->count++] = path;
}

static void find_files(struct found *found, struct vc_error_list *errors)
{
	size_t before = errors->count;
	char directory[PATH_ROOM];
	const struct dirent *entry;
	DIR *folder = user_directory(directory) ? open_folder(directory, errors) : NULL;

	if (!folder) {
		return;
	}
	while (errors->count == before && (entry = readdir(folder))) {
		if (is_catalog(entry->d_name)) {
			take_name(found, directory, entry->d_name, errors);
		}
	}
	(void)closedir(folder);
	qsort(found->paths, found->count, sizeof *found->paths, by_bytes);
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

static const char *mig_table(size_t index)
{
	return index < vc_mig_table_count ? vc_mig_tables[index].id : NULL;
}

enum vc_status vc_catalog_open(struct vc_catalog *catalog, const struct vc_catalog_options *options,
                               struct vc_error_list *errors)
{
	static const struct vc_catalog_options none;
	const struct vc_catalog_options *o = options ? options : &none;
	struct found found = { .count = 0 };
	size_t before = errors->count;
	struct vc_catalog_draft draft;
	bool good;

	*catalog = vc_catalog_builtin;
	if (!o->no_user_files) {
		find_files(&found, errors);
	}
	if (errors->count == before && found.count == 0 && o->file_count == 0 &&
	    !other_currency(o->currency)) {
		return VC_OK;
	}
	if (vc_draft_start(&draft, &vc_catalog_builtin, errors)) {
		draft.errors_before = before;
		draft.mig_table = mig_table;
		for (size_t i = 0; i < found.count; i++) {
			read_one(&draft, found.paths[i]);
		}
		for (size_t i = 0; i < o->file_count; i++) {
			read_one(&draft, o->files[i]);
		}
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
