/* Gets at what a SPEC names: a file, a folder, standard input, a bundled model. */
#ifndef VC_SOURCE_H
#define VC_SOURCE_H

#include "errors.h"

enum {
	VC_SOURCE_TEXT_BYTES = 4 << 20, /* no spec and no config.json comes near */
	VC_SOURCE_HEAD = 16
};

enum vc_source_form {
	VC_FORM_FILE,
	VC_FORM_FOLDER,
	VC_FORM_STDIN,
	VC_FORM_BUNDLED
};

struct vc_source {
	enum vc_source_form form;
	char *path;    /* owned; what messages name */
	int file;      /* open for reading; -1 for a folder and a bundled model */
	uint64_t size; /* of a file */
	unsigned char head[VC_SOURCE_HEAD]; /* the first bytes of a file */
	size_t head_length;
	const char *bundled; /* the text of a bundled model */
	size_t bundled_length;
};

/*
 * Opens without ever waiting: what is not a regular file, a folder or "-" is refused. A name that
 * no file has may be a bundled model's. On failure there is nothing to close.
 */
enum vc_status vc_source_open(const char *name, struct vc_source *source,
                              struct vc_error_list *errors);
/* The same for a path that is meant as one: no standard input, no bundled models. */
enum vc_status vc_source_open_file(const char *path, struct vc_source *source,
                                   struct vc_error_list *errors);
void vc_source_close(struct vc_source *source);

/* All of it, at most VC_SOURCE_TEXT_BYTES, with a NUL behind. To be freed. */
enum vc_status vc_source_text(const struct vc_source *source, char **text, size_t *length,
                              struct vc_error_list *errors);

/* Opens, reads and closes one file, for what a spec points to. */
enum vc_status vc_source_read_file(const char *path, char **text, size_t *length,
                                   struct vc_error_list *errors);

/* "FOLDER/name"; `folder` may be NULL or "". An absolute `name` stands alone. To be freed. */
char *vc_path_join(const char *folder, const char *name);

/* What is before the last '/', NULL when there is none. To be freed. */
char *vc_path_folder(const char *path);

#endif
