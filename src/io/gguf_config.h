/* A GGUF file's metadata as the config.json that the model was converted from. */
#ifndef VC_GGUF_CONFIG_H
#define VC_GGUF_CONFIG_H

#include "weight_file.h"

/*
 * Keys as vc_config_to_model() takes them, from the keys of general.architecture, the tensor table
 * and llama.cpp's own rules. NULL when the file states no architecture, or memory ends. Owned.
 */
struct cJSON *vc_gguf_config(const struct vc_weight_file *file);

/* What general.file_type calls the mixture, as workload.quantization spells it; NULL: none. */
const char *vc_gguf_quantization(const struct vc_weight_file *file);

#endif
