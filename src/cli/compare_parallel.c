/*
 * The rows of a stream by several threads. The lines that are at hand are cut into batches, each
 * batch is written into memory by whichever thread is free, and what they wrote leaves in order.
 */
#include "compare_stream.h"
#include "report.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
	BATCH_LINES = 128,
	BATCHES_PER_JOB = 4,
	BATCH_BYTES = 1 << 18 /* of a batch that takes no further line */
};

struct line {
	size_t begin, length;
	uint32_t number;
};

struct batch {
	char *text;
	size_t length, room, count;
	struct line lines[BATCH_LINES];
	char *rows, *errors;
	size_t rows_length, errors_length;
	bool good, failed;
};

struct round {
	const struct comparison *comparison;
	struct batch *batches;
	size_t count;
	atomic_size_t next;
};

static bool add_line(struct batch *batch, const struct compare_source *source)
{
	if (!batch->text || batch->length + source->length > batch->room) {
		size_t room = 2 * (batch->length + source->length) + 1;
		char *text = realloc(batch->text, room);

		if (!text) {
			return false;
		}
		batch->text = text;
		batch->room = room;
	}
	memcpy(batch->text + batch->length, source->text, source->length);
	batch->lines[batch->count++] = (struct line){ batch->length, source->length, source->line };
	batch->length += source->length;
	return true;
}

/* Waits for the first line of a round only: a reader of our output never waits for a full one. */
static bool fill(struct round *round, size_t most, struct line_reader *reader, FILE *out,
                 bool *ended)
{
	struct compare_source source = { 0 };

	round->count = 0;
	while (round->count < most) {
		struct batch *batch = &round->batches[round->count];

		batch->length = batch->count = 0;
		while (batch->count < BATCH_LINES && batch->length < BATCH_BYTES) {
			if ((round->count || batch->count) && !line_is_ready(reader)) {
				break;
			}
			if (!line_next(reader, out, &source)) {
				*ended = true;
				break;
			}
			if (!add_line(batch, &source)) {
				return false;
			}
		}
		round->count += batch->count > 0;
		if (*ended || batch->count == 0 || !line_is_ready(reader)) {
			return true;
		}
	}
	return true;
}

static void write_batch(const struct comparison *comparison, struct batch *batch,
                        struct vc_spec_cache *cache)
{
	struct compare_output to = {
		.comparison = comparison,
		.file = open_memstream(&batch->rows, &batch->rows_length),
		.errors = open_memstream(&batch->errors, &batch->errors_length),
	};

	batch->good = to.file && to.errors;
	for (size_t i = 0; i < batch->count && batch->good; i++) {
		const struct line *line = &batch->lines[i];
		char name[32];
		struct compare_source source = { .name = name,
			                         .text = batch->text + line->begin,
			                         .length = line->length,
			                         .line = line->number,
			                         .cache = cache };

		snprintf(name, sizeof name, "-:%" PRIu32, line->number);
		batch->good = compare_put(&to, &source);
	}
	if (to.file) {
		batch->good = fclose(to.file) == 0 && batch->good;
	}
	if (to.errors) {
		batch->good = fclose(to.errors) == 0 && batch->good;
	}
	batch->failed = to.failed;
}

static void *work(void *data)
{
	struct round *round = data;
	struct vc_spec_cache cache = { 0 };
	size_t i;

	while ((i = atomic_fetch_add(&round->next, 1)) < round->count) {
		write_batch(round->comparison, &round->batches[i], &cache);
	}
	vc_spec_cache_free(&cache);
	return NULL;
}

/* As many threads as can be had; this one works too. */
static void run(struct round *round, unsigned jobs)
{
	pthread_t threads[256];
	unsigned started = 0;

	atomic_store(&round->next, 0);
	while (started + 1 < jobs && started + 1 < round->count &&
	       pthread_create(&threads[started], NULL, work, round) == 0) {
		started++;
	}
	work(round);
	for (unsigned i = 0; i < started; i++) {
		pthread_join(threads[i], NULL);
	}
}

static bool put_batches(const struct round *round, struct compare_output *to)
{
	bool good = true;

	for (size_t i = 0; i < round->count; i++) {
		struct batch *batch = &round->batches[i];

		good = good && batch->good;
		if (good) {
			fwrite(batch->errors, 1, batch->errors_length, to->errors);
			good = fwrite(batch->rows, 1, batch->rows_length, to->file) ==
			       batch->rows_length;
		}
		to->failed = to->failed || batch->failed;
		free(batch->rows);
		free(batch->errors);
	}
	return good;
}

bool compare_parallel(struct compare_output *to, struct line_reader *reader, unsigned jobs)
{
	size_t most = (size_t)jobs * BATCHES_PER_JOB;
	struct round round = { .comparison = to->comparison,
		               .batches = calloc(most, sizeof *round.batches) };
	bool good = round.batches != NULL, ended = false;

	while (good && !ended) {
		good = fill(&round, most, reader, to->file, &ended);
		if (!good) {
			report_no_memory();
			break;
		}
		run(&round, jobs);
		good = put_batches(&round, to);
		compare_progress(reader, false);
	}
	for (size_t i = 0; round.batches && i < most; i++) {
		free(round.batches[i].text);
	}
	free(round.batches);
	return good;
}
