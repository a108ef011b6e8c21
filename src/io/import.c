#include "import.h"

#include "bundled.h"
#include "json_read.h"
#include "spec.h"
#include "spec_model.h"
#include "yaml_write.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What the commonest keys mean, for somebody who edits them. */
static const struct vc_yaml_comment comments[] = {
	{ "hidden_size", "width of a token between layers" },
	{ "num_hidden_layers", "layers" },
	{ "num_attention_heads", "query heads" },
	{ "num_key_value_heads", "key and value heads: what the KV cache holds" },
	{ "head_dim", "width of a head" },
	{ "intermediate_size", "width of the feed-forward part" },
	{ "vocab_size", "rows of the embedding" },
	{ "max_position_embeddings", "the longest sequence" },
	{ "tie_word_embeddings", "whether the head is the embedding" },
	{ "num_experts", "experts per layer" },
	{ "num_local_experts", "experts per layer" },
	{ "n_routed_experts", "experts per layer" },
	{ "num_experts_per_tok", "experts that one token uses" },
	{ "moe_intermediate_size", "width of an expert" },
	{ "kv_lora_rank", "latent attention: what the KV cache holds per token" },
	{ "sliding_window", "tokens that a sliding layer keeps" },
	{ "torch_dtype", "what the checkpoint is stored in" },
	{ "dtype", "what the checkpoint is stored in" },
	{ NULL, NULL },
};

/* Keys that size nothing, by name or by what their name contains. */
static bool sizes_nothing(const char *key)
{
	static const char *const names[] = { "auto_map",
		                             "transformers_version",
		                             "use_cache",
		                             "_name_or_path",
		                             "label2id",
		                             "output_attentions",
		                             "output_hidden_states",
		                             "return_dict",
		                             "task_specific_params",
		                             "problem_type",
		                             "pretraining_tp",
		                             "rope_theta",
		                             "chat_template" };
	static const char *const parts[] = { "token_id",   "token_index",  "dropout",
		                             "_eps",       "initializer",  "_coef",
		                             "hidden_act", "activation_fn" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		if (strcmp(key, names[i]) == 0) {
			return true;
		}
	}
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		if (strstr(key, parts[i])) {
			return true;
		}
	}
	return false;
}

/* The classes' names are of no use, only how many there are. */
static void count_labels(cJSON *tree)
{
	const cJSON *names = cJSON_GetObjectItemCaseSensitive(tree, "id2label");
	int count = names ? cJSON_GetArraySize(names) : 0;

	cJSON_DeleteItemFromObjectCaseSensitive(tree, "id2label");
	if (count > 0 && !cJSON_GetObjectItemCaseSensitive(tree, "num_labels")) {
		(void)cJSON_AddNumberToObject(tree, "num_labels", count);
	}
}

/* A limit, not a size, and more than a spec takes. */
static bool is_huge(const cJSON *item)
{
	const double most = 9007199254740992; /* 2^53 */
	const cJSON *entry;

	if (cJSON_IsNumber(item)) {
		return !(item->valuedouble < most && item->valuedouble > -most);
	}
	if (cJSON_IsArray(item)) {
		cJSON_ArrayForEach(entry, item)
		{
			if (is_huge(entry)) {
				return true;
			}
		}
	}
	return false;
}

static void prune(cJSON *tree)
{
	cJSON *next;

	count_labels(tree);
	for (cJSON *item = tree->child; item; item = next) {
		next = item->next;
		if (sizes_nothing(item->string) || cJSON_IsNull(item) || is_huge(item)) {
			cJSON_Delete(cJSON_DetachItemViaPointer(tree, item));
		} else if (cJSON_IsObject(item)) {
			prune(item);
		}
	}
}

/* ---- Writing ----------------------------------------------------------------------------------
 */

/* "workload" of "workload.batch_size" */
static size_t section_length(const char *path)
{
	return strcspn(path, ".");
}

static void write_choices(const struct vc_spec_field *field, FILE *out)
{
	enum {
		SHOWN = 6
	};
	const char *choice;

	for (size_t i = 0; i < SHOWN && (choice = vc_spec_choice(field, i)) != NULL; i++) {
		fprintf(out, "%s%s", i ? " | " : ": ", choice);
	}
	if (vc_spec_choice(field, SHOWN)) {
		fputs(" ...", out);
	}
}

/* The workload's fields with their defaults, commented out: an editor's starting point that
 * changes nothing. */
static void write_workload(FILE *out)
{
	const struct vc_spec_field *field;

	fputs("\n# The workload; these are the defaults (vramcalc schema has every field).\n"
	      "# workload:\n",
	      out);
	for (size_t i = 0; (field = vc_spec_field_at(i)) != NULL; i++) {
		size_t length = section_length(field->path);

		if (length != 8 || strncmp(field->path, "workload", length) != 0) {
			continue;
		}
		fprintf(out, "#   %s: %s  # %s", field->path + length + 1,
		        strchr(field->fallback, ' ') ? "null" : field->fallback, field->summary);
		write_choices(field, out);
		fputc('\n', out);
	}
}

static void write_head(const struct vc_spec *spec, FILE *out)
{
	struct vc_counts counts;
	struct vc_error error;
	const char *family = spec->model->family;

	fputs("# A vramcalc spec: edit it, then `vramcalc plan` it.\n", out);
	if (vc_model_count(spec->model, &counts, &error) == VC_OK) {
		fprintf(out, "# %" PRIu64 " parameters", counts.total);
		if (counts.active != counts.total) {
			fprintf(out, ", of which a token uses %" PRIu64, counts.active);
		}
		fputs(".\n", out);
	}
	if (*family && !spec->model->known_family) {
		fputs("# This model_type is not known: it is read as the nearest kind.\n", out);
	}
	fputs("version: 1\nmodel:\n", out);
	if (*spec->model->name) {
		fputs("  name: ", out);
		vc_yaml_write_text(spec->model->name, out);
		fputc('\n', out);
	}
}

static enum vc_status refuse(const struct vc_spec *spec, enum vc_status status, const char *what,
                             struct vc_error_list *errors)
{
	struct vc_error error = { .status = status };

	(void)snprintf(error.file, sizeof error.file, "%s", spec->file ? spec->file : spec->source);
	(void)snprintf(error.message, sizeof error.message, "%s", what);
	vc_errors_append(errors, &error);
	return status;
}

static enum vc_status write_config(const struct vc_spec *spec, FILE *out,
                                   struct vc_error_list *errors)
{
	char *copy = strndup(spec->text, spec->length);
	struct vc_error error;
	cJSON *tree = copy ? vc_config_parse(copy, spec->length, &error) : NULL;

	free(copy);
	if (!tree) {
		return refuse(spec, VC_NO_MEMORY, "does not fit into memory", errors);
	}
	prune(tree);
	write_head(spec, out);
	fputs("  architecture:\n", out);
	vc_yaml_write_object(tree, &(struct vc_yaml_style){ 4, comments }, out);
	write_workload(out);
	cJSON_Delete(tree);
	return VC_OK;
}

static enum vc_status write_spec(const struct vc_spec *spec, FILE *out,
                                 struct vc_error_list *errors)
{
	const char *text;
	size_t length;

	switch (spec->model->source) {
	case VC_SOURCE_BUNDLED:
		if (vc_bundled_find(spec->source, &text, &length)) {
			fwrite(text, 1, length, out);
			write_workload(out);
			return VC_OK;
		}
		break;
	case VC_SOURCE_CONFIG:
		if (spec->text && !vc_spec_gives(spec, "model.config")) {
			return write_config(spec, out, errors);
		}
		break;
	case VC_SOURCE_GGUF:
	case VC_SOURCE_SAFETENSORS:
		if (!vc_spec_gives(spec, "model.weights")) {
			write_head(spec, out);
			fputs("  weights: ", out);
			vc_yaml_write_text(spec->source, out);
			fputc('\n', out);
			write_workload(out);
			return VC_OK;
		}
		break;
	default:
		break;
	}
	return refuse(spec, VC_INVALID,
	              "is a spec already (a config.json, a weight file or a bundled model is "
	              "expected)",
	              errors);
}

enum vc_status vc_import(const char *source, FILE *out, struct vc_error_list *errors)
{
	struct vc_spec spec;
	enum vc_status status = vc_spec_read(source, NULL, &spec, errors);

	if (status != VC_OK) {
		return status;
	}
	status = write_spec(&spec, out, errors);
	vc_spec_free(&spec);
	return status;
}
