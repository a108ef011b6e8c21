/*
 * Logs: any bytes give a diagnosis with its reason, and where the stream is cut changes nothing.
 */
#include "log.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_pieces(struct log *log, const char *bytes, size_t size, size_t piece)
{
	log_open(log);
	for (size_t i = 0; i < size; i += piece) {
		log_feed(log, bytes + i, size - i < piece ? size - i : piece);
	}
	log_finish(log);
}

static void check(const struct vc_diagnosis *diagnosis)
{
	if (!diagnosis->reason || diagnosis->cause >= VC_CAUSE_COUNT ||
	    diagnosis->advice_count > VC_MAX_ADVICE ||
	    (diagnosis->cause == VC_CAUSE_UNKNOWN && diagnosis->confidence != VC_CONFIDENCE_LOW) ||
	    (diagnosis->cause != VC_CAUSE_NONE && diagnosis->advice_count == 0)) {
		abort();
	}
	for (uint32_t i = 0; i < diagnosis->advice_count; i++) {
		size_t length = strlen(diagnosis->advice[i]);

		if (length == 0 || length + 1 >= VC_ADVICE_SIZE) {
			abort(); /* empty, or cut */
		}
	}
}

/* What an engine's start-up says stays within its room, whatever it says. */
static void check_startup(const struct startup *startup)
{
	const struct startup_rank *rank = startup_fullest(startup);

	if (startup->rank_count > STARTUP_RANKS || startup->setting_count > STARTUP_SETTINGS ||
	    (rank && startup_sum(rank, UINT32_MAX) > UINT64_MAX / 2)) {
		abort();
	}
	for (uint32_t i = 0; i < startup->setting_count; i++) {
		if (!memchr(startup->settings[i].value, '\0', STARTUP_VALUE)) {
			abort();
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct log whole, pieces;
	struct vc_diagnosis diagnosis;
	size_t piece = size ? 1 + data[0] % 31 : 1;

	read_pieces(&whole, (const char *)data, size, size ? size : 1);
	read_pieces(&pieces, (const char *)data, size, piece);
	diagnosis = vc_diagnose(&whole.evidence);
	check(&diagnosis);
	check_startup(&whole.startup);
	if (memcmp(&whole.startup, &pieces.startup, sizeof whole.startup) != 0) {
		abort();
	}
	if (whole.lines != pieces.lines || whole.recognized != pieces.recognized ||
	    whole.pickle != pieces.pickle ||
	    memcmp(&whole.evidence, &pieces.evidence, sizeof whole.evidence) != 0) {
		abort();
	}
	whole.evidence.theory_bytes = 24000000000;
	diagnosis = vc_diagnose(&whole.evidence);
	check(&diagnosis);
	return 0;
}
