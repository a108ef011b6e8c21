#include "spec_json.h"

#include "json_read.h"
#include "spec_fields.h"
#include "spec_model.h"
#include "utf8.h"
#include "yaml_guard.h"

#include <stdlib.h>
#include <string.h>

enum {
	MOST_FIELDS = 64,
	MOST_TEXTS = 64,  /* of all lists together */
	LONGEST = 500,    /* of a text; libcyaml's own limit is a little above */
	TREE_DEPTH = 16,  /* of an architecture: far below the guard's limits */
	TREE_COMMAS = 512 /* likewise */
};

struct scan {
	char *at; /* in a copy of the text that ends in a zero byte */
	struct vc_bound found[MOST_FIELDS];
	char *ends[MOST_FIELDS]; /* where texts get their zero bytes once all is read */
	size_t count;
	char *texts[MOST_TEXTS], *text_ends[MOST_TEXTS];
	size_t text_count;
	char *architecture, *architecture_end;
	uint64_t sections[2]; /* a bit for the first row of each that was entered */
};

static void skip_space(struct scan *scan)
{
	while (*scan->at == ' ' || *scan->at == '\t' || *scan->at == '\r' || *scan->at == '\n') {
		scan->at++;
	}
}

static bool take(struct scan *scan, char c)
{
	skip_space(scan);
	if (*scan->at != c) {
		return false;
	}
	scan->at++;
	return true;
}

/* A string without escapes, from `*begin` to `*end`; one that is empty is for the guard. */
static bool take_string(struct scan *scan, char **begin, char **end)
{
	if (!take(scan, '"')) {
		return false;
	}
	*begin = scan->at;
	scan->at += strcspn(scan->at, "\"\\\n");
	*end = scan->at;
	return *scan->at++ == '"' && *end > *begin && *end - *begin <= LONGEST;
}

static size_t word_length(const char *text)
{
	return strcspn(text, ",}] \t\r\n");
}

/* A number as JSON writes one, whole; the reader of quantities judges its value. */
static bool take_number(struct scan *scan, char **begin, char **end)
{
	size_t length = word_length(scan->at);

	*begin = scan->at;
	*end = scan->at + length;
	scan->at += length;
	return length > 0 && length <= LONGEST && **begin >= '1' && **begin <= '9' &&
	       strspn(*begin, "0123456789.eE+") == length;
}

static bool take_flag(struct scan *scan, bool *flag)
{
	size_t length = word_length(scan->at);

	*flag = *scan->at == 't';
	if (length != (*flag ? 4 : 5) || strncmp(scan->at, *flag ? "true" : "false", length) != 0) {
		return false;
	}
	scan->at += length;
	return true;
}

static size_t digits(const char *text)
{
	return strspn(text, "0123456789");
}

/* Exactly what JSON knows beside texts: cJSON takes more (01, 1.), YAML reads that differently. */
static bool is_literal(const char *text, size_t length)
{
	const char *p = text + (*text == '-');
	size_t whole = digits(p);

	if ((length == 4 && (strncmp(text, "true", 4) == 0 || strncmp(text, "null", 4) == 0)) ||
	    (length == 5 && strncmp(text, "false", 5) == 0)) {
		return true;
	}
	if (whole == 0 || whole > 15 || (*p == '0' && whole > 1)) {
		return false;
	}
	p += whole;
	if (*p == '.') {
		if (digits(++p) == 0) {
			return false;
		}
		p += digits(p);
	}
	/* What may reach 2^53 is for the guard: it has a limit there. */
	if ((*p == 'e' || *p == 'E') && p[1] == '-') {
		p += 2;
		if (digits(p) == 0 || digits(p) > 2) {
			return false;
		}
		p += digits(p);
	}
	return (size_t)(p - text) == length;
}

/* What stands between two of JSON's own signs: nothing, or a literal. */
static bool is_plain(const char *text, const char *end)
{
	while (text < end && strchr(" \t", *text)) {
		text++;
	}
	if (text < end && *text == ':') { /* on its key's line, as YAML wants it */
		text++;
	}
	while (text < end && strchr(" \t\r\n", *text)) {
		text++;
	}
	while (text < end && strchr(" \t\r\n", end[-1])) {
		end--;
	}
	return text == end || is_literal(text, (size_t)(end - text));
}

/* Past an object whatever is in it, as long as it is small and without escapes. */
static bool skip_object(struct scan *scan)
{
	unsigned depth = 0, commas = 0;

	do {
		char *before = scan->at;

		scan->at += strcspn(scan->at, "{}[],\"\\");
		if (!is_plain(before, scan->at)) {
			return false;
		}
		switch (*scan->at) {
		case '{':
		case '[':
			depth++;
			break;
		case '}':
		case ']':
			depth--;
			break;
		case ',':
			commas++;
			break;
		case '"':
			scan->at += 1 + strcspn(scan->at + 1, "\"\\\n");
			if (*scan->at != '"') {
				return false;
			}
			break;
		default:
			return false;
		}
		scan->at++;
	} while (depth > 0 && depth <= TREE_DEPTH && commas <= TREE_COMMAS);
	return depth == 0;
}

/* By the guard's own check; the text is cut at its end for that long. */
static bool is_right(const struct vc_field_row *row, char *begin, char *end)
{
	struct vc_error_list errors;
	struct vc_guard_scalar scalar = { .path = row->field.path, .text = begin };
	char after = *end;

	errors.count = 0;
	*end = '\0';
	vc_spec_check(&scalar, &errors);
	*end = after;
	return errors.count == 0;
}

static bool take_list(struct scan *scan, const struct vc_field_row *row, struct vc_bound *bound)
{
	bound->texts = &scan->texts[scan->text_count];
	if (!take(scan, '[')) {
		return false;
	}
	do {
		char **text = &scan->texts[scan->text_count];
		char **end = &scan->text_ends[scan->text_count];

		if (scan->text_count == MOST_TEXTS || !take_string(scan, text, end) ||
		    !is_right(row, *text, *end)) {
			return false;
		}
		scan->text_count++;
		bound->count++;
	} while (take(scan, ','));
	return take(scan, ']');
}

static bool take_scalar(struct scan *scan, const struct vc_field_row *row, struct vc_bound *bound)
{
	char *begin, **end = &scan->ends[scan->count];

	if (row->field.kind == VC_FIELD_FLAG) {
		return take_flag(scan, &bound->flag);
	}
	if (*scan->at == '"' ? !take_string(scan, &begin, end) : !take_number(scan, &begin, end)) {
		return false;
	}
	bound->text = begin;
	return is_right(row, begin, *end);
}

static bool is_found(const struct scan *scan, size_t index)
{
	for (size_t i = 0; i < scan->count; i++) {
		if (scan->found[i].index == index) {
			return true;
		}
	}
	return false;
}

static bool take_field(struct scan *scan, size_t index)
{
	const struct vc_field_row *row = vc_field_row_at(index);
	struct vc_bound *bound = &scan->found[scan->count];
	bool good;

	if (row->field.kind == VC_FIELD_TREE) {
		bool twice = scan->architecture != NULL;

		scan->architecture = scan->at;
		good = *scan->at == '{' && skip_object(scan) && !twice;
		scan->architecture_end = scan->at;
		return good;
	}
	if (scan->count == MOST_FIELDS || is_found(scan, index)) {
		return false;
	}
	*bound = (struct vc_bound){ .index = index, .text = "" };
	scan->ends[scan->count] = NULL;
	good = row->field.kind == VC_FIELD_LIST ? take_list(scan, row, bound)
	                                        : take_scalar(scan, row, bound);
	scan->count++;
	return good;
}

/* The rows of a section stand together: those from *first to *end whose path begins so. */
static bool find_section(const char *path, size_t length, size_t *first, size_t *end)
{
	const struct vc_field_row *row;
	size_t from = *first, to = *end;

	while (from < to && strncmp(vc_field_row_at(from)->field.path, path, length) != 0) {
		from++;
	}
	*first = from;
	while (from < to && (row = vc_field_row_at(from)) != NULL &&
	       strncmp(row->field.path, path, length) == 0) {
		from++;
	}
	*end = from;
	return *first < *end;
}

/* False when it was entered before. */
static bool enter_section(struct scan *scan, size_t first)
{
	uint64_t *word = &scan->sections[first / 64], bit = UINT64_C(1) << (first % 64);
	bool fresh = !(*word & bit);

	*word |= bit;
	return fresh;
}

static size_t row_count(void)
{
	size_t count = 0;

	while (vc_field_row_at(count)) {
		count++;
	}
	return count;
}

/* A section of the spec, "" for the whole: known fields only. */
static bool take_section(struct scan *scan, const char *prefix, size_t first, size_t end);

static bool take_member(struct scan *scan, const char *prefix, size_t first, size_t end)
{
	char path[VC_YAML_PATH], *key, *key_end;
	size_t length = strlen(prefix), key_length;

	if (!take_string(scan, &key, &key_end)) {
		return false;
	}
	scan->at += strspn(scan->at, " \t"); /* YAML wants the colon on the same line */
	if (*scan->at++ != ':') {
		return false;
	}
	key_length = (size_t)(key_end - key);
	if (length + key_length + 2 > sizeof path) {
		return false;
	}
	memcpy(path, prefix, length);
	memcpy(path + length, key, key_length);
	path[length += key_length] = '\0';
	skip_space(scan);
	for (size_t i = first; i < end; i++) {
		if (strcmp(vc_field_row_at(i)->field.path, path) == 0) {
			return take_field(scan, i);
		}
	}
	path[length++] = '.';
	path[length] = '\0';
	return find_section(path, length, &first, &end) && enter_section(scan, first) &&
	       take_section(scan, path, first, end);
}

static bool take_section(struct scan *scan, const char *prefix, size_t first, size_t end)
{
	if (!take(scan, '{')) {
		return false;
	}
	do {
		if (!take_member(scan, prefix, first, end)) {
			return false;
		}
	} while (take(scan, ','));
	return take(scan, '}');
}

static bool take_all(struct scan *scan)
{
	if (!take_section(scan, "", 0, row_count())) {
		return false;
	}
	skip_space(scan);
	return *scan->at == '\0';
}

/* False when there is one and it cannot be taken. */
static bool take_architecture(const struct scan *scan, const struct vc_spec_cache *cache,
                              struct vc_spec_json *json)
{
	struct vc_error error;

	json->architecture_text = scan->architecture ? scan->architecture : "";
	json->architecture_length =
	        scan->architecture ? (size_t)(scan->architecture_end - scan->architecture) : 0;
	if (!scan->architecture ||
	    vc_spec_cache_has(cache, json->architecture_text, json->architecture_length)) {
		return true;
	}
	json->architecture = json_parse(scan->architecture, json->architecture_length, &error);
	return json->architecture && json->architecture->child &&
	       !vc_config_duplicate(json->architecture);
}

static bool bind(struct scan *scan, struct vc_spec *spec, struct vc_spec_json *json)
{
	bool good = true;

	for (size_t i = 0; i < scan->text_count; i++) {
		*scan->text_ends[i] = '\0';
	}
	vc_spec_bind_defaults(spec);
	for (size_t i = 0; i < scan->count; i++) {
		if (scan->ends[i]) {
			*scan->ends[i] = '\0';
		}
		good = vc_spec_bind_field(&scan->found[i], spec, &json->model) && good;
	}
	return good;
}

bool vc_spec_json(struct vc_spec *spec, const struct vc_spec_cache *cache,
                  struct vc_spec_json *json)
{
	struct vc_text_mark mark;
	struct scan scan = { .at = NULL };

	*json = (struct vc_spec_json){ .text = malloc(spec->length + 1) };
	if (!json->text) {
		return false;
	}
	memcpy(json->text, spec->text, spec->length + 1);
	scan.at = json->text;
	if (!vc_text_problem(spec->text, spec->length, &mark) && take_all(&scan) &&
	    scan.at == json->text + spec->length && take_architecture(&scan, cache, json) &&
	    bind(&scan, spec, json)) {
		return true;
	}
	cJSON_Delete(json->architecture);
	free(json->text);
	*json = (struct vc_spec_json){ 0 };
	return false;
}
