/* `verify --calibrate`: what this run showed, added to a file of own measurements. */
#include "calibration_file.h"
#include "print_text.h"
#include "verify.h"
#include "whole_file.h"

#include <string.h>
#include <unistd.h>

/* A figure of the file, if the row is one: what was worked out from others, and pools, are not. */
static bool figure_of(const struct verification *v, const struct verify_row *row,
                      struct vc_figure *figure)
{
	enum vc_component component = VC_COMPONENT_COUNT;

	for (int i = 0; i < VC_COMPONENT_COUNT; i++) {
		if (strcmp(vc_component_name((enum vc_component)i), row->name) == 0) {
			component = (enum vc_component)i;
		}
	}
	if (component == VC_COMPONENT_COUNT || !vc_calibrates(component) || !row->measured_known ||
	    row->by_difference || row->said == 0 || row->measured == 0 ||
	    (component == VC_COMPONENT_KV_CACHE && v->ledger.serving.known)) {
		return false;
	}
	*figure = (struct vc_figure){ v->request.engine.name, v->gpu.id, component, row->said,
		                      row->measured };
	return true;
}

static bool equal(const struct vc_figure *a, const struct vc_figure *b)
{
	return a->engine == b->engine && strcmp(a->gpu, b->gpu) == 0 &&
	       a->component == b->component && a->said_bytes == b->said_bytes &&
	       a->measured_bytes == b->measured_bytes;
}

static bool holds(const struct vc_measurements *file, const struct vc_figure *figure)
{
	for (uint32_t i = 0; i < file->measurements_count; i++) {
		struct vc_figure there = vc_measurement_figure(&file->measurements[i]);

		if (equal(&there, figure)) {
			return true;
		}
	}
	return false;
}

/* The same run verified twice is one measurement. */
static bool holds_run(const struct vc_measurements *file, const struct verification *v)
{
	struct vc_figure figure;

	for (size_t i = 0; i < v->row_count; i++) {
		if (figure_of(v, &v->rows[i], &figure) && !(file && holds(file, &figure))) {
			return false;
		}
	}
	return true;
}

static bool contradicts(const struct verification *v, const char *path)
{
	char shown[512];

	text_copy(shown, sizeof shown, path, true);
	for (size_t i = 0; i < v->setting_count; i++) {
		const struct verify_setting *setting = &v->settings[i];

		if (setting->given && setting->differs) {
			fprintf(stderr,
			        "vramcalc verify: %s: not written, as the spec has %s %s and the "
			        "log "
			        "%s (a spec of this run is expected)\n",
			        shown, setting->log->field, setting->spec, setting->log->value);
			return true;
		}
	}
	return false;
}

static void write_file(FILE *out, const struct verification *v, const struct vc_measurements *file)
{
	bool known = holds_run(file, v);
	struct vc_figure figure;

	vc_measurements_write_head(out);
	for (uint32_t i = 0; file && i < file->measurements_count; i++) {
		figure = vc_measurement_figure(&file->measurements[i]);
		vc_measurements_write(out, &figure);
	}
	for (size_t i = 0; !known && i < v->row_count; i++) {
		if (figure_of(v, &v->rows[i], &figure)) {
			vc_measurements_write(out, &figure);
		}
	}
}

static bool any_figure(const struct verification *v)
{
	struct vc_figure figure;

	for (size_t i = 0; i < v->row_count; i++) {
		if (figure_of(v, &v->rows[i], &figure)) {
			return true;
		}
	}
	return false;
}

bool verify_calibrate(const struct verification *verification, const char *path)
{
	struct vc_measurements *file = NULL;
	struct vc_error_list errors = { 0 };
	struct whole_file whole;
	bool written;

	if (strcmp(path, "-") == 0) {
		fputs("vramcalc verify: --calibrate -: is no file (one that is read and written is "
		      "expected)\n",
		      stderr);
		return false;
	}
	if (contradicts(verification, path)) {
		return false;
	}
	if (!any_figure(verification)) {
		fprintf(stderr,
		        "vramcalc verify: %s: not written, as the log tells no component by itself "
		        "(an engine's start-up log is expected)\n",
		        path);
		return false;
	}
	if (access(path, F_OK) == 0) {
		file = vc_measurements_read(path, &errors);
		if (!file) {
			report_errors(&errors);
			return false;
		}
	}
	if (file && file->measurements_count + VERIFY_ROWS > CALIBRATION_ROWS) {
		fprintf(stderr, "vramcalc verify: %s: is full (at most %d measurements)\n", path,
		        CALIBRATION_ROWS);
		vc_measurements_free(file);
		return false;
	}
	written = whole_file_open(&whole, path);
	if (written) {
		write_file(whole.file, verification, file);
		written = whole_file_close(&whole);
	}
	vc_measurements_free(file);
	return written;
}
