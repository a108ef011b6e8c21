#include "log.h"

#include <ctype.h>
#include <string.h>

static bool scaled(uint64_t whole, uint64_t fraction, uint64_t digits_scale, uint64_t unit,
                   uint64_t *bytes)
{
	/* Some drivers print absurd sizes (2^64 as GiB): they are held at the largest number. */
	uint64_t part =
	        unit / digits_scale * fraction + unit % digits_scale * fraction / digits_scale;

	*bytes = whole > (UINT64_MAX - part) / unit ? UINT64_MAX : whole * unit + part;
	return true;
}

bool log_amount(const char *text, uint64_t *bytes, const char **end)
{
	static const struct {
		const char *name;
		uint64_t bytes;
	} units[] = {
		{ "bytes", 1 },
		{ "byte", 1 },
		{ "KiB", 1024 },
		{ "MiB", 1048576 },
		{ "GiB", 1073741824 },
		{ "TiB", 1099511627776 },
		{ "KB", 1000 },
		{ "MB", 1000000 },
		{ "GB", 1000000000 },
		{ "TB", 1000000000000 },
		{ "B", 1 },
	};
	uint64_t whole = 0, fraction = 0, scale = 1;
	const char *at = text;

	if (!isdigit((unsigned char)*at)) {
		return false;
	}
	for (; isdigit((unsigned char)*at); at++) {
		whole = whole > UINT64_MAX / 10 - 1 ? UINT64_MAX / 10 - 1
		                                    : whole * 10 + (uint64_t)(*at - '0');
	}
	if (*at == '.') {
		for (at++; isdigit((unsigned char)*at); at++) {
			if (scale < 1000000) {
				fraction = fraction * 10 + (uint64_t)(*at - '0');
				scale *= 10;
			}
		}
	}
	while (*at == ' ') {
		at++;
	}
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		size_t length = strlen(units[i].name);

		if (strncmp(at, units[i].name, length) == 0 &&
		    !isalpha((unsigned char)at[length])) {
			*end = at + length;
			return scaled(whole, fraction, scale, units[i].bytes, bytes);
		}
	}
	return false;
}

bool log_amount_after(const char *line, const char *phrase, uint64_t *bytes)
{
	const char *at = strstr(line, phrase), *end;

	return at && log_amount(at + strlen(phrase), bytes, &end);
}

bool log_amount_ending(const char *line, const char *where, uint64_t *bytes)
{
	const char *end;

	/* An amount is a number, blanks and a unit: at most some thirty characters. */
	for (const char *at = where; at > line && where - at < 40;) {
		at--;
		if (isdigit((unsigned char)*at) &&
		    (at == line || !(isdigit((unsigned char)at[-1]) || at[-1] == '.'))) {
			return log_amount(at, bytes, &end) && end == where;
		}
	}
	return false;
}

bool log_amount_before(const char *line, const char *phrase, uint64_t *bytes)
{
	const char *where = strstr(line, phrase);

	return where && log_amount_ending(line, where, bytes);
}

void log_know(struct log *log, uint32_t member, uint64_t *at, uint64_t bytes)
{
	log->evidence.known |= member;
	*at = bytes;
}

void log_line(struct log *log, const char *line)
{
	static bool (*const recognizers[])(struct log *, const char *) = {
		log_torch_message, log_engine_message, log_torch_summary,
		log_smi_table,     log_smi_csv,
	};

	log->lines++;
	for (size_t i = 0; i < sizeof recognizers / sizeof *recognizers; i++) {
		if (recognizers[i](log, line)) {
			log->recognized++;
			return;
		}
	}
}

bool log_read(struct log *log, FILE *in)
{
	char line[LOG_MAX_LINE];
	size_t length = 0;
	int c;

	while ((c = getc(in)) != EOF) {
		if (c == '\n') {
			line[length] = '\0';
			log_line(log, line);
			length = 0;
		} else if (length + 1 < sizeof line) {
			line[length++] = c == '\0' ? ' ' : (char)c;
		}
	}
	if (length > 0) {
		line[length] = '\0';
		log_line(log, line);
	}
	return !ferror(in);
}

/* The GPU whose readings say most: the one that rises, else the fullest. */
static const struct log_gpu *telling_gpu(const struct log *log)
{
	const struct log_gpu *best = NULL;

	for (size_t i = 0; i < LOG_MAX_GPUS; i++) {
		const struct log_gpu *gpu = &log->gpus[i];
		bool rises;

		if (!gpu->seen) {
			continue;
		}
		rises = vc_series_trend(&gpu->used).kind == VC_TREND_RISING;
		if (!best || (rises && vc_series_trend(&best->used).kind != VC_TREND_RISING) ||
		    (gpu->used_bytes > best->used_bytes &&
		     vc_series_trend(&best->used).kind != VC_TREND_RISING)) {
			best = gpu;
		}
	}
	return best;
}

/* Inside a container the driver knows a process by another number, and the message names the
 * failing process itself as "Process N": it is the one that holds at least what was reserved. */
static void tell_own_process(struct log *log)
{
	struct vc_evidence *evidence = &log->evidence;
	uint64_t others = log->named_processes_bytes;

	if (others == 0) {
		return;
	}
	if (!log->names_own_process && (evidence->known & VC_KNOWS_RESERVED) &&
	    log->largest_named_bytes >= evidence->reserved_bytes) {
		others -= log->largest_named_bytes;
		log_know(log, VC_KNOWS_PROCESS, &evidence->process_bytes, log->largest_named_bytes);
	}
	log_know(log, VC_KNOWS_OTHERS, &evidence->other_processes_bytes, others);
}

void log_finish(struct log *log)
{
	struct vc_evidence *evidence = &log->evidence;
	const struct log_gpu *gpu = telling_gpu(log);

	tell_own_process(log);
	evidence->allocated = vc_series_trend(&log->allocated);
	if (!gpu) {
		return;
	}
	evidence->used = vc_series_trend(&gpu->used);
	if (!(evidence->known & VC_KNOWS_TOTAL) && gpu->total_bytes) {
		log_know(log, VC_KNOWS_TOTAL, &evidence->total_bytes, gpu->total_bytes);
	}
	if (!(evidence->known & VC_KNOWS_FREE) && gpu->total_bytes >= gpu->used_bytes &&
	    gpu->total_bytes) {
		log_know(log, VC_KNOWS_FREE, &evidence->free_bytes,
		         gpu->total_bytes - gpu->used_bytes);
	}
}
