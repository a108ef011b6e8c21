#include "log_file.h"

#include "print_text.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static bool complain(const char *file, const char *why)
{
	char shown[512];

	text_copy(shown, sizeof shown, file, true);
	fprintf(stderr, "%s: %s (expected a log or an error message)\n", shown, why);
	return false;
}

bool log_file_read(const char *file, struct log *log)
{
	bool standard = strcmp(file, "-") == 0;
	FILE *in = standard ? stdin : fopen(file, "rb");
	struct stat facts;
	bool read;

	if (!in) {
		return complain(file, strerror(errno));
	}
	if (fstat(fileno(in), &facts) == 0 && S_ISDIR(facts.st_mode)) {
		fclose(in);
		return complain(file, "is a directory");
	}
	read = log_read(log, in);
	if (!standard) {
		fclose(in);
	}
	return read || complain(file, "cannot be read to its end");
}
