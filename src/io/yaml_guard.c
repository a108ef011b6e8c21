/* One walk over libyaml's events, with a stack of schema levels beside it. */
#include "yaml_guard.h"

#include "nearest.h"
#include "utf8.h"
#include "yaml_tree.h"

#include <cyaml/cyaml.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_FIELDS = 64,
	/* A file with more mistakes is something else than what was expected. */
	MAX_MISTAKES = 100
};

/* What the next value in a mapping is for. */
enum next {
	NEXT_KEY,
	NEXT_FIELD,
	NEXT_NOTHING /* the key was refused: its value is passed over */
};

struct frame {
	const cyaml_schema_value_t *value;
	const cyaml_schema_field_t *field;
	enum next next;
	uint64_t seen;      /* a bit per field */
	uint32_t entries;   /* of a list */
	size_t path_length; /* of what is above */
	yaml_mark_t mark;
};

static const char empty[] = "is empty (a value is expected)";

struct walk {
	const struct vc_guard *guard;
	struct vc_error_list *errors;
	size_t errors_before;
	struct frame frames[VC_YAML_DEPTH];
	uint32_t depth, passed_over; /* open levels below a refused value */
	char path[VC_YAML_PATH];
	struct vc_yaml_tree tree;
	bool in_tree, stopped;
	uint32_t documents;
};

static struct vc_place place_of(const struct walk *walk, yaml_mark_t mark)
{
	struct vc_place place = { .file = walk->guard->file };

	if (!walk->guard->placeless) {
		place.line = (uint32_t)mark.line + 1;
		place.column = (uint32_t)mark.column + 1;
	}
	return place;
}

static void refuse(struct walk *walk, yaml_mark_t mark, const char *what)
{
	struct vc_place place = place_of(walk, mark);

	vc_errors_add(walk->errors, &place, walk->path, "%s", what);
}

/* Not well-formed: what was found before may be nonsense that follows from it. */
static void stop(struct walk *walk, yaml_mark_t mark, const char *what)
{
	struct vc_place place = place_of(walk, mark);

	walk->errors->count = walk->errors_before;
	vc_errors_add(walk->errors, &place, walk->guard->path, "%s", what);
	walk->stopped = true;
}

bool vc_yaml_is_null(const char *text)
{
	return !*text || strcmp(text, "~") == 0 || strcmp(text, "null") == 0 ||
	       strcmp(text, "Null") == 0 || strcmp(text, "NULL") == 0;
}

static struct frame *top_frame(struct walk *walk)
{
	return walk->depth ? &walk->frames[walk->depth - 1] : NULL;
}

/* Appends ".name" or "[index]"; a path that is too long is cut. */
static void descend(struct walk *walk, const char *name, uint32_t index)
{
	size_t length = strlen(walk->path);
	size_t room = sizeof walk->path - length;

	if (name) {
		(void)snprintf(walk->path + length, room, "%s%s", length ? "." : "", name);
	} else {
		(void)snprintf(walk->path + length, room, "[%u]", index);
	}
}

static void refuse_key(struct walk *walk, const cyaml_schema_field_t *fields,
                       const struct vc_place *place, const char *nearest)
{
	char names[200] = "";
	size_t at = 0;

	if (nearest) {
		vc_errors_add(walk->errors, place, walk->path, "unknown field (did you mean '%s'?)",
		              nearest);
		return;
	}
	for (; fields->key && at + strlen(fields->key) + 8 < sizeof names; fields++) {
		at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", at ? ", " : "",
		                       fields->key);
	}
	vc_errors_add(walk->errors, place, walk->path, "unknown field (one of %s%s is expected)",
	              names, fields->key ? ", ..." : "");
}

static void take_key(struct walk *walk, struct frame *frame, const yaml_event_t *event)
{
	const cyaml_schema_field_t *fields = frame->value->mapping.fields;
	struct vc_place place = place_of(walk, event->start_mark);
	const char *name = (const char *)event->data.scalar.value;
	struct vc_nearest nearest = { .wanted = name };
	uint64_t bit;
	size_t i = 0;

	walk->path[frame->path_length] = '\0';
	descend(walk, name, 0);
	while (fields[i].key && strcmp(fields[i].key, name) != 0) {
		vc_nearest_offer(&nearest, fields[i++].key);
	}
	frame->next = NEXT_NOTHING;
	if (!fields[i].key) {
		refuse_key(walk, fields, &place, nearest.best);
		return;
	}
	bit = UINT64_C(1) << (i % MAX_FIELDS);
	if (frame->seen & bit) {
		refuse(walk, event->start_mark, "is given twice (once is expected)");
		return;
	}
	frame->seen |= bit;
	frame->field = &fields[i];
	frame->next = NEXT_FIELD;
}

static const char *kind_name(const cyaml_schema_value_t *value)
{
	switch (value->type) {
	case CYAML_MAPPING:
		return "a mapping of fields is expected";
	case CYAML_SEQUENCE:
		return "a list such as [a, b] is expected";
	case CYAML_BOOL:
		return "true or false is expected";
	default:
		return "a single value is expected";
	}
}

/* Digits alone, without leading zeros, that an unsigned integer of so many bytes holds. */
static bool is_whole_number(const char *text, uint32_t bytes)
{
	size_t digits = strspn(text, "0123456789");
	uint64_t value = 0, limit = bytes < 8 ? (UINT64_C(1) << bytes * 8) - 1 : UINT64_MAX;

	if (digits == 0 || text[digits] || (digits > 1 && *text == '0')) {
		return false;
	}
	for (; *text; text++) {
		uint64_t digit = (uint64_t)(*text - '0');

		if (value > (limit - digit) / 10) {
			return false;
		}
		value = value * 10 + digit;
	}
	return true;
}

/* A word of a closed list; another one is refused with the nearest or with all of them. */
static void take_word(struct walk *walk, const cyaml_schema_value_t *value, const char *text,
                      const struct vc_place *place)
{
	struct vc_nearest nearest = { .wanted = text };
	char names[200] = "";
	size_t at = 0;

	for (uint32_t i = 0; i < value->enumeration.count; i++) {
		const char *name = value->enumeration.strings[i].str;

		if (strcmp(name, text) == 0) {
			return;
		}
		vc_nearest_offer(&nearest, name);
		if (at < sizeof names) {
			at += (size_t)snprintf(names + at, sizeof names - at, "%s%s",
			                       at ? ", " : "", name);
		}
	}
	if (nearest.best) {
		vc_errors_add(walk->errors, place, walk->path, "unknown '%s' (did you mean %s?)",
		              text, nearest.best);
	} else {
		vc_errors_add(walk->errors, place, walk->path,
		              "unknown '%s' (one of %s is expected)", text, names);
	}
}

/* What is wrong with a scalar of this type; NULL: nothing. */
static const char *scalar_problem(const cyaml_schema_value_t *value, const char *text, bool quoted)
{
	switch (value->type) {
	case CYAML_STRING:
		return !*text ? empty : NULL;
	case CYAML_UINT:
		return quoted || !is_whole_number(text, value->data_size)
		               ? "is not a whole number (digits alone are expected)"
		               : NULL;
	case CYAML_BOOL:
		return quoted || (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
		               ? "is neither true nor false (one of them is expected)"
		               : NULL;
	default:
		return NULL;
	}
}

/* Takes a word for a list of one, when it stays one between brackets. */
static bool wrap(struct walk *walk, const cyaml_schema_value_t *value, const yaml_event_t *event)
{
	struct vc_yaml_wraps *wraps = walk->guard->wraps;
	const char *text = (const char *)event->data.scalar.value;
	yaml_scalar_style_t style = event->data.scalar.style;

	if (!wraps || wraps->count == VC_YAML_WRAPS || value->type != CYAML_SEQUENCE ||
	    value->sequence.entry->type != CYAML_STRING || strpbrk(text, ",[]{}:#") ||
	    style == YAML_LITERAL_SCALAR_STYLE || style == YAML_FOLDED_SCALAR_STYLE) {
		return false;
	}
	wraps->begins[wraps->count] = event->start_mark.index;
	wraps->ends[wraps->count++] = event->end_mark.index;
	return true;
}

static void take_scalar(struct walk *walk, const cyaml_schema_value_t *value,
                        const yaml_event_t *event)
{
	const char *text = (const char *)event->data.scalar.value;
	bool quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	struct vc_place place = place_of(walk, event->start_mark);
	struct vc_guard_scalar scalar = { walk->path, text, quoted, place };
	const char *problem;

	if (!quoted && vc_yaml_is_null(text)) {
		bool whole_file = walk->depth == 0 && !*walk->guard->path;

		/* the flag has a plain pointer's bit too */
		if (whole_file ||
		    (value->flags & CYAML_FLAG_POINTER_NULL) != CYAML_FLAG_POINTER_NULL) {
			refuse(walk, event->start_mark, empty);
		}
		return;
	}
	if (wrap(walk, value, event)) {
		value = value->sequence.entry;
	}
	if (value->type == CYAML_MAPPING || value->type == CYAML_SEQUENCE) {
		vc_errors_add(walk->errors, &place, walk->path, "is a single value (%s)",
		              kind_name(value));
		return;
	}
	problem = scalar_problem(value, text, quoted);
	if (problem) {
		refuse(walk, event->start_mark, problem);
	} else if (value->type == CYAML_UINT && strcmp(walk->path, "version") == 0 &&
	           strcmp(text, "1") != 0) {
		refuse(walk, event->start_mark, "is not known here (version 1 is expected)");
	} else if (value->type == CYAML_ENUM) {
		take_word(walk, value, text, &place);
	} else if (value->type == CYAML_STRING && event->data.scalar.length > value->string.max) {
		vc_errors_add(walk->errors, &place, walk->path,
		              "is too long (at most %u bytes are expected)",
		              (unsigned)value->string.max);
	} else if (value->type == CYAML_STRING && walk->guard->check) {
		walk->guard->check(&scalar, walk->errors);
	}
}

static void open_level(struct walk *walk, const cyaml_schema_value_t *value,
                       const yaml_event_t *event)
{
	bool mapping = event->type == YAML_MAPPING_START_EVENT;
	struct vc_place place = place_of(walk, event->start_mark);

	if (value->type != (mapping ? CYAML_MAPPING : CYAML_SEQUENCE)) {
		vc_errors_add(walk->errors, &place, walk->path, "is a %s (%s)",
		              mapping ? "mapping" : "list", kind_name(value));
		walk->passed_over = 1;
		return;
	}
	walk->frames[walk->depth++] = (struct frame){
		.value = value,
		.path_length = strlen(walk->path),
		.mark = event->start_mark,
	};
}

static void feed_tree(struct walk *walk, const yaml_event_t *event)
{
	bool complete;
	const char *problem = vc_yaml_tree_add(&walk->tree, event, &complete);

	walk->in_tree = !complete;
	if (problem && walk->tree.fatal) {
		stop(walk, event->start_mark, problem);
	} else if (problem && walk->tree.where) {
		size_t length = strlen(walk->path);

		descend(walk, walk->tree.where, 0);
		refuse(walk, event->start_mark, problem);
		walk->path[length] = '\0';
	} else if (problem) {
		refuse(walk, event->start_mark, problem);
	}
}

static void take_free(struct walk *walk, const yaml_event_t *event)
{
	bool scalar = event->type == YAML_SCALAR_EVENT;

	if (scalar && vc_yaml_is_null((const char *)event->data.scalar.value)) {
		return;
	}
	if (event->type != YAML_MAPPING_START_EVENT && walk->depth > 0) {
		refuse(walk, event->start_mark,
		       scalar ? "is a single value (a mapping of fields is expected)"
		              : "is a list (a mapping of fields is expected)");
		walk->passed_over = !scalar;
		return;
	}
	if (walk->guard->tree) {
		feed_tree(walk, event);
	} else {
		walk->passed_over = !scalar;
	}
}

static void take_value(struct walk *walk, const yaml_event_t *event)
{
	struct frame *frame = top_frame(walk);
	const cyaml_schema_value_t *value = walk->guard->schema;

	if (frame && frame->value->type == CYAML_MAPPING) {
		bool wanted = frame->next == NEXT_FIELD;

		frame->next = NEXT_KEY;
		if (!wanted) {
			walk->passed_over = event->type != YAML_SCALAR_EVENT;
			return;
		}
		value = &frame->field->value;
	} else if (frame) {
		value = frame->value->sequence.entry;
		walk->path[frame->path_length] = '\0';
		if (frame->entries == frame->value->sequence.max) {
			struct vc_place place = place_of(walk, event->start_mark);

			vc_errors_add(walk->errors, &place, walk->path,
			              "has too many entries (at most %u are expected)",
			              (unsigned)frame->value->sequence.max);
			walk->stopped = true;
			return;
		}
		descend(walk, NULL, frame->entries++);
	}
	if (value->type == CYAML_IGNORE) {
		take_free(walk, event);
	} else if (event->type == YAML_SCALAR_EVENT) {
		take_scalar(walk, value, event);
	} else {
		open_level(walk, value, event);
	}
}

static void close_level(struct walk *walk)
{
	struct frame *frame = top_frame(walk);
	const cyaml_schema_field_t *fields = frame->value->mapping.fields;

	walk->path[frame->path_length] = '\0';
	walk->depth--;
	if (frame->value->type != CYAML_MAPPING) {
		if (frame->entries < frame->value->sequence.min) {
			refuse(walk, frame->mark,
			       "is an empty list (at least one entry is expected)");
		}
		return;
	}
	for (size_t i = 0; fields[i].key; i++) {
		bool needed = !(fields[i].value.flags & CYAML_FLAG_OPTIONAL);

		if (needed && !(frame->seen >> (i % MAX_FIELDS) & 1)) {
			descend(walk, fields[i].key, 0);
			refuse(walk, frame->mark, "is missing (it is required)");
			walk->path[frame->path_length] = '\0';
		}
	}
}

static void take_node(struct walk *walk, const yaml_event_t *event)
{
	struct frame *frame = top_frame(walk);
	bool scalar = event->type == YAML_SCALAR_EVENT;
	bool ends = event->type == YAML_SEQUENCE_END_EVENT || event->type == YAML_MAPPING_END_EVENT;

	if (scalar && memchr(event->data.scalar.value, '\0', event->data.scalar.length)) {
		stop(walk, event->start_mark, "holds a NUL character (text is expected)");
	} else if (!scalar && !ends && !walk->in_tree &&
	           walk->depth + walk->passed_over >= VC_YAML_DEPTH) {
		stop(walk, event->start_mark,
		     "is nested too deep (at most 16 levels are expected)");
	} else if (walk->passed_over) {
		walk->passed_over += scalar ? 0u : ends ? -1u : 1u;
	} else if (walk->in_tree) {
		feed_tree(walk, event);
	} else if (ends) {
		close_level(walk);
	} else if (frame && frame->value->type == CYAML_MAPPING && frame->next == NEXT_KEY) {
		if (scalar) {
			take_key(walk, frame, event);
		} else {
			stop(walk, event->start_mark,
			     "has a key that is not a word (a name is expected)");
		}
	} else {
		take_value(walk, event);
	}
}

static void take_event(struct walk *walk, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_ALIAS_EVENT:
		stop(walk, event->start_mark,
		     "aliases are not supported (the value itself is expected)");
		break;
	case YAML_DOCUMENT_START_EVENT:
		if (walk->documents++) {
			stop(walk, event->start_mark,
			     "a second document begins (one per file is expected)");
		}
		break;
	case YAML_SCALAR_EVENT:
	case YAML_SEQUENCE_START_EVENT:
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_START_EVENT:
	case YAML_MAPPING_END_EVENT:
		take_node(walk, event);
		break;
	default:
		break;
	}
}

/* libyaml may see the end of a text one line below it. */
static void take_syntax_error(struct walk *walk, const yaml_parser_t *parser,
                              struct vc_text_mark end)
{
	char message[160];
	yaml_mark_t mark = parser->problem_mark;

	if (mark.line >= end.line) {
		mark.line = end.line - 1;
		mark.column = end.column - 1;
	}
	(void)snprintf(message, sizeof message, "is not valid YAML: %s",
	               parser->problem ? parser->problem : "out of memory");
	stop(walk, mark, message);
}

static void walk_events(struct walk *walk, const char *text, size_t length)
{
	yaml_parser_t parser;
	yaml_event_t event;
	bool ended = false;

	if (!yaml_parser_initialize(&parser)) {
		stop(walk, (yaml_mark_t){ 0 }, "does not fit into memory");
		return;
	}
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
	while (!walk->stopped && !ended) {
		if (!yaml_parser_parse(&parser, &event)) {
			take_syntax_error(walk, &parser, vc_text_mark_at(text, length));
			break;
		}
		ended = event.type == YAML_STREAM_END_EVENT;
		take_event(walk, &event);
		walk->stopped |= walk->errors->count > walk->errors_before + MAX_MISTAKES;
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
}

bool vc_yaml_guard(const struct vc_guard *guard, const char *text, size_t length,
                   struct vc_error_list *errors)
{
	struct walk walk = { .guard = guard, .errors = errors, .errors_before = errors->count };
	struct vc_text_mark mark;
	const char *problem = vc_text_problem(text, length, &mark);

	if (problem) {
		yaml_mark_t at = { .line = mark.line - 1, .column = mark.column - 1 };

		stop(&walk, at, problem);
		return false;
	}
	(void)snprintf(walk.path, sizeof walk.path, "%s", guard->path);
	walk_events(&walk, text, length);
	if (!walk.stopped && !walk.documents && errors->count == walk.errors_before) {
		stop(&walk, (yaml_mark_t){ 0 }, empty);
	}
	if (guard->tree) {
		*guard->tree = walk.tree.root;
		walk.tree.root = NULL;
	}
	vc_yaml_tree_drop(&walk.tree);
	return errors->count == walk.errors_before;
}

char *vc_yaml_bracket(const char *text, size_t *length, const struct vc_yaml_wraps *wraps)
{
	char *copy = malloc(*length + 2 * (size_t)VC_YAML_WRAPS + 1);
	size_t at = 0, character = 0;
	uint32_t next = 0, open = 0;

	for (size_t i = 0; copy && i <= *length; i++) {
		bool starts = i == *length || ((unsigned char)text[i] & 0xC0) != 0x80;

		if (starts && open < next && character == wraps->ends[open]) {
			copy[at++] = ']';
			open++;
		}
		if (starts && next < wraps->count && character == wraps->begins[next]) {
			copy[at++] = '[';
			next++;
		}
		character += starts;
		if (i < *length) {
			copy[at++] = text[i];
		}
	}
	if (copy) {
		copy[at] = '\0';
		*length = at;
	}
	return copy;
}
