/*
 * Reads what people have at hand when memory ran out: error messages, memory summaries, nvidia-smi
 * readings, engines' logs, in any mixture and with anything between them. A stream of any length is
 * read in constant memory.
 *
 * What to look for are phrases, one table per subject (log_torch.c, log_engine.c, log_settings.c,
 * log_smi.c, startup_*.c). A line is searched for all of them at once; each that is found changes
 * the evidence.
 */
#ifndef VC_LOG_H
#define VC_LOG_H

#include "log_json.h"
#include "startup.h"
#include "vramcalc/vramcalc.h"

#include <stdio.h>

enum {
	LOG_MAX_GPUS = 32,
	LOG_MAX_LINE = 16384,   /* what is longer is read as several lines */
	LOG_MAX_MESSAGE = 4096, /* of one message over several lines */
	LOG_MESSAGE_LINES = 12, /* behind its first */
	LOG_MAX_PREFIX = 128,
	LOG_LEAST_WRAPPED = 60, /* no console that wraps lines is narrower */
	LOG_SEAM = 80,          /* of a line, to find phrases that go on in the next */
	LOG_MAX_PHRASES = 400,
	LOG_MOST_ZEROS = 1 << 26, /* in a row: more than a crash leaves in a log, a device's */
	LOG_UNITLESS = 1000       /* the key of readings without unit, below those of names */
};

struct log;
struct log_phrase;

/* A phrase that was found. */
struct log_hit {
	const struct log_phrase *phrase;
	const char *line;   /* the whole line, or the message where the phrase collects one */
	const char *at;     /* the phrase in it */
	const char *behind; /* and its end */
};

typedef void log_reader(struct log *log, const struct log_hit *hit);

/* What a phrase says of a failure. */
enum log_event {
	LOG_NO_EVENT,
	LOG_FAILED,       /* an allocation on the GPU failed */
	LOG_REFUSED,      /* no room for a cache of the wanted size: it would never have fitted */
	LOG_OCCUPIED,     /* less is free at the start than the engine was told to take */
	LOG_MASKED,       /* a library failed, as it does when memory is short */
	LOG_BUFFER_LIMIT, /* one buffer is larger than the driver allows */
	LOG_RETRIED,      /* what failed was tried again in another way */
	LOG_HOST,         /* the host's memory ended */
	LOG_HOST_HINT,    /* a process was killed, as it is when the host's memory ends */
	LOG_SHARED,       /* the host's shared memory ended */
	LOG_ON_CHIP,      /* not VRAM, whatever the wording */
	LOG_POOL          /* requests fill the engine's own cache */
};

struct log_phrase {
	const char *text;
	enum vc_software software;
	enum log_event event;
	enum vc_stage stage;
	uint32_t member;  /* of vc_evidence: the amount behind the phrase, of the first failure */
	log_reader *read; /* NULL: the members above say it all */
	bool collects;    /* the message may go on for some lines: read() gets all of it */
	uint32_t applied; /* a setting: enum vc_applied, and the value with which it is on */
	const char *value;
};

/* What stands before the amount in PyTorch's messages. */
extern const char log_request[];

struct log_phrases {
	const struct log_phrase *rows;
	size_t count;
};
extern const struct log_phrases log_torch_phrases, log_engine_phrases, log_setting_phrases,
        log_smi_phrases, log_vllm_phrases, log_sglang_phrases, log_llamacpp_phrases,
        log_server_phrases;

/* Readings of one GPU, or of one process on it, in the order in which they came. */
struct log_gpu {
	bool seen;
	uint32_t key;
	uint64_t total_bytes, used_bytes;
	struct vc_series used;
};

/* Columns of the table or CSV that is being read; -1: not there. */
struct log_columns {
	bool csv, monitor;
	int gpu, process, used, total, free;
};

/* Phrases by their first two characters. */
struct log_index {
	uint8_t pairs[65536 / 8];
	int16_t first[256], next[LOG_MAX_PHRASES];
	const struct log_phrase *phrases[LOG_MAX_PHRASES];
	size_t lengths[LOG_MAX_PHRASES];
	int16_t count;
};

struct log {
	struct vc_evidence evidence;
	uint64_t lines, recognized;
	struct log_gpu gpus[LOG_MAX_GPUS];
	/* from summaries and statistics, in the order in which they came */
	struct vc_series allocated, peak, reserved;
	char gpu_name[64]; /* of the first GPU that is named; "" where none is */
	struct startup startup;
	bool pickle; /* a memory snapshot as Python writes it, which only Python reads */
	/* private to the reader */
	struct log_index index;
	struct log_json json;
	struct log_columns columns;
	char tail[LOG_SEAM + 1]; /* the end of the line before; "" where it was short */
	uint32_t table_gpu;
	bool message_done; /* the first failure speaks; its repetitions on other ranks do not */
	bool host_certain;
	bool names_own_process; /* "this process has ..." was said */
	uint64_t named_processes_bytes, largest_named_bytes;
	struct {
		const struct log_phrase *phrase;
		uint64_t started; /* the line */
		size_t length;
		unsigned lines_left;
		char first[LOG_MAX_PREFIX]; /* how its first line begins */
		char text[LOG_MAX_MESSAGE];
	} message;
	struct {
		uint64_t bytes; /* of the first two */
		uint64_t zeros; /* NUL bytes in a row */
		bool escaped;   /* behind a backslash */
		unsigned skipped;
		enum {
			LOG_TEXT,
			LOG_ESCAPE,
			LOG_CONTROL,
			LOG_COMMAND
		} state;
		size_t length;
		char line[LOG_MAX_LINE];
	} text;
};

void log_open(struct log *log);
/* The next bytes of the log, cut anywhere. */
void log_feed(struct log *log, const char *bytes, size_t size);
/* The last line, trends, and what follows from several lines. Call once, at the end. */
void log_finish(struct log *log);

/* All of a stream. False on a read error, or where it is zeros without end. */
bool log_read(struct log *log, FILE *in);

/* ---- For the tables ------------------------------------------------------------------------ */

/* One line without its end. */
void log_line(struct log *log, const char *line);
/* Rows of CSV and of monitors, which no phrase marks. */
void log_smi_row(struct log *log, const char *line);
/* Sets a member that is one bit of vc_evidence_known, unless a failure has set it. */
void log_know(struct log *log, uint32_t member, uint64_t bytes);
/* The first GPU that a log names; what is too long is none. */
void log_name_gpu(struct log *log, const char *name, size_t length);

/* "2.26 GiB", "781.59 MiB", "0 bytes", "8,000 bytes", "5.6G"; *end is behind it. */
bool log_amount(const char *text, uint64_t *bytes, const char **end);
/* The same, or digits without a unit, which are bytes. */
bool log_bytes(const char *text, uint64_t *bytes);
/* The amount that ends at `where` in the line. */
bool log_amount_ending(const char *line, const char *where, uint64_t *bytes);
/* The amount that ends where `phrase` begins: "3.03 GiB free". */
bool log_amount_before(const char *line, const char *phrase, uint64_t *bytes);
/* The amount behind the first occurrence of `phrase`. */
bool log_amount_after(const char *line, const char *phrase, uint64_t *bytes);

/* Digits alone, up to 18; false where there are none. */
bool log_count(const char *text, uint64_t *value);
/* "0.9" in thousandths; 0 when it is no share. */
uint64_t log_permille(const char *text);

#endif
