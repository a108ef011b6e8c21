#include "model.h"
#include "test.h"

static struct vc_model llama(uint64_t layers)
{
	struct vc_model model = { .stack_count = 1, .kind_count = 1, .extra_count = 3 };
	struct vc_layer_kind *kind = &model.kinds[0];

	model.stacks[0].hidden_size = 4096;
	model.stacks[0].layers = (uint32_t)layers;
	kind->mixer_count = 1;
	kind->mixers[0] = (struct vc_mixer){
		.type = VC_MIXER_ATTENTION, .heads = 32, .kv_heads = 32, .head_dim = 128
	};
	kind->ffn_count = 1;
	kind->ffns[0] = (struct vc_ffn){ .type = VC_FFN_GATED, .size = 11008 };
	kind->norms = 2;
	kind->norm_elements = 8192;
	model.extras[0].tensor =
	        (struct vc_tensor){ VC_MODULE_EMBEDDING, VC_SPLIT_VOCAB, 32000, 4096, .count = 1 };
	model.extras[1] = (struct vc_extra){ { VC_MODULE_NORM, VC_SPLIT_NONE, 4096, 1, .count = 1 },
		                             .last = true };
	model.extras[2] =
	        (struct vc_extra){ { VC_MODULE_LM_HEAD, VC_SPLIT_VOCAB, 32000, 4096, .count = 1 },
		                   .last = true };
	return model;
}

static uint64_t count(const struct vc_model *model)
{
	struct vc_counts counts;
	struct vc_error error;

	assert_int_equal(vc_model_count(model, &counts, &error), VC_OK);
	return counts.total;
}

/* Llama-2-7B: 6,738,415,616 as keras-hub's presets state it */
static void dense_model_counts(void **state)
{
	struct vc_model model = llama(32);

	(void)state;
	assert_true(vc_model_has_shape(&model));
	assert_u64(count(&model), 6738415616);
	model.extras[2].tied = true;
	assert_u64(count(&model), 6738415616 - 32000 * 4096);
}

static void params_alone_have_no_shape(void **state)
{
	struct vc_model model = { .params = 7000000000 };

	(void)state;
	assert_false(vc_model_has_shape(&model));
	assert_u64(count(&model), 7000000000);
}

/* By hand: 8 experts of 3 x 4096 x 14336, 2 of them chosen; router 8 x 4096. */
static void active_parameters_leave_idle_experts_out(void **state)
{
	struct vc_model model = llama(1);
	struct vc_counts counts;
	struct vc_error error;
	uint64_t expert = 3ull * 4096 * 14336, rest = 2ull * 32000 * 4096 + 4096 + 8192;

	(void)state;
	rest += 4ull * 4096 * 4096 + 8 * 4096;
	model.kinds[0].ffns[0] = (struct vc_ffn){ .type = VC_FFN_MOE,
		                                  .gated = true,
		                                  .size = 14336,
		                                  .experts = 8,
		                                  .experts_per_token = 2 };
	assert_int_equal(vc_model_count(&model, &counts, &error), VC_OK);
	assert_u64(counts.total, rest + 8 * expert);
	assert_u64(counts.active, rest + 2 * expert);
}

static void overflow_is_refused(void **state)
{
	struct vc_model model = llama(1024);
	struct vc_counts counts;
	struct vc_error error;

	(void)state;
	model.stacks[0].hidden_size = UINT64_MAX / 2;
	assert_int_equal(vc_model_count(&model, &counts, &error), VC_OVERFLOW);
	assert_int_equal(error.status, VC_OVERFLOW);
}

static void first_counts(const struct vc_visit *visit, void *context)
{
	uint64_t *sum = context;

	*sum += visit->extra && visit->extra->tied ? 0
	                                           : tensor_elements(visit->tensor) * visit->layers;
}

static void ranges_add_up_to_the_whole(void **state)
{
	struct vc_model model = llama(32);
	uint64_t sum = 0;

	(void)state;
	model_walk_range(&model, 0, (struct layer_range){ 0, 5 },
	                 (struct visitor){ first_counts, &sum });
	model_walk_range(&model, 0, (struct layer_range){ 5, 32 },
	                 (struct visitor){ first_counts, &sum });
	assert_u64(sum, 6738415616);
}

static void every_module_has_a_name(void **state)
{
	(void)state;
	for (int i = 0; i < VC_MODULE_COUNT; i++) {
		assert_non_null(vc_module_name((enum vc_module)i));
	}
	assert_string_equal(vc_module_name(VC_MODULE_Q), "q_proj");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dense_model_counts),
		cmocka_unit_test(params_alone_have_no_shape),
		cmocka_unit_test(active_parameters_leave_idle_experts_out),
		cmocka_unit_test(overflow_is_refused),
		cmocka_unit_test(ranges_add_up_to_the_whole),
		cmocka_unit_test(every_module_has_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
