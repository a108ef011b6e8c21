#include "test.h"

#include "bundled.h"
#include "spec.h"
#include "tensors.h"

static void rows_add_up_to_the_count_of_every_bundled_model(void **state)
{
	size_t models = 0;

	(void)state;
	for (; vc_bundled_name(models); models++) {
		struct vc_error_list errors = { 0 };
		struct vc_counts counts;
		struct vc_error error;
		struct tensor_row *rows;
		struct vc_spec spec;
		uint64_t sum = 0;
		size_t count;

		assert_int_equal(vc_spec_read(vc_bundled_name(models), NULL, &spec, &errors),
		                 VC_OK);
		assert_int_equal(vc_model_count(spec.model, &counts, &error), VC_OK);
		rows = tensor_rows(spec.model, &count);
		assert_non_null(rows);
		for (size_t i = 0; i + 1 < count; i++) {
			assert_false(rows[i].total);
			sum += rows[i].remark ? 0 : rows[i].elements;
		}
		assert_true(rows[count - 1].total);
		assert_u64(rows[count - 1].elements, sum);
		assert_u64(sum, counts.total);
		free(rows);
		vc_spec_free(&spec);
	}
	assert_true(models > 10);
}

static void without_a_shape_there_are_none(void **state)
{
	struct vc_model model = { .params = 7000000000 };
	size_t count;

	(void)state;
	assert_null(tensor_rows(&model, &count));
	assert_u64(count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_add_up_to_the_count_of_every_bundled_model),
		cmocka_unit_test(without_a_shape_there_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
