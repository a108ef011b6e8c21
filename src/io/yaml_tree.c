/* Scalars follow YAML's core schema, with JSON's grammar for numbers: what JSON would call a
 * number, true, false or null is that, and everything else is text. */
#include "yaml_tree.h"

#include <stdlib.h>
#include <string.h>

/* Integers from here on may have been rounded on their way through a double. */
#define EXACT_LIMIT 9007199254740992.0 /* 2^53 */

static const char *skip_digits(const char *p)
{
	return p + strspn(p, "0123456789");
}

static bool is_json_number(const char *text)
{
	const char *p = text + (*text == '-');
	const char *end = skip_digits(p);

	if (end == p || (*p == '0' && end > p + 1)) {
		return false;
	}
	if (*end == '.') {
		p = end + 1;
		end = skip_digits(p);
		if (end == p) {
			return false;
		}
	}
	if (*end == 'e' || *end == 'E') {
		p = end + 1 + (end[1] == '+' || end[1] == '-');
		end = skip_digits(p);
		if (end == p) {
			return false;
		}
	}
	return *end == '\0';
}

static cJSON *make_scalar(const yaml_event_t *event, const char **problem)
{
	const char *text = (const char *)event->data.scalar.value;
	double number;

	if (event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE) {
		return cJSON_CreateString(text);
	}
	if (vc_yaml_is_null(text)) {
		return cJSON_CreateNull();
	}
	if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
		return cJSON_CreateBool(text[0] == 't');
	}
	if (!is_json_number(text)) {
		return cJSON_CreateString(text);
	}
	number = strtod(text, NULL);
	if (number >= EXACT_LIMIT || number <= -EXACT_LIMIT) {
		*problem = "is too large (a number below 2^53 is expected)";
		return NULL;
	}
	return cJSON_CreateNumber(number);
}

static const char *stop(struct vc_yaml_tree *tree, const char *problem)
{
	tree->fatal = true;
	return problem;
}

static const char *take_key(struct vc_yaml_tree *tree, const yaml_event_t *event)
{
	cJSON *object = tree->stack[tree->depth - 1];
	size_t size;

	if (event->type != YAML_SCALAR_EVENT) {
		return stop(tree, "has a key that is not a word (a name is expected)");
	}
	if (++tree->keys[tree->depth - 1] > VC_YAML_TREE_KEYS) {
		return stop(tree, "has too many keys (at most 1024 are expected)");
	}
	size = event->data.scalar.length + 1;
	tree->key = malloc(size);
	if (!tree->key) {
		return stop(tree, "does not fit into memory");
	}
	memcpy(tree->key, event->data.scalar.value, size);
	tree->where = tree->key;
	return cJSON_GetObjectItemCaseSensitive(object, tree->key)
	               ? "is given twice (once is expected)"
	               : NULL;
}

static bool attach(struct vc_yaml_tree *tree, cJSON *item)
{
	cJSON *parent = tree->depth ? tree->stack[tree->depth - 1] : NULL;
	bool attached;

	if (!parent) {
		tree->root = item;
		return true;
	}
	if (cJSON_IsArray(parent)) {
		return cJSON_AddItemToArray(parent, item);
	}
	attached = cJSON_AddItemToObject(parent, tree->key, item);
	free(tree->key);
	tree->key = NULL;
	return attached;
}

static const char *take_value(struct vc_yaml_tree *tree, const yaml_event_t *event)
{
	const char *problem = NULL;
	cJSON *item;
	bool opens = event->type != YAML_SCALAR_EVENT;

	if (++tree->nodes > VC_YAML_TREE_NODES) {
		return stop(tree, "is too large (at most 65536 values are expected)");
	}
	if (opens && tree->depth == VC_YAML_TREE_DEPTH) {
		return stop(tree, "is nested too deep (at most 32 levels are expected)");
	}
	item = event->type == YAML_SCALAR_EVENT           ? make_scalar(event, &problem)
	       : event->type == YAML_SEQUENCE_START_EVENT ? cJSON_CreateArray()
	                                                  : cJSON_CreateObject();
	if (problem) {
		item = cJSON_CreateNull();
	}
	if (!item || !attach(tree, item)) {
		cJSON_Delete(item);
		return stop(tree, "does not fit into memory");
	}
	tree->where = item->string;
	if (opens) {
		tree->keys[tree->depth] = 0;
		tree->stack[tree->depth++] = item;
	}
	return problem;
}

const char *vc_yaml_tree_add(struct vc_yaml_tree *tree, const yaml_event_t *event, bool *complete)
{
	const char *problem = NULL;

	tree->where = NULL;
	if (event->type == YAML_SEQUENCE_END_EVENT || event->type == YAML_MAPPING_END_EVENT) {
		tree->depth--;
	} else if (tree->depth && cJSON_IsObject(tree->stack[tree->depth - 1]) && !tree->key) {
		problem = take_key(tree, event);
	} else {
		problem = take_value(tree, event);
	}
	*complete = tree->depth == 0;
	return problem;
}

void vc_yaml_tree_drop(struct vc_yaml_tree *tree)
{
	cJSON_Delete(tree->root);
	free(tree->key);
	*tree = (struct vc_yaml_tree){ 0 };
}
