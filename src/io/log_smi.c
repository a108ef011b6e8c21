/*
 * nvidia-smi: the default table ("| 12345MiB / 24576MiB |"), CSV queries with or without units, and
 * the columns of dmon and pmon; rocm-smi's memory. Each line is a reading of one GPU, or of one
 * process on it.
 */
#include "log.h"

#include <ctype.h>
#include <string.h>

/* The series of a key; NULL when there are more than there is room for. */
static struct log_gpu *series_of(struct log *log, uint32_t key)
{
	for (size_t i = 0; i < LOG_MAX_GPUS; i++) {
		struct log_gpu *gpu = &log->gpus[i];

		if (!gpu->seen || gpu->key == key) {
			gpu->seen = true;
			gpu->key = key;
			return gpu;
		}
	}
	return NULL;
}

static void reading(struct log *log, uint32_t key, uint64_t used, uint64_t total)
{
	bool sane = used <= 1ull << 50 && total <= 1ull << 50;
	struct log_gpu *gpu = sane ? series_of(log, key) : NULL;

	if (!gpu) {
		return;
	}
	gpu->used_bytes = used;
	if (total) {
		gpu->total_bytes = total;
	}
	vc_series_add(&gpu->used, used);
	if (key == LOG_UNITLESS) {
		return; /* any column of numbers looks so */
	}
	log->recognized++;
	if (log->evidence.software < VC_SOFTWARE_NVIDIA_SMI) {
		log->evidence.software = VC_SOFTWARE_NVIDIA_SMI;
	}
}

/* A name or a number as a key; numbers below 1000 are themselves. */
static uint32_t key_of(const char *text, size_t length)
{
	uint32_t hash = 2166136261u;
	uint64_t number;

	if (length < 4 && log_count(text, &number) && strspn(text, "0123456789") == length) {
		return (uint32_t)number;
	}
	for (size_t i = 0; i < length; i++) {
		hash = (hash ^ (unsigned char)text[i]) * 16777619u;
	}
	return hash | 1024;
}

/* ---- The table ----------------------------------------------------------------------------- */

/* "NVIDIA A100-SXM4-80GB          On  | ...": up to two blanks, a bar, or what follows in a shorter
 * column. */
static void keep_name(struct log *log, const char *name)
{
	static const char *const ends[] = { "  ", " |", " On ", " Off " };
	size_t length = strnlen(name, sizeof log->gpu_name - 1);

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		const char *end = strstr(name, ends[i]);

		length = end && (size_t)(end - name) < length ? (size_t)(end - name) : length;
	}
	log_name_gpu(log, name, length);
}

/* A GPU takes two lines or three; the first starts with its index, another holds its memory. */
static void read_table_name(struct log *log, const struct log_hit *hit)
{
	const char *bar = strchr(hit->line, '|');
	uint64_t index;

	if (bar && bar < hit->at && log_count(bar + 1 + strspn(bar + 1, " "), &index)) {
		log->table_gpu = (uint32_t)(index % 1000);
		keep_name(log, hit->at);
	}
}

static void read_table(struct log *log, const struct log_hit *hit)
{
	uint64_t used, total;
	const char *end;

	if (log_amount_ending(hit->line, hit->at + strlen("MiB"), &used) &&
	    log_amount(hit->behind + strspn(hit->behind, " "), &total, &end)) {
		reading(log, log->table_gpu, used, total);
	}
}

/* rocm-smi --showmeminfo vram: "GPU[0]		: VRAM Total Used Memory (B): 123" */
static void read_rocm(struct log *log, const struct log_hit *hit)
{
	const char *bracket = strchr(hit->line, '[');
	uint64_t index = 0, bytes;

	if (bracket) {
		log_count(bracket + 1, &index);
	}
	if (!log_count(hit->behind + strspn(hit->behind, " "), &bytes)) {
		return;
	}
	if (strstr(hit->phrase->text, "Used")) {
		reading(log, (uint32_t)(index % 1000), bytes, 0);
	} else {
		struct log_gpu *gpu = series_of(log, (uint32_t)(index % 1000));

		if (gpu) {
			gpu->total_bytes = bytes;
		}
	}
}

/* ---- CSV ----------------------------------------------------------------------------------- */

/* Cell number `wanted` of a line, as a range; false past the end. */
static bool cell(const char *line, int wanted, const char **begin, size_t *length)
{
	for (int n = 0; n < wanted; n++) {
		line = strchr(line, ',');
		if (!line) {
			return false;
		}
		line++;
	}
	line += strspn(line, " \t");
	*begin = line;
	*length = strcspn(line, ",");
	return *length > 0;
}

/* In the first cell what a collector of logs puts before the line stands as well. */
static void last_word(const char **begin, size_t *length)
{
	while (*length && (*begin)[*length - 1] == ' ') {
		(*length)--;
	}
	for (size_t i = *length; i > 0; i--) {
		if ((*begin)[i - 1] == ' ') {
			*begin += i;
			*length -= i;
			return;
		}
	}
}

static bool starts(const char *text, size_t length, const char *word)
{
	return length >= strlen(word) && strncmp(text, word, strlen(word)) == 0;
}

/* "timestamp, index, memory.used [MiB], memory.total [MiB]" */
static void read_csv_header(struct log *log, const struct log_hit *hit)
{
	struct log_columns columns = { true, false, -1, -1, -1, -1, -1 };
	const char *begin;
	size_t length;

	for (int n = 0; cell(hit->line, n, &begin, &length); n++) {
		if (n == 0) {
			last_word(&begin, &length);
		}
		if (starts(begin, length, "index") || starts(begin, length, "uuid") ||
		    starts(begin, length, "gpu_uuid") || starts(begin, length, "pci.bus_id") ||
		    starts(begin, length, "gpu_bus_id")) {
			columns.gpu = n;
		} else if (starts(begin, length, "pid")) {
			columns.process = n;
		} else if (starts(begin, length, "memory.used") ||
		           starts(begin, length, "used_gpu_memory") ||
		           starts(begin, length, "used_memory")) {
			columns.used = n;
		} else if (starts(begin, length, "memory.total")) {
			columns.total = n;
		} else if (starts(begin, length, "memory.free")) {
			columns.free = n;
		}
	}
	if (columns.used >= 0 || columns.free >= 0) {
		log->columns = columns;
	}
}

/* Without a unit, as --format=csv,nounits prints them, numbers are MiB. */
static bool number_cell(const char *line, int column, uint64_t *bytes)
{
	const char *begin, *end;
	size_t length;

	if (column < 0 || !cell(line, column, &begin, &length)) {
		return false;
	}
	if (column == 0) {
		last_word(&begin, &length);
	}
	if (log_amount(begin, bytes, &end)) {
		return true;
	}
	if (!log_count(begin, bytes) || *bytes > 1u << 30) {
		return false;
	}
	*bytes <<= 20;
	return true;
}

static uint32_t key_cell(const char *line, int column)
{
	const char *begin;
	size_t length;

	if (column < 0 || !cell(line, column, &begin, &length)) {
		return 0;
	}
	last_word(&begin, &length);
	return key_of(begin, length);
}

static void csv_row(struct log *log, const char *line)
{
	const struct log_columns *columns = &log->columns;
	uint32_t key = key_cell(line, columns->gpu) + key_cell(line, columns->process) * 31;
	uint64_t used, total = 0, free_bytes;

	number_cell(line, columns->total, &total);
	if (number_cell(line, columns->used, &used)) {
		reading(log, key, used, total);
	} else if (number_cell(line, columns->free, &free_bytes) && total >= free_bytes) {
		reading(log, key, total - free_bytes, total);
	}
}

/* "1234 MiB, 24576 MiB": a query without a header is taken as used and total. */
static void read_bare_row(struct log *log, const struct log_hit *hit)
{
	uint64_t used, total;
	const char *end;

	if (log->columns.csv || log->columns.monitor ||
	    !log_amount_ending(hit->line, hit->at + strlen(" MiB"), &used) ||
	    !log_amount(hit->behind, &total, &end) || *end != '\0' || used > total) {
		return;
	}
	reading(log, 0, used, total);
}

/* ---- dmon and pmon ------------------------------------------------------------------------- */

/* "# gpu  sm  mem  enc  dec  fb  bar1", with or without "#Date Time" before; MB of 2^20 bytes. */
static void read_monitor_header(struct log *log, const struct log_hit *hit)
{
	struct log_columns columns = { false, true, -1, -1, -1, -1, -1 };
	const char *at = strchr(hit->line, '#');

	if (!at) {
		return;
	}
	at++;
	for (int n = 0; *(at += strspn(at, " \t")); n++) {
		size_t length = strcspn(at, " \t");

		if (length == 3 && starts(at, length, "gpu")) {
			columns.gpu = n;
		} else if (length == 3 && starts(at, length, "pid")) {
			columns.process = n;
		} else if (length == 2 && starts(at, length, "fb")) {
			columns.used = n;
		}
		at += length;
	}
	if (columns.gpu >= 0 && columns.used >= 0) {
		log->columns = columns;
	}
}

static void monitor_row(struct log *log, const char *line)
{
	const struct log_columns *columns = &log->columns;
	uint64_t used = 0;
	uint32_t key = 0;
	bool complete = false;

	for (int n = 0; *(line += strspn(line, " \t")) && n <= columns->used; n++) {
		size_t length = strcspn(line, " \t");

		if (n == columns->gpu) {
			key += key_of(line, length);
		} else if (n == columns->process) {
			key += key_of(line, length) * 31;
		} else if (n == columns->used) {
			complete = log_count(line, &used) && used < 1u << 30 &&
			           strspn(line, "0123456789") == length;
		}
		line += length;
	}
	if (complete) {
		reading(log, key, used << 20, 0);
	}
}

/*
 * "12345 MiB" or "12345" alone: a query of memory.used without header; with ", 24576" behind it
 * the total. What has no unit is MiB, and counts only where nothing else is read.
 */
static void plain_row(struct log *log, const char *at)
{
	size_t digits = strspn(at, "0123456789.");
	uint64_t used, total = 0;
	const char *end = at + digits;
	bool unit = log_amount(at, &used, &end);

	if (!unit && (!log_count(at, &used) || used > 1u << 24 || at[digits - 1] == '.')) {
		return;
	}
	if (*end == ',') {
		const char *second = end + 1 + strspn(end + 1, " ");

		end = second + strspn(second, "0123456789");
		if (unit || !log_count(second, &total) || used > total || total > 1u << 24) {
			return;
		}
	}
	if (end[strspn(end, " ")] == '\0') {
		reading(log, unit ? 0 : LOG_UNITLESS, unit ? used : used << 20, total << 20);
	}
}

void log_smi_row(struct log *log, const char *line)
{
	const char *at = line + strspn(line, " ");

	if (!isdigit((unsigned char)*at)) {
		/* a row of CSV may begin with a GPU's name or number of its own */
		if (log->columns.csv && strncmp(at, "GPU-", 4) == 0) {
			csv_row(log, at);
		}
	} else if (log->columns.csv) {
		csv_row(log, at);
	} else if (log->columns.monitor) {
		monitor_row(log, at);
	} else {
		plain_row(log, at);
	}
}

static const struct log_phrase phrases[] = {
	{ "NVIDIA ", .read = read_table_name },
	{ "Tesla ", .read = read_table_name },
	{ "GeForce ", .read = read_table_name },
	{ "Quadro ", .read = read_table_name },
	{ "MiB /", .read = read_table },
	{ "MiB/", .read = read_table },
	{ "VRAM Total Memory (B):", .read = read_rocm },
	{ "VRAM Total Used Memory (B):", .read = read_rocm },
	{ "memory.used", .read = read_csv_header },
	{ "memory.free", .read = read_csv_header },
	{ "used_gpu_memory", .read = read_csv_header },
	{ "used_memory", .read = read_csv_header },
	{ " MiB, ", .read = read_bare_row },
	{ "# gpu", .read = read_monitor_header },
	{ "#Date ", .read = read_monitor_header },
	{ "#Time ", .read = read_monitor_header },
};

const struct log_phrases log_smi_phrases = { phrases, sizeof phrases / sizeof *phrases };
