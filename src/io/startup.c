#include "startup.h"

#include "log.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- At the end ---------------------------------------------------------------------------- */

static void state_count(struct startup *startup, const char *field, uint64_t value)
{
	char text[24];
	int length = snprintf(text, sizeof text, "%" PRIu64, value);

	if (value > 0 && value <= 1ull << 40) {
		startup_state(startup, field, text, (size_t)length);
	}
}

/* llama.cpp splits a model by what is free on each GPU: only their sum is the model's. */
static void join_devices(struct startup *startup)
{
	const char *name = "all GPUs";
	struct startup_rank all = { .known = 0 };
	uint32_t devices = 0;

	memcpy(all.name, name, strlen(name) + 1);
	for (uint32_t i = 0; i < startup->rank_count; i++) {
		const struct startup_rank *rank = &startup->ranks[i];

		if (!startup_knows(rank, STARTUP_WEIGHTS) || startup_is_host(rank->name)) {
			continue;
		}
		devices++;
		for (int term = 0; term < STARTUP_TERMS; term++) {
			uint64_t most =
			        startup_knows(&all, STARTUP_PEAK) ? all.bytes[STARTUP_PEAK] : 0;

			if (!(rank->known >> term & 1)) {
				continue;
			}
			if (term != STARTUP_PEAK) {
				startup_add(&all, (enum startup_term)term, rank->bytes[term]);
			} else if (rank->bytes[term] > most) {
				startup_set(&all, STARTUP_PEAK, rank->bytes[term]);
			}
		}
	}
	if (devices > 1) {
		all.known &= 1u << STARTUP_WEIGHTS | 1u << STARTUP_CACHE | 1u << STARTUP_STATE |
		             1u << STARTUP_PEAK;
		startup->ranks[0] = all;
		startup->rank_count = 1;
		startup->joined = devices;
	}
}

/* n_ctx is for all sequences together; where they share one cache, each may take all of it. */
static void finish_llamacpp(struct startup *startup)
{
	uint64_t each = startup->context_each ? startup->context_each : startup->context;

	join_devices(startup);
	state_count(startup, "workload.sequence_length", each);
	if (each < startup->context) {
		state_count(startup, "workload.batch_size", startup->sequences);
	}
}

/* A figure that holds the weights too leaves the other part. */
static void split(struct startup_rank *rank, enum startup_term both, enum startup_term other)
{
	if (startup_knows(rank, both) && !startup_knows(rank, other) &&
	    startup_knows(rank, STARTUP_WEIGHTS) &&
	    rank->bytes[both] >= rank->bytes[STARTUP_WEIGHTS]) {
		startup_set(rank, other, rank->bytes[both] - rank->bytes[STARTUP_WEIGHTS]);
	}
}

void startup_finish(struct startup *startup)
{
	if (startup->engine == VC_ENGINE_LLAMACPP) {
		finish_llamacpp(startup);
	}
	if (startup->engine != VC_ENGINE_NONE) {
		const char *name = vc_engine_name(startup->engine);

		startup_state(startup, "engine.name", name, strlen(name));
	}
	if (startup->kv_tokens == 0 && startup->block_count < 1ull << 40) {
		startup->kv_tokens = 16 * startup->block_count;
	}
	for (uint32_t i = 0; i < startup->rank_count; i++) {
		split(&startup->ranks[i], STARTUP_TORCH_PEAK, STARTUP_PEAK);
		split(&startup->ranks[i], STARTUP_CONSUMED, STARTUP_OUTSIDE);
	}
}

/* ---- What was read ------------------------------------------------------------------------- */

bool startup_knows(const struct startup_rank *rank, enum startup_term term)
{
	return rank->known >> term & 1;
}

uint64_t startup_sum(const struct startup_rank *rank, uint32_t terms)
{
	uint64_t sum = 0;

	for (int i = 0; i < STARTUP_TERMS; i++) {
		if (rank->known & terms & 1u << i) {
			sum += rank->bytes[i];
		}
	}
	return sum;
}

bool startup_is_host(const char *device)
{
	const char *behind = strstr(device, "Host");

	return strncmp(device, "CPU", 3) == 0 || (behind && behind[4] == '\0');
}

static unsigned terms_known(const struct startup_rank *rank)
{
	unsigned count = 0;

	for (int i = 0; i < STARTUP_TERMS; i++) {
		count += rank->known >> i & 1;
	}
	return count;
}

const struct startup_rank *startup_fullest(const struct startup *startup)
{
	const uint32_t taken = 1u << STARTUP_WEIGHTS | 1u << STARTUP_PEAK | 1u << STARTUP_OUTSIDE |
	                       1u << STARTUP_STATE;
	const struct startup_rank *best = NULL;

	for (uint32_t i = 0; i < startup->rank_count; i++) {
		const struct startup_rank *rank = &startup->ranks[i];

		if (rank->known == 0 || startup_is_host(rank->name)) {
			continue;
		}
		if (!best || terms_known(rank) > terms_known(best) ||
		    (terms_known(rank) == terms_known(best) &&
		     startup_sum(rank, taken) > startup_sum(best, taken))) {
			best = rank;
		}
	}
	return best;
}

const char *startup_value(const struct startup *startup, const char *field)
{
	for (uint32_t i = 0; i < startup->setting_count; i++) {
		if (strcmp(startup->settings[i].field, field) == 0) {
			return startup->settings[i].value;
		}
	}
	return NULL;
}

/* ---- For the tables ------------------------------------------------------------------------ */

struct startup_rank *startup_rank_named(struct startup *startup, const char *name, size_t length)
{
	struct startup_rank *rank;

	length = length < STARTUP_NAME - 1 ? length : STARTUP_NAME - 1;
	for (uint32_t i = 0; i < startup->rank_count; i++) {
		rank = &startup->ranks[i];
		if (strlen(rank->name) == length && memcmp(rank->name, name, length) == 0) {
			return rank;
		}
	}
	if (startup->rank_count == STARTUP_RANKS) {
		return &startup->ranks[STARTUP_RANKS - 1];
	}
	rank = &startup->ranks[startup->rank_count++];
	memcpy(rank->name, name, length);
	rank->name[length] = '\0';
	return rank;
}

/*
 * "(VllmWorkerProcess pid=90)", "(VllmWorker rank=1 pid=401)", "(Worker_TP0 pid=92375)" of vLLM,
 * "[2025-02-04 05:29:17 TP0]" of SGLang. The engine's own process holds a GPU when it is the only
 * one, and needs no name.
 */
struct startup_rank *startup_line_rank(struct startup *startup, const char *line)
{
	static const struct {
		const char *before;
		size_t skipped; /* of `before`, in front of the name */
		const char *ends;
	} marks[] = {
		{ "(VllmWorkerProcess pid=", 19, ")" },
		{ "(VllmWorker rank=", 12, " )" },
		{ "(Worker_", 8, " )" },
		{ "(EngineCore_DP", 12, " )" },
		{ " TP", 1, "]" },
		{ " DP", 1, "]" },
	};

	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
		const char *at = strstr(line, marks[i].before);
		size_t length;

		if (!at) {
			continue;
		}
		at += marks[i].skipped;
		length = strcspn(at, marks[i].ends);
		if (length < STARTUP_NAME && at[length] != '\0') {
			return startup_rank_named(startup, at, length);
		}
	}
	return startup_rank_named(startup, "", 0);
}

void startup_set(struct startup_rank *rank, enum startup_term term, uint64_t bytes)
{
	if (bytes <= 1ull << 50) {
		rank->known |= 1u << term;
		rank->bytes[term] = bytes;
	}
}

void startup_add(struct startup_rank *rank, enum startup_term term, uint64_t bytes)
{
	uint64_t before = startup_knows(rank, term) ? rank->bytes[term] : 0;

	if (bytes <= 1ull << 50) {
		startup_set(rank, term, before + bytes);
	}
}

void startup_state(struct startup *startup, const char *field, const char *value, size_t length)
{
	struct startup_setting *setting = &startup->settings[startup->setting_count];

	if (length == 0 || length >= STARTUP_VALUE || startup->setting_count == STARTUP_SETTINGS ||
	    startup_value(startup, field)) {
		return;
	}
	setting->field = field;
	memcpy(setting->value, value, length);
	setting->value[length] = '\0';
	startup->setting_count++;
}

bool startup_amount(const char *text, uint64_t *bytes)
{
	const char *unit;
	char amount[40];
	const char *binary;
	size_t digits;

	text += strspn(text, " \t=:");
	digits = strspn(text, "0123456789.,");
	unit = text + digits + strspn(text + digits, " ");
	if (digits == 0 || digits > 24) {
		return false;
	}
	/* "Gib" is how one version spelt it */
	binary = *unit == 'G' ? "GiB" : *unit == 'M' ? "MiB" : *unit == 'b' ? "B" : "";
	memcpy(amount, text, digits);
	memcpy(amount + digits, binary, strlen(binary) + 1);
	return log_amount(amount, bytes, &unit);
}

bool startup_amount_after(const char *line, const char *phrase, uint64_t *bytes)
{
	const char *at = strstr(line, phrase);

	return at && startup_amount(at + strlen(phrase), bytes);
}
