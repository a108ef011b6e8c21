#include "whole_file.h"

#include "print_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool complain(const char *path, int error)
{
	char shown[512];

	text_copy(shown, sizeof shown, path, true);
	fprintf(stderr, "vramcalc: %s: cannot write: %s\n", shown, strerror(error));
	return false;
}

/* With the permissions that a file made by fopen() would have. */
static FILE *open_temporary(char *name)
{
	mode_t mask = umask(0);
	int descriptor;
	FILE *file;

	umask(mask);
	descriptor = mkstemp(name);
	if (descriptor < 0) {
		return NULL;
	}
	file = fchmod(descriptor, 0666 & ~mask) == 0 ? fdopen(descriptor, "w") : NULL;
	if (!file) {
		int error = errno;

		close(descriptor);
		unlink(name);
		errno = error;
	}
	return file;
}

bool whole_file_open(struct whole_file *whole, const char *path)
{
	struct stat there;
	int length;

	*whole = (struct whole_file){ .path = path };
	/* A device or a pipe keeps its name: a file in its place would be no such thing. */
	if (stat(path, &there) == 0 && !S_ISREG(there.st_mode)) {
		whole->file = fopen(path, "w");
		return whole->file || complain(path, errno);
	}
	length = snprintf(whole->temporary, sizeof whole->temporary, "%s.XXXXXX", path);
	if ((size_t)length >= sizeof whole->temporary) {
		return complain(path, ENAMETOOLONG);
	}
	whole->file = open_temporary(whole->temporary);
	return whole->file || complain(path, errno);
}

bool whole_file_close(struct whole_file *whole)
{
	bool failed = ferror(whole->file) != 0;
	int error = failed ? EIO : 0;

	if (fclose(whole->file) != 0) {
		failed = true;
		error = errno;
	}
	if (*whole->temporary && !failed) {
		failed = rename(whole->temporary, whole->path) != 0;
		error = errno;
	}
	if (!failed) {
		return true;
	}
	if (*whole->temporary) {
		unlink(whole->temporary);
	}
	return complain(whole->path, error);
}
