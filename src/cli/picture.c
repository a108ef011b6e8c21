#include "picture.h"

#include "print_text.h"
#include "report.h"
#include "whole_file.h"

#include <stdlib.h>
#include <string.h>

const char *picture_name(const struct plan *plan)
{
	const char *name = plan->request.model->name;

	return *name ? name : plan->spec->source;
}

/* ---- The streams ---- */

static bool stream_open(struct text_stream *stream)
{
	stream->file = open_memstream(&stream->text, &stream->size);
	return stream->file != NULL;
}

/* False when something did not find room. */
static bool stream_close(struct text_stream *stream)
{
	bool good = !stream->file || !ferror(stream->file);

	good = (!stream->file || fclose(stream->file) == 0) && good;
	stream->file = NULL;
	return good;
}

bool picture_files_open(struct picture_files *files, const struct arguments *arguments,
                        bool several)
{
	*files = (struct picture_files){ .arguments = arguments, .several = several };
	if ((arguments->svg && !(stream_open(&files->svg) && stream_open(&files->about))) ||
	    (arguments->html && !(stream_open(&files->html) && stream_open(&files->contents)))) {
		report_no_memory();
		return false;
	}
	return true;
}

/* ---- One plan ---- */

static bool estimate_bars(struct picture *picture)
{
	const struct plan *plan = picture->plan;

	picture->ledgers = malloc((picture->shown + 1) * sizeof *picture->ledgers);
	for (size_t i = 0; picture->ledgers && i < picture->shown; i++) {
		struct vc_request request = plan->request;
		struct vc_error error;

		request.gpu = plan->candidates[i].gpu;
		request.parallelism = plan->candidates[i].layout;
		/* it was estimated just so when it was ranked */
		if (vc_estimate(&request, &picture->ledgers[i], &error) != VC_OK) {
			picture->shown = i;
		}
	}
	return picture->ledgers != NULL;
}

bool picture_files_add(struct picture_files *files, const struct plan *plan)
{
	struct picture picture = { .plan = plan,
		                   .unit = (enum byte_unit)files->arguments->unit.index,
		                   .shown = plan->count < PICTURE_GPUS ? plan->count : PICTURE_GPUS,
		                   .number = files->count + 1,
		                   .alone = !files->several };

	if (!files->svg.file && !files->html.file) {
		return true;
	}
	if (!estimate_bars(&picture)) {
		report_no_memory();
		return false;
	}
	growth_estimate(plan,
	                plan->request.workload.concurrency > 1 ? VC_SOLVE_CONCURRENCY
	                                                       : VC_SOLVE_BATCH_SIZE,
	                &picture.load);
	growth_estimate(plan, VC_SOLVE_SEQUENCE_LENGTH, &picture.length);
	text_append(files->title, sizeof files->title, "%s%s", files->count ? ", " : "",
	            picture_name(plan));
	files->count++;
	if (files->svg.file) {
		svg_picture(files, &picture);
	}
	if (files->html.file) {
		html_contents(files->contents.file, &picture);
		html_picture(files->html.file, &picture);
	}
	free(picture.ledgers);
	return true;
}

/* ---- The files ---- */

static bool write_to(const char *path, const struct picture_files *files,
                     void (*write)(FILE *file, const struct picture_files *files))
{
	struct whole_file whole;

	if (strcmp(path, "-") == 0) {
		write(stdout, files);
		return true; /* what standard output lacks is reported at the end */
	}
	if (!whole_file_open(&whole, path)) {
		return false;
	}
	write(whole.file, files);
	return whole_file_close(&whole);
}

bool picture_files_close(struct picture_files *files)
{
	const struct arguments *arguments = files->arguments;
	bool good = stream_close(&files->svg);

	good = stream_close(&files->about) && good;
	good = stream_close(&files->html) && good;
	good = stream_close(&files->contents) && good;
	if (!good) {
		report_no_memory();
	} else if (files->count) {
		good = !arguments->svg || write_to(arguments->svg, files, svg_file);
		good = (!arguments->html || write_to(arguments->html, files, html_file)) && good;
	}
	free(files->svg.text);
	free(files->about.text);
	free(files->html.text);
	free(files->contents.text);
	return good;
}
