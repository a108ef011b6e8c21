/* What a config's quantization_config makes of its weights. */
#ifndef VC_CONFIG_QUANTIZATION_H
#define VC_CONFIG_QUANTIZATION_H

#include "family.h"

/* Sets model->quantization, or model->unread_quantization for a method that has no row. */
void config_quantization(struct config *config);

#endif
