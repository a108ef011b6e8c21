/* `import`: a spec to be edited, from a config.json, a weight file or a bundled model. */
#include "import.h"

#include "arguments.h"
#include "commands.h"
#include "report.h"

int import_command(struct arguments *arguments)
{
	struct vc_error_list errors = { 0 };

	if (vc_import(arguments->operands.items[0], stdout, &errors) != VC_OK) {
		report_errors(&errors);
		return EXIT_WRONG_INPUT;
	}
	return EXIT_FITS;
}
