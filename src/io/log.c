#include "log.h"

#include <string.h>

/* ---- Which phrases a line holds ------------------------------------------------------------ */

static unsigned pair_of(const char *text)
{
	return (unsigned)(unsigned char)text[0] << 8 | (unsigned char)text[1];
}

static unsigned bucket_of(unsigned pair)
{
	return (pair ^ pair >> 5) & 255;
}

static void add_phrases(struct log_index *index, const struct log_phrases *phrases)
{
	for (size_t i = 0; i < phrases->count && index->count < LOG_MAX_PHRASES; i++) {
		unsigned pair = pair_of(phrases->rows[i].text);
		int16_t *first = &index->first[bucket_of(pair)];

		index->pairs[pair >> 3] |= (uint8_t)(1u << (pair & 7));
		index->phrases[index->count] = &phrases->rows[i];
		index->lengths[index->count] = strlen(phrases->rows[i].text);
		index->next[index->count] = *first;
		*first = index->count++;
	}
}

void log_open(struct log *log)
{
	memset(log, 0, sizeof *log);
	memset(log->index.first, -1, sizeof log->index.first);
	log->columns = (struct log_columns){ false, false, -1, -1, -1, -1, -1 };
	add_phrases(&log->index, &log_torch_phrases);
	add_phrases(&log->index, &log_engine_phrases);
	add_phrases(&log->index, &log_setting_phrases);
	add_phrases(&log->index, &log_smi_phrases);
	add_phrases(&log->index, &log_vllm_phrases);
	add_phrases(&log->index, &log_sglang_phrases);
	add_phrases(&log->index, &log_llamacpp_phrases);
	add_phrases(&log->index, &log_server_phrases);
}

/* ---- What they say ------------------------------------------------------------------------- */

static uint64_t *member_of(struct vc_evidence *evidence, uint32_t member)
{
	switch (member) {
	case VC_KNOWS_TOTAL:
		return &evidence->total_bytes;
	case VC_KNOWS_REQUESTED:
		return &evidence->requested_bytes;
	case VC_KNOWS_ALLOCATED:
		return &evidence->allocated_bytes;
	case VC_KNOWS_RESERVED:
		return &evidence->reserved_bytes;
	case VC_KNOWS_FREE:
		return &evidence->free_bytes;
	case VC_KNOWS_PROCESS:
		return &evidence->process_bytes;
	case VC_KNOWS_OTHERS:
		return &evidence->other_processes_bytes;
	case VC_KNOWS_LIMIT:
		return &evidence->limit_bytes;
	case VC_KNOWS_START_FREE:
		return &evidence->start_free_bytes;
	case VC_KNOWS_PEAK:
		return &evidence->peak_bytes;
	default:
		return &evidence->used_bytes;
	}
}

void log_know(struct log *log, uint32_t member, uint64_t bytes)
{
	/* What a program holds changes until it fails; the rest is said once. */
	const uint32_t changing = VC_KNOWS_ALLOCATED | VC_KNOWS_RESERVED | VC_KNOWS_PEAK;

	if (log->message_done || ((log->evidence.known & member) && !(member & changing))) {
		return;
	}
	log->evidence.known |= member;
	*member_of(&log->evidence, member) = bytes;
}

void log_name_gpu(struct log *log, const char *name, size_t length)
{
	if (!*log->gpu_name && length < sizeof log->gpu_name) {
		memcpy(log->gpu_name, name, length);
		log->gpu_name[length] = '\0';
	}
}

static void host_ran_out(struct log *log, enum vc_memory memory, bool certain)
{
	struct vc_evidence *evidence = &log->evidence;
	bool told = (evidence->known & VC_KNOWS_REQUESTED) || log->message.phrase;

	/* A failure on the GPU without figures may be the other's echo. */
	if (certain && !log->host_certain && !(evidence->out_of_memory && told)) {
		evidence->memory = memory;
		log->host_certain = true;
	} else if (!certain && !log->host_certain && !evidence->out_of_memory &&
	           !evidence->refused_at_start) {
		evidence->memory = memory;
		evidence->masked = true;
	}
}

static void forget_failure(struct log *log)
{
	log->evidence.out_of_memory = false;
	log->evidence.stage = VC_STAGE_UNKNOWN;
	log->evidence.known &= ~(uint32_t)VC_KNOWS_REQUESTED;
}

static void happen(struct log *log, enum log_event event)
{
	struct vc_evidence *evidence = &log->evidence;

	switch (event) {
	case LOG_NO_EVENT:
		break;
	case LOG_FAILED:
		evidence->out_of_memory = true;
		break;
	case LOG_REFUSED:
		evidence->refused_at_start = true;
		break;
	case LOG_OCCUPIED:
		evidence->occupied = true;
		break;
	case LOG_MASKED:
		evidence->masked = true;
		break;
	case LOG_BUFFER_LIMIT:
		evidence->buffer_limited = true;
		break;
	case LOG_RETRIED:
		forget_failure(log);
		break;
	case LOG_HOST:
	case LOG_HOST_HINT:
		host_ran_out(log, VC_MEMORY_HOST, event == LOG_HOST);
		break;
	case LOG_SHARED:
		host_ran_out(log, VC_MEMORY_SHARED, true);
		break;
	case LOG_ON_CHIP:
		host_ran_out(log, VC_MEMORY_ON_CHIP, true);
		break;
	case LOG_POOL:
		host_ran_out(log, VC_MEMORY_POOL, true);
		break;
	}
}

/* ---- Messages over several lines ----------------------------------------------------------- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* What a collector puts before every line alike, but for the digits of times and numbers. */
static const char *past_common(const char *line, const char *first)
{
	const char *word = line;

	for (size_t i = 0; first[i] && line[i]; i++) {
		if (first[i] != line[i] && !(is_digit(first[i]) && is_digit(line[i]))) {
			break;
		}
		if (line[i] == ' ') {
			word = line + i + 1;
		}
	}
	return word;
}

/* What stands before a continued line: the same, a quotation's or a frame's mark. */
static const char *past_prefix(const char *line, const char *first)
{
	line = past_common(line, first);
	for (;;) {
		line += strspn(line, " \t>|");
		if (strncmp(line, "│", strlen("│")) != 0) {
			return line;
		}
		line += strlen("│");
	}
}

static void append(struct log *log, const char *text)
{
	size_t room = sizeof log->message.text - log->message.length - 1;
	size_t length = strnlen(text, room);

	memcpy(log->message.text + log->message.length, text, length);
	log->message.length += length;
	log->message.text[log->message.length] = '\0';
}

static void end_message(struct log *log)
{
	const struct log_phrase *phrase = log->message.phrase;
	const char *text = log->message.text;

	if (phrase) {
		log->message.phrase = NULL;
		phrase->read(log,
		             &(struct log_hit){ phrase, text, text, text + strlen(phrase->text) });
	}
}

static void start_message(struct log *log, const struct log_hit *hit)
{
	bool same_line = log->message.phrase && log->message.started == log->lines;
	/* "out of memory" on one line and its request on the next are one message. */
	bool same = log->message.phrase && strcmp(hit->phrase->text, log_request) == 0 &&
	            !strstr(log->message.text, log_request);

	if (log->message_done || same_line || same) {
		return;
	}
	end_message(log);
	log->message.phrase = hit->phrase;
	log->message.started = log->lines;
	log->message.lines_left = LOG_MESSAGE_LINES;
	log->message.length = 0;
	snprintf(log->message.first, sizeof log->message.first, "%s", hit->line);
	append(log, hit->at);
}

static void continue_message(struct log *log, const char *line)
{
	if (log->message.phrase && log->message.started != log->lines) {
		append(log, " ");
		append(log, past_prefix(line, log->message.first));
		if (--log->message.lines_left == 0) {
			end_message(log);
		}
	}
}

/* ---- Lines --------------------------------------------------------------------------------- */

static void apply(struct log *log, const struct log_hit *hit)
{
	const struct log_phrase *phrase = hit->phrase;
	uint64_t bytes;

	if (phrase->software > log->evidence.software) {
		log->evidence.software = phrase->software;
	}
	if (phrase->stage > log->evidence.stage && !log->message_done) {
		log->evidence.stage = phrase->stage;
	}
	happen(log, phrase->event);
	log->recognized += phrase->event != LOG_NO_EVENT;
	if (phrase->member && log_bytes(hit->behind + strspn(hit->behind, " :="), &bytes)) {
		log_know(log, phrase->member, bytes);
	}
	if (phrase->collects) {
		start_message(log, hit);
	} else if (phrase->read) {
		phrase->read(log, hit);
	}
}

/* The phrase of this bucket at `at`, behind those before `i`; -1: none. */
static int phrase_at(const struct log_index *index, int i, const char *at)
{
	while (i >= 0 && strncmp(at, index->phrases[i]->text, index->lengths[i]) != 0) {
		i = index->next[i];
	}
	return i;
}

static int first_phrase_at(const struct log_index *index, const char *at)
{
	unsigned pair = pair_of(at);

	return index->pairs[pair >> 3] & 1u << (pair & 7)
	               ? phrase_at(index, index->first[bucket_of(pair)], at)
	               : -1;
}

static void find_phrases(struct log *log, const char *line)
{
	const struct log_index *index = &log->index;

	for (const char *at = line; at[0] && at[1]; at++) {
		for (int i = first_phrase_at(index, at); i >= 0;
		     i = phrase_at(index, index->next[i], at)) {
			apply(log, &(struct log_hit){ index->phrases[i], line, at,
			                              at + index->lengths[i] });
		}
	}
}

/* A phrase may begin in a line that a console has wrapped, and end in the next. */
static void find_across(struct log *log, const char *line)
{
	const struct log_index *index = &log->index;
	size_t tail = strlen(log->tail);
	char seam[LOG_SEAM + LOG_MAX_MESSAGE];

	if (tail == 0) {
		return;
	}
	line = past_prefix(line, "");
	snprintf(seam, sizeof seam, "%s %.*s", log->tail, LOG_SEAM, line);
	for (const char *at = seam; at < seam + tail; at++) {
		for (int i = first_phrase_at(index, at); i >= 0;
		     i = phrase_at(index, index->next[i], at)) {
			const char *behind = at + index->lengths[i];

			if (behind > seam + tail) {
				snprintf(seam + tail + 1, sizeof seam - tail - 1, "%s", line);
				apply(log,
				      &(struct log_hit){ index->phrases[i], seam, at, behind });
			}
		}
	}
}

static void keep_tail(struct log *log, const char *line)
{
	size_t length = strlen(line);

	while (length > 0 && line[length - 1] == ' ') {
		length--;
	}
	log->tail[0] = '\0';
	if (length >= LOG_LEAST_WRAPPED) {
		size_t kept = length < LOG_SEAM ? length : LOG_SEAM;

		memcpy(log->tail, line + length - kept, kept);
		log->tail[kept] = '\0';
	}
}

void log_line(struct log *log, const char *line)
{
	log->lines++;
	find_across(log, line);
	find_phrases(log, line);
	log_smi_row(log, line);
	continue_message(log, line);
	keep_tail(log, line);
}

/* ---- The whole ----------------------------------------------------------------------------- */

bool log_read(struct log *log, FILE *in)
{
	static const size_t block = 1 << 16;
	char bytes[1 << 16];
	size_t size;

	/* A line that is typed or trickles in is read when it comes; memory stays what it is. */
	while (log->text.zeros < LOG_MOST_ZEROS && (size = fread(bytes, 1, block, in)) > 0) {
		log_feed(log, bytes, size);
	}
	return !ferror(in) && log->text.zeros < LOG_MOST_ZEROS;
}

/* The GPU whose readings say most: the one that rises, else the fullest. */
static const struct log_gpu *telling_gpu(const struct log *log)
{
	const struct log_gpu *best = NULL;
	bool best_rises = false;

	for (size_t i = 0; i < LOG_MAX_GPUS; i++) {
		const struct log_gpu *gpu = &log->gpus[i];
		bool rises;

		if (!gpu->seen || (gpu->key == LOG_UNITLESS &&
		                   (log->recognized || gpu->used.count < VC_TREND_LEAST_SAMPLES))) {
			continue;
		}
		rises = vc_series_trend(&gpu->used).kind == VC_TREND_RISING;
		if (!best || (rises && !best_rises) ||
		    (rises == best_rises && gpu->used_bytes > best->used_bytes)) {
			best = gpu;
			best_rises = rises;
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
		evidence->known |= VC_KNOWS_PROCESS;
		evidence->process_bytes = log->largest_named_bytes;
	}
	evidence->known |= VC_KNOWS_OTHERS;
	evidence->other_processes_bytes = others;
}

static void tell_gpu(struct log *log)
{
	struct vc_evidence *evidence = &log->evidence;
	const struct log_gpu *gpu = telling_gpu(log);

	if (!gpu) {
		return;
	}
	evidence->used = vc_series_trend(&gpu->used);
	evidence->used_samples = gpu->used.count;
	evidence->used_bytes = gpu->used_bytes;
	evidence->known |= VC_KNOWS_USED;
	if (!(evidence->known & VC_KNOWS_TOTAL) && gpu->total_bytes) {
		evidence->known |= VC_KNOWS_TOTAL;
		evidence->total_bytes = gpu->total_bytes;
	}
	/* What is free after a failure was not free before it. */
	if (!evidence->out_of_memory && !(evidence->known & VC_KNOWS_FREE) &&
	    gpu->total_bytes >= gpu->used_bytes && gpu->total_bytes) {
		evidence->known |= VC_KNOWS_FREE;
		evidence->free_bytes = gpu->total_bytes - gpu->used_bytes;
	}
}

void log_finish(struct log *log)
{
	struct vc_evidence *evidence = &log->evidence;

	log_feed(log, "\n", 1);
	end_message(log);
	log_json_finish(log);
	startup_finish(&log->startup);
	tell_own_process(log);
	evidence->allocated = vc_series_trend(&log->allocated);
	evidence->peak = vc_series_trend(&log->peak);
	evidence->reserved = vc_series_trend(&log->reserved);
	tell_gpu(log);
}
