#include "option.h"

#include "spec.h"

#include <string.h>

const char *option_group_name(enum option_group group)
{
	static const char *const names[GROUP_COUNT] = {
		[GROUP_WORKLOAD] = "Workload",
		[GROUP_TRAINING] = "Training",
		[GROUP_LAYOUT] = "Layout and engine",
		[GROUP_HARDWARE] = "GPUs",
		[GROUP_OUTPUT] = "Output",
		[GROUP_OTHER] = "Other",
	};

	return names[group];
}

static const struct vc_spec_field *field_of(const struct option_row *option)
{
	return option->field ? vc_spec_field_by_path(option->field) : NULL;
}

const char *option_value_name(const struct option_row *option)
{
	static const char *const names[] = {
		[VC_FIELD_TEXT] = "TEXT",     [VC_FIELD_CHOICE] = "NAME",
		[VC_FIELD_FLAG] = "BOOL",     [VC_FIELD_COUNT] = "N",
		[VC_FIELD_BYTES] = "SIZE",    [VC_FIELD_RATIO] = "RATIO",
		[VC_FIELD_MONEY] = "PRICE",   [VC_FIELD_VERSION] = "VERSION",
		[VC_FIELD_CURRENCY] = "CODE", [VC_FIELD_LIST] = "LIST",
		[VC_FIELD_TREE] = "TREE",
	};
	const struct vc_spec_field *field = field_of(option);

	return field ? names[field->kind] : option->value;
}

const char *option_help(const struct option_row *option)
{
	const struct vc_spec_field *field = field_of(option);

	return field ? field->summary : option->help;
}

const char *option_fallback(const struct option_row *option)
{
	const struct vc_spec_field *field = field_of(option);

	return field ? field->fallback : option->fallback;
}

const char *option_choice(const struct option_row *option, size_t index)
{
	const struct vc_spec_field *field = field_of(option);

	if (field) {
		return vc_spec_choice(field, index);
	}
	return option->choice ? option->choice(index) : NULL;
}

const struct command *command_by_name(const char *name)
{
	for (const struct command *c = command_table; c->name; c++) {
		if (strcmp(c->name, name) == 0) {
			return c;
		}
	}
	return NULL;
}
