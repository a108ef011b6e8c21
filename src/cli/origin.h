/* Where a GPU and its price come from: of every command the same words and the same JSON. */
#ifndef VC_CLI_ORIGIN_H
#define VC_CLI_ORIGIN_H

#include "json_writer.h"
#include "output.h"

#include "vramcalc/vramcalc.h"

/* What so many GPUs cost an hour, in millionths; false where no price is known or 64 bits do not
 * hold it. */
bool price_times(const struct vc_price *price, uint64_t gpus, uint64_t *micros);

/* Appends "aws g5.xlarge, 2026-07-20"; a file of the user's is named, "lab box, 2026-11-01,
 * prices.csv:2". */
void price_said_by(char *to, size_t size, const struct vc_price *price);

/* The price of so many GPUs as an object; null where none is known. */
void json_price(struct json_writer *json, const char *key, const struct vc_gpu *gpu, uint32_t gpus);

/* The GPU's id under `key`, and what it rests on: `origin` and `price`. NULL: nulls. */
void json_gpu(struct json_writer *json, const char *key, const struct vc_gpu *gpu, uint32_t gpus);

/* What an output says of GPUs by the user's files. */
enum {
	ORIGIN_GPUS = 4 /* named; of more it says that there are some */
};
struct origin_note {
	char text[1024]; /* "" while nothing is the user's */
	const char *ids[ORIGIN_GPUS];
	size_t count;
	bool more;
};

/* Adds a GPU, and with `priced` its price, where they are the user's. */
void origin_add(struct origin_note *note, const struct vc_gpu *gpu, bool priced);
/* Ends the sentence; false: there is none. */
bool origin_end(struct origin_note *note);
/* The sentence as a last paragraph, if there is one; in text and Markdown only. */
void origin_print(struct output *out, struct origin_note *note);

#endif
