/*
 * nvidia-smi: the default table ("| 12345MiB / 24576MiB |"), CSV queries with or without units, and
 * dmon's columns. Each line is a reading of one GPU.
 */
#include "log.h"

#include <ctype.h>
#include <string.h>

static void reading(struct log *log, uint32_t index, uint64_t used, uint64_t total)
{
	struct log_gpu *gpu = &log->gpus[index % LOG_MAX_GPUS];

	gpu->seen = true;
	gpu->used_bytes = used;
	if (total) {
		gpu->total_bytes = total;
	}
	vc_series_add(&gpu->used, used);
	log->kind = log->kind ? log->kind : "nvidia-smi";
}

/* A GPU takes two lines or three; the first starts with its index, another holds its memory. */
bool log_smi_table(struct log *log, const char *line)
{
	const char *slash = strstr(line, "MiB / "), *end;
	uint64_t used, total;

	if (line[0] != '|') {
		return false;
	}
	if (!slash) {
		const char *at = line + 1 + strspn(line + 1, " ");
		size_t digits = strspn(at, "0123456789");

		if (digits >= 1 && digits <= 2 && at[digits] == ' ' && strstr(line, "NVIDIA")) {
			log->table_gpu = (uint32_t)(digits == 2 ? (at[0] - '0') * 10 + at[1] - '0'
			                                        : at[0] - '0');
		}
		return false;
	}
	if (!log_amount_ending(line, slash + strlen("MiB"), &used) ||
	    !log_amount(slash + strlen("MiB / "), &total, &end)) {
		return false;
	}
	reading(log, log->table_gpu, used, total);
	return true;
}

/* Cell number `wanted` of a line of cells, as a range; false past the end. */
static bool cell(const char *line, char separator, int wanted, const char **begin, size_t *length)
{
	for (int n = 0; n < wanted; n++) {
		line = strchr(line, separator);
		if (!line) {
			return false;
		}
		line++;
	}
	line += strspn(line, " \t");
	*begin = line;
	*length = separator == ',' ? strcspn(line, ",\r") : strcspn(line, " \t\r");
	return *length > 0;
}

static bool starts(const char *text, size_t length, const char *word)
{
	return length >= strlen(word) && strncmp(text, word, strlen(word)) == 0;
}

/* "timestamp, index, memory.used [MiB], memory.total [MiB]" */
static bool csv_header(struct log *log, const char *line)
{
	struct log_columns columns = { true, -1, -1, -1, -1, 1048576 };
	const char *begin;
	size_t length;

	if (!strstr(line, "memory.used") && !strstr(line, "memory.free")) {
		return false;
	}
	for (int n = 0; cell(line, ',', n, &begin, &length); n++) {
		if (starts(begin, length, "index")) {
			columns.index = n;
		} else if (starts(begin, length, "memory.used")) {
			columns.used = n;
		} else if (starts(begin, length, "memory.total")) {
			columns.total = n;
		} else if (starts(begin, length, "memory.free")) {
			columns.free = n;
		}
	}
	log->columns = columns;
	return true;
}

static bool number_cell(const struct log_columns *columns, const char *line, int column,
                        uint64_t *bytes)
{
	const char *begin, *end;
	size_t length, digits;

	if (column < 0 || !cell(line, ',', column, &begin, &length)) {
		return false;
	}
	if (log_amount(begin, bytes, &end)) {
		return true;
	}
	digits = strspn(begin, "0123456789");
	if (digits == 0 || digits > 12) {
		return false;
	}
	*bytes = 0;
	for (size_t i = 0; i < digits; i++) {
		*bytes = *bytes * 10 + (uint64_t)(begin[i] - '0');
	}
	*bytes *= columns->unit;
	return true;
}

static bool csv_row(struct log *log, const char *line)
{
	struct log_columns plain = log->columns;
	uint64_t used, total = 0, free_bytes, index = 0;

	if (!log->columns.csv) {
		return false;
	}
	plain.unit = 1;
	if (!number_cell(&plain, line, log->columns.index, &index)) {
		index = 0;
	}
	number_cell(&log->columns, line, log->columns.total, &total);
	if (number_cell(&log->columns, line, log->columns.used, &used)) {
		reading(log, (uint32_t)(index % LOG_MAX_GPUS), used, total);
		return true;
	}
	if (number_cell(&log->columns, line, log->columns.free, &free_bytes) &&
	    total >= free_bytes) {
		reading(log, (uint32_t)(index % LOG_MAX_GPUS), total - free_bytes, total);
		return true;
	}
	return false;
}

/* "1234 MiB, 24576 MiB": a query without a header is taken as used and total. */
static bool csv_bare(struct log *log, const char *line)
{
	const char *at = line + strspn(line, " "), *end, *rest;
	uint64_t used, total;

	if (!isdigit((unsigned char)*at) || !log_amount(at, &used, &end) || *end != ',') {
		return false;
	}
	end += 1 + strspn(end + 1, " ");
	if (!log_amount(end, &total, &rest) || rest[strspn(rest, " \r")] != '\0' || used > total) {
		return false;
	}
	reading(log, 0, used, total);
	return true;
}

/* "# gpu  sm  mem  enc  dec  fb  bar1": dmon's and pmon's columns, in MB of 2^20 bytes. */
static bool monitor_header(struct log *log, const char *line)
{
	struct log_columns columns = { false, 0, -1, -1, -1, 1048576 };
	const char *at = line + 1;

	if (line[0] != '#' || !strstr(line, "gpu") || !strstr(line, " fb")) {
		return false;
	}
	for (int n = 0; *(at += strspn(at, " \t")); n++) {
		size_t length = strcspn(at, " \t\r");

		if (length == 2 && strncmp(at, "fb", 2) == 0) {
			columns.used = n;
		}
		at += length;
	}
	log->columns = columns;
	return true;
}

static bool monitor_row(struct log *log, const char *line)
{
	uint64_t values[2] = { 0, 0 };
	const char *at = line;
	int seen = 0;

	if (log->columns.csv || log->columns.used <= 0 || line[0] == '#') {
		return false;
	}
	for (int n = 0; *(at += strspn(at, " \t\r")) && n <= log->columns.used; n++) {
		size_t length = strcspn(at, " \t\r"), digits = strspn(at, "0123456789");

		if (n == 0 || n == log->columns.used) {
			if (digits != length || digits > 12) {
				return false;
			}
			for (size_t i = 0; i < digits; i++) {
				values[n != 0] = values[n != 0] * 10 + (uint64_t)(at[i] - '0');
			}
			seen++;
		}
		at += length;
	}
	if (seen != 2) {
		return false;
	}
	reading(log, (uint32_t)(values[0] % LOG_MAX_GPUS), values[1] * log->columns.unit, 0);
	return true;
}

bool log_smi_csv(struct log *log, const char *line)
{
	return csv_header(log, line) || monitor_header(log, line) || csv_row(log, line) ||
	       csv_bare(log, line) || monitor_row(log, line);
}
