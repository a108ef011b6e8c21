/*
 * A file of own measurements: what an estimate said and what a run's log showed, line by line, as
 * `verify --calibrate` writes it. docs/verify.md#calibration
 */
#ifndef VC_CALIBRATION_FILE_H
#define VC_CALIBRATION_FILE_H

#include "errors.h"
#include "vramcalc/vramcalc.h"

#include <stdio.h>

enum {
	CALIBRATION_ROWS = 4096
};

/* One figure of one run. The texts are as in the file, and well-formed. */
struct vc_measurement {
	char *engine, *gpu, *component;
	char *said_bytes, *measured_bytes; /* whole numbers */
};

struct vc_measurements {
	uint64_t version;
	struct vc_measurement *measurements;
	uint32_t measurements_count;
};

/* To be freed; NULL with every mistake of the file in `errors`. */
struct vc_measurements *vc_measurements_read(const char *path, struct vc_error_list *errors);
void vc_measurements_free(struct vc_measurements *measurements);

/* The same in numbers, for writing. */
struct vc_figure {
	enum vc_engine engine;
	const char *gpu;
	enum vc_component component;
	uint64_t said_bytes, measured_bytes;
};
struct vc_figure vc_measurement_figure(const struct vc_measurement *measurement);
/* Whether a run can tell this component, and so whether a file may hold it. */
bool vc_calibrates(enum vc_component component);

/* The head of a file, and one row. */
void vc_measurements_write_head(FILE *out);
void vc_measurements_write(FILE *out, const struct vc_figure *figure);

/*
 * The residuals of a file: by engine, GPU and component, and for what does not depend on the GPU
 * by engine and component too. To be freed; NULL when memory ends. Refers to the texts.
 */
struct vc_residual *vc_residuals(const struct vc_measurements *measurements, size_t *count);

#endif
