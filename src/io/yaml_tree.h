/* A subtree of any shape becomes the same JSON tree that a config.json gives. */
#ifndef VC_YAML_TREE_H
#define VC_YAML_TREE_H

#include "yaml_guard.h"

#include <cjson/cJSON.h>
#include <yaml.h>

struct vc_yaml_tree {
	cJSON *root; /* owned by whoever takes it */
	cJSON *stack[VC_YAML_TREE_DEPTH];
	uint32_t keys[VC_YAML_TREE_DEPTH];
	uint32_t depth, nodes;
	char *key;         /* of a mapping, its value comes next */
	const char *where; /* after a problem: the key that it is about; NULL: unknown */
	bool fatal;        /* after a problem: the walk cannot go on */
};

/* Takes one event: NULL, or what is wrong with it. `*complete`: the subtree has ended. */
const char *vc_yaml_tree_add(struct vc_yaml_tree *tree, const yaml_event_t *event, bool *complete);
void vc_yaml_tree_drop(struct vc_yaml_tree *tree);

#endif
