/* A Hugging Face config.json, or the same keys from a spec's model.architecture, as a model. */
#ifndef VC_CONFIG_H
#define VC_CONFIG_H

#include "json_read.h"

/*
 * Fills `model`; its `source` is left to the caller. On failure error->field is the key's path
 * within the config ("text_config.hidden_size") and no file is set: use json_locate() for its
 * place. Keys that size nothing are ignored; a model_type without a row is read by its keys, with
 * model->known_family false.
 */
enum vc_status vc_config_to_model(const cJSON *root, struct vc_model *model,
                                  struct vc_error *error);

/* The model_types that have a row, for listing: NULL past the end. */
const char *vc_family_at(size_t index);

#endif
