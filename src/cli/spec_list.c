#include "spec_list.h"

#include "report.h"

#include <dirent.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool add(struct spec_list *list, const char *folder, const char *name)
{
	size_t size = strlen(folder) + strlen(name) + 2;
	char **names = realloc(list->names, (list->count + 1) * sizeof *names);
	char *path;

	if (!names) {
		report_no_memory();
		return false;
	}
	list->names = names;
	path = malloc(size);
	if (!path) {
		report_no_memory();
		return false;
	}
	snprintf(path, size, "%s%s%s", folder, *folder ? "/" : "", name);
	list->names[list->count++] = path;
	return true;
}

static bool is_folder(const char *path)
{
	struct stat facts;

	return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

static bool is_spec_name(const char *name)
{
	const char *ending = strrchr(name, '.');

	/* the index of a model's weights is JSON too */
	return ending && *name != '.' && !strstr(name, ".index.json") &&
	       (strcmp(ending, ".yaml") == 0 || strcmp(ending, ".yml") == 0 ||
	        strcmp(ending, ".json") == 0);
}

static int is_spec_entry(const struct dirent *entry)
{
	return is_spec_name(entry->d_name);
}

/* A model's own folder (config.json, weights) is one spec; any other stands for those in it. */
static bool is_model_folder(const char *path)
{
	char config[4096];
	struct stat facts;

	snprintf(config, sizeof config, "%s/config.json", path);
	return stat(config, &facts) == 0;
}

static bool add_folder(struct spec_list *list, const char *path)
{
	struct dirent **entries;
	int count = scandir(path, &entries, is_spec_entry, alphasort);
	bool added = true;

	if (count < 0) {
		fprintf(stderr, "%s: cannot be listed (a readable folder is expected)\n", path);
		return false;
	}
	for (int i = 0; i < count; i++) {
		added = added && add(list, path, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	if (count == 0) {
		return add(list, "", path); /* weights, or its reader says what is wrong with it */
	}
	return added;
}

static bool add_glob(struct spec_list *list, const char *pattern)
{
	glob_t found;
	bool added = true;

	if (glob(pattern, 0, NULL, &found) != 0) {
		fprintf(stderr, "%s: matches nothing (a spec is expected)\n", pattern);
		return false;
	}
	for (size_t i = 0; i < found.gl_pathc; i++) {
		added = added && add(list, "", found.gl_pathv[i]);
	}
	globfree(&found);
	return added;
}

static bool add_operand(struct spec_list *list, const char *operand)
{
	struct stat facts;

	if (is_folder(operand) && !is_model_folder(operand)) {
		return add_folder(list, operand);
	}
	if (strpbrk(operand, "*?[") && stat(operand, &facts) != 0) {
		return add_glob(list, operand);
	}
	return add(list, "", operand);
}

bool spec_list_open(struct spec_list *list, const struct text_list *operands)
{
	bool all = true;

	*list = (struct spec_list){ 0 };
	for (size_t i = 0; i < operands->count; i++) {
		all = add_operand(list, operands->items[i]) && all;
	}
	return all;
}

void spec_list_close(struct spec_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->names[i]);
	}
	free(list->names);
	*list = (struct spec_list){ 0 };
}
