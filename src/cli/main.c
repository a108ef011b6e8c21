/* The program: hands its words to the option and command tables. */
#include "arguments.h"
#include "help.h"
#include "output.h"

#include "vramcalc/vramcalc.h"

static int run(struct arguments *arguments, int argc)
{
	if (argc < 2) {
		help_program(stderr);
		return EXIT_WRONG_INPUT;
	}
	if (arguments->version) {
		puts("vramcalc " VC_VERSION_STRING);
		return EXIT_FITS;
	}
	if (arguments->help && arguments->named) {
		help_of_command(stdout, arguments->command);
		return EXIT_FITS;
	}
	if (arguments->output && !output_to_file(arguments->output)) {
		return EXIT_WRONG_INPUT;
	}
	return arguments->command->run(arguments);
}

int main(int argc, char **argv)
{
	struct arguments arguments;
	int status = EXIT_WRONG_INPUT;

	output_reserve();
	if (arguments_parse(&arguments, argc, argv, stderr)) {
		status = output_finish(run(&arguments, argc));
	}
	arguments_free(&arguments);
	return status;
}
