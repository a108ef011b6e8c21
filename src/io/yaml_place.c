#include "yaml_place.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

enum {
	MAX_DEPTH = 64
};

struct level {
	bool mapping, have_key;
	const char *rest;       /* of the path, below this level; NULL: not on the path */
	const char *value_rest; /* of the path, below the value of the key that was just read */
	uint32_t entries;
};

struct search {
	const char *path;
	struct level levels[MAX_DEPTH];
	uint32_t depth;
	struct vc_text_mark found;
	bool done;
};

/* What follows `name` in a path that starts with it; NULL when it does not. */
static const char *match_part(const char *path, const char *name)
{
	size_t length = strlen(name);

	if (strncmp(path, name, length) != 0) {
		return NULL;
	}
	path += length;
	return *path == '.' ? path + 1 : *path == '[' || !*path ? path : NULL;
}

/* What is left of the path at the value that comes next; NULL when it is not on the path. */
static const char *rest_at(struct search *search)
{
	struct level *level = search->depth ? &search->levels[search->depth - 1] : NULL;
	char index[16];

	if (!level) {
		return search->path;
	}
	if (level->mapping) {
		level->have_key = false;
		return level->value_rest;
	}
	(void)snprintf(index, sizeof index, "[%u]", level->entries++);
	return level->rest ? match_part(level->rest, index) : NULL;
}

static void take_value(struct search *search, const yaml_event_t *event)
{
	const char *rest = rest_at(search);
	bool opens = event->type != YAML_SCALAR_EVENT;

	if (rest) {
		search->found.line = (uint32_t)event->start_mark.line + 1;
		search->found.column = (uint32_t)event->start_mark.column + 1;
		search->done = !*rest || !opens;
	}
	if (opens && search->depth == MAX_DEPTH) {
		search->done = true;
	} else if (opens) {
		search->levels[search->depth++] = (struct level){
			.mapping = event->type == YAML_MAPPING_START_EVENT,
			.rest = rest,
		};
	}
}

static void take_event(struct search *search, const yaml_event_t *event)
{
	struct level *level = search->depth ? &search->levels[search->depth - 1] : NULL;

	switch (event->type) {
	case YAML_SCALAR_EVENT:
	case YAML_SEQUENCE_START_EVENT:
	case YAML_MAPPING_START_EVENT:
		if (!level || !level->mapping || level->have_key) {
			take_value(search, event);
		} else if (event->type == YAML_SCALAR_EVENT) {
			const char *name = (const char *)event->data.scalar.value;

			level->have_key = true;
			level->value_rest = level->rest ? match_part(level->rest, name) : NULL;
		} else {
			search->done = true;
		}
		break;
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		search->done = level && level->rest; /* the path leads no further down */
		search->depth -= search->depth > 0;
		break;
	default:
		break;
	}
}

struct vc_text_mark vc_yaml_place(const char *text, size_t length, const char *path)
{
	struct search search = { .path = path };
	yaml_parser_t parser;
	yaml_event_t event;

	if (!yaml_parser_initialize(&parser)) {
		return search.found;
	}
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
	while (!search.done && yaml_parser_parse(&parser, &event)) {
		take_event(&search, &event);
		search.done = search.done || event.type == YAML_STREAM_END_EVENT;
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	return search.found;
}
