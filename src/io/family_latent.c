#include "decoder.h"

const struct family latent_families[] = { { .model_type = NULL } };
