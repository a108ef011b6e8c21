#include "calibration_file.h"

#include "quantity.h"
#include "source.h"
#include "yaml_guard.h"

#include <cyaml/cyaml.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define REQUIRED(key)                                                                              \
	CYAML_FIELD_STRING_PTR(#key, CYAML_FLAG_POINTER, struct vc_measurement, key, 1, 128)

static const cyaml_schema_field_t row_fields[] = {
	REQUIRED(engine),         REQUIRED(gpu),   REQUIRED(component), REQUIRED(said_bytes),
	REQUIRED(measured_bytes), CYAML_FIELD_END,
};

static const cyaml_schema_value_t row_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct vc_measurement, row_fields),
};

static const cyaml_schema_field_t fields[] = {
	CYAML_FIELD_UINT("version", CYAML_FLAG_OPTIONAL, struct vc_measurements, version),
	CYAML_FIELD_SEQUENCE("measurements", CYAML_FLAG_POINTER, struct vc_measurements,
	                     measurements, &row_value, 1, CALIBRATION_ROWS),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct vc_measurements, fields),
};

static const cyaml_config_t config = { .mem_fn = cyaml_mem, .flags = CYAML_CFG_NO_ALIAS };

bool vc_calibrates(enum vc_component component)
{
	return component == VC_COMPONENT_WEIGHTS || component == VC_COMPONENT_KV_CACHE ||
	       component == VC_COMPONENT_RECURRENT_STATE || component == VC_COMPONENT_ACTIVATIONS ||
	       component == VC_COMPONENT_CUDA_GRAPHS || component == VC_COMPONENT_FRAMEWORK;
}

/* VC_COMPONENT_COUNT: not one that a run can tell. */
static enum vc_component component_by_name(const char *name)
{
	for (int i = 0; i < VC_COMPONENT_COUNT; i++) {
		enum vc_component component = (enum vc_component)i;

		if (vc_calibrates(component) && strcmp(vc_component_name(component), name) == 0) {
			return component;
		}
	}
	return VC_COMPONENT_COUNT;
}

/* ---- Reading ------------------------------------------------------------------------------- */

static bool is_engine(const char *text)
{
	return *text && vc_engine_by_name(text) != VC_ENGINE_COUNT;
}

static bool is_component(const char *text)
{
	return component_by_name(text) != VC_COMPONENT_COUNT;
}

/*
 * Bytes as programs write them, below 2^50 as any GPU has. Not 0: a ratio to nothing, or of
 * nothing, tells of a line that was not there.
 */
static bool is_bytes(const char *text)
{
	uint64_t bytes = 0;

	if (*text && strspn(text, "0123456789") == strlen(text) && strlen(text) <= 18) {
		bytes = strtoull(text, NULL, 10);
	}
	return bytes > 0 && bytes <= 1ull << 50;
}

static void check(const struct vc_guard_scalar *scalar, struct vc_error_list *errors)
{
	static const struct {
		const char *field;
		bool (*holds)(const char *text);
		const char *expected;
	} kinds[] = {
		{ "engine", is_engine, "an engine, as `vramcalc engines` lists them" },
		{ "component", is_component,
		  "weights, kv_cache, recurrent_state, activations, cuda_graphs or framework" },
		{ "said_bytes", is_bytes, "a whole number of bytes from 1" },
		{ "measured_bytes", is_bytes, "a whole number of bytes from 1" },
	};
	const char *dot = strrchr(scalar->path, '.');

	for (size_t i = 0; dot && i < sizeof kinds / sizeof *kinds; i++) {
		if (strcmp(dot + 1, kinds[i].field) == 0 && !kinds[i].holds(scalar->text)) {
			vc_errors_add(errors, &scalar->place, scalar->path,
			              "'%s' will not do (expected %s)", scalar->text,
			              kinds[i].expected);
		}
	}
}

struct vc_measurements *vc_measurements_read(const char *path, struct vc_error_list *errors)
{
	const struct vc_guard guard = {
		.schema = &schema, .file = path, .path = "", .check = check
	};
	const struct vc_place place = { .file = path };
	size_t length, before = errors->count;
	cyaml_err_t problem = CYAML_OK;
	cyaml_data_t *read = NULL;
	char *text;

	if (vc_source_read_file(path, &text, &length, errors) != VC_OK) {
		return NULL;
	}
	if (vc_yaml_guard(&guard, text, length, errors)) {
		problem = cyaml_load_data((const uint8_t *)text, length, &config, &schema, &read,
		                          NULL);
	}
	free(text);
	if (problem != CYAML_OK) {
		vc_errors_add(errors, &place, "", "%s", cyaml_strerror(problem));
	}
	if (read && errors->count > before) {
		vc_measurements_free(read);
		read = NULL;
	}
	return read;
}

void vc_measurements_free(struct vc_measurements *measurements)
{
	cyaml_free(&config, &schema, measurements, 0);
}

struct vc_figure vc_measurement_figure(const struct vc_measurement *measurement)
{
	return (struct vc_figure){
		.engine = vc_engine_by_name(measurement->engine),
		.gpu = measurement->gpu,
		.component = component_by_name(measurement->component),
		.said_bytes = strtoull(measurement->said_bytes, NULL, 10),
		.measured_bytes = strtoull(measurement->measured_bytes, NULL, 10),
	};
}

/* ---- Writing ------------------------------------------------------------------------------- */

void vc_measurements_write_head(FILE *out)
{
	fputs("# What vramcalc's detailed method said of own runs, and what their logs show:\n"
	      "# written by `vramcalc verify --calibrate`, taken by --calibration.\n"
	      "version: 1\n"
	      "measurements:\n",
	      out);
}

void vc_measurements_write(FILE *out, const struct vc_figure *figure)
{
	fprintf(out,
	        "- {engine: %s, gpu: \"%s\", component: %s, said_bytes: %" PRIu64
	        ", measured_bytes: %" PRIu64 "}\n",
	        vc_engine_name(figure->engine), figure->gpu, vc_component_name(figure->component),
	        figure->said_bytes, figure->measured_bytes);
}

/* ---- Residuals ----------------------------------------------------------------------------- */

/* A process's own memory and its graphs depend on the GPU; the rest is the model's. */
static bool depends_on_gpu(enum vc_component component)
{
	return component == VC_COMPONENT_FRAMEWORK || component == VC_COMPONENT_CUDA_GRAPHS;
}

static int ascending(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double median(double *values, size_t count)
{
	qsort(values, count, sizeof *values, ascending);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static bool belongs(const struct vc_figure *figure, const struct vc_residual *residual)
{
	return figure->engine == residual->engine && figure->component == residual->component &&
	       (!*residual->gpu || strcmp(figure->gpu, residual->gpu) == 0);
}

/* Ratios beyond these come from another job than was estimated; they are held at them. */
static uint32_t in_ppm(double ratio)
{
	return ratio < 0.01 ? 10000 : ratio > 100 ? 100000000 : (uint32_t)(ratio * 1e6 + 0.5);
}

/* `values` has room for all figures. */
static void settle(struct vc_residual *residual, const struct vc_figure *figures, size_t count,
                   double *values)
{
	bool adds = residual->component == VC_COMPONENT_FRAMEWORK;
	double most = 0, middle;
	size_t found = 0;

	for (size_t i = 0; i < count; i++) {
		double said = (double)figures[i].said_bytes,
		       got = (double)figures[i].measured_bytes;

		if (belongs(&figures[i], residual)) {
			values[found++] = adds ? got - said : got / said;
		}
	}
	middle = median(values, found);
	for (size_t i = 0; i < count; i++) {
		double said = (double)figures[i].said_bytes,
		       got = (double)figures[i].measured_bytes;
		double now = adds ? said + middle : said * middle;

		if (belongs(&figures[i], residual)) {
			double away = now > 0 ? (got > now ? got - now : now - got) / now : 1;

			most = away > most ? away : most;
		}
	}
	residual->measurements = (uint32_t)found;
	residual->ratio_ppm = adds ? 1000000 : in_ppm(middle);
	residual->shift_bytes = adds ? (int64_t)middle : 0;
	residual->deviation_ppm = most < 100 ? (uint32_t)(most * 1e6) : 100000000;
}

static void add_group(struct vc_residual *residuals, size_t *count, const struct vc_figure *figure,
                      const char *gpu)
{
	for (size_t i = 0; i < *count; i++) {
		if (residuals[i].engine == figure->engine &&
		    residuals[i].component == figure->component &&
		    strcmp(residuals[i].gpu, gpu) == 0) {
			return;
		}
	}
	residuals[(*count)++] = (struct vc_residual){ .engine = figure->engine,
		                                      .component = figure->component,
		                                      .gpu = gpu };
}

struct vc_residual *vc_residuals(const struct vc_measurements *measurements, size_t *count)
{
	size_t rows = measurements->measurements_count;
	struct vc_residual *residuals = malloc((2 * rows + 1) * sizeof *residuals);
	struct vc_figure *figures = malloc((rows + 1) * sizeof *figures);
	double *values = malloc((rows + 1) * sizeof *values);

	*count = 0;
	for (size_t i = 0; residuals && figures && values && i < rows; i++) {
		figures[i] = vc_measurement_figure(&measurements->measurements[i]);
		add_group(residuals, count, &figures[i], figures[i].gpu);
		if (!depends_on_gpu(figures[i].component)) {
			add_group(residuals, count, &figures[i], "");
		}
	}
	for (size_t i = 0; i < *count; i++) {
		settle(&residuals[i], figures, rows, values);
	}
	if (!figures || !values) {
		free(residuals);
		residuals = NULL;
	}
	free(figures);
	free(values);
	return residuals;
}
