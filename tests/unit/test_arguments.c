#include "test.h"

#include "arguments.h"

#include "vramcalc/vramcalc.h"

/* The words behind "vramcalc", ended by NULL. */
static bool parse(struct arguments *arguments, char **message, char *const words[])
{
	char *argv[16] = { "vramcalc" };
	size_t length;
	FILE *errors = open_memstream(message, &length);
	int argc = 1;
	bool good;

	while (words[argc - 1]) {
		argv[argc] = words[argc - 1];
		argc++;
	}
	good = arguments_parse(arguments, argc, argv, errors);
	fclose(errors);
	return good;
}

static void assert_refused(char *const words[], const char *want)
{
	struct arguments arguments;
	char *message;

	assert_false(parse(&arguments, &message, words));
	assert_string_equal(message, want);
	arguments_free(&arguments);
	free(message);
}

static void values_arrive(void **state)
{
	char *words[] = { "plan",   "a.yaml", "--json", "--max-gpus=4", "-g", "A100", "--gpu=T4",
		          "--unit", "GiB",    "b.yaml", "--",           "-c", NULL };
	struct arguments a;
	char *message;

	(void)state;
	assert_true(parse(&a, &message, words));
	assert_string_equal(message, "");
	assert_string_equal(a.command->name, "plan");
	assert_true(a.json && !a.csv);
	assert_u64(a.max_gpus, 4);
	assert_u64(a.gpus.count, 2);
	assert_string_equal(a.gpus.items[0], "A100");
	assert_string_equal(a.gpus.items[1], "T4");
	assert_int_equal(a.unit.index, UNIT_GIB);
	assert_u64(a.operands.count, 3);
	assert_string_equal(a.operands.items[0], "a.yaml");
	assert_string_equal(a.operands.items[2], "-c");
	arguments_free(&a);
	free(message);
}

static void fields_are_settings_in_their_order(void **state)
{
	char *words[] = { "plan", "--batch-size",    "8", "-s", "model.params=7B",
		          "x",    "--batch-size=16", NULL };
	struct arguments a;
	char *message;

	(void)state;
	assert_true(parse(&a, &message, words));
	assert_u64(a.settings.count, 3);
	assert_string_equal(a.settings.items[0], "--batch-size:workload.batch_size=8");
	assert_string_equal(a.settings.items[1], "model.params=7B");
	assert_string_equal(a.settings.items[2], "--batch-size:workload.batch_size=16");
	arguments_free(&a);
	free(message);
}

static void the_program_itself_has_options(void **state)
{
	char *words[] = { "--version", NULL };
	struct arguments a;
	char *message;

	(void)state;
	assert_true(parse(&a, &message, words));
	assert_true(a.version && !a.named);
	arguments_free(&a);
	free(message);
}

#define WORDS(...)                                                                                 \
	(char *const[])                                                                            \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}

static void mistakes_get_one_clear_line(void **state)
{
	(void)state;
	assert_refused(WORDS("plam", "x"),
	               "vramcalc: plam: no such command (did you mean plan?)\n");
	assert_refused(WORDS("model.yaml"), "vramcalc: model.yaml: no such command (did you mean "
	                                    "vramcalc plan model.yaml?)\n");
	assert_refused(WORDS("quux"),
	               "vramcalc: quux: no such command (vramcalc --help lists them)\n");
	assert_refused(WORDS("plan", "x", "--jsn"),
	               "vramcalc plan: --jsn: no such option (did you mean --json?)\n");
	assert_refused(WORDS("plan", "x", "--batchsize=3"),
	               "vramcalc plan: --batchsize=3: no such option (did you mean "
	               "--batch-size?)\n");
	assert_refused(WORDS("plan", "x", "--zzz"),
	               "vramcalc plan: --zzz: no such option (vramcalc plan --help lists them)\n");
	assert_refused(WORDS("plan", "x", "-Z"),
	               "vramcalc plan: -Z: no such option (vramcalc plan --help lists them)\n");
	assert_refused(WORDS("plan", "x", "--gpu"),
	               "vramcalc plan: --gpu: a value is missing (expected GPU)\n");
	assert_refused(WORDS("plan", "x", "--json=yes"), "vramcalc plan: --json: takes no value\n");
	assert_refused(WORDS("plan", "x", "--unit", "gb"),
	               "vramcalc plan: --unit: \"gb\" will not do (expected GB, GiB, MiB or B)\n");
	assert_refused(WORDS("plan"),
	               "vramcalc plan: no SPEC... given (vramcalc plan --help shows examples)\n");
	assert_refused(WORDS("precisions", "x"), "vramcalc precisions: x: one word too many\n");
	assert_refused(WORDS("plan", "x", "--json", "--csv"),
	               "vramcalc plan: --json: does not go with --csv\n");
	assert_refused(WORDS("gpus", "--explain"),
	               "vramcalc gpus: --explain: no such option of this command (vramcalc gpus "
	               "--help lists them)\n");
}

/* One line of option_rules each, and what it lets through. */
static void options_without_effect_are_refused(void **state)
{
	static char *const good[][8] = {
		{ "check", "x", "--base", "y", "--max-increase", "5%", NULL },
		{ "plan", "x", "--csv", "--explain", NULL },
		{ "plan", "x", "--explain", "--layouts", "--mig", NULL },
		{ "solve", "x", "--margin", "1.1", "--method", "rule", NULL },
		{ "diff", "x", "y", "--gpu", "A10", "-m", "detailed", NULL },
		{ "offers", "--hours", "2", "--billing", "hour", NULL },
		{ "plan", "--help", "--json", "--csv", NULL },
	};
	struct arguments a;
	char *message;

	(void)state;
	assert_refused(WORDS("check", "x", "--max-increase", "5%"),
	               "vramcalc check: --max-increase: goes with --base\n");
	assert_refused(WORDS("check", "x", "--github", "--json"),
	               "vramcalc check: --json: does not go with --github\n");
	assert_refused(WORDS("check", "x", "-q", "--json"),
	               "vramcalc check: --quiet: does not go with --json\n");
	assert_refused(WORDS("plan", "x", "--csv", "--mig", "-e"),
	               "vramcalc plan: --explain: does not go with --mig\n");
	assert_refused(WORDS("help", "--man", "--completion", "zsh"),
	               "vramcalc help: --man: does not go with --completion\n");
	assert_refused(WORDS("plan", "x", "-a", "-g", "A10"),
	               "vramcalc plan: --all: does not go with --gpu\n");
	assert_refused(WORDS("compare", "x", "--max-gpus", "2"),
	               "vramcalc compare: --max-gpus: goes with --gpu\n");
	assert_refused(WORDS("diff", "x", "y", "--gpu", "A10"),
	               "vramcalc diff: --gpu: goes with --method detailed\n");
	assert_refused(WORDS("solve", "x", "--margin", "1.1", "--method=detailed"),
	               "vramcalc solve: --margin: does not go with --method detailed\n");
	assert_refused(WORDS("diagnose", "x", "--gpus", "2"),
	               "vramcalc diagnose: --gpus: goes with --spec\n");
	assert_refused(WORDS("plan", "x", "--region", "y"),
	               "vramcalc plan: --region: goes with --instances\n");
	assert_refused(WORDS("offers", "--billing", "hour"),
	               "vramcalc offers: --billing: goes with --hours\n");
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		assert_true(parse(&a, &message, good[i]));
		assert_string_equal(message, "");
		arguments_free(&a);
		free(message);
	}
}

static void abbreviations_are_refused(void **state)
{
	(void)state;
	/* getopt_long would take all of these */
	assert_refused(WORDS("plan", "x", "--expl"),
	               "vramcalc plan: --expl: no such option (did you mean --explain?)\n");
	assert_refused(WORDS("plan", "x", "--max-g", "4"),
	               "vramcalc plan: --max-g: no such option (did you mean --max-gpus?)\n");
	assert_refused(WORDS("plan", "x", "--max-g=4"),
	               "vramcalc plan: --max-g=4: no such option (did you mean --max-gpus?)\n");
	assert_refused(WORDS("plan", "x", "--s", "a=b"),
	               "vramcalc plan: --s: no such option (vramcalc plan --help lists them)\n");
}

static void numbers_are_checked(void **state)
{
	char *message;
	struct arguments a;

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		static char *const wrong[] = { "0", "-1", "two", "1.5", "" };

		assert_false(parse(&a, &message, WORDS("plan", "x", "--max-gpus", wrong[i])));
		assert_non_null(strstr(message, "--max-gpus"));
		arguments_free(&a);
		free(message);
	}
}

static void amounts_are_exact(void **state)
{
	struct arguments a;
	char *message;

	(void)state;
	assert_true(parse(&a, &message,
	                  WORDS("plan", "x", "--overhead", "1.5GiB", "--margin=1.25",
	                        "--activation-share", "0.1")));
	assert_u64(a.overhead_bytes, 1610612736); /* 1.5 x 2^30 */
	assert_u64(a.margin_ppm, 1250000);
	assert_u64(a.activation_ppm, 100000);
	arguments_free(&a);
	free(message);
}

static void control_characters_do_not_reach_the_terminal(void **state)
{
	(void)state;
	assert_refused(WORDS("plan", "--\033[2J"),
	               "vramcalc plan: --\\x1b[2J: no such option (vramcalc plan --help lists "
	               "them)\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_arrive),
		cmocka_unit_test(fields_are_settings_in_their_order),
		cmocka_unit_test(the_program_itself_has_options),
		cmocka_unit_test(mistakes_get_one_clear_line),
		cmocka_unit_test(options_without_effect_are_refused),
		cmocka_unit_test(abbreviations_are_refused),
		cmocka_unit_test(numbers_are_checked),
		cmocka_unit_test(amounts_are_exact),
		cmocka_unit_test(control_characters_do_not_reach_the_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
