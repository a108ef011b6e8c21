#include "calibration_file.h"
#include "test.h"

#include <unistd.h>

static char path[] = "/tmp/vramcalc-calibration-XXXXXX";

static struct vc_measurements *read_text(const char *text, struct vc_error_list *errors)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	*errors = (struct vc_error_list){ 0 };
	return vc_measurements_read(path, errors);
}

#define ROW(gpu, component, said, measured)                                                        \
	"- {engine: vllm, gpu: " gpu ", component: " component ", said_bytes: " said               \
	", measured_bytes: " measured "}\n"

static const struct vc_residual *find(const struct vc_residual *residuals, size_t count,
                                      const char *gpu, enum vc_component component)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(residuals[i].gpu, gpu) == 0 && residuals[i].component == component) {
			return &residuals[i];
		}
	}
	return NULL;
}

/* Weights: ratios 1.00, 1.02, 1.10, so 1.02; the farthest is 110 against 102. */
static void takes_medians_by_gpu_and_over_all(void **state)
{
	struct vc_error_list errors;
	size_t count;
	struct vc_measurements *file = read_text(
	        "version: 1\nmeasurements:\n" ROW("a", "weights", "100", "100")
	                ROW("a", "weights", "100", "110") ROW("b", "weights", "100", "102")
	                        ROW("a", "framework", "1000", "900")
	                                ROW("a", "framework", "1000", "1300"),
	        &errors);
	struct vc_residual *residuals;
	const struct vc_residual *all, *own;

	(void)state;
	assert_non_null(file);
	residuals = vc_residuals(file, &count);
	all = find(residuals, count, "", VC_COMPONENT_WEIGHTS);
	assert_non_null(all);
	assert_u64(all->measurements, 3);
	assert_u64(all->ratio_ppm, 1020000);
	assert_in_range(all->deviation_ppm, 78431, 78432); /* 8 / 102 */
	own = find(residuals, count, "a", VC_COMPONENT_WEIGHTS);
	assert_non_null(own);
	assert_u64(own->ratio_ppm, 1050000); /* between 1.00 and 1.10 */
	own = find(residuals, count, "a", VC_COMPONENT_FRAMEWORK);
	assert_non_null(own);
	assert_true(own->shift_bytes == 100); /* between -100 and 300 */
	assert_null(find(residuals, count, "", VC_COMPONENT_FRAMEWORK));
	free(residuals);
	vc_measurements_free(file);
}

static void names_each_mistake_at_its_place(void **state)
{
	static const struct {
		const char *text, *field;
		uint32_t line, column;
	} wrong[] = {
		{ "measurements:\n" ROW("a", "weights", "0", "1"), "measurements[0].said_bytes", 2,
		  58 },
		{ "measurements:\n" ROW("a", "weights", "1", "0"), "measurements[0].measured_bytes",
		  2, 77 },
		{ "measurements:\n" ROW("a", "weights", "1", "-1"),
		  "measurements[0].measured_bytes", 2, 77 },
		{ "measurements:\n" ROW("a", "weights", "1", "7GB"),
		  "measurements[0].measured_bytes", 2, 77 },
		{ "measurements:\n" ROW("a", "logits", "1", "1"), "measurements[0].component", 2,
		  37 },
		{ "measurements:\n- {engine: vlm, gpu: a, component: weights, said_bytes: 1, "
		  "measured_bytes: 1}\n",
		  "measurements[0].engine", 2, 12 },
		{ "measurements:\n" ROW("a", "weights", "1", "1") "extra: 1\n", "extra", 3, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct vc_error_list errors;

		assert_null(read_text(wrong[i].text, &errors));
		assert_int_equal(errors.count, 1);
		assert_string_equal(errors.errors[0].field, wrong[i].field);
		assert_u64(errors.errors[0].line, wrong[i].line);
		assert_u64(errors.errors[0].column, wrong[i].column);
	}
}

static void reads_what_it_writes(void **state)
{
	const struct vc_figure figure = { VC_ENGINE_LLAMACPP, "rtx-3090", VC_COMPONENT_KV_CACHE, 5,
		                          7 };
	FILE *out = fopen(path, "w");
	struct vc_error_list errors = { 0 };
	struct vc_measurements *file;
	struct vc_figure got;

	(void)state;
	assert_non_null(out);
	vc_measurements_write_head(out);
	vc_measurements_write(out, &figure);
	fclose(out);
	file = vc_measurements_read(path, &errors);
	assert_non_null(file);
	got = vc_measurement_figure(&file->measurements[0]);
	assert_int_equal(got.engine, figure.engine);
	assert_string_equal(got.gpu, figure.gpu);
	assert_int_equal(got.component, figure.component);
	assert_u64(got.said_bytes, 5);
	assert_u64(got.measured_bytes, 7);
	vc_measurements_free(file);
}

static int make_file(void **state)
{
	int file = mkstemp(path);

	(void)state;
	return file < 0 || close(file) != 0;
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_medians_by_gpu_and_over_all),
		cmocka_unit_test(names_each_mistake_at_its_place),
		cmocka_unit_test(reads_what_it_writes),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
