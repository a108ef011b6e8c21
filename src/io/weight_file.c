/* Sums over the tensors of weight files, and which files belong together. */
#include "weight_file.h"

#include "gguf.h"
#include "safetensors.h"
#include "source.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- One tensor -------------------------------------------------------------------------------
 */

static uint64_t saturating_add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static void add(uint64_t *sum, uint64_t value)
{
	*sum = saturating_add(*sum, value);
}

/* The first part of a dotted name that is a number: its layer. VC_MAX_LAYERS: none. */
static uint32_t layer_of(const char *name)
{
	const char *part = name;

	while (part) {
		char *end;
		unsigned long number = strtoul(part, &end, 10);

		if (*part >= '0' && *part <= '9' && (*end == '.' || !*end)) {
			return number < VC_MAX_LAYERS ? (uint32_t)number : VC_MAX_LAYERS;
		}
		part = strchr(part, '.');
		part = part ? part + 1 : NULL;
	}
	return VC_MAX_LAYERS;
}

static bool is_named(const char *name, const char *const *parts)
{
	for (; *parts; parts++) {
		if (strstr(name, *parts)) {
			return true;
		}
	}
	return false;
}

static bool is_token_table(const char *name)
{
	static const char *const parts[] = { "token_embd.weight", "embed_tokens.weight",
		                             "wte.weight",        "word_embeddings.weight",
		                             "embed_in.weight",   "shared.weight",
		                             "tok_embeddings",    "embeddings.weight",
		                             "embedding.weight",  NULL };

	return is_named(name, parts) && !strstr(name, "position") && !strstr(name, "token_type") &&
	       !strstr(name, "token_types");
}

static bool is_output(const char *name)
{
	return strcmp(name, "output.weight") == 0 || strstr(name, "lm_head.") ||
	       strcmp(name, "embed_out.weight") == 0;
}

static bool is_last_norm(const char *name)
{
	static const char *const parts[] = { "output_norm.", "model.norm.", "final_layer_norm.",
		                             "ln_f.",        "norm_f.",     NULL };

	return is_named(name, parts);
}

static bool is_tower(const char *name)
{
	static const char *const parts[] = { "vision", "visual", "audio", NULL };

	return is_named(name, parts) || strncmp(name, "v.", 2) == 0 ||
	       strncmp(name, "a.", 2) == 0 || strncmp(name, "mm.", 3) == 0;
}

static bool is_expert(const char *name)
{
	return strstr(name, "_exps.") || (strstr(name, ".experts.") && !strstr(name, "shared"));
}

static void add_layer_tensor(struct vc_file_weights *weights, const struct vc_weight_tensor *tensor,
                             uint32_t layer)
{
	add(&weights->layer_bytes[layer], tensor->bytes);
	weights->layers = layer >= weights->layers ? layer + 1 : weights->layers;
	if (tensor->bytes > weights->largest_bytes) {
		weights->largest_bytes = tensor->bytes;
	}
	if (is_expert(tensor->name)) {
		add(&weights->experts_bytes, tensor->bytes);
	}
}

void vc_weight_file_add(struct vc_weight_file *file, const struct vc_weight_tensor *tensor)
{
	struct vc_file_weights *weights = &file->weights;
	uint32_t layer = layer_of(tensor->name);

	file->tensors++;
	add(&weights->total_bytes, tensor->bytes);
	add(&weights->params, tensor->parameters);
	add(&weights->buffers, tensor->buffers);
	add(&file->dtype_params[tensor->dtype], tensor->parameters);
	if (is_tower(tensor->name)) {
		return;
	}
	if (layer < VC_MAX_LAYERS) {
		add_layer_tensor(weights, tensor, layer);
	} else if (is_output(tensor->name)) {
		add(&weights->output_bytes, tensor->bytes);
		file->has_output = true;
	} else if (is_last_norm(tensor->name)) {
		add(&weights->output_bytes, tensor->bytes);
	} else if (is_token_table(tensor->name)) {
		add(&weights->embedding_bytes, tensor->bytes);
		file->vocab_rows = tensor->rows;
	}
}

void vc_weight_file_drop(struct vc_weight_file *file)
{
	if (file->format != VC_WEIGHTS_NONE) {
		cJSON_Delete(file->metadata);
		*file = (struct vc_weight_file){ 0 };
	}
}

/* ---- Files ------------------------------------------------------------------------------------
 */

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);

	return length >= tail && strcmp(text + length - tail, end) == 0;
}

enum vc_weight_format vc_weight_format_of(const char *path, const unsigned char *head,
                                          size_t head_length)
{
	if (head_length >= 4 && memcmp(head, "GGUF", 4) == 0) {
		return VC_WEIGHTS_GGUF;
	}
	if (ends_with(path, ".safetensors.index.json")) {
		return VC_WEIGHTS_INDEX;
	}
	if (ends_with(path, ".gguf")) {
		return VC_WEIGHTS_GGUF;
	}
	/* A length of at most 10^8, little-endian, then the header's opening brace. */
	if (ends_with(path, ".safetensors") ||
	    (head_length >= 9 && head[8] == '{' && !head[4] && !head[5] && !head[6] && !head[7])) {
		return VC_WEIGHTS_SAFETENSORS;
	}
	return VC_WEIGHTS_NONE;
}

struct reading {
	const struct vc_weight_packing *packing;
	struct vc_weight_file *file;
	struct vc_error_list *errors;
};

static enum vc_status fail(struct reading *reading, const char *path, enum vc_status status,
                           const char *message)
{
	struct vc_error error = { .status = status };

	(void)snprintf(error.file, sizeof error.file, "%s", path);
	(void)snprintf(error.message, sizeof error.message, "%s", message);
	vc_errors_append(reading->errors, &error);
	return status;
}

static unsigned traits_of(const char *name)
{
	static const struct {
		const char *end;
		enum vc_weight_trait trait;
	} ends[] = {
		{ ".attn_q.bias", VC_TRAIT_QKV_BIAS },
		{ ".attn_qkv.bias", VC_TRAIT_QKV_BIAS },
		{ ".attn_output.bias", VC_TRAIT_O_BIAS },
		{ ".ffn_up.bias", VC_TRAIT_FFN_BIAS },
		{ ".attn_q_norm.weight", VC_TRAIT_QK_NORM },
		{ ".attn_norm_2.weight", VC_TRAIT_SECOND_NORM },
		{ ".exp_probs_b.bias", VC_TRAIT_ROUTER_BIAS },
	};
	unsigned traits = 0;

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		traits |= ends_with(name, ends[i].end) ? (unsigned)ends[i].trait : 0u;
	}
	return traits;
}

static void visit_gguf(const struct vc_gguf_tensor *tensor, void *context)
{
	struct vc_weight_file *file = context;
	bool buffer = strncmp(tensor->name, "rope_f", 6) == 0;
	struct vc_weight_tensor seen = {
		.name = tensor->name,
		.dtype = vc_dtype_by_name(vc_gguf_type(tensor->type)->name),
		.parameters = buffer ? 0 : tensor->elements,
		.buffers = buffer ? tensor->elements : 0,
		.bytes = tensor->bytes,
		.rows = tensor->size[1],
	};

	file->traits |= traits_of(tensor->name);
	vc_weight_file_add(file, &seen);
}

static enum vc_status read_gguf(struct reading *reading, struct vc_stream *stream,
                                struct vc_error *error)
{
	struct vc_gguf gguf;
	enum vc_status status = vc_gguf_read(stream, visit_gguf, reading->file, &gguf, error);

	if (status == VC_OK) {
		uint64_t whole = saturating_add(gguf.header_bytes, gguf.data_bytes);

		add(&reading->file->file_bytes, whole);
		reading->file->header_only |= stream->size < whole;
	}
	/* The first part of a split file carries the metadata of all. */
	if (status == VC_OK && !reading->file->metadata) {
		reading->file->metadata = gguf.metadata;
		gguf.metadata = NULL;
	}
	vc_gguf_drop(&gguf);
	return status;
}

static enum vc_status read_stream(struct reading *reading, const char *path,
                                  enum vc_weight_format format, struct vc_stream *stream)
{
	struct vc_error error = { .status = VC_OK };
	enum vc_status status =
	        format == VC_WEIGHTS_GGUF
	                ? read_gguf(reading, stream, &error)
	                : vc_safetensors_read(stream, reading->packing, reading->file, &error);

	reading->file->files++;
	if (status != VC_OK) {
		(void)snprintf(error.file, sizeof error.file, "%s", path);
		vc_errors_append(reading->errors, &error);
	}
	return status;
}

static enum vc_status read_one(struct reading *reading, const char *path,
                               enum vc_weight_format format)
{
	struct vc_source source;
	struct vc_stream *stream;
	enum vc_status status = vc_source_open_file(path, &source, reading->errors);

	if (status != VC_OK) {
		return status;
	}
	if (source.form != VC_FORM_FILE) {
		status = fail(reading, path, VC_INVALID, "is a folder (a file is expected)");
	} else {
		stream = vc_stream_of_file(&source.file, source.size);
		status = stream ? read_stream(reading, path, format, stream)
		                : fail(reading, path, VC_NO_MEMORY, "does not fit into memory");
		free(stream);
	}
	vc_source_close(&source);
	return status;
}

/* ---- Split GGUF files: NAME-00001-of-00003.gguf ---------------------------------------------- */

enum {
	SPLIT_TAIL = 20, /* "-00001-of-00003.gguf" */
	MAX_PARTS = 1000
};

/* Five digits as a number; 0 when they are none. */
static unsigned five_digits(const char *text)
{
	unsigned value = 0;

	for (size_t i = 0; i < 5; i++) {
		if (text[i] < '0' || text[i] > '9') {
			return 0;
		}
		value = value * 10 + (unsigned)(text[i] - '0');
	}
	return value;
}

static bool is_split_name(const char *path)
{
	size_t length = strlen(path);
	const char *tail = path + length - SPLIT_TAIL;
	unsigned part, parts;

	if (length < SPLIT_TAIL || tail[0] != '-' || memcmp(tail + 6, "-of-", 4) != 0 ||
	    !ends_with(path, ".gguf")) {
		return false;
	}
	part = five_digits(tail + 1);
	parts = five_digits(tail + 10);
	return part >= 1 && part <= parts && parts <= MAX_PARTS;
}

static uint64_t metadata_count(const struct vc_weight_file *file, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(file->metadata, key);

	return cJSON_IsNumber(item) && item->valuedouble > 0 && item->valuedouble < 1e15
	               ? (uint64_t)item->valuedouble
	               : 0;
}

static enum vc_status read_split(struct reading *reading, const char *path)
{
	unsigned parts = (unsigned)strtoul(path + strlen(path) - 10, NULL, 10);
	uint64_t told;
	char *part = strdup(path), message[120];
	size_t tail = strlen(path) - SPLIT_TAIL;
	enum vc_status status = part ? VC_OK : VC_NO_MEMORY;

	for (unsigned i = 1; i <= parts && status == VC_OK; i++) {
		(void)snprintf(part + tail, SPLIT_TAIL + 1, "-%05u-of-%05u.gguf", i % 100000,
		               parts % 100000);
		status = read_one(reading, part, VC_WEIGHTS_GGUF);
	}
	free(part);
	told = metadata_count(reading->file, "split.tensors.count");
	if (status == VC_OK && told && told != reading->file->tensors) {
		(void)snprintf(message, sizeof message,
		               "the parts hold %llu tensors together (%llu are expected)",
		               (unsigned long long)reading->file->tensors,
		               (unsigned long long)told);
		status = fail(reading, path, VC_INVALID, message);
	}
	return status;
}

/* ---- An index and its shards ------------------------------------------------------------------
 */

static enum vc_status read_index(struct reading *reading, const char *path)
{
	struct vc_source source;
	struct vc_stream *stream;
	struct vc_safetensors_shards shards = { 0 };
	struct vc_error error = { .status = VC_OK };
	char *folder = vc_path_folder(path);
	enum vc_status status = vc_source_open_file(path, &source, reading->errors);

	if (status != VC_OK) {
		free(folder);
		return status;
	}
	stream = vc_stream_of_file(&source.file, source.size);
	status = stream ? vc_safetensors_index(stream, &shards, &error)
	                : fail(reading, path, VC_NO_MEMORY, "does not fit into memory");
	if (error.status != VC_OK) {
		(void)snprintf(error.file, sizeof error.file, "%s", path);
		vc_errors_append(reading->errors, &error);
	}
	for (size_t i = 0; i < shards.count && status == VC_OK; i++) {
		char *shard = vc_path_join(folder, shards.names[i]);

		status = shard ? read_one(reading, shard, VC_WEIGHTS_SAFETENSORS) : VC_NO_MEMORY;
		free(shard);
	}
	vc_safetensors_shards_drop(&shards);
	free(stream);
	free(folder);
	vc_source_close(&source);
	return status;
}

static enum vc_status read_path(struct reading *reading, const char *path)
{
	struct vc_source source;
	enum vc_weight_format format;
	enum vc_status status = vc_source_open_file(path, &source, reading->errors);

	if (status != VC_OK) {
		return status;
	}
	format = vc_weight_format_of(path, source.head, source.head_length);
	vc_source_close(&source);
	reading->file->format = format;
	if (format == VC_WEIGHTS_NONE) {
		return fail(reading, path, VC_INVALID,
		            "is no weight file (GGUF or safetensors is expected)");
	}
	if (format == VC_WEIGHTS_INDEX) {
		return read_index(reading, path);
	}
	return format == VC_WEIGHTS_GGUF && is_split_name(path) ? read_split(reading, path)
	                                                        : read_one(reading, path, format);
}

/* ---- Folders ----------------------------------------------------------------------------------
 */

/* How good a file is as the whole of a folder's weights; 0: not at all. */
static int rank_of(const char *name)
{
	if (ends_with(name, ".safetensors.index.json")) {
		return 5;
	}
	if (strcmp(name, "model.safetensors") == 0) {
		return 4;
	}
	if (ends_with(name, ".safetensors")) {
		return 3;
	}
	if (!ends_with(name, ".gguf") || strncmp(name, "mmproj", 6) == 0) {
		return 0;
	}
	return !is_split_name(name) || strstr(name, "-00001-of-") ? 2 : 0;
}

/* What git leaves in place of a large file that it has not fetched: git-lfs.com, spec.md. */
static bool is_pointer(const char *folder, const char *name)
{
	static const char start[] = "version https://git-lfs";
	char *path = vc_path_join(folder, name), bytes[sizeof start - 1];
	int file = path ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
	bool pointer = file >= 0 && read(file, bytes, sizeof bytes) == (ssize_t)sizeof bytes &&
	               memcmp(bytes, start, sizeof bytes) == 0;

	if (file >= 0) {
		(void)close(file);
	}
	free(path);
	return pointer;
}

char *vc_weight_folder_pick(const char *folder, bool *several)
{
	DIR *directory = opendir(folder);
	const struct dirent *entry;
	char best[256] = "";
	int best_rank = 0, ggufs = 0, shards = 0;
	bool pointers = false;

	*several = false;
	while (directory && (entry = readdir(directory)) != NULL) {
		int rank = rank_of(entry->d_name);

		if (rank > 0 && is_pointer(folder, entry->d_name)) {
			pointers = true;
			continue;
		}
		ggufs += rank == 2;
		shards += rank == 3;
		/* of equals the first by name, whatever order the folder has */
		if (rank > best_rank ||
		    (rank && rank == best_rank && strcmp(entry->d_name, best) < 0)) {
			best_rank = rank;
			(void)snprintf(best, sizeof best, "%s", entry->d_name);
		}
	}
	if (directory) {
		(void)closedir(directory);
	}
	*several = best_rank == 2 ? ggufs > 1 : best_rank == 3 && shards > 1;
	/* an index of files that are not there is no weights */
	if (pointers && best_rank == 5) {
		return NULL;
	}
	return best_rank ? vc_path_join(folder, best) : NULL;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool append_path(char ***paths, size_t *count, char *path)
{
	char **larger = path ? realloc(*paths, (*count + 1) * sizeof *larger) : NULL;

	if (!larger) {
		free(path);
		return false;
	}
	*paths = larger;
	larger[(*count)++] = path;
	return true;
}

char **vc_weight_folder_list(const char *folder, size_t *count)
{
	DIR *directory = opendir(folder);
	const struct dirent *entry;
	char **paths = NULL;
	bool weights_alone = directory != NULL;

	*count = 0;
	while (weights_alone && (entry = readdir(directory)) != NULL) {
		weights_alone =
		        rank_of(entry->d_name) <= 2 && strcmp(entry->d_name, "config.json") != 0;
		if (rank_of(entry->d_name) == 2) {
			weights_alone =
			        weights_alone &&
			        append_path(&paths, count, vc_path_join(folder, entry->d_name));
		}
	}
	if (directory) {
		(void)closedir(directory);
	}
	if (weights_alone && *count > 1) {
		qsort(paths, *count, sizeof *paths, compare_names);
		return paths;
	}
	for (size_t i = 0; i < *count; i++) {
		free(paths[i]);
	}
	free(paths);
	*count = 0;
	return NULL;
}

enum vc_status vc_weight_file_read(const char *path, const struct vc_weight_packing *packing,
                                   struct vc_weight_file *file, struct vc_error_list *errors)
{
	struct reading reading = { .packing = packing, .file = file, .errors = errors };
	struct stat status;
	enum vc_status result;
	bool several;
	char *inside;

	*file = (struct vc_weight_file){ 0 };
	if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode)) {
		return read_path(&reading, path);
	}
	inside = vc_weight_folder_pick(path, &several);
	if (!inside || several) {
		result =
		        fail(&reading, path, VC_INVALID,
		             several ? "holds several weight files and no index (one of them is "
		                       "expected)"
		                     : "holds no weights (GGUF or safetensors files are expected)");
	} else {
		result = read_path(&reading, inside);
	}
	free(inside);
	return result;
}
