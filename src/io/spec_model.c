#include "spec_model.h"

#include "config.h"
#include "gguf_config.h"
#include "hub.h"
#include "source.h"
#include "utf8.h"
#include "yaml_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	/* Quadratic in the keys of one object; label maps with more are left alone. */
	DUPLICATE_CHECK_KEYS = 2048
};

static const char architecture[] = "model.architecture";

const char *vc_config_duplicate(const cJSON *tree)
{
	bool object = cJSON_IsObject(tree) && cJSON_GetArraySize(tree) <= DUPLICATE_CHECK_KEYS;

	for (const cJSON *item = tree->child; item; item = item->next) {
		const char *found = item->child ? vc_config_duplicate(item) : NULL;

		for (const cJSON *other = item->next; object && other && !found;
		     other = other->next) {
			found = strcmp(item->string, other->string) == 0 ? other->string : NULL;
		}
		if (found) {
			return found;
		}
	}
	return NULL;
}

cJSON *vc_config_parse(char *text, size_t length, struct vc_error *error)
{
	struct vc_text_mark mark;
	const char *problem = vc_text_problem(text, length, &mark);

	*error = (struct vc_error){ .status = VC_INVALID };
	if (problem) {
		error->line = mark.line;
		error->column = mark.column;
		(void)snprintf(error->message, sizeof error->message, "%s", problem);
		return NULL;
	}
	vc_text_replace_infinities(text, length);
	return json_parse(text, length, error);
}

static bool put(cJSON *object, const cJSON *item)
{
	cJSON *copy = cJSON_Duplicate(item, true);

	cJSON_DeleteItemFromObjectCaseSensitive(object, item->string);
	if (!copy || !cJSON_AddItemToObject(object, item->string, copy)) {
		cJSON_Delete(copy);
		return false;
	}
	return true;
}

/* The keys of `over` on top of those of `base`, objects within objects likewise. */
static bool merge(cJSON *base, const cJSON *over)
{
	bool good = true;

	for (const cJSON *item = over->child; item && good; item = item->next) {
		cJSON *old = cJSON_GetObjectItemCaseSensitive(base, item->string);
		bool both = cJSON_IsObject(old) && cJSON_IsObject(item);

		good = both ? merge(old, item) : put(base, item);
	}
	return good;
}

/* Whether a tree holds the first key of a dotted path. */
static bool has_key(const cJSON *tree, const char *path)
{
	return tree && json_member(tree, path, strcspn(path, ".[")) != NULL;
}

/* Sets file, line, column and the full field of what a config's key is to blame for. */
static void place_key(const struct vc_model_input *input, const struct vc_spec *spec,
                      const char *config_text, struct vc_error *error)
{
	char key[sizeof error->field];

	memcpy(key, error->field, sizeof key);
	if (has_key(input->overrides, key)) {
		(void)snprintf(error->file, sizeof error->file, "--set");
		(void)snprintf(error->field, sizeof error->field, "%s%s%.100s", architecture,
		               *key ? "." : "", key);
	} else if (config_text && !has_key(input->architecture, key)) {
		(void)json_locate(config_text, key, &error->line, &error->column);
	} else if (input->config) {
		vc_spec_place(spec, error);
	} else {
		(void)snprintf(error->field, sizeof error->field, "%s%s%.100s", architecture,
		               *key ? "." : "", key);
		vc_spec_place(spec, error);
	}
}

struct reading {
	const struct vc_model_input *input;
	struct vc_spec *spec;
	struct vc_error_list *errors;
	bool made;           /* the cache's model is the one */
	cJSON *tree;         /* all layers merged; NULL: none */
	bool metadata;       /* the tree is a GGUF file's metadata, which may not be enough */
	char *path, *text;   /* of model.config */
	const char *weights; /* the path of weights; NULL: none */
	struct vc_weight_file file;
};

static enum vc_status fail_field(struct reading *reading, const char *field, const char *message)
{
	struct vc_error error = { .status = VC_INVALID };

	(void)snprintf(error.field, sizeof error.field, "%s", field);
	(void)snprintf(error.message, sizeof error.message, "%s", message);
	vc_spec_place(reading->spec, &error);
	vc_errors_append(reading->errors, &error);
	return error.status;
}

static enum vc_status fail_memory(struct reading *reading)
{
	return fail_field(reading, "", "does not fit into memory");
}

/* A file that a field of the spec names, and that is not there to be read. */
static enum vc_status fail_unread(struct reading *reading, const char *field,
                                  const struct vc_error *unread)
{
	char message[300];

	(void)snprintf(message, sizeof message, "%.140s %.140s", unread->file, unread->message);
	return fail_field(reading, field, message);
}

static enum vc_status read_config_file(struct reading *reading)
{
	struct vc_error_list unread = { 0 };
	struct vc_error error;
	const char *twice;
	size_t length;

	if (!reading->path) {
		return fail_memory(reading);
	}
	if (vc_source_read_file(reading->path, &reading->text, &length, &unread) != VC_OK) {
		return fail_unread(reading, "model.config", &unread.errors[0]);
	}
	reading->tree = vc_config_parse(reading->text, length, &error);
	twice = reading->tree ? vc_config_duplicate(reading->tree) : NULL;
	if (twice) {
		(void)snprintf(error.field, sizeof error.field, "%.100s", twice);
		(void)snprintf(error.message, sizeof error.message,
		               "is given twice (once is expected)");
	}
	if (!reading->tree || twice) {
		(void)snprintf(error.file, sizeof error.file, "%s", reading->path);
		vc_errors_append(reading->errors, &error);
		return error.status;
	}
	return VC_OK;
}

/* How many bits a packed weight has, as the checkpoint's own config says. */
static uint32_t packed_bits(const cJSON *tree)
{
	const cJSON *quantization = json_member(tree, "quantization_config", 19);
	const cJSON *groups = json_member(quantization, "config_groups", 13);
	const cJSON *weights = json_member(groups ? groups->child : NULL, "weights", 7);
	const cJSON *bits = json_member(quantization, "bits", 4);
	uint64_t value = 0;

	bits = bits ? bits : json_member(quantization, "w_bit", 5);
	bits = bits ? bits : json_member(weights, "num_bits", 8);
	return json_count(bits, &value) && value >= 1 && value <= 8 ? (uint32_t)value : 0;
}

/* The config.json beside weights that come without one. */
static enum vc_status read_config_beside(struct reading *reading)
{
	struct stat facts;
	bool is_folder = stat(reading->weights, &facts) == 0 && S_ISDIR(facts.st_mode);
	char *folder = is_folder ? NULL : vc_path_folder(reading->weights);

	reading->path = vc_path_join(is_folder ? reading->weights : folder, "config.json");
	free(folder);
	if (!reading->path || access(reading->path, F_OK) == 0) {
		return read_config_file(reading);
	}
	free(reading->path);
	reading->path = NULL;
	return VC_OK;
}

static enum vc_status read_weights(struct reading *reading)
{
	struct vc_weight_packing packing = { 0 };
	struct vc_error_list wrong = { 0 };
	bool alone = !reading->tree && !reading->input->config && !reading->input->architecture;
	bool gguf = strlen(reading->weights) > 5 &&
	            strcmp(reading->weights + strlen(reading->weights) - 5, ".gguf") == 0;
	enum vc_status status = VC_OK;

	if (alone && !gguf) {
		status = read_config_beside(reading);
	}
	if (status != VC_OK) {
		return status;
	}
	packing.bits = packed_bits(reading->tree ? reading->tree : reading->input->config);
	status = vc_weight_file_read(reading->weights, &packing, &reading->file, &wrong);
	if (status == VC_IO && !reading->input->weights) {
		return fail_unread(reading, "model.weights", &wrong.errors[0]);
	}
	for (size_t i = 0; i < vc_errors_kept(&wrong); i++) {
		vc_errors_append(reading->errors, &wrong.errors[i]);
	}
	if (status == VC_OK && alone && !reading->tree) {
		reading->tree = vc_gguf_config(&reading->file);
		reading->metadata = reading->tree != NULL;
	}
	return status;
}

static enum vc_status gather(struct reading *reading)
{
	const struct vc_model_input *input = reading->input;
	enum vc_status status = VC_OK;
	const cJSON *layers[3] = { input->config, input->architecture, input->overrides };

	if (input->texts.config) {
		reading->path = vc_path_join(input->folder, input->texts.config);
		status = read_config_file(reading);
	}
	if (status == VC_OK && reading->weights) {
		status = read_weights(reading);
	}
	if (status != VC_OK) {
		return status;
	}
	for (size_t i = 0; i < 3; i++) {
		if (!layers[i] || (!layers[i]->child && i > 0)) {
			continue;
		}
		if (!reading->tree) {
			reading->tree = cJSON_Duplicate(layers[i], true);
		} else if (!merge(reading->tree, layers[i])) {
			return fail_memory(reading);
		}
		if (!reading->tree) {
			return fail_memory(reading);
		}
	}
	return VC_OK;
}

static enum vc_status read_tree(struct reading *reading)
{
	struct vc_error error = { 0 };
	enum vc_status status = vc_config_to_model(reading->tree, reading->spec->model, &error);

	if (status == VC_OK) {
		return VC_OK;
	}
	if (reading->metadata && !has_key(reading->input->overrides, error.field)) {
		/* an architecture that is not understood: its bytes are known all the same */
		memset(reading->spec->model, 0, sizeof *reading->spec->model);
		return VC_OK;
	}
	(void)snprintf(error.file, sizeof error.file, "%s", reading->path ? reading->path : "");
	place_key(reading->input, reading->spec, reading->text, &error);
	vc_errors_append(reading->errors, &error);
	return status;
}

/* The last part of a path that says something: the folder's name for FOLDER/config.json. */
static void name_after(const char *path, char *name, size_t size)
{
	const char *end = path + strlen(path), *start;

	while (end > path && end[-1] == '/') {
		end--;
	}
	if (end - path > 12 && strncmp(end - 12, "/config.json", 12) == 0) {
		end -= 12;
	}
	start = end;
	while (start > path && start[-1] != '/') {
		start--;
	}
	if (vc_hub_is_name(path)) {
		end = start + strcspn(start, "@:");
	}
	for (const char *dot = end; dot > start + 1; dot--) {
		if (strncmp(dot - 1, ".yaml", 5) == 0 || strncmp(dot - 1, ".yml", 4) == 0 ||
		    strncmp(dot - 1, ".json", 5) == 0 || strncmp(dot - 1, ".gguf", 5) == 0 ||
		    strncmp(dot - 1, ".safetensors", 12) == 0) {
			end = dot - 1;
			break;
		}
	}
	(void)snprintf(name, size, "%.*s", (int)(end - start), start);
}

static enum vc_dtype most_held(const struct vc_weight_file *file)
{
	enum vc_dtype most = VC_DTYPE_NONE;

	for (int i = VC_DTYPE_NONE + 1; i < VC_DTYPE_COUNT; i++) {
		if (file->dtype_params[i] > file->dtype_params[most]) {
			most = (enum vc_dtype)i;
		}
	}
	return most;
}

/* What only the files know. */
static void take_weights(const struct vc_weight_file *file, struct vc_model *model)
{
	const cJSON *name = json_member(file->metadata, "general.name", 12);
	const char *quantization = vc_gguf_quantization(file);

	model->file = file->weights;
	if (!vc_model_has_shape(model)) {
		model->params = file->weights.params;
	}
	if (file->format != VC_WEIGHTS_GGUF) {
		model->source = VC_SOURCE_SAFETENSORS;
		model->dtype = model->dtype ? model->dtype : most_held(file);
		return;
	}
	model->source = VC_SOURCE_GGUF;
	model->dtype = most_held(file);
	model->quantization = quantization ? vc_quantization_by_name(quantization) : NULL;
	if (cJSON_IsString(name)) {
		(void)snprintf(model->name, sizeof model->name, "%s", name->valuestring);
	}
}

static void describe(struct reading *reading)
{
	const struct vc_model_input *input = reading->input;
	struct vc_model *model = reading->spec->model;
	const char *source = reading->spec->source;

	model->source = input->bundled                         ? VC_SOURCE_BUNDLED
	                : input->texts.config || input->config ? VC_SOURCE_CONFIG
	                : reading->tree || input->length       ? VC_SOURCE_ARCHITECTURE
	                                                       : VC_SOURCE_PARAMS;
	if (reading->weights) {
		take_weights(&reading->file, model);
	}
	if (input->texts.params) {
		model->params = input->texts.params;
	}
	if (input->texts.name) {
		(void)snprintf(model->name, sizeof model->name, "%s", input->texts.name);
	} else if (!model->name[0]) {
		name_after(strcmp(source, "-") == 0 ? "stdin" : source, model->name,
		           sizeof model->name);
	}
}

static void remember(struct vc_spec_cache *cache, const struct vc_model_input *input)
{
	cache->text = malloc(input->length + 1);
	if (cache->text) {
		memcpy(cache->text, input->text, input->length);
		cache->length = input->length;
		memcpy(cache->name, cache->model->name, sizeof cache->name);
	}
}

static enum vc_status read_model(struct reading *reading)
{
	enum vc_status status = gather(reading);

	if (status != VC_OK) {
		return status;
	}
	if (reading->tree) {
		status = read_tree(reading);
	} else if (reading->made && reading->input->length) {
		status = VC_OK;
	} else if (!reading->input->texts.params && !reading->weights) {
		return fail_field(reading, "model",
		                  "has no size (params, architecture, config or weights is "
		                  "expected)");
	} else {
		reading->spec->model->known_family = true;
	}
	if (status == VC_OK) {
		if (reading->input->cache && !reading->made) {
			remember(reading->input->cache, reading->input);
		}
		describe(reading);
	}
	return status;
}

bool vc_spec_cache_has(const struct vc_spec_cache *cache, const char *text, size_t length)
{
	return cache && cache->text && cache->length == length &&
	       memcmp(cache->text, text, length) == 0;
}

void vc_spec_cache_free(struct vc_spec_cache *cache)
{
	free(cache->model);
	free(cache->text);
	*cache = (struct vc_spec_cache){ 0 };
}

/* The memory of a model: the cache's, where there is one. `*made`: it holds the model already. */
static struct vc_model *model_memory(const struct vc_model_input *input, struct vc_spec *spec,
                                     bool *made)
{
	struct vc_spec_cache *cache = input->cache;

	*made = false;
	if (!cache) {
		return calloc(1, sizeof *spec->model);
	}
	*made = vc_spec_cache_has(cache, input->text, input->length);
	if (!cache->model) {
		cache->model = calloc(1, sizeof *cache->model);
	} else if (!*made && input->length == 0) {
		memset(cache->model, 0, sizeof *cache->model);
	}
	spec->borrowed = true;
	return cache->model;
}

static char *fetch_weights(struct reading *reading)
{
	const struct vc_model_input *input = reading->input;
	struct vc_error_list unread = { 0 };
	char *weights = vc_hub_fetch(input->texts.weights, input->offline, &unread);

	if (!weights) {
		fail_unread(reading, "model.weights", &unread.errors[0]);
	}
	return weights;
}

enum vc_status vc_spec_model(const struct vc_model_input *input, struct vc_spec *spec,
                             struct vc_error_list *errors)
{
	struct reading reading = { .input = input, .spec = spec, .errors = errors };
	enum vc_status status;
	char *weights = NULL;

	spec->model = model_memory(input, spec, &reading.made);
	if (!spec->model) {
		return fail_memory(&reading);
	}
	if (input->texts.weights && vc_hub_is_name(input->texts.weights)) {
		weights = fetch_weights(&reading);
		if (!weights) {
			return VC_INVALID;
		}
	} else if (input->weights) {
		weights = strdup(input->weights);
	} else if (input->texts.weights) {
		weights = vc_path_join(input->folder, input->texts.weights);
	}
	if ((input->weights || input->texts.weights) && !weights) {
		return fail_memory(&reading);
	}
	reading.weights = weights;
	spec->request.model = spec->model;
	if (reading.made) {
		memcpy(spec->model->name, input->cache->name, sizeof spec->model->name);
		spec->model->params = 0;
	} else if (input->cache) {
		free(input->cache->text);
		input->cache->text = NULL;
	}
	status = read_model(&reading);
	cJSON_Delete(reading.tree);
	free(reading.path);
	free(reading.text);
	free(weights);
	vc_weight_file_drop(&reading.file);
	return status;
}
