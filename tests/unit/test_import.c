#include "bundled.h"
#include "import.h"
#include "spec.h"
#include "test.h"

#include <dirent.h>
#include <unistd.h>

enum {
	MAX_CONFIGS = 600
};

static char *imported(const char *source)
{
	struct vc_error_list errors = { 0 };
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	if (vc_import(source, out, &errors) != VC_OK) {
		fail_msg("%s: %s: %s", source, errors.errors[0].field, errors.errors[0].message);
	}
	fclose(out);
	return text;
}

static void assert_same_estimate(const struct vc_spec *a, const struct vc_spec *b)
{
	static struct vc_ledger first, second;
	struct vc_error error;

	assert_int_equal(vc_estimate(&a->request, &first, &error), VC_OK);
	assert_int_equal(vc_estimate(&b->request, &second, &error), VC_OK);
	assert_int_equal(second.line_count, first.line_count);
	for (uint32_t i = 0; i < first.line_count; i++) {
		assert_u64(second.lines[i].bytes, first.lines[i].bytes);
	}
	assert_u64(second.total_bytes, first.total_bytes);
	assert_int_equal(second.note_count, first.note_count);
}

/* Member by member: what lies between members is nobody's. */
static void assert_same_extra(const struct vc_extra *a, const struct vc_extra *b)
{
	assert_int_equal(b->tensor.module, a->tensor.module);
	assert_int_equal(b->tensor.split, a->tensor.split);
	assert_u64(b->tensor.out, a->tensor.out);
	assert_u64(b->tensor.in, a->tensor.in);
	assert_u64(b->tensor.bias, a->tensor.bias);
	assert_u64(b->tensor.count, a->tensor.count);
	assert_int_equal(b->tensor.linear, a->tensor.linear);
	assert_int_equal(b->stack, a->stack);
	assert_int_equal(b->tied, a->tied);
	assert_int_equal(b->last, a->last);
	assert_int_equal(b->buffer, a->buffer);
}

static void assert_same_model(const struct vc_model *a, const struct vc_model *b)
{
	assert_string_equal(b->name, a->name);
	assert_string_equal(b->family, a->family);
	assert_int_equal(b->known_family, a->known_family);
	assert_int_equal(b->dtype, a->dtype);
	assert_u64(b->max_position_embeddings, a->max_position_embeddings);
	assert_u64(b->rotary_dim, a->rotary_dim);
	assert_int_equal(b->stack_count, a->stack_count);
	assert_memory_equal(b->stacks, a->stacks, sizeof a->stacks);
	assert_memory_equal(b->kinds, a->kinds, sizeof a->kinds);
	assert_int_equal(b->extra_count, a->extra_count);
	for (uint32_t i = 0; i < a->extra_count; i++) {
		assert_same_extra(&a->extras[i], &b->extras[i]);
	}
}

/* What import writes of a config.json is the same model, tensor by tensor. */
static void import_and_back(void **state)
{
	struct vc_error_list errors = { 0 };
	struct vc_spec direct, again;
	char path[512];
	char *text;

	snprintf(path, sizeof path, TESTS_DIR "/data/configs/%s", (const char *)*state);
	text = imported(path);
	assert_int_equal(vc_spec_read(path, NULL, &direct, &errors), VC_OK);
	if (vc_spec_read_memory(&(struct vc_spec_text){ "imported", text, strlen(text), NULL },
	                        NULL, &again, &errors) != VC_OK) {
		fail_msg("%u:%u: %s: %s", errors.errors[0].line, errors.errors[0].column,
		         errors.errors[0].field, errors.errors[0].message);
	}
	assert_same_model(direct.model, again.model);
	assert_same_estimate(&direct, &again);
	vc_spec_free(&direct);
	vc_spec_free(&again);
	free(text);
}

static void bundled_text_comes_first(void **state)
{
	char *text = imported("Llama2-7B");
	const char *bundled;
	size_t length;

	(void)state;
	assert_true(vc_bundled_find("llama-2-7b", &bundled, &length));
	assert_memory_equal(text, bundled, length);
	free(text);
}

static void awkward_values_survive(void **state)
{
	static const char config[] =
	        "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_hidden_layers\": 2,"
	        "\"num_attention_heads\": 4, \"intermediate_size\": 128, \"vocab_size\": 100,"
	        "\"_name_or_path\": \"a: \\\"b\\\" # c\", \"torch_dtype\": \"bfloat16\","
	        "\"yes\": \"no\", \"odd key: {\": [1, -2.5, 1e15, \"1.0\", \"\", null, true],"
	        "\"empty\": {}, \"none\": [], \"limit\": [0, 1e300], \"deep\": {\"a\": {\"b\": "
	        "[{\"c\": "
	        "\"\\u00e9\\n\"}]}},"
	        "\"id2label\": {\"0\": \"x\", \"1\": \"y\", \"2\": \"z\"}}";
	char path[] = "/tmp/vramcalc-import-XXXXXX";
	struct vc_error_list errors = { 0 };
	struct vc_spec spec;
	int file = mkstemp(path);
	char *text;

	(void)state;
	assert_true(file >= 0);
	assert_int_equal(write(file, config, sizeof config - 1), sizeof config - 1);
	close(file);
	text = imported(path);
	remove(path);
	if (vc_spec_read_memory(&(struct vc_spec_text){ "imported", text, strlen(text), NULL },
	                        NULL, &spec, &errors) != VC_OK) {
		fail_msg("%s: %s in\n%s", errors.errors[0].field, errors.errors[0].message, text);
	}
	assert_non_null(strstr(text, "\n    num_labels: 3\n"));
	assert_non_null(strstr(text, "[1, -2.5, 1000000000000000, \"1.0\", \"\", null, true]"));
	assert_non_null(strstr(text, "\n    \"yes\": \"no\"\n"));
	assert_null(strstr(text, "limit"));
	assert_int_equal(spec.model->stacks[0].hidden_size, 64);
	vc_spec_free(&spec);
	free(text);
}

static void a_spec_is_refused(void **state)
{
	struct vc_error_list errors = { 0 };
	char path[] = "/tmp/vramcalc-import-XXXXXX";
	int file = mkstemp(path);
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	(void)state;
	assert_true(file >= 0);
	assert_int_equal(write(file, "model: {params: 7B}\n", 20), 20);
	close(file);
	assert_int_equal(vc_import(path, out, &errors), VC_INVALID);
	assert_int_equal(errors.count, 1);
	fclose(out);
	assert_int_equal(length, 0);
	free(text);
	remove(path);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct CMUnitTest *)a)->name, ((const struct CMUnitTest *)b)->name);
}

int main(void)
{
	static struct CMUnitTest tests[MAX_CONFIGS + 4] = {
		cmocka_unit_test(bundled_text_comes_first),
		cmocka_unit_test(awkward_values_survive),
		cmocka_unit_test(a_spec_is_refused),
	};
	static char names[MAX_CONFIGS][80];
	DIR *folder = opendir(TESTS_DIR "/data/configs");
	const struct dirent *entry;
	size_t count = 0;

	while (folder && count < MAX_CONFIGS && (entry = readdir(folder)) != NULL) {
		if (entry->d_name[0] != '.') {
			snprintf(names[count], sizeof names[count], "%.79s", entry->d_name);
			tests[3 + count] = (struct CMUnitTest){ .name = names[count],
				                                .test_func = import_and_back,
				                                .initial_state = names[count] };
			count++;
		}
	}
	if (folder) {
		closedir(folder);
	}
	qsort(tests + 3, count, sizeof tests[0], by_name);
	return _cmocka_run_group_tests("import", tests, count + 3, NULL, NULL);
}
