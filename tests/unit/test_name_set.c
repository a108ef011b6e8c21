#include "name_set.h"
#include "test.h"

static void names_are_new_once(void **state)
{
	struct vc_name_set set = { 0 };
	char name[32];

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 5000; i++) {
			int length = snprintf(name, sizeof name, "blk.%d.attn_q.weight", i);

			assert_int_equal(vc_name_set_add(&set, name, (size_t)length),
			                 round == 0 ? VC_NAME_NEW : VC_NAME_SEEN);
		}
	}
	assert_int_equal(set.count, 5000);
	/* bytes count, not text: a NUL is a byte like others */
	assert_int_equal(vc_name_set_add(&set, "a\0b", 3), VC_NAME_NEW);
	assert_int_equal(vc_name_set_add(&set, "a\0c", 3), VC_NAME_NEW);
	vc_name_set_drop(&set);
	assert_int_equal(vc_name_set_add(&set, "a\0b", 3), VC_NAME_NEW);
	vc_name_set_drop(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(names_are_new_once) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
