/*
 * PyTorch's words: the out-of-memory message in its generations, torch.cuda.memory_summary() as a
 * table, torch.cuda.memory_stats() and memory snapshots as JSON. Wordings: CUDACachingAllocator.cpp
 * and torch/cuda/memory.py in github.com/pytorch/pytorch, from 1.0 to 2.9.
 */
#include "log.h"

#include <string.h>

static bool is_failure(const char *line)
{
	static const char *const words[] = {
		"CUDA out of memory", "HIP out of memory",         "XPU out of memory",
		"OutOfMemoryError",   "MPS backend out of memory",
	};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if (strstr(line, words[i])) {
			return true;
		}
	}
	return false;
}

/* The setting itself, not the message's advice to try it. */
static void read_settings(struct log *log, const char *line)
{
	const char *at = line;

	while ((at = strstr(at, "expandable_segments:True"))) {
		const char *advice = strstr(line, "try setting ");

		if (!advice || at < advice || at - advice > 60) {
			log->evidence.expandable_segments = true;
		}
		at++;
	}
}

static void read_total(struct log *log, const char *line)
{
	struct vc_evidence *evidence = &log->evidence;
	uint64_t bytes;

	/* "capacty" is how 2.1 and 2.2 spelt it */
	if (log_amount_before(line, " total capacity", &bytes) ||
	    log_amount_after(line, "total capacity of ", &bytes) ||
	    log_amount_after(line, "total capacty of ", &bytes)) {
		log_know(log, VC_KNOWS_TOTAL, &evidence->total_bytes, bytes);
	}
	if (log_amount_after(line, "of which ", &bytes) ||
	    log_amount_before(line, " free;", &bytes)) {
		log_know(log, VC_KNOWS_FREE, &evidence->free_bytes, bytes);
	}
	/* torch.cuda.set_per_process_memory_fraction */
	if (log_amount_before(line, " allowed", &bytes)) {
		evidence->memory_limited = true;
	}
}

static void read_held(struct log *log, const char *line)
{
	struct vc_evidence *evidence = &log->evidence;
	uint64_t bytes;

	if (log_amount_before(line, " already allocated", &bytes) ||
	    log_amount_before(line, " is allocated by PyTorch", &bytes)) {
		log_know(log, VC_KNOWS_ALLOCATED, &evidence->allocated_bytes, bytes);
	}
	if (log_amount_before(line, " reserved in total by PyTorch", &bytes)) {
		log_know(log, VC_KNOWS_RESERVED, &evidence->reserved_bytes, bytes);
	}
	/* Up to 1.3 "cached" was what the allocator held idle, like "unallocated" from 2.1 on. */
	if (log_amount_before(line, " is reserved by PyTorch but unallocated", &bytes) ||
	    log_amount_before(line, " cached)", &bytes)) {
		uint64_t reserved = bytes > UINT64_MAX - evidence->allocated_bytes
		                            ? UINT64_MAX
		                            : bytes + evidence->allocated_bytes;

		log_know(log, VC_KNOWS_RESERVED, &evidence->reserved_bytes, reserved);
	}
}

static void read_processes(struct log *log, const char *line)
{
	uint64_t bytes;

	if (log_amount_after(line, "this process has ", &bytes)) {
		log->names_own_process = true;
		log_know(log, VC_KNOWS_PROCESS, &log->evidence.process_bytes, bytes);
	}
	for (const char *at = line; (at = strstr(at, "Process ")); at++) {
		const char *number = at + strlen("Process ");
		size_t digits = strspn(number, "0123456789");
		const char *end;

		if (digits && strncmp(number + digits, " has ", 5) == 0 &&
		    log_amount(number + digits + 5, &bytes, &end)) {
			log->named_processes_bytes += bytes < (1ull << 62) ? bytes : 0;
			if (bytes > log->largest_named_bytes) {
				log->largest_named_bytes = bytes;
			}
		}
	}
}

bool log_torch_message(struct log *log, const char *line)
{
	uint64_t bytes;

	read_settings(log, line);
	if (!is_failure(line)) {
		return false;
	}
	log->evidence.out_of_memory = true;
	log->kind = log->kind ? log->kind : "PyTorch";
	if (log->message_done || !log_amount_after(line, "Tried to allocate ", &bytes)) {
		return true;
	}
	log->message_done = true;
	log_know(log, VC_KNOWS_REQUESTED, &log->evidence.requested_bytes, bytes);
	read_total(log, line);
	read_held(log, line);
	read_processes(log, line);
	return true;
}

/* "| Allocated memory      |   5123 MiB |   6000 MiB | ..." of memory_summary(): the first cell is
 * the current value. Units are B, KiB, MiB, ...; torch 1.x wrote KB, MB for the same powers of two.
 */
static bool summary_cell(const char *line, const char *name, uint64_t *bytes)
{
	const char *at = strstr(line, name), *end;

	at = at ? strchr(at + 1, '|') : NULL;
	if (!at) {
		return false;
	}
	at += 1 + strspn(at + 1, " ");
	return log_amount(at, bytes, &end);
}

static bool json_number(const char *line, const char *key, uint64_t *value)
{
	const char *at = strstr(line, key);

	if (!at) {
		return false;
	}
	at += strlen(key);
	at += strspn(at, "\"' :");
	*value = 0;
	for (size_t digits = 0; *at >= '0' && *at <= '9'; at++, digits++) {
		if (digits == 18) {
			return false;
		}
		*value = *value * 10 + (uint64_t)(*at - '0');
	}
	return at[-1] >= '0' && at[-1] <= '9';
}

static void know_allocated(struct log *log, uint64_t bytes)
{
	vc_series_add(&log->allocated, bytes);
	if (!log->message_done) {
		log_know(log, VC_KNOWS_ALLOCATED, &log->evidence.allocated_bytes, bytes);
	}
}

static void know_reserved(struct log *log, uint64_t bytes)
{
	if (!log->message_done) {
		log_know(log, VC_KNOWS_RESERVED, &log->evidence.reserved_bytes, bytes);
	}
}

static bool read_statistics(struct log *log, const char *line)
{
	uint64_t value;
	bool found = false;

	if (json_number(line, "allocated_bytes.all.current", &value)) {
		know_allocated(log, value);
		found = true;
	}
	if (json_number(line, "reserved_bytes.all.current", &value)) {
		know_reserved(log, value);
		found = true;
	}
	if (json_number(line, "num_ooms", &value)) {
		log->evidence.out_of_memory |= value > 0;
		found = true;
	}
	return found;
}

bool log_torch_summary(struct log *log, const char *line)
{
	uint64_t bytes;
	const char *ooms = strstr(line, "CUDA OOMs: ");

	if (ooms) {
		log->evidence.out_of_memory |= ooms[11] >= '1' && ooms[11] <= '9';
	} else if (summary_cell(line, "| Allocated memory ", &bytes)) {
		know_allocated(log, bytes);
	} else if (summary_cell(line, "| GPU reserved memory ", &bytes)) {
		know_reserved(log, bytes);
	} else if (!read_statistics(log, line)) {
		return false;
	}
	log->kind = log->kind ? log->kind : "PyTorch memory statistics";
	return true;
}
