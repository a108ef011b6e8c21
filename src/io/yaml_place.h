/* Where in a file a field stands: the second walk, for errors that are found after binding. */
#ifndef VC_YAML_PLACE_H
#define VC_YAML_PLACE_H

#include "utf8.h"

/*
 * The value of "model.architecture.hidden_size" or "hardware.gpus[1]", or the nearest thing above
 * it that the text has. {0, 0} when the text cannot be read as YAML or JSON.
 */
struct vc_text_mark vc_yaml_place(const char *text, size_t length, const char *path);

#endif
