/*
 * Reads what people have at hand when memory ran out: error messages, memory summaries, nvidia-smi
 * readings, engines' logs, in any mixture and with anything between them. A stream of any length is
 * read in constant memory.
 */
#ifndef VC_LOG_H
#define VC_LOG_H

#include "vramcalc/vramcalc.h"

#include <stdio.h>

enum {
	LOG_MAX_GPUS = 16,
	LOG_MAX_LINE = 16384 /* what is longer is cut */
};

/* Readings of one GPU, in the order in which they came. */
struct log_gpu {
	bool seen;
	uint64_t total_bytes, used_bytes;
	struct vc_series used;
};

/* Columns of the table or CSV that is being read; -1: not there. */
struct log_columns {
	bool csv;
	int index, used, total, free;
	uint64_t unit; /* of plain numbers: bytes each */
};

struct log {
	struct vc_evidence evidence;
	/* What the lines were recognized as, for the reader of the diagnosis: "PyTorch", ... */
	const char *kind;
	uint64_t lines, recognized;
	struct log_gpu gpus[LOG_MAX_GPUS];
	struct vc_series allocated; /* live tensors, from summaries and statistics */
	/* private to the reader */
	struct log_columns columns;
	uint32_t table_gpu;
	bool message_done; /* the first failure speaks; its repetitions on other ranks do not */
	bool names_own_process; /* "this process has ..." was said */
	uint64_t named_processes_bytes, largest_named_bytes;
};

/* Zero-initialize before the first line. `line` has no newline and ends in NUL. */
void log_line(struct log *log, const char *line);

/* Draws trends and what follows from several lines. Call once, at the end. */
void log_finish(struct log *log);

/* All lines of a stream; NUL bytes become blanks. False on a read error. */
bool log_read(struct log *log, FILE *in);

/* ---- Recognizers, for log.c: true when the line said something --------------------------------
 */

bool log_torch_message(struct log *log, const char *line);
bool log_torch_summary(struct log *log, const char *line);
bool log_engine_message(struct log *log, const char *line);
bool log_smi_table(struct log *log, const char *line);
bool log_smi_csv(struct log *log, const char *line);

/* "2.26 GiB", "781.59 MiB", "0 bytes", "17179869184.00 GiB" at `text`; *end is behind it. */
bool log_amount(const char *text, uint64_t *bytes, const char **end);
/* The amount that ends at `where` in the line. */
bool log_amount_ending(const char *line, const char *where, uint64_t *bytes);
/* The amount that ends where `phrase` begins: "3.03 GiB free". */
bool log_amount_before(const char *line, const char *phrase, uint64_t *bytes);
/* The amount behind the first occurrence of `phrase`. */
bool log_amount_after(const char *line, const char *phrase, uint64_t *bytes);
void log_know(struct log *log, uint32_t member, uint64_t *at, uint64_t bytes);

#endif
