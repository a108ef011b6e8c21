/* Files that appear whole or not at all. */
#ifndef VC_CLI_WHOLE_FILE_H
#define VC_CLI_WHOLE_FILE_H

#include <stdbool.h>
#include <stdio.h>

struct whole_file {
	const char *path;
	char temporary[4096]; /* "": what is there is no regular file, and is written as it is */
	FILE *file;
};

/*
 * Opens a temporary file beside `path`. whole_file_close() gives it the name, or removes it when
 * something was not written. Both return false with a message on standard error.
 */
bool whole_file_open(struct whole_file *whole, const char *path);
bool whole_file_close(struct whole_file *whole);

#endif
