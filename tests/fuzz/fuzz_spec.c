/* Specs, config.json files and overrides from arbitrary bytes: "\x01FIELD=VALUE\nSPEC" or SPEC. */
#include "spec.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(enum vc_status status, const struct vc_spec *spec,
                  const struct vc_error_list *errors)
{
	char line[VC_ERROR_TEXT];

	/* A spec or errors, never both, never neither; the model is there exactly with a spec. */
	if ((status == VC_OK) != (errors->count == 0) ||
	    (status == VC_OK) != (spec->model != NULL)) {
		abort();
	}
	for (size_t i = 0; i < vc_errors_kept(errors); i++) {
		const struct vc_error *error = &errors->errors[i];

		/* What the guard lets through libcyaml binds. */
		if (strncmp(error->message, "cannot be bound", 15) == 0 || !error->message[0] ||
		    strchr(vc_error_format(error, line), '\n')) {
			abort();
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *newline = size && data[0] == 1 ? memchr(data, '\n', size) : NULL;
	struct vc_spec_text text = { .name = "fuzz", .folder = "/nonexistent" };
	struct vc_error_list errors = { 0 };
	struct vc_spec_options options = { 0 };
	struct vc_spec spec;
	char override[4096] = "";
	const char *overrides = override;

	if (newline) {
		size_t length = (size_t)(newline - data) - 1;

		length = length < sizeof override ? length : sizeof override - 1;
		memcpy(override, data + 1, length);
		options.overrides = &overrides;
		options.override_count = 1;
		size -= (size_t)(newline + 1 - data);
		data = newline + 1;
	}
	text.text = (const char *)data;
	text.length = size;
	check(vc_spec_read_memory(&text, &options, &spec, &errors), &spec, &errors);
	vc_spec_free(&spec);
	return 0;
}
