/* Tells what a SPEC is, and leads each kind through the same checks. */
#include "spec.h"

#include "hub.h"
#include "json_read.h"
#include "source.h"
#include "spec_bind.h"
#include "spec_fields.h"
#include "spec_json.h"
#include "spec_model.h"
#include "spec_override.h"
#include "spec_roles.h"
#include "spec_schema.h"
#include "utf8.h"
#include "weight_file.h"
#include "yaml_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is held while one SPEC is read. */
struct reader {
	const struct vc_spec_options *options;
	struct vc_spec *spec;
	struct vc_error_list *errors;
	size_t errors_before;
	const char *file; /* for messages */
	void *raw;        /* bound by libcyaml; NULL when the short cut for JSON was taken */
	struct vc_spec_json json;
	struct vc_model_input model;
	struct vc_override *overrides;
	size_t override_count;
};

static void add_error(struct reader *reader, enum vc_status status, const char *field,
                      const char *message)
{
	struct vc_error error = { .status = status };

	(void)snprintf(error.field, sizeof error.field, "%s", field);
	(void)snprintf(error.message, sizeof error.message, "%s", message);
	vc_spec_place(reader->spec, &error);
	vc_errors_append(reader->errors, &error);
}

static bool fail_memory(struct reader *reader)
{
	add_error(reader, VC_NO_MEMORY, "", "does not fit into memory");
	return false;
}

void vc_spec_place(const struct vc_spec *spec, struct vc_error *error)
{
	struct vc_text_mark mark = { 0 };

	if (spec->text && error->field[0]) {
		mark = vc_yaml_place(spec->text, spec->length, error->field);
	}
	(void)snprintf(error->file, sizeof error->file, "%s", spec->file ? spec->file : "");
	error->line = mark.line;
	error->column = mark.column;
}

/* ---- Overrides ------------------------------------------------------------------------------ */

static bool read_overrides(struct reader *reader)
{
	const struct vc_spec_options *options = reader->options;
	bool good = true;

	if (!options || options->override_count == 0) {
		return true;
	}
	reader->overrides = calloc(options->override_count, sizeof *reader->overrides);
	if (!reader->overrides) {
		return fail_memory(reader);
	}
	for (size_t i = 0; i < options->override_count; i++) {
		struct vc_override *override = &reader->overrides[reader->override_count];

		if (vc_override_read(options->overrides[i], override, reader->errors)) {
			reader->override_count++;
		} else {
			good = false;
		}
	}
	return good;
}

static bool apply_overrides(struct reader *reader)
{
	reader->model.overrides = reader->override_count ? cJSON_CreateObject() : NULL;
	for (size_t i = 0; i < reader->override_count; i++) {
		struct vc_override *override = &reader->overrides[i];
		bool done = override->field ? vc_override_bind(override, reader->raw)
		                            : vc_override_graft(override, reader->model.overrides);

		if (!done) {
			return fail_memory(reader);
		}
	}
	return true;
}

/* ---- The kinds of text ------------------------------------------------------------------------
 */

/* A spec, in YAML or in JSON. */
static bool bind_spec(struct reader *reader)
{
	struct vc_spec *spec = reader->spec;
	struct vc_yaml_wraps wraps = { 0 };
	struct vc_guard guard = {
		.schema = &vc_spec_schema,
		.file = reader->file,
		.path = "",
		.check = vc_spec_check,
		.tree = &reader->model.architecture,
		.wraps = &wraps,
	};
	size_t length = spec->length;
	cyaml_data_t *raw = NULL;
	cyaml_err_t result;
	char *text;

	if (!vc_yaml_guard(&guard, spec->text, spec->length, reader->errors)) {
		return false;
	}
	text = vc_yaml_bracket(spec->text, &length, &wraps);
	if (!text) {
		return fail_memory(reader);
	}
	result = cyaml_load_data((const uint8_t *)text, length, &vc_spec_cyaml, &vc_spec_schema,
	                         &raw, NULL);
	free(text);
	reader->raw = raw;
	if (result != CYAML_OK || !raw) {
		char message[80];

		(void)snprintf(message, sizeof message, "cannot be bound: %s",
		               cyaml_strerror(result));
		add_error(reader, VC_INVALID, "", message);
		return false;
	}
	return true;
}

static bool is_spec_section(const char *name)
{
	void **slot;

	return vc_spec_slot(NULL, name, false, &slot) != NULL;
}

/* A JSON object that has keys, and none of a spec's, is a config.json. */
static bool is_config(const cJSON *tree)
{
	const cJSON *item;

	if (!cJSON_IsObject(tree) || !tree->child) {
		return false;
	}
	cJSON_ArrayForEach(item, tree)
	{
		if (is_spec_section(item->string)) {
			return false;
		}
	}
	return true;
}

/* Whether the text is a config.json; then it is the model. */
static bool take_config(struct reader *reader)
{
	struct vc_spec *spec = reader->spec;
	char *copy = malloc(spec->length + 1);
	struct vc_error error;

	if (!copy) {
		return false;
	}
	memcpy(copy, spec->text, spec->length + 1);
	reader->model.config = vc_config_parse(copy, spec->length, &error);
	free(copy);
	if (reader->model.config && !is_config(reader->model.config)) {
		cJSON_Delete(reader->model.config);
		reader->model.config = NULL;
	}
	return reader->model.config != NULL;
}

static bool begin_config(struct reader *reader)
{
	const char *twice = vc_config_duplicate(reader->model.config);

	if (twice) {
		add_error(reader, VC_INVALID, twice, "is given twice (once is expected)");
		return false;
	}
	reader->raw = calloc(1, vc_spec_schema.data_size);
	return reader->raw ? true : fail_memory(reader);
}

static bool starts_like_json(const char *text)
{
	return text[strspn(text, " \t\r\n")] == '{';
}

static bool read_text(struct reader *reader)
{
	struct vc_spec *spec = reader->spec;

	if (starts_like_json(spec->text)) {
		bool config = take_config(reader);

		vc_text_join_surrogates(spec->text, spec->length);
		if (config) {
			return begin_config(reader);
		}
	}
	return bind_spec(reader);
}

/* ---- From texts to a spec --------------------------------------------------------------------
 */

/* A stated layout takes as many GPUs as its degrees multiply to. */
static bool check_gpus(struct reader *reader)
{
	struct vc_spec *spec = reader->spec;
	uint32_t gpus = vc_layout_gpus(&spec->request.parallelism);
	char message[200];

	if (!vc_spec_gives(spec, "hardware.max_gpus") || gpus <= spec->hardware.max_gpus) {
		return true;
	}
	(void)snprintf(message, sizeof message,
	               "takes %u GPUs and hardware.max_gpus allows %u (data x tensor x pipeline x "
	               "context within it)",
	               (unsigned)gpus, (unsigned)spec->hardware.max_gpus);
	add_error(reader, VC_INVALID, "parallelism", message);
	return false;
}

/* What only the whole request shows: the core's own rules, at the place of the field. */
static bool check_request(struct reader *reader)
{
	struct vc_request request = reader->spec->request;
	struct vc_error error = { 0 };
	enum vc_status status = vc_request_resolve(&request, &error);

	if (status == VC_OK) {
		return true;
	}
	vc_spec_place(reader->spec, &error);
	vc_errors_append(reader->errors, &error);
	return false;
}

static bool bind_texts(struct reader *reader)
{
	if (!apply_overrides(reader)) {
		return false;
	}
	return vc_spec_bind(reader->raw, reader->spec, &reader->model.texts) || fail_memory(reader);
}

static bool read_model(struct reader *reader)
{
	reader->model.offline = reader->options && reader->options->offline;
	return vc_spec_model(&reader->model, reader->spec, reader->errors) == VC_OK &&
	       vc_spec_roles_read(&reader->model, reader->spec, reader->options, reader->errors) &&
	       check_gpus(reader) && check_request(reader);
}

static void drop_reader(struct reader *reader)
{
	for (size_t i = 0; i < reader->override_count; i++) {
		vc_override_drop(&reader->overrides[i]);
	}
	free(reader->overrides);
	if (reader->raw) {
		(void)cyaml_free(&vc_spec_cyaml, &vc_spec_schema, reader->raw, 0);
	}
	free(reader->json.text);
	cJSON_Delete(reader->model.config);
	cJSON_Delete(reader->model.architecture);
	cJSON_Delete(reader->model.overrides);
}

/* Plain JSON without overrides, which is what streams bring, takes the short cut. */
static bool take_short_cut(struct reader *reader)
{
	const struct vc_spec_options *options = reader->options;
	struct vc_model_input *model = &reader->model;
	struct vc_spec *spec = reader->spec;

	if ((options && options->override_count) || !starts_like_json(spec->text) ||
	    !vc_spec_json(spec, options ? options->cache : NULL, &reader->json)) {
		return false;
	}
	model->texts = reader->json.model;
	model->architecture = reader->json.architecture;
	if (options && !model->texts.config && !model->texts.weights) {
		model->cache = options->cache;
		model->text = reader->json.architecture_text;
		model->length = reader->json.architecture_length;
	}
	return true;
}

static enum vc_status end_reading(struct reader *reader, bool good)
{
	drop_reader(reader);
	if (good) {
		return VC_OK;
	}
	vc_spec_free(reader->spec);
	return reader->errors_before < VC_MAX_ERRORS
	               ? reader->errors->errors[reader->errors_before].status
	               : VC_INVALID;
}

/* The text is in reader->spec; errors of the file and of the overrides are found in one go. */
static enum vc_status read_spec(struct reader *reader)
{
	bool short_cut = take_short_cut(reader);
	bool good = short_cut || read_text(reader);

	good = read_overrides(reader) && good;
	return end_reading(reader, good && (short_cut || bind_texts(reader)) && read_model(reader));
}

static bool begin(struct reader *reader, const char *name, const char *file)
{
	*reader->spec = (struct vc_spec){ .source = strdup(name), .file = strdup(file) };
	reader->errors_before = reader->errors->count;
	reader->file = reader->spec->file;
	return (reader->spec->source && reader->spec->file) || fail_memory(reader);
}

/* Without a byte order mark, which would count as a column. */
static void take_text(struct vc_spec *spec, char *text, size_t length)
{
	size_t mark = length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;

	memmove(text, text + mark, length - mark + 1);
	spec->text = text;
	spec->length = length - mark;
}

/* Reads an open source as text. */
static enum vc_status read_source(struct reader *reader, const struct vc_source *source)
{
	char *text = NULL, *folder = vc_path_folder(source->path);
	size_t length = 0;
	enum vc_status status = vc_source_text(source, &text, &length, reader->errors);

	if (status == VC_OK) {
		take_text(reader->spec, text, length);
		reader->model.folder = folder;
		reader->model.bundled = source->form == VC_FORM_BUNDLED;
		status = read_spec(reader);
	} else {
		vc_spec_free(reader->spec);
	}
	free(folder);
	return status;
}

static enum vc_status refuse_folder(struct reader *reader, const char *why)
{
	add_error(reader, VC_INVALID, "", why);
	return end_reading(reader, false);
}

/* Weights are the SPEC: no text, all defaults. */
static enum vc_status read_weights(struct reader *reader, const char *path)
{
	bool good;

	reader->model.weights = path;
	reader->raw = calloc(1, vc_spec_schema.data_size);
	good = reader->raw ? read_overrides(reader) : fail_memory(reader);
	return end_reading(reader, good && bind_texts(reader) && read_model(reader));
}

/* A folder stands for the config.json in it, or for its weights, or for both. */
static enum vc_status read_folder(struct reader *reader, const char *folder)
{
	char *config = vc_path_join(folder, "config.json");
	bool several = false;
	char *weights = vc_weight_folder_pick(folder, &several);
	struct vc_source source;
	enum vc_status status;

	if (config && access(config, F_OK) != 0) {
		status = several   ? refuse_folder(reader,
		                                   "holds several weight files and no index (one "
		                                     "of them is expected)")
		         : weights ? read_weights(reader, weights)
		                   : refuse_folder(reader,
		                                   "holds neither a config.json nor weights (a "
		                                   "model's folder is expected)");
	} else if (config && vc_source_open_file(config, &source, reader->errors) == VC_OK) {
		free(reader->spec->file);
		reader->spec->file = strdup(config);
		reader->file = reader->spec->file;
		reader->model.weights = several ? NULL : weights;
		status = read_source(reader, &source);
		vc_source_close(&source);
	} else {
		vc_spec_free(reader->spec);
		status = VC_IO;
	}
	free(config);
	free(weights);
	return status;
}

/* What `path` holds, under the name that the user gave. */
static enum vc_status read_path(struct reader *reader, const char *name, const char *path)
{
	struct vc_source source;
	enum vc_status status = vc_source_open(path, &source, reader->errors);

	if (status != VC_OK) {
		return status;
	}
	if (!begin(reader, name, source.path)) {
		status = VC_NO_MEMORY;
		vc_spec_free(reader->spec);
	} else if (source.form == VC_FORM_FOLDER) {
		status = read_folder(reader, path);
	} else if (source.form == VC_FORM_FILE &&
	           vc_weight_format_of(path, source.head, source.head_length)) {
		status = read_weights(reader, path);
	} else {
		status = read_source(reader, &source);
	}
	vc_source_close(&source);
	return status;
}

enum vc_status vc_spec_read(const char *name, const struct vc_spec_options *options,
                            struct vc_spec *spec, struct vc_error_list *errors)
{
	struct reader reader = { .options = options, .spec = spec, .errors = errors };
	size_t before = errors->count;
	enum vc_status status;
	char *fetched;

	*spec = (struct vc_spec){ 0 };
	if (!vc_hub_is_name(name)) {
		return read_path(&reader, name, name);
	}
	fetched = vc_hub_fetch(name, options && options->offline, errors);
	if (!fetched) {
		return before < VC_MAX_ERRORS ? errors->errors[before].status : VC_INVALID;
	}
	status = read_path(&reader, name, fetched);
	free(fetched);
	return status;
}

enum vc_status vc_spec_read_memory(const struct vc_spec_text *source,
                                   const struct vc_spec_options *options, struct vc_spec *spec,
                                   struct vc_error_list *errors)
{
	struct reader reader = { .options = options, .spec = spec, .errors = errors };
	char *text = malloc(source->length + 1);

	*spec = (struct vc_spec){ 0 };
	if (!text || !begin(&reader, source->name, source->name)) {
		free(text);
		vc_spec_free(spec);
		return VC_NO_MEMORY;
	}
	memcpy(text, source->text, source->length);
	text[source->length] = '\0';
	take_text(spec, text, source->length);
	reader.model.folder = source->folder;
	return read_spec(&reader);
}

void vc_spec_free(struct vc_spec *spec)
{
	for (uint32_t i = 0; i < spec->hardware.gpu_count; i++) {
		free(spec->hardware.gpus[i]);
	}
	free(spec->hardware.gpus);
	vc_spec_roles_free(spec->roles);
	free(spec->source);
	free(spec->file);
	free(spec->text);
	if (!spec->borrowed) {
		free(spec->model);
	}
	*spec = (struct vc_spec){ 0 };
}
