#include "decoder.h"

const struct family hybrid_families[] = { { .model_type = NULL } };
