#include "spec_roles.h"

#include "hub.h"
#include "source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct vc_spec_roles {
	struct vc_spec specs[VC_ROLE_COUNT];
	struct vc_role_request requests[VC_ROLE_COUNT];
};

static bool refuse(const struct vc_spec *spec, const char *role, const char *message,
                   struct vc_error_list *errors)
{
	struct vc_error error = { .status = VC_INVALID };

	(void)snprintf(error.field, sizeof error.field, "models%s%s", *role ? "." : "", role);
	(void)snprintf(error.message, sizeof error.message, "%s", message);
	vc_spec_place(spec, &error);
	vc_errors_append(errors, &error);
	return false;
}

/* A file beside the spec wins over a bundled model of that name. */
static char *find(const char *folder, const char *name)
{
	char *path = vc_hub_is_name(name) ? NULL : vc_path_join(folder, name);

	if (path && access(path, F_OK) == 0) {
		return path;
	}
	free(path);
	return strdup(name);
}

static bool read_role(const struct vc_model_input *input, struct vc_spec *spec, enum vc_role role,
                      const struct vc_spec_options *options, struct vc_error_list *errors)
{
	const struct vc_spec_options nested = { .offline = options && options->offline,
		                                .beside = true };
	const char *text = input->texts.roles[role];
	struct vc_spec *read = &spec->roles->specs[role];
	char *name;
	bool good;

	spec->roles->requests[role].given = true;
	if (strcmp(text, "self") == 0) {
		return true;
	}
	if (strcmp(text, "-") == 0) {
		return refuse(spec, vc_role_name(role),
		              "is standard input (a file, a folder, a model's name or self)",
		              errors);
	}
	name = find(input->folder, text);
	good = name && vc_spec_read(name, &nested, read, errors) == VC_OK;
	free(name);
	spec->roles->requests[role].request = &read->request;
	return good || refuse(spec, vc_role_name(role), "cannot be read (a SPEC)", errors);
}

bool vc_spec_roles_read(const struct vc_model_input *input, struct vc_spec *spec,
                        const struct vc_spec_options *options, struct vc_error_list *errors)
{
	bool any = false, good = true;

	for (int role = 0; role < VC_ROLE_COUNT; role++) {
		any |= input->texts.roles[role] != NULL;
	}
	if (!any) {
		return true;
	}
	if (options && options->beside) {
		return refuse(spec, "",
		              "belong to a model that is itself named by another spec's models "
		              "(the policy's spec names them all)",
		              errors);
	}
	spec->roles = calloc(1, sizeof *spec->roles);
	if (!spec->roles) {
		return refuse(spec, "", "do not fit into memory", errors);
	}
	spec->roles->requests[VC_ROLE_ROLLOUT].given = true;
	for (int role = 0; role < VC_ROLE_COUNT; role++) {
		if (input->texts.roles[role]) {
			good = read_role(input, spec, (enum vc_role)role, options, errors) && good;
		}
	}
	spec->request.roles = spec->roles->requests;
	return good;
}

void vc_spec_roles_free(struct vc_spec_roles *roles)
{
	for (int role = 0; roles && role < VC_ROLE_COUNT; role++) {
		vc_spec_free(&roles->specs[role]);
	}
	free(roles);
}
