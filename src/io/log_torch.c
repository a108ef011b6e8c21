/*
 * PyTorch's words: the out-of-memory message in its generations, torch.cuda.memory_summary() as a
 * table, torch.cuda.memory_stats(), and what training programs print of them. Wordings:
 * CUDACachingAllocator.cpp, CUDAMallocAsyncAllocator.cpp, MPSAllocator.mm and torch/cuda/memory.py
 * in github.com/pytorch/pytorch, from 1.0 to 2.9; deepspeed/runtime/utils.py;
 * megatron/training/utils.py.
 */
#include "log.h"

#include <string.h>

const char log_request[] = "Tried to allocate ";

/* ---- The message --------------------------------------------------------------------------- */

static void know_amount(struct log *log, uint32_t member, const char *text, const char *before,
                        const char *after)
{
	uint64_t bytes;

	if ((before && log_amount_after(text, before, &bytes)) ||
	    (after && log_amount_before(text, after, &bytes))) {
		log_know(log, member, bytes);
	}
}

static void read_held(struct log *log, const char *text)
{
	uint64_t idle;

	know_amount(log, VC_KNOWS_ALLOCATED, text, NULL, " already allocated");
	know_amount(log, VC_KNOWS_ALLOCATED, text, "Of the allocated memory ", NULL);
	know_amount(log, VC_KNOWS_RESERVED, text, NULL, " reserved in total by PyTorch");
	/* Up to 1.3 "cached" was what the allocator held idle, like "unallocated" from 2.1 on. */
	if (log_amount_before(text, " is reserved by PyTorch but unallocated", &idle) ||
	    log_amount_before(text, " cached)", &idle)) {
		uint64_t allocated = log->evidence.allocated_bytes;

		log_know(log, VC_KNOWS_RESERVED,
		         idle > UINT64_MAX - allocated ? UINT64_MAX : idle + allocated);
	}
}

static void read_processes(struct log *log, const char *text)
{
	uint64_t bytes;

	/* WSL prints 2^64 bytes where it does not know. */
	if (log_amount_after(text, "this process has ", &bytes) && bytes < 1ull << 56) {
		log->names_own_process = true;
		log_know(log, VC_KNOWS_PROCESS, bytes);
	}
	for (const char *at = text; (at = strstr(at, "Process ")); at++) {
		const char *number = at + strlen("Process ");
		size_t digits = strspn(number, "0123456789");
		const char *end;

		if (digits && strncmp(number + digits, " has ", 5) == 0 &&
		    log_amount(number + digits + 5, &bytes, &end)) {
			log->named_processes_bytes += bytes < (1ull << 56) ? bytes : 0;
			if (bytes > log->largest_named_bytes) {
				log->largest_named_bytes = bytes;
			}
		}
	}
}

/* Nothing behind the message's own end belongs to it. */
static void cut_message(char *to, size_t size, const char *text)
{
	static const char *const ends[] = { "See documentation", " cached)",
		                            " reserved in total by PyTorch)",
		                            " is reserved by PyTorch but unallocated" };
	size_t length = strnlen(text, size - 1);

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		const char *end = strstr(text, ends[i]);
		size_t until = end ? (size_t)(end - text) + strlen(ends[i]) : length;

		length = until < length ? until : length;
	}
	memcpy(to, text, length);
	to[length] = '\0';
}

/* "Tried to allocate 2.00 GiB. GPU 0 has ..." and "Tried to allocate 2.00 GiB (GPU 0; ...". */
static void read_message(struct log *log, const struct log_hit *hit)
{
	char text[LOG_MAX_MESSAGE];
	uint64_t requested;
	const char *at, *end;

	cut_message(text, sizeof text, hit->line);
	at = strstr(text, log_request);
	if (!at || !log_amount(at + strlen(log_request), &requested, &end)) {
		return;
	}
	log->evidence.out_of_memory = true;
	log->recognized++;
	log_know(log, VC_KNOWS_REQUESTED, requested);
	/* "capacty" is how 2.1 and 2.2 spelt it */
	know_amount(log, VC_KNOWS_TOTAL, text, "total capacity of ", " total capacity");
	know_amount(log, VC_KNOWS_TOTAL, text, "total capacty of ", NULL);
	know_amount(log, VC_KNOWS_FREE, text, "of which ", " free;");
	/* torch.cuda.set_per_process_memory_fraction */
	know_amount(log, VC_KNOWS_LIMIT, text, NULL, " allowed");
	log->evidence.old_allocator = strstr(text, " already allocated") != NULL;
	read_held(log, text);
	read_processes(log, text);
	log->message_done = true;
}

/* A Mac's GB are 2^30 bytes in this message. */
static uint64_t binary(const char *text, uint64_t bytes)
{
	const char *unit = text + strspn(text, "0123456789. ");

	if (strncmp(unit, "GB", 2) == 0) {
		return bytes / 1000000 * 1073741824 / 1000;
	}
	return strncmp(unit, "MB", 2) == 0 ? bytes / 1000 * 1048576 / 1000 : bytes;
}

static bool mac_amount(const char *text, const char *phrase, uint64_t *bytes)
{
	const char *at = strstr(text, phrase), *end;

	if (!at || !log_amount(at + strlen(phrase), bytes, &end) || *bytes > 1ull << 50) {
		return false;
	}
	*bytes = binary(at + strlen(phrase), *bytes);
	return true;
}

/* "(MPS allocated: 17.15 GB, other allocations: 1.19 GB, max allowed: 18.13 GB). Tried to ..." */
static void read_mac(struct log *log, const struct log_hit *hit)
{
	uint64_t bytes, more = 0;

	if (mac_amount(hit->line, "max allowed: ", &bytes)) {
		log_know(log, VC_KNOWS_LIMIT, bytes);
	}
	/* The others are this process's too: what Metal holds for it outside the allocator. */
	if (mac_amount(hit->line, "MPS allocated: ", &bytes)) {
		mac_amount(hit->line, "other allocations: ", &more);
		log_know(log, VC_KNOWS_ALLOCATED, bytes + more);
	}
	if (mac_amount(hit->line, "Tried to allocate ", &bytes)) {
		log_know(log, VC_KNOWS_REQUESTED, bytes);
		log->message_done = true;
	}
}

/* The amount behind a label, blanks, and a colon. */
static bool labelled(const char *text, const char *label, uint64_t *bytes)
{
	const char *at = strstr(text, label), *end;

	if (!at) {
		return false;
	}
	at += strlen(label);
	at += strspn(at, " ");
	return *at == ':' && log_amount(at + 1 + strspn(at + 1, " "), bytes, &end);
}

/* backend:cudaMallocAsync; where no limit is set the last amount is absurd. */
static void read_async(struct log *log, const struct log_hit *hit)
{
	static const struct {
		const char *label;
		uint32_t member;
	} rows[] = {
		{ "Currently allocated", VC_KNOWS_ALLOCATED },
		{ "Requested", VC_KNOWS_REQUESTED },
		{ "Device limit", VC_KNOWS_TOTAL },
		{ "Free (according to CUDA)", VC_KNOWS_FREE },
		{ "user-supplied memory fraction)", VC_KNOWS_LIMIT },
	};
	uint64_t bytes;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (labelled(hit->line, rows[i].label, &bytes) && bytes < 1ull << 56) {
			log_know(log, rows[i].member, bytes);
		}
	}
	log->message_done = (log->evidence.known & VC_KNOWS_REQUESTED) != 0;
}

/* The variable that sets the allocator was renamed for each platform, and in 2.9 for all. */
static void read_variable(struct log *log, const struct log_hit *hit)
{
	static const char *const names[] = { "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF",
		                             "PYTORCH_ALLOC_CONF" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (strcmp(hit->phrase->text, names[i]) == 0) {
			log->evidence.allocator_variable = names[i];
		}
	}
}

/* ---- Summaries and statistics -------------------------------------------------------------- */

static void sample(struct log *log, struct vc_series *series, uint32_t member, uint64_t bytes)
{
	vc_series_add(series, bytes);
	log->recognized++;
	if (member) {
		log_know(log, member, bytes);
	}
}

/*
 * "| Allocated memory      |   5123 MiB |   6000 MiB | ...": current and peak. Units are B, KiB,
 * MiB,
 * ...; torch before 1.11 wrote KB, MB for the same powers of two.
 */
static bool summary_cells(const char *behind, uint64_t *current, uint64_t *peak)
{
	uint64_t *const cells[] = { current, peak };
	const char *end;

	for (size_t i = 0; i < 2; i++) {
		behind += strspn(behind, " |");
		if (!log_amount(behind, cells[i], &end) || *cells[i] > 1ull << 50) {
			return false;
		}
		*cells[i] = binary(behind, *cells[i]);
		behind = end;
	}
	return true;
}

static void read_allocated_row(struct log *log, const struct log_hit *hit)
{
	uint64_t current, peak;

	if (summary_cells(hit->behind, &current, &peak)) {
		sample(log, &log->allocated, VC_KNOWS_ALLOCATED, current);
		sample(log, &log->peak, VC_KNOWS_PEAK, peak);
	}
}

static void read_reserved_row(struct log *log, const struct log_hit *hit)
{
	uint64_t current, peak;

	if (summary_cells(hit->behind, &current, &peak)) {
		sample(log, &log->reserved, VC_KNOWS_RESERVED, current);
	}
}

static void read_count_of_failures(struct log *log, const struct log_hit *hit)
{
	const char *digits = hit->behind + strspn(hit->behind, "\"' :,");

	log->recognized++;
	log->evidence.out_of_memory |= *digits >= '1' && *digits <= '9';
}

/* "allocated_bytes.all.current": 123 in JSON, 'name': 123 in Python, ('name', 123) in old ones. */
static bool statistic(const struct log_hit *hit, uint64_t *value)
{
	return log_count(hit->behind + strspn(hit->behind, "\"' :,="), value);
}

static void read_allocated(struct log *log, const struct log_hit *hit)
{
	uint64_t value;

	if (statistic(hit, &value)) {
		sample(log, &log->allocated, VC_KNOWS_ALLOCATED, value);
	}
}

static void read_reserved(struct log *log, const struct log_hit *hit)
{
	uint64_t value;

	if (statistic(hit, &value)) {
		sample(log, &log->reserved, VC_KNOWS_RESERVED, value);
	}
}

static void read_peak(struct log *log, const struct log_hit *hit)
{
	uint64_t value;

	if (statistic(hit, &value)) {
		sample(log, &log->peak, VC_KNOWS_PEAK, value);
	}
}

/* ---- What training programs print ---------------------------------------------------------- */

/* A number of MB or GB that are 2^20 or 2^30 bytes, behind a phrase of the line. */
static bool binary_after(const char *line, const char *phrase, const char *unit, uint64_t *bytes)
{
	const char *at = strstr(line, phrase), *end;
	char amount[48];
	size_t digits;

	if (!at) {
		return false;
	}
	at += strlen(phrase);
	digits = strspn(at, "0123456789.");
	if (digits == 0 || digits > 24) {
		return false;
	}
	memcpy(amount, at, digits);
	memcpy(amount + digits, unit, strlen(unit) + 1);
	return log_amount(amount, bytes, &end) && *bytes < 1ull << 50;
}

/* "MA 12.3 GB         Max_MA 15.5 GB         CA 16.0 GB         Max_CA 16 GB" */
static void read_deepspeed(struct log *log, const struct log_hit *hit)
{
	uint64_t bytes;

	if (binary_after(hit->line, "MA ", "GiB", &bytes)) {
		sample(log, &log->allocated, VC_KNOWS_ALLOCATED, bytes);
	}
	if (binary_after(hit->line, "Max_MA ", "GiB", &bytes)) {
		sample(log, &log->peak, VC_KNOWS_PEAK, bytes);
	}
	if (binary_after(hit->line, " CA ", "GiB", &bytes)) {
		sample(log, &log->reserved, VC_KNOWS_RESERVED, bytes);
	}
}

/* "memory (MB) | allocated: 1.0 | max allocated: 2.0 | reserved: 3.0 | max reserved: 3.0" */
static void read_megatron(struct log *log, const struct log_hit *hit)
{
	uint64_t bytes;

	if (binary_after(hit->line, "| allocated: ", "MiB", &bytes)) {
		sample(log, &log->allocated, VC_KNOWS_ALLOCATED, bytes);
	}
	if (binary_after(hit->line, "| max allocated: ", "MiB", &bytes)) {
		sample(log, &log->peak, VC_KNOWS_PEAK, bytes);
	}
	if (binary_after(hit->line, "| reserved: ", "MiB", &bytes)) {
		sample(log, &log->reserved, VC_KNOWS_RESERVED, bytes);
	}
}

/* mmcv's "memory: 6814", the highest so far in MB of 2^20 bytes. */
static void read_mmcv(struct log *log, const struct log_hit *hit)
{
	uint64_t mega;

	if (log_count(hit->behind, &mega) && mega < 1u << 30) {
		sample(log, &log->peak, VC_KNOWS_PEAK, mega << 20);
	}
}

/* detectron2's "max_mem: 3217M", the highest so far. */
static void read_highest(struct log *log, const struct log_hit *hit)
{
	uint64_t bytes;

	if (log_bytes(hit->behind, &bytes)) {
		sample(log, &log->peak, VC_KNOWS_PEAK, bytes);
	}
}

#define TORCH .software = VC_SOFTWARE_PYTORCH

static const struct log_phrase phrases[] = {
	{ "CUDA out of memory", TORCH, .event = LOG_FAILED, .read = read_message,
	  .collects = true },
	{ "HIP out of memory", TORCH, .event = LOG_FAILED, .read = read_message, .collects = true },
	{ "XPU out of memory", TORCH, .event = LOG_FAILED, .read = read_message, .collects = true },
	{ "NPU out of memory", TORCH, .event = LOG_FAILED, .read = read_message, .collects = true },
	{ "torch.OutOfMemoryError", TORCH, .event = LOG_FAILED },
	{ "torch.cuda.OutOfMemoryError", TORCH, .event = LOG_FAILED },
	{ log_request, TORCH, .read = read_message, .collects = true },
	{ "MPS backend out of memory", TORCH, .event = LOG_FAILED, .read = read_mac,
	  .collects = true },
	{ "would exceed allowed memory. (out of memory)", TORCH, .event = LOG_FAILED,
	  .read = read_async, .collects = true },
	{ "PYTORCH_CUDA_ALLOC_CONF", .read = read_variable },
	{ "PYTORCH_HIP_ALLOC_CONF", .read = read_variable },
	{ "PYTORCH_ALLOC_CONF", .read = read_variable },

	{ "| Allocated memory ", TORCH, .read = read_allocated_row },
	{ "| GPU reserved memory ", TORCH, .read = read_reserved_row },
	{ "CUDA OOMs:", TORCH, .read = read_count_of_failures },
	{ "allocated_bytes.all.current", TORCH, .read = read_allocated },
	{ "allocated_bytes.all.peak", TORCH, .read = read_peak },
	{ "reserved_bytes.all.current", TORCH, .read = read_reserved },
	{ "num_ooms", TORCH, .read = read_count_of_failures },
	{ " Max_MA ", TORCH, .stage = VC_STAGE_TRAINING, .read = read_deepspeed },
	{ "memory (MB) | allocated: ", TORCH, .stage = VC_STAGE_TRAINING, .read = read_megatron },
	{ ", memory: ", TORCH, .stage = VC_STAGE_TRAINING, .read = read_mmcv },
	{ "max_mem: ", TORCH, .stage = VC_STAGE_TRAINING, .read = read_highest },
};

const struct log_phrases log_torch_phrases = { phrases, sizeof phrases / sizeof *phrases };
