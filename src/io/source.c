#include "source.h"

#include "bundled.h"
#include "nearest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char too_large[] = "is too large (at most 4 MiB is expected)";

static enum vc_status refuse(struct vc_error_list *errors, const char *file, enum vc_status status,
                             const char *what)
{
	struct vc_error error = { .status = status };

	(void)snprintf(error.file, sizeof error.file, "%s", *file ? file : "''");
	(void)snprintf(error.message, sizeof error.message, "%s", what);
	vc_errors_append(errors, &error);
	return status;
}

static enum vc_status refuse_unreadable(struct vc_error_list *errors, const char *file, int why)
{
	char message[128];

	/* strerror() is enough: one thread reads specs */
	(void)snprintf(message, sizeof message, "cannot be read: %s",
	               strerror(why)); /* NOLINT(concurrency-mt-unsafe) */
	return refuse(errors, file, VC_IO, message);
}

char *vc_path_join(const char *folder, const char *name)
{
	size_t size;
	char *path;

	if (!folder || !*folder || *name == '/') {
		return strdup(name);
	}
	size = strlen(folder) + strlen(name) + 2;
	path = malloc(size);
	if (path) {
		(void)snprintf(path, size, "%s%s%s", folder,
		               folder[strlen(folder) - 1] == '/' ? "" : "/", name);
	}
	return path;
}

char *vc_path_folder(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash) {
		return NULL;
	}
	return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

static ssize_t read_some(int file, void *bytes, size_t size)
{
	ssize_t got;

	do {
		got = read(file, bytes, size);
	} while (got < 0 && errno == EINTR);
	return got;
}

static enum vc_status take_bundled(const char *name, struct vc_source *source,
                                   struct vc_error_list *errors)
{
	struct vc_nearest nearest = { .wanted = name };
	const char *known;
	char message[160];

	source->form = VC_FORM_BUNDLED;
	if (vc_bundled_find(name, &source->bundled, &source->bundled_length)) {
		return VC_OK;
	}
	for (size_t i = 0; (known = vc_bundled_name(i)) != NULL; i++) {
		vc_nearest_offer(&nearest, known);
	}
	(void)snprintf(message, sizeof message,
	               nearest.best ? "no such file or bundled model (did you mean '%.60s'?)"
	                            : "no such file or bundled model (`vramcalc models` lists the "
	                              "models)",
	               nearest.best ? nearest.best : "");
	return refuse(errors, name, VC_IO, message);
}

static enum vc_status take_file(struct vc_source *source, const struct stat *status,
                                struct vc_error_list *errors)
{
	ssize_t got;

	if (!S_ISREG(status->st_mode)) {
		return refuse(errors, source->path, VC_INVALID,
		              "is not a file (a regular file, a folder, or - for standard input "
		              "is expected)");
	}
	source->form = VC_FORM_FILE;
	source->size = (uint64_t)status->st_size;
	do {
		got = pread(source->file, source->head, sizeof source->head, 0);
	} while (got < 0 && errno == EINTR);
	if (got < 0) {
		return refuse_unreadable(errors, source->path, errno);
	}
	source->head_length = (size_t)got;
	return VC_OK;
}

static enum vc_status open_path(struct vc_source *source, bool or_bundled,
                                struct vc_error_list *errors)
{
	struct stat status;

	/* O_NONBLOCK: opening a FIFO would wait for a writer */
	source->file = open(source->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (source->file < 0 && errno == ENOENT && or_bundled && !strchr(source->path, '/')) {
		return take_bundled(source->path, source, errors);
	}
	if (source->file < 0 || fstat(source->file, &status) < 0) {
		return refuse_unreadable(errors, source->path, errno);
	}
	if (S_ISDIR(status.st_mode)) {
		(void)close(source->file);
		source->file = -1;
		source->form = VC_FORM_FOLDER;
		return VC_OK;
	}
	return take_file(source, &status, errors);
}

enum vc_status vc_source_open(const char *name, struct vc_source *source,
                              struct vc_error_list *errors)
{
	enum vc_status status;

	*source = (struct vc_source){ .file = -1 };
	source->path = strdup(strcmp(name, "-") == 0 ? "<stdin>" : name);
	if (!source->path) {
		return refuse(errors, name, VC_NO_MEMORY, "does not fit into memory");
	}
	if (strcmp(name, "-") == 0) {
		source->form = VC_FORM_STDIN;
		source->file = STDIN_FILENO;
		return VC_OK;
	}
	status = open_path(source, true, errors);
	if (status != VC_OK) {
		vc_source_close(source);
	}
	return status;
}

void vc_source_close(struct vc_source *source)
{
	if (source->file >= 0 && source->form != VC_FORM_STDIN) {
		(void)close(source->file);
	}
	free(source->path);
	*source = (struct vc_source){ .file = -1 };
}

struct buffer {
	char *bytes; /* NULL once memory has ended */
	size_t room, length;
};

static void grow(struct buffer *buffer)
{
	char *larger = realloc(buffer->bytes, buffer->room * 2);

	if (!larger) {
		free(buffer->bytes);
	}
	buffer->bytes = larger;
	buffer->room *= 2;
}

/* Reads to the end or one byte past the limit; false when the file cannot be read. */
static bool fill(int file, struct buffer *buffer)
{
	ssize_t got = 1;

	while (got > 0 && buffer->length <= VC_SOURCE_TEXT_BYTES) {
		if (buffer->length + 1 == buffer->room) {
			grow(buffer);
		}
		if (!buffer->bytes) {
			return true;
		}
		got = read_some(file, buffer->bytes + buffer->length,
		                buffer->room - buffer->length - 1);
		buffer->length += got > 0 ? (size_t)got : 0;
	}
	return got >= 0;
}

static enum vc_status read_all(const struct vc_source *source, char **text, size_t *length,
                               struct vc_error_list *errors)
{
	struct buffer buffer = { 0 };
	bool readable;

	buffer.room = source->form == VC_FORM_FILE ? (size_t)source->size + 2 : 4096;
	buffer.bytes = malloc(buffer.room);
	readable = !buffer.bytes || fill(source->file, &buffer);
	if (!buffer.bytes) {
		return refuse(errors, source->path, VC_NO_MEMORY, "does not fit into memory");
	}
	if (!readable || buffer.length > VC_SOURCE_TEXT_BYTES) {
		int why = errno;

		free(buffer.bytes);
		return readable ? refuse(errors, source->path, VC_INVALID, too_large)
		                : refuse_unreadable(errors, source->path, why);
	}
	buffer.bytes[buffer.length] = '\0';
	*text = buffer.bytes;
	*length = buffer.length;
	return VC_OK;
}

enum vc_status vc_source_text(const struct vc_source *source, char **text, size_t *length,
                              struct vc_error_list *errors)
{
	if (source->form == VC_FORM_BUNDLED) {
		*length = source->bundled_length;
		*text = strndup(source->bundled, *length);
		return *text ? VC_OK
		             : refuse(errors, source->path, VC_NO_MEMORY,
		                      "does not fit into memory");
	}
	if (source->form == VC_FORM_FOLDER) {
		return refuse(errors, source->path, VC_INVALID, "is a folder (a file is expected)");
	}
	if (source->form == VC_FORM_FILE && source->size > VC_SOURCE_TEXT_BYTES) {
		return refuse(errors, source->path, VC_INVALID, too_large);
	}
	return read_all(source, text, length, errors);
}

enum vc_status vc_source_open_file(const char *path, struct vc_source *source,
                                   struct vc_error_list *errors)
{
	enum vc_status status;

	*source = (struct vc_source){ .file = -1, .path = strdup(path) };
	if (!source->path) {
		return refuse(errors, path, VC_NO_MEMORY, "does not fit into memory");
	}
	status = open_path(source, false, errors);
	if (status != VC_OK) {
		vc_source_close(source);
	}
	return status;
}

enum vc_status vc_source_read_file(const char *path, char **text, size_t *length,
                                   struct vc_error_list *errors)
{
	struct vc_source source;
	enum vc_status status = vc_source_open_file(path, &source, errors);

	if (status == VC_OK) {
		status = vc_source_text(&source, text, length, errors);
		vc_source_close(&source);
	}
	return status;
}
