/* Logs that the command line names. */
#ifndef VC_CLI_LOG_FILE_H
#define VC_CLI_LOG_FILE_H

#include "log.h"

/* Reads a file, or standard input as "-", into an open log. Says what is wrong and returns false.
 */
bool log_file_read(const char *file, struct log *log);

#endif
